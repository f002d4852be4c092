//! Plans the examples: each file below the examples directory is a separate configuration, and every provider
//! that it requires is the documented one.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, io};

use formwork_core::addr::ProviderAddr;
use formwork_core::config::module_dirs::LocalModuleDirs;
use formwork_core::config::{Config, ConfigFiles, ConfigSource, inputs};
use formwork_core::disk::{MAX_CONFIG_FILE_LEN, read_file};
use formwork_core::eval::{HostValues, Results};
use formwork_core::plan::{PlanOptions, make_plan};
use formwork_core::provider::{ProviderLauncher, ProviderPool};
use formwork_core::provisioner::ProvisionerSet;
use formwork_core::session::{Session, SessionInputs};
use formwork_core::state::State;
use formwork_plugin_protocol::client::{Executable, Plugin, Settings, shutdown_all};
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::clock;
use crate::messages;

/// Maximum search depth in the examples directory.
const MAX_EXAMPLES_DEPTH: usize = 8;

/// Plans every example, and returns how many there are.
pub(super) async fn plan_examples(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    program: &Path,
    directory: &Path,
) -> usize {
    let mut examples = Vec::new();
    find_examples(directory, MAX_EXAMPLES_DEPTH, &mut examples);
    examples.sort();
    for example in &examples {
        // Planning stops after reported errors, so each example has its own diagnostics.
        let mut example_diags = Diagnostics::new();
        let planned = plan_example(&mut example_diags, sources, program, example).await;
        let failed = planned.is_err() || example_diags.has_errors();
        let _receipt = diags.append(example_diags);
        if failed {
            let detail = format!(
                "The example {} cannot be planned. See the errors above.",
                example.display()
            );
            let _receipt = diags.error(Diagnostic::error(messages::EXAMPLE_DOES_NOT_PLAN, detail));
        }
    }
    examples.len()
}

fn find_examples(directory: &Path, depth: usize, directories: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() && depth > 0 {
            find_examples(&path, depth - 1, directories);
        } else if path.extension().is_some_and(|extension| extension == "tf") {
            directories.push(path);
        }
    }
}

async fn plan_example(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    program: &Path,
    example: &Path,
) -> Result<(), Reported> {
    let dir = example.parent().unwrap_or(Path::new("."));
    let config_source =
        ConfigSource { files: &SingleFileDir(example), dir, directories: &LocalModuleDirs };
    let config = Config::load(diags, sources, config_source)?;
    let unset_variables = inputs::UnsetVariableTreatment::Error;
    let variables =
        inputs::resolve_variables(diags, sources, &config.root, Vec::new(), unset_variables)?;
    let launcher = ExampleLauncher { program, running: RefCell::default() };
    let pool = ProviderPool::new(&launcher);
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = dir.to_string_lossy().into_owned().into();
    let host_values =
        HostValues { root, ..HostValues::for_dir(&cwd.to_string_lossy(), clock::current_time) };
    let results = Results::new(&config);
    let (state, provisioners, stop) =
        (State::default(), ProvisionerSet::default(), Cell::new(false));
    let session = Session::new(SessionInputs {
        config: &config,
        sources,
        state: &state,
        pool: &pool,
        provisioners: &provisioners,
        results: &results,
        world: &host_values,
        variables: &variables,
        stop: &stop,
    });
    let planned = make_plan(&session, diags, &PlanOptions::default()).await;
    let running = launcher.running.take();
    shutdown_all(running.iter().map(|plugin| &**plugin)).await;
    planned.map(|_plan| ())
}

/// Starts the documented provider, under any name.
struct ExampleLauncher<'p> {
    program: &'p Path,
    running: RefCell<Vec<Rc<Plugin>>>,
}

#[async_trait::async_trait(?Send)]
impl ProviderLauncher for ExampleLauncher<'_> {
    async fn launch_provider(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let path = self.program.to_owned();
        let executable = Executable {
            name: addr.display_string(),
            path,
            arg0: None,
            identity: None,
            env: Vec::new(),
            withheld: Vec::new(),
        };
        let plugin = Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await?;
        let provider = Arc::new(plugin.provider());
        self.running.borrow_mut().push(Rc::new(plugin));
        Ok(provider)
    }
}

/// A directory of which only one file is visible.
struct SingleFileDir<'p>(&'p Path);

impl ConfigFiles for SingleFileDir<'_> {
    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        let name = self.0.file_name().unwrap_or_default();
        Ok(vec![name.to_string_lossy().into_owned()])
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_file(path, MAX_CONFIG_FILE_LEN)
    }
}
