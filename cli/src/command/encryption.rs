//! The encryption of states and plans that a configuration and `TF_ENCRYPTION` set up. It is determined
//! before any state is opened, so only the root module, variables and local values are available.

use std::collections::BTreeMap;

use formwork_backend::encryption::Encryption;
use formwork_core::config::encryption::EncryptionBlock;
use formwork_core::config::files::{ConfigFiles as _, FilesOnDisk};
use formwork_core::config::inputs::{self, ResolvedVariable, UnsetVariableTreatment};
use formwork_core::config::{Module, StateBackendBlock, is_config_file_name};
use formwork_core::eval::encryption::EncryptionSettings;
use formwork_core::eval::static_scope::StaticScope;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::variable_inputs::variable_values;
use crate::command_line::VariableSource;
use crate::messages;
use crate::workspace::Workspace;

/// Reads the backend and encryption blocks of the configuration.
///
/// # Errors
/// Returns an error if the root module cannot be read, a key provider or method is not valid, or the lock
/// file cannot be read.
pub(super) fn read_backend_and_encryption(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<Option<StateBackendBlock>, Reported> {
    let module = workspace.root_module(diags)?;
    load_encryption(diags, workspace, &module, &[])?;
    workspace.check_lock_file_readable(diags)?;
    Ok(module.settings.backend)
}

/// Sets up the encryption that the configuration in the working directory specifies, unless it is already set
/// up. Without a configuration, only the environment variable applies.
///
/// # Errors
/// Returns the errors of [`read_backend_and_encryption`].
pub(super) fn load_dir_encryption(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    options: &[VariableSource],
) -> Result<(), Reported> {
    if workspace.encryption.is_some() {
        return Ok(());
    }
    let module = workspace.root_module(diags)?;
    load_encryption(diags, workspace, &module, options)
}

/// Whether the root module may contain an `encryption` block, by a text search of its files. Used for a
/// configuration with errors.
pub(super) fn may_have_encryption_block(workspace: &Workspace<'_>) -> bool {
    let Ok(names) = FilesOnDisk.list(&workspace.config_dir) else { return true };
    let mut names = names.iter().filter(|name| is_config_file_name(name));
    names.any(|name| {
        let path = workspace.config_dir.join(name);
        let Ok(content) = FilesOnDisk.read(&path) else { return true };
        // Another encoding or a JSON escape may hide the word.
        let Ok(text) = std::str::from_utf8(&content) else { return true };
        let is_part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        text.contains('\0')
            || name.ends_with(".json") && text.contains("\\u")
            || text.split(|c| !is_part_of_name(c)).any(|word| word == "encryption")
    })
}

/// Sets up the encryption for a command that neither shows sensitive values nor writes a state, so it does
/// not require an identity for sealed values.
///
/// # Errors
/// Returns the errors of [`read_backend_and_encryption`].
pub(super) fn set_up_encryption_without_sealed(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<(), Reported> {
    load_dir_encryption(diags, workspace, &[])?;
    if let Some(encryption) = &mut workspace.encryption {
        encryption.state = std::mem::take(&mut encryption.state).with_sealed_values_hidden();
    }
    Ok(())
}

/// As [`set_up_encryption_without_sealed`], for a command that shows attributes. Sealed attributes are
/// omitted, like null.
///
/// # Errors
/// Returns the errors of [`read_backend_and_encryption`].
pub(super) fn set_up_encryption_warn_sealed(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<(), Reported> {
    set_up_encryption_without_sealed(diags, workspace)?;
    if workspace.state_cipher().check_identity_decrypts(&mut Diagnostics::new()).is_err() {
        diags.warn(Diagnostic::warning(
            messages::SEALED_VALUES_NOT_SHOWN,
            "No identity is available to decrypt them. Attributes with sealed values are omitted.",
        ));
    }
    Ok(())
}

/// Sets up the encryption of a root module, unless it is already set up. `options` are variable values.
///
/// # Errors
/// Returns an error if a key provider or method is not valid, or a required variable has no value.
pub(super) fn load_encryption(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    module: &Module,
    options: &[VariableSource],
) -> Result<(), Reported> {
    if workspace.encryption.is_some() {
        return Ok(());
    }
    let in_variable = workspace.env.encryption.as_deref().map(str::trim);
    let in_variable = in_variable.filter(|text| !text.is_empty());
    let over = in_variable
        .map(|text| EncryptionBlock::from_environment_text(diags, &mut workspace.sources, text))
        .transpose()?;
    let block = match (module.settings.encryption.clone(), over) {
        (None, None) => None,
        (Some(mut block), Some(over)) => {
            block.merge(over);
            Some(block)
        }
        (block, over) => block.or(over),
    };
    let encryption = match block {
        None => Encryption::default(),
        Some(block) => {
            let variables = known_variable_values(diags, workspace, module, options)?;
            let host_values = workspace.host_values();
            let scope = StaticScope::new(module, &variables, &host_values);
            let settings = EncryptionSettings::evaluate(diags, &block, &scope)?;
            Encryption::new(diags, &settings, &workspace.backend_environment(&workspace.root))?
        }
    };
    workspace.encryption = Some(encryption);
    Ok(())
}

/// The known variable values.
fn known_variable_values(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    module: &Module,
    options: &[VariableSource],
) -> Result<BTreeMap<Str, ResolvedVariable>, Reported> {
    // Warnings about values are reported by callers that use all values.
    let mut ignored = Diagnostics::new();
    let values = variable_values(&mut ignored, workspace, options);
    let variables = values.and_then(|values| {
        let sources = &mut workspace.sources;
        inputs::resolve_variables(
            &mut ignored,
            sources,
            module,
            values,
            UnsetVariableTreatment::Unknown,
        )
    });
    variables.inspect_err(|_| {
        let errors = ignored.into_iter().filter(Diagnostic::is_error);
        errors.for_each(|error| {
            let _ = diags.error(error);
        });
    })
}
