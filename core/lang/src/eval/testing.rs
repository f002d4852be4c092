//! A scope for tests: a few names, all functions, fixed files and a fixed clock.

use std::collections::BTreeMap;

use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostic, Diagnostics, Marks, Refinement, Reported, Type, Value};
use time::OffsetDateTime;

use crate::functions::{
    self, ClockAndRandom, FileFailure, FileKind, Function, FunctionHost, HostFiles,
};
use crate::limits::Budget;
use crate::print_value::print_value;
use crate::scope::{Scope, ScopeStep};
use crate::syntax::{Ident, parse_expression};

/// Names: `unknown`, `anything` (unknown of unknown type), `some` (unknown, not null), `secret`,
/// `passing` (ephemeral), `list`, `map`, `object`, `numbers` (an unknown list).
pub(crate) struct TestScope {
    names: BTreeMap<&'static str, Value>,
}

impl TestScope {
    pub(crate) fn new() -> Self {
        let strings = || vec![Value::string("a"), Value::string("b")];
        let some = Refinement { not_null: true, ..Refinement::default() };
        let names = [
            ("unknown", Value::unknown(Type::String)),
            ("anything", Value::dynamic()),
            ("some", Value::refined(Type::String, some)),
            ("secret", Value::string("s3cret").mark(Marks::SENSITIVE)),
            ("passing", Value::string("pass").mark(Marks::EPHEMERAL)),
            ("list", Value::list(Type::String, strings())),
            ("map", Value::map(Type::Number, [("a", Value::int(1)), ("b", Value::int(2))])),
            ("object", Value::object([("name", Value::string("x")), ("size", Value::int(3))])),
            ("numbers", Value::unknown(Type::list(Type::Number))),
            ("template", Value::string("Hello ${name}!")),
        ];
        Self { names: names.into() }
    }
}

impl Scope for TestScope {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        // `v.name` has the same value as `name`, resolved together with its first step.
        if let (Some(ScopeStep::Attribute(name)), "v") = (steps.first(), root.name.as_str())
            && let Some(value) = self.names.get(name.name.as_str())
        {
            return Ok((value.clone(), 1));
        }
        let value = self.names.get(root.name.as_str()).cloned();
        value.map(|value| (value, 0)).ok_or_else(|| {
            diags.error(Diagnostic::foreign(Severity::Error, "Invalid reference", "").at(root.span))
        })
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        functions::find_builtin(name)
    }

    fn function_names(&self) -> Vec<String> {
        functions::builtin_names()
    }

    fn host(&self) -> FunctionHost<'_> {
        FunctionHost { files: self, clock_and_random: self }
    }
}

/// The files of the tests: content by path.
const FILES: [(&str, &str); 5] = [
    ("greeting.txt", "hello"),
    ("greeting.tftpl", "Hello ${name}!"),
    ("list.tftpl", "%{ for x in xs ~}\n- ${x}\n%{ endfor ~}\n"),
    ("self.tftpl", "${templatefile(\"self.tftpl\", {})}"),
    ("sub/deep/c.txt", "c"),
];

impl HostFiles for TestScope {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileFailure> {
        let file = FILES.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or(FileFailure::Missing)
    }

    fn file_kind(&self, path: &str) -> Result<FileKind, FileFailure> {
        if FILES.iter().any(|(name, _)| *name == path) {
            return Ok(FileKind::File);
        }
        let directory = format!("{path}/");
        let is_dir = path == "." || FILES.iter().any(|(name, _)| name.starts_with(&directory));
        if is_dir { Ok(FileKind::Directory) } else { Err(FileFailure::Missing) }
    }

    fn list_dir(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        let directory =
            if path == "." { String::new() } else { format!("{}/", path.trim_end_matches('/')) };
        let inside = FILES.iter().filter_map(|(name, _)| name.strip_prefix(directory.as_str()));
        let mut list: Vec<(String, FileKind)> = inside
            .map(|rest| match rest.split_once('/') {
                Some((directory, _)) => (directory.to_owned(), FileKind::Directory),
                None => (rest.to_owned(), FileKind::File),
            })
            .collect();
        list.dedup();
        Ok(list)
    }

    fn current_dir(&self) -> Option<String> {
        Some("/work".into())
    }

    fn home_dir(&self) -> Option<String> {
        Some("/home/me".into())
    }
}

impl ClockAndRandom for TestScope {
    fn current_time(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(1_714_979_289).ok()
    }

    fn plan_time(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp(1_714_953_600).ok()
    }

    fn random_bytes(&self) -> Option<[u8; 16]> {
        Some(*b"0123456789abcdef")
    }
}

/// Evaluates an expression, and returns its value or all diagnostics.
pub(crate) fn eval(text: &str) -> Result<Value, Diagnostics> {
    eval_within(text, &Budget::default())
}

/// Evaluates an expression with a budget.
pub(crate) fn eval_within(text: &str, budget: &Budget) -> Result<Value, Diagnostics> {
    let mut sources = Sources::new();
    let source = sources.add("test", text);
    let mut diags = Diagnostics::new();
    let result = parse_expression(&mut diags, &sources, source)
        .and_then(|expr| super::evaluate_with_budget(&mut diags, &expr, &TestScope::new(), budget));
    result.map_err(|_| diags)
}

/// Evaluates an expression and prints its value, or the summaries of the errors, with `error: `
/// before each.
pub(crate) fn show(text: &str) -> String {
    match eval(text) {
        Ok(value) => print_value(&value),
        Err(diags) => {
            let lines: Vec<String> =
                diags.iter().map(|diag| format!("error: {}", diag.summary)).collect();
            lines.join("\n")
        }
    }
}
