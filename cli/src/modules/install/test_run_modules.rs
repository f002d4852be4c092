//! Installation of the modules that run blocks of test files use instead of the configuration.

use std::path::Path;

use formwork_core::config::ModuleCallSource;
use formwork_core::config::files::{FilesOnDisk, normalize_path};
use formwork_core::config::test_files::TestDirs;
use formwork_core::config::test_modules::{self, TestFileWithModules};
use formwork_value::Diagnostics;

use super::{CallingModule, ModuleWalk, ModulesDir};

impl CallingModule<'_> {
    fn root(dir: &Path) -> Self {
        let dir = normalize_path(dir);
        let identity = dir.display().to_string();
        Self { key: String::new(), dir, package: None, identity, outer: None, depth: 0 }
    }

    /// The caller of the modules of run blocks. These modules have no calling module, so they may be, or call,
    /// the configuration itself.
    fn of_runs(dir: &Path) -> Self {
        Self { identity: String::new(), ..Self::root(dir) }
    }
}

impl ModuleWalk<'_> {
    /// Installs the modules that the root module calls, and then the modules of its tests.
    pub(super) fn install_from_root(
        &mut self,
        diags: &mut Diagnostics,
        modules_dir: &ModulesDir<'_>,
    ) {
        let root = CallingModule::root(modules_dir.root);
        self.add_to_manifest("", String::new(), None, root.dir.clone());
        self.install_calls(diags, &root);
        let directories = TestDirs { module: modules_dir.root, tests: modules_dir.tests };
        let files = test_modules::list_test_files(self.sources, &FilesOnDisk, directories);
        // The root module has no key, so the name of a call is its key.
        let with_key = |file: &TestFileWithModules, site: &ModuleCallSource| ModuleCallSource {
            name: file.module_key(site).as_str().into(),
            ..site.clone()
        };
        let calls =
            files.iter().flat_map(|file| file.modules.iter().map(move |site| with_key(file, site)));
        self.install_each_call(diags, &CallingModule::of_runs(modules_dir.root), calls.collect());
    }
}
