//! `removed` blocks: what is no longer written here is destroyed, or only forgotten.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::{Block, Expr};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::arguments::not_supported;
use super::{constant, traversal};
use crate::addr::{InstanceKey, Mode, ModulePath, ResourceName, Target};

pub(super) const CONTENT: BodySchema = BodySchema {
    attributes: &[("from", true)],
    blocks: &[("lifecycle", &[]), ("provisioner", &["type"]), ("connection", &[])],
};

pub(super) const LIFECYCLE: BodySchema =
    BodySchema { attributes: &[("destroy", false)], blocks: &[] };

/// A `removed` block.
#[derive(Clone, Debug)]
pub struct Removed {
    /// The module, or the module of the resource, relative to the module of the block.
    pub module: ModulePath,
    /// The resource; `None` for the module with everything in it.
    pub resource: Option<ResourceName>,
    /// Whether the objects are destroyed; otherwise they are only taken out of the state.
    pub destroy: bool,
    /// The block's header.
    pub span: Span,
}

/// Reads a `removed` block; `None` if it is wrong, which was reported.
pub(super) fn read(diags: &mut Diagnostics, block: Block) -> Option<Removed> {
    let mut content = into_content(diags, block.body, &CONTENT);
    let from = content.take("from").map(|attribute| from(diags, &attribute.expr));
    let mut destroy = true;
    // Of several the last one counts, as in the reference.
    for lifecycle in content.take_blocks("lifecycle") {
        let mut content = into_content(diags, lifecycle.body, &LIFECYCLE);
        if let Some(attribute) = content.take("destroy") {
            destroy = constant::bool(diags, &attribute.expr).ok()?;
        }
    }
    for nested in &content.blocks {
        let _ =
            diags.error(not_supported(&format!("A `{}` block", nested.kind.name), nested.header));
    }
    let (module, resource) = from?.ok()?;
    Some(Removed { module, resource, destroy, span: block.header })
}

fn from(
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<(ModulePath, Option<ResourceName>), Reported> {
    let (module, resource) = match traversal::target(diags, expr)? {
        Target::Module(module) => (module, None),
        Target::Resource(addr) => (addr.module, Some(addr.resource)),
        Target::Instance(addr) => {
            let detail = format!(
                "`{addr}` is one instance, but what is no longer written is a resource as a whole: \
                 `{}`.",
                addr.of()
            );
            let summary = "Resource instance keys not allowed";
            return Err(diags.error(Diagnostic::error(summary, detail).at(expr.span)));
        }
    };
    if module.0.iter().any(|step| step.key != InstanceKey::None) {
        let detail = format!(
            "`{module}` names instances of a module, but what is no longer written is a module as a \
             whole: `{}`.",
            module.path()
        );
        let summary = "Module instance keys not allowed";
        return Err(diags.error(Diagnostic::error(summary, detail).at(expr.span)));
    }
    if let Some(name) = resource.as_ref().filter(|name| name.mode() != Mode::Managed) {
        let detail = format!(
            "Nothing is destroyed where `{name}` is no longer written: taking its block out is \
             enough."
        );
        let summary = match name.mode() {
            Mode::Ephemeral => "Ephemeral resource address not allowed",
            Mode::Data | Mode::Managed => "Data source address not allowed",
        };
        return Err(diags.error(Diagnostic::error(summary, detail).at(expr.span)));
    }
    Ok((module.path(), resource))
}
