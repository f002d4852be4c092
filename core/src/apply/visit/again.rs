//! Finds out what a call did that brought no answer one can use: the provider, started again if it
//! died, is asked what there is. Where it cannot tell, the call stays open in the journal.

use std::rc::Rc;

use formwork_plugin_protocol::contract::conform::assert_object_compatible;
use formwork_value::{Diagnostic, Diagnostics, Plain, Value};

use super::View;
use crate::addr::{InstanceAddr, ProviderConfigAddr};
use crate::apply::salvage::{Asked, Salvaged, Seen};
use crate::provider::{About, Current, Handle, ResourceType, clue};
use crate::state::Object;

/// Whom to ask, and about what.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) addr: &'a InstanceAddr,
    pub(super) provider: &'a ProviderConfigAddr,
    pub(super) handle: &'a Rc<Handle>,
    pub(super) ty: &'a ResourceType,
    /// The object before the call, if there was one.
    pub(super) object: Option<&'a Object>,
    /// What the object is like that the new one takes the place of, and that is still there; null if
    /// there is none.
    pub(super) predecessor: &'a Value,
}

/// Makes the most of a call of which nobody knows what it did.
pub(super) async fn resolve(
    view: View<'_>,
    diags: &mut Diagnostics,
    question: Question<'_>,
    asked: Asked<'_>,
    salvaged: Salvaged,
) -> Salvaged {
    if !salvaged.in_doubt {
        return salvaged;
    }
    // That an answer fails to come a second time is nothing new.
    let mut said = Diagnostics::new();
    let Some(seen) = look(view, &mut said, question, asked).await else { return salvaged };
    let found = salvaged.found(asked.prior, seen);
    let what = match (asked.prior.value().is_null(), found.value.value().is_null()) {
        (true, _) => "the object is there, as it was to be",
        (false, true) => "the object is not there any more",
        (false, false) if found.untouched => "the object is as it was before",
        (false, false) => "the object was changed, and the state has it as it is now",
    };
    let detail = format!(
        "The provider gave no usable answer about {}, and was asked for the object once more: {what}.",
        question.addr
    );
    let summary = "An interrupted operation was resolved";
    diags.warn(Diagnostic::warning(summary, detail).about(question.addr.to_string()));
    found
}

async fn look(
    view: View<'_>,
    diags: &mut Diagnostics,
    question: Question<'_>,
    asked: Asked<'_>,
) -> Option<Seen> {
    let Question { addr, provider, handle, ty, object, predecessor } = question;
    let about = About { addr, block: None };
    let by = match object {
        Some(_) => None,
        // Before the provider is troubled: most objects cannot be found by what was planned.
        None => {
            let by = clue(ty, asked.planned.value())?;
            // What finds the old object as well says nothing about the new one.
            Some(by).filter(|by| clue(ty, predecessor).as_ref() != Some(by))
        }
    };
    let handle = view.session.pool.revived(diags, provider, handle).await.ok()?;
    let read = match (object, by) {
        (Some(object), _) => {
            let current = Current {
                value: asked.prior.value(),
                private: &object.private,
                identity: ty.identity_of(object),
            };
            handle.read(diags, ty, current, about).await.ok()?
        }
        (None, Some(clue)) => {
            let imported = handle.import(diags, ty, &clue, about).await.ok()?;
            let identity = imported.identity.as_ref();
            let identity = identity.and_then(|identity| ty.identity_payload(identity));
            let current =
                Current { value: imported.value.value(), private: &imported.private, identity };
            let read = handle.read(diags, ty, current, about).await.ok()?;
            // An object that is not as it was to be may be somebody else's.
            Some(read).filter(|read| is_what_was_asked(ty, asked.planned, &read.value))?
        }
        (None, None) => return None,
    };
    Some(Seen { value: read.value, private: read.private, identity: read.identity })
}

fn is_what_was_asked(ty: &ResourceType, planned: &Plain, found: &Plain) -> bool {
    !found.value().is_null() && assert_object_compatible(ty.block(), planned, found).is_empty()
}
