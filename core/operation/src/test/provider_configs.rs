//! Provider configurations of test files, which replace those of the module.

use std::collections::BTreeMap;

use formwork_core::addr::{LocalProviderConfig, ModulePath, ProviderAddr, ProviderConfigAddr};
use formwork_core::config::parsed_test_file::{TestFile, TestRun};
use formwork_core::config::test_mocks::MockProvider;
use formwork_core::config::{
    Config, ImportBlock, Module, ModuleCall, ProviderBlock, RequiredProvider,
};
use formwork_core::eval::TestScope;
use formwork_core::provider::Mocks;
use formwork_core::version::VersionConstraints;
use formwork_lang::syntax::{Body, Expr, ExprKind, ObjectItem};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Value};

use super::RunOfTestFile;
use crate::messages;

/// Returns a copy of a run's module with the provider configurations of the test file. Their arguments
/// are evaluated here, because their names refer to the test file.
///
/// # Errors
/// Returns an error if the run uses a provider configuration that is not in the file, or if an argument
/// has no value.
pub(super) fn with_test_providers(
    diags: &mut Diagnostics,
    config: &Config,
    run: RunOfTestFile<'_>,
    scope: &TestScope<'_>,
) -> Result<(Config, Mocks), Reported> {
    let (mut config, mut mocks) = (config.clone(), Mocks::default());
    let blocks = provider_blocks_of_run(diags, run.test_file, run.run)?;
    if blocks.is_empty() {
        return Ok((config, mocks));
    }
    let (mut root, required) = (Module::clone(&config.root), config.provider_requirements());
    let mut result = Ok(());
    for TestProviderConfig { mut block, mock } in blocks {
        // As in Terraform, a provider that the module does not use need not be installed.
        if !module_needs_provider_config(&root, &required, &block.local) {
            continue;
        }
        block.provider = provider_addr_of_local_name(&root, &block.local);
        if let Some(mock) = mock {
            let (module, alias) = (ModulePath::root(), block.local.alias.clone());
            let addr = ProviderConfigAddr { module, provider: block.provider.clone(), alias };
            mocks.providers.insert(addr, mock.clone());
        }
        // Evaluated now and not in the graph, where the names would refer to the module.
        match with_literal_values(diags, scope, block.body) {
            Ok(body) => block.body = body,
            Err(reported) => {
                result = Err(reported);
                continue;
            }
        }
        root.providers.insert(block.local.clone(), block);
    }
    result?;
    config.replace_root_module(root);
    Ok((config, mocks))
}

/// A provider configuration of a test file.
struct TestProviderConfig<'a> {
    block: ProviderBlock,
    /// The mock, if the provider is mocked.
    mock: Option<&'a MockProvider>,
}

/// Whether a module uses a provider configuration. The default one serves modules that specify
/// none.
fn is_default_or_referenced(module: &Module, local: &LocalProviderConfig) -> bool {
    let is_passed =
        |call: &ModuleCall| call.providers.iter().any(|passed| passed.in_caller == *local);
    let is_declared = |required: &RequiredProvider| required.aliases.contains(local);
    let is_imported_by = |import: &ImportBlock| {
        import.provider.as_ref().is_some_and(|(provider, _)| provider == local)
    };
    local.alias.is_none()
        || module.providers.contains_key(local)
        || module.settings.required_providers.values().any(is_declared)
        || module.imports.iter().any(is_imported_by)
        || module.resources.values().any(|resource| resource.local_provider == *local)
        || module.calls.values().any(is_passed)
}

/// The provider configurations for a run, under the names that its module uses for them.
fn provider_blocks_of_run<'a>(
    diags: &mut Diagnostics,
    test_file: &'a TestFile,
    run: &TestRun,
) -> Result<Vec<TestProviderConfig<'a>>, Reported> {
    let unmocked = test_file
        .providers
        .iter()
        .map(|block| TestProviderConfig { block: block.clone(), mock: None });
    let mocks = test_file.mocks.iter();
    let mocks =
        mocks.map(|mock| TestProviderConfig { block: mock.block.clone(), mock: Some(mock) });
    let available: Vec<TestProviderConfig<'_>> = unmocked.chain(mocks).collect();
    // A run that specifies none gets all of the file's under their own names.
    if run.providers.is_empty() {
        return Ok(available);
    }
    let mut blocks = Vec::new();
    let mut result = Ok(());
    for reference in &run.providers {
        match available.iter().find(|candidate| candidate.block.local == reference.in_caller) {
            Some(TestProviderConfig { block, mock }) => {
                let block = ProviderBlock { local: reference.in_child.clone(), ..block.clone() };
                blocks.push(TestProviderConfig { block, mock: *mock });
            }
            None => {
                let detail =
                    "This provider block references a provider definition that does not exist.";
                let summary = messages::MISSING_PROVIDER_DEFINITION.with(&[&reference.in_caller]);
                let missing = Diagnostic::error(summary, detail);
                result = Err(diags.error(missing.at(reference.caller_span)));
            }
        }
    }
    result.map(|()| blocks)
}

/// The provider configurations of the file that a run gets, under the names in its module.
pub(super) fn provider_blocks_needed_by_run(
    config: &Config,
    test_file: &TestFile,
    run: &TestRun,
) -> Vec<ProviderBlock> {
    let required = config.provider_requirements();
    // Errors are reported where the configurations are inserted.
    let blocks =
        provider_blocks_of_run(&mut Diagnostics::new(), test_file, run).unwrap_or_default();
    let blocks = blocks.into_iter().map(|config_of_file| config_of_file.block);
    blocks
        .filter(|block| module_needs_provider_config(&config.root, &required, &block.local))
        .collect()
}

/// Whether a module uses a provider under a local name.
fn module_needs_provider_config(
    root: &Module,
    required: &BTreeMap<ProviderAddr, VersionConstraints>,
    local: &LocalProviderConfig,
) -> bool {
    required.contains_key(&provider_addr_of_local_name(root, local))
        && is_default_or_referenced(root, local)
}

/// The address that a local name refers to in a module.
fn provider_addr_of_local_name(module: &Module, local: &LocalProviderConfig) -> ProviderAddr {
    let required = module.settings.required_providers.get(&local.name);
    required.map_or_else(
        || ProviderAddr::implied_by_name(&local.name),
        |required| required.source.clone(),
    )
}

/// Returns the body with values instead of its expressions.
fn with_literal_values(
    diags: &mut Diagnostics,
    scope: &TestScope<'_>,
    body: Body,
) -> Result<Body, Reported> {
    let mut body = body;
    let mut result = Ok(());
    for attribute in body.attributes.iter_mut().chain(&mut body.undecided) {
        match scope.evaluate(diags, &attribute.expr) {
            Ok(value) => attribute.expr = literal_expr(&value, attribute.expr.span),
            Err(reported) => result = Err(reported),
        }
    }
    let mut blocks = Vec::new();
    for mut block in std::mem::take(&mut body.blocks) {
        // Blocks are processed separately because their arguments are evaluated one by one. The
        // content of a repeated block has its own names.
        if block.kind.name != "dynamic" {
            match with_literal_values(diags, scope, block.body.clone()) {
                Ok(body) => block.body = body,
                Err(reported) => result = Err(reported),
            }
        }
        blocks.push(block);
    }
    body.blocks = blocks;
    result.map(|()| body)
}

/// Returns an expression with this value.
fn literal_expr(value: &Value, span: Span) -> Expr {
    // An expression has no marks. The provider would receive the value without them anyway.
    let (value, _) = value.clone().unmark();
    let kind = match &value {
        Value::Bool(value) => ExprKind::Bool(*value),
        Value::Number(number) => ExprKind::Number(number.clone()),
        Value::String(text) => ExprKind::Text(text.clone(), span),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            ExprKind::Tuple(value.children().iter().map(|item| literal_expr(item, span)).collect())
        }
        Value::Map(_) | Value::Object(_) => ExprKind::Object(literal_object_items(&value, span)),
        Value::Null(_) | Value::Unknown(_) | Value::Marked(_) => ExprKind::Null,
    };
    Expr { kind, span }
}

/// The elements of a map or the attributes of an object.
fn literal_object_items(value: &Value, span: Span) -> Vec<ObjectItem> {
    let item = |key: &formwork_value::Str, value: &Value| ObjectItem {
        key: Expr { kind: ExprKind::Text(key.clone(), span), span },
        bare: false,
        value: literal_expr(value, span),
    };
    match value {
        Value::Map(map) => map.iter().map(|(key, value)| item(key, value)).collect(),
        Value::Object(object) => object.iter().map(|(key, value)| item(key, value)).collect(),
        _ => Vec::new(),
    }
}
