//! Reads `check` blocks: conditions on the whole configuration, which are evaluated and never stop
//! a run.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::{Block, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Span, Str};

use super::arguments::{check_label_name, format_span};
use super::{ConditionBlock, Resource, condition, resource};
use crate::addr::{Reference, ResourceMode, ResourceName};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema =
    BodySchema { attributes: &[], blocks: &[("data", &["type", "name"]), ("assert", &[])] };

/// A `check` block.
#[derive(Clone, Debug)]
pub struct CheckBlock {
    /// The name of the block.
    pub name: Str,
    /// The scoped data source, which only this block can refer to. It is one of the resources of its module.
    pub data: Option<ResourceName>,
    /// The assertions.
    pub asserts: Vec<ConditionBlock>,
    /// All references in the conditions and their messages.
    pub references: Vec<Reference>,
    /// The block's header.
    pub span: Span,
}

/// Reads a `check` block with its data source. Returns `None` for an invalid block, which was reported.
pub(super) fn read_check_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<(CheckBlock, Option<Resource>)> {
    let [name] = <[Ident; 1]>::try_from(block.labels).ok()?;
    let named = check_label_name(diags, "check block name", &name);
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let asserts = condition::read_valid_conditions(diags, sources, content.take_blocks("assert"));
    if asserts.is_empty() {
        let _ = diags.error(
            Diagnostic::error(
                messages::ZERO_ASSERT_BLOCKS,
                "Check blocks must have at least one assert block.",
            )
            .at(block.header),
        );
    }
    let mut data = None;
    for nested in content.take_blocks("data") {
        if let Some(first) = &data {
            let first: &Resource = first;
            let first = format_span(sources, first.span);
            let detail = format!(
                "This `check` block already has a data source at {first}. Use another `check` block, \
                 or move the data source out of the block."
            );
            let problem = Diagnostic::error(messages::MULTIPLE_DATA_RESOURCE_BLOCKS, detail);
            let _ = diags.error(problem.at(nested.header));
            continue;
        }
        let mut block_diags = Diagnostics::new();
        reject_check_data_meta_arguments(&mut block_diags, &nested);
        let read =
            resource::read_resource_block(&mut block_diags, sources, ResourceMode::Data, nested);
        // An invalid data source is left out.
        data = diags.append(block_diags).ok().and(read);
    }
    named.ok()?;
    if let Some(data) = &mut data {
        data.within = Some(name.name.clone());
    }
    let check = CheckBlock {
        name: name.name,
        data: data.as_ref().map(|data| data.name.clone()),
        asserts,
        references: Vec::new(),
        span: block.header,
    };
    Some((check, data))
}

/// Reports arguments without a meaning for a data source that belongs to its `check` block.
fn reject_check_data_meta_arguments(diags: &mut Diagnostics, block: &Block) {
    for name in ["count", "for_each"] {
        if let Some(attribute) = block.body.find_attribute(name) {
            let name = &attribute.name;
            let _ = diags.error(
                Diagnostic::error(
                    messages::INVALID_CHECK_ATTRIBUTE.with(&[&name.name]),
                    "The \"count\" and \"for_each\" meta-arguments are not supported within nested data blocks.",
                )
                .at(name.span),
            );
        }
    }
    let written = block.body.blocks.iter().filter(|nested| nested.kind.name == "lifecycle");
    let undecided = block.body.undecided.iter().filter(|member| member.name.name == "lifecycle");
    let headers =
        written.map(|nested| nested.header).chain(undecided.map(|member| member.name.span));
    for header in headers {
        let _ = diags.error(
            Diagnostic::error(
                messages::INVALID_LIFECYCLE_BLOCK,
                "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by the containing block.",
            )
            .at(header),
        );
    }
}
