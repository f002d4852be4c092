//! Reads `removed` blocks: objects that are no longer in the configuration are destroyed, or only
//! forgotten.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::refs::{self, TraversalStep};
use formwork_lang::syntax::{Block, Expr};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::arguments::NestedBlocks;
use super::{Config, ModuleNode, Provisioner, ProvisionerTiming, constant, provisioner, traversal};
use crate::addr::reference::step_span;
use crate::addr::{
    ConfigResourceAddr, InstanceKey, ModulePath, ResourceMode, ResourceName, Target,
};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[("from", true)],
    blocks: &[("lifecycle", &[]), ("provisioner", &["type"]), ("connection", &[])],
};

pub(super) const LIFECYCLE_SCHEMA: BodySchema =
    BodySchema { attributes: &[("destroy", false)], blocks: &[] };

/// A `removed` block.
#[derive(Clone, Debug)]
pub struct RemovedBlock {
    /// The module, or the module of the resource, relative to the module of the block.
    pub module: ModulePath,
    /// The resource; `None` for the module with everything in it.
    pub resource: Option<ResourceName>,
    /// Whether the objects are destroyed; otherwise they are only taken out of the state.
    pub destroy: bool,
    /// Provisioners that run before an object is destroyed.
    pub provisioners: Vec<Provisioner>,
    /// The block's header.
    pub span: Span,
}

impl Config {
    /// The `removed` block of a resource, and the module that contains it.
    #[must_use]
    pub fn removed_block_of(
        &self,
        addr: &ConfigResourceAddr,
    ) -> Option<(&ModuleNode, &RemovedBlock)> {
        let steps = &addr.module.0;
        // The block may be in any ancestor module of the resource.
        let enclosing_nodes = self.nodes.iter().filter(|node| steps.starts_with(&node.path.0));
        let mut blocks = enclosing_nodes
            .flat_map(|node| node.module.removed.iter().map(move |block| (node, block)));
        blocks.find(|(node, block)| {
            block.resource.as_ref() == Some(&addr.resource)
                && steps[node.path.0.len()..] == **block.module.0
        })
    }
}

/// Reads a `removed` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_removed_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<RemovedBlock> {
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let from =
        content.take_attribute("from").map(|attribute| parse_from_address(diags, &attribute.expr));
    let mut destroy = true;
    // Of several blocks the last one is used, as in Terraform.
    for lifecycle in content.take_blocks("lifecycle") {
        let mut content = into_content(diags, lifecycle.body, &LIFECYCLE_SCHEMA);
        if let Some(attribute) = content.take_attribute("destroy") {
            destroy = constant::constant_bool(diags, &attribute.expr).ok()?;
        }
    }
    let blocks = content.take_blocks("provisioner");
    let connections =
        NestedBlocks { blocks: content.take_blocks("connection"), within: "removed block" };
    let provisioners = provisioner::read_provisioners(diags, sources, blocks, connections);
    let (module, resource) = from?.ok()?;
    for provisioner in &provisioners {
        check_provisioner_of_removed(diags, provisioner, resource.is_some());
    }
    Some(RemovedBlock { module, resource, destroy, provisioners, span: block.header })
}

fn check_provisioner_of_removed(
    diags: &mut Diagnostics,
    provisioner: &Provisioner,
    of_resource: bool,
) {
    let detail = if !of_resource {
        "Provisioners are valid only when a removed block targets a managed resource."
    } else if provisioner.when == ProvisionerTiming::Create {
        "Only destroy-time provisioners are valid in \"removed\" blocks. To declare a destroy-time provisioner, use:\n    when = destroy"
    } else {
        return;
    };
    let _ = diags
        .error(Diagnostic::error(messages::INVALID_PROVISIONER_BLOCK, detail).at(provisioner.span));
}

fn parse_from_address(
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<(ModulePath, Option<ResourceName>), Reported> {
    let (module, resource) = match traversal::parse_target_expr(diags, expr)? {
        Target::Module(module) => (module, None),
        Target::Resource(addr) => (addr.module, Some(addr.resource)),
        Target::Instance(addr) => {
            let detail = format!(
                "Resource address must be a resource (e.g. \"test_instance.foo\"), not a resource instance (e.g. \"test_instance.foo[1]\"). Use `{}`.",
                addr.resource_addr()
            );
            let summary = messages::RESOURCE_INSTANCE_KEYS_NOT_ALLOWED;
            let span = instance_key_spans(expr).pop().unwrap_or(expr.span);
            return Err(diags.error(Diagnostic::error(summary, detail).at(span)));
        }
    };
    if module.0.iter().any(|step| step.key != InstanceKey::None) {
        let detail = format!(
            "Module address must be a module (e.g. \"module.foo\"), not a module instance (e.g. \"module.foo[1]\"). Use `{}`.",
            module.path()
        );
        let summary = messages::MODULE_INSTANCE_KEYS_NOT_ALLOWED;
        let span = instance_key_spans(expr).first().copied().unwrap_or(expr.span);
        return Err(diags.error(Diagnostic::error(summary, detail).at(span)));
    }
    if let Some(name) = resource.as_ref().filter(|name| name.mode() != ResourceMode::Managed) {
        let (kinds, kind) = match name.mode() {
            ResourceMode::Ephemeral => ("Ephemeral resources", "ephemeral resource"),
            ResourceMode::Data | ResourceMode::Managed => ("Data sources", "data source"),
        };
        let detail = format!(
            "{kinds} are never destroyed, so they are not valid targets of removed blocks. To remove the {kind} from state, remove the {kind} block from configuration."
        );
        let summary = match name.mode() {
            ResourceMode::Ephemeral => messages::EPHEMERAL_RESOURCE_ADDRESS_NOT_ALLOWED,
            ResourceMode::Data | ResourceMode::Managed => messages::DATA_SOURCE_ADDRESS_NOT_ALLOWED,
        };
        return Err(diags.error(Diagnostic::error(summary, detail).at(expr.span)));
    }
    Ok((module.path(), resource))
}

/// Places of the keys of an address.
fn instance_key_spans(expr: &Expr) -> Vec<Span> {
    let steps = refs::as_traversal(expr).map(|traversal| traversal.steps).unwrap_or_default();
    let keys = steps.iter().filter(|step| !matches!(step, TraversalStep::Attribute(_)));
    keys.map(step_span).collect()
}
