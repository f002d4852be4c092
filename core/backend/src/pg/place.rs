//! The row of one workspace: read, written only if it is the row that was read, and locked on one
//! connection, which holds the lock.

use formwork_core::state::file::StateFile;
use md5::{Digest as _, Md5};

use super::Table;
use super::connection::Connection;
use crate::lock::LockInfo;
use crate::remote::{Cause, ForceUnlockOutcome, Locking, PutError, RemotePlace};
use crate::store::LockEnd;

/// The key of the lock under which workspaces are made.
const CREATION: i64 = -1;

/// The row of a workspace.
pub(super) struct PgPlace {
    table: Table,
    workspace: String,
    client: Option<Connection>,
    /// The sum of the text that was last read or written; `None` if there was none.
    known: Option<String>,
    /// The key of the advisory lock that is held.
    held: Option<i64>,
}

impl PgPlace {
    /// Makes the place. Connects when it is first used.
    pub(super) fn new(table: Table, workspace: &str) -> Self {
        let workspace = workspace.to_owned();
        Self { table, workspace, client: None, known: None, held: None }
    }

    /// The connection. A lost one is replaced; the lock that it held is taken again, or that fails.
    async fn client(&mut self) -> Result<&Connection, Cause> {
        if self.client.as_ref().is_none_or(Connection::is_lost) {
            let client = self.table.open().await?;
            if let Some(key) = self.held {
                let taken = try_lock(&client, key).await?;
                if !taken {
                    return Err("the connection that held the lock was lost, and another process holds the lock now".into());
                }
            }
            self.client = Some(client);
        }
        self.client.as_ref().ok_or_else(|| "there is no connection".into())
    }

    /// Makes the row with a state, if there is none.
    pub(super) async fn create(&mut self, file: &StateFile) -> Result<(), Cause> {
        let text = String::from_utf8(file.write())?;
        let statement = format!(
            "INSERT INTO {} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            self.table.name()
        );
        let workspace = self.workspace.clone();
        let client = self.client().await?;
        if !try_lock(client, CREATION).await? {
            return Err("another process is making a workspace".into());
        }
        let made = client.execute(&statement, &[&workspace, &text]).await;
        release(client, CREATION).await?;
        made.map(drop)
    }

    /// The sessions that hold the lock of the row, as one line each.
    async fn holders(&mut self) -> Result<Vec<String>, Cause> {
        let query = format!(
            "SELECT activity.pid, coalesce(activity.usename::text, ''), coalesce(host(activity.client_addr), 'local'), coalesce(activity.application_name, '') FROM pg_locks locks JOIN pg_stat_activity activity ON activity.pid = locks.pid WHERE locks.locktype = 'advisory' AND locks.objsubid = 1 AND ((locks.classid::bigint << 32) | locks.objid::bigint) IN (SELECT id FROM {} WHERE name = $1)",
            self.table.name()
        );
        let workspace = self.workspace.clone();
        let rows = self.client().await?.query(&query, &[&workspace]).await?;
        let line = |row: &tokio_postgres::Row| {
            let (pid, user, host, program): (i32, String, String, String) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            format!("session {pid} of user {user:?} from {host} {program}").trim_end().to_owned()
        };
        Ok(rows.iter().map(line).collect())
    }
}

async fn try_lock(client: &Connection, key: i64) -> Result<bool, Cause> {
    let row = client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await;
    Ok(row?.get(0))
}

async fn release(client: &Connection, key: i64) -> Result<(), Cause> {
    let row = client.query_one("SELECT pg_advisory_unlock($1)", &[&key]).await;
    row.map(drop)
}

#[async_trait::async_trait]
impl RemotePlace for PgPlace {
    fn location(&self) -> String {
        self.table.location(&self.workspace)
    }

    fn lock_end(&self) -> LockEnd {
        LockEnd::WithConnection
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let query = format!("SELECT data FROM {} WHERE name = $1", self.table.name());
        let workspace = self.workspace.clone();
        let row = self.client().await?.query_opt(&query, &[&workspace]).await;
        let text: Option<String> = row?.and_then(|row| row.get(0));
        self.known = text.as_ref().map(|text| sum(text.as_bytes()));
        Ok(text.map(String::into_bytes))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        let text = String::from_utf8(text)?;
        let statement = format!(
            "INSERT INTO {} AS stored (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = $2 WHERE stored.data IS NULL OR md5(stored.data) = $3",
            self.table.name()
        );
        let (workspace, known) = (self.workspace.clone(), self.known.clone());
        let client = self.client().await?;
        let written = client.execute(&statement, &[&workspace, &text, &known]).await;
        if written? == 0 {
            return Err(PutError::Changed);
        }
        self.known = Some(sum(text.as_bytes()));
        Ok(())
    }

    async fn lock(&mut self, _info: &LockInfo) -> Result<Locking, Cause> {
        // As Terraform does it: the row's number is the key, and the key of creation must be free.
        let query = format!(
            "SELECT id, pg_try_advisory_lock(id), pg_try_advisory_lock(-1) FROM {} WHERE name = $1",
            self.table.name()
        );
        let workspace = self.workspace.clone();
        let client = self.client().await?;
        let row = client.query_opt(&query, &[&workspace]).await?;
        let Some(row) = row else {
            let taken = try_lock(client, CREATION).await?;
            self.held = taken.then_some(CREATION);
            return Ok(if taken { Locking::Taken } else { Locking::Held(None) });
        };
        let (key, took_row, took_creation): (i64, bool, bool) =
            (row.get(0), row.get(1), row.get(2));
        if took_creation {
            release(client, CREATION).await?;
        }
        if took_row && took_creation {
            self.held = Some(key);
            return Ok(Locking::Taken);
        }
        if took_row {
            release(client, key).await?;
        }
        Ok(Locking::Held(None))
    }

    async fn unlock(&mut self, _id: &str) -> Result<(), Cause> {
        let Some(key) = self.held.take() else { return Ok(()) };
        match self.client.take_if(|client| !client.is_lost()) {
            Some(client) => release(&client, key).await,
            // It ended with the connection.
            None => Ok(()),
        }
    }

    async fn break_lock(&mut self, _id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let holders = self.holders().await?;
        if holders.is_empty() {
            return Ok(ForceUnlockOutcome::Released);
        }
        Err(format!(
            "the lock ends with the connection that holds it: {}; end that process, or its session with pg_terminate_backend",
            holders.join(", ")
        )
        .into())
    }
}

/// The sum of a string, as the server's function `md5` returns it.
fn sum(text: &[u8]) -> String {
    Md5::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
