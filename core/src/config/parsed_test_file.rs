//! A test file as read: its runs with their options. Reading is left to `test_files.rs`.

use std::path::PathBuf;

use formwork_lang::refs::Traversal;
use formwork_lang::syntax::Attribute;
use formwork_value::{Span, Str};

use super::test_mocks::{MockProvider, Override};
use super::{ConditionBlock, ModuleCallSource, PassedProvider, ProviderBlock};
use crate::addr::{InstanceAddr, Target};

/// A test file.
#[derive(Clone, Debug, Default)]
pub struct TestFile {
    /// The path of the file.
    pub file: PathBuf,
    /// The path of the file for display, relative to the module directory.
    pub path: String,
    /// The directory and the name of the file without `.tftest.hcl`, separated by periods.
    pub name: String,
    /// Whether it is in the test directory, and not in the module directory.
    pub is_in_test_dir: bool,
    /// Variable values for all runs of the file, in source order.
    pub variables: Vec<Attribute>,
    /// Provider configurations that replace those of the module.
    pub providers: Vec<ProviderBlock>,
    /// Mock providers, which replace provider configurations.
    pub mocks: Vec<MockProvider>,
    /// Overrides for all its runs.
    pub overrides: Vec<Override>,
    /// The runs, in the order written.
    pub runs: Vec<TestRun>,
}

/// The engine's work in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestCommand {
    /// The run creates a plan.
    Plan,
    /// The run creates a plan and applies it.
    #[default]
    Apply,
}

/// A `run` block.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// The name of the run.
    pub name: Str,
    /// The engine's work.
    pub command: TestCommand,
    /// Options of the plan.
    pub options: TestPlanOptions,
    /// Variable values, in source order.
    pub variables: Vec<Attribute>,
    /// Provider configurations of the file for those of the module; all of the file if empty.
    pub providers: Vec<PassedProvider>,
    /// The assertions, which are evaluated after the plan or apply.
    pub asserts: Vec<ConditionBlock>,
    /// Objects whose conditions must fail.
    pub expect_failures: Vec<Traversal>,
    /// The module that runs instead of the one under test.
    pub module: Option<ModuleCallSource>,
    /// The key of the state, if it is named.
    pub state_key: Option<String>,
    /// Overrides for this run.
    pub overrides: Vec<Override>,
    /// The block's header.
    pub span: Span,
}

/// A `plan_options` block.
#[derive(Clone, Debug, Default)]
pub struct TestPlanOptions {
    /// Whether the plan changes no object.
    pub refresh_only: bool,
    /// Whether real objects are not read first.
    pub skip_refresh: bool,
    /// Instances to be replaced.
    pub replace: Vec<InstanceAddr>,
    /// Targets that the plan is limited to; everything if empty.
    pub targets: Vec<Target>,
}

impl TestRun {
    /// A run without options.
    #[must_use]
    pub fn without_options(name: Str, span: Span) -> Self {
        Self {
            name,
            command: TestCommand::default(),
            options: TestPlanOptions::default(),
            variables: Vec::new(),
            providers: Vec::new(),
            asserts: Vec::new(),
            expect_failures: Vec::new(),
            module: None,
            state_key: None,
            overrides: Vec::new(),
            span,
        }
    }

    /// The key of the state that the run works with: runs with one key share a state.
    #[must_use]
    pub fn state_key(&self) -> String {
        match (&self.state_key, &self.module) {
            // As in Terraform, an empty name is none.
            (Some(key), _) if !key.is_empty() => key.clone(),
            (_, Some(site)) => site.source.to_string(),
            (_, None) => String::new(),
        }
    }
}
