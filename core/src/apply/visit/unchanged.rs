//! Looks at the conditions of an instance that stays as it is, where that had to wait for others.

use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Reported};

use super::{ApplyContext, instance};
use crate::apply::vertex::UnchangedVertex;
use crate::instance_steps::InstanceConfig;

/// Visits an instance that stays as it is.
///
/// # Errors
/// When a condition does not hold: then nothing that depends on the instance is done.
pub(super) async fn visit_unchanged(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &UnchangedVertex<'_>,
) -> Result<(), Reported> {
    let UnchangedVertex { change, config } = *vertex;
    let scope = instance::instance_scope(view, diags, &change.addr)?;
    let (session, addr, failure) = (view.session, &change.addr, Severity::Error);
    let written = InstanceConfig { session, config, addr, failure };
    written.check_preconditions(diags, &scope).await?;
    written.check_postconditions(diags, scope, &change.after).await
}
