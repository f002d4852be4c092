//! A module while its blocks are read: sends each block to its reader, and sees that no two things
//! have one name.

use std::collections::BTreeMap;
use std::path::Path;

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::{Block, Body};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Span, Str};

use super::arguments::{not_supported, place};
use super::broken::BrokenBlocks;
use super::{
    Module, Resource, Settings, call, check, import, moved, output, provider, removed, resource,
    variable,
};
use crate::addr::{Mode, ProviderAddr, ResourceName};
use crate::messages;

pub(super) const CONTENT: BodySchema = BodySchema {
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

/// The folder of a module.
#[derive(Clone, Copy)]
pub(super) struct ModuleFolder<'a> {
    pub(super) dir: &'a Path,
    pub(super) is_root: bool,
}

/// A module while its blocks are read.
pub(super) struct Draft {
    module: Module,
    /// Blocks that could not be read. Their names are taken all the same.
    unread: BTreeMap<Name, Span>,
}

/// The name of a block in its module: its kind and its labels.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    kind: Str,
    labels: Vec<Str>,
}

impl Name {
    fn of(block: &Block) -> Self {
        let labels = block.labels.iter().map(|label| label.name.clone()).collect();
        Self { kind: block.kind.name.clone(), labels }
    }

    /// The error for a second block of that name. `first` is the place of the first one.
    fn duplicate(&self, first: &str, second: Span) -> Diagnostic {
        let name = |at: usize| self.labels.get(at).map_or("", |label| label.as_str());
        let (one, two) = (name(0), name(1));
        let summary = match self.kind.as_str() {
            "variable" => messages::DUPLICATE_VARIABLE_DECLARATION.into(),
            "output" => messages::DUPLICATE_OUTPUT_DEFINITION.into(),
            "module" => messages::DUPLICATE_MODULE_CALL.into(),
            kind => messages::DUPLICATE_CONFIGURATION.with(&[&kind, &format_args!("{one:?}")]),
        };
        let detail = match self.kind.as_str() {
            "variable" => format!(
                "A variable named {one:?} was already declared at {first}. Variable names must be unique within a module."
            ),
            "output" => format!(
                "An output named {one:?} was already defined at {first}. Output names must be unique within a module."
            ),
            "module" => format!(
                "A module call named {one:?} was already defined at {first}. Module calls must have unique names within a module."
            ),
            "check" => format!(
                "A check block named {one:?} was already declared at {first}. Check blocks must be unique within each module."
            ),
            kind => {
                let what = match kind {
                    "resource" => "resource".to_owned(),
                    other => format!("{other} resource"),
                };
                let article = if one.starts_with(['a', 'e', 'i', 'o', 'u']) { "An" } else { "A" };
                let article = if kind == "ephemeral" { article } else { "A" };
                format!(
                    "{article} {one} {what} named {two:?} was already declared at {first}. Resource names must be unique per type in each module."
                )
            }
        };
        Diagnostic::error(summary, detail).at(second)
    }
}

/// Name and header of a block.
struct NamedBlock {
    name: Name,
    span: Span,
}

impl NamedBlock {
    fn of(block: &Block) -> Self {
        Self { name: Name::of(block), span: block.header }
    }
}

impl Draft {
    pub(super) fn new(folder: ModuleFolder<'_>) -> Self {
        Self {
            module: Module {
                is_root: folder.is_root,
                dir: folder.dir.to_path_buf(),
                settings: Settings::default(),
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

    /// Reports what is wrong in blocks with syntax errors beside these, which are reported already.
    /// Of two broken blocks of one name nothing is reported: one may be no block of its own.
    pub(super) fn broken(&self, diags: &mut Diagnostics, sources: &Sources, broken: &BrokenBlocks) {
        let blocks = &broken.blocks;
        let folder = ModuleFolder { dir: &self.module.dir, is_root: self.module.is_root };
        for block in blocks {
            let header =
                Block { body: Body::empty(block.body.span, block.body.missing), ..block.clone() };
            let file = Body { blocks: vec![header], ..Body::empty(block.span, block.brace) };
            // Kind and labels may be wrong, too, and then the content has no meaning.
            let has_header = !into_content(diags, file, &CONTENT).blocks.is_empty();
            let mut found = Diagnostics::new();
            if has_header {
                Self::new(folder).block(&mut found, sources, block.clone());
            }
            for problem in found.into_iter().filter(|it| broken.is_independent(sources, it)) {
                let _ = diags.push(problem);
            }
        }
        let named = ["variable", "output", "module", "check", "resource", "data", "ephemeral"];
        for block in blocks.iter().filter(|block| named.contains(&block.kind.name.as_str())) {
            let name = Name::of(block);
            let Some(other) = self.taken(&name) else { continue };
            // Broken blocks are looked at apart, so only places say which came first.
            let (first, second) = (other.min(block.header), other.max(block.header));
            let _ = diags.error(name.duplicate(&place(sources, first), second));
        }
    }

    /// Reads one file. Invalid blocks are reported and left out.
    pub(super) fn read(&mut self, diags: &mut Diagnostics, sources: &Sources, file: Body) {
        for block in into_content(diags, file, &CONTENT).blocks {
            self.block(diags, sources, block);
        }
    }

    fn block(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let kind = block.kind.name.clone();
        match kind.as_str() {
            "terraform" => self.module.settings.read(diags, sources, block),
            "provider" => self.provider(diags, sources, block),
            "variable" => self.variable(diags, sources, block),
            "locals" => self.locals(diags, sources, block),
            "output" => self.output(diags, sources, block),
            "resource" => self.resource(diags, sources, Mode::Managed, block),
            "data" => self.resource(diags, sources, Mode::Data, block),
            "ephemeral" => self.resource(diags, sources, Mode::Ephemeral, block),
            "module" => self.call(diags, sources, block),
            "moved" => self.module.moved.extend(moved::read(diags, block)),
            "removed" => self.module.removed.extend(removed::read(diags, sources, block)),
            "import" => self.module.imports.extend(import::read(diags, block)),
            "check" => self.check(diags, sources, block),
            "required_providers" => {
                let _ = diags.error(
                    Diagnostic::error(
                        messages::INVALID_REQUIRED_PROVIDERS_BLOCK,
                        "A \"required_providers\" block must be nested inside a \"terraform\" block.",
                    )
                    .at(block.header),
                );
            }
            // The other kinds of blocks that a file may hold.
            kind => {
                let _ = diags.error(not_supported(&format!("A `{kind}` block"), block.header));
            }
        }
    }

    /// Returns the module. Everything that needed all blocks is filled in.
    pub(super) fn finish(self) -> Module {
        let Self { mut module, .. } = self;
        let settings = &module.settings;
        for provider in module.providers.values_mut() {
            provider.provider = settings.source_of(&provider.local.name);
        }
        // Many resources belong to few providers: they share names and addresses.
        let mut known: BTreeMap<Str, ProviderAddr> = BTreeMap::new();
        for resource in module.resources.values_mut() {
            let name = &mut resource.local_provider.name;
            match known.get_key_value(name) {
                Some((shared, _)) => *name = shared.clone(),
                None => drop(known.insert(name.clone(), settings.source_of(name))),
            }
            if let Some(source) = known.get(name) {
                resource.provider = source.clone();
            }
        }
        module
    }

    fn provider(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some(provider) = provider::read(diags, sources, block) else { return };
        if let Some(other) = self.module.providers.get(&provider.local) {
            let name = provider.local.name.as_str();
            let first = place(sources, other.span);
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

    fn variable(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::of(&block);
        let read = variable::read(diags, sources, block);
        if let Some(read) = self.free(diags, sources, named, read) {
            self.module.variables.insert(read.name.clone(), read);
        }
    }

    fn locals(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        for local in output::read_locals(diags, block) {
            if let Some(other) = self.module.locals.get(&local.name) {
                let detail = format!(
                    "A local value named {:?} was already defined at {}. Local value names must be unique within a module.",
                    local.name.as_str(),
                    place(sources, other.span)
                );
                let problem = Diagnostic::error(messages::DUPLICATE_LOCAL_VALUE_DEFINITION, detail);
                let _ = diags.error(problem.at(local.span));
                continue;
            }
            self.module.locals.insert(local.name.clone(), local);
        }
    }

    fn output(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::of(&block);
        let read = output::read(diags, sources, block);
        if let Some(read) = self.free(diags, sources, named, read) {
            self.module.outputs.insert(read.name.clone(), read);
        }
    }

    fn call(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::of(&block);
        let read = call::read(diags, sources, block);
        if let Some(read) = self.free(diags, sources, named, read) {
            self.module.calls.insert(read.site.name.clone(), read);
        }
    }

    fn resource(&mut self, diags: &mut Diagnostics, sources: &Sources, mode: Mode, block: Block) {
        let named = NamedBlock::of(&block);
        match resource::read(diags, sources, mode, block) {
            Some(read) => self.add_resource(diags, sources, named.name, read),
            None => drop(self.free(diags, sources, named, None::<()>)),
        }
    }

    fn check(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let named = NamedBlock::of(&block);
        let read = check::read(diags, sources, block);
        let Some((check, data)) = self.free(diags, sources, named, read) else { return };
        self.module.checks.insert(check.name.clone(), check);
        if let Some(data) = data {
            let labels = vec![data.name.kind().clone(), data.name.name().clone()];
            self.add_resource(diags, sources, Name { kind: "data".into(), labels }, data);
        }
    }

    /// Passes on what was read of a block if nothing else has its name, which is taken now.
    fn free<T>(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        named: NamedBlock,
        read: Option<T>,
    ) -> Option<T> {
        let NamedBlock { name, span } = named;
        if let Some(first) = self.taken(&name) {
            let _ = diags.error(name.duplicate(&place(sources, first), span));
            return None;
        }
        if read.is_none() {
            self.unread.insert(name, span);
        }
        read
    }

    /// Place of the block that already has a name.
    fn taken(&self, name: &Name) -> Option<Span> {
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
            "resource" => resource(Mode::Managed),
            "data" => resource(Mode::Data),
            _ => resource(Mode::Ephemeral),
        };
        read.or_else(|| self.unread.get(name).copied())
    }

    fn add_resource(
        &mut self,
        diags: &mut Diagnostics,
        sources: &Sources,
        name: Name,
        read: Resource,
    ) {
        let named = NamedBlock { name, span: read.span };
        let other = self.module.resources.get(&read.name);
        // The resource in the `check` block is the duplicate, wherever it stands.
        if let Some(other) = other.filter(|it| it.within.is_some() && read.within.is_none()) {
            let _ = diags.error(named.name.duplicate(&place(sources, read.span), other.span));
        } else if let Some(read) = self.free(diags, sources, named, Some(read)) {
            self.module.resources.insert(read.name.clone(), Box::new(read));
        }
    }
}
