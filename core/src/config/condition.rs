//! Blocks that state a condition: `validation`, `precondition`, `postcondition`.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::refs;
use formwork_lang::syntax::Block;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

use super::ConditionBlock;
use super::arguments::format_span;
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema =
    BodySchema { attributes: &[("condition", true), ("error_message", true)], blocks: &[] };

/// Reads a block that states a condition; `None` if it cannot be understood, which was reported.
fn read_condition(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<ConditionBlock> {
    let kind = block.kind.name.clone();
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let (condition, message) =
        (content.take_attribute("condition"), content.take_attribute("error_message"));
    let condition = condition?.expr;
    if refs::traversals_of_expr(&condition).is_empty() {
        let _ = diags.error(
            Diagnostic::error(
                messages::INVALID_CONDITION_EXPRESSION.with(&[&kind]),
                "The condition expression must refer to at least one object from elsewhere in the configuration, or else its result would not be checking anything.",
            )
            .at(condition.span),
        );
    }
    let message = message?.expr;
    Some(ConditionBlock {
        condition,
        message,
        position: format_span(sources, block.header),
        span: block.header,
    })
}

/// Reads all blocks, leaving out those that cannot be understood.
pub(super) fn read_conditions(
    diags: &mut Diagnostics,
    sources: &Sources,
    blocks: Vec<Block>,
) -> Vec<ConditionBlock> {
    blocks.into_iter().filter_map(|block| read_condition(diags, sources, block)).collect()
}

/// Reads all blocks, except invalid ones.
pub(super) fn read_valid_conditions(
    diags: &mut Diagnostics,
    sources: &Sources,
    blocks: Vec<Block>,
) -> Vec<ConditionBlock> {
    let sound = |block| {
        let mut block_diags = Diagnostics::new();
        let condition = read_condition(&mut block_diags, sources, block);
        diags.append(block_diags).ok().and(condition)
    };
    blocks.into_iter().filter_map(sound).collect()
}
