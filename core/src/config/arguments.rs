//! Functions shared by the readers of all blocks: constants in arguments, names in labels, and
//! their diagnostics.

use formwork_lang::content::Content;
use formwork_lang::syntax::{Block, Body, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::constant;
use crate::addr::is_identifier;
use crate::messages;

/// Takes a boolean argument. An invalid one is reported and counts as absent.
pub(super) fn take_bool_argument(
    diags: &mut Diagnostics,
    content: &mut Content,
    name: &str,
) -> Option<bool> {
    constant::constant_bool(diags, &content.take_attribute(name)?.expr).ok()
}

/// Takes a string argument. An invalid one is reported and counts as absent.
pub(super) fn take_string_argument(
    diags: &mut Diagnostics,
    content: &mut Content,
    name: &str,
) -> Option<String> {
    constant::constant_string(diags, &content.take_attribute(name)?.expr).ok()
}

/// Nested blocks of one kind.
pub(super) struct NestedBlocks<'a> {
    pub(super) blocks: Vec<Block>,
    /// The block that contains them, for messages.
    pub(super) within: &'a str,
}

/// Merges blocks `_` into a body.
pub(super) fn merge_escape_blocks(
    diags: &mut Diagnostics,
    sources: &Sources,
    mut body: Body,
    escaping: NestedBlocks<'_>,
) -> Body {
    // They escape names that have a meaning to the engine: their contents count as if written
    // outside.
    let NestedBlocks { blocks: escaped, within: of } = escaping;
    let mut first = None;
    for block in escaped {
        if let Some(first) = first {
            let detail = format!(
                "The special block type \"_\" can be used to force particular arguments to be interpreted as resource-type-specific rather than as meta-arguments, but each {of} block can have only one such block. The first escaping block was at {}.",
                format_span(sources, first)
            );
            let problem = Diagnostic::error(messages::DUPLICATE_ESCAPING_BLOCK, detail);
            let _ = diags.error(problem.at(block.header));
            continue;
        }
        first = Some(block.header);
        for attribute in &block.body.attributes {
            if body.attributes.iter().any(|existing| existing.name.name == attribute.name.name) {
                let name = attribute.name.name.as_str();
                let detail = format!(
                    "The argument {name:?} is set twice: outside of the block `_` and in it. Both are the same argument."
                );
                let problem = Diagnostic::error(messages::DUPLICATE_ARGUMENT, detail);
                let _ = diags.error(problem.at(attribute.name.span));
            }
        }
        body.attributes.extend(block.body.attributes);
        body.blocks.extend(block.body.blocks);
        body.undecided.extend(block.body.undecided);
    }
    body
}

/// The error for a feature of the language that this version leaves out.
pub(super) fn unsupported_feature_error(
    feature: &str,
    span: impl Into<Option<Span>>,
) -> Diagnostic {
    Diagnostic::error(
        messages::NOT_SUPPORTED_YET.with(&[&feature]),
        "The configuration is valid, but this version of Formwork does not support it. Remove it, or \
         use Terraform for this configuration.",
    )
    .at_opt(span.into())
}

/// The shape of a name, as errors state it.
pub(super) const NAME_RULE: &str = "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";

/// Reports a label that is not a valid name.
pub(super) fn check_label_name(
    diags: &mut Diagnostics,
    block_type: &str,
    name: &Ident,
) -> Result<(), Reported> {
    if is_identifier(&name.name) {
        return Ok(());
    }
    Err(diags.error(
        Diagnostic::error(messages::INVALID_NAME_OF_BLOCK.with(&[&block_type]), NAME_RULE)
            .at(name.span),
    ))
}

/// Returns a source position for display: `main.tf:3,1-11`.
pub(super) fn format_span(sources: &Sources, span: Span) -> String {
    let (start, end) = (sources.start_position(span), sources.end_position(span));
    let name = sources.name(span.source);
    if start.line == end.line {
        format!("{name}:{},{}-{}", start.line, start.column, end.column)
    } else {
        format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
    }
}
