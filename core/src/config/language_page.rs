//! Tests that the page on the language agrees with the readers here and with the table of
//! functions: its tables are generated from theirs. `UPDATE_EXPECT=1` rewrites them.

use std::fmt::Write as _;

use expect_test::expect_file;
use formwork_lang::content::BodySchema;
use formwork_lang::functions::{self, Param};

use super::{
    check_block, condition, import, lifecycle, module_block, module_draft, moved, output, provider,
    removed, resource, state_store, terraform_block, variable,
};

const LANGUAGE_PAGE: &str = include_str!("../../../docs/language.md");

/// Every block of the language with the schema of its reader.
const BLOCK_SCHEMAS: [(&str, BodySchema<'static>); 16] = [
    ("a file", module_draft::BODY_SCHEMA),
    ("`terraform`", terraform_block::BODY_SCHEMA),
    ("`state_store`", state_store::BODY_SCHEMA),
    ("`provider`", provider::BODY_SCHEMA),
    ("`variable`", variable::BODY_SCHEMA),
    ("`output`", output::BODY_SCHEMA),
    ("`resource`, `data`, `ephemeral`", resource::BODY_SCHEMA),
    ("`lifecycle`", lifecycle::BODY_SCHEMA),
    ("`validation`, `precondition`, `postcondition`, `assert`", condition::BODY_SCHEMA),
    ("`module`", module_block::BODY_SCHEMA),
    ("`moved`", moved::BODY_SCHEMA),
    ("`removed`", removed::BODY_SCHEMA),
    ("`lifecycle` of `removed`", removed::LIFECYCLE_SCHEMA),
    ("`import`", import::BODY_SCHEMA),
    ("`check`", check_block::BODY_SCHEMA),
    ("`locals`, `required_providers`", BodySchema { attributes: &[], blocks: &[] }),
];

fn block_table() -> String {
    let mut table = String::from("| in | arguments | blocks |\n| --- | --- | --- |\n");
    for (name, schema) in BLOCK_SCHEMAS {
        let arguments = schema.attributes.iter().map(|(name, required)| {
            if *required { format!("**`{name}`**") } else { format!("`{name}`") }
        });
        let arguments = match name {
            "`locals`, `required_providers`" => "any name".to_owned(),
            _ => arguments.collect::<Vec<_>>().join(", "),
        };
        let blocks = schema.blocks.iter().map(|(kind, labels)| {
            let labels: String =
                labels.iter().map(|label| format!(" {}", label.to_uppercase())).collect();
            format!("`{kind}{labels}`")
        });
        let blocks = blocks.collect::<Vec<_>>().join(", ");
        let _ = writeln!(table, "| {name} | {arguments} | {blocks} |");
    }
    table
}

fn function_table() -> String {
    let mut table =
        String::from("| function | description | example | result |\n| --- | --- | --- | --- |\n");
    for name in functions::builtin_names() {
        let function = functions::find_builtin(&name).expect("it is one of the names");
        let param = |param: &Param| format!("{}: {}", param.name, param.ty);
        let mut params: Vec<String> = function.params().iter().map(param).collect();
        params.extend(function.variadic_param().map(|rest| format!("{}...", param(rest))));
        let all = function.params().iter().chain(function.variadic_param());
        let cell = |text: &str| text.replace('\n', " ").replace('|', "\\|");
        let described =
            all.map(|param| format!("<br>`{}`: {}", param.name, cell(&param.description)));
        let does = cell(functions::builtin_description(&name).unwrap_or_default());
        let (example, result) = functions::builtin_example(&name).unwrap_or_default();
        let _ = writeln!(
            table,
            "| `{name}({})` | {does}{} | `{}` | `{}` |",
            params.join(", "),
            described.collect::<String>(),
            cell(example),
            cell(result)
        );
    }
    table
}

/// Replaces the text between two markers with a table.
fn replace_between_marks(page: &str, mark: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->\n"));
    let (before, rest) = page.split_once(&open).expect("the page has the mark");
    let (_, after) = rest.split_once(&close).expect("the page has the mark");
    format!("{before}{open}{table}{close}{after}")
}

#[test]
fn the_language_page_matches_the_schemas() {
    let page = replace_between_marks(LANGUAGE_PAGE, "blocks", &block_table());
    let page = replace_between_marks(&page, "functions", &function_table());
    expect_file!["../../../docs/language.md"].assert_eq(&page);
}
