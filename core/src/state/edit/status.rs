//! Saying of an instance that it may not be used, or that it may after all.

use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::addr::InstanceAddr;
use crate::messages;
use crate::state::{ObjectStatus, State};

/// Marks the current object of an instance as tainted or ready.
///
/// # Errors
/// When the instance has no current object, or is to become ready although it is not tainted.
pub fn set_object_status(
    diags: &mut Diagnostics,
    state: &mut State,
    addr: &InstanceAddr,
    status: ObjectStatus,
) -> Result<(), Reported> {
    let doing = match status {
        ObjectStatus::Tainted => "tainting",
        ObjectStatus::Ready => "untainting",
    };
    let missing = |detail: String| Diagnostic::error(messages::NO_SUCH_RESOURCE_INSTANCE, detail);
    if state.resources.is_empty() {
        return Err(diags.error(missing(
            "The state currently contains no resource instances whatsoever. This may occur if the \
             configuration has never been applied or if it has recently been destroyed."
                .to_owned(),
        )));
    }
    let Some(instance) = state.instance_mut(addr) else {
        return Err(diags.error(missing(format!(
            "There is no resource instance in the state with the address {addr}. If the resource \
             configuration has just been added, you must run \"formwork apply\" once to create the \
             corresponding instance(s) before they can be tainted."
        ))));
    };
    let Some(object) = &mut instance.current else {
        return Err(diags.error(missing(format!(
            "Resource instance {addr} is currently part-way through a create_before_destroy \
             replacement action. Run \"formwork apply\" to complete its replacement before {doing} it."
        ))));
    };
    // As in Terraform, tainting a tainted object is not an error.
    if status == ObjectStatus::Ready && object.status == ObjectStatus::Ready {
        let detail = format!(
            "Resource instance {addr} is not currently tainted, and so it cannot be untainted."
        );
        return Err(
            diags.error(Diagnostic::error(messages::RESOURCE_INSTANCE_IS_NOT_TAINTED, detail))
        );
    }
    Arc::make_mut(object).status = status;
    Ok(())
}
