//! A configuration in memory, with variable values and answers to the engine's host queries.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use formwork_core::config::module_dirs::LocalModuleDirs;
use formwork_core::config::{Config, ConfigFiles, ConfigSource, inputs};
use formwork_core::eval::HostValues;
use formwork_core::provider::ProviderPool;
use formwork_operation::{Operation, OperationInputs};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Str};

/// A configuration with values for its variables.
pub(crate) struct LoadedConfig {
    pub(crate) config: Config,
    pub(crate) sources: Sources,
    pub(crate) variables: BTreeMap<Str, inputs::ResolvedVariable>,
}

impl LoadedConfig {
    pub(crate) fn load(diags: &mut Diagnostics, texts: &InMemoryFiles) -> Option<Self> {
        let mut sources = Sources::new();
        let source =
            ConfigSource { files: texts, dir: Path::new("."), directories: &LocalModuleDirs };
        let config = Config::load(diags, &mut sources, source).ok()?;
        let unset_variables = inputs::UnsetVariableTreatment::Error;
        let variables = inputs::resolve_variables(
            diags,
            &mut sources,
            &config.root,
            Vec::new(),
            unset_variables,
        )
        .ok()?;
        Some(Self { config, sources, variables })
    }

    /// An operation on the configuration, at the beginning of the epoch.
    pub(crate) fn operation<'a>(&'a self, pool: &'a ProviderPool<'a>) -> Operation<'a> {
        let Self { config, sources, variables } = self;
        let inputs = OperationInputs { config, sources, variables, pool };
        let host = HostValues::for_dir("/work", || time::OffsetDateTime::UNIX_EPOCH);
        Operation::new(inputs, host)
    }
}

/// Files in memory.
pub(crate) struct InMemoryFiles(pub(crate) BTreeMap<String, String>);

impl ConfigFiles for InMemoryFiles {
    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        self.0.get(name).map(|text| text.clone().into_bytes()).ok_or(io::ErrorKind::NotFound.into())
    }
}
