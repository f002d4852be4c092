//! A module while its blocks are read: passes each block to its reader, and checks that no two blocks
//! have the same name.

use std::collections::BTreeMap;
use std::path::Path;

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::{Block, Body};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Span, Str};

use super::arguments::{format_span, unsupported_feature_error};
use super::syntax_error_blocks::BlocksWithSyntaxErrors;
use super::{
    Module, ModuleSettings, Resource, check_block, import, module_block, moved, output, provider,
    removed, resource, variable,
};
use crate::addr::{ProviderAddr, ResourceMode, ResourceName};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[],
    blocks: &[
        ("terraform", &[]),
        ("required_providers", &[]),
        ("provider", &["name"]),
        ("variable", &["name"]),
        ("locals", &[]),
        ("output", &["name"]),
        ("resource", &["type", "name"]),
        ("data", &["type", "name"]),
        ("ephemeral", &["type", "name"]),
        ("module", &["name"]),
        ("check", &["name"]),
        ("moved", &[]),
        ("removed", &[]),
        ("import", &[]),
    ],
};

/// The directory of a module.
#[derive(Clone, Copy)]
pub(super) struct ModuleDir<'a> {
    pub(super) dir: &'a Path,
    pub(super) is_root: bool,
}

/// A module while its blocks are read.
pub(super) struct ModuleDraft {
    module: Module,
    /// Blocks that could not be read. Their names are reserved anyway.
    unread: BTreeMap<BlockName, Span>,
}

/// The name of a block in its module: its kind and its labels.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BlockName {
    kind: Str,
    labels: Vec<Str>,
}

impl BlockName {
    fn from_block(block: &Block) -> Self {
        let labels = block.labels.iter().map(|label| label.name.clone()).collect();
        Self { kind: block.kind.name.clone(), labels }
    }

    /// The error for a second block of that name. `first` is the position of the first one.
    fn duplicate_error(&self, first: &str, second: Span) -> Diagnostic {
        let name = |at: usize| self.labels.get(at).map_or("", |label| label.as_str());
        let (first_label, second_label) = (name(0), name(1));
        let summary = match self.kind.as_str() {
            "variable" => messages::DUPLICATE_VARIABLE_DECLARATION.into(),
            "output" => messages::DUPLICATE_OUTPUT_DEFINITION.into(),
            "module" => messages::DUPLICATE_MODULE_CALL.into(),
            kind => {
                messages::DUPLICATE_CONFIGURATION.with(&[&kind, &format_args!("{first_label:?}")])
            }
        };
        let detail = match self.kind.as_str() {
            "variable" => format!(
                "A variable named {first_label:?} was already declared at {first}. Variable names must be unique within a module."
            ),
            "output" => format!(
                "An output named {first_label:?} was already defined at {first}. Output names must be unique within a module."
            ),
            "module" => format!(
                "A module call named {first_label:?} was already defined at {first}. Module calls must have unique names within a module."
            ),
            "check" => format!(
                "A check block named {first_label:?} was already declared at {first}. Check blocks must be unique within each module."
            ),
            kind => {
                let subject = match kind {
                    "resource" => "resource".to_owned(),
                    other => format!("{other} resource"),
                };
                let article =
                    if first_label.starts_with(['a', 'e', 'i', 'o', 'u']) { "An" } else { "A" };
                let article = if kind == "ephemeral" { article } else { "A" };
                format!(
                    "{article} {first_label} {subject} named {second_label:?} was already declared at {first}. Resource names must be unique per type in each module."
                )
            }
        };
        Diagnostic::error(summary, detail).at(second)
    }
}

/// Name and header of a block.
struct NamedBlock {
    name: BlockName,
    span: Span,
}

impl NamedBlock {
    fn from_block(block: &Block) -> Self {
        Self { name: BlockName::from_block(block), span: block.header }
    }
}

impl ModuleDraft {
    pub(super) fn new(directory: ModuleDir<'_>) -> Self {
        Self {
            module: Module {
                is_root: directory.is_root,
                dir: directory.dir.to_path_buf(),
                settings: ModuleSettings::default(),
                providers: BTreeMap::new(),
                variables: BTreeMap::new(),
                locals: BTreeMap::new(),
                outputs: BTreeMap::new(),
                resources: BTreeMap::new(),
                calls: BTreeMap::new(),
                moved: Vec::new(),
                removed: Vec::new(),
                imports: Vec::new(),
                checks: BTreeMap::new(),
            },
            unread: BTreeMap::new(),
        }
    }

    /// Reports other errors in blocks with syntax errors. The syntax errors were already reported.
    pub(super) fn report_syntax_error_blocks(
        &self,
        diags: &mut Diagnostics,
        sources: &Sources,
        broken: &BlocksWithSyntaxErrors,
    ) {
        // Two invalid blocks with one name are not reported: one may be a fragment of the other.
        let blocks = &broken.blocks;
        let directory = ModuleDir { dir: &self.module.dir, is_root: self.module.is_root };
        for block in blocks {
            let header =
                Block { body: Body::empty(block.body.span, block.body.missing), ..block.clone() };
            let file = Body { blocks: vec![header], ..Body::empty(block.span, block.brace) };
            // Type and labels may be invalid, too, and then the content has no meaning.
            let has_header = !into_content(diags, file, &BODY_SCHEMA).blocks.is_empty();
            let mut block_diags = Diagnostics::new();
            if has_header {
                Self::new(directory).read_block(&mut block_diags, sources, block.clone());
            }
            for problem in
                block_diags.into_iter().filter(|it| broken.is_problem_independent(sources, it))
            {
                let _ = diags.push(problem);
            }
        }
        let named = ["variable", "output", "module", "check", "resource", "data", "ephemeral"];
        for block in blocks.iter().filter(|block| named.contains(&block.kind.name.as_str())) {
            let name = BlockName::from_block(block);
            let Some(other) = self.span_of_named_block(&name) else { continue };
            // Invalid blocks are checked separately, so only their spans determine the order.
            let (first, second) = (other.min(block.header), other.max(block.header));
            let _ = diags.error(name.duplicate_error(&format_span(sources, first), second));
        }
    }

    /// Reads one file. Invalid blocks are reported and left out.
    pub(super) fn read_file(&mut self, diags: &mut Diagnostics, sources: &Sources, file: Body) {
        for block in into_content(diags, file, &BODY_SCHEMA).blocks {
            self.read_block(diags, sources, block);
        }
    }

    fn read_block(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let kind = block.kind.name.clone();
        match kind.as_str() {
            "terraform" => self.module.settings.read_terraform_block(diags, sources, block),
            "provider" => self.add_provider(diags, sources, block),
            "variable" => self.add_variable(diags, sources, block),
            "locals" => self.add_locals(diags, sources, block),
            "output" => self.add_output(diags, sources, block),
            "resource" => self.read_resource(diags, sources, ResourceMode::Managed, block),
            "data" => self.read_resource(diags, sources, ResourceMode::Data, block),
            "ephemeral" => self.read_resource(diags, sources, ResourceMode::Ephemeral, block),
            "module" => self.add_call(diags, sources, block),
            "moved" => self.module.moved.extend(moved::read_moved_block(diags, block)),
            "removed" => {
                self.module.removed.extend(removed::read_removed_block(diags, sources, block));
            }
            "import" => self.module.imports.extend(import::read_import_block(diags, block)),
            "check" => self.add_check(diags, sources, block),
            "required_providers" => {
                let _ = diags.error(
                    Diagnostic::error(
                        messages::INVALID_REQUIRED_PROVIDERS_BLOCK,
                        "A \"required_providers\" block must be nested inside a \"terraform\" block.",
                    )
                    .at(block.header),
                );
            }
            // The other block types that a file may contain.
            kind => {
                let _ = diags
                    .error(unsupported_feature_error(&format!("A `{kind}` block"), block.header));
            }
        }
    }

    /// Returns the module. Everything that needed all blocks is filled in.
    pub(super) fn into_module(self) -> Module {
        let Self { mut module, .. } = self;
        let settings = &module.settings;
        for provider in module.providers.values_mut() {
            provider.provider = settings.provider_for_local_name(&provider.local.name);
        }
        // Many resources belong to few providers: they share names and addresses.
        let mut known: BTreeMap<Str, ProviderAddr> = BTreeMap::new();
        for resource in module.resources.values_mut() {
            let name = &mut resource.local_provider.name;
            match known.get_key_value(name) {
                Some((shared, _)) => *name = shared.clone(),
                None => drop(known.insert(name.clone(), settings.provider_for_local_name(name))),
            }
            if let Some(source) = known.get(name) {
                resource.provider = source.clone();
            }
        }
        module
    }

    fn add_provider(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some(provider) = provider::read_provider_block(diags, sources, block) else { return };
        if let Some(other) = self.module.providers.get(&provider.local) {
            let name = provider.local.name.as_str();
            let first = format_span(sources, other.span);
            let detail = match &provider.local.alias {
                Some(alias) => format!(
                    "A provider configuration for {name:?} with alias {:?} was already given at {first}. Each configuration for the same provider must have a distinct alias.",
                    alias.as_str()
                ),
                None => format!(
                    "A default (non-aliased) provider configuration for {name:?} was already given at {first}. If multiple configurations are required, set the \"alias\" argument for alternative configurations."
                ),
            };
            let _ = diags.error(
                Diagnostic::error(messages::DUPLICATE_PROVIDER_CONFIGURATION, detail)
                    .at(provider.span),
            );
            return;
        }
        self.module.providers.insert(provider.local.clone(), provider);
    }

    fn add_variable(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::from_block(&block);
        let read = variable::read_variable_block(diags, sources, block);
        if let Some(read) = self.claim_name(diags, sources, named, read) {
            self.module.variables.insert(read.name.clone(), read);
        }
    }

    fn add_locals(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        for local in output::read_locals_block(diags, block) {
            if let Some(other) = self.module.locals.get(&local.name) {
                let detail = format!(
                    "A local value named {:?} was already defined at {}. Local value names must be unique within a module.",
                    local.name.as_str(),
                    format_span(sources, other.span)
                );
                let problem = Diagnostic::error(messages::DUPLICATE_LOCAL_VALUE_DEFINITION, detail);
                let _ = diags.error(problem.at(local.span));
                continue;
            }
            self.module.locals.insert(local.name.clone(), local);
        }
    }

    fn add_output(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::from_block(&block);
        let read = output::read_output_block(diags, sources, block);
        if let Some(read) = self.claim_name(diags, sources, named, read) {
            self.module.outputs.insert(read.name.clone(), read);
        }
    }

    fn add_call(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::from_block(&block);
        let read = module_block::read_module_block(diags, sources, block);
        if let Some(read) = self.claim_name(diags, sources, named, read) {
            self.module.calls.insert(read.site.name.clone(), read);
        }
    }

    fn read_resource(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        mode: ResourceMode,
        block: Block,
    ) {
        let named = NamedBlock::from_block(&block);
        match resource::read_resource_block(diags, sources, mode, block) {
            Some(read) => self.add_resource(diags, sources, named.name, read),
            None => drop(self.claim_name(diags, sources, named, None::<()>)),
        }
    }

    fn add_check(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::from_block(&block);
        let read = check_block::read_check_block(diags, sources, block);
        let Some((check, data)) = self.claim_name(diags, sources, named, read) else { return };
        self.module.checks.insert(check.name.clone(), check);
        if let Some(data) = data {
            let labels = vec![data.name.resource_type().clone(), data.name.name().clone()];
            self.add_resource(diags, sources, BlockName { kind: "data".into(), labels }, data);
        }
    }

    /// Passes on a block that was read if nothing else has its name, which is taken now.
    fn claim_name<T>(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        named: NamedBlock,
        read: Option<T>,
    ) -> Option<T> {
        let NamedBlock { name, span } = named;
        if let Some(first) = self.span_of_named_block(&name) {
            let _ = diags.error(name.duplicate_error(&format_span(sources, first), span));
            return None;
        }
        if read.is_none() {
            self.unread.insert(name, span);
        }
        read
    }

    /// Place of the block that already has a name.
    fn span_of_named_block(&self, name: &BlockName) -> Option<Span> {
        let Module { variables, outputs, calls, checks, resources, .. } = &self.module;
        let first = name.labels.first()?;
        let resource = |mode| {
            let second = name.labels.get(1)?;
            resources.get(&ResourceName::new(mode, first, second)).map(|it| it.span)
        };
        let read = match name.kind.as_str() {
            "variable" => variables.get(first).map(|it| it.span),
            "output" => outputs.get(first).map(|it| it.span),
            "module" => calls.get(first).map(|it| it.site.span),
            "check" => checks.get(first).map(|it| it.span),
            "resource" => resource(ResourceMode::Managed),
            "data" => resource(ResourceMode::Data),
            _ => resource(ResourceMode::Ephemeral),
        };
        read.or_else(|| self.unread.get(name).copied())
    }

    fn add_resource(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        name: BlockName,
        read: Resource,
    ) {
        let named = NamedBlock { name, span: read.span };
        let other = self.module.resources.get(&read.name);
        // The resource in the `check` block is the duplicate, regardless of its position.
        if let Some(other) = other.filter(|it| it.within.is_some() && read.within.is_none()) {
            let _ = diags
                .error(named.name.duplicate_error(&format_span(sources, read.span), other.span));
        } else if let Some(read) = self.claim_name(diags, sources, named, Some(read)) {
            self.module.resources.insert(read.name.clone(), Box::new(read));
        }
    }
}
