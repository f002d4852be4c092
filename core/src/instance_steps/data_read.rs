//! Reads data sources. Each phase decides when to read one.

use std::pin::pin;
use std::sync::Arc;

use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Reported, Value};

use super::{
    InstanceConfig, ResourceClient, object_for_state, object_label, sensitive_paths, unmark_value,
};
use crate::change::Action;
use crate::eval::condition_results::{ConditionListKind, ConditionResult, ConditionSubject};
use crate::event::Event;
use crate::progress::{ProgressSubject, wait_with_progress};
use crate::provider::add_marks;
use crate::state::ObjectState;
use crate::state::checks::{CheckStatus, CheckSubject};

/// The result of the read of a data source.
pub(crate) struct DataReadResult {
    /// The value that the provider returned, with the marks of the configuration, or the requested value
    /// if the provider returned none.
    pub(crate) value: Value,
    /// Whether the read succeeded. For a data source of a `check` block, a failed read is not an error.
    pub(crate) is_answered: bool,
    /// Object for the state.
    pub(crate) object: Arc<ObjectState>,
}

impl InstanceConfig<'_> {
    /// Reads a data source with a known configuration, and reports its progress to the observer.
    ///
    /// # Errors
    /// Returns an error if the read fails, or if the response violates the contract.
    pub(crate) async fn read_data_source(
        self,
        diags: &mut Diagnostics,
        resource_client: ResourceClient<'_>,
        config: &Value,
    ) -> Result<DataReadResult, Reported> {
        let answer = match &self.config.within {
            None => Some(self.read_data_value(diags, resource_client, config).await?),
            Some(check) => {
                let check = CheckSubject::Check(check.clone());
                self.read_data_in_check(diags, resource_client, config, check).await
            }
        };
        let is_answered = answer.is_some();
        let config_value =
            || add_marks(resource_client.ty, unmark_value(config), &sensitive_paths(config));
        let value = answer.unwrap_or_else(config_value);
        let object = Arc::new(object_for_state(diags, resource_client.ty, self.addr, &value)?);
        Ok(DataReadResult { value, is_answered, object })
    }

    async fn read_data_value(
        self,
        diags: &mut Diagnostics,
        resource_client: ResourceClient<'_>,
        config: &Value,
    ) -> Result<Value, Reported> {
        let ResourceClient { client, ty } = resource_client;
        let (session, addr, action) = (self.session, self.addr, Action::Read);
        session.watch.on_event(&Event::ChangeStart { addr, deposed: None, action, label: None });
        let reading = pin!(client.read_data(diags, ty, config, self.call_context()));
        let subject = ProgressSubject { addr, action, label: None };
        let (value, elapsed) = wait_with_progress(session, subject, reading).await;
        // As in Terraform, a failed read has no end event.
        let value = value?;
        let value = add_marks(ty, value, &sensitive_paths(config));
        let label = object_label(&value);
        session.watch.on_event(&Event::ChangeDone { addr, deposed: None, action, label, elapsed });
        Ok(value)
    }

    /// Reads a data source of a `check` block, and records whether the read succeeded. A failed read is
    /// not an error but a failed check, and its reasons are warnings.
    async fn read_data_in_check(
        self,
        diags: &mut Diagnostics,
        resource_client: ResourceClient<'_>,
        config: &Value,
        check: CheckSubject,
    ) -> Option<Value> {
        let mut read_diags = Diagnostics::new();
        let value = self.read_data_value(&mut read_diags, resource_client, config).await.ok();
        let errors: Vec<String> = read_diags
            .iter()
            .filter(|problem| problem.is_error())
            .map(|problem| format!("{}: {}", problem.summary, problem.detail))
            .collect();
        let verdict = match value {
            Some(_) => ConditionResult { status: CheckStatus::Pass, message: None },
            None => ConditionResult { status: CheckStatus::Fail, message: Some(errors.join("\n")) },
        };
        let object = ConditionSubject::of_single_object(&self.addr.module, check);
        // Terraform stores the outcome of the read as one more rule of the check
        // (CheckDataResource).
        self.session.results.verdicts.set_result(&object, ConditionListKind::Data, 0, verdict);
        for mut problem in read_diags {
            problem.severity = Severity::Warning;
            diags.warn(problem.of_check_block().with_failed_condition_of(&object));
        }
        value
    }
}
