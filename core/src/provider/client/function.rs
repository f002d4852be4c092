//! Calls of provider functions. The result is a value or a reason, so nothing is reported here.

use formwork_plugin_protocol::contract::check_function_result;
use formwork_plugin_protocol::message::function::{CallRequest, FunctionError};
use formwork_plugin_protocol::{Payload, Request};
use formwork_value::{Plain, Type, Value};

use super::ProviderClient;
use crate::provider::provider_diagnostics::call_failure_diagnostic;

impl ProviderClient {
    /// Calls a function with arguments that have the types of its parameters.
    ///
    /// # Errors
    /// Returns an error if the function has no result for the arguments, or if the provider violates the
    /// contract.
    pub async fn call_function(
        &self,
        name: &str,
        arguments: Vec<(Plain, Type)>,
        returns: &Type,
    ) -> Result<Value, FunctionError> {
        let known = arguments.iter().all(|(argument, _)| argument.value().is_wholly_known());
        let arguments = arguments.into_iter().map(|(value, ty)| Payload::Value(value, ty));
        let request = Request::call_function(CallRequest {
            name: name.to_owned(),
            arguments: arguments.collect(),
        });
        let call = request.method().name();
        let about = format!("its function {name}");
        let answer = self.call(request, &about).await.map_err(|failure| FunctionError {
            text: call_failure_diagnostic(self.addr(), call, Some(&about), &failure).detail,
            argument: None,
        })?;
        let value = check_function_result(&answer.result?, returns, known);
        value.map(Plain::into_value).map_err(|broken| FunctionError {
            text: format!(
                "{broken} (rule {}); this is a bug in provider {}",
                broken.rule,
                self.addr()
            ),
            argument: None,
        })
    }
}
