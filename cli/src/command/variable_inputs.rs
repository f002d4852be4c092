//! Variable values from the environment, files, options and prompts. The engine checks their types.

use std::path::Path;

use formwork_core::config::Config;
use formwork_core::config::inputs::{self, GivenValue, GivenVariable, InputOrigin};
use formwork_core::disk::{MAX_CONFIG_FILE_LEN, read_file, read_user_file};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::question::{Prompt, ask_user};
use crate::command_line::VariableSource;
use crate::messages;
use crate::view::Screen;
use crate::workspace::Workspace;

/// Collects the given variable values, in ascending precedence.
pub(super) fn variable_values(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    sources: &[VariableSource],
) -> Result<Vec<GivenVariable>, Reported> {
    let mut values = environment_values(workspace);
    values.extend(automatic_file_values(diags, workspace)?);
    values.extend(option_values(diags, workspace, sources)?);
    Ok(values)
}

/// The values in the environment.
pub(super) fn environment_values(workspace: &Workspace<'_>) -> Vec<GivenVariable> {
    let variables = workspace.env.variables.iter();
    variables.map(|(name, value)| given_text_value(name, value, InputOrigin::Environment)).collect()
}

/// The values in automatically loaded variable files.
pub(super) fn automatic_file_values(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<Vec<GivenVariable>, Reported> {
    let mut variables = Vec::new();
    let mut result = Ok(());
    for name in automatic_variable_files(&workspace.root) {
        match read_values_in_file(diags, workspace, &name, read_file) {
            Ok(values) => variables.extend(values),
            Err(reported) => result = Err(reported),
        }
    }
    result.map(|()| variables)
}

/// The values in the automatically loaded variable files of the test directory.
pub(super) fn test_dir_values(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    directory: &Path,
) -> Result<Vec<GivenVariable>, Reported> {
    let mut variables = Vec::new();
    let mut result = Ok(());
    for name in automatic_variable_files(&workspace.root.join(directory)) {
        let name = directory.join(name);
        match read_values_in_file(diags, workspace, &name.to_string_lossy(), read_file) {
            Ok(values) => variables.extend(values),
            Err(reported) => result = Err(reported),
        }
    }
    result.map(|()| variables)
}

/// The values of `-var` options, and of the files of `-var-file` options.
pub(super) fn option_values(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    sources: &[VariableSource],
) -> Result<Vec<GivenVariable>, Reported> {
    let mut variables = Vec::new();
    let mut result = Ok(());
    for source in sources {
        match source {
            VariableSource::File(path) => {
                match read_values_in_file(diags, workspace, &path.to_string_lossy(), read_user_file)
                {
                    Ok(values) => variables.extend(values),
                    Err(reported) => result = Err(reported),
                }
            }
            VariableSource::Value(pair) => match pair.split_once('=') {
                Some((name, value)) if name.ends_with(char::is_whitespace) => {
                    let detail = format!(
                        "Variable name {name:?} is invalid due to trailing space. Did you mean -var=\"{}={}\"?",
                        name.trim(),
                        value.trim()
                    );
                    result =
                        Err(diags.error(Diagnostic::error(messages::INVALID_VAR_OPTION, detail)));
                }
                Some((name, value)) => {
                    variables.push(given_text_value(name, value, InputOrigin::Option));
                }
                None => {
                    let detail = format!(
                        "The given -var option {pair:?} is not correctly specified. Must be a variable name and value separated by an equals sign, like -var=\"key=value\"."
                    );
                    result =
                        Err(diags.error(Diagnostic::error(messages::INVALID_VAR_OPTION, detail)));
                }
            },
        }
    }
    result.map(|()| variables)
}

fn given_text_value(name: &str, value: &str, origin: InputOrigin) -> GivenVariable {
    GivenVariable { name: name.into(), value: GivenValue::Unparsed(value.to_owned()), origin }
}

/// The automatically loaded variable files: `terraform.tfvars`, then files that end in `.auto.tfvars`, by
/// name.
fn automatic_variable_files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut automatic: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"))
        .collect();
    automatic.sort();
    let first = ["terraform.tfvars", "terraform.tfvars.json"].into_iter();
    first.filter(|name| directory.join(name).exists()).map(str::to_owned).chain(automatic).collect()
}

fn read_values_in_file(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    name: &str,
    read: fn(&Path, u64) -> std::io::Result<Vec<u8>>,
) -> Result<Vec<GivenVariable>, Reported> {
    let path = workspace.root.join(name);
    let content = read(&path, MAX_CONFIG_FILE_LEN).map_err(|error| {
        let detail = format!("Given variables file {name} cannot be read: {error}.");
        diags.error(Diagnostic::error(messages::FAILED_TO_READ_VARIABLES_FILE, detail))
    })?;
    inputs::read_values_file(diags, &mut workspace.sources, name, content)
}

/// Prompts for the values of required variables without a value.
pub(super) async fn ask_for_missing_variables(
    screen: &Screen,
    config: &Config,
    values: &mut Vec<GivenVariable>,
) {
    for variable in config.root.variables.values().filter(|variable| variable.is_required()) {
        if values.iter().any(|values| values.name == variable.name) {
            continue;
        }
        let ephemeral = if variable.ephemeral { " (ephemeral)" } else { "" };
        let question = Prompt {
            title: &format!("var.{}{ephemeral}", variable.name),
            explanation: &variable.description,
            secret: variable.sensitive,
        };
        let Ok(answer) = ask_user(screen, question).await else { return };
        values.push(GivenVariable {
            name: variable.name.clone(),
            value: GivenValue::Unparsed(answer),
            origin: InputOrigin::Prompt,
        });
    }
}
