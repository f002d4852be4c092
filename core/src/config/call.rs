//! `module` blocks: which module is called, how often, with what.

use formwork_lang::syntax::{Attribute, Block};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::arguments::check_name;
use super::folders::CallSite;
use super::{constant, settings};
use crate::version::Constraints;

/// Reads which module a block calls; `None` if that cannot be said, which was reported.
pub(super) fn read_site(diags: &mut Diagnostics, block: &Block) -> Option<CallSite> {
    let name = block.labels.first()?;
    let named = check_name(diags, "module instance name", name);
    let of = |wanted: &str| block.body.attributes.iter().find(|one| one.name.name == wanted);
    let version = of("version").map(|attribute| version(diags, attribute)).transpose();
    let Some(attribute) = of("source") else {
        let detail = "The argument \"source\" is required, but no definition was found.";
        let missing = Diagnostic::error("Missing required argument", detail);
        let _ = diags.error(missing.at(block.body.missing));
        return None;
    };
    let source = constant::string(diags, &attribute.expr);
    named.ok()?;
    Some(CallSite {
        name: name.name.clone(),
        source: source.ok()?,
        source_span: attribute.expr.span,
        version: version.ok()?,
        span: block.header,
    })
}

fn version(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<(Constraints, Span), Reported> {
    let text = constant::string(diags, &attribute.expr)?;
    let span = attribute.expr.span;
    Ok((settings::constraint(diags, &text, span)?, span))
}
