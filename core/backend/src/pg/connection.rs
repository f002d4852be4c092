//! A connection whose statements have a time limit. After a statement that was not answered in time the
//! connection is of no use any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row};

use super::connect::{STATEMENT_TIMEOUT, explained};
use crate::remote::Cause;

/// The values of a statement.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection. It ends when it is dropped.
pub(super) struct Connection {
    client: Client,
    limit: Duration,
    is_stuck: AtomicBool,
}

impl Connection {
    /// Makes a connection of a client.
    pub(super) fn new(client: Client, limit: Duration) -> Self {
        Self { client, limit, is_stuck: AtomicBool::new(false) }
    }

    /// Whether the connection is of no use any more.
    pub(super) fn is_lost(&self) -> bool {
        self.client.is_closed() || self.is_stuck.load(Ordering::SeqCst)
    }

    /// Runs a statement and returns its rows.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time.
    pub(super) async fn query(
        &self,
        statement: &str,
        values: Values<'_>,
    ) -> Result<Vec<Row>, Cause> {
        self.within(statement, self.client.query(statement, values)).await
    }

    /// As [`Connection::query`], for at most one row.
    ///
    /// # Errors
    /// As there, and when there are several rows.
    pub(super) async fn query_opt(
        &self,
        statement: &str,
        values: Values<'_>,
    ) -> Result<Option<Row>, Cause> {
        self.within(statement, self.client.query_opt(statement, values)).await
    }

    /// As [`Connection::query`], for exactly one row.
    ///
    /// # Errors
    /// As there, and when there is another number of rows.
    pub(super) async fn query_one(
        &self,
        statement: &str,
        values: Values<'_>,
    ) -> Result<Row, Cause> {
        self.within(statement, self.client.query_one(statement, values)).await
    }

    /// Runs a statement and returns the number of rows that it changed.
    ///
    /// # Errors
    /// As [`Connection::query`].
    pub(super) async fn execute(&self, statement: &str, values: Values<'_>) -> Result<u64, Cause> {
        self.within(statement, self.client.execute(statement, values)).await
    }

    async fn within<T>(
        &self,
        statement: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Cause> {
        match tokio::time::timeout(self.limit, call).await {
            Ok(outcome) => outcome.map_err(explained),
            Err(_) => {
                self.is_stuck.store(true, Ordering::SeqCst);
                let (seconds, call) = (self.limit.as_secs(), shortened(statement));
                Err(format!("{call}: the server did not answer within {seconds} seconds. It may be overloaded, or the statement waits for another session: see pg_stat_activity. {STATEMENT_TIMEOUT} sets another limit, in seconds").into())
            }
        }
    }
}

/// The most characters of a statement in a message.
const MAX_SHOWN: usize = 80;

/// A statement as messages name it. It holds no values.
fn shortened(statement: &str) -> String {
    let mut shown: String = statement.chars().take(MAX_SHOWN).collect();
    if shown.len() < statement.len() {
        shown.push_str("...");
    }
    shown
}
