//! The modules that runs of test files use instead of the configuration. Their errors are left to
//! `test_files.rs`.

use std::path::PathBuf;

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::Block;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::module_dirs::ModuleCallSource;
use super::test_files::{RUN_BLOCK_SCHEMA, TestDirs, find_test_files};
use super::{ConfigFiles, load, module_block, syntax_error_blocks, terraform_block};
use crate::addr::{ModuleSource, is_identifier};
use crate::messages;

const MODULE_SCHEMA: BodySchema =
    BodySchema { attributes: &[("source", false), ("version", false)], blocks: &[] };

/// A test file, and the modules of its runs.
#[derive(Clone, Debug)]
pub struct TestFileWithModules {
    /// The path of the file. Two files may have the same name: `tests.x.tftest.hcl`, and `tests/x.tftest.hcl`.
    pub path: PathBuf,
    /// The directory and the name of the file without `.tftest.hcl`, separated by periods.
    pub name: String,
    /// The modules, named as their runs.
    pub modules: Vec<ModuleCallSource>,
}

impl TestFileWithModules {
    /// The key of a run's module in the manifest of installed modules.
    #[must_use]
    pub fn module_key(&self, site: &ModuleCallSource) -> String {
        format!("test.{}.{}", self.name, site.name)
    }
}

/// Lists the test files in these directories.
pub fn list_test_files(
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    directories: TestDirs<'_>,
) -> Vec<TestFileWithModules> {
    // Files and blocks with errors are passed over: checking the files reports them.
    let read = |file: super::test_files::FoundTestFile| {
        let mut unused = Diagnostics::new();
        let mut modules = Vec::new();
        if let Some(mut body) = load::parse_config_file(&mut unused, sources, files, &file.path) {
            if unused.has_errors() {
                syntax_error_blocks::take_blocks_with_syntax_errors(&mut body, &unused);
            }
            let mut content = into_content(&mut unused, body, &super::test_files::TEST_FILE_SCHEMA);
            for block in content.take_blocks("run") {
                // The name becomes a part of a directory name.
                let label = block.labels.first().filter(|label| is_identifier(&label.name));
                let Some(name) = label.map(|label| label.name.clone()) else { continue };
                let mut run = into_content(&mut unused, block.body, &RUN_BLOCK_SCHEMA);
                let module = run.take_blocks("module").into_iter().next();
                modules.extend(
                    module.and_then(|block| read_test_module_block(&mut unused, name, block).ok()),
                );
            }
        }
        TestFileWithModules { path: file.path, name: file.name, modules }
    };
    find_test_files(files, directories).into_iter().map(read).collect()
}

/// Reads the block `module` of a run.
///
/// # Errors
/// When the block has no source, or one of its arguments is invalid.
pub(super) fn read_test_module_block(
    diags: &mut Diagnostics,
    name: Str,
    block: Block,
) -> Result<ModuleCallSource, Reported> {
    let span = block.header;
    let mut content = into_content(diags, block.body, &MODULE_SCHEMA);
    let version = content.take_attribute("version");
    let is_versioned = version.is_some();
    let version = version.map(|attribute| {
        let constraints = terraform_block::read_loose_constraint(diags, &attribute.expr)?;
        Ok(constraints.map(|constraints| (constraints, attribute.expr.span)))
    });
    let Some(attribute) = content.take_attribute("source") else {
        let detail = "The argument \"source\" is required in the `module` block of a run.";
        let missing = Diagnostic::error(messages::MISSING_RUN_MODULE_SOURCE, detail);
        return Err(diags.error(missing.at(span)));
    };
    let (source, address) = module_block::read_module_source(diags, &attribute, is_versioned)?;
    if matches!(address, ModuleSource::Package(..)) {
        let detail = "Only local or registry module sources are currently supported from within test run blocks.";
        let refused = Diagnostic::error(messages::INVALID_MODULE_SOURCE_ADDRESS, detail);
        return Err(diags.error(refused.at(attribute.span)));
    }
    let version = version.transpose()?.flatten();
    Ok(ModuleCallSource { name, source, address, source_span: attribute.expr.span, version, span })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::config_from_text::InMemoryFiles;
    use super::*;

    #[test]
    fn modules_of_runs_are_listed_by_file_with_the_keys_of_terraform() {
        let files = InMemoryFiles::from_fixture(
            r#"
//- main.tftest.hcl
run "setup" {
  module {
    source  = "a/b/c"
    version = "~> 1.0"
  }
}
run "other" {}
run "../../elsewhere" {
  module {
    source = "./m"
  }
}
run "remote" {
  module {
    source = "git::https://example.com/x.git"
  }
}
//- tests/deep/a.tftest.hcl
run "x" {
  module {
    source = "./m"
  }
}
//- tests/deep/b.tftest.json
{"run": {"x": {"module": {"source": "./n"}}}}
//- tests/deep/c.tftest.hcl
run "x" {
  module {}
}
"#,
        );
        let directories = TestDirs { module: Path::new("."), tests: Path::new("./tests/deep") };
        let listed = list_test_files(&mut Sources::new(), &files, directories);
        let lines = listed.iter().map(|file| {
            let modules = file.modules.iter();
            let modules = modules.map(|site| format!("{}={}", file.module_key(site), site.source));
            format!("{}: {}", file.name, modules.collect::<Vec<_>>().join(" "))
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                "main: test.main.setup=a/b/c",
                "tests.deep.a: test.tests.deep.a.x=./m",
                "tests.deep.b.tftest.json: test.tests.deep.b.tftest.json.x=./n",
                "tests.deep.c: ",
            ]
        );
        assert!(listed[0].modules[0].version.is_some());
    }
}
