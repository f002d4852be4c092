//! Events of the engine's work, for an observer.

use std::time::Duration;

use crate::addr::{DeposedKey, InstanceAddr};
use crate::change::{Action, Change, ImportKey};

/// A label of an object for display: the name and value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectLabel {
    /// The attribute: `id`, `name` or a tag.
    pub key: &'static str,
    /// The value of the attribute. An empty value is not shown, but no other attribute is used instead.
    pub value: String,
}

/// An event.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The refresh of a stored object starts.
    RefreshStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The key of a deposed object.
        deposed: Option<&'a DeposedKey>,
        /// The label of the object, if it has one that is not secret.
        label: Option<ObjectLabel>,
    },
    /// The object was refreshed.
    RefreshDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The label of the object, if it has one that is not secret.
        label: Option<ObjectLabel>,
    },
    /// The import of an existing object starts: the search for it in a plan, or its addition to the
    /// state in an apply.
    ImportStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The key by which the provider finds the object.
        import_key: &'a ImportKey,
        /// Whether the import is part of an apply.
        applying: bool,
    },
    /// The provider found the object. The read of its current values starts.
    ImportFound {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The number of objects found for import, including this one.
        n_objects: usize,
    },
    /// The object was added to the state.
    ImportDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The key by which the provider found the object.
        import_key: &'a ImportKey,
    },
    /// A change was planned.
    Planned(&'a Change),
    /// A change of an object, or the read of a data source, starts.
    ChangeStart {
        /// The instance.
        addr: &'a InstanceAddr,
        /// Set if it is a deposed object.
        deposed: Option<&'a DeposedKey>,
        /// The action.
        action: Action,
        /// The label of the object, if it has one that is not secret.
        label: Option<ObjectLabel>,
    },
    /// The action is still running.
    ChangeProgress {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The action.
        action: Action,
        /// The label of the object, if it has one that is not secret.
        label: Option<ObjectLabel>,
        /// The duration of the action so far.
        elapsed: Duration,
    },
    /// The action succeeded.
    ChangeDone {
        /// The instance.
        addr: &'a InstanceAddr,
        /// Set if it is a deposed object.
        deposed: Option<&'a DeposedKey>,
        /// The action.
        action: Action,
        /// The label of the object, if it has one that is not secret.
        label: Option<ObjectLabel>,
        /// The duration of the action.
        elapsed: Duration,
    },
    /// A provisioner starts.
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
        /// The output, usually one line.
        text: &'a str,
    },
    /// A provisioner succeeded.
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
    /// A step of an ephemeral resource enters another stage.
    Ephemeral {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The step.
        step: EphemeralStep,
        /// The stage of the step.
        stage: EphemeralStage,
    },
    /// The action failed.
    ChangeFailed {
        /// The instance.
        addr: &'a InstanceAddr,
        /// The action that failed.
        action: Action,
        /// The duration of the attempt.
        elapsed: Duration,
    },
    /// Another instance of a phase is finished.
    InstanceCount {
        /// The phase.
        phase: CountedPhase,
        /// The number of finished instances.
        done: usize,
        /// The number of all instances known so far.
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
    /// The resource is opened.
    Open,
    /// The resource is renewed.
    Renew,
    /// The resource is closed.
    Close,
}

/// The stage of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralStage {
    /// The call to the provider starts.
    Start,
    /// The call is still running, after the given time.
    Progress(Duration),
    /// The step is deferred, because the configuration contains unknown values.
    Deferred,
    /// The call succeeded after the given time.
    Done(Duration),
    /// The call failed after the given time.
    Failed(Duration),
}

/// Receives the events of the engine.
pub trait EventObserver {
    /// Handles an event. The engine waits for the return, so it must be fast.
    fn on_event(&self, event: &Event<'_>);
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEventObserver;

impl EventObserver for NoEventObserver {
    fn on_event(&self, _: &Event<'_>) {}
}
