//! `provider` blocks.

use formwork_lang::content::{BodySchema, split_content};
use formwork_lang::syntax::{Attribute, Block, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::arguments::{NAME_RULE, NestedBlocks, merge_escape_blocks};
use super::terraform_block::check_provider_constraint;
use super::{LocalProviderConfig, ProviderAddr, ProviderBlock, constant};
use crate::addr::is_identifier;
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("alias", false),
        ("version", false),
        ("count", false),
        ("for_each", false),
        ("depends_on", false),
        ("source", false),
    ],
    blocks: &[("_", &[]), ("lifecycle", &[]), ("locals", &[])],
};

/// Reads a `provider` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_provider_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<ProviderBlock> {
    let [name] = <[Ident; 1]>::try_from(block.labels).ok()?;
    let named = check_local_name(diags, &name, block.header);
    let (mut content, rest) = split_content(diags, block.body, &BODY_SCHEMA);
    let alias =
        content.take_attribute("alias").map(|attribute| read_alias(diags, &attribute)).transpose();
    let version = content
        .take_attribute("version")
        .and_then(|attribute| read_provider_version(diags, &attribute).ok());
    let escaping = NestedBlocks { blocks: content.take_blocks("_"), within: "provider" };
    let body = merge_escape_blocks(diags, sources, rest, escaping);
    // The other attributes of the schema are listed only to be reported as reserved.
    for attribute in content.attributes.values() {
        report_reserved_arguments(diags, "argument", &attribute.name);
    }
    for block in &content.blocks {
        report_reserved_arguments(diags, "block type", &block.kind);
    }
    named.ok()?;
    Some(ProviderBlock {
        // The address of the provider is known after all `required_providers` were read.
        provider: ProviderAddr::implied_by_name(&name.name),
        local: LocalProviderConfig { name: name.name, alias: alias.ok()? },
        version,
        references: Vec::new(),
        body,
        span: block.header,
    })
}

/// The shape of a local name, as errors state it.
const LOCAL_NAME_RULE: &str =
    "must contain only letters, digits, and dashes, and may not use leading or trailing dashes";

/// Reports, at a span, a local name that is not a valid name, or is not in lower case.
pub(super) fn check_local_name(
    diags: &mut Diagnostics,
    name: &Ident,
    span: Span,
) -> Result<(), Reported> {
    let lower = name.name.to_lowercase();
    let detail = if lower != name.name.as_str() {
        format!(
            "{} is an invalid provider local name: {LOCAL_NAME_RULE}. Write `{lower}`.",
            name.name
        )
    } else if is_identifier(&name.name) && !name.name.contains('_') && !name.name.ends_with('-') {
        return Ok(());
    } else {
        format!("{} is an invalid provider local name: {LOCAL_NAME_RULE}", name.name)
    };
    Err(diags.error(Diagnostic::error(messages::INVALID_PROVIDER_LOCAL_NAME, detail).at(span)))
}

fn read_alias(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<formwork_value::Str, Reported> {
    let alias = constant::constant_string(diags, &attribute.expr)?;
    if is_identifier(&alias) {
        return Ok(alias.into());
    }
    Err(diags.error(
        Diagnostic::error(
            messages::INVALID_PROVIDER_CONFIGURATION_ALIAS,
            format!("An alias must be a valid name. {NAME_RULE} `{alias}` was found."),
        )
        .at(attribute.expr.span),
    ))
}

fn read_provider_version(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<(String, Span), Reported> {
    diags.warn(
        Diagnostic::warning(
            messages::VERSION_IN_PROVIDER_BLOCK_DEPRECATED,
            "Terraform 0.13 and earlier allowed provider version constraints inside the provider configuration block, but that is now deprecated and will be removed in a future version of Terraform. To silence this warning, move the provider version constraint into the required_providers block.",
        )
        .at(attribute.expr.span),
    );
    let span = attribute.expr.span;
    let Some(text) = constant::constant_string_unless_unparsed(diags, &attribute.expr)? else {
        return Ok((String::new(), span));
    };
    check_provider_constraint(diags, &text, span)?;
    Ok((text, span))
}

fn report_reserved_arguments(diags: &mut Diagnostics, construct: &str, name: &Ident) {
    let of = if construct == "argument" { "provider " } else { "" };
    let _ = diags.error(
        Diagnostic::error(
            messages::RESERVED_NAME_IN_PROVIDER_BLOCK.with(&[&construct]),
            format!(
                "The {of}{construct} name {:?} is reserved for use by Terraform in a future version.",
                name.name
            ),
        )
        .at(name.span),
    );
}
