//! `resource` and `data` blocks.

use formwork_lang::content::{BodySchema, Content, split_content};
use formwork_lang::syntax::{Block, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::arguments::{NestedBlocks, check_name, unescape};
use super::{
    LocalProvider, ProviderAddr, Repetition, Resource, lifecycle, provisioner, traversal, validate,
};
use crate::addr::{Mode, ResourceName};
use crate::messages;

/// Members of a block that the language itself defines; the rest is for the provider's schema.
pub(super) const CONTENT: BodySchema = BodySchema {
    attributes: &[
        ("count", false),
        ("for_each", false),
        ("depends_on", false),
        ("provider", false),
    ],
    blocks: &[("lifecycle", &[]), ("locals", &[]), ("_", &[])],
};

/// Members that the language defines in the block of a managed resource.
const MANAGED: BodySchema = BodySchema {
    blocks: &[
        ("lifecycle", &[]),
        ("provisioner", &["type"]),
        ("connection", &[]),
        ("locals", &[]),
        ("_", &[]),
    ],
    ..CONTENT
};

/// Reads a `resource` or `data` block; `None` if it is wrong, which was reported.
pub(super) fn read(
    diags: &mut Diagnostics,
    sources: &Sources,
    mode: Mode,
    block: Block,
) -> Option<Resource> {
    let [kind, name] = <[Ident; 2]>::try_from(block.labels).ok()?;
    let named = check_names(diags, mode, &kind, &name);
    let type_span = kind.span;
    let name = ResourceName::new(mode, &kind.name, &name.name);

    let known = if mode == Mode::Managed { &MANAGED } else { &CONTENT };
    let (mut content, rest) = split_content(diags, block.body, known);
    let repetition = repetition(diags, &mut content);
    let depends_on = traversal::depends_on(diags, content.take("depends_on"));
    let provider = content.take("provider");
    let names_provider = provider.is_some();
    let local_provider = match provider {
        Some(attribute) => traversal::provider(diags, "provider", &attribute.expr),
        None => Ok(LocalProvider::implied_by(&name)),
    };
    let lifecycle = lifecycle::read(diags, sources, mode, content.take_blocks("lifecycle"));
    validate::own_conditions(diags, &name, &lifecycle);
    let connections =
        NestedBlocks { blocks: content.take_blocks("connection"), within: "resource" };
    let provisioners = content.take_blocks("provisioner");
    let provisioners = provisioner::read_all(diags, sources, provisioners, connections);
    let escaping = NestedBlocks { blocks: content.take_blocks("_"), within: "resource" };
    let body = unescape(diags, sources, rest, escaping);
    for block in &content.blocks {
        reject(diags, mode, block);
    }

    // Only now, so that one run also reports what is wrong inside.
    named.ok()?;
    let local_provider = local_provider.ok()?;
    Some(Resource {
        // The address of the provider is known after all `required_providers` were read.
        provider: ProviderAddr::implied(&local_provider.name),
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

fn check_names(
    diags: &mut Diagnostics,
    mode: Mode,
    kind: &Ident,
    name: &Ident,
) -> Result<(), Reported> {
    let (what_kind, what_name) = match mode {
        Mode::Managed => ("resource type name", "resource name"),
        Mode::Data => ("data source name", "data resource name"),
        Mode::Ephemeral => ("ephemeral resource type", "ephemeral resource name"),
    };
    let named = check_name(diags, what_kind, kind);
    check_name(diags, what_name, name).and(named)
}

/// Takes `count` or `for_each`.
pub(super) fn repetition(
    diags: &mut Diagnostics,
    content: &mut Content,
) -> Result<Repetition, Reported> {
    match (content.take("count"), content.take("for_each")) {
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
fn reject(diags: &mut Diagnostics, mode: Mode, block: &Block) {
    let what = match mode {
        Mode::Managed => "resource",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    };
    let _ = diags.error(
        Diagnostic::error(
            messages::RESERVED_BLOCK_TYPE_NAME_IN_BLOCK.with(&[&what]),
            format!(
                "The block type name {:?} is reserved for use by Terraform in a future version.",
                block.kind.name
            ),
        )
        .at(block.kind.span),
    );
}
