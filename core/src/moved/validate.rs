//! Validates moves once the instances are known.

use std::collections::BTreeMap;

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::Moves;
use super::endpoint::MovedObject;
use super::order;
use super::statement::MoveStatement;
use crate::addr::ModuleAddr;
use crate::config::Repetition;
use crate::eval::Results;
use crate::messages;

/// The declared objects, as far as they are known.
#[derive(Clone, Copy)]
pub(crate) struct DeclaredObjects<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) results: &'a Results,
}

impl Moves {
    /// Checks the moves against the declarations.
    ///
    /// # Errors
    /// When a move leads from an object that is still declared, or two moves contradict each other.
    pub(crate) fn validate_moves(
        &self,
        diags: &mut Diagnostics,
        declared: DeclaredObjects<'_>,
    ) -> Result<(), Reported> {
        let mut move_diags = Diagnostics::new();
        let mut ends = SeenEndpoints::default();
        for statement in &self.statements {
            // A move that follows from the configuration cannot contradict it.
            let Some(span) = statement.span else { continue };
            let base = statement.from.base_module();
            for module in declared.results.module_instances(&base) {
                let move_ = AbsoluteMove {
                    from: statement.from.object_in_module_instance(module.module_addr()),
                    to: statement.to.object_in_module_instance(module.module_addr()),
                    span,
                };
                declared.check_move(&mut move_diags, &move_);
                ends.check_duplicate_ends(&mut move_diags, declared.sources, move_);
            }
        }
        // Only without other errors: contradicting moves often close a circle, and their messages
        // are more specific.
        if move_diags.is_empty()
            && let Err(cycles) = order::order_statements(&self.statements)
        {
            for cycle in cycles {
                let _ = move_diags.error(cyclic_moves_error(
                    declared.sources,
                    &self.statements,
                    &cycle,
                ));
            }
        }
        diags.append(move_diags)
    }
}

/// A move within one instance of the module in which it is written.
struct AbsoluteMove {
    from: MovedObject,
    to: MovedObject,
    span: Span,
}

impl DeclaredObjects<'_> {
    fn check_move(&self, diags: &mut Diagnostics, move_: &AbsoluteMove) {
        let AbsoluteMove { from, to, span } = move_;
        if from == to {
            let detail = format!("This moves {from} to the same address. Remove the block.");
            let _ = diags
                .error(Diagnostic::error(messages::REDUNDANT_MOVE_STATEMENT, detail).at(*span));
            return;
        }
        let Some(at) = self.declaration_span(from) else { return };
        let (noun, short) = from.kind_names();
        let detail = format!(
            "This block declares a move from {from}, but that {noun} is still declared at {}. Change the \
             configuration so that this {short} is declared as {to} instead.",
            format_position(self.sources, at)
        );
        let _ =
            diags.error(Diagnostic::error(messages::MOVED_OBJECT_STILL_EXISTS, detail).at(*span));
    }

    /// Returns the span of the declaration of an object, if it is declared.
    fn declaration_span(&self, meant: &MovedObject) -> Option<Span> {
        match meant {
            MovedObject::Call(module) | MovedObject::Module(module) => {
                let (last, above) = module.0.split_last()?;
                let above = ModuleAddr(above.to_vec().into());
                let caller = self.results.module_instance(&above)?;
                let expansion = caller.call_results(&last.name)?.expansion()?;
                let is_call = matches!(meant, MovedObject::Call(_));
                let is_declared = is_call || expansion.contains(&last.key);
                is_declared.then(|| {
                    caller.module_config().calls.get(&last.name).map(|call| call.site.span)
                })?
            }
            MovedObject::Resource(addr) => {
                let module = self.results.module_instance(&addr.module)?;
                module.resource_results(&addr.resource)?.expansion()?;
                Some(module.module_config().resources.get(&addr.resource)?.span)
            }
            MovedObject::Instance(addr) => {
                let module = self.results.module_instance(&addr.module)?;
                let expansion = module.resource_results(&addr.resource)?.expansion()?;
                let resource = module.module_config().resources.get(&addr.resource)?;
                expansion.contains(&addr.key).then_some(match &resource.repetition {
                    Repetition::Single => resource.span,
                    Repetition::Count(expr) | Repetition::ForEach(expr) => expr.span,
                })
            }
        }
    }
}

/// The ends of the moves seen so far, each with its other end.
#[derive(Default)]
struct SeenEndpoints {
    from: BTreeMap<MovedObject, (MovedObject, Span)>,
    to: BTreeMap<MovedObject, (MovedObject, Span)>,
}

impl SeenEndpoints {
    fn check_duplicate_ends(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        move_: AbsoluteMove,
    ) {
        let AbsoluteMove { from, to, span } = move_;
        if from == to {
            return;
        }
        let (noun, short) = from.kind_names();
        let summary = messages::AMBIGUOUS_MOVE_STATEMENTS;
        match self.from.get(&from) {
            Some((other, at)) if *other != to => {
                let at = format_position(sources, *at);
                let detail = format!(
                    "This block moves {from} to {to}, but the block at {at} moves it to {other}. A \
                     {noun} can move to one {short} only."
                );
                let _ = diags.error(Diagnostic::error(summary, detail).at(span));
            }
            Some(_) => {}
            None => drop(self.from.insert(from.clone(), (to.clone(), span))),
        }
        match self.to.get(&to) {
            Some((other, at)) if *other != from => {
                let at = format_position(sources, *at);
                let detail = format!(
                    "This block moves {from} to {to}, but the block at {at} moves {other} to the \
                     same address. Only one {short} can move to a {noun}."
                );
                let _ = diags.error(Diagnostic::error(summary, detail).at(span));
            }
            Some(_) => {}
            None => drop(self.to.insert(to, (from, span))),
        }
    }
}

/// The start of a span: `main.tf:3,1`.
fn format_position(sources: &Sources, span: Span) -> String {
    let start = sources.start_position(span);
    format!("{}:{},{}", sources.name(span.source), start.line, start.column)
}

fn cyclic_moves_error(
    sources: &Sources,
    statements: &[MoveStatement],
    cycle: &[usize],
) -> Diagnostic {
    let list: String = cycle
        .iter()
        .filter_map(|&at| statements.get(at))
        .map(|statement| {
            let at =
                statement.span.map_or("implied".to_owned(), |span| format_position(sources, span));
            format!("\n  - {at}: {} → {}", statement.from, statement.to)
        })
        .collect();
    Diagnostic::error(
        messages::CYCLIC_DEPENDENCY_IN_MOVE_STATEMENTS,
        format!(
            "These moves form a cycle, so their objects have no final address:{list}\n\n\
             A chain of moves must end at an address that no other move begins with."
        ),
    )
}
