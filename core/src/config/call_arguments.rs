//! Compares the arguments of calls with the variables of the called modules. Evaluates nothing.

use formwork_lang::suggest::nearest_name;
use formwork_value::{Diagnostic, Diagnostics};

use super::{Config, Module, ModuleCall};
use crate::messages;

/// Reports blocks and arguments that the called modules do not accept, and missing arguments.
pub(super) fn check_call_arguments(diags: &mut Diagnostics, config: &Config) {
    let mut seen = std::collections::BTreeSet::new();
    for node in &config.nodes {
        let Some((caller, call)) = config.call_of_module(node) else { continue };
        // A call is written once, however often its caller is called.
        let here = (std::sync::Arc::as_ptr(&caller.module), &call.site.name);
        if seen.insert((here, std::sync::Arc::as_ptr(&node.module))) {
            check_arguments_of_call(diags, call, &node.module);
        }
    }
}

fn check_arguments_of_call(diags: &mut Diagnostics, call: &ModuleCall, called: &Module) {
    for kind in &call.blocks {
        let detail = format!("Blocks of type \"{}\" are not expected here.", kind.name);
        let _ =
            diags.error(Diagnostic::error(messages::UNSUPPORTED_BLOCK_TYPE, detail).at(kind.span));
    }
    for (name, argument) in &call.arguments {
        if called.variables.contains_key(name) {
            continue;
        }
        let names = called.variables.keys().map(|name| name.as_str());
        let hint = match nearest_name(name, names) {
            Some(suggestion) => format!(" Did you mean \"{suggestion}\"?"),
            None => String::new(),
        };
        let detail = format!("An argument named \"{name}\" is not expected here.{hint}");
        let problem = Diagnostic::error(messages::UNSUPPORTED_ARGUMENT, detail);
        let _ = diags.error(problem.at(argument.name_span));
    }
    let variables = called.variables.values();
    for variable in variables.filter(|variable| variable.is_required()) {
        if call.arguments.contains_key(&variable.name) {
            continue;
        }
        let detail =
            format!("The argument \"{}\" is required, but no definition was found.", variable.name);
        let problem = Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail);
        let _ = diags.error(problem.at(call.missing));
    }
}
