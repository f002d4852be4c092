//! `resource` and `data` blocks.

use formwork_lang::content::{BodySchema, Content, split_content};
use formwork_lang::syntax::{Block, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::arguments::{NestedBlocks, check_label_name, merge_escape_blocks};
use super::{
    LocalProviderConfig, ProviderAddr, Repetition, Resource, lifecycle, provisioner, traversal,
    validate_references,
};
use crate::addr::{ResourceMode, ResourceName};
use crate::messages;

/// Members of a block that the language itself defines; the rest is for the provider's schema.
pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("count", false),
        ("for_each", false),
        ("depends_on", false),
        ("provider", false),
    ],
    blocks: &[("lifecycle", &[]), ("locals", &[]), ("_", &[])],
};

/// Members that the language defines in the block of a managed resource.
const MANAGED_SCHEMA: BodySchema = BodySchema {
    blocks: &[
        ("lifecycle", &[]),
        ("provisioner", &["type"]),
        ("connection", &[]),
        ("locals", &[]),
        ("_", &[]),
    ],
    ..BODY_SCHEMA
};

/// Reads a `resource` or `data` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_resource_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    mode: ResourceMode,
    block: Block,
) -> Option<Resource> {
    let [kind, name] = <[Ident; 2]>::try_from(block.labels).ok()?;
    let named = check_type_and_name(diags, mode, &kind, &name);
    let type_span = kind.span;
    let name = ResourceName::new(mode, &kind.name, &name.name);

    let known = if mode == ResourceMode::Managed { &MANAGED_SCHEMA } else { &BODY_SCHEMA };
    let (mut content, rest) = split_content(diags, block.body, known);
    let repetition = take_repetition(diags, &mut content);
    let depends_on = traversal::read_depends_on(diags, content.take_attribute("depends_on"));
    let provider = content.take_attribute("provider");
    let names_provider = provider.is_some();
    let local_provider = match provider {
        Some(attribute) => traversal::parse_provider_expr(diags, "provider", &attribute.expr),
        None => Ok(LocalProviderConfig::implied_by_resource(&name)),
    };
    let lifecycle =
        lifecycle::read_lifecycle(diags, sources, mode, content.take_blocks("lifecycle"));
    validate_references::check_no_self_reference_in_conditions(diags, &name, &lifecycle);
    let connections =
        NestedBlocks { blocks: content.take_blocks("connection"), within: "resource" };
    let provisioners = content.take_blocks("provisioner");
    let provisioners = provisioner::read_provisioners(diags, sources, provisioners, connections);
    let escaping = NestedBlocks { blocks: content.take_blocks("_"), within: "resource" };
    let body = merge_escape_blocks(diags, sources, rest, escaping);
    for block in &content.blocks {
        reject_unsupported_block(diags, mode, block);
    }

    // Only now, so that one run also reports the errors inside.
    named.ok()?;
    let local_provider = local_provider.ok()?;
    Some(Resource {
        // The address of the provider is known after all `required_providers` were read.
        provider: ProviderAddr::implied_by_name(&local_provider.name),
        name,
        local_provider,
        names_provider,
        repetition: repetition.ok()?,
        depends_on,
        lifecycle,
        provisioners,
        references: Vec::new(),
        within: None,
        body,
        type_span,
        span: block.header,
    })
}

fn check_type_and_name(
    diags: &mut Diagnostics,
    mode: ResourceMode,
    kind: &Ident,
    name: &Ident,
) -> Result<(), Reported> {
    let (what_kind, what_name) = match mode {
        ResourceMode::Managed => ("resource type name", "resource name"),
        ResourceMode::Data => ("data source name", "data resource name"),
        ResourceMode::Ephemeral => ("ephemeral resource type", "ephemeral resource name"),
    };
    let named = check_label_name(diags, what_kind, kind);
    check_label_name(diags, what_name, name).and(named)
}

/// Takes `count` or `for_each`.
pub(super) fn take_repetition(
    diags: &mut Diagnostics,
    content: &mut Content,
) -> Result<Repetition, Reported> {
    match (content.take_attribute("count"), content.take_attribute("for_each")) {
        (None, None) => Ok(Repetition::Single),
        (Some(count), None) => Ok(Repetition::Count(count.expr)),
        (None, Some(for_each)) => Ok(Repetition::ForEach(for_each.expr)),
        (Some(_), Some(for_each)) => Err(diags.error(
            Diagnostic::error(
                messages::COUNT_AND_FOR_EACH,
                "The \"count\" and \"for_each\" meta-arguments are mutually-exclusive, only one should be used to be explicit about the number of resources to be created.",
            )
            .at(for_each.name.span),
        )),
    }
}

/// Reports a block that means nothing yet.
fn reject_unsupported_block(diags: &mut Diagnostics, mode: ResourceMode, block: &Block) {
    let block_type = match mode {
        ResourceMode::Managed => "resource",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    };
    let _ = diags.error(
        Diagnostic::error(
            messages::RESERVED_BLOCK_TYPE_NAME_IN_BLOCK.with(&[&block_type]),
            format!(
                "The block type name {:?} is reserved for use by Terraform in a future version.",
                block.kind.name
            ),
        )
        .at(block.kind.span),
    );
}
