//! The `mock_provider` and `override_` blocks of test files: reading them, and finding the override of an
//! address. Missing values are left to the mocks of `provider`.

use std::path::Path;

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::refs;
use formwork_lang::syntax::{Attribute, Block, Body, Expr, ExprKind, Ident};
use formwork_value::diag::{Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Span, Str, Value};

use super::arguments::format_span;
use super::{ConfigFiles, ProviderBlock, constant, files, load, provider, traversal};
use crate::addr::{InstanceAddr, ModuleAddr, ResourceMode, Target};
use crate::messages;

/// A type of block, and the names of its labels.
pub(super) type TestBlockKind = (&'static str, &'static [&'static str]);

pub(super) const OVERRIDE_KINDS: [TestBlockKind; 3] =
    [("override_resource", &[]), ("override_data", &[]), ("override_module", &[])];

const MOCK_PROVIDER_SCHEMA: BodySchema = BodySchema {
    attributes: &[("alias", false), ("source", false), ("override_during", false)],
    // A module belongs to no provider.
    blocks: &[
        ("mock_resource", &["type"]),
        ("mock_data", &["type"]),
        OVERRIDE_KINDS[0],
        OVERRIDE_KINDS[1],
    ],
};

/// The schema of a mock file in the directory that `source` names.
const MOCK_FILE_SCHEMA: BodySchema =
    BodySchema { attributes: &[], blocks: MOCK_PROVIDER_SCHEMA.blocks };

const MOCK_BLOCK_SCHEMA: BodySchema =
    BodySchema { attributes: &[("defaults", false), ("override_during", false)], blocks: &[] };

const OVERRIDE_BLOCK_SCHEMA: BodySchema = BodySchema {
    attributes: &[("target", false), ("values", false), ("override_during", false)],
    blocks: &[],
};

const OVERRIDE_MODULE_SCHEMA: BodySchema = BodySchema {
    attributes: &[("target", false), ("outputs", false), ("override_during", false)],
    blocks: &[],
};

/// The phase from which on mocked values are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverrideDuring {
    /// The values are known during planning.
    Plan,
    /// The values are known after the apply.
    #[default]
    Apply,
}

/// Values of a mock or an override.
#[derive(Clone, Debug)]
pub struct MockValues {
    /// An object of them.
    pub values: Value,
    /// The phase from which on they are known.
    pub during: OverrideDuring,
    /// The position in the test file, for messages.
    pub position: String,
}

/// An `override_resource`, `override_data` or `override_module` block.
#[derive(Clone, Debug)]
pub struct Override {
    /// The address that is overridden.
    pub target: Target,
    /// The values or outputs of the target.
    pub values: MockValues,
    /// The argument `target`.
    pub target_span: Span,
    /// The block's header.
    span: Span,
    /// Whether it is in a mock file, which several test files may share.
    pub is_of_mock_file: bool,
}

/// A `mock_resource` or `mock_data` block.
#[derive(Clone, Debug)]
pub struct MockBlock {
    /// Whether it is of a resource or a data source.
    pub mode: ResourceMode,
    /// The type.
    pub name: Str,
    /// The values of its objects.
    pub values: MockValues,
    /// The block's header.
    span: Span,
    /// The span of the label.
    label: Span,
}

/// A `mock_provider` block.
#[derive(Clone, Debug)]
pub struct MockProvider {
    /// The provider configuration that it replaces, without arguments.
    pub block: ProviderBlock,
    /// Mocks of types.
    pub types: Vec<MockBlock>,
    /// Overrides of objects of this provider.
    pub overrides: Vec<Override>,
}

impl MockProvider {
    /// The mock of a type.
    #[must_use]
    pub fn mock_of_type(&self, mode: ResourceMode, name: &str) -> Option<&MockValues> {
        self.types
            .iter()
            .find(|block| block.mode == mode && block.name == name)
            .map(|block| &block.values)
    }
}

/// Adds the overrides of an outer block to those of an inner one, which take precedence.
pub fn add_outer_overrides(overrides: &mut Vec<Override>, outer: &[Override]) {
    let inner = overrides.clone();
    let is_new =
        |candidate: &&Override| !inner.iter().any(|known| known.target == candidate.target);
    overrides.extend(outer.iter().filter(is_new).cloned());
}

/// The override of an instance. An override of the instance takes precedence over one of the resource. As in
/// Terraform, a target must name the instance of each module.
#[must_use]
pub fn override_of_instance<'o>(
    overrides: &'o [Override],
    addr: &InstanceAddr,
) -> Option<&'o MockValues> {
    let of_instance = |candidate: &&Override| matches!(&candidate.target, Target::Instance(target) if target == addr);
    let of_resource = |candidate: &&Override| matches!(&candidate.target, Target::Resource(target) if target.module == addr.module && target.resource == addr.resource);
    let exact = overrides.iter().find(of_instance);
    exact.or_else(|| overrides.iter().find(of_resource)).map(|found| &found.values)
}

/// The outputs that override a module instance. An override of the instance takes precedence over
/// one of the whole call.
#[must_use]
pub fn override_of_module<'o>(overrides: &'o [Override], addr: &ModuleAddr) -> Option<&'o Value> {
    let of_target = |addr: &ModuleAddr| {
        let is_it = |candidate: &&Override| matches!(&candidate.target, Target::Module(target) if target == addr);
        overrides.iter().find(is_it).map(|found| &found.values.values)
    };
    of_target(addr).or_else(|| of_target(&addr.without_last_key()))
}

/// Reads these blocks of a test file.
pub(super) struct MockReader<'c> {
    pub(super) diags: &'c mut Diagnostics,
    pub(super) sources: &'c mut Sources,
    pub(super) files: &'c dyn ConfigFiles,
    /// The directory of the module under test.
    pub(super) module: &'c Path,
}

impl MockReader<'_> {
    fn report_error(&mut self, summary: impl Into<Summary>, detail: &str, span: Span) {
        let _ = self.diags.error(Diagnostic::error(summary, detail).at(span));
    }

    /// Reads a `mock_provider` block.
    pub(super) fn read_mock_provider(&mut self, block: Block) -> Option<MockProvider> {
        let Block { kind, labels, body, header, .. } = &block;
        // The argument `alias` means the same as in a `provider` block.
        let alias = body.find_attribute("alias").cloned();
        let mut provider_body = Body::empty(*header, *header);
        provider_body.attributes.extend(alias);
        let provider_block = Block {
            kind: kind.clone(),
            labels: labels.clone(),
            body: provider_body,
            ..block.clone()
        };
        let read = provider::read_provider_block(self.diags, self.sources, provider_block);
        let header = *header;
        let mut content = into_content(self.diags, block.body, &MOCK_PROVIDER_SCHEMA);
        let during = self
            .read_override_during(content.take_attribute("override_during"))
            .unwrap_or_default();
        let mut types = Vec::new();
        let mut overrides = Vec::new();
        let inline = MockContents { types: &mut types, overrides: &mut overrides, during };
        self.read_mock_blocks(content.blocks, inline);
        if let Some(source) = content.attributes.remove("source")
            && let Ok(directory) = constant::constant_string(self.diags, &source.expr)
            && !directory.is_empty()
        {
            self.read_mock_dir(
                &directory,
                header,
                MockContents { types: &mut types, overrides: &mut overrides, during },
            );
        }
        Some(MockProvider { block: read?, types, overrides })
    }

    /// Reads the mock files in a directory. Mocks of the test file itself take precedence.
    fn read_mock_dir(&mut self, directory: &str, header: Span, into: MockContents<'_>) {
        let dir = self.module.join(directory);
        let Ok(mut names) = self.files.list(&dir) else {
            let detail =
                format!("Mock data directory {directory} does not exist or cannot be read.");
            self.report_error(messages::UNREADABLE_MOCK_DATA, &detail, header);
            return;
        };
        names.retain(|name| {
            let is_mock = name.ends_with(".tfmock.hcl") || name.ends_with(".tfmock.json");
            is_mock && !files::is_editor_leftover(name)
        });
        names.sort();
        let (mut types, mut overrides) = (Vec::<MockBlock>::new(), Vec::<Override>::new());
        for name in names {
            let path = dir.join(name);
            let Some(body) = load::parse_config_file(self.diags, self.sources, self.files, &path)
            else {
                continue;
            };
            let content = into_content(self.diags, body, &MOCK_FILE_SCHEMA);
            let (mut of_file, mut overridden) = (Vec::new(), Vec::new());
            let during = into.during;
            let contents = MockContents { types: &mut of_file, overrides: &mut overridden, during };
            self.read_mock_blocks(content.blocks, contents);
            for block in of_file {
                let same = |it: &&MockBlock| it.mode == block.mode && it.name == block.name;
                if let Some(first) = types.iter().find(same) {
                    let kind = if block.mode == ResourceMode::Data { "data" } else { "resource" };
                    let summary = format!("mock {kind}");
                    self.report_duplicate(&summary, &block.name, block.label, first.span);
                } else {
                    types.push(block);
                }
            }
            for override_ in overridden {
                if let Some(first) = overrides.iter().find(|it| it.target == override_.target) {
                    self.report_duplicate(
                        "override",
                        &override_.target,
                        override_.span,
                        first.span,
                    );
                } else {
                    overrides.push(Override { is_of_mock_file: true, ..override_ });
                }
            }
        }
        let inline = into.types.len();
        for block in types {
            let same = |it: &MockBlock| it.mode == block.mode && it.name == block.name;
            if !into.types[..inline].iter().any(same) {
                into.types.push(block);
            }
        }
        add_outer_overrides(into.overrides, &overrides);
    }

    /// Reads the blocks within a `mock_provider` block or a mock file.
    fn read_mock_blocks(&mut self, blocks: Vec<Block>, into: MockContents<'_>) {
        for block in blocks {
            let (kind, header) = (block.kind.name.clone(), block.header);
            let mode = match kind.as_str() {
                "mock_resource" => ResourceMode::Managed,
                "mock_data" => ResourceMode::Data,
                _ => {
                    self.read_override(block, into.during, into.overrides);
                    continue;
                }
            };
            let label = block.labels.first().cloned();
            let mut content = into_content(self.diags, block.body, &MOCK_BLOCK_SCHEMA);
            let during = self
                .read_override_during(content.take_attribute("override_during"))
                .unwrap_or(into.during);
            let defaults = content.take_attribute("defaults");
            let span = defaults.as_ref().map_or(header, |attribute| attribute.span);
            let position = format_span(self.sources, span);
            let values = self.read_mock_values(defaults, &kind);
            let values = MockValues { values, during, position };
            let Some(Ident { name, span: label }) = label else { continue };
            let same = |it: &&MockBlock| it.mode == mode && it.name == name;
            if let Some(first) = into.types.iter().find(same) {
                self.report_duplicate(&kind, &name, label, first.span);
            } else {
                into.types.push(MockBlock { mode, name, values, span: header, label });
            }
        }
    }

    fn report_duplicate(
        &mut self,
        kind: &str,
        name: &dyn std::fmt::Display,
        at: Span,
        first: Span,
    ) {
        let first = format_span(self.sources, first);
        let detail = format!("A block for {name} already exists at {first}.");
        self.report_error(messages::DUPLICATE_MOCK_BLOCK.with(&[&kind]), &detail, at);
    }

    /// Reads an override, and adds it to those before it.
    pub(super) fn read_override(
        &mut self,
        block: Block,
        during: OverrideDuring,
        into: &mut Vec<Override>,
    ) {
        let (kind, header) = (block.kind.name.clone(), block.header);
        let is_module = kind == "override_module";
        let schema = if is_module { &OVERRIDE_MODULE_SCHEMA } else { &OVERRIDE_BLOCK_SCHEMA };
        let mut content = into_content(self.diags, block.body, schema);
        let target_span = content.attributes.get("target").map(|it| it.span);
        let target = match content.take_attribute("target") {
            Some(target) => self.read_target(&target, &kind),
            None => {
                let detail = format!("A block of type {kind:?} must name its target.");
                self.report_error(messages::MISSING_TARGET_ATTRIBUTE, &detail, header);
                None
            }
        };
        let argument = if is_module { "outputs" } else { "values" };
        let values = content.take_attribute(argument);
        let during =
            self.read_override_during(content.take_attribute("override_during")).unwrap_or(during);
        let values = self.read_mock_values(values, &kind);
        // As in Terraform, an override is named by its block, and a mock by its values.
        let position = format_span(self.sources, header);
        let values = MockValues { values, during, position };
        let (Some(target), Some(target_span)) = (target, target_span) else { return };
        if let Some(first) = into.iter().find(|existing| existing.target == target) {
            // The position of an override is that of its block.
            let detail =
                format!("A block for {target} already exists at {}.", first.values.position);
            self.report_error(messages::DUPLICATE_MOCK_BLOCK.with(&[&kind]), &detail, header);
        } else {
            let (span, is_of_mock_file) = (header, false);
            into.push(Override { target, values, target_span, span, is_of_mock_file });
        }
    }

    fn read_target(&mut self, attribute: &Attribute, kind: &str) -> Option<Target> {
        let target = traversal::parse_target_expr(self.diags, &attribute.expr).ok()?;
        let mode = match &target {
            Target::Module(_) => None,
            Target::Resource(addr) => Some(addr.resource.mode()),
            Target::Instance(addr) => Some(addr.resource.mode()),
        };
        let (wanted, required) = match kind {
            "override_resource" => (Some(ResourceMode::Managed), "a resource"),
            "override_data" => (Some(ResourceMode::Data), "a data source"),
            _ => (None, "a module"),
        };
        if mode != wanted {
            let detail = format!("The target of a block of type {kind:?} is {required}.");
            self.report_error(messages::INVALID_OVERRIDE_TARGET, &detail, attribute.span);
            return None;
        }
        Some(target)
    }

    fn read_override_during(&mut self, attribute: Option<Attribute>) -> Option<OverrideDuring> {
        let attribute = attribute?;
        if !is_one_of_keywords(&attribute.expr, &["plan", "apply"]) {
            let detail = "The value must be one of these keywords, without quotes: plan, apply.";
            self.report_error(messages::INVALID_OVERRIDE_DURING_VALUE, detail, attribute.span);
        }
        let in_plan = is_one_of_keywords(&attribute.expr, &["plan"]);
        Some(if in_plan { OverrideDuring::Plan } else { OverrideDuring::Apply })
    }

    /// An argument that is a constant object. Without it, the object is empty.
    fn read_mock_values(&mut self, attribute: Option<Attribute>, kind: &str) -> Value {
        let empty = Value::object(std::iter::empty::<(Str, Value)>());
        let Some(attribute) = attribute else { return empty };
        let Ok(value) = constant::constant_value(self.diags, &attribute.expr) else { return empty };
        match value {
            Value::Object(_) | Value::Map(_) => return value,
            // An expression that could not be parsed has an unknown value, and was reported.
            Value::Unknown(_) => {}
            _ => {
                let name = attribute.name.name.as_str();
                let detail = format!("In a block of type {kind:?} it is an object.");
                let summary = messages::INVALID_RUN_ATTRIBUTE.with(&[&name]);
                self.report_error(summary, &detail, attribute.span);
            }
        }
        empty
    }
}

/// The content of a `mock_provider` block or a mock file.
struct MockContents<'a> {
    types: &'a mut Vec<MockBlock>,
    overrides: &'a mut Vec<Override>,
    /// The phase of those that name none.
    during: OverrideDuring,
}

/// Whether an expression is one of some words. Syntax errors were reported when it was parsed.
pub(super) fn is_one_of_keywords(expr: &Expr, words: &[&str]) -> bool {
    let word = refs::as_traversal(expr).filter(|word| word.steps.is_empty());
    matches!(expr.kind, ExprKind::Invalid)
        || word.is_some_and(|word| words.contains(&word.root.name.as_str()))
}

#[cfg(test)]
mod tests;
