//! Fuzz targets of the language: every reader is given hostile input. Nothing here may panic, hang
//! or grow without bound, and a few laws hold. Used by the fuzzer and by `tests/hostile.rs`.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::eval::evaluate;
use formwork_lang::format::format_source;
use formwork_lang::functions::{self, Function};
use formwork_lang::refs;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{
    Body, Ident, add_source, parse_expression, parse_file, parse_json, parse_template,
};
use formwork_lang::type_expr;
use formwork_value::diag::{Severity, SourceId, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

/// A target and its name, which is also the name of its example directory.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// Every target.
pub(crate) const TARGETS: [Target; 6] = [
    ("native", native),
    ("json", json),
    ("expression", expression),
    ("template", template),
    ("format", layout),
    ("decode", decode),
];

const SCHEMA: BodySchema = BodySchema {
    attributes: &[("value", true), ("for_each", false), ("type", false), ("depends_on", false)],
    blocks: &[
        ("output", &["name"]),
        ("resource", &["type", "name"]),
        ("locals", &[]),
        ("dynamic", &["type"]),
        ("lifecycle", &[]),
    ],
};

fn source(data: &[u8]) -> (Sources, SourceId, Diagnostics) {
    let (mut sources, mut diags) = (Sources::new(), Diagnostics::new());
    let id = add_source(&mut diags, &mut sources, "input", data.to_vec());
    // Bytes that are no UTF-8 are reported and replaced: the readers shall get the text all the
    // same.
    (sources, id, Diagnostics::new())
}

/// A scope in which `data` is the text, and which has every function.
struct Data(Value);

impl Scope for Data {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        match root.name.as_str() {
            "data" => Ok((self.0.clone(), 0)),
            "unknown" => Ok((Value::dynamic(), 0)),
            _ => {
                Err(diags
                    .error(Diagnostic::foreign(Severity::Error, "No such name", "").at(root.span)))
            }
        }
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        // It is slow on purpose.
        (name != "bcrypt")
            .then(|| functions::find_builtin(name))
            .flatten()
            .map(|function| function as _)
    }

    fn function_names(&self) -> Vec<String> {
        functions::builtin_names()
    }
}

/// Asks for the content of a body, as readers of blocks do.
fn read(diags: &mut Diagnostics, body: Body) {
    drop(refs::traversals_of_body(&body));
    let content = into_content(diags, body, &SCHEMA);
    for attribute in content.attributes.values() {
        drop(refs::as_traversal(&attribute.expr));
        drop(type_expr::read_type_constraint(diags, &attribute.expr));
        drop(evaluate(diags, &attribute.expr, &Data(Value::string("x"))));
    }
    for block in content.blocks {
        read(diags, block.body);
    }
}

fn native(data: &[u8]) {
    let (sources, id, mut diags) = source(data);
    let body = parse_file(&mut diags, &sources, id);
    read(&mut diags, body);
}

fn json(data: &[u8]) {
    let (sources, id, mut diags) = source(data);
    let body = parse_json(&mut diags, &sources, id);
    read(&mut diags, body);
}

fn expression(data: &[u8]) {
    let (sources, id, mut diags) = source(data);
    if let Ok(expr) = parse_expression(&mut diags, &sources, id) {
        drop(refs::traversals_of_expr(&expr));
        drop(evaluate(&mut diags, &expr, &Data(Value::string("x"))));
    }
}

fn template(data: &[u8]) {
    let (sources, id, mut diags) = source(data);
    if let Ok(expr) = parse_template(&mut diags, &sources, id) {
        drop(evaluate(&mut diags, &expr, &Data(Value::string("x"))));
    }
}

/// Formatted text can be parsed, and formatting it once more changes nothing once no quotes are
/// left to remove.
fn layout(data: &[u8]) {
    let (sources, id, mut diags) = source(data);
    let Ok(mut text) = format_source(&mut diags, &sources, id) else { return };
    for _ in 0..64 {
        let (sources, id, mut diags) = source(text.as_bytes());
        let reformatted = format_source(&mut diags, &sources, id);
        let reformatted =
            reformatted.unwrap_or_else(|_| panic!("formatting broke the text:\n{text}"));
        if reformatted == text {
            return;
        }
        text = reformatted;
    }
}

fn decode(data: &[u8]) {
    let text = Value::string(&*String::from_utf8_lossy(data));
    let scope = Data(text);
    for call in ["yamldecode(data)", "csvdecode(data)", "jsondecode(data)", "base64decode(data)"] {
        let (sources, id, mut diags) = source(call.as_bytes());
        if let Ok(expr) = parse_expression(&mut diags, &sources, id) {
            drop(evaluate(&mut diags, &expr, &scope));
        }
    }
}
