//! `templatefile` and `templatestring`: separate templates with their own variables.

use crate::print_value::type_with_article;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Str, Type, Value, convert};

use super::read_text_file;
use crate::functions::{Args, Builtin, CallError, SpecialFunction};
use crate::refs;
use crate::syntax::parse_template;
use crate::write_expression::is_valid_name;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("templatefile", |args| {
            let text = read_text_file(args)?;
            render_template(args, args.text(0)?, text, None)
        })
        .with_param("path", Type::String)
        .with_param("vars", Type::Dynamic)
        .without_reading_charge()
        .described_as(
            "Renders the template in a file.",
            ["Path of the template.", "Variables of the template: a map or an object."],
        )
        .with_example(r#"templatefile("greeting.tftpl", {name = "Ann"})"#, r#""Hello Ann!""#),
        Builtin::new("templatestring", |args| {
            let value = render_template(args, "template", args.text(0)?.to_string(), Some(0))?;
            // A template that is a single interpolation keeps the type of its value. Only
            // `templatefile` returns it so.
            convert::convert(&value, &Type::String).map_err(|refused| {
                CallError::new(format!("invalid template result: {}", refused.reason))
            })
        })
        .with_return_type(Type::String)
        .with_param("template", Type::String)
        .with_param("vars", Type::Dynamic)
        .last_param_allows_dynamic()
        .without_reading_charge()
        .with_special_treatment(SpecialFunction::Reference)
        .described_as(
            "Renders a template from another value of the configuration.",
            [
                "The template: a reference to a string, not a literal string.",
                "Variables of the template: a map or an object.",
            ],
        )
        .with_example(r#"[for t in ["$${x}!"] : templatestring(t, {x = 1})]"#, "[\n  \"1!\",\n]")
        .with_example(r#"[for t in ["$${x}"] : templatestring(t, {x = 1})]"#, "[\n  \"1\",\n]"),
    ]
}

/// Renders a template. Syntax errors blame the argument `blamed`, or the whole call.
fn render_template(
    args: &Args<'_>,
    name: &str,
    text: String,
    blamed: Option<usize>,
) -> Result<Value, CallError> {
    let vars = args.value(1);
    check_template_vars(vars)?;
    let mut sources = Sources::new();
    let source = sources.add(name, text);
    let mut diags = Diagnostics::new();
    let expr = parse_template(&mut diags, &sources, source)
        .map_err(|_| CallError { argument: blamed, ..to_call_error(&sources, &diags) })?;
    // A missing variable blames the argument, and Terraform reports it before the evaluation.
    for traversal in refs::traversals_of_expr(&expr) {
        if !has_template_variable(vars, &traversal.root.name) {
            let at = sources.start_position(traversal.root.span);
            let reason = format!(
                "it has no {:?}, which the template refers to at {name}:{},{}",
                traversal.root.name.as_str(),
                at.line,
                at.column
            );
            return Err(CallError::for_argument(1, reason));
        }
    }
    let value = (args.ctx.evaluate_template)(&mut diags, &expr, vars)
        .map_err(|_| to_call_error(&sources, &diags))?;
    if value.is_null() {
        return Err(CallError::new(format!("the result of the template {name:?} is null")));
    }
    Ok(value)
}

fn to_call_error(sources: &Sources, diags: &Diagnostics) -> CallError {
    let Some(diag) = diags.iter().find(|diag| diag.is_error()) else {
        return CallError::new("the template has an error");
    };
    let location = diag.subject.map_or(String::new(), |span| {
        let at = sources.start_position(span);
        format!("{}:{},{}: ", sources.name(span.source), at.line, at.column)
    });
    CallError::new(format!("{location}{}: {}", diag.summary, diag.detail.trim_end_matches('.')))
}

fn check_template_vars(vars: &Value) -> Result<(), CallError> {
    let names: &[Str] = match vars.without_own_marks() {
        Value::Object(object) => object.names(),
        Value::Map(map) => map.keys(),
        other => {
            let reason = format!(
                "it must be an object or a map, this is {}",
                type_with_article(&other.ty())
            );
            return Err(CallError::for_argument(1, reason));
        }
    };
    // A template refers to its variables by name only, so any other key is a mistake.
    match names.iter().find(|name| !is_valid_name(name)) {
        None => Ok(()),
        Some(name) => Err(CallError::for_argument(
            1,
            format!(
                "{:?} cannot be the name of a variable; names are letters, digits, - and _",
                name.as_str()
            ),
        )),
    }
}

fn has_template_variable(vars: &Value, name: &str) -> bool {
    match vars.without_own_marks() {
        Value::Object(object) => object.get(name).is_some(),
        Value::Map(map) => map.get(name).is_some(),
        _ => false,
    }
}
