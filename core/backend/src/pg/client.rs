//! The row of one workspace. It is written only if it is still the row that was read, and locked on
//! one connection, which holds the lock.

use std::time::{Duration, Instant};

use formwork_core::state::file::StateFile;
use formwork_value::codec::hex;
use md5::{Digest as _, Md5};

use super::StatesTable;
use super::call_error::CallAttempts;
use super::connection::Connection;
use super::idle_connections;
use crate::cause::Cause;

/// The lock key under which workspaces are created.
const WORKSPACE_CREATION_LOCK_KEY: i64 = -1;

/// A condition: another session holds the creation key. Terraform acquires the key to check this, and so
/// conflicts with all other programs that check at the same moment.
const IS_CREATING_CONDITION: &str = "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid::bigint = 4294967295 AND objid::bigint = 4294967295 AND objsubid = 1)";

/// Maximum time to wait for the creation key. Terraform holds it for a moment whenever it locks a state of the
/// database, and for a whole run if it creates one.
const MAX_CREATION_LOCK_WAIT: Duration = Duration::from_secs(2);

/// Maximum time to wait for a lock that a lost connection of this process may still hold, because the server
/// may need a moment to detect its end.
const MAX_LOST_SESSION_WAIT: Duration = Duration::from_secs(3);

/// The pause between two attempts.
const LOCK_RETRY_PAUSE: Duration = Duration::from_millis(50);

/// The row of a workspace.
pub(super) struct PgClient {
    table: StatesTable,
    workspace: String,
    client: Option<Connection>,
    /// The checksum of the text that was last read or written, or `None` if there was none.
    known_checksum: Option<String>,
    /// Whether that happened after the lock was acquired.
    is_known_under_lock: bool,
    /// The checksum of a written text whose response was lost.
    unconfirmed: Option<String>,
    /// The advisory lock that is held.
    held_lock: Option<HeldAdvisoryLock>,
}

/// An advisory lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldAdvisoryLock {
    key: i64,
    mode: LockMode,
}

impl HeldAdvisoryLock {
    /// Acquires the lock on a connection. Returns whether no other connection holds it.
    async fn try_to_take(self, client: &Connection) -> Result<bool, Cause> {
        match self.mode {
            LockMode::Exclusive => try_advisory_lock(client, self.key).await,
            LockMode::Shared => try_shared_advisory_lock(client, self.key).await,
        }
    }

    /// Releases the lock on the connection that holds it.
    pub(super) async fn release(self, client: &Connection) -> Result<(), Cause> {
        // The server releases a lock only in the mode in which it was acquired.
        let statement = match self.mode {
            LockMode::Exclusive => "SELECT pg_advisory_unlock($1)",
            LockMode::Shared => "SELECT pg_advisory_unlock_shared($1)",
        };
        client.query_one(statement, &[&self.key]).await.map(drop)
    }
}

/// The lock under which workspaces are created.
const WORKSPACE_CREATION_LOCK: HeldAdvisoryLock =
    HeldAdvisoryLock { key: WORKSPACE_CREATION_LOCK_KEY, mode: LockMode::Exclusive };

/// The result of an attempt to lock.
enum LockAttempt {
    Taken(LockMode),
    /// Another process holds the lock of the row.
    Held,
    /// Another process holds the creation key.
    Creating,
}

/// The degree to which other processes are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// All other processes, like Terraform's lock.
    Exclusive,
    /// Terraform, and the commands with an exclusive lock.
    Shared,
}

impl PgClient {
    /// Creates the client. Connects on first use.
    pub(super) fn new(table: StatesTable, workspace: &str) -> Self {
        let workspace = workspace.to_owned();
        let (client, known_checksum, unconfirmed, held_lock) = (None, None, None, None);
        Self {
            table,
            workspace,
            client,
            known_checksum,
            is_known_under_lock: false,
            unconfirmed,
            held_lock,
        }
    }

    /// Returns the connection. A lost one is replaced, and its lock is acquired again, which may
    /// fail.
    pub(super) async fn connection(&mut self) -> Result<&Connection, Cause> {
        if self.client.as_ref().is_none_or(Connection::is_lost) {
            // Closed first, because its session may still hold the lock.
            self.client = None;
            let client = self.table.connect_and_create().await?;
            if let Some(lock) = self.held_lock {
                self.retake_lock(&client, lock).await?;
            }
            self.client = Some(client);
        }
        self.client.as_ref().ok_or_else(|| "there is no connection".into())
    }

    /// Acquires a lock again that has ended with its connection.
    ///
    /// # Errors
    /// Returns an error if another process holds it now, or has changed the state since then.
    async fn retake_lock(&self, client: &Connection, lock: HeldAdvisoryLock) -> Result<(), Cause> {
        let deadline = Instant::now() + MAX_LOST_SESSION_WAIT;
        while !lock.try_to_take(client).await? {
            if Instant::now() >= deadline {
                // Continuing would mean writing without a lock while that process also writes.
                let holders = self.lock_holders(client).await?;
                let separator = if holders.is_empty() { "" } else { ": " };
                let holder_list = format!("{separator}{}", holders.join(", "));
                return Err(format!("the connection that held the lock was lost, and another process holds the lock now{holder_list}").into());
            }
            tokio::time::sleep(LOCK_RETRY_PAUSE).await;
        }
        // Concurrent runs detect changes by other runs with their claims, and when they merge.
        if lock.mode == LockMode::Shared || !self.is_known_under_lock {
            return Ok(());
        }
        let query = format!("SELECT md5(data) FROM {} WHERE name = $1", self.table.name());
        let row = client.query_opt(&query, &[&self.workspace]).await?;
        let stored_checksum: Option<String> = row.and_then(|row| row.get(0));
        let is_own_write = self.unconfirmed.is_some() && stored_checksum == self.unconfirmed;
        if stored_checksum != self.known_checksum && !is_own_write {
            return Err("the connection that held the lock was lost, and another process has changed the state since".into());
        }
        Ok(())
    }

    /// Takes the connection out. The caller returns it later.
    pub(super) async fn take_connection(&mut self) -> Result<Connection, Cause> {
        self.connection().await?;
        self.client.take().ok_or_else(|| "there is no connection".into())
    }

    /// Puts a connection back, and its lock with it.
    pub(super) fn return_connection(&mut self, client: Connection) {
        self.client = Some(client);
    }

    /// The checksum of the text that was last read or written, or `None` if there was none.
    pub(super) fn known_checksum(&self) -> Option<String> {
        self.known_checksum.clone()
    }

    /// Records the checksum of the text that was written.
    pub(super) fn set_known_checksum(&mut self, checksum: String) {
        self.set_known(Some(checksum));
    }

    /// Records the checksum of a text that may have been written.
    pub(super) fn set_unconfirmed_checksum(&mut self, checksum: Option<String>) {
        self.unconfirmed = checksum;
    }

    fn set_known(&mut self, checksum: Option<String>) {
        (self.known_checksum, self.unconfirmed) = (checksum, None);
        self.is_known_under_lock = self.held_lock.is_some();
    }

    /// Creates the row with a state, if it does not exist.
    pub(super) async fn create_row(&mut self, file: &StateFile) -> Result<(), Cause> {
        let text = String::from_utf8(file.to_bytes())?;
        let mut attempts = CallAttempts::begin("make the row of the state");
        loop {
            match self.try_to_create_row(&text).await {
                Ok(()) => return Ok(()),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn try_to_create_row(&mut self, text: &str) -> Result<(), Cause> {
        let statement = format!(
            "INSERT INTO {} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            self.table.name()
        );
        let workspace = self.workspace.clone();
        let client = self.connection().await?;
        // Terraform creates rows under the same key, so only one program at a time creates a row.
        if !lock_creation_key(client).await? {
            return Err("another process is creating a workspace".into());
        }
        let inserted = client.execute(&statement, &[&workspace, &text]).await;
        // Released even after a failure, because a session keeps an advisory lock until it ends.
        WORKSPACE_CREATION_LOCK.release(client).await?;
        inserted.map(drop)
    }

    /// The sessions that hold the lock of the row or the creation key, as one line each.
    async fn lock_holders(&self, client: &Connection) -> Result<Vec<String>, Cause> {
        let query = format!(
            "SELECT activity.pid, coalesce(activity.usename::text, ''), coalesce(host(activity.client_addr), 'local'), coalesce(activity.application_name, '') FROM pg_locks locks JOIN pg_stat_activity activity ON activity.pid = locks.pid WHERE locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1 AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ((locks.classid::bigint << 32) | locks.objid::bigint) IN (SELECT id FROM {} WHERE name = $1 UNION ALL SELECT {WORKSPACE_CREATION_LOCK_KEY})",
            self.table.name()
        );
        let rows = client.query(&query, &[&self.workspace]).await?;
        let line = |row: &tokio_postgres::Row| {
            let (pid, user, host, program): (i32, String, String, String) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            format!("session {pid} of user {user:?} from {host} {program}").trim_end().to_owned()
        };
        Ok(rows.iter().map(line).collect())
    }
}

impl Drop for PgClient {
    fn drop(&mut self) {
        // A lock ends with its connection, so that connection is not used again.
        if let (Some(client), None) = (self.client.take(), self.held_lock) {
            idle_connections::keep_idle_connection(&self.table.target, client);
        }
    }
}

/// Acquires the creation key, and waits for it briefly.
async fn lock_creation_key(client: &Connection) -> Result<bool, Cause> {
    let deadline = Instant::now() + MAX_CREATION_LOCK_WAIT;
    while !try_advisory_lock(client, WORKSPACE_CREATION_LOCK_KEY).await? {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        tokio::time::sleep(LOCK_RETRY_PAUSE).await;
    }
    Ok(true)
}

async fn try_advisory_lock(client: &Connection, key: i64) -> Result<bool, Cause> {
    let row = client.query_one("SELECT pg_try_advisory_lock($1)", &[&key]).await;
    Ok(row?.get(0))
}

async fn try_shared_advisory_lock(client: &Connection, key: i64) -> Result<bool, Cause> {
    let row = client.query_one("SELECT pg_try_advisory_lock_shared($1)", &[&key]).await;
    Ok(row?.get(0))
}

impl PgClient {
    /// The location of the state, for messages.
    pub(super) fn location(&self) -> String {
        self.table.location(&self.workspace)
    }

    /// Reads the text of the state. Returns `None` if there is none.
    pub(super) async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let mut attempts = CallAttempts::begin("read the state");
        loop {
            match self.try_to_get().await {
                Ok(text) => return Ok(text),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn try_to_get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let query = format!("SELECT data FROM {} WHERE name = $1", self.table.name());
        let workspace = self.workspace.clone();
        let row = self.connection().await?.query_opt(&query, &[&workspace]).await;
        let text: Option<String> = row?.and_then(|row| row.get(0));
        self.set_known(text.as_ref().map(|text| md5_hex(text.as_bytes())));
        Ok(text.map(String::into_bytes))
    }

    /// Acquires the lock: shared with others of its kind if that is requested and possible, otherwise
    /// exclusively. Returns `None` if another process holds it.
    pub(super) async fn lock(&mut self, shared: bool) -> Result<Option<LockMode>, Cause> {
        let mut attempts = CallAttempts::begin("lock the state");
        let mut deadline = Instant::now() + MAX_CREATION_LOCK_WAIT;
        loop {
            match self.try_to_lock(shared).await {
                Ok(LockAttempt::Taken(mode)) => {
                    self.is_known_under_lock = false;
                    return Ok(Some(mode));
                }
                Ok(LockAttempt::Held) if attempts.is_first() => return Ok(None),
                Ok(_) if Instant::now() >= deadline => return Ok(None),
                // The lost connection may still hold it, because the server has not detected its end
                // yet.
                Ok(LockAttempt::Creating | LockAttempt::Held) => {
                    tokio::time::sleep(LOCK_RETRY_PAUSE).await;
                }
                Err(cause) => {
                    attempts.wait_after(cause).await?;
                    deadline = Instant::now() + MAX_LOST_SESSION_WAIT;
                }
            }
        }
    }

    /// Acquires the lock like Terraform: its key is the id of the row, and the creation key must be
    /// free. If the row does not exist yet, the creation key is acquired instead.
    async fn try_to_lock(&mut self, shared: bool) -> Result<LockAttempt, Cause> {
        let (mode, suffix) =
            if shared { (LockMode::Shared, "_shared") } else { (LockMode::Exclusive, "") };
        let query = format!(
            "SELECT id, pg_try_advisory_lock{suffix}(id), {IS_CREATING_CONDITION} FROM {} WHERE name = $1",
            self.table.name()
        );
        let query_row = format!("SELECT id FROM {} WHERE name = $1", self.table.name());
        let workspace = self.workspace.clone();
        let client = self.connection().await?;
        let Some(row) = client.query_opt(&query, &[&workspace]).await? else {
            if !try_advisory_lock(client, WORKSPACE_CREATION_LOCK_KEY).await? {
                return Ok(LockAttempt::Creating);
            }
            // Another program may have created the row in between, and may hold its lock.
            if client.query_opt(&query_row, &[&workspace]).await?.is_some() {
                WORKSPACE_CREATION_LOCK.release(client).await?;
                return Ok(LockAttempt::Creating);
            }
            self.held_lock = Some(WORKSPACE_CREATION_LOCK);
            return Ok(LockAttempt::Taken(LockMode::Exclusive));
        };
        let (key, took_row, is_creating): (i64, bool, bool) = (row.get(0), row.get(1), row.get(2));
        match (took_row, is_creating) {
            (true, false) => {
                self.held_lock = Some(HeldAdvisoryLock { key, mode });
                Ok(LockAttempt::Taken(mode))
            }
            (true, true) => {
                HeldAdvisoryLock { key, mode }.release(client).await?;
                Ok(LockAttempt::Creating)
            }
            (false, _) => Ok(LockAttempt::Held),
        }
    }

    /// Discards the lock if it ended with its connection, so that no new connection acquires it
    /// again.
    pub(super) fn forget_lost_lock(&mut self) {
        if self.client.as_ref().is_none_or(Connection::is_lost) {
            self.held_lock = None;
        }
    }

    /// Returns the lock, to be released. A lost connection does not acquire it again.
    pub(super) fn take_lock_to_release(&mut self) -> Option<HeldAdvisoryLock> {
        self.held_lock.take()
    }

    /// Refuses to release the lock of another process, and reports the holder if there is one.
    pub(super) async fn break_lock(&mut self) -> Result<(), Cause> {
        let client = self.take_connection().await?;
        let holders = self.lock_holders(&client).await;
        self.return_connection(client);
        let holders = holders?;
        if holders.is_empty() {
            return Ok(());
        }
        // PostgreSQL releases an advisory lock only in the session that holds it.
        Err(format!(
            "the lock ends with the connection that holds it: {}; end that process, or its session with pg_terminate_backend",
            holders.join(", ")
        )
        .into())
    }
}

/// The checksum of a text, as the server's function `md5` returns it.
pub(super) fn md5_hex(text: &[u8]) -> String {
    hex::encode(&Md5::digest(text))
}
