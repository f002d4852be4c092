//! Reads test files, `*.tftest.hcl` and `*.tftest.json`, and reports errors in the files only:
//! a run checks whether the objects that they refer to exist.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use formwork_lang::content::{BodySchema, Content, into_content, into_just_attributes};
use formwork_lang::refs::{self, Traversal};
use formwork_lang::syntax::{Attribute, Block, Body};
use formwork_value::diag::{Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::arguments::{check_label_name, format_span};
use super::files::normalize_path;
use super::parsed_test_file::{TestCommand, TestFile, TestPlanOptions, TestRun};
use super::test_mocks::{MockReader, OVERRIDE_KINDS, OverrideDuring, is_one_of_keywords};
use super::{
    ConfigFiles, condition, constant, files, load, module_block, provider, syntax_error_blocks,
    test_modules, traversal,
};
use crate::addr::{InstanceAddr, InstanceKey, Target};
use crate::messages;

pub(super) const TEST_FILE_SCHEMA: BodySchema = BodySchema {
    attributes: &[],
    blocks: &[
        ("run", &["name"]),
        ("variables", &[]),
        ("provider", &["name"]),
        ("mock_provider", &["name"]),
        OVERRIDE_KINDS[0],
        OVERRIDE_KINDS[1],
        OVERRIDE_KINDS[2],
    ],
};

pub(super) const RUN_BLOCK_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("command", false),
        ("providers", false),
        ("expect_failures", false),
        ("state_key", false),
    ],
    blocks: &[
        ("plan_options", &[]),
        ("assert", &[]),
        ("variables", &[]),
        ("module", &[]),
        OVERRIDE_KINDS[0],
        OVERRIDE_KINDS[1],
        OVERRIDE_KINDS[2],
    ],
};

const PLAN_OPTIONS_SCHEMA: BodySchema = BodySchema {
    attributes: &[("mode", false), ("refresh", false), ("replace", false), ("target", false)],
    blocks: &[],
};

/// The directories of a module that can contain its test files.
#[derive(Clone, Copy, Debug)]
pub struct TestDirs<'a> {
    /// The module directory.
    pub module: &'a Path,
    /// The test directory, relative to the module directory.
    pub tests: &'a Path,
}

impl TestDirs<'_> {
    /// The normalized path of the test directory below the module directory. Empty if both are the same.
    fn path_below_module(&self) -> PathBuf {
        let is_below =
            |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
        let below: PathBuf = self.tests.components().filter(is_below).collect();
        let below = normalize_path(&below);
        if below == Path::new(".") { PathBuf::new() } else { below }
    }

    /// Reports a test directory that is not below the module directory. Only runs require this: as in
    /// Terraform, other commands treat `/a` as `a`.
    ///
    /// # Errors
    /// When the test directory is not below the module directory.
    pub fn check_is_below_module(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        // Without access to the disk, as in Terraform: `a/../b` is `b`.
        let named = normalize_path(self.tests);
        if !self.tests.as_os_str().is_empty() && named.is_relative() && !named.starts_with("..") {
            return Ok(());
        }
        let detail = "The testing directory must be a relative path pointing to a directory local to the configuration directory.";
        Err(diags.error(Diagnostic::error(messages::INVALID_TEST_DIRECTORY, detail)))
    }

    /// Reports a test directory that cannot be read, and one that is named and does not exist. The default one
    /// need not exist.
    fn check_exists(&self, diags: &mut Diagnostics, files: &dyn ConfigFiles) {
        let directory = self.module.join(self.path_below_module());
        let Err(error) = files.list(&directory) else { return };
        if error.kind() != ErrorKind::NotFound {
            let detail = format!("{} cannot be read: {error}.", directory.display());
            let _ = diags.error(Diagnostic::error(messages::UNREADABLE_TEST_DIRECTORY, detail));
        } else if self.path_below_module() != Path::new(DEFAULT_TEST_DIR) {
            let shown = self.path_below_module();
            let detail = format!("Requested test directory {} does not exist.", shown.display());
            diags.warn(Diagnostic::warning(messages::TEST_DIRECTORY_DOES_NOT_EXIST, detail));
        }
    }
}

/// The default test directory.
pub const DEFAULT_TEST_DIR: &str = "tests";

/// Reports errors in the test files of a directory, and of its directory `tests`, which need not
/// exist.
pub fn check_test_files(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    directories: TestDirs<'_>,
) {
    drop(read_test_files(diags, sources, files, directories));
}

/// Reads the test files of a directory and of its test directory, in the order in which they run.
///
/// # Errors
/// When a test file has an error.
pub fn read_test_files(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    directories: TestDirs<'_>,
) -> Result<Vec<TestFile>, Reported> {
    let mut file_diags = Diagnostics::new();
    directories.check_exists(&mut file_diags, files);
    let mut test_files = Vec::new();
    for file in find_test_files(files, directories) {
        let mut wrong = Diagnostics::new();
        if let Some(mut body) = load::parse_config_file(&mut wrong, sources, files, &file.path) {
            // Only the syntax errors of this file show which of its blocks are broken.
            if wrong.has_errors() {
                syntax_error_blocks::take_blocks_with_syntax_errors(&mut body, &wrong);
            }
            let path = load::display_path(&file.path);
            let FoundTestFile { path: file, name, is_in_test_dir } = file;
            let mut test_file =
                TestFile { file, path, name, is_in_test_dir, ..TestFile::default() };
            let module = directories.module;
            TestFileReader { diags: &mut wrong, sources, files, module }
                .read_file(body, &mut test_file);
            test_files.push(test_file);
        }
        let _ = file_diags.append(wrong);
    }
    // As in Terraform, by the path of the file.
    test_files.sort_by(|first, second| first.path.cmp(&second.path));
    diags.append(load::sort_diagnostics_by_position(file_diags)).map(|()| test_files)
}

/// A test file that was found.
pub(super) struct FoundTestFile {
    pub(super) path: PathBuf,
    /// The directory and the name of the file without `.tftest.hcl`, separated by periods.
    pub(super) name: String,
    /// Whether it is in the test directory.
    is_in_test_dir: bool,
}

/// Lists the test files of a module by directory and name.
pub(super) fn find_test_files(
    files: &dyn ConfigFiles,
    directories: TestDirs<'_>,
) -> Vec<FoundTestFile> {
    let mut test_files = Vec::new();
    let below = directories.path_below_module();
    // The module directory may be the test directory as well.
    let both = [PathBuf::new(), below.clone()];
    for below in &both[usize::from(below.as_os_str().is_empty())..] {
        let dir = directories.module.join(below);
        let mut names = files.list(&dir).unwrap_or_default();
        // Terraform ignores leftovers of editors here as well.
        names.retain(|name| {
            let is_test = name.ends_with(".tftest.hcl") || name.ends_with(".tftest.json");
            is_test && !files::is_editor_leftover(name)
        });
        // The order of messages must not depend on the file system.
        names.sort();
        let parts = below.components();
        let prefix: String = parts.map(|part| format!("{}.", part.as_os_str().display())).collect();
        test_files.extend(names.into_iter().map(|name| FoundTestFile {
            is_in_test_dir: !below.as_os_str().is_empty(),
            path: dir.join(&name),
            name: format!("{prefix}{}", name.strip_suffix(".tftest.hcl").unwrap_or(&name)),
        }));
    }
    test_files
}

struct TestFileReader<'c> {
    diags: &'c mut Diagnostics,
    sources: &'c mut Sources,
    files: &'c dyn ConfigFiles,
    /// The directory of the module under test.
    module: &'c Path,
}

impl TestFileReader<'_> {
    fn report_error(&mut self, summary: impl Into<Summary>, detail: &str, span: Span) {
        let _ = self.diags.error(Diagnostic::error(summary, detail).at(span));
    }

    fn read_file(&mut self, body: Body, test_file: &mut TestFile) {
        let content = into_content(self.diags, body, &TEST_FILE_SCHEMA);
        self.report_repeated_blocks(&content, &["variables"], "This file");
        let (mut runs, mut providers) = (BTreeMap::new(), BTreeMap::new());
        for block in content.blocks {
            let label = block.labels.first().cloned();
            match (block.kind.name.as_str(), label) {
                ("run", Some(name)) => {
                    if let Some(first) = runs.insert(name.name.clone(), block.header) {
                        let first = format_span(self.sources, first);
                        let detail = format!("The run `{}` already exists at {first}.", name.name);
                        self.report_error(messages::DUPLICATE_RUN_NAMES, &detail, block.header);
                    }
                    let _ = check_label_name(self.diags, "run block name", &name);
                    let run = self.read_run(&name.name, block);
                    test_file.runs.push(run);
                }
                ("variables", _) => {
                    test_file.variables = into_just_attributes(self.diags, block.body);
                }
                (kind, Some(name)) => {
                    // An invalid alias is reported when the block is read.
                    let alias = provider_alias(&block.body);
                    // A mock replaces a provider, so both share their names.
                    if let Some(first) = providers.insert((name.name, alias), block.header) {
                        let first = format_span(self.sources, first);
                        let detail = format!("This provider is already configured at {first}.");
                        self.report_error(
                            messages::DUPLICATE_PROVIDER_BLOCK,
                            &detail,
                            block.header,
                        );
                    }
                    if kind == "mock_provider" {
                        let read = self.mock_reader().read_mock_provider(block);
                        test_file.mocks.extend(read);
                    } else {
                        let read = provider::read_provider_block(self.diags, self.sources, block);
                        test_file.providers.extend(read);
                    }
                }
                _ => {
                    let during = OverrideDuring::default();
                    self.mock_reader().read_override(block, during, &mut test_file.overrides);
                }
            }
        }
    }

    fn mock_reader(&mut self) -> MockReader<'_> {
        let Self { diags, sources, files, module } = self;
        MockReader { diags, sources, files: *files, module }
    }

    /// Reports blocks of which there can be one, but are several.
    fn report_repeated_blocks(&mut self, content: &Content, kinds: &[&str], owner: &str) {
        for kind in kinds {
            let mut all = content.blocks.iter().filter(|block| block.kind.name == *kind);
            let Some(first) = all.next() else { continue };
            let first = format_span(self.sources, first.header);
            for block in all {
                let detail = format!("{owner} already has such a block at {first}.");
                self.report_error(
                    messages::MULTIPLE_RUN_BLOCKS.with(&[&format_args!("{kind:?}")]),
                    &detail,
                    block.header,
                );
            }
        }
    }

    fn read_run(&mut self, name: &Str, block: Block) -> TestRun {
        let mut run = TestRun::without_options(name.clone(), block.header);
        let mut content = into_content(self.diags, block.body, &RUN_BLOCK_SCHEMA);
        self.report_repeated_blocks(&content, &["variables", "module", "plan_options"], "This run");
        if self.read_keyword(content.take_attribute("command"), &["apply", "plan"]).as_deref()
            == Some("plan")
        {
            run.command = TestCommand::Plan;
        }
        if let Some(passed) = content.take_attribute("providers") {
            let read = module_block::read_passed_providers(self.diags, self.sources, passed.expr);
            run.providers = read.unwrap_or_default();
        }
        run.expect_failures = self.read_reference_list(content.take_attribute("expect_failures"));
        // A key that could not be read was reported, so the run is never done.
        if let Some(key) = content.take_attribute("state_key") {
            run.state_key = constant::constant_string(self.diags, &key.expr).ok();
        }
        let asserts = content.take_blocks("assert");
        run.asserts = condition::read_conditions(self.diags, self.sources, asserts);
        for block in content.blocks {
            match block.kind.name.as_str() {
                "plan_options" => run.options = self.read_plan_options(block.body),
                "variables" => run.variables = into_just_attributes(self.diags, block.body),
                "module" => {
                    run.module =
                        test_modules::read_test_module_block(self.diags, name.clone(), block).ok();
                }
                _ => {
                    let during = OverrideDuring::default();
                    self.mock_reader().read_override(block, during, &mut run.overrides);
                }
            }
        }
        run
    }

    fn read_plan_options(&mut self, body: Body) -> TestPlanOptions {
        let mut options = TestPlanOptions::default();
        let mut content = into_content(self.diags, body, &PLAN_OPTIONS_SCHEMA);
        let mode = self.read_keyword(content.take_attribute("mode"), &["normal", "refresh-only"]);
        options.refresh_only = mode.as_deref() == Some("refresh-only");
        if let Some(refresh) = content.take_attribute("refresh") {
            let read = constant::constant_bool(self.diags, &refresh.expr);
            options.skip_refresh = read.is_ok_and(|refresh| !refresh);
            if options.refresh_only && options.skip_refresh {
                let detail =
                    "The option `refresh` cannot be false in a run with the mode `refresh-only`.";
                self.report_error(messages::INCOMPATIBLE_PLAN_OPTIONS, detail, refresh.span);
            }
        }
        options.replace =
            self.read_targets(content.take_attribute("replace"), Self::expect_instance);
        options.targets =
            self.read_targets(content.take_attribute("target"), |_, target, _| Some(target));
        options
    }

    /// An argument that is a list of addresses.
    fn read_targets<T>(
        &mut self,
        attribute: Option<Attribute>,
        take: impl Fn(&mut Self, Target, Span) -> Option<T>,
    ) -> Vec<T> {
        let Some(attribute) = attribute else { return Vec::new() };
        let mut targets = Vec::new();
        for entry in traversal::expect_list_entries(self.diags, attribute.expr).unwrap_or_default()
        {
            if let Ok(target) = traversal::parse_target_expr(self.diags, &entry) {
                targets.extend(take(self, target, entry.span));
            }
        }
        targets
    }

    /// The instance that an address names.
    fn expect_instance(&mut self, target: Target, span: Span) -> Option<InstanceAddr> {
        match target {
            Target::Instance(addr) => Some(addr),
            Target::Resource(addr) => Some(addr.instance_addr(InstanceKey::None)),
            Target::Module(_) => {
                let detail = "Only resource instances can be replaced. Write an address such as `aws_instance.web`.";
                self.report_error(messages::INVALID_ADDRESS, detail, span);
                None
            }
        }
    }

    /// Reads an argument that must be one of some keywords, written without quotes.
    fn read_keyword(&mut self, attribute: Option<Attribute>, words: &[&str]) -> Option<Str> {
        let attribute = attribute?;
        if is_one_of_keywords(&attribute.expr, words) {
            return refs::as_traversal(&attribute.expr).map(|word| word.root.name);
        }
        let name = &attribute.name.name;
        let detail = format!(
            "The value must be one of these keywords, without quotes: {}.",
            words.join(", ")
        );
        self.report_error(
            messages::INVALID_RUN_KEYWORD.with(&[&format_args!("{name:?}")]),
            &detail,
            attribute.expr.span,
        );
        None
    }

    /// An argument that is a list of references.
    fn read_reference_list(&mut self, attribute: Option<Attribute>) -> Vec<Traversal> {
        let Some(attribute) = attribute else { return Vec::new() };
        let entries =
            traversal::expect_list_entries(self.diags, attribute.expr).unwrap_or_default();
        entries
            .iter()
            .filter_map(|entry| traversal::parse_traversal_expr(self.diags, entry).ok())
            .collect()
    }
}

/// The alias of a provider, if it has one.
fn provider_alias(body: &Body) -> Option<Str> {
    let alias = body.find_attribute("alias")?;
    let text = constant::constant_string(&mut Diagnostics::new(), &alias.expr).ok()?;
    Some(text.as_str().into())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::config_from_text::{InMemoryFiles, format_diagnostics};
    use super::super::files::FilesOnDisk;
    use super::*;

    fn found(fixture: &str) -> String {
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let directories = TestDirs { module: Path::new("."), tests: Path::new("tests") };
        check_test_files(
            &mut diags,
            &mut sources,
            &InMemoryFiles::from_fixture(fixture),
            directories,
        );
        let report = format_diagnostics(&sources, &diags);
        report.lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_test_directory_exists_below_the_module_directory() {
        let module = tempfile::tempdir().unwrap();
        let found_at = |tests: &str| {
            let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
            let directories = TestDirs { module: module.path(), tests: Path::new(tests) };
            if directories.check_is_below_module(&mut diags).is_ok() {
                check_test_files(&mut diags, &mut sources, &FilesOnDisk, directories);
            }
            diags
                .iter()
                .map(|diagnostic| diagnostic.summary.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        for invalid in ["", "..", "../a", "a/../..", "/a"] {
            assert_eq!(found_at(invalid), "Invalid testing directory", "{invalid:?}");
        }
        for below in ["tests", "./tests", ".", "./", "a/.."] {
            assert_eq!(found_at(below), "", "{below:?}");
        }
        for missing in ["a", "./a", "b/../a"] {
            assert_eq!(found_at(missing), "Test directory does not exist", "{missing:?}");
        }
    }

    #[test]
    fn a_valid_test_file_has_no_errors() {
        let text = r#"
//- a.tftest.hcl
variables {
  a = 1
}
provider "aws" {
  region = "x"
}
provider "aws" {
  alias = "b"
}
mock_provider "tls" {
  mock_resource "a_b" {
    defaults        = { id = "x" }
    override_during = plan
  }
  override_data {
    target = module.a.data.b.c[0]
    values = {}
  }
}
run "one" {
  command         = plan
  expect_failures = [var.a, check.c]
  providers       = { aws = aws.b }
  state_key       = "k"
  plan_options {
    mode    = normal
    refresh = false
    target  = [a.b]
    replace = [a.c["x"]]
  }
  module {
    source = "./m"
  }
  variables {
    a = run.zero.b
  }
  assert {
    condition     = output.x == 1
    error_message = "No."
  }
  override_module {
    target  = module.m
    outputs = { a = 1 }
  }
}
run "two" {}
//- b.tftest.json
{"run": {"three": {"command": "plan", "variables": {"a": 1}}}}
"#;
        assert_eq!(found(text), "");
    }

    #[test]
    fn invalid_structure_of_test_files_is_reported() {
        let text = r#"
//- main.tf
nothing of this is looked at
//- a.tftest.hcl
variables {}
variables {
  b {}
}
provider "x" {}
mock_provider "x" {
  alias = "1 2"
  nope  = 1
  mock_foo "a" {}
}
provider "x" {}
run "a" {
  command         = foo
  nope            = 1
  expect_failures = [1]
  providers       = 3
  plan_options {
    mode    = nope
    refresh = "x"
    target  = 1
  }
  module {}
  module {}
  assert {
    condition = true
  }
}
run "a" {}
run "1" {}
run {}
foo {}
"#;
        expect![[r#"
            error a.tftest.hcl:2,1-10 Multiple "variables" blocks
            error a.tftest.hcl:3,3-4 Unexpected "b" block
            error a.tftest.hcl:7,11-16 Invalid provider configuration alias
            error a.tftest.hcl:8,3-7 Unsupported argument
            error a.tftest.hcl:9,3-11 Unsupported block type
            error a.tftest.hcl:11,1-13 Duplicate provider block
            error a.tftest.hcl:13,21-24 Invalid "command" keyword
            error a.tftest.hcl:14,3-7 Unsupported argument
            error a.tftest.hcl:15,22-23 Invalid expression
            error a.tftest.hcl:16,21-22 Invalid expression
            error a.tftest.hcl:18,15-19 Invalid "mode" keyword
            error a.tftest.hcl:19,16-17 Unsuitable value type
            error a.tftest.hcl:20,15-16 Invalid expression
            error a.tftest.hcl:22,3-9 Missing "source" attribute for module block
            error a.tftest.hcl:23,3-9 Multiple "module" blocks
            error a.tftest.hcl:23,3-9 Missing "source" attribute for module block
            error a.tftest.hcl:24,10-11 Missing required argument
            error a.tftest.hcl:25,17-21 Invalid assert expression
            error a.tftest.hcl:28,1-8 Duplicate "run" block names
            error a.tftest.hcl:29,5-8 Invalid run block name
            error a.tftest.hcl:30,5-6 Missing name for run
            error a.tftest.hcl:31,1-4 Unsupported block type"#]]
        .assert_eq(&found(text));
    }

    #[test]
    fn errors_in_overrides_and_in_test_and_mock_files_are_reported() {
        let text = r#"
//- b.tftest.hcl
override_resource {
  values = 3
}
override_data {
  target          = a.b
  override_during = nope
}
override_module {
  target  = data.a.b
  outputs = [1]
}
run "x" {
  command =
}
run "y" {
  command = 1
}
//- tests/c.tftest.hcl
foo {
//- tests/deep/d.tftest.hcl
foo {
//- .e.tftest.hcl
foo {
//- f.tftest.json
{"run": {"x": {"command": "foo", "nope": 1}}, "foo": 1}
"#;
        expect![[r#"
            error b.tftest.hcl:1,1-18 Missing target attribute
            error b.tftest.hcl:2,3-13 Invalid values attribute
            error b.tftest.hcl:5,3-24 Invalid override target
            error b.tftest.hcl:6,3-25 Invalid override_during value
            error b.tftest.hcl:9,3-21 Invalid override target
            error b.tftest.hcl:10,3-16 Invalid outputs attribute
            error b.tftest.hcl:13,12-14,1 Invalid expression
            error b.tftest.hcl:16,13-14 Invalid "command" keyword
            error f.tftest.json:1,27-32 Invalid "command" keyword
            error f.tftest.json:1,34-40 Extraneous JSON object property
            error f.tftest.json:1,47-52 Extraneous JSON object property
            error tests/c.tftest.hcl:1,5-6 Unclosed configuration block"#]]
        .assert_eq(&found(text));
    }

    #[test]
    fn runs_are_read_with_their_options_in_the_order_of_paths() {
        let text = r#"
//- tests/b.tftest.hcl
variables {
  a = 1
}
provider "aws" {
  alias = "x"
}
run "one" {
  command         = plan
  expect_failures = [var.a]
  state_key       = "k"
  providers       = { aws = aws.x }
  plan_options {
    refresh = false
    target  = [a.b]
    replace = [a.c]
  }
}
run "two" {
  plan_options {
    mode = refresh-only
  }
  module {
    source = "./m"
  }
}
//- a.tftest.json
{"run": {"three": {"command": "plan"}}}
"#;
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let directories = TestDirs { module: Path::new("."), tests: Path::new("tests") };
        let test_files = read_test_files(
            &mut diags,
            &mut sources,
            &InMemoryFiles::from_fixture(text),
            directories,
        )
        .unwrap();
        let paths: Vec<&str> = test_files.iter().map(|test_file| test_file.path.as_str()).collect();
        assert_eq!(paths, ["a.tftest.json", "tests/b.tftest.hcl"]);
        let [json, native] = &test_files[..] else { unreachable!() };
        assert_eq!(json.runs[0].command, TestCommand::Plan);
        assert!(native.is_in_test_dir && !json.is_in_test_dir);
        assert_eq!((native.variables.len(), native.providers.len()), (1, 1));
        let [plan_run, apply_run] = &native.runs[..] else { panic!("{:?}", native.runs) };
        assert_eq!(plan_run.command, TestCommand::Plan);
        assert!(plan_run.options.skip_refresh && !plan_run.options.refresh_only);
        assert!(apply_run.options.refresh_only && !apply_run.options.skip_refresh);
        assert_eq!(plan_run.options.targets[0].to_string(), "a.b");
        assert_eq!(plan_run.options.replace[0].to_string(), "a.c");
        assert_eq!(plan_run.providers[0].in_caller.to_string(), "aws.x");
        assert_eq!((plan_run.expect_failures.len(), plan_run.state_key().as_str()), (1, "k"));
        assert_eq!(
            (apply_run.command, apply_run.state_key().as_str()),
            (TestCommand::Apply, "./m")
        );
    }
}
