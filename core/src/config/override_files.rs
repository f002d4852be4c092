//! Merges override files: their arguments replace those of the same block in other files. Pure:
//! blocks go in and come out, and only members that decide the merge are read.

use std::collections::HashMap;

use formwork_lang::content::{BodySchema, resolve_undecided_members};
use formwork_lang::syntax::{Attribute, Block, Body, Expr, ExprKind};
use formwork_value::diag::{Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Span, Str};

use super::state_block::{StateBlock, duplicate_state_block_error};
use crate::messages;

/// Whether a file overrides others, by its name.
pub(super) fn is_override_file_name(name: &str) -> bool {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let stem = stem.strip_suffix(".tf").unwrap_or(stem);
    stem == "override" || stem.ends_with("_override")
}

/// Block types that are decoded before merging, besides any others, because
/// `lifecycle` is merged itself, and `dynamic` generates blocks of another type.
const REPEATED_BLOCKS_SCHEMA: BodySchema =
    BodySchema { attributes: &[], blocks: &[("lifecycle", &[]), ("dynamic", &["type"])] };

/// Members of a `terraform` block for which overrides have rules.
const TERRAFORM_BLOCK_SCHEMA: BodySchema = BodySchema {
    attributes: &[("required_version", false)],
    blocks: &[
        ("required_providers", &[]),
        ("backend", &["type"]),
        ("cloud", &[]),
        ("state_store", &["type"]),
        ("provider_meta", &["provider"]),
    ],
};

/// Merges override files, in the order of their names, into the other files of a module.
pub(super) fn merge_override_files(
    diags: &mut Diagnostics,
    sources: &Sources,
    files: &mut Vec<Body>,
    overrides: Vec<Body>,
) {
    if overrides.is_empty() {
        return;
    }
    let mut merger = OverrideMerger { diags, sources, positions: HashMap::new(), files };
    merger.index_blocks();
    let says = |file: &Body| file.blocks.iter().any(|block| block.kind.name == "terraform");
    if overrides.iter().any(says) {
        merger.merge_state_blocks();
    }
    for block in overrides.into_iter().flat_map(|file| file.blocks) {
        merger.merge_block(block);
    }
}

/// The key that identifies a block among those of its type: its labels, and for a provider its alias.
type OverrideKey = (Str, Vec<Str>, Option<Str>);

fn override_key(block: &Block) -> OverrideKey {
    let labels = block.labels.iter().map(|label| label.name.clone()).collect();
    let is_provider = block.kind.name == "provider";
    let alias = block.body.find_attribute("alias").filter(|_| is_provider);
    (
        block.kind.name.clone(),
        labels,
        alias.and_then(|alias| alias.expr.as_string_literal().cloned()),
    )
}

struct OverrideMerger<'m> {
    diags: &'m mut Diagnostics,
    sources: &'m Sources,
    /// Positions of the first block of each key: its file and its number there.
    positions: HashMap<OverrideKey, (usize, usize)>,
    files: &'m mut Vec<Body>,
}

impl OverrideMerger<'_> {
    fn index_blocks(&mut self) {
        for (at, file) in self.files.iter().enumerate() {
            for (number, block) in file.blocks.iter().enumerate() {
                self.positions.entry(override_key(block)).or_insert((at, number));
            }
        }
    }

    fn merge_block(&mut self, block: Block) {
        match block.kind.name.as_str() {
            "terraform" => self.merge_settings(block),
            "locals" => self.merge_locals(block),
            "moved" => self.report_error(
                messages::CANNOT_OVERRIDE_MOVED_BLOCKS,
                MOVED_IN_OVERRIDE_DETAIL,
                block.header,
            ),
            "import" => self.report_error(
                messages::CANNOT_OVERRIDE_IMPORT_BLOCKS,
                IMPORT_IN_OVERRIDE_DETAIL,
                block.header,
            ),
            "check" => {
                self.report_error(
                    messages::CANNOT_OVERRIDE_BLOCKS.with(&[&"check"]),
                    CHECK_IN_OVERRIDE_DETAIL,
                    block.header,
                );
            }
            // Terraform ignores it silently.
            "removed" => {}
            _ => self.merge_named_block(block),
        }
    }

    fn report_error(&mut self, summary: impl Into<Summary>, detail: &str, span: Span) {
        let _ = self.diags.error(Diagnostic::error(summary, detail).at(span));
    }

    /// Merges a block into the one that has its name.
    fn merge_named_block(&mut self, block: Block) {
        let key = override_key(&block);
        let Some(&(file, number)) = self.positions.get(&key) else {
            return self.report_missing_base_or_add(block, key.2.as_ref());
        };
        if !self.check_overriding_members(&block) {
            return;
        }
        let base = &mut self.files[file].blocks[number].body;
        // A file that sets both is reported when the block is read.
        let by_one_file = [&*base, &block.body]
            .into_iter()
            .any(|body| sets_count_and_for_each(body) == (true, true));
        merge_body(self.diags, base, block.body);
        if !by_one_file && sets_count_and_for_each(base) == (true, true) {
            // If one file sets `count` and another one `for_each`, `count` takes precedence.
            for list in [&mut base.attributes, &mut base.undecided] {
                list.retain(|attr| attr.name.name != "for_each");
            }
        }
    }

    /// A block that overrides nothing is an error, except for the configuration of a provider, which
    /// exists without a block.
    fn report_missing_base_or_add(&mut self, block: Block, alias: Option<&Str>) {
        let name = block.labels.last().map_or("", |label| label.name.as_str());
        let kind = block.labels.first().map_or("", |label| label.name.as_str());
        let (summary, base, over) = match block.kind.name.as_str() {
            "variable" => {
                let over = "a variable that was already declared in a primary configuration file";
                (
                    messages::MISSING_BASE_VARIABLE_DECLARATION_TO_OVERRIDE,
                    format!("variable named {name:?}"),
                    over,
                )
            }
            "output" => {
                let over = "an output that was already defined in a primary configuration file";
                (
                    messages::MISSING_BASE_OUTPUT_DEFINITION_TO_OVERRIDE,
                    format!("output named {name:?}"),
                    over,
                )
            }
            "module" => {
                let over = "a module call that was defined in a primary configuration file";
                (
                    messages::MISSING_MODULE_CALL_TO_OVERRIDE,
                    format!("module call named {name:?}"),
                    over,
                )
            }
            "resource" => (
                messages::MISSING_RESOURCE_TO_OVERRIDE,
                format!("{kind} resource named {name:?}"),
                OVERRIDDEN_RESOURCE_PHRASE,
            ),
            "ephemeral" => (
                messages::MISSING_RESOURCE_TO_OVERRIDE,
                format!("{kind} ephemeral resource named {name:?}"),
                OVERRIDDEN_RESOURCE_PHRASE,
            ),
            "data" => {
                let over = "a data block defined in a primary configuration file";
                (
                    messages::MISSING_DATA_RESOURCE_TO_OVERRIDE,
                    format!("{kind} data resource named {name:?}"),
                    over,
                )
            }
            "provider" => match alias {
                Some(alias) => (
                    messages::MISSING_BASE_PROVIDER_CONFIGURATION_FOR_OVERRIDE,
                    format!("{name} provider configuration with the alias {alias:?}"),
                    "an aliased provider configuration that was already defined in a primary configuration file",
                ),
                None => return self.add_block(block),
            },
            // The reader of the files handles the other block types.
            _ => return self.add_block(block),
        };
        let detail = format!("There is no {base}. An override file can only override {over}.");
        self.report_error(summary, &detail, block.header);
    }

    fn add_block(&mut self, block: Block) {
        if self.files.is_empty() {
            self.files.push(Body::empty(block.span, block.header));
        }
        let at = self.files.len() - 1;
        self.positions.entry(override_key(&block)).or_insert((at, self.files[at].blocks.len()));
        self.files[at].blocks.push(block);
    }

    /// Whether everything in a block may be overridden. Violations are reported.
    fn check_overriding_members(&mut self, block: &Block) -> bool {
        let before = self.diags.len();
        let set = block.body.find_attribute("depends_on");
        let has_entries = |attr: &&Attribute| !matches!(&attr.expr.kind, ExprKind::Tuple(items) if items.is_empty());
        if let Some(depends_on) = set.filter(has_entries) {
            let detail = "The depends_on argument may not be overridden.";
            self.report_error(
                messages::UNSUPPORTED_OVERRIDE,
                detail,
                first_entry_span(&depends_on.expr),
            );
        }
        let checks = ["validation", "precondition", "postcondition"];
        let lifecycles = block.body.blocks.iter().filter(|inner| inner.kind.name == "lifecycle");
        for body in lifecycles.map(|inner| &inner.body).chain([&block.body]) {
            let written = body.blocks.iter().map(|inner| (&inner.kind, inner.header));
            let undecided = body.undecided.iter().map(|member| (&member.name, member.name.span));
            for (kind, span) in written.chain(undecided) {
                if checks.contains(&kind.name.as_str()) {
                    let kind = kind.name.as_str();
                    let summary = messages::CANNOT_OVERRIDE_BLOCKS.with(&[&kind]);
                    let detail = format!("Override files cannot override {kind:?} blocks.");
                    self.report_error(summary, &detail, span);
                }
            }
        }
        self.diags.len() == before
    }

    /// Merges local values by their names.
    fn merge_locals(&mut self, block: Block) {
        let Body { attributes, blocks, undecided, .. } = block.body;
        if !blocks.is_empty() {
            // The reader of the files reports the errors in them.
            let body = Body { blocks, ..Body::empty(block.span, block.header) };
            self.add_block(Block { body, ..block });
            return;
        }
        for local in
            attributes.into_iter().chain(undecided).filter(|local| !local.is_json_comment())
        {
            let name = &local.name.name;
            let all = self.files.iter_mut().flat_map(|file| &mut file.blocks);
            let mut values = all.filter(|block| block.kind.name == "locals").flat_map(|block| {
                block.body.attributes.iter_mut().chain(&mut block.body.undecided)
            });
            match values.find(|value| value.name.name == *name) {
                Some(value) => *value = local,
                None => {
                    let detail = format!(
                        "There is no local value named {name:?}. An override file can only override a local value that was already defined in a primary configuration file."
                    );
                    let summary = messages::MISSING_BASE_LOCAL_VALUE_DEFINITION_TO_OVERRIDE;
                    let diagnostic = Diagnostic::error(summary, detail).at(local.span);
                    let _ = self.diags.error(diagnostic);
                }
            }
        }
    }

    /// Takes the overridden parts out of `terraform` blocks, and adds the overriding block.
    fn merge_settings(&mut self, mut block: Block) {
        resolve_undecided_members(self.diags, &mut block.body, &TERRAFORM_BLOCK_SCHEMA);
        let all = self.files.iter_mut().flat_map(|file| &mut file.blocks);
        for base in all.filter(|base| base.kind.name == "terraform") {
            merge_terraform_block(&mut base.body, &mut block.body);
        }
        self.add_block(block);
    }

    /// Decodes the content of `terraform` blocks, and reports a state location that the files to be
    /// overridden specify twice, even if it is replaced.
    fn merge_state_blocks(&mut self) {
        let all = self.files.iter_mut().flat_map(|file| &mut file.blocks);
        let mut first = None;
        for base in all.filter(|base| base.kind.name == "terraform") {
            resolve_undecided_members(self.diags, &mut base.body, &TERRAFORM_BLOCK_SCHEMA);
            base.body.blocks.retain(|block| {
                let block_type = StateBlock::from_block(block);
                match first {
                    _ if !StateBlock::is_state_block(block) => true,
                    None => first.replace(block_type).is_none(),
                    Some(first) => {
                        let _ = self.diags.error(duplicate_state_block_error(
                            self.sources,
                            first,
                            block_type,
                        ));
                        false
                    }
                }
            });
        }
    }
}

/// Whether a body sets `count`, and whether it sets `for_each`.
fn sets_count_and_for_each(body: &Body) -> (bool, bool) {
    let says = |name| {
        body.find_attribute(name).is_some()
            || body.undecided.iter().any(|attr| attr.name.name == name)
    };
    (says("count"), says("for_each"))
}

/// Place of the first entry of a list.
fn first_entry_span(list: &Expr) -> Span {
    match &list.kind {
        ExprKind::Tuple(items) => items.first().map_or(list.span, |first| first.span),
        _ => list.span,
    }
}

/// Merges `terraform` blocks: providers by their names, the backend as a whole.
fn merge_terraform_block(base: &mut Body, over: &mut Body) {
    let has = |over: &Body, kind: &str| over.blocks.iter().any(|block| block.kind.name == kind);
    if let Some(version) = over.find_attribute("required_version") {
        let other = |attr: &Attribute| attr.span.source == version.span.source;
        base.attributes.retain(|attr| attr.name.name != "required_version" || other(attr));
    }
    if let Some(state_block) = over.blocks.iter().find(|block| StateBlock::is_state_block(block)) {
        // A second one in the same file is an error, which is reported when the file is read.
        let is_replaced = |block: &Block| {
            block.header.source == state_block.header.source
                && block.kind.name == state_block.kind.name
        };
        base.blocks.retain(|block| !StateBlock::is_state_block(block) || is_replaced(block));
    }
    // Terraform ignores them.
    over.blocks.retain(|block| block.kind.name != "provider_meta");
    let listed = |block: &&mut Block| block.kind.name == "required_providers";
    if let Some(providers) = base.blocks.iter_mut().find(listed)
        && has(over, "required_providers")
    {
        let is_listed = |block: &mut Block| block.kind.name == "required_providers";
        for block in over.blocks.extract_if(.., is_listed) {
            replace_members(&mut providers.body, block.body);
        }
    }
}

/// Merges a body into another: members of the same name are replaced, but a `lifecycle` block is
/// merged itself.
fn merge_body(diags: &mut Diagnostics, base: &mut Body, mut over: Body) {
    resolve_undecided_members(diags, base, &REPEATED_BLOCKS_SCHEMA);
    resolve_undecided_members(diags, &mut over, &REPEATED_BLOCKS_SCHEMA);
    let is_lifecycle = |block: &mut Block| block.kind.name == "lifecycle";
    let lifecycles: Vec<Block> = over.blocks.extract_if(.., is_lifecycle).collect();
    replace_members(base, over);
    for mut lifecycle in lifecycles {
        // Terraform ignores it.
        let body = &mut lifecycle.body;
        for list in [&mut body.attributes, &mut body.undecided] {
            list.retain(|attr| attr.name.name != "replace_triggered_by");
        }
        match base.blocks.iter_mut().find(|block| block.kind.name == "lifecycle") {
            Some(first) => replace_members(&mut first.body, lifecycle.body),
            None => base.blocks.push(lifecycle),
        }
    }
}

/// Merges the items of a body into another one, and replaces everything that has the same name. All
/// blocks of a type are replaced together, including those that a `dynamic` block generates.
fn replace_members(base: &mut Body, over: Body) {
    let arguments = over.attributes.iter().chain(&over.undecided);
    let names: Vec<Str> = arguments.map(|attr| attr.name.name.clone()).collect();
    let kinds = over.blocks.iter().map(|block| effective_block_type(block).clone());
    let names: std::collections::HashSet<Str> = names.into_iter().chain(kinds).collect();
    base.attributes.retain(|attr| !names.contains(&attr.name.name));
    base.undecided.retain(|attr| !names.contains(&attr.name.name));
    base.blocks.retain(|block| !names.contains(effective_block_type(block)));
    base.attributes.extend(over.attributes);
    base.undecided.extend(over.undecided);
    base.blocks.extend(over.blocks);
}

/// The type of a block, or of the blocks that a `dynamic` block generates.
fn effective_block_type(block: &Block) -> &Str {
    match block.labels.as_slice() {
        [kind] if block.kind.name == "dynamic" => &kind.name,
        _ => &block.kind.name,
    }
}

const OVERRIDDEN_RESOURCE_PHRASE: &str = "a resource block defined in a primary configuration file";
const MOVED_IN_OVERRIDE_DETAIL: &str =
    "Records of moved objects can appear only in normal files, not in override files.";
const IMPORT_IN_OVERRIDE_DETAIL: &str =
    "Import blocks can appear only in normal files, not in override files.";
const CHECK_IN_OVERRIDE_DETAIL: &str = "Override files cannot override check blocks.";
