//! A module while its blocks are read: sends each block to its reader, and sees that no two things
//! have one name.

use std::collections::BTreeMap;
use std::path::Path;

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::syntax::{Block, Body};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Span, Str};

use super::arguments::{not_supported, place};
use super::{
    Module, Resource, Settings, call, check, import, moved, output, provider, removed, resource,
    variable,
};
use crate::addr::{Mode, ProviderAddr};

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

/// A module while its blocks are read.
pub(super) struct Draft {
    module: Module,
}

impl Draft {
    pub(super) fn new(is_root: bool, dir: &Path) -> Self {
        Self {
            module: Module {
                is_root,
                dir: dir.to_path_buf(),
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
        }
    }

    /// Reads one file. What is wrong in it is reported and left out.
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
                        "Invalid required_providers block",
                        "A `required_providers` block stands inside a `terraform` block.",
                    )
                    .at(block.header),
                );
            }
            // The rest of what a file may hold.
            kind => {
                let _ = diags.error(not_supported(&format!("A `{kind}` block"), block.header));
            }
        }
    }

    /// Returns the module. Everything that needed all blocks is filled in.
    pub(super) fn finish(self) -> Module {
        let Self { mut module } = self;
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
        let Some(provider) = provider::read(diags, block) else { return };
        if let Some(other) = self.module.providers.get(&provider.local) {
            let hint = match &provider.local.alias {
                Some(_) => "Each alias of a provider can be used once.",
                None => "Another configuration of the same provider needs an `alias`.",
            };
            let what = format!("The provider configuration `{}`", provider.local);
            let first = place(sources, other.span);
            let detail = format!("{what} is already there at {first}. {hint}");
            let _ = diags.error(
                Diagnostic::error("Duplicate provider configuration", detail).at(provider.span),
            );
            return;
        }
        self.module.providers.insert(provider.local.clone(), provider);
    }

    fn variable(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some(variable) = variable::read(diags, sources, block) else { return };
        if let Some(other) = self.module.variables.get(&variable.name) {
            let what = format!("The variable `{}`", variable.name);
            let places = (variable.span, place(sources, other.span));
            let _ = diags.error(duplicate("Duplicate variable declaration", &what, places));
            return;
        }
        self.module.variables.insert(variable.name.clone(), variable);
    }

    fn locals(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        for local in output::read_locals(diags, block) {
            if let Some(other) = self.module.locals.get(&local.name) {
                let what = format!("The local value `{}`", local.name);
                let places = (local.span, place(sources, other.span));
                let _ = diags.error(duplicate("Duplicate local value definition", &what, places));
                continue;
            }
            self.module.locals.insert(local.name.clone(), local);
        }
    }

    fn output(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some(output) = output::read(diags, sources, block) else { return };
        if let Some(other) = self.module.outputs.get(&output.name) {
            let what = format!("The output `{}`", output.name);
            let places = (output.span, place(sources, other.span));
            let _ = diags.error(duplicate("Duplicate output definition", &what, places));
            return;
        }
        self.module.outputs.insert(output.name.clone(), output);
    }

    fn call(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some(call) = call::read(diags, sources, block) else { return };
        let site = &call.site;
        if let Some(other) = self.module.calls.get(&site.name) {
            let what = format!("The module call `{}`", site.name);
            let places = (site.span, place(sources, other.site.span));
            let _ = diags.error(duplicate("Duplicate module call", &what, places));
            return;
        }
        self.module.calls.insert(site.name.clone(), call);
    }

    fn resource(&mut self, diags: &mut Diagnostics, sources: &Sources, mode: Mode, block: Block) {
        if let Some(resource) = resource::read(diags, sources, mode, block) {
            self.add_resource(diags, sources, resource);
        }
    }

    fn check(&mut self, diags: &mut Diagnostics, sources: &Sources, block: Block) {
        let Some((check, data)) = check::read(diags, sources, block) else { return };
        if let Some(other) = self.module.checks.get(&check.name) {
            let summary = format!("Duplicate check {:?} configuration", check.name.as_str());
            let places = (check.span, place(sources, other.span));
            let _ = diags.error(duplicate(&summary, &format!("`check.{}`", check.name), places));
            return;
        }
        self.module.checks.insert(check.name.clone(), check);
        if let Some(data) = data {
            self.add_resource(diags, sources, data);
        }
    }

    fn add_resource(&mut self, diags: &mut Diagnostics, sources: &Sources, resource: Resource) {
        let name = &resource.name;
        if let Some(other) = self.module.resources.get(name) {
            let word = match name.mode() {
                Mode::Managed => "resource",
                Mode::Data => "data",
                Mode::Ephemeral => "ephemeral",
            };
            let summary = format!("Duplicate {word} \"{}\" configuration", name.kind());
            // What stands in a `check` block is the one too many, wherever that is.
            let nested = other.within.is_some() && resource.within.is_none();
            let (second, first) = match nested {
                true => (other.span, resource.span),
                false => (resource.span, other.span),
            };
            let places = (second, place(sources, first));
            let _ = diags.error(duplicate(&summary, &format!("`{name}`"), places));
            return;
        }
        self.module.resources.insert(name.clone(), Box::new(resource));
    }
}

fn duplicate(summary: &str, what: &str, (second, first): (Span, String)) -> Diagnostic {
    let detail =
        format!("{what} is already there at {first}. A name can be used once in a module.");
    Diagnostic::error(summary, detail).at(second)
}
