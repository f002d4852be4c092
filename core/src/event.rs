//! Events of the engine's work, for an observer.

use std::time::Duration;

use crate::addr::{DeposedKey, InstanceAddr};
use crate::change::{Action, Change, ImportKey};

/// A label of an object for display: an attribute of it, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLabel {
    /// The attribute: `id`, `name` or a tag.
    pub key: &'static str,
    /// Its value. One that is empty is not worth showing, and yet the object has no other label.
    pub value: String,
}

/// An event.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The real object behind a stored one is about to be read.
    RefreshStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The key of a deposed object.
        deposed: Option<&'a DeposedKey>,
        /// The label of the object, if it has one that may be shown.
        label: Option<ObjectLabel>,
    },
    /// It was read.
    RefreshDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The label of the object, if it has one that may be shown.
        label: Option<ObjectLabel>,
    },
    /// The object that is there already is about to be looked for, or to be taken into the state.
    ImportStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The key by which the provider finds the object.
        import_key: &'a ImportKey,
        /// Whether that is part of applying.
        applying: bool,
    },
    /// The provider has found it, and is about to read its current values.
    ImportFound {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The number of objects found for import, including this one.
        n_objects: usize,
    },
    /// It was taken into the state.
    ImportDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The key by which the provider found the object.
        import_key: &'a ImportKey,
    },
    /// A change was planned.
    Planned(&'a Change),
    /// A provider is about to be asked to change something, or to read a data source.
    ChangeStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// Set if it is a deposed object.
        deposed: Option<&'a DeposedKey>,
        /// The action.
        action: Action,
        /// The label of the object, if it has one that may be shown.
        label: Option<ObjectLabel>,
    },
    /// It is still at it.
    ChangeProgress {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The action.
        action: Action,
        /// The label of the object, if it has one that may be shown.
        label: Option<ObjectLabel>,
        /// For how long.
        elapsed: Duration,
    },
    /// It is done.
    ChangeDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// Set if it is a deposed object.
        deposed: Option<&'a DeposedKey>,
        /// The action.
        action: Action,
        /// The label of the object, if it has one that may be shown.
        label: Option<ObjectLabel>,
        /// The duration of the action.
        elapsed: Duration,
    },
    /// A provisioner begins.
    ProvisionStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The kind of provisioner.
        kind: &'a str,
    },
    /// A provisioner has printed output.
    ProvisionOutput {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The kind of provisioner.
        kind: &'a str,
        /// Its output: one line, mostly.
        text: &'a str,
    },
    /// A provisioner has done its work.
    ProvisionDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The kind of provisioner.
        kind: &'a str,
    },
    /// A provisioner has failed.
    ProvisionFailed {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The kind of provisioner.
        kind: &'a str,
    },
    /// A step of an ephemeral resource changes its stage.
    Ephemeral {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The step.
        step: EphemeralStep,
        /// The stage of the step.
        stage: EphemeralStage,
    },
    /// It failed.
    ChangeFailed {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The action that failed.
        action: Action,
        /// The duration of the attempt.
        elapsed: Duration,
    },
    /// One more instance is finished in a phase.
    InstanceCount {
        /// The phase.
        phase: CountedPhase,
        /// The number of finished instances.
        done: usize,
        /// The number of all instances, as far as they are known.
        total: usize,
    },
}

/// A phase whose instances are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedPhase {
    /// Changes are planned.
    Plan,
    /// Changes are applied.
    Apply,
}

/// A step in the life of an ephemeral resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralStep {
    /// It is opened.
    Open,
    /// It is made to last longer.
    Renew,
    /// It is closed.
    Close,
}

/// The stage of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralStage {
    /// Its provider is about to be asked.
    Start,
    /// It is still at it, after so long.
    Progress(Duration),
    /// It is put off: its configuration is not known yet.
    Deferred,
    /// It is done, after so long.
    Done(Duration),
    /// It failed, after so long.
    Failed(Duration),
}

/// Watches the engine work.
pub trait EventObserver {
    /// Takes notice of an event. Must be quick.
    fn on_event(&self, event: &Event<'_>);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEventObserver;

impl EventObserver for NoEventObserver {
    fn on_event(&self, _: &Event<'_>) {}
}
