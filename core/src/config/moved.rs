//! `moved` blocks: an object of one address belongs to another from now on. Whether the two can
//! follow each other is seen when the state is known.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::Block;
use formwork_value::{Diagnostic, Diagnostics, Span};

use super::traversal;
use crate::addr::{InstanceKey, Target};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema =
    BodySchema { attributes: &[("from", true), ("to", true)], blocks: &[] };

/// A `moved` block.
#[derive(Clone, Debug)]
pub struct MovedBlock {
    /// The former address of the objects, relative to the module of the block.
    pub from: Target,
    /// The new address: a module if `from` is one, otherwise a resource or an instance.
    pub to: Target,
    /// The block's header.
    pub span: Span,
}

/// Reads a `moved` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_moved_block(diags: &mut Diagnostics, block: Block) -> Option<MovedBlock> {
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let mut end = |name: &str| {
        let attribute = content.take_attribute(name)?;
        traversal::parse_target_expr(diags, &attribute.expr).ok()
    };
    let (from, to) = (end("from"), end("to"));
    let (from, to) = (from?, to?);
    if is_module_target(&from) != is_module_target(&to) {
        let _ = diags.error(
            Diagnostic::error(
                messages::INVALID_MOVED_ADDRESSES,
                format!(
                    "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules. `{from}` and `{to}` are of different kinds."
                ),
            )
            .at(block.header),
        );
        return None;
    }
    let (from, to) = unify_target_kinds(from, to);
    Some(MovedBlock { from, to, span: block.header })
}

fn is_module_target(target: &Target) -> bool {
    matches!(target, Target::Module(_))
}

/// An address without a key names all instances, or the single instance of an object that is not repeated.
/// It names the single instance if the other end has a key.
fn unify_target_kinds(from: Target, to: Target) -> (Target, Target) {
    match (from, to) {
        (Target::Resource(from), to @ Target::Instance(_)) => {
            (Target::Instance(from.instance_addr(InstanceKey::None)), to)
        }
        (from @ Target::Instance(_), Target::Resource(to)) => {
            (from, Target::Instance(to.instance_addr(InstanceKey::None)))
        }
        both => both,
    }
}
