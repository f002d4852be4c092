//! Connections and transactions whose statements have a timeout. After a timeout, the connection cannot be
//! used any more.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use super::call_error::{call_error, is_lost_connection};
use super::connect::STATEMENT_TIMEOUT_VARIABLE;
use crate::cause::Cause;

/// The parameters of a statement.
type StatementValues<'a> = &'a [&'a dyn StatementParameter];

/// A parameter with its type. Otherwise another round trip would be required to request the type from
/// the server.
pub(super) trait StatementParameter: Sync {
    fn to_sql_with_type(&self) -> (&(dyn ToSql + Sync), Type);
}

macro_rules! parameters {
    ($($rust:ty => $sql:ident),* $(,)?) => {
        $(impl StatementParameter for $rust {
            fn to_sql_with_type(&self) -> (&(dyn ToSql + Sync), Type) {
                (self, Type::$sql)
            }
        })*
    };
}

parameters! {
    String => TEXT,
    &str => TEXT,
    Option<String> => TEXT,
    Option<&str> => TEXT,
    i32 => INT4,
    i64 => INT8,
    Option<i64> => INT8,
    &[u8] => BYTEA,
    &[String] => TEXT_ARRAY,
    Vec<String> => TEXT_ARRAY,
    Vec<&str> => TEXT_ARRAY,
    Vec<Option<&str>> => TEXT_ARRAY,
    Vec<bool> => BOOL_ARRAY,
    Vec<i64> => INT8_ARRAY,
}

/// A connection. It is closed when it is dropped.
pub(super) struct Connection {
    client: Client,
    /// Timeout of a statement.
    statement_timeout: Duration,
    faults: ConnectionFaults,
    /// The schema whose table of states was created or found on this connection.
    schema: Option<String>,
    /// The schema in which Formwork's tables were found on this connection.
    own: Mutex<Option<String>>,
}

/// Faults of a connection.
#[derive(Default)]
struct ConnectionFaults {
    /// A statement timed out, or the server has closed the session.
    is_given_up: AtomicBool,
    /// A statement failed.
    has_failed: AtomicBool,
}

impl Connection {
    /// Wraps the connection of a client.
    pub(super) fn new(client: Client, statement_timeout: Duration) -> Self {
        let (faults, own) = (ConnectionFaults::default(), Mutex::default());
        Self { client, statement_timeout, faults, schema: None, own }
    }

    /// Whether the connection cannot be used any more.
    pub(super) fn is_lost(&self) -> bool {
        self.client.is_closed() || self.faults.is_given_up.load(Ordering::SeqCst)
    }

    /// Whether no statement has ever failed on the connection.
    pub(super) fn is_reusable(&self) -> bool {
        !self.is_lost() && !self.faults.has_failed.load(Ordering::SeqCst)
    }

    /// Whether the table of states of a schema was created or found on this connection.
    pub(super) fn has_states_table(&self, schema: &str) -> bool {
        self.schema.as_deref() == Some(schema)
    }

    /// Records that the table of states of a schema exists.
    pub(super) fn set_has_states_table(&mut self, schema: &str) {
        self.schema = Some(schema.to_owned());
    }

    /// Whether Formwork's tables of a schema were found on this connection.
    pub(super) fn has_own_tables(&self, schema: &str) -> bool {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(schema)
    }

    /// Records that Formwork's tables of a schema exist.
    pub(super) fn set_has_own_tables(&self, schema: &str) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Some(schema.to_owned());
    }

    /// Creates a transaction, which [`Transaction::begin`] begins. It uses the statements of the
    /// connection.
    ///
    /// The server executes statements one after the other, in the order in which they were sent. So
    /// statements that do not depend on each other's results are sent together, in one round trip:
    /// `try_join!(transaction.begin(), transaction.query(...))`.
    pub(super) fn transaction(&mut self) -> Transaction<'_> {
        Transaction { connection: self, is_open: AtomicBool::new(false) }
    }

    /// Runs several statements, all of them or none. Returns whether the user has the required rights.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Connection::query`].
    pub(super) async fn execute_if_permitted(&self, statements: &str) -> Result<bool, Cause> {
        let batch = async {
            match self.client.batch_execute(statements).await {
                Ok(()) => Ok(true),
                Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.run_with_timeout(statements, batch).await
    }

    /// Runs a statement and returns its rows.
    ///
    /// # Errors
    /// Returns an error if the server refuses the statement, or does not respond in time.
    pub(super) async fn query(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<Vec<Row>, Cause> {
        self.run_with_timeout(
            statement,
            self.client.query_typed(statement, &typed_parameters(values)),
        )
        .await
    }

    /// Like [`Connection::query`], for at most one row.
    ///
    /// # Errors
    /// Returns an error in the same cases, and if there are several rows.
    pub(super) async fn query_opt(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<Option<Row>, Cause> {
        self.run_with_timeout(
            statement,
            self.client.query_typed_opt(statement, &typed_parameters(values)),
        )
        .await
    }

    /// Like [`Connection::query`], for exactly one row.
    ///
    /// # Errors
    /// Returns an error in the same cases, and if the number of rows differs.
    pub(super) async fn query_one(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<Row, Cause> {
        self.run_with_timeout(
            statement,
            self.client.query_typed_one(statement, &typed_parameters(values)),
        )
        .await
    }

    /// Runs a statement and returns the number of rows that it changed.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Connection::query`].
    pub(super) async fn execute(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<u64, Cause> {
        self.run_with_timeout(
            statement,
            self.client.execute_typed(statement, &typed_parameters(values)),
        )
        .await
    }

    /// Waits for the response to a statement until the timeout. After the timeout the connection
    /// cannot be used any more.
    async fn run_with_timeout<T>(
        &self,
        statement: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Cause> {
        match tokio::time::timeout(self.statement_timeout, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                self.faults.has_failed.store(true, Ordering::SeqCst);
                let cause = call_error(&shorten_statement(statement), &error);
                if is_lost_connection(&cause) {
                    // The library may not have detected the end of the session yet.
                    self.faults.is_given_up.store(true, Ordering::SeqCst);
                }
                Err(cause)
            }
            Err(_) => {
                // Later statements would wait for this one, so the connection is abandoned.
                self.faults.is_given_up.store(true, Ordering::SeqCst);
                let (seconds, call) =
                    (self.statement_timeout.as_secs(), shorten_statement(statement));
                Err(format!("{call}: the server did not respond within {seconds} seconds. It may be overloaded, or the statement waits for another session: see pg_stat_activity. {STATEMENT_TIMEOUT_VARIABLE} sets another limit, in seconds").into())
            }
        }
    }
}

/// A transaction of a connection. If it is dropped without a commit, it is rolled back.
pub(super) struct Transaction<'c> {
    connection: &'c mut Connection,
    is_open: AtomicBool,
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Transaction<'_> {
    /// Begins the transaction. The statements that are sent after this one belong to it.
    ///
    /// # Errors
    /// Returns an error if the server refuses it, or does not respond in time.
    pub(super) async fn begin(&self) -> Result<(), Cause> {
        // Set before the response, which may be lost although the transaction has begun.
        self.is_open.store(true, Ordering::SeqCst);
        self.run_with_timeout("START TRANSACTION", self.client.batch_execute("START TRANSACTION"))
            .await
    }

    /// Commits the transaction. If one of its statements has failed, it is rolled back, and only that
    /// statement returns an error.
    ///
    /// # Errors
    /// Returns an error if the server refuses it, or does not respond in time. In this case it may
    /// or may not be committed.
    pub(super) async fn commit(&self) -> Result<(), Cause> {
        let committed = self.run_with_timeout("COMMIT", self.client.batch_execute("COMMIT")).await;
        self.is_open.store(committed.is_err(), Ordering::SeqCst);
        committed
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open.load(Ordering::SeqCst) {
            // One poll sends the statement, before all later statements on the connection.
            self.client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

fn typed_parameters<'a>(values: StatementValues<'a>) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    values.iter().map(|value| value.to_sql_with_type()).collect()
}

/// Maximum number of characters of a statement in a message.
const MAX_STATEMENT_LEN: usize = 80;

/// A statement, for messages. It contains no parameters.
fn shorten_statement(statement: &str) -> String {
    let mut shortened: String = statement.chars().take(MAX_STATEMENT_LEN).collect();
    if shortened.len() < statement.len() {
        shortened.push_str("...");
    }
    shortened
}
