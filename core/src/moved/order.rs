//! The order of moves. A move that starts where another ends comes after it. A move within a module
//! comes before that module moves, if it uses the old name, or after it, if it uses the new one. The
//! same applies to the move of one instance and that of its whole resource.

use std::collections::{BTreeMap, BTreeSet};

use super::endpoint::{EndpointKey, MoveEndpoint};
use super::statement::MoveStatement;
use crate::graph::{GraphDraft, VertexId};

/// The positions of the statements, in the order in which they are applied.
///
/// # Errors
/// With the positions of statements that form cycles, one cycle in each list.
pub(super) fn order_statements(
    statements: &[MoveStatement],
) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    let mut draft: GraphDraft<usize> = GraphDraft::new();
    let ids: Vec<VertexId> = (0..statements.len()).map(|at| draft.add(at)).collect();
    for (later, earlier) in dependent_statement_pairs(statements) {
        draft.connect(ids[later], ids[earlier], ());
    }
    match draft.freeze() {
        Ok(graph) => Ok(graph.topological_order().iter().map(|&id| graph[id]).collect()),
        Err(cyclic) => {
            let positions =
                |cycle: &crate::graph::Cycle| cycle.0.iter().map(|id| cyclic.draft[*id]).collect();
            Err(cyclic.cycles.iter().map(positions).collect())
        }
    }
}

/// Every pair of statements of which the first has to come after the second.
fn dependent_statement_pairs(statements: &[MoveStatement]) -> BTreeSet<(usize, usize)> {
    let froms = EndpointIndex::new(statements, |statement| &statement.from);
    let tos = EndpointIndex::new(statements, |statement| &statement.to);
    let mut pairs = BTreeSet::new();
    for (at, a) in statements.iter().enumerate() {
        let earlier = tos
            .overlapping_statements(&a.from)
            .into_iter()
            .chain(tos.enclosing_statements(&a.from))
            .chain(tos.enclosing_statements(&a.to));
        pairs.extend(earlier.map(|other| (at, other)));
        // Moves within the old address of a module or a resource come before the move of the whole.
        let later = froms
            .enclosing_statements(&a.from)
            .into_iter()
            .chain(froms.enclosing_statements(&a.to));
        pairs.extend(later.map(|other| (other, at)));
    }
    pairs.retain(|&(a, b)| a != b && must_come_after(&statements[a], &statements[b]));
    pairs
}

/// Whether a statement has to come after another.
fn must_come_after(a: &MoveStatement, b: &MoveStatement) -> bool {
    if a.from.may_overlap(&b.to) {
        return true;
    }
    let nested = a.from.is_enclosed_by(&b.to)
        || a.to.is_enclosed_by(&b.to)
        || b.from.is_enclosed_by(&a.from)
        || b.to.is_enclosed_by(&a.from);
    // If a module only gets another key, the moves within it match before and after, and would have
    // to come both before and after the move of the module.
    let is_outer = a.to.base_module().0.len() < b.to.base_module().0.len();
    nested && !(is_outer && a.from.differs_in_key_only(&a.to))
}

/// An index of one endpoint of all statements, by names.
struct EndpointIndex<'s> {
    statements: &'s [MoveStatement],
    end: fn(&MoveStatement) -> &MoveEndpoint,
    by_names: BTreeMap<EndpointKey, Vec<usize>>,
}

impl<'s> EndpointIndex<'s> {
    fn new(statements: &'s [MoveStatement], end: fn(&MoveStatement) -> &MoveEndpoint) -> Self {
        let mut by_names: BTreeMap<EndpointKey, Vec<usize>> = BTreeMap::new();
        for (at, statement) in statements.iter().enumerate() {
            by_names.entry(end(statement).lookup_key()).or_default().push(at);
        }
        Self { statements, end, by_names }
    }

    /// Returns the statements whose end may match the same object as this end.
    fn overlapping_statements(&self, end: &MoveEndpoint) -> Vec<usize> {
        let (module, resource, key) = end.lookup_key();
        let Some(key) = key else {
            // `None` sorts before every key, so the range begins with an open end.
            let least = (module, resource, None);
            let same = |names: &EndpointKey| (&names.0, &names.1) == (&least.0, &least.1);
            let statements = self.by_names.range(&least..).take_while(|(names, _)| same(names));
            return statements.flat_map(|(_, indices)| indices.iter().copied()).collect();
        };
        let open = self.by_names.get(&(module.clone(), resource.clone(), None));
        let exact = self.by_names.get(&(module, resource, Some(key)));
        open.into_iter().chain(exact).flatten().copied().collect()
    }

    /// The statements for a module that contains this endpoint, or for the resource of which it is an instance.
    fn enclosing_statements(&self, end: &MoveEndpoint) -> Vec<usize> {
        let (mut module, resource, _) = end.lookup_key();
        let mut statements = Vec::new();
        statements
            .extend(self.by_names.get(&(module.clone(), resource, None)).into_iter().flatten());
        while !module.is_empty() {
            statements
                .extend(self.by_names.get(&(module.clone(), None, None)).into_iter().flatten());
            module.pop();
        }
        statements.retain(|&at| end.is_enclosed_by((self.end)(&self.statements[at])));
        statements
    }
}
