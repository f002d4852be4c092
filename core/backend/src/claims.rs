//! Claims of a run: the instances and outputs that it is about to change, and the resources that these depend
//! on. Runs whose claims do not overlap apply to one state concurrently.

use std::collections::BTreeSet;
use std::time::Duration;

use formwork_core::addr::{ConfigResourceAddr, InstanceAddr};
use formwork_core::state::State;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Str};

use crate::messages;

/// The claims of one run.
///
/// ```
/// use formwork_backend::claims::Claims;
/// use formwork_core::addr::InstanceAddr;
///
/// let addr: InstanceAddr = "terraform_data.a".parse().unwrap();
/// let claims = Claims { run: "r-1".to_owned(), changes: [addr].into(), ..Claims::default() };
/// assert!(claims.outputs.is_empty() && claims.reads.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The ID of the run, which is that of its journal.
    pub run: String,
    /// The instances that the run changes.
    pub changes: BTreeSet<InstanceAddr>,
    /// The root outputs that the run changes.
    pub outputs: BTreeSet<Str>,
    /// Whether the run also stores changes that need no claim, such as those of addresses, drift and results of
    /// checks.
    pub stores_other_changes: bool,
    /// The resources that must not change until the run ends.
    pub reads: BTreeSet<ConfigResourceAddr>,
    /// The stored state that the plan was created for, if it is older than the state that the run has read.
    /// Changes of other runs since then conflict with the claims.
    pub planned_on: Option<Box<State>>,
    /// Maximum time to wait for other runs.
    pub timeout: Duration,
}

/// The reason why claims were refused.
///
/// ```
/// use formwork_backend::claims::{ClaimConflict, ForeignClaim};
///
/// let claim = ForeignClaim {
///     address: "terraform_data.a".to_owned(),
///     who: "ana@host".to_owned(),
///     run: "r-1".to_owned(),
///     since: "2030-01-01T00:00:00Z".to_owned(),
///     is_live: true,
/// };
/// let diagnostic = ClaimConflict::Claimed(vec![claim]).diagnostic();
/// assert!(diagnostic.detail.contains("terraform_data.a: by ana@host since 2030-01-01"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimConflict {
    /// Other runs have claimed parts of the plan.
    Claimed(Vec<ForeignClaim>),
    /// Other runs have changed parts of the plan since it was created.
    Moved(Vec<PartChangedByOtherRun>),
}

/// A conflicting claim of another run.
///
/// See [`ClaimConflict`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignClaim {
    /// The instance, resource or output.
    pub address: String,
    /// The user and host of the run.
    pub who: String,
    /// The ID of the run.
    pub run: String,
    /// The time of the claim: RFC 3339, UTC.
    pub since: String,
    /// Whether the run is still active.
    pub is_live: bool,
}

/// An instance, resource or output that another run has changed.
///
/// ```
/// use formwork_backend::claims::{ClaimConflict, PartChangedByOtherRun};
///
/// let part = PartChangedByOtherRun { address: "terraform_data.a".to_owned(), by: None };
/// let diagnostic = ClaimConflict::Moved(vec![part]).diagnostic();
/// assert!(diagnostic.detail.contains("terraform_data.a: by another program"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartChangedByOtherRun {
    /// Its address.
    pub address: String,
    /// The change, as far as the history records it: user and host, run and time.
    pub by: Option<String>,
}

/// Maximum number of lines in a message.
const MAX_LISTED_LINES: usize = 10;

impl ClaimConflict {
    /// Describes the conflict and the remedy.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (summary, detail) = match self {
            Self::Claimed(claims) => {
                let lines = claims.iter().map(|claim| {
                    let ForeignClaim { address, who, run, since, is_live } = claim;
                    let state = if *is_live { "" } else { ", which was interrupted" };
                    format!("  - {address}: by {who} since {since}, in the run {run}{state}")
                });
                // An interrupted run never ends by itself, so waiting for it would not help.
                let remedy = match claims.iter().all(|claim| claim.is_live) {
                    true => {
                        "Run the command again when it has ended, or use -lock-timeout to wait for it."
                    }
                    false => {
                        "Run the command again. It takes over the results of the interrupted run."
                    }
                };
                let lines = join_lines_up_to_limit(lines, claims.len());
                (
                    messages::ANOTHER_RUN_IS_CHANGING_SAME_OBJECTS,
                    format!(
                        "This plan changes objects, or depends on objects, that another run has claimed:\n{lines}\n\nNothing was changed. {remedy}"
                    ),
                )
            }
            Self::Moved(parts) => {
                let lines = parts.iter().map(|part| match &part.by {
                    Some(by) => format!("  - {}: by {by}", part.address),
                    None => format!("  - {}: by another program", part.address),
                });
                let lines = join_lines_up_to_limit(lines, parts.len());
                (
                    messages::STATE_HAS_CHANGED_SINCE_PLAN_WAS_MADE,
                    format!(
                        "Another run has changed objects that this plan changes or depends on:\n{lines}\n\nNothing was changed. Run the command again. It creates a new plan from the current state. A saved plan has to be created again."
                    ),
                )
            }
        };
        Diagnostic::error(summary, detail).blamed_on(Blame::Environment)
    }
}

/// The first lines, and the number of omitted ones.
fn join_lines_up_to_limit(lines: impl Iterator<Item = String>, n_lines: usize) -> String {
    let mut shown: Vec<String> = lines.take(MAX_LISTED_LINES).collect();
    if n_lines > MAX_LISTED_LINES {
        shown.push(format!("  - and {} more", n_lines - MAX_LISTED_LINES));
    }
    shown.join("\n")
}
