//! `output` and `locals` blocks.

use formwork_lang::content::{BodySchema, into_content, into_just_attributes};
use formwork_lang::syntax::{Attribute, Block, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

use super::arguments::{check_label_name, take_bool_argument, take_string_argument};
use super::{LocalValue, Output, condition, traversal};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("value", true),
        ("description", false),
        ("sensitive", false),
        ("ephemeral", false),
        ("depends_on", false),
    ],
    blocks: &[("precondition", &[]), ("postcondition", &[])],
};

/// Reads an `output` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_output_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<Output> {
    let [name] = <[Ident; 1]>::try_from(block.labels).ok()?;
    let named = check_label_name(diags, "output name", &name);
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let depends_on = traversal::read_depends_on(diags, content.take_attribute("depends_on"));
    let preconditions =
        condition::read_conditions(diags, sources, content.take_blocks("precondition"));
    for block in content.take_blocks("postcondition") {
        let _ = diags.error(
            Diagnostic::error(
                messages::POSTCONDITIONS_ARE_NOT_ALLOWED,
                "An output has only preconditions: nothing happens to its value afterwards.",
            )
            .at(block.kind.span),
        );
    }
    let expr = content.take_attribute("value")?.expr;
    let output = Output {
        name: name.name,
        expr,
        description: take_string_argument(diags, &mut content, "description").unwrap_or_default(),
        sensitive: take_bool_argument(diags, &mut content, "sensitive").unwrap_or(false),
        ephemeral: take_bool_argument(diags, &mut content, "ephemeral").unwrap_or(false),
        depends_on,
        preconditions,
        references: Vec::new(),
        span: block.header,
    };
    named.ok().map(|()| output)
}

/// Reads a `locals` block.
pub(super) fn read_locals_block(diags: &mut Diagnostics, block: Block) -> Vec<LocalValue> {
    let mut locals = into_just_attributes(diags, block.body);
    // In JSON, the name can be any string.
    locals.retain(|local| check_label_name(diags, "local value name", &local.name).is_ok());
    locals.into_iter().map(read_local_value).collect()
}

fn read_local_value(attribute: Attribute) -> LocalValue {
    let Attribute { name, expr, span } = attribute;
    LocalValue { name: name.name, expr, references: Vec::new(), span }
}
