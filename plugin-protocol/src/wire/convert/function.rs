//! Calling a function. Signatures are in `provider_schema`.

use super::UnencodableMessage;
use super::payload::{encode_absent_as_null, payload_from_wire};
use crate::message::function::{CallRequest, CallResponse, FunctionError};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<CallRequest> for v6::call_function::Request {
    type Error = UnencodableMessage;

    fn try_from(request: CallRequest) -> Result<Self, UnencodableMessage> {
        let arguments = request.arguments.iter().enumerate().filter_map(|(index, argument)| {
            encode_absent_as_null(argument, &format!("argument {index}")).transpose()
        });
        Ok(Self { arguments: arguments.collect::<Result<_, _>>()?, name: request.name })
    }
}

impl From<v6::call_function::Request> for CallRequest {
    fn from(wire: v6::call_function::Request) -> Self {
        let arguments =
            wire.arguments.into_iter().map(|argument| payload_from_wire(Some(argument)));
        Self { name: wire.name, arguments: arguments.collect() }
    }
}

impl TryFrom<CallResponse> for v6::call_function::Response {
    type Error = UnencodableMessage;

    fn try_from(response: CallResponse) -> Result<Self, UnencodableMessage> {
        Ok(match response.result {
            Ok(result) => Self { result: encode_absent_as_null(&result, "result")?, error: None },
            Err(error) => Self { result: None, error: Some(error.into()) },
        })
    }
}

impl From<v6::call_function::Response> for CallResponse {
    fn from(wire: v6::call_function::Response) -> Self {
        // As in Terraform, an error wins over a result.
        let result = match wire.error {
            Some(error) => Err(error.into()),
            None => Ok(payload_from_wire(wire.result)),
        };
        Self { result }
    }
}

impl From<FunctionError> for v6::FunctionError {
    fn from(error: FunctionError) -> Self {
        let function_argument = error.argument.and_then(|index| i64::try_from(index).ok());
        Self { text: error.text, function_argument }
    }
}

impl From<v6::FunctionError> for FunctionError {
    fn from(wire: v6::FunctionError) -> Self {
        // An argument before the first blames the call as a whole.
        let argument = wire.function_argument.and_then(|index| u64::try_from(index).ok());
        Self { text: wire.text, argument }
    }
}
