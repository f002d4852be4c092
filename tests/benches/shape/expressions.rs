//! Configurations with one expression over N elements: work only for the evaluator.

use std::fmt;

/// Operation on the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Adds numbers.
    Numbers,
    /// Makes objects.
    Objects,
    /// Makes a map by key, and looks up every value.
    Map,
    /// Encodes the elements as JSON.
    Json,
    /// Renders the elements with a template file.
    Template,
}

impl Work {
    pub(crate) const ALL: [Self; 5] =
        [Self::Numbers, Self::Objects, Self::Map, Self::Json, Self::Template];
}

/// The elements: a range has at most 1,024 numbers, so they combine two.
fn elements(size: usize) -> String {
    format!(
        "flatten([for a in range({}) : [for b in range(100) : a * 100 + b]])",
        size.div_ceil(100)
    )
}

/// The files of a configuration of this size.
pub(super) fn files(work: Work, size: usize) -> Vec<(String, String)> {
    let objects = r#"[for n in local.elements : { name = "n${n}", size = n, tags = [n, "x"] }]"#;
    let value = match work {
        Work::Numbers => "sum([for n in local.elements : n * 2 + 1])".to_owned(),
        Work::Objects => format!("length({objects})"),
        Work::Map => {
            let map = r#"{ for n in local.elements : "k${n}" => n }"#;
            format!("length([for k, v in {map} : local.map[k] if v >= 0])")
        }
        Work::Json => format!("length(jsonencode({objects}))"),
        Work::Template => {
            "length(templatefile(\"list.tftpl\", { elements = local.elements }))".to_owned()
        }
    };
    let map = match work {
        Work::Map => "  map      = { for n in local.elements : \"k${n}\" => n }\n",
        _ => "",
    };
    let text = format!(
        "locals {{\n  elements = {}\n{map}}}\n\noutput \"result\" {{\n  value = {value}\n}}\n",
        elements(size)
    );
    let template = "%{ for n in elements ~}\n- name: n${n}\n  size: ${n * 2}\n%{ endfor ~}\n";
    vec![("main.tf".to_owned(), text), ("list.tftpl".to_owned(), template.to_owned())]
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Numbers => "expr-numbers",
            Self::Objects => "expr-objects",
            Self::Map => "expr-map",
            Self::Json => "expr-json",
            Self::Template => "expr-template",
        })
    }
}
