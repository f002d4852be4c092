//! Data sources that belong to a `check` block: that one cannot be read is no error, but a check that
//! does not hold.

use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Span, Str, Value};

use super::read_data;
use crate::addr::InstanceAddr;
use crate::eval::verdicts::{Judged, Rule, Verdict};
use crate::provider::{Handle, ResourceType};
use crate::session::Session;
use crate::state::checks::{CheckStatus, CheckSubject};

/// Reads a data source of a `check` block, and takes down whether that went well. `None` if not; then
/// the reasons are warnings.
pub(crate) async fn read_nested(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    with: (&Handle, &ResourceType),
    config: &Value,
    (addr, block, check): (&InstanceAddr, Span, &Str),
) -> Option<Value> {
    let mut said = Diagnostics::new();
    let value = read_data(session, &mut said, with, config, (addr, block)).await.ok();
    let errors: Vec<String> = said
        .iter()
        .filter(|one| one.is_error())
        .map(|one| format!("{}: {}", one.summary, one.detail))
        .collect();
    let verdict = match value {
        Some(_) => Verdict { status: CheckStatus::Pass, message: None },
        None => Verdict { status: CheckStatus::Fail, message: Some(errors.join("\n")) },
    };
    let object = Judged::single(&addr.module, CheckSubject::Check(check.clone()));
    session.results.verdicts.set(&object, (Rule::Data, 0), verdict);
    for mut one in said {
        one.severity = Severity::Warning;
        diags.warn(one.of_check());
    }
    value
}
