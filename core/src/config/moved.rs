//! `moved` blocks: an object of one address belongs to another from now on. Whether the two can
//! follow each other is seen when the state is known.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::Block;
use formwork_value::{Diagnostic, Diagnostics, Span};

use super::traversal;
use crate::addr::{InstanceKey, Target};
use crate::messages;

pub(super) const CONTENT: BodySchema =
    BodySchema { attributes: &[("from", true), ("to", true)], blocks: &[] };

/// A `moved` block.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The former address of the objects, relative to the module of the block.
    pub from: Target,
    /// The new address: a module if `from` is one, otherwise a resource or an instance.
    pub to: Target,
    /// The block's header.
    pub span: Span,
}

/// Reads a `moved` block; `None` if it is wrong, which was reported.
pub(super) fn read(diags: &mut Diagnostics, block: Block) -> Option<Moved> {
    let mut content = into_content(diags, block.body, &CONTENT);
    let mut end = |name: &str| {
        let attribute = content.take(name)?;
        traversal::target(diags, &attribute.expr).ok()
    };
    let (from, to) = (end("from"), end("to"));
    let (from, to) = (from?, to?);
    if is_module(&from) != is_module(&to) {
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
    let (from, to) = same_kind(from, to);
    Some(Moved { from, to, span: block.header })
}

fn is_module(target: &Target) -> bool {
    matches!(target, Target::Module(_))
}

/// An address without a key names all instances, or the one of something not repeated. It means the
/// latter where the other end has a key.
fn same_kind(from: Target, to: Target) -> (Target, Target) {
    match (from, to) {
        (Target::Resource(from), to @ Target::Instance(_)) => {
            (Target::Instance(from.instance(InstanceKey::None)), to)
        }
        (from @ Target::Instance(_), Target::Resource(to)) => {
            (from, Target::Instance(to.instance(InstanceKey::None)))
        }
        both => both,
    }
}
