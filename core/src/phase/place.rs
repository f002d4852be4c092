//! Finds where in a block a part of its value is written. Pure.

use formwork_lang::syntax::{Block, Body};
use formwork_value::{Diagnostic, Diagnostics, Path, Span, Step};

/// Lets problems with a part of a block, reported at its header, point at the location of the part.
/// If nothing is written there, or a provider names no part, they point behind the header of the
/// deepest block that the path leads to, as Terraform's do.
pub(crate) fn point_at_parts(diags: &mut Diagnostics, body: &Body, header: Span) {
    diags.map_from(0, |problem| {
        let Some(path) = problem.path.as_ref().filter(|_| problem.subject == Some(header)) else {
            return problem;
        };
        let written = argument_at(body, &path.0);
        let place = written.unwrap_or_else(|| missing_in(body, &path.0));
        let path = Some(path.clone()).filter(|path| !path.0.is_empty());
        Diagnostic { subject: Some(place), path, ..problem }
    });
}

/// The place of a missing item in the deepest block that the steps lead to.
fn missing_in(body: &Body, steps: &[Step]) -> Span {
    match step_into(body, steps) {
        Some((block, rest)) if !rest.is_empty() => missing_in(&block.body, rest),
        _ => body.missing,
    }
}

/// Location of the part at a path, as far as the path leads: `None` if nothing of it is written.
/// Below an argument the whole argument is the location.
pub(crate) fn place_in(body: &Body, path: &Path) -> Option<Span> {
    argument_at(body, &path.0).or_else(|| header_at(body, &path.0))
}

/// The place of the argument that the steps lead to or into.
fn argument_at(body: &Body, steps: &[Step]) -> Option<Span> {
    let Step::Attribute(name) = steps.first()? else { return None };
    if let Some(attribute) = body.find(name) {
        return Some(attribute.expr.span);
    }
    let (block, rest) = step_into(body, steps)?;
    argument_at(&block.body, rest)
}

/// The header of the deepest block that the steps lead to.
fn header_at(body: &Body, steps: &[Step]) -> Option<Span> {
    let (block, rest) = step_into(body, steps)?;
    header_at(&block.body, rest).or(Some(block.header))
}

/// The block that the first steps lead to, and the steps that are left.
fn step_into<'b, 's>(body: &'b Body, steps: &'s [Step]) -> Option<(&'b Block, &'s [Step])> {
    let (Step::Attribute(name), rest) = steps.split_first()? else { return None };
    let mut blocks = body.blocks.iter().filter(|block| block.kind.name == *name);
    Some(match rest.split_first() {
        Some((Step::Index(index), rest)) => (blocks.nth(index.to_usize()?)?, rest),
        Some((Step::Key(key), rest)) => {
            (blocks.find(|block| block.labels.first().is_some_and(|l| l.name == *key))?, rest)
        }
        _ => (blocks.next()?, rest),
    })
}
