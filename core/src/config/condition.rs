//! Blocks that state a condition: `validation`, `precondition`, `postcondition`.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::refs;
use formwork_lang::syntax::Block;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

use super::Condition;
use super::arguments::place;
use crate::messages;

pub(super) const CONTENT: BodySchema =
    BodySchema { attributes: &[("condition", true), ("error_message", true)], blocks: &[] };

/// Reads a block that states a condition; `None` if it cannot be understood, which was reported.
fn read(diags: &mut Diagnostics, sources: &Sources, block: Block) -> Option<Condition> {
    let kind = block.kind.name.clone();
    let mut content = into_content(diags, block.body, &CONTENT);
    let (condition, message) = (content.take("condition"), content.take("error_message"));
    let condition = condition?.expr;
    if refs::of_expr(&condition).is_empty() {
        let _ = diags.error(
            Diagnostic::error(
                messages::INVALID_CONDITION_EXPRESSION.with(&[&kind]),
                "The condition expression must refer to at least one object from elsewhere in the configuration, or else its result would not be checking anything.",
            )
            .at(condition.span),
        );
    }
    let message = message?.expr;
    Some(Condition { condition, message, place: place(sources, block.header), span: block.header })
}

/// Reads all blocks, leaving out those that cannot be understood.
pub(super) fn read_all(
    diags: &mut Diagnostics,
    sources: &Sources,
    blocks: Vec<Block>,
) -> Vec<Condition> {
    blocks.into_iter().filter_map(|block| read(diags, sources, block)).collect()
}

/// Reads all blocks, leaving out those with anything wrong in them.
pub(super) fn read_sound(
    diags: &mut Diagnostics,
    sources: &Sources,
    blocks: Vec<Block>,
) -> Vec<Condition> {
    let sound = |block| {
        let mut found = Diagnostics::new();
        let condition = read(&mut found, sources, block);
        diags.append(found).ok().and(condition)
    };
    blocks.into_iter().filter_map(sound).collect()
}
