//! The functions of the provider: one that answers, and one that refuses.

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::function::{CallRequest, FunctionError};
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::{Type, Value};

use super::{FakeCloud, decode, encode, string_value};

/// `shout` makes a string louder, `refuse` has no result, `waver` has another one each time. They
/// take strings.
pub(super) fn function_signatures() -> Vec<(String, FunctionSignature)> {
    let parameter = FunctionParameter::new("text", Type::String);
    let signature = FunctionSignature::new(vec![parameter], Type::String);
    ["shout", "refuse", "waver"].map(|name| (name.to_owned(), signature.clone())).into()
}

/// Calls a function.
pub(super) fn call_function(
    cloud: &FakeCloud,
    request: &CallRequest,
) -> Result<Payload, FunctionError> {
    let argument = string_value(&decode(&request.arguments[0], &Type::String));
    cloud.record_call(format!("{} {argument}", request.name));
    match request.name.as_str() {
        "shout" => Ok(encode(Value::string(format!("{argument}!")), &Type::String)),
        "waver" => {
            let n_calls = cloud.lock_contents().calls.len();
            Ok(encode(Value::string(format!("{argument} {n_calls}")), &Type::String))
        }
        _ => Err(FunctionError { text: format!("not {argument}."), argument: Some(0) }),
    }
}
