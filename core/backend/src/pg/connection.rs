//! Connections and transactions whose statements have a time limit. After a statement that was not answered
//! in time the connection is of no use any more.

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

/// The values of a statement.
type StatementValues<'a> = &'a [&'a dyn StatementParameter];

/// A value together with its type. The server would have to be asked for the type in a round trip of its
/// own.
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

/// A connection. It ends when it is dropped.
pub(super) struct Connection {
    client: Client,
    /// The longest wait for an answer to a statement.
    limit: Duration,
    faults: ConnectionFaults,
    /// The schema whose table of states was made or found on it.
    schema: Option<String>,
    /// The schema in which Formwork's tables were found on it.
    own: Mutex<Option<String>>,
}

/// Faults of a connection.
#[derive(Default)]
struct ConnectionFaults {
    /// A statement was not answered in time, or the server has ended the session.
    is_given_up: AtomicBool,
    /// A statement failed.
    has_failed: AtomicBool,
}

impl Connection {
    /// Makes a connection of a client.
    pub(super) fn new(client: Client, limit: Duration) -> Self {
        let (faults, own) = (ConnectionFaults::default(), Mutex::default());
        Self { client, limit, faults, schema: None, own }
    }

    /// Whether the connection is of no use any more.
    pub(super) fn is_lost(&self) -> bool {
        self.client.is_closed() || self.faults.is_given_up.load(Ordering::SeqCst)
    }

    /// Whether nothing has ever failed on the connection.
    pub(super) fn is_reusable(&self) -> bool {
        !self.is_lost() && !self.faults.has_failed.load(Ordering::SeqCst)
    }

    /// Whether the table of states of a schema was made or found on this connection.
    pub(super) fn has_states_table(&self, schema: &str) -> bool {
        self.schema.as_deref() == Some(schema)
    }

    /// Takes down that the table of states of a schema is there.
    pub(super) fn set_has_states_table(&mut self, schema: &str) {
        self.schema = Some(schema.to_owned());
    }

    /// Whether Formwork's tables of a schema were found on this connection.
    pub(super) fn has_own_tables(&self, schema: &str) -> bool {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).as_deref() == Some(schema)
    }

    /// Takes down that Formwork's tables of a schema are there.
    pub(super) fn set_has_own_tables(&self, schema: &str) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Some(schema.to_owned());
    }

    /// A transaction, which [`Transaction::begin`] begins. Its statements are those of the connection.
    ///
    /// The server answers statements in the order in which they were sent, and runs one after the other.
    /// So statements that need no answer of each other are sent together, in one round trip:
    /// `try_join!(transaction.begin(), transaction.query(...))`.
    pub(super) fn transaction(&mut self) -> Transaction<'_> {
        Transaction { connection: self, is_open: AtomicBool::new(false) }
    }

    /// Runs several statements, all of them or none. Returns whether the user has the rights for them.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub(super) async fn execute_if_permitted(&self, statements: &str) -> Result<bool, Cause> {
        let run = async {
            match self.client.batch_execute(statements).await {
                Ok(()) => Ok(true),
                Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.run_with_limit(statements, run).await
    }

    /// Runs a statement and returns its rows.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time.
    pub(super) async fn query(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<Vec<Row>, Cause> {
        self.run_with_limit(
            statement,
            self.client.query_typed(statement, &typed_parameters(values)),
        )
        .await
    }

    /// As [`Connection::query`], for at most one row.
    ///
    /// # Errors
    /// As there, and when there are several rows.
    pub(super) async fn query_opt(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<Option<Row>, Cause> {
        self.run_with_limit(
            statement,
            self.client.query_typed_opt(statement, &typed_parameters(values)),
        )
        .await
    }

    /// As [`Connection::query`], for exactly one row.
    ///
    /// # Errors
    /// As there, and when there is another number of rows.
    pub(super) async fn query_one(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<Row, Cause> {
        self.run_with_limit(
            statement,
            self.client.query_typed_one(statement, &typed_parameters(values)),
        )
        .await
    }

    /// Runs a statement and returns the number of rows that it changed.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub(super) async fn execute(
        &self,
        statement: &str,
        values: StatementValues<'_>,
    ) -> Result<u64, Cause> {
        self.run_with_limit(
            statement,
            self.client.execute_typed(statement, &typed_parameters(values)),
        )
        .await
    }

    /// Waits for the answer to a statement up to the limit. Without one the connection is stuck.
    async fn run_with_limit<T>(
        &self,
        statement: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Cause> {
        match tokio::time::timeout(self.limit, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                self.faults.has_failed.store(true, Ordering::SeqCst);
                let cause = call_error(&shorten_statement(statement), &error);
                if is_lost_connection(&cause) {
                    // The library may not have seen the end of the session yet.
                    self.faults.is_given_up.store(true, Ordering::SeqCst);
                }
                Err(cause)
            }
            Err(_) => {
                // Later statements would wait behind this one, so the connection is given up.
                self.faults.is_given_up.store(true, Ordering::SeqCst);
                let (seconds, call) = (self.limit.as_secs(), shorten_statement(statement));
                Err(format!("{call}: the server did not answer within {seconds} seconds. It may be overloaded, or the statement waits for another session: see pg_stat_activity. {STATEMENT_TIMEOUT_VARIABLE} sets another limit, in seconds").into())
            }
        }
    }
}

/// A transaction of a connection. Nothing of it is kept when it is dropped without a commit.
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
    /// Begins the transaction. The statements that are sent behind this one belong to it.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time.
    pub(super) async fn begin(&self) -> Result<(), Cause> {
        // Before the answer, which may be lost although the transaction has begun.
        self.is_open.store(true, Ordering::SeqCst);
        self.run_with_limit("START TRANSACTION", self.client.batch_execute("START TRANSACTION"))
            .await
    }

    /// Keeps the changes of the transaction. If one of its statements has failed, nothing is kept, and
    /// only that statement returns an error.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time. Then it may have been kept or not.
    pub(super) async fn commit(&self) -> Result<(), Cause> {
        let committed = self.run_with_limit("COMMIT", self.client.batch_execute("COMMIT")).await;
        self.is_open.store(committed.is_err(), Ordering::SeqCst);
        committed
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open.load(Ordering::SeqCst) {
            // One poll sends the statement, ahead of all that follow on the connection.
            self.client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

fn typed_parameters<'a>(values: StatementValues<'a>) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    values.iter().map(|value| value.to_sql_with_type()).collect()
}

/// The most characters of a statement in a message.
const MAX_STATEMENT_LEN: usize = 80;

/// A statement as messages name it. It holds no values.
fn shorten_statement(statement: &str) -> String {
    let mut shown: String = statement.chars().take(MAX_STATEMENT_LEN).collect();
    if shown.len() < statement.len() {
        shown.push_str("...");
    }
    shown
}
