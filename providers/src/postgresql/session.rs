//! A session with the server in one database. It ends when the host requests a stop, and waits for
//! temporary conditions: a server that is still starting, a lock that others hold.

use std::error::Error as _;
use std::future::Future;
use std::io::ErrorKind::{ConnectionRefused, ConnectionReset, NotFound};
use std::pin::pin;
use std::time::Duration;

use formwork_sdk::log;
use formwork_sdk::prelude::*;
use tokio::time::{Instant, timeout};
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row};

use super::connection_encryption::ConnectionEncryption;
use super::server::ConnectionSettings;
use super::sql;

/// A connection with one database.
pub(super) struct Session {
    client: Client,
    /// The database.
    pub(super) database: String,
    /// The first part of the server's version.
    pub(super) version: u32,
    encryption: ConnectionEncryption,
    stop: Stop,
}

/// Longest wait for locks that other sessions hold.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest wait for an absent server: enough for a restart, and short for a user with a mistyped
/// port.
const ABSENT_SERVER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for the server to cancel a query.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// The first version with options of a role membership.
const VERSION_WITH_MEMBERSHIP_OPTIONS: u32 = 16;

impl Session {
    /// Connects with a database: the one given, or the one to begin with.
    pub(super) async fn open(
        access: ConnectionSettings,
        database: Option<&str>,
        stop: &Stop,
    ) -> Answer<Self> {
        let ConnectionSettings { mut config, database: default_database, timeout, encryption } =
            access;
        let database = database.unwrap_or(&default_database).to_owned();
        config.dbname(&database);
        let mut starting = RetryDeadline::after(timeout);
        let mut absent = RetryDeadline::after(Some(
            timeout.map_or(ABSENT_SERVER_TIMEOUT, |timeout| timeout.min(ABSENT_SERVER_TIMEOUT)),
        ));
        let summary = "Error connecting to PostgreSQL";
        loop {
            let attempt = with_time_limit(timeout, config.connect(encryption.clone()));
            let attempt = tokio::select! {
                attempt = attempt => attempt,
                () = stop.wait_until_requested() => {
                    return Err(Problem::new(summary, "Interrupted before the server answered."));
                }
            };
            let error = match attempt {
                Some(Ok((client, connection))) => {
                    let version =
                        connection.parameter("server_version").and_then(parse_major_version);
                    // Ends with the client.
                    tokio::spawn(connection);
                    let (version, stop) = (version.unwrap_or_default(), stop.clone());
                    let session = Self { client, database, version, encryption, stop };
                    let limit = format!("SET lock_timeout = {}", LOCK_TIMEOUT.as_millis());
                    session.run_statements(summary, &[limit]).await?;
                    return Ok(session);
                }
                Some(Err(error)) => error,
                None => {
                    let seconds = timeout.unwrap_or_default().as_secs();
                    let detail = format!("The server does not answer within {seconds} seconds.");
                    return Err(Problem::new(summary, detail));
                }
            };
            let waits = match is_server_absent_error(&error) {
                true => &mut absent,
                false if is_temporary_error(&error) => &mut starting,
                false => return Err(server_problem(summary, &error)),
            };
            log::warn("PostgreSQL is waited for", &[("error", &describe_error(&error))]);
            if !waits.wait_for_next_attempt(stop).await {
                return Err(server_problem(summary, &error));
            }
        }
    }

    /// Runs statements in one transaction. `summary` is the summary of the error.
    pub(super) async fn run_statements(&self, summary: &str, statements: &[String]) -> Answer<()> {
        if statements.is_empty() {
            return Ok(());
        }
        let text = statements.join(";\n");
        let mut deadline = RetryDeadline::after(Some(LOCK_TIMEOUT));
        loop {
            match self.wait_or_cancel(summary, self.client.batch_execute(&text)).await? {
                Ok(()) => return Ok(()),
                Err(error)
                    if is_temporary_error(&error)
                        && deadline.wait_for_next_attempt(&self.stop).await => {}
                Err(error) => return Err(server_problem(summary, &error)),
            }
        }
    }

    /// The same as a member of some roles.
    pub(super) async fn run_statements_as(
        &self,
        summary: &str,
        roles: &[&str],
        statements: &[String],
    ) -> Answer<()> {
        if statements.is_empty() {
            return Ok(());
        }
        let TemporaryMembership { begin, end } = self.temporary_membership(roles).await?;
        self.run_statements(summary, &[&begin, statements, &end].concat()).await
    }

    /// The same with a statement that cannot run in a transaction.
    pub(super) async fn run_outside_transaction_as(
        &self,
        summary: &str,
        roles: &[&str],
        statement: String,
    ) -> Answer<()> {
        let TemporaryMembership { begin, end } = self.temporary_membership(roles).await?;
        self.run_statements(summary, &begin).await?;
        let result = self.run_statements(summary, &[statement]).await;
        // Regardless of the outcome, and even if the host requests a stop.
        if let Err(error) = self.client.batch_execute(&end.join(";\n")).await {
            log::warn("a membership stays", &[("error", &describe_error(&error))]);
        }
        result
    }

    /// Statements that make the user a member of roles, and end the membership; none where they
    /// would have no effect.
    pub(super) async fn temporary_membership(&self, roles: &[&str]) -> Answer<TemporaryMembership> {
        let [may, has_membership] = match self.version >= VERSION_WITH_MEMBERSHIP_OPTIONS {
            true => [
                "pg_has_role(r.oid, 'USAGE') AND pg_has_role(r.oid, 'SET')",
                "AND m.inherit_option AND m.set_option",
            ],
            false => ["pg_has_role(r.oid, 'USAGE')", ""],
        };
        let query = format!(
            "SELECT r.rolname::text FROM pg_roles r, pg_roles me \
             WHERE me.rolname = current_user AND NOT me.rolsuper \
             AND r.rolname = ANY($1::text[]) AND NOT ({may}) AND NOT EXISTS (\
             SELECT FROM pg_auth_members m WHERE m.roleid = r.oid AND m.member = me.oid {has_membership}) \
             ORDER BY 1"
        );
        let missing: Vec<String> =
            self.query_rows(&query, &[&roles]).await?.iter().map(|row| row.get(0)).collect();
        let each = |verb: &str, to: &str| {
            let roles = missing.iter();
            roles
                .map(|role| format!("{verb} {} {to} CURRENT_USER", sql::quote_name(role)))
                .collect()
        };
        Ok(TemporaryMembership { begin: each("GRANT", "TO"), end: each("REVOKE", "FROM") })
    }

    /// Asks for the rows of a query.
    pub(super) async fn query_rows(
        &self,
        query: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Answer<Vec<Row>> {
        let summary = "Error asking PostgreSQL";
        let rows = self.wait_or_cancel(summary, self.client.query(query, values)).await?;
        rows.map_err(|error| server_problem(summary, &error))
    }

    /// Asks for the first row of a query, if there is any.
    pub(super) async fn query_first_row(
        &self,
        query: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Answer<Option<Row>> {
        Ok(self.query_rows(query, values).await?.into_iter().next())
    }

    /// Whether a database of that name exists.
    pub(super) async fn has_database(&self, name: &str) -> Answer<bool> {
        let row =
            self.query_first_row("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await?;
        Ok(row.is_some())
    }

    /// Owner of the database.
    pub(super) async fn read_database_owner(&self) -> Answer<String> {
        let query = "SELECT pg_get_userbyid(datdba)::text FROM pg_database \
                     WHERE datname = current_database()";
        Ok(self.query_first_row(query, &[]).await?.map(|row| row.get(0)).unwrap_or_default())
    }

    /// Waits for the server, and cancels the statement when the host requests a stop. The server
    /// then reports the outcome: everything, or nothing.
    async fn wait_or_cancel<T>(
        &self,
        summary: &str,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Answer<Result<T, Error>> {
        let mut request = pin!(request);
        tokio::select! {
            biased;
            answer = &mut request => return Ok(answer),
            () = self.stop.wait_until_requested() => {}
        }
        let dropped = async {
            let token = self.client.cancel_token();
            token.cancel_query(self.encryption.clone()).await.ok();
            request.await
        };
        timeout(CANCEL_TIMEOUT, dropped).await.map_err(|_| {
            let detail =
                "Interrupted; the server has not reported whether the statement was executed.";
            Problem::new(summary, detail)
        })
    }
}

/// The statements around others that only members of some roles may do.
pub(super) struct TemporaryMembership {
    pub(super) begin: Vec<String>,
    pub(super) end: Vec<String>,
}

/// Waits at most so long.
async fn with_time_limit<T>(
    limit: Option<Duration>,
    attempt: impl Future<Output = T>,
) -> Option<T> {
    match limit {
        Some(limit) => timeout(limit, attempt).await.ok(),
        None => Some(attempt.await),
    }
}

/// The first part of a version such as `15.4 (Debian 15.4-1)` or `17beta1`.
fn parse_major_version(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Time limit of retries, with growing waits in between.
struct RetryDeadline {
    until: Option<Instant>,
    wait: Duration,
}

impl RetryDeadline {
    fn after(length: Option<Duration>) -> Self {
        let until = length.map(|length| Instant::now() + length);
        Self { until, wait: Duration::from_millis(20) }
    }

    /// Waits before another attempt. False when the time is over, or the host requests a stop.
    async fn wait_for_next_attempt(&mut self, stop: &Stop) -> bool {
        if self.until.is_some_and(|until| Instant::now() + self.wait > until) {
            return false;
        }
        let wait = self.wait;
        self.wait = (wait * 2).min(Duration::from_secs(1));
        tokio::select! {
            () = tokio::time::sleep(wait) => true,
            () = stop.wait_until_requested() => false,
        }
    }
}

/// Whether another attempt may succeed.
fn is_temporary_error(error: &Error) -> bool {
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
        *error.code() == SqlState::INTERNAL_ERROR && error.message() == "tuple concurrently updated"
    });
    clash || error.code().is_some_and(|code| passing.contains(code))
}

/// The names of roles, as statements take them.
pub(super) fn role_names(roles: &[String]) -> Vec<&str> {
    roles.iter().map(String::as_str).collect()
}

/// Whether no server answers. A socket that does not exist yet is not found.
fn is_server_absent_error(error: &Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|source| {
        [ConnectionRefused, ConnectionReset, NotFound].contains(&source.kind())
    })
}

/// Reports the messages of the server.
fn server_problem(summary: &str, error: &Error) -> Problem {
    Problem::new(summary, format!("{}.", describe_error(error)))
}

fn describe_error(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => server_message(error),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

fn server_message(error: &DbError) -> String {
    let code = error.code().code();
    let parts = [Some(error.message()), error.detail(), error.hint()];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("{} (SQLSTATE {code})", parts.join("; "))
}
