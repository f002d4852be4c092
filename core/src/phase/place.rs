//! Finds where in a block a part of its value is written. Pure.

use formwork_lang::syntax::Body;
use formwork_value::{Path, Span, Step};

/// The place of what is at a path, as far as the path leads: `None` if nothing of it is written.
/// Below an argument the whole argument is the place.
pub(crate) fn place_in(body: &Body, path: &Path) -> Option<Span> {
    place_of_steps(body, &path.0)
}

fn place_of_steps(body: &Body, steps: &[Step]) -> Option<Span> {
    let (Step::Attribute(name), rest) = steps.split_first()? else { return None };
    if let Some(attribute) = body.attributes.iter().find(|one| one.name.name == *name) {
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
