//! Trees and diagnostics of small inputs, limits, and what may never happen.

mod errors;
mod limits;
mod oracle;
mod templates;
mod trees;

use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Reported};

use super::{Body, Expr, parse_expression, parse_file, parse_template};

/// Parses a file and prints each error as `start-end summary` with its line and column.
fn parse(text: &str) -> (Body, Vec<String>) {
    let mut sources = Sources::new();
    let id = sources.add("a.tf", text);
    let mut diags = Diagnostics::new();
    let body = parse_file(&mut diags, &sources, id);
    (body, printed(&diags, &sources))
}

fn printed(diags: &Diagnostics, sources: &Sources) -> Vec<String> {
    diags
        .iter()
        .map(|diag| {
            let span = diag.subject.unwrap();
            let start = sources.start_position(span);
            let shown: String = sources.text_of_span(span).chars().take(20).collect();
            format!("{}:{} {shown:?} {}", start.line, start.column, diag.summary)
        })
        .collect()
}

fn expression(text: &str) -> Result<Expr, Vec<String>> {
    one(text, parse_expression)
}

fn template(text: &str) -> Result<Expr, Vec<String>> {
    one(text, parse_template)
}

type Entry =
    fn(&mut Diagnostics, &Sources, formwork_value::diag::SourceId) -> Result<Expr, Reported>;

fn one(text: &str, parse: Entry) -> Result<Expr, Vec<String>> {
    let mut sources = Sources::new();
    let id = sources.add("a.tf", text);
    let mut diags = Diagnostics::new();
    parse(&mut diags, &sources, id).map_err(|_| printed(&diags, &sources))
}
