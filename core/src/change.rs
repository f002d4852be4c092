//! Planned changes of objects: before, after, and why.

use std::sync::Arc;

use bytes::Bytes;
use formwork_value::{Path, Str, Value};

use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceAddr, ProviderConfigAddr};

/// The action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// It is made.
    Create,
    /// A data source is read while applying.
    Read,
    /// It is changed in place.
    Update,
    /// It is destroyed.
    Delete,
    /// It stays as it is, but is no longer managed.
    Forget,
    /// It is destroyed and recreated.
    Replace(ReplaceOrder),
}

/// The order of the two halves of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplaceOrder {
    /// The old object goes first.
    DestroyFirst,
    /// The new object comes first; the old one is deposed meanwhile.
    CreateFirst,
}

impl Action {
    /// Whether a new object is made.
    #[must_use]
    pub fn creates_object(self) -> bool {
        matches!(self, Self::Create | Self::Replace(_))
    }

    /// Whether an object is destroyed.
    #[must_use]
    pub fn destroys_object(self) -> bool {
        matches!(self, Self::Delete | Self::Replace(_))
    }
}

/// Why an action was chosen, where that is not plain from before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionReason {
    /// Replaced: the object is tainted.
    ReplaceBecauseTainted,
    /// Replaced: the user asked for it.
    ReplaceByRequest,
    /// Replaced: the provider cannot change it in place.
    ReplaceBecauseCannotUpdate,
    /// Replaced: something named in `replace_triggered_by` changes.
    ReplaceByTriggers,
    /// Deleted: no block describes it.
    DeleteBecauseNoResourceConfig,
    /// Deleted: the block is repeated in another way.
    DeleteBecauseWrongRepetition,
    /// Deleted: its index is not below `count`.
    DeleteBecauseCountIndex,
    /// Deleted: its key is not in `for_each`.
    DeleteBecauseEachKey,
    /// Deleted: its module is gone.
    DeleteBecauseNoModule,
    /// Deleted: no block describes the address it moved to.
    DeleteBecauseNoMoveTarget,
    /// Read later: the configuration is not known yet.
    ReadBecauseConfigUnknown,
    /// Read later: something it depends on changes.
    ReadBecauseDependencyPending,
    /// Read again: a `check` block looks at it when all is done.
    ReadBecauseCheckNested,
}

/// The planned fate of one object.
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
    /// The provider configuration that does it.
    pub provider: ProviderConfigAddr,
    /// The action.
    pub action: Action,
    /// Why, if that is not plain.
    pub reason: Option<ActionReason>,
    /// The object before; null if there is none. Marked where sensitive.
    pub before: Value,
    /// The object after; null if there will be none. May hold unknowns. Marked where sensitive.
    pub after: Value,
    /// The paths that cannot be changed in place.
    pub replace_paths: Vec<Path>,
    /// The sensitive paths of the configuration, if the object was planned a second time as a new
    /// one. Terraform's view of the planned values then leaves out values that only the schema
    /// marks as sensitive.
    pub config_secrets: Option<Vec<Path>>,
    /// The provider's private bytes for applying.
    pub private: Bytes,
    /// Whether the whole configuration was known while planning, so that it need not be validated
    /// again.
    pub config_known: bool,
    /// The planned identity, encoded, if the provider gives one.
    pub identity: Option<Bytes>,
    /// The resources it is made after, transitively, as the state records them.
    pub dependencies: Arc<Vec<ConfigResourceAddr>>,
    /// The resources that the object before was made after, as the state recorded them.
    pub prior_dependencies: Arc<Vec<ConfigResourceAddr>>,
    /// Whether a replacement is created first, as the state records it.
    pub create_before_destroy: bool,
}

/// The key by which a provider finds an object that is not managed yet.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportKey {
    /// A string in a form that the provider knows.
    Id(Str),
    /// Its identity: wholly known and without marks.
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
    /// The configuration that was made for it, if it had none.
    pub generated_config: Option<String>,
}

impl Change {
    /// A change of the object of an instance from one value to another, with no other details.
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

    /// Whether anything is to be done, if only to the state.
    #[must_use]
    pub fn needs_apply(&self) -> bool {
        self.action != Action::NoOp || self.moved_from.is_some() || self.importing.is_some()
    }
}

/// The planned fate of a root output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    /// The action: never a replacement or a read.
    pub action: Action,
    /// The value before; null if there is none.
    pub before: Value,
    /// The value after; null if there will be none. May be unknown.
    pub after: Value,
    /// Whether it must not be shown.
    pub sensitive: bool,
}
