//! The order of moves. A move that starts where another ends comes after it. A move within a module
//! comes before that module moves, if it uses the old name, or after it, if it uses the new one. The
//! same holds for the move of one instance and that of its whole resource.

use std::collections::{BTreeMap, BTreeSet};

use super::endpoint::{Endpoint, Names};
use super::statement::Statement;
use crate::graph::{Draft, VertexId};

/// The positions of the statements, in the order in which they are made.
///
/// # Errors
/// With the positions of statements that go round in circles, one circle in each list.
pub(super) fn of(statements: &[Statement]) -> Result<Vec<usize>, Vec<Vec<usize>>> {
    let mut draft: Draft<usize> = Draft::new();
    let ids: Vec<VertexId> = (0..statements.len()).map(|at| draft.add(at)).collect();
    for (later, earlier) in pairs(statements) {
        draft.connect(ids[later], ids[earlier], ());
    }
    match draft.freeze() {
        Ok(graph) => Ok(graph.order().iter().map(|&id| graph[id]).collect()),
        Err(cyclic) => {
            let positions =
                |cycle: &crate::graph::Cycle| cycle.0.iter().map(|id| cyclic.draft[*id]).collect();
            Err(cyclic.cycles.iter().map(positions).collect())
        }
    }
}

/// Every pair of statements of which the first has to come after the second.
fn pairs(statements: &[Statement]) -> BTreeSet<(usize, usize)> {
    let froms = Ends::new(statements, |statement| &statement.from);
    let tos = Ends::new(statements, |statement| &statement.to);
    let mut pairs = BTreeSet::new();
    for (at, a) in statements.iter().enumerate() {
        let earlier =
            tos.beside(&a.from).into_iter().chain(tos.around(&a.from)).chain(tos.around(&a.to));
        pairs.extend(earlier.map(|other| (at, other)));
        // Moves within the old address of a module or a resource come before the move of the whole.
        let later = froms.around(&a.from).into_iter().chain(froms.around(&a.to));
        pairs.extend(later.map(|other| (other, at)));
    }
    pairs.retain(|&(a, b)| a != b && comes_after(&statements[a], &statements[b]));
    pairs
}

/// Whether a statement has to come after another.
fn comes_after(a: &Statement, b: &Statement) -> bool {
    if a.from.overlaps(&b.to) {
        return true;
    }
    let nested = a.from.is_within(&b.to)
        || a.to.is_within(&b.to)
        || b.from.is_within(&a.from)
        || b.to.is_within(&a.from);
    // If a module only gets another key, the moves within it match before and after, and would have
    // to come both before and after the move of the module.
    let is_outer = a.to.base().0.len() < b.to.base().0.len();
    nested && !(is_outer && a.from.differs_in_key_only(&a.to))
}

/// One end of all statements, by names.
struct Ends<'s> {
    statements: &'s [Statement],
    end: fn(&Statement) -> &Endpoint,
    by_names: BTreeMap<Names, Vec<usize>>,
}

impl<'s> Ends<'s> {
    fn new(statements: &'s [Statement], end: fn(&Statement) -> &Endpoint) -> Self {
        let mut by_names: BTreeMap<Names, Vec<usize>> = BTreeMap::new();
        for (at, statement) in statements.iter().enumerate() {
            by_names.entry(end(statement).names()).or_default().push(at);
        }
        Self { statements, end, by_names }
    }

    /// Returns the statements whose end may match the same object as this end.
    fn beside(&self, end: &Endpoint) -> Vec<usize> {
        let (module, resource, key) = end.names();
        let Some(key) = key else {
            // `None` sorts before every key, so the range begins with an open end.
            let least = (module, resource, None);
            let same = |names: &Names| (&names.0, &names.1) == (&least.0, &least.1);
            let found = self.by_names.range(&least..).take_while(|(names, _)| same(names));
            return found.flat_map(|(_, found)| found.iter().copied()).collect();
        };
        let open = self.by_names.get(&(module.clone(), resource.clone(), None));
        let exact = self.by_names.get(&(module, resource, Some(key)));
        open.into_iter().chain(exact).flatten().copied().collect()
    }

    /// Those that mean a module in which this end lies, or the resource of which it is an instance.
    fn around(&self, end: &Endpoint) -> Vec<usize> {
        let (mut module, resource, _) = end.names();
        let mut found = Vec::new();
        found.extend(self.by_names.get(&(module.clone(), resource, None)).into_iter().flatten());
        while !module.is_empty() {
            found.extend(self.by_names.get(&(module.clone(), None, None)).into_iter().flatten());
            module.pop();
        }
        found.retain(|&at| end.is_within((self.end)(&self.statements[at])));
        found
    }
}
