//! The history of a state, where its backend keeps one.

/// One write of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryWrite {
    /// The serial that the state got.
    pub serial: u64,
    /// When: RFC 3339, UTC.
    pub at: String,
    /// The user and host.
    pub who: String,
    /// The operation, as in a lock: `OperationTypeApply`; empty if another program wrote it.
    pub operation: String,
    /// The id of the run; empty if another program wrote it.
    pub run: String,
    /// The lineage of the state.
    pub lineage: String,
    /// The objects and outputs that it changed.
    pub changes: Vec<ObjectChange>,
}

/// A changed object or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChange {
    /// The address of the instance, or `output.NAME`.
    pub address: String,
    /// The key of a deposed object; else empty.
    pub deposed: String,
    /// The change: `add`, `change` or `remove`.
    pub action: String,
}

/// A point in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryPoint {
    /// After the last write with at most this serial.
    Serial(u64),
    /// After the last write until this time: RFC 3339.
    Time(String),
}

/// An object as it was stored at a point of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The serial of the state.
    pub serial: u64,
    /// The object as an entry of a state file; `None` if there was none.
    pub entry: Option<String>,
}
