//! `encode_expr`, `encode_tfvars` and `decode_tfvars`: conversion between values and the syntax of the
//! language.

use std::collections::BTreeMap;

use formwork_lang::format::format_source;
use formwork_lang::syntax::add_source;
use formwork_lang::write_expression::{self, UnknownValueError};
use formwork_plugin_protocol::message::function::{CallRequest, FunctionError};
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Str, Type, Value};

use super::{decode_error_to_failure, encode_payload};
use crate::config::inputs::{GivenValue, read_values_file};

/// Returns the signatures of the functions.
pub(super) fn function_signatures() -> BTreeMap<String, FunctionSignature> {
    let signature = |parameter: (&str, Type), returns, summary: &str, description: &str| {
        let (name, ty) = parameter;
        FunctionSignature {
            summary: summary.to_owned(),
            description: description.to_owned(),
            ..FunctionSignature::new(vec![FunctionParameter::new(name, ty)], returns)
        }
    };
    let value = || ("value", Type::Dynamic);
    [
        (
            "decode_tfvars",
            signature(
                ("src", Type::String),
                Type::Dynamic,
                "Parse a string containing syntax like that used in a `.tfvars` file",
                "A rarely-needed function which takes a string containing the content of a `.tfvars` file and returns an object describing the raw variable values it defines.",
            ),
        ),
        (
            "encode_expr",
            signature(
                value(),
                Type::String,
                "Produce a string representation of an arbitrary value using Terraform expression syntax",
                "A rarely-needed function which takes any value and produces a string containing Terraform language expression syntax approximating that value.",
            ),
        ),
        (
            "encode_tfvars",
            signature(
                value(),
                Type::String,
                "Produce a string representation of an object using the same syntax as for `.tfvars` files",
                "A rarely-needed function which takes an object value and produces a string containing a description of that object using the same syntax as Terraform CLI would expect in a `.tfvars`.",
            ),
        ),
    ]
    .map(|(name, signature)| (name.to_owned(), signature))
    .into()
}

/// Calls one of the functions.
pub(super) fn call_builtin_function(
    request: &CallRequest,
) -> Result<Result<Payload, FunctionError>, Failure> {
    let argument = |ty: &Type| match request.arguments.as_slice() {
        [argument] => argument.decode(ty).map_err(|error| decode_error_to_failure(&error)),
        _ => Err(Failure::Misbehaved("the function takes one argument".into())),
    };
    let (result, returns) = match request.name.as_str() {
        "decode_tfvars" => (decode_tfvars(argument(&Type::String)?.value()), Type::Dynamic),
        "encode_expr" => (encode_expr(argument(&Type::Dynamic)?.value()), Type::String),
        "encode_tfvars" => (encode_tfvars(argument(&Type::Dynamic)?.value()), Type::String),
        other => {
            let reason = format!("the built-in provider has no function {other:?}");
            return Err(Failure::Misbehaved(reason));
        }
    };
    let refused = |text| FunctionError { text, argument: None };
    Ok(result.map(|value| encode_payload(value, &returns)).map_err(refused))
}

fn encode_expr(value: &Value) -> Result<Value, String> {
    let text = write_expression::write_expression(value)
        .map_err(|unknown: UnknownValueError| unknown.to_string())?;
    // Only a file can be formatted, so the expression is formatted as an argument of one.
    let file = format_expression(format!("{ARGUMENT_PREFIX}{text}\n"))?;
    let text = file.strip_prefix(ARGUMENT_PREFIX).unwrap_or(&file);
    Ok(Value::string(text.strip_suffix('\n').unwrap_or(text)))
}

/// The argument as which an expression is formatted.
const ARGUMENT_PREFIX: &str = "x = ";

fn format_expression(text: String) -> Result<String, String> {
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let source = add_source(&mut diags, &mut sources, "value", text.into_bytes());
    format_source(&mut diags, &sources, source).map_err(|_| {
        let problems = diags.into_iter().map(|problem| explain_problem(&problem, &sources));
        problems.collect::<Vec<_>>().join("; ")
    })
}

fn encode_tfvars(value: &Value) -> Result<Value, String> {
    let parts: Vec<(&Str, &Value)> = match value {
        Value::Object(object) => object.iter().collect(),
        Value::Map(map) => map.iter().collect(),
        _ => {
            return Err(format!(
                "the value must be an object whose attributes are the variables, but it is {}",
                formwork_lang::print_value::type_with_article(&value.ty())
            ));
        }
    };
    let mut text = String::new();
    for (name, part) in parts {
        if !write_expression::is_valid_name(name) {
            return Err(format!("{:?} cannot be the name of a variable", name.as_str()));
        }
        let part = write_expression::write_expression(part)
            .map_err(|unknown: UnknownValueError| unknown.to_string())?;
        text.push_str(&format!("{name} = {part}\n"));
    }
    Ok(Value::string(format_expression(text)?))
}

fn decode_tfvars(text: &Value) -> Result<Value, String> {
    let Value::String(text) = text else { return Err("the argument must be a string".to_owned()) };
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let content = text.as_bytes().to_vec();
    let variables = read_values_file(&mut diags, &mut sources, "src", content);
    let variables = variables.map_err(|_| {
        let problems = diags.into_iter().map(|problem| explain_problem(&problem, &sources));
        problems.collect::<Vec<_>>().join("; ")
    })?;
    Ok(Value::object(variables.into_iter().filter_map(|variable| match variable.value {
        GivenValue::Value(value) => Some((variable.name, value)),
        // Never from a file: only options and the environment provide strings.
        GivenValue::Unparsed(_) => None,
    })))
}

/// Describes a problem in one sentence, because its span cannot be resolved by the caller.
fn explain_problem(problem: &Diagnostic, sources: &Sources) -> String {
    let location = problem.subject.map_or_else(String::new, |span| {
        let at = sources.start_position(span);
        format!("line {}, column {}: ", at.line, at.column)
    });
    format!("{location}{}: {}", problem.summary, problem.detail.trim_end_matches('.'))
}
