//! The server: the provider's configuration, and connections.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formwork_sdk::prelude::*;
use tokio_postgres::Config;

use super::connection_encryption::{
    ClientCertificate, ClientCertificateDraft, ConnectionEncryption, EncryptionSettings,
};
use super::session::Session;

/// The configuration of the provider. The environment sets the defaults of arguments, as with
/// `psql`.
#[derive(Model)]
pub(super) struct PostgresqlConfigModel {
    /// Connection scheme; always `postgres`.
    #[attr(optional, one_of = ["postgres"])]
    scheme: Option<String>,
    /// The host name of the server, or the directory of its socket. Default: `PGHOST`, otherwise
    /// `localhost`.
    #[attr(optional)]
    pub(super) host: Option<String>,
    /// The port of the server. Default: `PGPORT`, otherwise 5432.
    #[attr(optional, range = 1..=65535)]
    pub(super) port: Option<i64>,
    /// The database of the first connection. Default: `PGDATABASE`, otherwise `postgres`.
    #[attr(optional)]
    database: Option<String>,
    /// User name. Default: `PGUSER`, otherwise `postgres`.
    #[attr(optional)]
    pub(super) username: Option<String>,
    /// The password of the user. `PGPASSWORD` if not set.
    #[attr(optional, sensitive)]
    password: Option<String>,
    /// Whether the user is a superuser. Without effect, because the server is queried. A user
    /// without the privilege to change an object becomes a member of the owning role for the
    /// duration of the change.
    #[attr(optional)]
    superuser: Option<bool>,
    /// Encryption of the connection: `disable`, `require` for any server, `verify-ca` for one with
    /// a trusted certificate, `verify-full` for one whose certificate also names `host`. With
    /// `prefer` or `allow` the server decides. Default: `PGSSLMODE`, otherwise `require`.
    /// Connections through a socket are never encrypted.
    #[attr(optional, one_of = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])]
    pub(super) sslmode: Option<String>,
    /// The file with the certificates, in PEM, of whom we trust; those whom this machine trusts if not
    /// set. With it `require` is `verify-ca`.
    #[attr(optional)]
    pub(super) sslrootcert: Option<String>,
    /// Client certificate.
    #[block(max = 1)]
    pub(super) clientcert: Vec<ClientCertificate>,
    /// Connection timeout in seconds, including the start of a server; 0 for none. Default:
    /// `PGCONNECT_TIMEOUT`, otherwise 180. The wait for an absent server is limited to a few
    /// seconds.
    #[attr(optional, range = 0..)]
    pub(super) connect_timeout: Option<i64>,
    /// Greatest number of concurrent connections; without effect, as each call has its own.
    #[attr(optional, range = -1..)]
    max_connections: Option<i64>,
    /// The expected version of the server. Without effect, because the server is queried.
    #[attr(optional)]
    expected_version: Option<String>,
}

/// The server that the provider was configured with, shared by all resources.
#[derive(Clone, Default)]
pub(super) struct PostgresqlServer(Arc<Mutex<KnownConfig>>);

/// Configuration of the provider, as far as it is known.
#[derive(Clone, Default)]
enum KnownConfig {
    #[default]
    Nothing,
    /// These attributes depend on values that are only known after an apply.
    Later(Vec<&'static str>),
    All(Box<ConnectionSettings>),
}

/// All that it takes to connect.
#[derive(Clone)]
pub(super) struct ConnectionSettings {
    pub(super) config: Config,
    /// The database to begin with.
    pub(super) database: String,
    /// Timeout of a connection; `None` for none.
    pub(super) timeout: Option<Duration>,
    pub(super) encryption: ConnectionEncryption,
}

impl Configure for PostgresqlServer {
    type Model = PostgresqlConfigModel;

    async fn configure(&self, call: Setup<PostgresqlConfigModel>) -> Answer<()> {
        self.configure(&call.config)?;
        match self.known_config() {
            KnownConfig::Later(_) => call.deferral.request(DeferredReason::ProviderConfigUnknown),
            _ => Ok(()),
        }
    }
}

impl PostgresqlServer {
    /// Takes how the server is reached.
    pub(super) fn configure(&self, config: &PostgresqlConfigModelDraft) -> Answer<()> {
        let later = unknown_attributes(config);
        let known_config = if later.is_empty() {
            KnownConfig::All(Box::new(read_connection_settings(config)?))
        } else {
            KnownConfig::Later(later)
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = known_config;
        Ok(())
    }

    /// Connects with a database: the one given, or the one that the provider begins with.
    pub(super) async fn connect(&self, database: Option<&str>, stop: &Stop) -> Answer<Session> {
        let reason = match self.known_config() {
            KnownConfig::All(access) => return Session::open(*access, database, stop).await,
            KnownConfig::Later(names) => {
                let names = names.join("`, `");
                format!(
                    "The server is not known yet: `{names}` of the provider depends on values \
                     that are only known after an apply. Apply their resources first, with \
                     `-target`."
                )
            }
            KnownConfig::Nothing => {
                "The provider was called before the address of the server was known.".to_owned()
            }
        };
        Err(Problem::new("Provider not configured", reason))
    }

    /// The name of the database that the provider begins with.
    pub(super) fn default_database(&self) -> String {
        match self.known_config() {
            KnownConfig::All(access) => access.database,
            _ => "postgres".to_owned(),
        }
    }

    fn known_config(&self) -> KnownConfig {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Attributes that are not known yet. Their default does not apply.
fn unknown_attributes(config: &PostgresqlConfigModelDraft) -> Vec<&'static str> {
    let blocks = config.clientcert.get();
    let certificate =
        blocks.and_then(|blocks| blocks.first()).map(ClientCertificateDraft::has_unknown_part);
    let attributes = [
        ("host", config.host.is_unknown()),
        ("port", config.port.is_unknown()),
        ("database", config.database.is_unknown()),
        ("username", config.username.is_unknown()),
        ("password", config.password.is_unknown()),
        ("sslmode", config.sslmode.is_unknown()),
        ("sslrootcert", config.sslrootcert.is_unknown()),
        ("clientcert", config.clientcert.is_unknown() || certificate.unwrap_or(false)),
        ("connect_timeout", config.connect_timeout.is_unknown()),
    ];
    attributes
        .into_iter()
        .filter(|(_, has_unknown_part)| *has_unknown_part)
        .map(|(name, _)| name)
        .collect()
}

fn read_connection_settings(config: &PostgresqlConfigModelDraft) -> Answer<ConnectionSettings> {
    let or_env = |configured: &Attr<String>, name: &str, default: &str| {
        configured
            .get()
            .cloned()
            .or_else(|| read_env_variable(name))
            .unwrap_or_else(|| default.to_owned())
    };
    let number = |configured: &Attr<i64>, name: &str, default: i64| {
        let configured =
            configured.get().copied().or_else(|| read_env_variable(name)?.parse().ok());
        configured.unwrap_or(default)
    };
    let host = or_env(&config.host, "PGHOST", "localhost");
    let encryption_settings = EncryptionSettings {
        is_local: host.starts_with('/'),
        mode: or_env(&config.sslmode, "PGSSLMODE", "require"),
        authorities: config.sslrootcert.get().cloned(),
        client: config.clientcert.get().and_then(|blocks| blocks.first()).cloned(),
    };
    let encryption = ConnectionEncryption::from_settings(encryption_settings)?;
    let mut access = Config::new();
    access
        .ssl_mode(encryption.ssl_mode())
        .host(host)
        .port(u16::try_from(number(&config.port, "PGPORT", 5432)).unwrap_or(5432))
        .user(or_env(&config.username, "PGUSER", "postgres"))
        .application_name("formwork");
    let password = or_env(&config.password, "PGPASSWORD", "");
    if !password.is_empty() {
        access.password(password);
    }
    let seconds = number(&config.connect_timeout, "PGCONNECT_TIMEOUT", 180);
    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
    Ok(ConnectionSettings {
        config: access,
        database: or_env(&config.database, "PGDATABASE", "postgres"),
        timeout: seconds.map(Duration::from_secs),
        encryption,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the variables that all programs of PostgreSQL \
    support"
)]
fn read_env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
