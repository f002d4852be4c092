//! Function calls: resolves the function, evaluates the arguments, and reports failures.

use crate::messages;
use crate::print_value::type_with_article;
use crate::value_kind::ValueKind;
use formwork_value::{Diagnostic, Diagnostics, Reported, Secrets, Span, Type, Value, convert};

use super::template_scope::TemplateScope;
use super::{Evaluator, ForFrames, evaluate_with_budget, first_token_span};
use crate::functions::{self, CallContext, CallError, Function, Param, SpecialFunction};
use crate::suggest::nearest_name;
use crate::syntax::{Call, Expr, ExprKind};

/// An argument: its value and its expression.
struct EvaluatedArg<'e> {
    value: Value,
    expr: &'e Expr,
}

/// A call with its resolved function.
struct ResolvedCall<'e> {
    expr: &'e Expr,
    call: &'e Call,
    function: &'e dyn Function,
}

impl Evaluator<'_> {
    pub(super) fn evaluate_call(
        &mut self,
        expr: &Expr,
        call: &Call,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let scope = self.scope;
        let Some(function) = scope.lookup_function(&call.name.name) else {
            return Err(self.report_unknown_function(expr, call, frames));
        };
        let site = ResolvedCall { expr, call, function };
        match function.special_treatment() {
            // Arguments that are expanded with `...` exist only after their evaluation, when their
            // errors can no longer be caught.
            Some(SpecialFunction::Try) if !call.expand => return self.evaluate_try(&site, frames),
            Some(SpecialFunction::Can) if !call.expand => return self.evaluate_can(&site, frames),
            Some(SpecialFunction::Reference) => self.check_first_arg_is_reference(&site, frames)?,
            _ => {}
        }
        let args = self.evaluate_args(&site, frames)?;
        let Some(args) = args else { return Ok(Value::dynamic()) };
        self.check_arg_count(&site, &args, frames)?;
        if function.special_treatment() == Some(SpecialFunction::Reference) {
            self.check_first_arg_is_string(&site, &args, frames)?;
        }
        let values = self.convert_args(&site, &args, frames)?;
        let budget = self.budget;
        // The template shares the budget of this expression. Otherwise a loop over templates would have
        // no limit.
        let evaluate_template = |diags: &mut Diagnostics, template: &Expr, vars: &Value| {
            evaluate_with_budget(diags, template, &TemplateScope::new(vars, scope), budget)
        };
        let ctx = CallContext { host: scope.host(), evaluate_template: &evaluate_template, budget };
        let result = functions::invoke_function(function, &ctx, &values);
        let value = result.map_err(|error| self.report_call_error(&site, &args, error, frames))?;
        self.check_value_limits(value, expr.span)
    }

    /// Evaluates the arguments, and expands the last one if it is followed by `...`. Returns `None` if
    /// it cannot be expanded yet.
    fn evaluate_args<'e>(
        &mut self,
        site: &ResolvedCall<'e>,
        frames: ForFrames<'_>,
    ) -> Result<Option<Vec<EvaluatedArg<'e>>>, Reported> {
        let mut args = Vec::with_capacity(site.call.args.len());
        let mut failed = None;
        for expr in &site.call.args {
            match self.evaluate_expr(expr, frames) {
                Ok(value) => args.push(EvaluatedArg { value, expr }),
                Err(reported) => failed = Some(reported),
            }
        }
        if let Some(reported) = failed {
            return Err(reported);
        }
        if !site.call.expand {
            return Ok(Some(args));
        }
        let Some(EvaluatedArg { value, expr }) = args.pop() else { return Ok(Some(args)) };
        let refusal = match ValueKind::of(&value) {
            _ if value.is_null() => "must not be null".to_owned(),
            ValueKind::List | ValueKind::Set | ValueKind::Tuple | ValueKind::Dynamic => {
                // The number of arguments is unknown, so the call cannot be checked or made yet.
                if value.is_unknown() {
                    return Ok(None);
                }
                let items = value.children();
                self.budget
                    .charge_elements(items.len())
                    .map_err(|limit| self.report_exceeded_limit(limit, site.expr.span))?;
                // The list itself is dropped, so its marks move to its elements.
                let marks = value.marks();
                args.extend(
                    items.iter().map(|item| EvaluatedArg { value: item.clone().mark(marks), expr }),
                );
                return Ok(Some(args));
            }
            _ => {
                let actual = type_with_article(&value.ty());
                format!("must be of a tuple, list, or set type, but it is {actual}")
            }
        };
        let diag = Diagnostic::error(
            messages::INVALID_EXPANDING_ARGUMENT_VALUE,
            format!("The expanding argument (indicated by ...) {refusal}."),
        );
        Err(self.report_error(
            add_function_to_diagnostic(site, diag).at(expr.span),
            site.expr,
            frames,
        ))
    }

    fn check_arg_count(
        &mut self,
        site: &ResolvedCall<'_>,
        args: &[EvaluatedArg<'_>],
        frames: ForFrames<'_>,
    ) -> Result<(), Reported> {
        let params = site.function.params();
        let variadic = site.function.variadic_param();
        let name = &site.call.name.name;
        let n_params = params.len();
        if let Some(missing) = params.get(args.len()) {
            let least = if variadic.is_some() { " at least" } else { "" };
            let diag = Diagnostic::error(
                messages::NOT_ENOUGH_FUNCTION_ARGUMENTS,
                format!(
                    "Function {:?} expects{least} {n_params} argument(s). Missing value for {:?}.",
                    name.as_str(),
                    missing.name
                ),
            );
            // HCL points at the closing parenthesis, because the missing argument belongs before it.
            let parens = site.call.parens;
            let close = Span { start: parens.end.saturating_sub(1).max(parens.start), ..parens };
            return Err(self.report_error(
                add_function_to_diagnostic(site, diag).at(close),
                site.expr,
                frames,
            ));
        }
        if variadic.is_none()
            && let Some(extra) = args.get(n_params)
        {
            let diag = Diagnostic::error(
                messages::TOO_MANY_FUNCTION_ARGUMENTS,
                format!("Function {:?} expects only {n_params} argument(s).", name.as_str()),
            );
            return Err(self.report_error(
                add_function_to_diagnostic(site, diag).at(first_token_span(extra.expr)),
                site.expr,
                frames,
            ));
        }
        Ok(())
    }

    /// Converts the arguments to the types of the parameters.
    fn convert_args(
        &mut self,
        site: &ResolvedCall<'_>,
        args: &[EvaluatedArg<'_>],
        frames: ForFrames<'_>,
    ) -> Result<Vec<Value>, Reported> {
        let mut values = Vec::with_capacity(args.len());
        // An error does not end the loop, so that each invalid argument is reported.
        let mut failed = None;
        for (at, arg) in args.iter().enumerate() {
            let Some(param) = param_of_argument(site.function, at) else { continue };
            // `any` takes the value as it is, marks and unknown parts included.
            if param.ty == Type::Dynamic {
                values.push(arg.value.clone());
                continue;
            }
            match convert::convert(&arg.value, &param.ty) {
                Ok(value) => values.push(value),
                Err(refused) => {
                    let reason = if refused.path.0.is_empty() {
                        refused.reason
                    } else {
                        format!("in its part {}: {}", refused.path, refused.reason)
                    };
                    let error = CallError::for_argument(at, reason);
                    failed = Some(self.report_call_error(site, args, error, frames));
                }
            }
        }
        failed.map_or(Ok(values), Err)
    }

    fn report_call_error(
        &mut self,
        site: &ResolvedCall<'_>,
        args: &[EvaluatedArg<'_>],
        error: CallError,
        frames: ForFrames<'_>,
    ) -> Reported {
        if let Some(limit) = error.limit {
            return self.report_exceeded_limit(limit, site.expr.span);
        }
        // The function may quote an argument in its reason, and messages are not redacted.
        let secrets = Secrets::default();
        args.iter().for_each(|arg| secrets.add_marked_values(&arg.value));
        let error = CallError { reason: secrets.mask(error.reason), ..error };
        let blamed = error
            .argument
            .and_then(|at| Some((args.get(at)?, param_of_argument(site.function, at)?)));
        match blamed {
            Some((arg, param)) => {
                let diag = Diagnostic::error(
                    messages::INVALID_FUNCTION_ARGUMENT,
                    format!("Invalid value for {:?} parameter: {}.", param.name, error.reason),
                );
                // For an argument that is not written itself, the whole expression that contains it is
                // shown.
                let written = error.argument.is_some_and(|at| at < site.call.args.len());
                let arg_span = if written { first_token_span(arg.expr) } else { arg.expr.span };
                self.report_error(
                    add_function_to_diagnostic(site, diag).at(arg_span),
                    arg.expr,
                    frames,
                )
            }
            None => {
                let diag = Diagnostic::error(
                    messages::ERROR_IN_FUNCTION_CALL,
                    format!(
                        "Call to function {:?} failed: {}.",
                        site.call.name.name.as_str(),
                        error.reason
                    ),
                );
                self.report_error(
                    add_function_to_diagnostic(site, diag).at(first_token_span(site.expr)),
                    site.expr,
                    frames,
                )
            }
        }
    }

    fn report_unknown_function(
        &mut self,
        expr: &Expr,
        call: &Call,
        frames: ForFrames<'_>,
    ) -> Reported {
        // If no function may be called, the suggestion of another name would mislead.
        if let Some(reason) = self.scope.calls_forbidden_reason() {
            let diag =
                Diagnostic::error(messages::FUNCTION_CALLS_NOT_ALLOWED, reason).at(expr.span);
            return self.report_error(diag.with_source_context(expr.span), expr, frames);
        }
        let name = call.name.name.as_str();
        let diag = match name.contains("::") {
            true => Diagnostic::error(
                messages::UNKNOWN_PROVIDER_FUNCTION,
                self.scope.missing_function_reason(name),
            ),
            false => {
                let hint = self.suggest_function(name);
                let detail = format!("There is no function named {name:?}.{hint}");
                Diagnostic::error(messages::CALL_TO_UNKNOWN_FUNCTION, detail)
            }
        };
        self.report_error(diag.at(call.name.span).with_source_context(expr.span), expr, frames)
    }

    /// Suggests the provider function of this name, or a function with a similar name.
    fn suggest_function(&self, name: &str) -> String {
        let names = self.scope.function_names();
        // A missing provider namespace is the usual mistake, and the same name is a better hint than a
        // similar one.
        let of_provider = names.iter().find(|known| {
            known
                .strip_prefix("provider::")
                .and_then(|rest| rest.split_once("::"))
                .is_some_and(|(_, function)| function == name)
        });
        let near = of_provider
            .map(String::as_str)
            .or_else(|| nearest_name(name, names.iter().map(String::as_str)));
        near.map_or(String::new(), |near| format!(" Did you mean {near:?}?"))
    }

    /// Evaluates `can`: whether the argument has a value. The result is unknown if it contains unknown
    /// values, because steps on them may still fail.
    fn evaluate_can(
        &mut self,
        site: &ResolvedCall<'_>,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let Some(arg) = self.sole_argument_expr(site, frames)? else {
            return Ok(Value::unknown(Type::Bool));
        };
        // The diagnostics are dropped: an error is a result here, not a failure.
        let (result, _) =
            self.evaluate_capturing_diagnostics(|this| this.evaluate_expr(arg, frames));
        Ok(match result {
            Err(_) => Value::Bool(false),
            Ok(value) if value.is_wholly_known() => Value::Bool(true),
            // A part that is not known yet may still turn out to be an error.
            Ok(_) => Value::unknown(Type::Bool),
        })
    }

    /// Requires that the first argument is written as a reference.
    fn check_first_arg_is_reference(
        &mut self,
        site: &ResolvedCall<'_>,
        frames: ForFrames<'_>,
    ) -> Result<(), Reported> {
        let Some(first) = site.call.args.first() else { return Ok(()) };
        let mut base = first;
        while let ExprKind::Attribute { operand, .. } | ExprKind::Index { operand, .. } = &base.kind
        {
            base = operand;
        }
        if matches!(base.kind, ExprKind::Variable(_)) {
            return Ok(());
        }
        let args = [EvaluatedArg { value: Value::dynamic(), expr: first }];
        let reason = "invalid template expression: templatestring is only for rendering templates retrieved dynamically from elsewhere, and so does not support providing a literal template; consider using a template string expression instead";
        Err(self.report_call_error(site, &args, CallError::for_argument(0, reason), frames))
    }

    /// Checks that the first argument, a reference, is a string already; no other value is
    /// converted to one.
    fn check_first_arg_is_string(
        &mut self,
        site: &ResolvedCall<'_>,
        args: &[EvaluatedArg<'_>],
        frames: ForFrames<'_>,
    ) -> Result<(), Reported> {
        let Some(first) = args.first() else { return Ok(()) };
        let ty = first.value.ty();
        if matches!(ty, Type::String | Type::Dynamic) {
            return Ok(());
        }
        let reason = format!("it must be a string, but is {}", type_with_article(&ty));
        Err(self.report_call_error(site, args, CallError::for_argument(0, reason), frames))
    }

    fn sole_argument_expr<'e>(
        &mut self,
        site: &ResolvedCall<'e>,
        frames: ForFrames<'_>,
    ) -> Result<Option<&'e Expr>, Reported> {
        // The number of arguments is checked with placeholders, because the argument must not be
        // evaluated yet.
        let args: Vec<EvaluatedArg<'_>> = site
            .call
            .args
            .iter()
            .map(|expr| EvaluatedArg { value: Value::dynamic(), expr })
            .collect();
        self.check_arg_count(site, &args, frames)?;
        Ok(site.call.args.first())
    }

    fn evaluate_try(
        &mut self,
        site: &ResolvedCall<'_>,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut failures = Vec::new();
        for arg in &site.call.args {
            let (result, diags) =
                self.evaluate_capturing_diagnostics(|this| this.evaluate_expr(arg, frames));
            match result {
                Ok(value) if value.is_wholly_known() => return Ok(value),
                // Later steps on unknown values may still fail.
                Ok(value) => return Ok(Value::dynamic().mark(value.marks())),
                // Warnings of a failed attempt concern a value that is not used.
                Err(_) => failures.extend(diags.into_iter().filter(Diagnostic::is_error)),
            }
        }
        let reason = if site.call.args.is_empty() {
            "at least one argument is required".to_owned()
        } else {
            let each: Vec<String> = failures
                .iter()
                .map(|diag| format!("\n- {}: {}", diag.summary, diag.detail))
                .collect();
            format!(
                "no expression succeeded:{}\n\nAt least one expression must produce a successful result",
                each.concat()
            )
        };
        Err(self.report_call_error(site, &[], CallError::new(reason), frames))
    }

    fn evaluate_capturing_diagnostics(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<Value, Reported>,
    ) -> super::operator::ResultWithDiagnostics {
        // Restored instead of cleared, because this may be a `try` inside another one.
        let outer = std::mem::replace(&mut self.quiet, true);
        let result = self.capture_diagnostics(run);
        self.quiet = outer;
        result
    }
}

/// The parameter that takes an argument.
fn param_of_argument(function: &dyn Function, at: usize) -> Option<&Param> {
    function.params().get(at).or_else(|| function.variadic_param())
}

fn add_function_to_diagnostic(site: &ResolvedCall<'_>, diag: Diagnostic) -> Diagnostic {
    let called = functions::describe_called_function(&site.call.name.name, site.function);
    Diagnostic { function: Some(Box::new(called)), ..diag.with_source_context(site.expr.span) }
}
