//! The history of a state, where its backend keeps one.

/// One write of a state.
///
/// ```
/// use formwork_backend::history::{HistoryWrite, ObjectChange};
///
/// fn addresses(write: &HistoryWrite) -> Vec<&str> {
///     write.changes.iter().map(|change| change.address.as_str()).collect()
/// }
///
/// let change = ObjectChange {
///     address: "terraform_data.a".to_owned(),
///     deposed: String::new(),
///     action: "add".to_owned(),
/// };
/// let write = HistoryWrite {
///     serial: 7,
///     at: "2030-01-01T00:00:00Z".to_owned(),
///     who: "ana@host".to_owned(),
///     operation: "OperationTypeApply".to_owned(),
///     run: "r-1".to_owned(),
///     lineage: "l-1".to_owned(),
///     changes: vec![change],
/// };
/// assert_eq!(addresses(&write), ["terraform_data.a"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryWrite {
    /// The serial that the state got.
    pub serial: u64,
    /// The time of the write: RFC 3339, UTC.
    pub at: String,
    /// The user and host.
    pub who: String,
    /// The operation, as in a lock: `OperationTypeApply`. Empty if another program wrote it.
    pub operation: String,
    /// The ID of the run. Empty if another program wrote it.
    pub run: String,
    /// The lineage of the state.
    pub lineage: String,
    /// The objects and outputs that the write changed.
    pub changes: Vec<ObjectChange>,
}

/// A changed object or output.
///
/// See [`HistoryWrite`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectChange {
    /// The address of the instance, or `output.NAME`.
    pub address: String,
    /// The key of a deposed object. Empty for a current one.
    pub deposed: String,
    /// The change: `add`, `change` or `remove`.
    pub action: String,
}

/// A point in the history.
///
/// ```
/// use formwork_backend::history::HistoryPoint;
/// use formwork_backend::{StateStore, StoreError};
///
/// async fn serial_at(
///     store: &mut dyn StateStore,
///     address: &str,
///     time: &str,
/// ) -> Result<Option<u64>, StoreError> {
///     let point = HistoryPoint::Time(time.to_owned());
///     let object = store.object_at(address, &point).await?;
///     Ok(object.map(|object| object.serial))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryPoint {
    /// After the last write with at most this serial.
    Serial(u64),
    /// After the last write until this time: RFC 3339.
    Time(String),
}

/// An object as it was stored at a point of the history.
///
/// ```
/// use formwork_backend::history::StoredObject;
///
/// fn shown(object: &StoredObject) -> &str {
///     object.entry.as_deref().unwrap_or("There was no object.")
/// }
///
/// let object = StoredObject { serial: 7, entry: None };
/// assert_eq!(shown(&object), "There was no object.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The serial of the state.
    pub serial: u64,
    /// The object as an entry of a state file, or `None` if it did not exist.
    pub entry: Option<String>,
}
