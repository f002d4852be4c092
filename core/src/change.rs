//! Planned changes of objects: before, after, and why.

use std::sync::Arc;

use bytes::Bytes;
use formwork_value::{Path, Str, Value};

use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceAddr, ProviderConfigAddr};

/// The action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing is done.
    NoOp,
    /// The object is created.
    Create,
    /// A data source is read during the apply.
    Read,
    /// The object is changed in place.
    Update,
    /// The object is destroyed.
    Delete,
    /// The object remains, but is no longer managed.
    Forget,
    /// The object is destroyed and recreated.
    Replace(ReplaceOrder),
}

/// The order of the two halves of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplaceOrder {
    /// The old object is destroyed first.
    DestroyFirst,
    /// The new object is created first. Until the old one is destroyed, it is deposed.
    CreateFirst,
}

impl Action {
    /// Returns whether a new object is created.
    #[must_use]
    pub fn creates_object(self) -> bool {
        matches!(self, Self::Create | Self::Replace(_))
    }

    /// Returns whether an object is destroyed.
    #[must_use]
    pub fn destroys_object(self) -> bool {
        matches!(self, Self::Delete | Self::Replace(_))
    }
}

/// The reason for an action that is not evident from the values before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionReason {
    /// Replaced: the object is tainted.
    ReplaceBecauseTainted,
    /// Replaced: the user requested it.
    ReplaceByRequest,
    /// Replaced: the provider cannot change it in place.
    ReplaceBecauseCannotUpdate,
    /// Replaced: an object in `replace_triggered_by` changes.
    ReplaceByTriggers,
    /// Deleted: the configuration has no block for it.
    DeleteBecauseNoResourceConfig,
    /// Deleted: the block uses another kind of repetition.
    DeleteBecauseWrongRepetition,
    /// Deleted: its index is not below `count`.
    DeleteBecauseCountIndex,
    /// Deleted: its key is not in `for_each`.
    DeleteBecauseEachKey,
    /// Deleted: its module was removed.
    DeleteBecauseNoModule,
    /// Deleted: the configuration has no block for the address it moved to.
    DeleteBecauseNoMoveTarget,
    /// Read later: the configuration contains unknown values.
    ReadBecauseConfigUnknown,
    /// Read later: a dependency changes.
    ReadBecauseDependencyPending,
    /// Read again: a `check` block checks it at the end of the apply.
    ReadBecauseCheckNested,
}

/// The planned change of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The instance.
    pub addr: InstanceAddr,
    /// Set if it is a deposed object of the instance.
    pub deposed: Option<DeposedKey>,
    /// The address before a move, if the instance moved.
    pub moved_from: Option<InstanceAddr>,
    /// The import of the object, if it is part of this plan.
    pub importing: Option<PlannedImport>,
    /// The provider configuration that performs the change.
    pub provider: ProviderConfigAddr,
    /// The action.
    pub action: Action,
    /// The reason for the action, if it is not evident.
    pub reason: Option<ActionReason>,
    /// The object before the change, or null if none exists. Sensitive parts are marked.
    pub before: Value,
    /// The object after the change, or null if none will exist. It may contain unknown values. Sensitive
    /// parts are marked.
    pub after: Value,
    /// The paths that cannot be changed in place.
    pub replace_paths: Vec<Path>,
    /// The sensitive paths of the configuration, if the object was planned a second time as a new one.
    /// Terraform's view of the planned values then omits values that only the schema marks as sensitive.
    pub config_secrets: Option<Vec<Path>>,
    /// The private data of the provider for the apply.
    pub private: Bytes,
    /// Whether the whole configuration was known while planning, so that it does not need to be
    /// validated again.
    pub config_known: bool,
    /// The encoded planned identity, if the provider returns one.
    pub identity: Option<Bytes>,
    /// The transitive dependencies, as recorded in the state after the change.
    pub dependencies: Arc<Vec<ConfigResourceAddr>>,
    /// The dependencies of the object before the change, as recorded in the state.
    pub prior_dependencies: Arc<Vec<ConfigResourceAddr>>,
    /// Whether a replacement is created first, as the state records it.
    pub create_before_destroy: bool,
}

/// The key by which a provider finds an object that is not managed yet.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportKey {
    /// An import ID in the format of the provider.
    Id(Str),
    /// The identity of the object, wholly known and without marks.
    Identity(Value),
}

impl std::fmt::Display for ImportKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "the id {:?}", id.as_str()),
            Self::Identity(identity) => {
                let text = formwork_value::codec::json::encode(identity, &identity.ty());
                write!(f, "the identity {}", text.unwrap_or_default())
            }
        }
    }
}

/// The import of an existing object.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedImport {
    /// The key by which the provider found the object.
    pub import_key: ImportKey,
    /// The generated configuration, if the object had none.
    pub generated_config: Option<String>,
}

impl Change {
    /// Returns a change of the object of an instance from one value to another, without other details.
    #[must_use]
    pub fn from_values(
        addr: InstanceAddr,
        provider: ProviderConfigAddr,
        action: Action,
        before: Value,
        after: Value,
    ) -> Self {
        Self {
            addr,
            deposed: None,
            moved_from: None,
            importing: None,
            provider,
            action,
            reason: None,
            before,
            after,
            replace_paths: Vec::new(),
            config_secrets: None,
            private: Bytes::new(),
            config_known: true,
            identity: None,
            dependencies: Arc::default(),
            prior_dependencies: Arc::default(),
            create_before_destroy: false,
        }
    }

    /// Returns whether the change affects the object or the state.
    #[must_use]
    pub fn needs_apply(&self) -> bool {
        self.action != Action::NoOp || self.moved_from.is_some() || self.importing.is_some()
    }
}

/// The planned change of a root output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    /// The action: never a replacement or a read.
    pub action: Action,
    /// The value before the change, or null if none exists.
    pub before: Value,
    /// The value after the change, or null if none will exist. It may be unknown.
    pub after: Value,
    /// Whether the value is sensitive and must not be shown.
    pub sensitive: bool,
}
