//! Collects moves: those in `moved` blocks, and those that follow from a change of `count`.

use formwork_value::Span;

use super::endpoint::{self, Endpoint};
use crate::addr::{InstanceKey, ModulePath, Target};
use crate::config::{Config, Repetition};
use crate::state::State;

/// One move.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    /// The block in which it is written; `None` if it follows from the configuration.
    pub(super) span: Option<Span>,
}

/// All moves of a configuration: those written, then those that follow.
pub(super) fn collect(config: &Config, state: &State) -> Vec<Statement> {
    let mut statements = Vec::new();
    for node in &config.nodes {
        for moved in &node.module.moved {
            let (from, to) = endpoint::pair(&node.path, &moved.from, &moved.to);
            statements.push(Statement { from, to, span: Some(moved.span) });
        }
    }
    let implied = implied(config, state, &statements);
    statements.extend(implied);
    statements
}

/// A resource that is repeated by `count` from now on keeps its object as the first instance, and the
/// other way round, unless a move of the resource is written.
fn implied(config: &Config, state: &State, written: &[Statement]) -> Vec<Statement> {
    let mut implied = Vec::new();
    for (addr, held) in &state.resources {
        let Some(resource) = config.resource(&addr.config()) else { continue };
        let (none, first) = (InstanceKey::None, InstanceKey::Int(0));
        let (from, to) = match resource.repetition {
            Repetition::Count(_) => (none, first),
            Repetition::Single => (first, none),
            // Terraform implies no move from or to `for_each`: the key is not evident.
            Repetition::ForEach(_) => continue,
        };
        let end =
            |end: &Endpoint| end.resource() == Some(&addr.resource) && end.is_in(&addr.module);
        if !held.instances.contains_key(&from) || written.iter().any(|s| end(&s.from) || end(&s.to))
        {
            continue;
        }
        let [from, to] = [from, to].map(|key| Target::Instance(addr.instance(key)));
        let (from, to) = endpoint::pair(&ModulePath::root(), &from, &to);
        implied.push(Statement { from, to, span: None });
    }
    implied
}
