//! Reads expressions, evaluates them and prints their values: line by line from a terminal, or all input of a
//! pipe, of which only the last result is printed.

use std::io;

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_stdin_line};
use formwork_core::plan::check_expression_references;
use formwork_core::session::Session;
use formwork_lang::eval::evaluate;
use formwork_lang::functions::{CallContext, CallError, Function, FunctionHost, Param};
use formwork_lang::print_value::print_value;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Expr, ExprKind, Ident, add_source, parse_expression};
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value};

use super::line_editor::{InputLine, LineEditor};
use super::type_name;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::print_out;

const HELP_TEXT: &str =
    "Type an expression to see its value. It is evaluated in the root module: for
example  1 + 2,  var.name,  aws_instance.web.id  or  type(local.rules).
Objects have the values of the state, or with -plan the planned values.

To leave, type exit, or press Control-C or Control-D.";

/// The name of the input, in messages.
const CONSOLE_INPUT_NAME: &str = "<console-input>";

/// Evaluator of expressions.
pub(super) struct Repl<'r> {
    session: &'r Session<'r>,
    report: &'r OperationReport,
}

/// Result of a line.
enum LineResult {
    Text(String),
    Leave,
}

impl<'r> Repl<'r> {
    pub(super) fn new(session: &'r Session<'r>, report: &'r OperationReport) -> Self {
        Self { session, report }
    }

    /// Evaluates every input from stdin and prints only the last result. Stops at the first error.
    pub(super) async fn run_piped(&self) -> Exit {
        let mut last = String::new();
        loop {
            let line = match read_stdin_line(MAX_SMALL_FILE_LEN) {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    self.report_unreadable_line(&error);
                    return Exit::Failed;
                }
            };
            let line = match String::from_utf8(line) {
                Ok(line) => line,
                Err(error) => {
                    let (mut sources, mut diags) = (Sources::new(), Diagnostics::new());
                    add_source(&mut diags, &mut sources, CONSOLE_INPUT_NAME, error.into_bytes());
                    self.report.report_diagnostics(&sources, &diags);
                    return Exit::Failed;
                }
            };
            match self.evaluate_line(line.trim()).await {
                Ok(LineResult::Text(text)) => last = text,
                Ok(LineResult::Leave) => return Exit::Done,
                Err(_) => return Exit::Failed,
            }
        }
        print_out(&format!("{last}\n"));
        Exit::Done
    }

    fn report_unreadable_line(&self, error: &io::Error) {
        let detail = format!("A line of {CONSOLE_INPUT_NAME} cannot be read: {error}.");
        let diagnostic = Diagnostic::error(messages::FAILED_TO_READ_FILE, detail);
        let mut diags = Diagnostics::new();
        let _ = diags.error(diagnostic.blamed_on(Blame::Environment));
        self.report.report_diagnostics(&Sources::new(), &diags);
    }

    /// Evaluates inputs from the terminal until the input ends.
    pub(super) async fn run_interactive(&self, mut lines: LineEditor) -> Exit {
        loop {
            match lines.next() {
                InputLine::Complete(text) => match self.evaluate_line(&text).await {
                    Ok(LineResult::Text(text)) => print_out(&format!("{text}\n")),
                    Ok(LineResult::Leave) => return Exit::Done,
                    // The error was printed.
                    Err(_) => {}
                },
                InputLine::Ended => return Exit::Done,
            }
        }
    }

    async fn evaluate_line(&self, text: &str) -> Result<LineResult, Reported> {
        match text.trim() {
            "" => return Ok(LineResult::Text(String::new())),
            "exit" => return Ok(LineResult::Leave),
            "help" => return Ok(LineResult::Text(HELP_TEXT.to_owned())),
            _ => {}
        }
        let (mut sources, mut diags) = (Sources::new(), Diagnostics::new());
        let output = self.evaluate_to_text(&mut diags, &mut sources, text).await;
        self.session.pool.report_warnings(&mut diags);
        self.report.report_diagnostics(&sources, &diags);
        output.map(LineResult::Text)
    }

    async fn evaluate_to_text(
        &self,
        diags: &mut Diagnostics,
        sources: &mut Sources,
        text: &str,
    ) -> Result<String, Reported> {
        let source = sources.add(CONSOLE_INPUT_NAME, text);
        let expr = parse_expression(diags, sources, source)?;
        check_expression_references(self.session, diags, &expr)?;
        let module = self.session.results.root();
        let scope = ConsoleScope { module: &self.session.module_scope(module) };
        if let Some(of) = argument_of_type_call(&expr) {
            // The result of `type` has a type, too.
            let mut innermost = of;
            while let Some(of) = argument_of_type_call(innermost) {
                innermost = of;
            }
            let value = |diags: &mut Diagnostics| evaluate(diags, innermost, &scope);
            let value = self.session.evaluate_with_functions(diags, value).await?;
            let nested = !std::ptr::eq(innermost, of);
            return Ok(if nested { "type".to_owned() } else { type_name::type_name(&value.ty()) });
        }
        let value = |diags: &mut Diagnostics| evaluate(diags, &expr, &scope);
        let value = self.session.evaluate_with_functions(diags, value).await.inspect_err(|_| {
            diags.map_from_position(0, reword_misplaced_type);
        })?;
        Ok(print_value(&value))
    }
}

/// Rewords a diagnostic about a misplaced call of `type`.
fn reword_misplaced_type(diag: Diagnostic) -> Diagnostic {
    let of_type = diag.function.as_ref().is_some_and(|called| called.name == "type");
    if !of_type || !diag.is_about_message(messages::ERROR_IN_FUNCTION_CALL) {
        return diag;
    }
    let detail = "The function \"type\" prints the type of a value. Its result cannot be used in an expression.";
    Diagnostic { detail: detail.to_owned(), ..diag }
        .with_summary(messages::INVALID_USE_TYPE_FUNCTION)
}

/// The argument of `type`, if the expression is a call of it.
fn argument_of_type_call(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Parens(inner) => argument_of_type_call(inner),
        ExprKind::Call(call) if matches!(call.name.name.as_str(), "type" | "core::type") => {
            match call.args.as_slice() {
                [of] if !call.expand => Some(of),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Names and functions of the console: as in the root module, with `type` and without the time of a
/// plan.
struct ConsoleScope<'s> {
    module: &'s dyn Scope,
}

impl Scope for ConsoleScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        self.module.resolve(diags, root, steps)
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        static TYPE: MisplacedType = MisplacedType;
        match name.strip_prefix("core::").unwrap_or(name) {
            "type" => Some(&TYPE),
            "plantimestamp" => None,
            _ => self.module.lookup_function(name),
        }
    }

    fn missing_function_reason(&self, name: &str) -> String {
        self.module.missing_function_reason(name)
    }

    fn function_names(&self) -> Vec<String> {
        let mut names = self.module.function_names();
        names.retain(|name| name != "plantimestamp");
        names.push("type".to_owned());
        names
    }

    fn host(&self) -> FunctionHost<'_> {
        self.module.host()
    }
}

/// The function `type` inside another expression, where it always fails.
struct MisplacedType;

impl MisplacedType {
    fn call_error() -> CallError {
        CallError::new("it cannot be part of an expression")
    }
}

impl Function for MisplacedType {
    fn params(&self) -> &[Param] {
        static PARAMS: std::sync::OnceLock<[Param; 1]> = std::sync::OnceLock::new();
        PARAMS.get_or_init(|| {
            let mut value = Param::new("value", Type::Dynamic);
            value.allow_null = true;
            value.allow_unknown = true;
            value.allow_dynamic = true;
            value.allow_marked = true;
            [value]
        })
    }

    fn variadic_param(&self) -> Option<&Param> {
        None
    }

    fn call(&self, _: &CallContext<'_>, _: &[Value], _: &Type) -> Result<Value, CallError> {
        Err(Self::call_error())
    }

    fn return_type(&self, _: &[Value]) -> Result<Type, CallError> {
        Err(Self::call_error())
    }
}
