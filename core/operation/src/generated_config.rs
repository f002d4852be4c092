//! The file for the configuration that `plan` generates for imported objects. It is always a new
//! file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use formwork_core::addr::InstanceAddr;
use formwork_core::change::ImportKey;
use formwork_core::eval::Results;
use formwork_core::plan::{Plan, PlanMode};
use formwork_lang::print_value::quote_like_go;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;

/// A comment at the top that tools look for.
// In Terraform's words, which users and tools recognise.
const GENERATED_HEADER: &str = "# __generated__ by Terraform
# Please review these resources and move them into your main configuration files.
";

/// Checks that `-generate-config-out` is allowed.
///
/// # Errors
/// Returns an error if the kind of plan imports nothing, or if the file already exists.
pub fn check_generate_config_out_option(
    diags: &mut Diagnostics,
    path: Option<&Path>,
    mode: PlanMode,
) -> Result<(), Reported> {
    let Some(path) = path else { return Ok(()) };
    if mode != PlanMode::Normal {
        let detail = "Config can only be generated during a normal plan operation, and not during a refresh-only or destroy plan.";
        let summary = messages::INVALID_GENERATE_CONFIG_OUT;
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    if path.exists() {
        let detail = format!(
            "Formwork can only write generated config into a new file. Either choose a different target location or move all existing configuration out of the target file, delete it and try again. The file is {}.",
            path.display()
        );
        let summary = messages::GENERATED_FILE_EXISTS;
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    Ok(())
}

/// Writes the generated configuration, if there is any. Returns whether the file now exists.
pub fn write_generated_config(
    diags: &mut Diagnostics,
    path: Option<&Path>,
    results: &Results,
    plan: &Plan,
) -> bool {
    let configs = results.generated.all_configs();
    let Some(path) = path.filter(|_| !configs.is_empty()) else { return false };
    diags.warn(Diagnostic::warning(
        messages::CONFIG_GENERATION_IS_EXPERIMENTAL,
        "Generating configuration during import is currently experimental, and the generated configuration format may change in future versions.",
    ));
    let mut text = GENERATED_HEADER.to_owned();
    for (addr, config) in &configs {
        let source = planned_import_id(plan, addr)
            .map(|id| format!(" from {}", quote_like_go(id)))
            .unwrap_or_default();
        text.push_str(&format!("\n# __generated__ by Terraform{source}\n{config}\n"));
    }
    // A file that was created since the check is kept, too.
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) else { return true };
    let detail = format!(
        "The generated configuration could not be written to {}: {error}. Choose another path for it.",
        path.display()
    );
    let _ =
        diags.error(Diagnostic::error(messages::FAILED_TO_CREATE_TARGET_GENERATED_FILE, detail));
    false
}

/// Import id of the object, if the plan has imported it.
fn planned_import_id<'p>(plan: &'p Plan, addr: &InstanceAddr) -> Option<&'p str> {
    let change = plan.changes.get(&(addr.clone(), None))?;
    match &change.importing.as_ref()?.import_key {
        ImportKey::Id(id) => Some(id),
        ImportKey::Identity(_) => None,
    }
}
