//! Blocks that cannot be read because of errors in their syntax. Finding those errors is the parser's.

use formwork_lang::messages::{ATTRIBUTE_REDEFINED, MISSING_REQUIRED_ARGUMENT};
use formwork_lang::syntax::{Block, Body};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Span};

/// The blocks of a module that have syntax errors.
#[derive(Default)]
pub(super) struct BlocksWithSyntaxErrors {
    pub(super) blocks: Vec<Block>,
    /// Places of the syntax errors.
    errors: Vec<Span>,
}

impl BlocksWithSyntaxErrors {
    /// Adds the broken blocks of a file.
    pub(super) fn add_file(&mut self, blocks: Vec<Block>, wrong: &Diagnostics) {
        self.blocks.extend(blocks);
        self.errors.extend(wrong.iter().filter_map(|it| it.subject));
    }

    /// Whether an error in an invalid block is independent of the syntax errors:
    /// it is on other lines, and does not report a missing item.
    pub(super) fn is_problem_independent(&self, sources: &Sources, problem: &Diagnostic) -> bool {
        let Some(span) = problem.subject else { return false };
        let lines =
            |span: Span| (sources.start_position(span).line, sources.end_position(span).line);
        let (first, last) = lines(span);
        let touches = |error: &Span| {
            let (start, end) = lines(*error);
            error.source == span.source && start <= last && first <= end
        };
        // The parser drops invalid parts, which would be reported as missing.
        problem.code != Some(MISSING_REQUIRED_ARGUMENT.code) && !self.errors.iter().any(touches)
    }
}

/// Takes the blocks with errors out of a file, and drops its arguments, so that the rest can be
/// checked.
pub(super) fn take_blocks_with_syntax_errors(file: &mut Body, wrong: &Diagnostics) -> Vec<Block> {
    let spans: Vec<Span> =
        wrong.iter().filter(|it| makes_block_unreadable(it)).filter_map(|it| it.subject).collect();
    // Arguments belong into blocks: at the top of a file they show that a block has ended too early.
    file.attributes.clear();
    let is_broken = |block: &mut Block| spans.iter().any(|span| block.span.covers(*span));
    file.blocks.extract_if(.., is_broken).collect()
}

/// Whether a block with an error cannot be read.
fn makes_block_unreadable(diagnostic: &Diagnostic) -> bool {
    // A block that sets an argument twice can be read: the first one is used.
    diagnostic.code != Some(ATTRIBUTE_REDEFINED.code)
}

/// Whether all errors are in one of the given blocks.
pub(super) fn are_all_within_blocks(wrong: &Diagnostics, blocks: &[Block]) -> bool {
    let is_within = |span: Span| blocks.iter().any(|block| block.span.covers(span));
    wrong.iter().filter(|it| makes_block_unreadable(it)).all(|it| it.subject.is_some_and(is_within))
}
