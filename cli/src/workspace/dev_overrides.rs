//! Warnings about development overrides: providers whose programs are specified in the CLI configuration.
//! Terraform prints them for commands that use real objects or check a configuration. The output of other
//! commands is often parsed by programs.

use formwork_value::{Diagnostic, Diagnostics};

use super::Workspace;
use crate::messages;

/// Condition for the warning of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverrideWarningCondition {
    /// The command never warns.
    Never,
    /// The command warns, even if the configuration is invalid.
    Always,
    /// The command warns if the root module can be read and its backend is initialized.
    WithBackend,
}

impl Workspace<'_> {
    /// Warns about overrides before any checks.
    pub(crate) fn warn_of_overrides(
        &mut self,
        diags: &mut Diagnostics,
        when: OverrideWarningCondition,
    ) {
        let Some(list) = self.overrides_text() else { return };
        let warns = match when {
            OverrideWarningCondition::Never => false,
            OverrideWarningCondition::Always => true,
            OverrideWarningCondition::WithBackend => self.has_backend(),
        };
        if warns {
            let detail = format!(
                "{list}\n\nThe behavior may therefore not match any released version of the provider and applying changes may cause the state to become incompatible with published releases."
            );
            diags.warn(Diagnostic::warning(
                messages::PROVIDER_DEVELOPMENT_OVERRIDES_ARE_IN_EFFECT,
                detail,
            ));
        }
    }

    /// Warns that `init` installs nothing for overridden providers.
    pub(crate) fn warn_of_overrides_in_init(&self, diags: &mut Diagnostics) {
        if let Some(list) = self.overrides_text() {
            let detail = format!(
                "{list}\n\nSkip formwork init when using provider development overrides. It is not necessary: nothing is installed for these providers."
            );
            diags.warn(Diagnostic::warning(
                messages::PROVIDER_DEVELOPMENT_OVERRIDES_ARE_IN_EFFECT,
                detail,
            ));
        }
    }

    fn overrides_text(&self) -> Option<String> {
        let overrides = &self.provider_dirs(&[]).settings.overrides;
        if overrides.is_empty() {
            return None;
        }
        let mut lines: Vec<String> = overrides
            .iter()
            .map(|(provider, directory)| format!(" - {provider} in {}", directory.display()))
            .collect();
        lines.insert(
            0,
            "The following provider development overrides are set in the CLI configuration:".into(),
        );
        Some(lines.join("\n"))
    }

    fn has_backend(&mut self) -> bool {
        let unreported = &mut Diagnostics::new();
        let backend = self.root_module(unreported).map(|module| module.settings.backend);
        backend.is_ok_and(|backend| self.is_initialized(backend.as_ref()))
    }
}
