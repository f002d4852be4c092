//! Collects moves: those in `moved` blocks, and those implied by a change of `count`.

use formwork_value::Span;

use super::endpoint::{self, MoveEndpoint};
use crate::addr::{InstanceKey, ModulePath, Target};
use crate::config::{Config, Repetition};
use crate::state::State;

/// A move.
#[derive(Clone, Debug)]
pub(super) struct MoveStatement {
    pub(super) from: MoveEndpoint,
    pub(super) to: MoveEndpoint,
    /// The block in which it is written; `None` if it follows from the configuration.
    pub(super) span: Option<Span>,
}

/// All moves of a configuration: explicit moves, then implied ones.
pub(super) fn collect_statements(config: &Config, state: &State) -> Vec<MoveStatement> {
    let mut statements = Vec::new();
    for node in &config.nodes {
        for moved in &node.module.moved {
            let (from, to) = endpoint::endpoints_of_block(&node.path, &moved.from, &moved.to);
            statements.push(MoveStatement { from, to, span: Some(moved.span) });
        }
    }
    let implied = implied_statements(config, state, &statements);
    statements.extend(implied);
    statements
}

/// A resource to which `count` was added keeps its object as the first instance, and the
/// other way round, unless the configuration has a move of the resource.
fn implied_statements(
    config: &Config,
    state: &State,
    written: &[MoveStatement],
) -> Vec<MoveStatement> {
    let mut implied = Vec::new();
    for (addr, resource_state) in &state.resources {
        let Some(resource) = config.find_resource(&addr.config_addr()) else { continue };
        let (none, first) = (InstanceKey::None, InstanceKey::Int(0));
        let (from, to) = match resource.repetition {
            Repetition::Count(_) => (none, first),
            Repetition::Single => (first, none),
            // Terraform implies no move from or to `for_each`: the key is not evident.
            Repetition::ForEach(_) => continue,
        };
        let end = |end: &MoveEndpoint| {
            end.resource_name() == Some(&addr.resource)
                && end.names_resource_in_module(&addr.module)
        };
        if !resource_state.instances.contains_key(&from)
            || written.iter().any(|s| end(&s.from) || end(&s.to))
        {
            continue;
        }
        let [from, to] = [from, to].map(|key| Target::Instance(addr.instance_addr(key)));
        let (from, to) = endpoint::endpoints_of_block(&ModulePath::root(), &from, &to);
        implied.push(MoveStatement { from, to, span: None });
    }
    implied
}
