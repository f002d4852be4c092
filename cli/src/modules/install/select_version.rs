//! Version selection for a module from a registry.

use formwork_core::addr::RegistryModuleAddr;
use formwork_core::config::ModuleCallSource;
use formwork_core::version::LooseVersion;
use formwork_value::{Diagnostics, Reported};

use super::{ModuleWalk, module_errors};
use crate::modules::registry::ModuleVersions;

impl ModuleWalk<'_> {
    /// Returns the locked version of a module, if the call allows it.
    pub(super) fn locked_version(
        &self,
        key: &str,
        source: &str,
        call: &ModuleCallSource,
    ) -> Option<LooseVersion> {
        let locked = self.locked.0.get(key).filter(|locked| locked.source == source)?;
        let version: LooseVersion = locked.version.as_ref()?.parse().ok()?;
        let is_allowed = call
            .version
            .as_ref()
            .is_none_or(|(constraints, _)| constraints.allows_version(&version));
        is_allowed.then_some(version)
    }

    /// Returns the newest version that the call allows.
    pub(super) fn choose_newest_version(
        &mut self,
        diags: &mut Diagnostics,
        call: &ModuleCallSource,
        module: &RegistryModuleAddr,
    ) -> Result<LooseVersion, Reported> {
        let call_name = module_errors::call_name(self.sources, call);
        let listed: ModuleVersions = self.registries.versions(module).map_err(|error| {
            diags.error(module_errors::no_versions_error(&call_name, call, &module.host, &error))
        })?;
        for text in &listed.ignored {
            diags.warn(module_errors::ignored_version_warning(
                &call_name,
                call,
                &module.host,
                text,
            ));
        }
        let meets_constraints = |version: &&LooseVersion| match &call.version {
            Some((constraints, _)) => constraints.allows_version(version),
            None => !version.is_prerelease(),
        };
        let newest = listed.versions.iter().rfind(meets_constraints).cloned();
        newest.ok_or_else(|| {
            diags.error(module_errors::no_matching_version_error(
                self.sources,
                call,
                module,
                &listed,
            ))
        })
    }
}
