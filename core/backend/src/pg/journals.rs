//! Stores the journals of runs in a PostgreSQL table next to the states. An active run holds an advisory lock
//! of its own, by which other processes detect that it is active.

use formwork_core::state::intent_log::StateAccess;
use tokio::sync::Mutex;

use futures_util::try_join;

use super::StatesTable;
use super::call_error::CallAttempts;
use super::connection::Connection;
use super::idle_connections;
use super::tables::{ADVISORY_LOCK_CLASS, IS_LIVE_CONDITION};
use crate::cause::Cause;
use crate::journals::{AppendOutcome, JournalStore, SharedRun};

/// The number of days after which the end mark of a run that was taken over is deleted.
const TAKEN_OVER_KEPT_DAYS: i32 = 90;

/// The journals of the runs that use the state of a workspace.
pub(super) struct PgJournals {
    table: StatesTable,
    workspace: String,
    /// The connection that appends the parts of a run.
    session: Mutex<Option<RunSession>>,
    /// The connection that holds the locks of runs that this one takes over.
    adopting: Mutex<Option<Connection>>,
}

/// A connection that appends the parts of a run, and holds the run's lock from the first part on.
struct RunSession {
    client: Connection,
    has_lock: bool,
}

/// A part to append.
#[derive(Clone, Copy)]
struct NewPart<'a> {
    run: &'a str,
    number: i64,
    bytes: &'a [u8],
}

/// Lists the runs that have left parts.
#[derive(Default)]
struct JournaledRuns {
    live: Vec<String>,
    dead: Vec<String>,
}

impl PgJournals {
    pub(super) fn new(table: StatesTable, workspace: &str) -> Self {
        let (session, adopting) = (Mutex::default(), Mutex::default());
        Self { table, workspace: workspace.to_owned(), session, adopting }
    }

    fn table_name(&self) -> String {
        self.table.own_table_name("formwork_journal")
    }

    /// Connects to append the parts of a run.
    async fn connect_for_run(&self) -> Result<Result<RunSession, String>, Cause> {
        let client = self.table.target.connect().await?;
        if let Some(reason) = self.table.create_own_tables(&client).await? {
            return Ok(Err(reason));
        }
        Ok(Ok(RunSession { client, has_lock: false }))
    }

    /// Acquires the lock of a run, which shows that it is active. Returns whether the connection has it.
    async fn lock_run(&self, client: &Connection, run: &str) -> Result<bool, Cause> {
        // The session of an earlier connection of this run may still have it, until the server detects its
        // end.
        let lock = "SELECT pg_try_advisory_lock($1, hashtext($2))";
        let row = client.query_one(lock, &[&ADVISORY_LOCK_CLASS, &run]).await?;
        Ok(row.get(0))
    }

    /// Returns the runs, and whether each is active or is being taken over by another process.
    async fn list_runs(
        &self,
        client: &Connection,
        access: StateAccess,
    ) -> Result<JournaledRuns, Cause> {
        // A run that shares the lock of the state acquires the locks of all other runs, so that
        // only this run takes them over.
        let is_dead = match access {
            // A run without the lock of the state must not continue, whether it has detected this or
            // not: the next write of the lock's holder fences it off.
            StateAccess::Locked => "true".to_owned(),
            StateAccess::ReadOnly => format!("NOT {IS_LIVE_CONDITION}"),
            StateAccess::Shared => {
                format!("pg_try_advisory_lock({ADVISORY_LOCK_CLASS}, hashtext(run))")
            }
        };
        // 101 is the letter of the part that ends a run.
        let query = format!(
            "SELECT run, CASE WHEN ended THEN true ELSE {is_dead} END FROM (SELECT run, bool_or(get_byte(data, 0) = 101) AS ended FROM {} WHERE workspace = $1 GROUP BY run) runs",
            self.table_name()
        );
        let rows = client.query(&query, &[&self.workspace]).await?;
        let mut runs = JournaledRuns::default();
        for row in rows {
            match row.get(1) {
                true => runs.dead.push(row.get(0)),
                false => runs.live.push(row.get(0)),
            }
        }
        Ok(runs)
    }

    async fn insert_part(
        &self,
        client: &Connection,
        part: NewPart<'_>,
    ) -> Result<AppendOutcome, Cause> {
        let NewPart { run, number, bytes } = part;
        let statement = format!(
            "INSERT INTO {} (workspace, run, part, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            self.table_name()
        );
        let stored = client.execute(&statement, &[&self.workspace, &run, &number, &bytes]).await;
        if stored? > 0 {
            return Ok(AppendOutcome::Stored);
        }
        // An attempt whose response was lost may have stored it.
        let query = format!(
            "SELECT data = $4 FROM {} WHERE workspace = $1 AND run = $2 AND part = $3",
            self.table_name()
        );
        let row = client.query_opt(&query, &[&self.workspace, &run, &number, &bytes]).await;
        let is_ours = row?.is_some_and(|row| row.get(0));
        Ok(if is_ours { AppendOutcome::Stored } else { AppendOutcome::Occupied })
    }

    async fn try_to_read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
        let target = &self.table.target;
        let client = target.connect().await?;
        // Without the right to read them, the objects that an interrupted run has created would be
        // created again.
        if !self.table.has_readable_own_tables(&client).await? {
            idle_connections::keep_idle_connection(target, client);
            return Ok(Vec::new());
        }
        // A run that begins after this is in neither list, and is not taken over.
        let JournaledRuns { live: live_runs, dead } = self.list_runs(&client, access).await?;
        let live =
            |id: String| SharedRun { id, is_live: true, silent_for: None, parts: Vec::new() };
        let mut runs: Vec<SharedRun> = live_runs.into_iter().map(live).collect();
        if dead.is_empty() {
            // No lock was acquired.
            idle_connections::keep_idle_connection(target, client);
            return Ok(runs);
        }
        let query = format!(
            "SELECT run, part, data FROM {} WHERE workspace = $1 AND run = ANY($2) ORDER BY run, part",
            self.table_name()
        );
        for row in client.query(&query, &[&self.workspace, &dead]).await? {
            let (id, number, data): (String, i64, Vec<u8>) = (row.get(0), row.get(1), row.get(2));
            // The rows are in the order of the runs, so the parts of each run are consecutive.
            if runs.last().is_none_or(|run| run.id != id) {
                runs.push(SharedRun { id, is_live: false, silent_for: None, parts: Vec::new() });
            }
            if let Some(run) = runs.last_mut() {
                run.parts.push((u64::try_from(number)?, data));
            }
        }
        if access == StateAccess::Shared {
            // It holds the locks of the runs that are taken over now.
            *self.adopting.lock().await = Some(client);
        }
        Ok(runs)
    }

    /// Returns a connection to work with the parts of a run. A connection on which a statement
    /// failed is not used again.
    async fn take_session(
        &self,
        held_session: &mut Option<RunSession>,
    ) -> Result<RunSession, Cause> {
        match held_session.take() {
            Some(session) => Ok(session),
            None => Ok(self.connect_for_run().await??),
        }
    }

    async fn try_to_append(
        &self,
        held_session: &mut Option<RunSession>,
        part: NewPart<'_>,
    ) -> Result<AppendOutcome, Cause> {
        let mut session = self.take_session(held_session).await?;
        let client = &session.client;
        let locked = async {
            match session.has_lock {
                true => Ok(true),
                false => self.lock_run(client, part.run).await,
            }
        };
        // Sent together, with the lock first: a part without the lock would look like that of an
        // interrupted run.
        let (has_lock, outcome) = try_join!(locked, self.insert_part(client, part))?;
        session.has_lock = has_lock;
        *held_session = Some(session);
        Ok(outcome)
    }

    async fn try_to_remove_below(
        &self,
        held_session: &mut Option<RunSession>,
        run: &str,
        number: i64,
    ) -> Result<(), Cause> {
        let session = self.take_session(held_session).await?;
        let statement = format!(
            // Besides the run's own records: old end marks, and records before such a mark that
            // remain from an interrupted deletion.
            "DELETE FROM {name} WHERE workspace = $1 AND ((run = $2 AND part < $3) OR (written < now() - make_interval(days => $4) AND get_byte(data, 0) = 101) OR EXISTS (SELECT FROM {name} later WHERE later.workspace = $1 AND later.run = {name}.run AND later.part > {name}.part AND get_byte(later.data, 0) = 101))",
            name = self.table_name()
        );
        session
            .client
            .execute(&statement, &[&self.workspace, &run, &number, &TAKEN_OVER_KEPT_DAYS])
            .await?;
        *held_session = Some(session);
        Ok(())
    }

    async fn try_to_release_claims(&self, run: &str, open: &[String]) -> Result<(), Cause> {
        let client = self.table.target.connect().await?;
        let statement = format!(
            "DELETE FROM {} WHERE workspace = $1 AND run = $2 AND address <> ALL($3)",
            self.table.own_table_name("formwork_claims")
        );
        let removed = client.execute(&statement, &[&self.workspace, &run, &open]).await;
        removed.map(drop)
    }
}

#[async_trait::async_trait]
impl JournalStore for PgJournals {
    fn store_location(&self) -> String {
        self.table.location(&self.workspace)
    }

    async fn begin_run(&self, _run: &str) -> Result<Option<String>, Cause> {
        let mut attempts = CallAttempts::begin("begin the journal");
        loop {
            match self.connect_for_run().await {
                Ok(Ok(session)) => {
                    *self.session.lock().await = Some(session);
                    return Ok(None);
                }
                Ok(Err(reason)) => return Ok(Some(reason)),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
        let mut attempts = CallAttempts::begin("read the journals");
        loop {
            match self.try_to_read_runs(access).await {
                Ok(runs) => return Ok(runs),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn append_part(
        &self,
        run: &str,
        number: u64,
        bytes: &[u8],
    ) -> Result<AppendOutcome, Cause> {
        let part = NewPart { run, number: i64::try_from(number)?, bytes };
        let mut held_session = self.session.lock().await;
        let mut attempts = CallAttempts::begin("write the journal");
        loop {
            match self.try_to_append(&mut held_session, part).await {
                Ok(outcome) => return Ok(outcome),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn remove_parts_below(&self, run: &str, number: u64) -> Result<(), Cause> {
        let number = i64::try_from(number)?;
        let mut held_session = self.session.lock().await;
        let mut attempts = CallAttempts::begin("remove parts of the journal");
        loop {
            match self.try_to_remove_below(&mut held_session, run, number).await {
                Ok(()) => return Ok(()),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn release_claims(&self, run: &str, open: &[String]) -> Result<(), Cause> {
        let mut attempts = CallAttempts::begin("release claims");
        loop {
            match self.try_to_release_claims(run, open).await {
                Ok(()) => return Ok(()),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }
}
