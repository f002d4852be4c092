//! Objects that have another address than before: `moved` blocks, and the first instance of what
//! became repeated or is no longer. A pure transformation of the state, before anything is planned.
//!
//! Whether the blocks make sense together is checked only when it is known which instances there are;
//! what does not fit is left where it is until then.

mod apply;
mod endpoint;
mod order;
mod statement;
#[cfg(test)]
mod tests;
mod validate;

use std::collections::BTreeMap;

use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use crate::addr::{InstanceAddr, ProviderAddr, Target};
use crate::config::Config;
use crate::state::State;

pub(crate) use validate::Declared;

use statement::Statement;

/// What an object was before it became one of another resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The resource type.
    pub(crate) kind: Str,
    /// The provider it belonged to.
    pub(crate) provider: ProviderAddr,
    /// Where that is written.
    pub(crate) span: Option<Span>,
}

/// What moved, and what could not.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    statements: Vec<Statement>,
    /// Where each moved instance was, by where it is.
    origins: BTreeMap<InstanceAddr, InstanceAddr>,
    /// What stayed because something else is where it was to go.
    blocked: BTreeMap<Target, Target>,
    /// The resource type that an object was stored as, where it moved to another one.
    retyped: BTreeMap<InstanceAddr, Source>,
}

impl Moves {
    /// Moves the objects of a state. Returns what happened, and the state after.
    pub(crate) fn of(config: &Config, state: &State) -> (Self, State) {
        let mut state = state.clone();
        let statements = statement::collect(config, &state);
        let mut moves = Self { statements, ..Self::default() };
        // Statements in a circle have no order; that is reported when all is known.
        if let Ok(order) = order::of(&moves.statements) {
            for at in order {
                apply::one(&moves.statements[at].clone(), &mut state, &mut moves);
            }
        }
        (moves, state)
    }

    /// Where an instance was before it moved, if it did.
    pub(crate) fn origin(&self, addr: &InstanceAddr) -> Option<&InstanceAddr> {
        self.origins.get(addr)
    }

    /// What the object of an instance was stored as, if that is another resource type.
    pub(crate) fn stored_type(&self, addr: &InstanceAddr) -> Option<&Source> {
        self.retyped.get(addr)
    }

    /// Refuses targets of which one end of a move is part and the other is not: the object would
    /// seem to be gone, or to come from nowhere.
    ///
    /// # Errors
    /// When some end is left out.
    pub(crate) fn check_targets(
        &self,
        diags: &mut Diagnostics,
        targets: &[Target],
    ) -> Result<(), Reported> {
        if targets.is_empty() {
            return Ok(());
        }
        let ends = self.origins.iter().flat_map(|(to, from)| [from, to]);
        let mut excluded: Vec<&InstanceAddr> =
            ends.filter(|end| !targets.iter().any(|target| target.contains(end))).collect();
        excluded.sort();
        excluded.dedup();
        if excluded.is_empty() {
            return Ok(());
        }
        let options: String = excluded
            .iter()
            .map(|addr| format!("\n  -target={}", crate::addr::quoted(&addr.to_string())))
            .collect();
        let detail = format!(
            "Objects in the state have other addresses in the configuration, and the -target options \
             name only one end of these moves. Plan without -target, or add these options:{options}\n\n\
             They may take further objects into the plan, on which those depend."
        );
        let summary = "Moved resource instances excluded by targeting";
        Err(diags.error(Diagnostic::error(summary, detail)))
    }

    /// Warns of objects that stayed where they were because something else has their new address.
    pub(crate) fn warn_of_blocked(&self, diags: &mut Diagnostics) {
        if self.blocked.is_empty() {
            return;
        }
        let list: String = self
            .blocked
            .iter()
            .map(|(actual, wanted)| format!("\n  - {actual} could not move to {wanted}"))
            .collect();
        let detail = format!(
            "The configuration says that these objects have other addresses, but there are other \
             objects at those addresses in the state:{list}\n\nThe plan destroys these objects. If \
             that is not what is wanted, first free the addresses with the \"formwork state\" \
             commands, and plan again."
        );
        let summary = "Unresolved resource instance address changes";
        diags.warn(Diagnostic::warning(summary, detail));
    }
}
