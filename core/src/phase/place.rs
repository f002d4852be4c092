//! Finds where in a block a part of its value is written. Pure.

use formwork_lang::syntax::Body;
use formwork_value::{Diagnostic, Diagnostics, Path, Span, Step};

/// Lets problems with a part of a block, reported at its header, point at where the part is written.
pub(crate) fn point_at_parts(diags: &mut Diagnostics, body: &Body, header: Span) {
    diags.map_from(0, |problem| {
        let part = problem.path.as_ref().filter(|_| problem.subject == Some(header));
        match part.and_then(|path| place_in(body, path)) {
            Some(place) => Diagnostic { subject: Some(place), ..problem },
            None => problem,
        }
    });
}

/// The place of what is at a path, as far as the path leads: `None` if nothing of it is written.
/// Below an argument the whole argument is the place.
pub(crate) fn place_in(body: &Body, path: &Path) -> Option<Span> {
    place_of_steps(body, &path.0)
}

fn place_of_steps(body: &Body, steps: &[Step]) -> Option<Span> {
    let (Step::Attribute(name), rest) = steps.split_first()? else { return None };
    if let Some(attribute) = body.find(name) {
        return Some(attribute.expr.span);
    }
    let mut blocks = body.blocks.iter().filter(|block| block.kind.name == *name);
    let (block, rest) = match rest.split_first() {
        Some((Step::Index(index), rest)) => (blocks.nth(index.to_usize()?)?, rest),
        Some((Step::Key(key), rest)) => {
            (blocks.find(|block| block.labels.first().is_some_and(|l| l.name == *key))?, rest)
        }
        _ => (blocks.next()?, rest),
    };
    place_of_steps(&block.body, rest).or(Some(block.header))
}
