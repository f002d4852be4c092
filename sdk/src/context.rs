//! Further data of a call: private data, the module's `provider_meta`, partial results, and
//! deferral.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
pub use formwork_plugin_protocol::message::DeferredReason;
use formwork_value::Value;
use formwork_value::codec::json;

use crate::call::Call;
use crate::{Answer, Draft, Model, Problem, model};

/// Data of a call besides its values, for any model.
#[derive(Clone)]
pub(crate) struct CallContext {
    pub(crate) call: Call,
    pub(crate) private: Private,
    pub(crate) meta: ProviderMeta,
    pub(crate) deferral: Deferral,
    pub(crate) partial: PartialResult,
    pub(crate) further_objects: FurtherImportedObjects,
}

impl CallContext {
    pub(crate) fn new(call: Call, private: &Bytes) -> Self {
        Self {
            call,
            private: Private::from_bytes(private),
            meta: ProviderMeta(None),
            deferral: Deferral::default(),
            partial: PartialResult::default(),
            further_objects: FurtherImportedObjects::default(),
        }
    }
}

/// Partial result of a handler, kept if the rest fails.
#[derive(Clone, Default)]
pub(crate) struct PartialResult(Arc<Mutex<Option<Value>>>);

impl PartialResult {
    pub(crate) fn keep(&self, partial: Value) {
        *lock_ignoring_poison(&self.0) = Some(partial);
    }

    pub(crate) fn take(&self) -> Option<Value> {
        lock_ignoring_poison(&self.0).take()
    }
}

/// Further objects that an import found, by the handlers of their types.
#[derive(Clone, Default)]
pub(crate) struct FurtherImportedObjects(Arc<Mutex<Vec<(TypeId, Value)>>>);

impl FurtherImportedObjects {
    pub(crate) fn add(&self, of: TypeId, object: Value) {
        lock_ignoring_poison(&self.0).push((of, object));
    }

    pub(crate) fn take(&self) -> Vec<(TypeId, Value)> {
        std::mem::take(&mut lock_ignoring_poison(&self.0))
    }
}

/// Private data of an object: strings by key, which the host stores and returns and does not read.
///
/// ```
/// use formwork_sdk::context::Private;
///
/// let private = Private::default();
/// private.set("etag", "a1");
/// assert_eq!(private.get("etag").as_deref(), Some("a1"));
/// private.remove("etag");
/// assert_eq!(private.get("etag"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Private(Arc<Mutex<PrivateEntries>>);

#[derive(Debug, Default)]
struct PrivateEntries {
    /// Bytes from the host; returned unchanged if nothing changed.
    original: Bytes,
    entries: BTreeMap<String, Value>,
    changed: bool,
}

impl Private {
    pub(crate) fn from_bytes(bytes: &Bytes) -> Self {
        let entries = match bytes.is_empty() {
            // Most providers store no private data.
            true => BTreeMap::new(),
            false => Self::parse_entries(bytes),
        };
        let entries = PrivateEntries { original: bytes.clone(), entries, changed: false };
        Self(Arc::new(Mutex::new(entries)))
    }

    fn parse_entries(bytes: &[u8]) -> BTreeMap<String, Value> {
        match json::decode_untyped(bytes) {
            Ok(Value::Object(object)) => {
                let pairs = object.iter();
                pairs.map(|(key, value)| (key.as_str().to_owned(), value.clone())).collect()
            }
            // Data of another provider, in another format.
            _ => BTreeMap::new(),
        }
    }

    /// Returns the string under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        match lock_ignoring_poison(&self.0).entries.get(key) {
            Some(Value::String(text)) => Some(text.as_str().to_owned()),
            // Another library may have stored a value of another type.
            _ => None,
        }
    }

    /// Stores a string under a key.
    pub fn set(&self, key: &str, text: impl Into<String>) {
        let mut entries = lock_ignoring_poison(&self.0);
        entries.entries.insert(key.to_owned(), Value::string(text.into()));
        entries.changed = true;
    }

    /// Removes the string under a key.
    pub fn remove(&self, key: &str) {
        let mut entries = lock_ignoring_poison(&self.0);
        entries.changed |= entries.entries.remove(key).is_some();
    }

    pub(crate) fn to_bytes(&self) -> Bytes {
        let entries = lock_ignoring_poison(&self.0);
        // Also data in a format that could not be read: it belongs to the object and must not be
        // lost.
        if !entries.changed {
            return entries.original.clone();
        }
        let object = Value::object(entries.entries.clone());
        // Known values of their own type can always be encoded as JSON.
        json::encode_untyped(&object).map(Bytes::from).unwrap_or_default()
    }
}

/// The `provider_meta` of the module.
///
/// ```
/// use formwork_sdk::context::ProviderMeta;
/// use formwork_sdk::prelude::*;
///
/// /// Settings of a module.
/// #[derive(Model)]
/// struct Settings {
///     /// The team that owns the module.
///     #[attr(required)]
///     team: String,
/// }
///
/// fn team(meta: &ProviderMeta) -> Answer<Option<String>> {
///     let settings = meta.to_draft::<Settings>()?;
///     Ok(settings.map(|settings| settings.team.or_default()))
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/notes").with_meta::<Settings>();
/// ```
#[derive(Clone, Debug)]
pub struct ProviderMeta(pub(crate) Option<Value>);

impl ProviderMeta {
    /// Reads it as the model that the provider declared; `None` if the module sets nothing.
    ///
    /// # Errors
    /// When the value does not fit that model.
    pub fn to_draft<M: Model>(&self) -> Answer<Option<Draft<M>>> {
        self.0.as_ref().map(model::struct_from_object).transpose()
    }
}

/// Defers an answer until more is known.
///
/// ```
/// use formwork_sdk::context::{Deferral, DeferredReason};
///
/// // The default is a host that needs an answer now, so the handler continues.
/// let deferral = Deferral::default();
/// assert!(!deferral.is_allowed());
/// assert!(deferral.request(DeferredReason::AbsentPrerequisite).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Deferral {
    /// Whether the host supports deferral.
    is_allowed: bool,
}

impl Deferral {
    /// Whether the host supports deferral. Other hosts need an answer now.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// Defers the answer if the host supports it; otherwise the handler continues:
    /// `call.deferral.request(DeferredReason::AbsentPrerequisite)?`.
    ///
    /// # Errors
    /// When the answer is deferred. Return this error from the handler: the host receives the
    /// reason, and the known part of the object, without an error.
    pub fn request(&self, reason: DeferredReason) -> Answer<()> {
        if self.is_allowed { Err(Problem::deferred(reason)) } else { Ok(()) }
    }

    pub(crate) fn new(is_allowed: bool) -> Self {
        Self { is_allowed }
    }
}

/// A handler that panicked has made its whole change or none, so the locked data is valid.
pub(crate) fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under the lock is harmless: each change is a single step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
