//! Connections and transactions whose statements have a time limit. After a statement that was not answered
//! in time the connection is of no use any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, GenericClient, Row, Statement};

use super::connect::{STATEMENT_TIMEOUT, explained};
use crate::cause::Cause;

/// The values of a statement.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection. It ends when it is dropped.
pub(super) type Connection = Limited<Client>;

/// A transaction of a connection. Nothing of it is kept when it is dropped without a commit.
pub(super) type Transaction<'c> = Limited<tokio_postgres::Transaction<'c>>;

/// A connection or a transaction, with the limit of its statements.
pub(super) struct Limited<C> {
    client: C,
    limit: Duration,
    is_stuck: Arc<AtomicBool>,
}

/// A statement that the server keeps for a connection.
pub(super) struct Prepared {
    text: String,
    statement: Statement,
}

impl Connection {
    /// Makes a connection of a client.
    pub(super) fn new(client: Client, limit: Duration) -> Self {
        Self { client, limit, is_stuck: Arc::default() }
    }

    /// Whether the connection is of no use any more.
    pub(super) fn is_lost(&self) -> bool {
        self.client.is_closed() || self.is_stuck.load(Ordering::SeqCst)
    }

    /// Begins a transaction. Its statements have the limit of the connection.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time.
    pub(super) async fn transaction(&mut self) -> Result<Transaction<'_>, Cause> {
        let (limit, is_stuck) = (self.limit, self.is_stuck.clone());
        let client =
            within(limit, &is_stuck, "START TRANSACTION", self.client.transaction()).await?;
        Ok(Limited { client, limit, is_stuck })
    }

    /// Has the server keep a statement that is run often.
    ///
    /// # Errors
    /// As [`Limited::query`].
    pub(super) async fn prepare(&self, statement: String) -> Result<Prepared, Cause> {
        let prepared = self.within(&statement, self.client.prepare(&statement)).await?;
        Ok(Prepared { text: statement, statement: prepared })
    }

    /// As [`Limited::execute`], for a statement that the server keeps.
    ///
    /// # Errors
    /// As there.
    pub(super) async fn execute_prepared(
        &self,
        Prepared { text, statement }: &Prepared,
        values: Values<'_>,
    ) -> Result<u64, Cause> {
        self.within(text, self.client.execute(statement, values)).await
    }

    /// Runs several statements, all of them or none. Returns whether the user has the rights for them.
    ///
    /// # Errors
    /// As [`Limited::query`].
    pub(super) async fn execute_if_permitted(&self, statements: &str) -> Result<bool, Cause> {
        let run = async {
            match self.client.batch_execute(statements).await {
                Ok(()) => Ok(true),
                Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.within(statements, run).await
    }
}

impl Transaction<'_> {
    /// Keeps what the transaction has done.
    ///
    /// # Errors
    /// When the server refuses it, or does not answer in time. Then it may have been kept or not.
    pub(super) async fn commit(self) -> Result<(), Cause> {
        within(self.limit, &self.is_stuck, "COMMIT", self.client.commit()).await
    }
}

impl<C: GenericClient> Limited<C> {
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

    /// As [`Limited::query`], for at most one row.
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

    /// As [`Limited::query`], for exactly one row.
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
    /// As [`Limited::query`].
    pub(super) async fn execute(&self, statement: &str, values: Values<'_>) -> Result<u64, Cause> {
        self.within(statement, self.client.execute(statement, values)).await
    }
}

impl<C> Limited<C> {
    async fn within<T>(
        &self,
        statement: &str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Cause> {
        within(self.limit, &self.is_stuck, statement, call).await
    }
}

/// Waits for the answer to a statement up to the limit. Without one the connection is stuck.
async fn within<T>(
    limit: Duration,
    is_stuck: &AtomicBool,
    statement: &str,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, Cause> {
    match tokio::time::timeout(limit, call).await {
        Ok(outcome) => outcome.map_err(explained),
        Err(_) => {
            // Later statements would wait behind this one, so the connection is given up.
            is_stuck.store(true, Ordering::SeqCst);
            let (seconds, call) = (limit.as_secs(), shortened(statement));
            Err(format!("{call}: the server did not answer within {seconds} seconds. It may be overloaded, or the statement waits for another session: see pg_stat_activity. {STATEMENT_TIMEOUT} sets another limit, in seconds").into())
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
