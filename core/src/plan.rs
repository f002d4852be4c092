//! Finds out what has to change. Reads real objects and asks providers, but changes nothing.
//!
//! [`plan`] builds a graph, visits it, and records what each visit found: visits read, the recorder
//! writes. What `apply` needs is all in the [`Plan`].

mod build;
mod decide;
mod dependencies;
mod draw;
mod fates;
pub mod file;
mod outcome;
mod record;
mod replace_order;
pub mod saved;
mod transform;
mod validate;
mod vertex;
mod visit;

use std::collections::BTreeMap;

use formwork_value::{Diagnostics, Reported, Str, Value};

use crate::addr::{DeposedKey, InstanceAddr, Target};
use crate::change::{Action, Change, OutputChange};
use crate::phase::report_cycles;
use crate::session::Session;
use crate::state::State;

pub use draw::dot;
pub use validate::validate;

use replace_order::ReplaceOrders;

/// What kind of plan is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The real objects shall become what the configuration says.
    #[default]
    Normal,
    /// Everything in the state shall be destroyed.
    Destroy,
    /// The state shall follow the real objects; nothing is changed.
    RefreshOnly,
}

/// How to plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What kind of plan is wanted.
    pub mode: Mode,
    /// Whether real objects are not read first.
    pub skip_refresh: bool,
    /// What the plan is limited to; everything if empty.
    pub targets: Vec<Target>,
    /// Instances to be replaced whatever their configuration says.
    pub replace: Vec<InstanceAddr>,
}

/// Names one planned object: an instance, or a deposed object of it.
pub type ChangeKey = (InstanceAddr, Option<DeposedKey>);

/// All changes, and what applying them needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What kind of plan it is.
    pub mode: Mode,
    /// What the plan is limited to; everything if empty.
    pub targets: Vec<Target>,
    /// Values of the root variables, defaults included.
    pub variables: BTreeMap<Str, Value>,
    /// The fate of each object, `NoOp` included.
    pub changes: BTreeMap<ChangeKey, Change>,
    /// Differences between the state and the real objects.
    pub drift: BTreeMap<ChangeKey, Change>,
    /// The fate of each root output.
    pub outputs: BTreeMap<Str, OutputChange>,
    /// The state before applying, brought up to date with the real objects.
    pub prior: State,
    /// Whether planning failed half-way; such a plan cannot be applied.
    pub errored: bool,
}

impl Plan {
    /// Whether applying would change real objects or outputs, or the state follow drift.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.changes.values().any(|change| change.action != Action::NoOp)
            || self.outputs.values().any(|change| change.action != Action::NoOp)
    }

    /// Whether there is anything to apply: in a refresh-only plan, anything that drifted.
    #[must_use]
    pub fn applyable(&self) -> bool {
        !self.errored
            && match self.mode {
                Mode::RefreshOnly => !self.drift.is_empty() || self.has_changes(),
                Mode::Normal | Mode::Destroy => self.has_changes(),
            }
    }
}

/// Makes a plan. The plan is there even when errors were reported, as far as it came; then it is
/// marked as errored.
///
/// # Errors
/// When not even the graph could be built, or a provider not be loaded.
pub async fn plan(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &Options,
) -> Result<Plan, Reported> {
    let draft = build::draft(diags, session, options)?;
    let loaded = session.pool.load(diags, build::providers(&draft)).await;
    let graph = match draft.freeze() {
        Ok(graph) => graph,
        Err(cyclic) => return Err(report_cycles(diags, session.sources, &cyclic)),
    };
    loaded?;
    let orders = ReplaceOrders::of(&graph);
    let closures = dependencies::of_graph(&graph);
    let dragged = transform::prune_targets::dragged(session, options);
    record::run(session, diags, options, &graph, &visit::Settled { orders, closures, dragged })
        .await
}
