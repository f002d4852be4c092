//! `formwork metadata functions`: the function signatures in JSON, for editors and other tools.

use clap::Subcommand;
use formwork_lang::functions::{BuiltinSignature, Param, builtin_signatures};
use formwork_value::Diagnostic;
use formwork_value::codec::type_json;

use crate::command_line::example;
use crate::exit::Exit;
use crate::messages;
use crate::view::json::json_builder::Json;
use crate::view::{print_data, print_diagnostic};

/// Machine-readable descriptions of the language.
#[derive(Debug, Subcommand)]
pub(crate) enum MetadataCommand {
    Functions(MetadataFunctionsArgs),
}

/// Print the signatures of all functions.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-json", "Print the signatures of all functions."))]
pub(crate) struct MetadataFunctionsArgs {
    /// Print JSON. This flag is required.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the signatures of all functions, each under its name and under `core::` with its name.
pub(super) fn print_functions(args: &MetadataFunctionsArgs) -> Exit {
    if !args.json {
        let detail = "The `formwork metadata functions` command requires the `-json` flag.";
        print_diagnostic(&Diagnostic::error(messages::FLAG_JSON_REQUIRED, detail));
        return Exit::Failed;
    }
    let signatures = builtin_signatures();
    let mut members: Vec<(String, Json)> = Vec::with_capacity(2 * signatures.len());
    for signature in &signatures {
        let json = function_to_json(signature);
        members.push((signature.name.to_owned(), json.clone()));
        members.push((format!("core::{}", signature.name), json));
    }
    members.sort_by(|(first, _), (second, _)| first.cmp(second));
    let document = Json::object([
        ("format_version", Json::text("1.0")),
        ("function_signatures", Json::Object(members)),
    ]);
    print_data(&format!("{}\n", document.to_compact()));
    Exit::Done
}

fn function_to_json(signature: &BuiltinSignature) -> Json {
    Json::object_of_some([
        ("description", Some(Json::text(signature.description.clone()))),
        ("return_type", Some(Json::Written(type_json::encode(&signature.returns)))),
        (
            "parameters",
            Json::Array(signature.params.iter().map(parameter_to_json).collect()).none_if_empty(),
        ),
        ("variadic_parameter", signature.variadic.as_ref().map(parameter_to_json)),
    ])
}

fn parameter_to_json(param: &Param) -> Json {
    Json::object_of_some([
        ("name", Some(Json::text(param.name.clone()))),
        ("description", Some(Json::text(param.description.clone()))),
        ("is_nullable", param.allow_null.then_some(Json::Bool(true))),
        ("type", Some(Json::Written(type_json::encode(&param.ty)))),
    ])
}
