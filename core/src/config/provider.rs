//! `provider` blocks.

use formwork_lang::content::{BodySchema, split_content};
use formwork_lang::syntax::{Attribute, Block, Ident};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::arguments::unescape;
use super::settings::check_constraint;
use super::{LocalProvider, ProviderAddr, ProviderBlock, constant};
use crate::addr::is_identifier;

pub(super) const CONTENT: BodySchema = BodySchema {
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

/// Reads a `provider` block; `None` if it is wrong, which was reported.
pub(super) fn read(diags: &mut Diagnostics, block: Block) -> Option<ProviderBlock> {
    let [name] = <[Ident; 1]>::try_from(block.labels).ok()?;
    let named = check_local_name(diags, &name, block.header);
    let (mut content, rest) = split_content(diags, block.body, &CONTENT);
    let alias = content.take("alias").map(|attribute| alias(diags, &attribute)).transpose();
    let version = content.take("version").and_then(|attribute| version(diags, &attribute).ok());
    let body = unescape(diags, rest, content.take_blocks("_"));
    // Whatever else was expected is expected only to say this of it.
    for attribute in content.attributes.values() {
        reserved(diags, "argument", &attribute.name);
    }
    for block in &content.blocks {
        reserved(diags, "block type", &block.kind);
    }
    named.ok()?;
    Some(ProviderBlock {
        // Where the provider comes from is known when all `required_providers` were read.
        provider: ProviderAddr::implied(&name.name),
        local: LocalProvider { name: name.name, alias: alias.ok()? },
        version,
        references: Vec::new(),
        body,
        span: block.header,
    })
}

/// Reports, at a place, a local name that is not a name, or not in lower case.
pub(super) fn check_local_name(
    diags: &mut Diagnostics,
    name: &Ident,
    place: Span,
) -> Result<(), Reported> {
    let lower = name.name.to_lowercase();
    let detail = if lower != name.name.as_str() {
        format!("Names of providers are in lower case: write `{lower}`.")
    } else if is_identifier(&name.name) && !name.name.contains('_') && !name.name.ends_with('-') {
        return Ok(());
    } else {
        format!(
            "`{}` must consist of letters, digits and dashes, with no dash at either end.",
            name.name
        )
    };
    Err(diags.error(Diagnostic::error("Invalid provider local name", detail).at(place)))
}

fn alias(diags: &mut Diagnostics, attribute: &Attribute) -> Result<formwork_value::Str, Reported> {
    let alias = constant::string(diags, &attribute.expr)?;
    if is_identifier(&alias) {
        return Ok(alias.into());
    }
    Err(diags.error(
        Diagnostic::error(
            "Invalid provider configuration alias",
            format!("The alias `{alias}` is not a name: letters, digits, underscores and dashes."),
        )
        .at(attribute.expr.span),
    ))
}

fn version(diags: &mut Diagnostics, attribute: &Attribute) -> Result<(String, Span), Reported> {
    diags.warn(
        Diagnostic::warning(
            "Version constraints inside provider configuration blocks are deprecated",
            "Versions belong into the `required_providers` block inside `terraform`.",
        )
        .at(attribute.expr.span),
    );
    let span = attribute.expr.span;
    let Some(text) = constant::known_string(diags, &attribute.expr)? else {
        return Ok((String::new(), span));
    };
    check_constraint(diags, &text, span)?;
    Ok((text, span))
}

fn reserved(diags: &mut Diagnostics, what: &str, name: &Ident) {
    let _ = diags.error(
        Diagnostic::error(
            format!("Reserved {what} name in provider block"),
            format!("`{}` is kept for later versions of the language.", name.name),
        )
        .at(name.span),
    );
}
