//! The history of a state: one row for each write, and one for each object that it changed. `history/entry.rs`
//! handles the entries in the latter.

mod entry;

use std::collections::BTreeMap;

use futures_util::try_join;

use super::connection::{Connection, StatementParameter, Transaction};
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::merge::StateDifference;

pub(super) use self::entry::open_entry;
use self::entry::{object_entries, output_entry, seal_entry};
use super::StatesTable;
use crate::cause::Cause;
use crate::encryption::StateCipher;
use crate::history::{HistoryPoint, HistoryWrite, ObjectChange, StoredObject};

/// The user of a write that was not made by Formwork.
const OTHER_PROGRAM_USER: &str = "another program";

/// Maximum number of rows in one statement.
const MAX_ROWS_PER_STATEMENT: usize = 10_000;

/// A write to record.
pub(super) struct RecordedWrite<'a> {
    pub(super) workspace: &'a str,
    /// The user who makes the write.
    pub(super) who: &'a str,
    /// The stored state before it, with its checksum. `None` if there was none.
    pub(super) before: Option<(&'a StateFile, &'a str)>,
    /// The checksum of the last state in the history. `None` if the history is empty.
    pub(super) last_state_checksum: Option<&'a str>,
    /// The state after it.
    pub(super) after: &'a StateFile,
    /// The checksum of its text.
    pub(super) sum: &'a str,
    pub(super) operation: &'a str,
    pub(super) run: &'a str,
    /// The cipher of the state, which seals the entries.
    pub(super) cipher: &'a StateCipher,
}

/// A row about one object: its entry in a state, or `None` if it was deleted.
struct ObjectRow {
    address: String,
    deposed: String,
    action: &'static str,
    entry: Option<String>,
}

/// Reads the checksum of the last state in the history. Returns `None` if the history is empty.
pub(super) async fn last_state_checksum(
    transaction: &Transaction<'_>,
    table: &StatesTable,
    workspace: &str,
) -> Result<Option<String>, Cause> {
    let query = format!(
        "SELECT sum FROM {} WHERE workspace = $1 ORDER BY id DESC LIMIT 1",
        table.own_table_name("formwork_history")
    );
    let row = transaction.query_opt(&query, &[&workspace]).await?;
    Ok(row.map(|row| row.get(0)))
}

/// Records a write in its own transaction, which must have locked the row of the state.
pub(super) async fn record_history_write(
    transaction: &Transaction<'_>,
    table: &StatesTable,
    write: &RecordedWrite<'_>,
) -> Result<(), Cause> {
    let nothing = State::default();
    if let Some((before, sum)) = write.before
        && write.last_state_checksum != Some(sum)
    {
        // Another program has written it, or the history begins here.
        let known = recorded_objects(transaction, table, write).await?;
        let rows = rows_since(&known, &before.state);
        let other = RecordedWrite {
            who: OTHER_PROGRAM_USER,
            before: None,
            after: before,
            sum,
            operation: "",
            run: "",
            ..*write
        };
        insert_rows(transaction, table, &other, rows).await?;
    }
    let before = write.before.map_or(&nothing, |(before, _)| &before.state);
    let rows = rows_of_difference(before, &write.after.state);
    insert_rows(transaction, table, write, rows).await
}

/// Returns the rows for the difference between two states.
fn rows_of_difference(before: &State, after: &State) -> Vec<ObjectRow> {
    let difference = StateDifference::between(before, after);
    let mut rows = Vec::new();
    for addr in &difference.instances {
        let (old, new) = (object_entries(before, addr), object_entries(after, addr));
        for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
            let (old, new) = (old.get(key), new.get(key));
            // An instance is listed if any of its objects differs, but its other objects need no
            // row.
            if old != new {
                rows.push(object_row(addr.to_string(), key.clone(), old.is_some(), new.cloned()));
            }
        }
    }
    for name in &difference.outputs {
        let of = |state: &State| state.outputs.get(name).map(output_entry);
        let (old, new) = (of(before), of(after));
        rows.push(object_row(format!("output.{name}"), String::new(), old.is_some(), new));
    }
    rows
}

fn object_row(
    address: String,
    deposed: String,
    was_there: bool,
    entry: Option<String>,
) -> ObjectRow {
    let action = match (was_there, &entry) {
        (_, None) => "remove",
        (false, Some(_)) => "add",
        (true, Some(_)) => "change",
    };
    ObjectRow { address, deposed, action, entry }
}

/// Returns the objects and outputs that the history currently contains.
async fn recorded_objects(
    transaction: &Transaction<'_>,
    table: &StatesTable,
    RecordedWrite { workspace, cipher, .. }: &RecordedWrite<'_>,
) -> Result<BTreeMap<(String, String), String>, Cause> {
    let query = format!(
        "SELECT address, deposed, entry FROM (SELECT DISTINCT ON (address, deposed) address, deposed, entry FROM {} WHERE workspace = $1 ORDER BY address, deposed, write DESC) latest WHERE entry IS NOT NULL",
        table.own_table_name("formwork_history_objects")
    );
    let rows = transaction.query(&query, &[workspace]).await?;
    let object = |row: &tokio_postgres::Row| {
        let (key, entry): ((String, String), String) = ((row.get(0), row.get(1)), row.get(2));
        // An entry that cannot be opened counts as changed, because its content is not known. This cannot repeat with
        // each write of another program, so the size is bounded: the new entry is sealed to the recipients of the
        // state that this run stores with it, and the next writer has to read that state. Therefore an object
        // is recorded again at most once for each change of the recipients.
        let entry = open_entry(cipher, &entry).unwrap_or(entry);
        (key, entry)
    };
    Ok(rows.iter().map(object).collect())
}

/// Returns the rows that lead from the history to a state.
fn rows_since(known: &BTreeMap<(String, String), String>, state: &State) -> Vec<ObjectRow> {
    let all = rows_of_difference(&State::default(), state);
    let there: BTreeMap<(String, String), Option<String>> =
        all.into_iter().map(|row| ((row.address, row.deposed), row.entry)).collect();
    let gone = known.keys().filter(|key| !there.contains_key(*key));
    let gone =
        gone.map(|(address, deposed)| object_row(address.clone(), deposed.clone(), true, None));
    let new = there.iter().filter(|(key, entry)| known.get(*key) != entry.as_ref());
    let new = new.map(|(key, entry)| {
        object_row(key.0.clone(), key.1.clone(), known.contains_key(key), entry.clone())
    });
    gone.chain(new).collect()
}

/// Seals the entries of rows, if the values of the state are sealed.
fn seal_rows(write: &RecordedWrite<'_>, mut rows: Vec<ObjectRow>) -> Result<Vec<ObjectRow>, Cause> {
    let Some(sealer) = write.cipher.part_sealer(write.after)? else { return Ok(rows) };
    for row in &mut rows {
        let entry = row.entry.as_deref();
        let sealed = entry.map(|entry| seal_entry(&sealer, write.after, &row.address, entry));
        row.entry = sealed.transpose()?;
    }
    Ok(rows)
}

async fn insert_rows(
    transaction: &Transaction<'_>,
    table: &StatesTable,
    write: &RecordedWrite<'_>,
    rows: Vec<ObjectRow>,
) -> Result<(), Cause> {
    let rows = seal_rows(write, rows)?;
    let statement = format!(
        "INSERT INTO {} (workspace, lineage, serial, who, operation, run, sum) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        table.own_table_name("formwork_history")
    );
    // PostgreSQL has no unsigned integers.
    let serial = i64::try_from(write.after.serial)?;
    let RecordedWrite { workspace, who, operation, run, sum, .. } = write;
    let lineage = &write.after.lineage;
    let parameters: [&dyn StatementParameter; 7] =
        [workspace, lineage, &serial, who, operation, run, sum];
    let (first, others) = rows.split_at(rows.len().min(MAX_ROWS_PER_STATEMENT));
    // Sent together: the rows of the objects refer to the write by its number, without its
    // response.
    try_join!(
        transaction.execute(&statement, &parameters),
        insert_object_rows(transaction, table, workspace, first)
    )?;
    // One after the other, because each may take as long as the timeout of a statement.
    for rows in others.chunks(MAX_ROWS_PER_STATEMENT) {
        insert_object_rows(transaction, table, workspace, rows).await?;
    }
    Ok(())
}

/// Inserts rows of objects for the last write of a workspace, which the transaction has just
/// created.
async fn insert_object_rows(
    transaction: &Transaction<'_>,
    table: &StatesTable,
    workspace: &str,
    rows: &[ObjectRow],
) -> Result<u64, Cause> {
    let statement = format!(
        // Arrays: a separate row for each object would take a round trip each, and PostgreSQL
        // allows at most 65,535 parameters in a statement.
        // Only this transaction adds writes to the workspace, because it has locked the row of the
        // state.
        "INSERT INTO {} (write, workspace, address, deposed, action, entry) SELECT (SELECT max(id) FROM {} WHERE workspace = $1), $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])",
        table.own_table_name("formwork_history_objects"),
        table.own_table_name("formwork_history")
    );
    let addresses: Vec<&str> = rows.iter().map(|row| row.address.as_str()).collect();
    let deposed: Vec<&str> = rows.iter().map(|row| row.deposed.as_str()).collect();
    let actions: Vec<&str> = rows.iter().map(|row| row.action).collect();
    let entries: Vec<Option<&str>> = rows.iter().map(|row| row.entry.as_deref()).collect();
    transaction.execute(&statement, &[&workspace, &addresses, &deposed, &actions, &entries]).await
}

/// Lists the latest writes, with the latest one last.
pub(super) async fn list_writes(
    client: &Connection,
    table: &StatesTable,
    workspace: &str,
    most: i64,
) -> Result<Vec<HistoryWrite>, Cause> {
    let query = format!(
        "SELECT id, serial, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), who, operation, run, lineage FROM {} WHERE workspace = $1 ORDER BY id DESC LIMIT $2",
        table.own_table_name("formwork_history")
    );
    let rows = client.query(&query, &[&workspace, &most]).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    let query = format!(
        "SELECT write, address, deposed, action FROM {} WHERE write = ANY($1) ORDER BY address, deposed",
        table.own_table_name("formwork_history_objects")
    );
    let mut changes: BTreeMap<i64, Vec<ObjectChange>> = BTreeMap::new();
    for row in client.query(&query, &[&ids]).await? {
        let (address, deposed, action) = (row.get(1), row.get(2), row.get(3));
        changes.entry(row.get(0)).or_default().push(ObjectChange { address, deposed, action });
    }
    let write = |row: &tokio_postgres::Row| {
        let serial: i64 = row.get(1);
        HistoryWrite {
            serial: u64::try_from(serial).unwrap_or(0),
            at: row.get(2),
            who: row.get(3),
            operation: row.get(4),
            run: row.get(5),
            lineage: row.get(6),
            changes: changes.remove(&row.get::<_, i64>(0)).unwrap_or_default(),
        }
    };
    let mut writes: Vec<HistoryWrite> = rows.iter().map(write).collect();
    // The statement has the reverse order, so that its limit keeps the latest.
    writes.reverse();
    Ok(writes)
}

impl StatesTable {
    /// Returns the current object of an instance after the last write up to a point. Returns `None`
    /// if the history has no write up to that point.
    pub(super) async fn object_at(
        &self,
        client: &Connection,
        workspace: &str,
        address: &str,
        point: &HistoryPoint,
    ) -> Result<Option<StoredObject>, Cause> {
        let (serial, time) = match point {
            HistoryPoint::Serial(serial) => (Some(i64::try_from(*serial)?), None),
            HistoryPoint::Time(time) => (None, Some(time.as_str())),
        };
        let query = format!(
            "SELECT id, serial FROM {} WHERE workspace = $1 AND ($2::bigint IS NULL OR serial <= $2) AND ($3::text IS NULL OR at <= $3::text::timestamptz) ORDER BY id DESC LIMIT 1",
            self.own_table_name("formwork_history")
        );
        let row = client.query_opt(&query, &[&workspace, &serial, &time]).await?;
        let Some(row) = row else { return Ok(None) };
        // From here on by the number of the write: serials may repeat, where a state was replaced.
        let (id, serial): (i64, i64) = (row.get(0), row.get(1));
        let query = format!(
            "SELECT entry FROM {} WHERE workspace = $1 AND address = $2 AND deposed = '' AND write <= $3 ORDER BY write DESC LIMIT 1",
            self.own_table_name("formwork_history_objects")
        );
        let row = client.query_opt(&query, &[&workspace, &address, &id]).await?;
        let entry = row.and_then(|row| row.get(0));
        Ok(Some(StoredObject { serial: u64::try_from(serial).unwrap_or(0), entry }))
    }
}
