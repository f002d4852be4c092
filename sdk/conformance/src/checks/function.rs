//! Checks of functions (F): generated arguments in processes with different environment.

use std::time::Duration;

use formwork_value::{Type, Value};

use super::display_value;
use crate::finding::Finding;
use crate::generate::{self, ConfigExtent};
use crate::message::Msg;
use crate::offer::{Function, Parameter};
use crate::plugin::{Call, Plugin};
use crate::request::{self, decode_dynamic, encode_dynamic};
use crate::rpc::Rpc;
use crate::suite::Suite;

/// The number of argument lists for each function.
const N_ARGUMENT_LISTS: u64 = 30;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.wants_any(&["F-01", "F-02", "F-03", "F-04", "F-05"]) {
        return;
    }
    let functions = suite.offer.functions.clone();
    // In another process, to see state that is kept between calls. Its time zone is 14 hours ahead
    // of UTC, and in Turkish `i` has another capital letter.
    let elsewhere = match suite.program_path() {
        Some(program) if suite.is_rule_wanted("F-01") => {
            let mut launch = suite.launch_options();
            for (name, value) in
                [("TZ", "Pacific/Kiritimati"), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "C")]
            {
                launch.env.push((name.into(), value.into()));
            }
            Plugin::launch(&program, &launch).await.ok()
        }
        _ => None,
    };
    for function in &functions {
        for number in 0..N_ARGUMENT_LISTS {
            if suite.is_run_over() {
                return;
            }
            check_function_call(suite, function, number, elsewhere.as_ref()).await;
        }
    }
}

fn generate_argument(parameter: &Parameter, number: u64, suite: &Suite) -> Value {
    let mut dice = suite.seeded_dice(&format!("{}/{number}", parameter.name));
    // By number and not by dice, so that each parameter meets null and unknown.
    if number % 7 == 3 && parameter.null {
        return Value::null(parameter.ty.clone());
    }
    if number % 7 == 5 && parameter.unknown {
        return Value::unknown(parameter.ty.clone());
    }
    // First with simple values, which most functions accept.
    let extent = if number < 2 { ConfigExtent::Required } else { ConfigExtent::Random };
    generate::generate_value(&parameter.name, &parameter.ty, extent, &mut dice)
}

/// A call of a function.
struct FunctionCall<'a> {
    subject: &'a str,
    /// The arguments, as findings show them.
    input: &'a str,
    request: &'a Msg,
    call: &'a Call,
}

async fn check_function_call(
    suite: &mut Suite,
    function: &Function,
    number: u64,
    elsewhere: Option<&Plugin>,
) {
    let variadic = function.variadic.iter().cycle();
    let more = usize::try_from(number % 3).unwrap_or(0);
    let parameters: Vec<&Parameter> = function
        .parameters
        .iter()
        .chain(variadic.take(if function.variadic.is_some() { more } else { 0 }))
        .collect();
    let values: Vec<Value> =
        parameters.iter().map(|it| generate_argument(it, number, suite)).collect();
    let arguments: Vec<Msg> =
        parameters.iter().zip(&values).map(|(it, value)| encode_dynamic(value, &it.ty)).collect();
    let request = request::call_function_request(&function.name, &arguments);
    let call = suite.call(Rpc::CallFunction, &request).await;
    let subject = format!("function {}", function.name);
    let input = values.iter().map(display_value).collect::<Vec<_>>().join(", ");
    suite.record_case("F-05", call.has_reply(), || {
        Finding::new("F-05", &subject, "arguments crash the function")
            .with_call(&call)
            .with_input(input.clone())
    });
    let Some(answer) = call.first_message() else { return };
    let function_call =
        FunctionCall { subject: &subject, input: &input, request: &request, call: &call };
    match answer.get_msg(2) {
        Some(error) => {
            // The field is `optional`: zero is the first argument, and absent none.
            let index = error.has_field(2).then(|| error.get_int(2));
            let held = index.is_none_or(|index| index < values.len() as u64);
            suite.record_case("F-03", held, || {
                Finding::new("F-03", &subject, "the error names an argument that does not exist")
                    .with_call(&call)
                    .with_expected_and_found(
                        format!("below {}", values.len()),
                        format!("{index:?}"),
                    )
                    .with_input(input.clone())
            });
        }
        None => check_function_result(suite, function, &values, &function_call),
    }
    check_latency(suite, &function_call).await;
    check_purity(suite, &function_call, elsewhere).await;
}

fn check_function_result(
    suite: &mut Suite,
    function: &Function,
    values: &[Value],
    function_call: &FunctionCall<'_>,
) {
    let FunctionCall { subject, input, call, .. } = *function_call;
    let answer = call.first_message().and_then(|it| it.get_msg(1));
    let decoded = decode_dynamic(answer, &function.returns);
    let are_known = values.iter().all(Value::is_wholly_known);
    let problem = match &decoded {
        Err(reason) => Some(format!("the result is not a value of the return type: {reason}")),
        Ok(None) => Some("the answer has no result".to_owned()),
        // A function result cannot become known later.
        Ok(Some(value)) if are_known && !value.value().is_wholly_known() => {
            Some("the result is unknown for known arguments".to_owned())
        }
        Ok(Some(value)) => {
            let conforms =
                function.returns == Type::Dynamic || value.value().has_type(&function.returns);
            (!conforms).then(|| "the result has another type".to_owned())
        }
    };
    suite.record_case("F-02", problem.is_none(), || {
        Finding::new("F-02", subject, problem.unwrap_or_default()).with_call(call).with_input(input)
    });
}

async fn check_latency(suite: &mut Suite, function_call: &FunctionCall<'_>) {
    let FunctionCall { subject, request, call, .. } = *function_call;
    if !suite.is_rule_wanted("F-04") {
        return;
    }
    // The best of a few, so that a busy machine is not blamed on the provider.
    let mut best = call.recorded.duration;
    for _ in 0..3 {
        if best < Duration::from_millis(100) {
            break;
        }
        best = best.min(suite.call(Rpc::CallFunction, request).await.recorded.duration);
    }
    suite.record_case("F-04", best < Duration::from_millis(100), || {
        Finding::new("F-04", subject, "the function is slow")
            .with_call(call)
            .with_expected_and_found("less than 100 ms", format!("{} ms", best.as_millis()))
    });
}

async fn check_purity(
    suite: &mut Suite,
    function_call: &FunctionCall<'_>,
    elsewhere: Option<&Plugin>,
) {
    let FunctionCall { subject, input, request, call } = *function_call;
    if !suite.is_rule_wanted("F-01") {
        return;
    }
    let mut other_calls = vec![suite.call(Rpc::CallFunction, request).await];
    if let Some(plugin) = elsewhere {
        other_calls.push(
            plugin.call(Rpc::CallFunction, request, crate::suite::READ_ONLY_CALL_TIMEOUT).await,
        );
    }
    for other_call in other_calls {
        suite.record_case("F-01", other_call.reply == call.reply, || {
            Finding::new("F-01", subject, "the same arguments give two results")
                .with_call(call)
                .with_call(&other_call)
                .with_input(input)
        });
    }
}
