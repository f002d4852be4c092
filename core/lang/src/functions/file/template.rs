//! `templatefile` and `templatestring`: templates that stand elsewhere, with variables of their own.

use crate::messages;
use crate::print_value::type_with_article;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Type, Value, convert};

use super::read_text_file;
use crate::eval::evaluate_with_budget;
use crate::functions::{Args, Builtin, CallError, Function, FunctionHost, SpecialFunction};
use crate::refs;
use crate::scope::{Scope, ScopeStep};
use crate::syntax::{Ident, parse_template};
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

/// Renders a template; syntax errors are the fault of the argument `blamed`, or of no one in
/// particular.
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
    // A missing variable is the fault of the argument, and Terraform names it before it evaluates
    // anything.
    for mention in refs::traversals_of_expr(&expr) {
        if template_variable_value(vars, &mention.root.name).is_none() {
            let at = sources.start_position(mention.root.span);
            let reason = format!(
                "it has no {:?}, which the template mentions at {name}:{},{}",
                mention.root.name.as_str(),
                at.line,
                at.column
            );
            return Err(CallError::for_argument(1, reason));
        }
    }
    let scope = TemplateScope { vars, outer: args.ctx.scope };
    // The budget is that of the calling expression, or a loop over templates would have no limit.
    let value = evaluate_with_budget(&mut diags, &expr, &scope, args.ctx.budget)
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
    let place = diag.subject.map_or(String::new(), |span| {
        let at = sources.start_position(span);
        format!("{}:{},{}: ", sources.name(span.source), at.line, at.column)
    });
    CallError::new(format!("{place}{}: {}", diag.summary, diag.detail.trim_end_matches('.')))
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

fn template_variable_value<'v>(vars: &'v Value, name: &str) -> Option<&'v Value> {
    match vars.without_own_marks() {
        Value::Object(object) => object.get(name),
        Value::Map(map) => map.get(name),
        _ => None,
    }
}

/// The names within a template: its variables, and the functions of the caller save those that render
/// templates, which could go on for ever.
struct TemplateScope<'s> {
    vars: &'s Value,
    outer: &'s dyn Scope,
}

impl Scope for TemplateScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let value = template_variable_value(self.vars, &root.name).ok_or_else(|| {
            let detail = format!("The template is given no variable {:?}.", root.name.as_str());
            diags.error(Diagnostic::error(messages::INVALID_REFERENCE, detail).at(root.span))
        })?;
        Ok((value.clone(), 0))
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        static RECURSION_ERROR_BUILTIN: std::sync::OnceLock<Builtin> = std::sync::OnceLock::new();
        match name.strip_prefix("core::").unwrap_or(name) {
            // Both stay defined, so that the error gives the reason instead of an unknown function.
            "templatefile" | "templatestring" => {
                Some(RECURSION_ERROR_BUILTIN.get_or_init(recursion_error_builtin))
            }
            _ => self.outer.lookup_function(name),
        }
    }

    fn function_names(&self) -> Vec<String> {
        self.outer.function_names()
    }

    fn host(&self) -> FunctionHost<'_> {
        self.outer.host()
    }
}

fn recursion_error_builtin() -> Builtin {
    Builtin::new("templatefile", |_| {
        Err(CallError::new("a template cannot render another template"))
    })
    .with_variadic("args", Type::Dynamic)
    .last_param_allows_null()
    .last_param_allows_unknown()
    .last_param_allows_dynamic()
    .last_param_allows_marked()
}
