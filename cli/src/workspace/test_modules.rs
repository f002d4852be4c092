//! Test files of the configuration: their errors, and the modules that their run blocks use instead of it.

use std::path::{Path, PathBuf};

use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::parsed_test_file::TestFile;
use formwork_core::config::test_files::{self, TestDirs};
use formwork_core::config::{ConfigSource, test_modules};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::Workspace;
use crate::modules::installed::InstalledForRun;

/// A test file with the modules of its run blocks, each loaded as a root module.
pub(crate) struct LoadedTest<T> {
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The directory and name of the file, separated by periods.
    pub(crate) name: String,
    /// The modules, by run block.
    pub(crate) runs: Vec<LoadedRun<T>>,
}

/// The loaded module of a run block.
pub(crate) struct LoadedRun<T> {
    pub(crate) name: Str,
    pub(crate) config: T,
}

/// Returns the given test directory, or the default one.
pub(super) fn tests_dir(tests: Option<&Path>) -> &Path {
    tests.unwrap_or(Path::new(test_files::DEFAULT_TEST_DIR))
}

impl Workspace<'_> {
    /// Checks the test files in the configuration directory and in the test directory below it, which is
    /// `tests` by default.
    pub(crate) fn check_tests(&mut self, diags: &mut Diagnostics, tests: Option<&Path>) {
        let directories = TestDirs { module: &self.config_dir, tests: tests_dir(tests) };
        test_files::check_test_files(diags, &mut self.sources, &FilesOnDisk, directories);
    }

    /// Reads the test files, in the order in which they run.
    ///
    /// # Errors
    /// A test file has an error.
    pub(crate) fn read_tests(
        &mut self,
        diags: &mut Diagnostics,
        tests: Option<&Path>,
    ) -> Result<Vec<TestFile>, Reported> {
        let directories = TestDirs { module: &self.config_dir, tests: tests_dir(tests) };
        directories.check_is_below_module(diags)?;
        test_files::read_test_files(diags, &mut self.sources, &FilesOnDisk, directories)
    }

    /// Whether a run block of a test file uses its own module.
    pub(crate) fn tests_use_modules(&self, tests: Option<&Path>) -> bool {
        let directories = TestDirs { module: &self.config_dir, tests: tests_dir(tests) };
        let listed = test_modules::list_test_files(&mut Sources::new(), &FilesOnDisk, directories);
        listed.iter().any(|file| !file.modules.is_empty())
    }

    /// Loads the modules that run blocks of test files use instead of the configuration.
    ///
    /// # Errors
    /// A module is not installed or cannot be read.
    pub(crate) fn load_test_run_modules<T>(
        &mut self,
        diags: &mut Diagnostics,
        tests: Option<&Path>,
        load: impl Fn(&mut Diagnostics, &mut Sources, ConfigSource<'_>) -> Result<T, Reported>,
    ) -> Result<Vec<LoadedTest<T>>, Reported> {
        let installed = self.installed_modules(diags)?;
        let directories = TestDirs { module: &self.config_dir, tests: tests_dir(tests) };
        let files = test_modules::list_test_files(&mut self.sources, &FilesOnDisk, directories);
        let mut loaded = Vec::new();
        let mut result = Ok(());
        for file in &files {
            let mut runs = Vec::new();
            for site in &file.modules {
                let key = file.module_key(site);
                let dir = installed.locate(&key, site).map_err(|missing| {
                    let problem = Diagnostic::error(missing.summary, missing.detail);
                    diags.error(problem.at(missing.span))
                });
                let read = dir.and_then(|dir| {
                    let directories = InstalledForRun { installed: &installed, key: &key };
                    let config_source =
                        ConfigSource { files: &FilesOnDisk, dir: &dir, directories: &directories };
                    load(diags, &mut self.sources, config_source)
                });
                match read {
                    Ok(config) => runs.push(LoadedRun { name: site.name.clone(), config }),
                    Err(reported) => result = Err(reported),
                }
            }
            loaded.push(LoadedTest { path: file.path.clone(), name: file.name.clone(), runs });
        }
        result.map(|()| loaded)
    }
}
