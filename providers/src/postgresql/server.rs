//! The server: how it is reached, and how it is asked. What passes by itself, such as a server that is
//! still starting or a lock that others hold, is waited for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formwork_sdk::prelude::*;
use tokio::time::Instant;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row};

use super::encryption::{ClientCertificate, Encryption, Wanted};

/// The configuration of the provider. What is not set comes from the environment, as with `psql`.
#[derive(Model)]
pub(super) struct Settings {
    /// How the server is reached; always `postgres`.
    #[attr(optional, one_of = ["postgres"])]
    scheme: Option<String>,
    /// The server's name, or the folder of its socket. `PGHOST` if not set, or else `localhost`.
    #[attr(optional)]
    pub(super) host: Option<String>,
    /// The server's port. `PGPORT` if not set, or else 5432.
    #[attr(optional, range = 1..=65535)]
    pub(super) port: Option<i64>,
    /// The database to begin with. `PGDATABASE` if not set, or else `postgres`.
    #[attr(optional)]
    database: Option<String>,
    /// Who connects. `PGUSER` if not set, or else `postgres`.
    #[attr(optional)]
    pub(super) username: Option<String>,
    /// The password of who connects. `PGPASSWORD` if not set.
    #[attr(optional, sensitive)]
    password: Option<String>,
    /// Whether who connects may do everything; without effect.
    #[attr(optional)]
    superuser: Option<bool>,
    /// Whether the connection is encrypted, and with whom: `disable`, `require` for any server,
    /// `verify-ca` for one that somebody we trust has signed, `verify-full` for one that is also called
    /// what `host` says. With `prefer` or `allow` the server decides. `PGSSLMODE` if not set, or else
    /// `require`. Through a socket nothing is ever encrypted.
    #[attr(optional, one_of = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])]
    pub(super) sslmode: Option<String>,
    /// The file with the certificates, in PEM, of whom we trust; those whom this machine trusts if not
    /// set. With it `require` is `verify-ca`.
    #[attr(optional)]
    pub(super) sslrootcert: Option<String>,
    /// How we tell the server who we are.
    #[block(max = 1)]
    pub(super) clientcert: Vec<ClientCertificate>,
    /// How many seconds to wait for the server. `PGCONNECT_TIMEOUT` if not set, or else 180.
    #[attr(optional, range = 0..)]
    pub(super) connect_timeout: Option<i64>,
    /// How many connections there may be at a time; without effect, as each call has its own.
    #[attr(optional, range = -1..)]
    max_connections: Option<i64>,
    /// The version that the server is expected to have; without effect, as it is asked.
    #[attr(optional)]
    expected_version: Option<String>,
}

/// The server that the provider was told of, shared by all resources.
#[derive(Clone, Default)]
pub(super) struct Server(Arc<Mutex<Option<Access>>>);

#[derive(Clone)]
struct Access {
    config: Config,
    database: String,
    patience: Duration,
    encryption: Encryption,
}

impl Configure for Server {
    type Model = Settings;

    async fn configure(&self, call: Setup<Settings>) -> Answer<()> {
        self.reach(&call.config)
    }
}

impl Server {
    /// Takes how the server is reached.
    pub(super) fn reach(&self, config: &SettingsDraft) -> Answer<()> {
        let or_env = |given: &Attr<String>, name: &str, usual: &str| {
            given.get().cloned().or_else(|| variable(name)).unwrap_or_else(|| usual.to_owned())
        };
        let number = |given: &Attr<i64>, name: &str, usual: i64| {
            let given = given.get().copied().or_else(|| variable(name)?.parse().ok());
            given.unwrap_or(usual)
        };
        let host = or_env(&config.host, "PGHOST", "localhost");
        let wanted = Wanted {
            is_local: host.starts_with('/'),
            mode: or_env(&config.sslmode, "PGSSLMODE", "require"),
            authorities: config.sslrootcert.get().cloned(),
            client: config.clientcert.get().and_then(|blocks| blocks.first()).cloned(),
        };
        let encryption = Encryption::new(wanted)?;
        let mut access = Config::new();
        access
            .ssl_mode(encryption.mode())
            .host(host)
            .port(u16::try_from(number(&config.port, "PGPORT", 5432)).unwrap_or(5432))
            .user(or_env(&config.username, "PGUSER", "postgres"))
            .application_name("formwork");
        let password = or_env(&config.password, "PGPASSWORD", "");
        if !password.is_empty() {
            access.password(password);
        }
        let seconds = number(&config.connect_timeout, "PGCONNECT_TIMEOUT", 180);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Access {
            config: access,
            database: or_env(&config.database, "PGDATABASE", "postgres"),
            patience: Duration::from_secs(u64::try_from(seconds).unwrap_or_default()),
            encryption,
        });
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the variables that all programs of PostgreSQL know")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Server {
    /// Connects with a database: the one given, or the one that the provider begins with.
    pub(super) async fn connect(&self, database: Option<&str>, stop: &Stop) -> Answer<Session> {
        let access = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(access) = access else {
            let detail = "The provider was asked before it was told where the server is.";
            return Err(Problem::new("Provider not configured", detail));
        };
        let database = database.unwrap_or(&access.database).to_owned();
        let mut config = access.config.clone();
        config.dbname(&database);
        let mut patience = Patience::of(access.patience);
        loop {
            match config.connect(access.encryption.clone()).await {
                Ok((client, connection)) => {
                    // Ends with the client.
                    tokio::spawn(connection);
                    return Ok(Session { client, database, stop: stop.clone() });
                }
                Err(error) if passes(&error) && patience.allows_another(stop).await => {}
                Err(error) => return Err(failed("Error connecting to PostgreSQL", &error)),
            }
        }
    }

    /// The name of the database that the provider begins with.
    pub(super) fn database(&self) -> String {
        let access = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        access.as_ref().map_or_else(|| "postgres".to_owned(), |access| access.database.clone())
    }
}

/// A connection with one database.
pub(super) struct Session {
    client: Client,
    /// The database.
    pub(super) database: String,
    stop: Stop,
}

/// How long others may hold what we need.
const LOCKED: Duration = Duration::from_secs(20);

impl Session {
    /// Does statements, all or none of them. `what` is the summary of the error.
    pub(super) async fn run(&self, what: &str, statements: &[String]) -> Answer<()> {
        let text = statements.join(";\n");
        let mut patience = Patience::of(LOCKED);
        loop {
            match self.client.batch_execute(&text).await {
                Ok(()) => return Ok(()),
                Err(error) if passes(&error) && patience.allows_another(&self.stop).await => {}
                Err(error) => return Err(failed(what, &error)),
            }
        }
    }

    /// Asks for the rows of a query.
    pub(super) async fn rows(
        &self,
        query: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Answer<Vec<Row>> {
        let rows = self.client.query(query, values).await;
        rows.map_err(|error| failed("Error asking PostgreSQL", &error))
    }

    /// Asks for the first row of a query, if there is any.
    pub(super) async fn row(
        &self,
        query: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Answer<Option<Row>> {
        Ok(self.rows(query, values).await?.into_iter().next())
    }

    /// Whether a database of that name exists.
    pub(super) async fn has_database(&self, name: &str) -> Answer<bool> {
        let row = self.row("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await?;
        Ok(row.is_some())
    }
}

/// How long to try again, with longer and longer waits in between.
struct Patience {
    until: Instant,
    wait: Duration,
}

impl Patience {
    fn of(length: Duration) -> Self {
        Self { until: Instant::now() + length, wait: Duration::from_millis(20) }
    }

    /// Waits before another attempt. False when there has been enough of that, or the host wants an end.
    async fn allows_another(&mut self, stop: &Stop) -> bool {
        if Instant::now() + self.wait > self.until {
            return false;
        }
        let wait = self.wait;
        self.wait = (wait * 2).min(Duration::from_secs(1));
        tokio::select! {
            () = tokio::time::sleep(wait) => true,
            () = stop.requested() => false,
        }
    }
}

/// Whether another attempt may do better.
fn passes(error: &Error) -> bool {
    match error.code() {
        Some(code) => {
            let passing = [
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::TOO_MANY_CONNECTIONS,
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::T_R_DEADLOCK_DETECTED,
                SqlState::LOCK_NOT_AVAILABLE,
                SqlState::OBJECT_IN_USE,
            ];
            // Two who change the privileges of one object at a time get this.
            let clash = error.as_db_error().is_some_and(|error| {
                *error.code() == SqlState::INTERNAL_ERROR
                    && error.message() == "tuple concurrently updated"
            });
            passing.contains(code) || clash
        }
        None => {
            use std::io::ErrorKind::{ConnectionRefused, ConnectionReset, NotFound};
            let source = std::error::Error::source(error);
            let source = source.and_then(|source| source.downcast_ref::<std::io::Error>());
            // A socket that is not there yet is not found.
            source.is_some_and(|source| {
                [ConnectionRefused, ConnectionReset, NotFound].contains(&source.kind())
            })
        }
    }
}

/// Reports what the server says.
fn failed(what: &str, error: &Error) -> Problem {
    let detail = match error.as_db_error() {
        Some(error) => told(error),
        None => {
            let source = std::error::Error::source(error);
            source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
        }
    };
    Problem::new(what, format!("{detail}."))
}

fn told(error: &DbError) -> String {
    let code = error.code().code();
    let parts = [Some(error.message()), error.detail(), error.hint()];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("{} (SQLSTATE {code})", parts.join("; "))
}
