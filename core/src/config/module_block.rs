//! Reads `module` blocks: the source, the repetition and the arguments of a call.

use std::collections::BTreeMap;

use formwork_lang::content::{BodySchema, into_just_attributes, split_content};
use formwork_lang::syntax::{Attribute, Block, Body, Expr, ExprKind};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::arguments::{NestedBlocks, check_label_name, format_span, merge_escape_blocks};
use super::module_dirs::ModuleCallSource;
use super::{
    CallArgument, LocalProviderConfig, ModuleCall, PassedProvider, constant, resource,
    terraform_block, traversal,
};
use crate::addr::{AddressError, ModuleSource};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("source", true),
        ("version", false),
        ("count", false),
        ("for_each", false),
        ("depends_on", false),
        ("providers", false),
    ],
    blocks: &[("_", &[]), ("lifecycle", &[]), ("locals", &[]), ("provider", &["type"])],
};

/// Reads a `module` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_module_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<ModuleCall> {
    let mut source_diags = Diagnostics::new();
    let site = read_call_source(&mut source_diags, &block);
    let (mut content, rest) = split_content(diags, block.body, &BODY_SCHEMA);
    let repetition = resource::take_repetition(diags, &mut content);
    let depends_on = traversal::read_depends_on(diags, content.take_attribute("depends_on"));
    let providers = content.take_attribute("providers");
    let providers = providers
        .map(|attribute| read_passed_providers(diags, sources, attribute.expr))
        .transpose();
    let escaping = NestedBlocks { blocks: content.take_blocks("_"), within: "module" };
    let rest = merge_escape_blocks(diags, sources, rest, escaping);
    for block in &content.blocks {
        let detail = format!(
            "The block type name {:?} is reserved for use by Terraform in a future version.",
            block.kind.name
        );
        let reserved =
            Diagnostic::error(messages::RESERVED_BLOCK_TYPE_NAME_IN_MODULE_BLOCK, detail);
        let _ = diags.error(reserved.at(block.kind.span));
    }
    let blocks = rest.blocks.iter().map(|block| block.kind.clone()).collect();
    let arguments = read_call_arguments(diags, Body { blocks: Vec::new(), ..rest });
    // A missing source was reported with the rest of the block.
    let has_source = content.attributes.contains_key("source");
    for problem in source_diags {
        if has_source || problem.is_about_message(messages::INVALID_NAME_OF_BLOCK) {
            let _ = diags.push(problem);
        }
    }
    Some(ModuleCall {
        site: site?,
        repetition: repetition.ok()?,
        depends_on,
        providers: providers.ok()?.unwrap_or_default(),
        arguments,
        blocks,
        references: Vec::new(),
        missing: content.missing,
    })
}

/// Reads the source of a call; `None` if it is invalid, which was reported.
fn read_call_source(diags: &mut Diagnostics, block: &Block) -> Option<ModuleCallSource> {
    let name = block.labels.first()?;
    let named = check_label_name(diags, "module instance name", name);
    let of = |wanted: &str| block.body.find_attribute(wanted);
    let version = of("version").map(|attribute| {
        let constraints = terraform_block::read_loose_constraint(diags, &attribute.expr)?;
        Ok(constraints.map(|constraints| (constraints, attribute.expr.span)))
    });
    let version: Result<Option<_>, Reported> = version.transpose().map(Option::flatten);
    let Some(attribute) = of("source") else {
        let detail = "The argument \"source\" is required, but no definition was found.";
        let missing = Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail);
        let _ = diags.error(missing.at(block.body.missing));
        return None;
    };
    let source = read_module_source(diags, attribute, of("version").is_some());
    named.ok()?;
    let (source, address) = source.ok()?;
    Some(ModuleCallSource {
        name: name.name.clone(),
        source,
        address,
        source_span: attribute.expr.span,
        version: version.ok()?,
        span: block.header,
    })
}

/// The source as written, and its address.
pub(super) fn read_module_source(
    diags: &mut Diagnostics,
    attribute: &Attribute,
    versioned: bool,
) -> Result<(String, ModuleSource), Reported> {
    let text = constant::constant_string(diags, &attribute.expr)?;
    match ModuleSource::parse(&text, versioned) {
        Ok(address) => Ok((text, address)),
        Err(AddressError { summary, detail }) => {
            Err(diags.error(Diagnostic::error(summary, detail).at(attribute.expr.span)))
        }
    }
}

/// Arguments for the variables of the called module.
fn read_call_arguments(diags: &mut Diagnostics, body: Body) -> BTreeMap<Str, CallArgument> {
    let arguments = into_just_attributes(diags, body).into_iter().map(|attribute| {
        let Attribute { name, expr, .. } = attribute;
        let argument = CallArgument { expr, references: Vec::new(), name_span: name.span };
        (name.name, argument)
    });
    arguments.collect()
}

/// Reads `providers = { CHILD = CALLER, … }`.
pub(super) fn read_passed_providers(
    diags: &mut Diagnostics,
    sources: &Sources,
    expr: Expr,
) -> Result<Vec<PassedProvider>, Reported> {
    let ExprKind::Object(items) = expr.kind else {
        let detail = "A static map expression is required. Write { NAME = NAME, … }.";
        let problem = Diagnostic::error(messages::STATIC_REFERENCE_REQUIRED, detail);
        return Err(diags.error(problem.at(traversal::wrong_expression_span(&expr))));
    };
    let mut passed: Vec<PassedProvider> = Vec::with_capacity(items.len());
    let mut result = Ok(());
    for item in &items {
        let in_child = match item.key.as_string_literal().filter(|_| item.bare) {
            Some(name) => Ok(LocalProviderConfig { name: name.clone(), alias: None }),
            None => traversal::parse_provider_expr(diags, "providers", &item.key),
        };
        let in_caller = traversal::parse_provider_expr(diags, "providers", &item.value);
        let (Ok(in_child), Ok(in_caller)) = (in_child, in_caller) else { continue };
        if let Some(duplicate) = passed.iter().find(|duplicate| duplicate.in_child == in_child) {
            let first = format_span(sources, duplicate.child_span.to(duplicate.caller_span));
            let detail = format!(
                "A provider configuration was already passed to {in_child} at {first}. Each child provider configuration can be assigned only once."
            );
            let duplicate = Diagnostic::error(messages::DUPLICATE_PROVIDER_ADDRESS, detail);
            result = Err(diags.error(duplicate.at(item.value.span)));
            continue;
        }
        let child_span = provider_name_span(&in_child, item.key.span);
        let caller_span = provider_name_span(&in_caller, item.value.span);
        passed.push(PassedProvider { in_child, child_span, in_caller, caller_span });
    }
    result.map(|()| passed)
}

/// The span of a provider name, without quotes and alias.
fn provider_name_span(local: &LocalProviderConfig, span: Span) -> Span {
    let of = |text: usize| u32::try_from(text).unwrap_or(u32::MAX);
    let is_quoted = span.end - span.start == of(local.to_string().len() + 2);
    let start = span.start + u32::from(is_quoted);
    Span { start, end: span.end.min(start + of(local.name.len())), ..span }
}
