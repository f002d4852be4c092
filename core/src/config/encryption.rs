//! The `encryption` block of a `terraform` block, and the value of `TF_ENCRYPTION`, as OpenTofu defines
//! them: key providers, methods and the targets that use them. Nothing is evaluated here.

use formwork_lang::content::{BodySchema, into_content, into_just_attributes};
use formwork_lang::syntax::{Attribute, Block, Body, Expr, parse_file, parse_json};
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::arguments::{format_span, take_bool_argument, take_string_argument};
use crate::messages;

/// The name of the environment variable that is merged over the block.
pub const ENCRYPTION_VARIABLE: &str = "TF_ENCRYPTION";

const BODY_SCHEMA: BodySchema<'_> = BodySchema {
    attributes: &[],
    blocks: &[
        ("key_provider", &["type", "name"]),
        ("method", &["type", "name"]),
        ("state", &[]),
        ("plan", &[]),
        ("remote_state_data_sources", &[]),
    ],
};
const ENFORCEABLE_TARGET_SCHEMA: BodySchema<'_> = BodySchema {
    attributes: &[("enforced", false), ("method", false)],
    blocks: &[("fallback", &[])],
};
const TARGET_SCHEMA: BodySchema<'_> =
    BodySchema { attributes: &[("method", false)], blocks: &[("fallback", &[])] };
const REMOTE_TARGETS_SCHEMA: BodySchema<'_> = BodySchema {
    attributes: &[],
    blocks: &[("default", &[]), ("remote_state_data_source", &["name"])],
};

/// An `encryption` block.
#[derive(Clone, Debug)]
pub struct EncryptionBlock {
    /// The key providers, in the order written.
    pub key_providers: Vec<EncryptionPart>,
    /// The methods, in the order written.
    pub methods: Vec<EncryptionPart>,
    /// The target of states.
    pub state: Option<EncryptionTargetBlock>,
    /// The target of saved plans.
    pub plan: Option<EncryptionTargetBlock>,
    /// The default target of the states of other configurations.
    pub remote_default: Option<EncryptionTargetBlock>,
    /// The targets of single data sources, by their addresses.
    pub remotes: Vec<(Str, EncryptionTargetBlock)>,
    /// The block's header, or the start of the variable's text.
    pub span: Span,
}

/// A `key_provider` or `method` block.
#[derive(Clone, Debug)]
pub struct EncryptionPart {
    /// The type of the block.
    pub kind: Str,
    /// The name of the block.
    pub name: Str,
    /// The key of its metadata in encrypted files, if that is not its address.
    pub alias: Option<String>,
    /// The other arguments.
    pub arguments: Vec<Attribute>,
    /// The block's header.
    pub span: Span,
}

/// The methods for one kind of file: the first one encrypts, and all decrypt.
#[derive(Clone, Debug, Default)]
pub struct EncryptionTargetBlock {
    /// Whether unencrypted files are refused.
    pub enforced: bool,
    /// The method.
    pub method: Option<Expr>,
    /// The next methods to decrypt with.
    pub fallback: Option<Box<Self>>,
    /// The block's header.
    pub span: Option<Span>,
}

impl EncryptionBlock {
    /// Reads a block.
    ///
    /// # Errors
    /// When the block has an invalid part, or two blocks with the same name.
    pub(super) fn from_block(diags: &mut Diagnostics, block: Block) -> Result<Self, Reported> {
        Self::from_body(diags, block.body, block.header)
    }

    fn from_body(diags: &mut Diagnostics, body: Body, span: Span) -> Result<Self, Reported> {
        let mut body_diags = Diagnostics::new();
        let mut content = into_content(&mut body_diags, body, &BODY_SCHEMA);
        let mut parts = |kind: &str| {
            let blocks = content.take_blocks(kind).into_iter();
            blocks
                .filter_map(|block| read_encryption_part(&mut body_diags, block))
                .collect::<Vec<_>>()
        };
        let (key_providers, methods) = (parts("key_provider"), parts("method"));
        check_unique_parts(&mut body_diags, "key_provider", &key_providers);
        check_unique_parts(&mut body_diags, "method", &methods);
        let mut take_block =
            |kind: &str| take_single_block(&mut body_diags, content.take_blocks(kind));
        let (state, plan, remote) =
            (take_block("state"), take_block("plan"), take_block("remote_state_data_sources"));
        let mut target = |block: Option<Block>| {
            block.map(|block| {
                read_encryption_target(&mut body_diags, block, &ENFORCEABLE_TARGET_SCHEMA)
            })
        };
        let (state, plan) = (target(state), target(plan));
        let (remote_default, remotes) =
            remote.map(|block| read_remote_targets(&mut body_diags, block)).unwrap_or_default();
        diags.append(body_diags)?;
        Ok(Self { key_providers, methods, state, plan, remote_default, remotes, span })
    }

    /// Parses the value of [`ENCRYPTION_VARIABLE`]: JSON if it begins with a brace. It is a secret, so no
    /// message shows a part of it.
    ///
    /// # Errors
    /// As for a block.
    pub fn from_environment_text(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        text: &str,
    ) -> Result<Self, Reported> {
        let source = sources.add_secret(ENCRYPTION_VARIABLE, text);
        let mut parse_diags = Diagnostics::new();
        let body = match text.trim_start().starts_with('{') {
            true => parse_json(&mut parse_diags, sources, source),
            false => parse_file(&mut parse_diags, sources, source),
        };
        let read = parse_diags.fail_if_errors().and_then(|()| {
            let span = Span { start: 0, end: 0, ..body.span };
            Self::from_body(&mut parse_diags, body, span)
        });
        for problem in parse_diags {
            // The variable is set outside of the configuration.
            let _ = diags.push(problem.blamed_on(Blame::Environment));
        }
        read
    }

    /// Merges another block over this one: arguments of key providers and methods of the same name one
    /// by one, a target's method and fallback each as a whole. As in OpenTofu, a key provider keeps its
    /// alias.
    pub fn merge(&mut self, over: Self) {
        merge_parts(&mut self.key_providers, over.key_providers);
        merge_parts(&mut self.methods, over.methods);
        merge_target(&mut self.state, over.state);
        merge_target(&mut self.plan, over.plan);
        merge_target(&mut self.remote_default, over.remote_default);
        for (name, target) in over.remotes {
            match self.remotes.iter_mut().find(|(other, _)| *other == name) {
                Some((_, base)) => base.merge(target),
                None => self.remotes.push((name, target)),
            }
        }
    }
}

impl EncryptionPart {
    /// The argument of a name.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Attribute> {
        self.arguments.iter().find(|argument| argument.name.name == name)
    }
}

impl EncryptionTargetBlock {
    fn merge(&mut self, over: Self) {
        // As in OpenTofu, the variable can enforce encryption but not lift the enforcement.
        self.enforced |= over.enforced;
        self.method = over.method.or(self.method.take());
        self.fallback = over.fallback.or(self.fallback.take());
    }
}

fn merge_parts(base: &mut Vec<EncryptionPart>, over: Vec<EncryptionPart>) {
    for part in over {
        let same = |other: &&mut EncryptionPart| other.kind == part.kind && other.name == part.name;
        let Some(base) = base.iter_mut().find(same) else {
            base.push(part);
            continue;
        };
        for argument in part.arguments {
            base.arguments.retain(|other| other.name.name != argument.name.name);
            base.arguments.push(argument);
        }
    }
}

fn merge_target(base: &mut Option<EncryptionTargetBlock>, over: Option<EncryptionTargetBlock>) {
    match (base.as_mut(), over) {
        (Some(base), Some(over)) => base.merge(over),
        (None, over) => *base = over,
        (Some(_), None) => {}
    }
}

fn read_encryption_part(diags: &mut Diagnostics, block: Block) -> Option<EncryptionPart> {
    let [kind, name] = block.labels.as_slice() else { return None };
    for label in [kind, name] {
        let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_rest = |c: char| is_start(c) || c.is_ascii_digit() || c == '-';
        let valid = label.name.starts_with(is_start) && label.name.chars().all(is_rest);
        if !valid {
            let detail = format!(
                "{:?} was found. The type and the name of a `{}` block begin with a letter or an underscore, followed by letters, digits, underscores and dashes.",
                label.name.as_str(),
                block.kind.name
            );
            let problem = Diagnostic::error(
                messages::INVALID_ENCRYPTION_LABEL.with(&[&block.kind.name]),
                detail,
            );
            let _ = diags.error(problem.at(block.header));
            return None;
        }
    }
    let (kind, name) = (kind.name.clone(), name.name.clone());
    let mut body = block.body;
    let mut alias = None;
    if block.kind.name == "key_provider" {
        const KEY_PROVIDER_ALIAS_SCHEMA: BodySchema<'_> =
            BodySchema { attributes: &[("encrypted_metadata_alias", false)], blocks: &[] };
        let (mut content, rest) =
            formwork_lang::content::split_content(diags, body, &KEY_PROVIDER_ALIAS_SCHEMA);
        alias = take_string_argument(diags, &mut content, "encrypted_metadata_alias");
        body = rest;
    }
    let arguments = into_just_attributes(diags, body);
    let alias = alias.filter(|alias| !alias.is_empty());
    Some(EncryptionPart { kind, name, alias, arguments, span: block.header })
}

fn check_unique_parts(diags: &mut Diagnostics, kind: &str, parts: &[EncryptionPart]) {
    for (at, part) in parts.iter().enumerate() {
        if parts[..at].iter().any(|other| other.kind == part.kind && other.name == part.name) {
            let detail = format!(
                "There is more than one block {kind}.{}.{}. Remove all but one, or rename them.",
                part.kind, part.name
            );
            let problem =
                Diagnostic::error(messages::DUPLICATE_ENCRYPTION_PART.with(&[&kind]), detail);
            let _ = diags.error(problem.at(part.span));
        }
    }
}

/// The only block of a type; a second one is reported.
fn take_single_block(diags: &mut Diagnostics, blocks: Vec<Block>) -> Option<Block> {
    let mut blocks = blocks.into_iter();
    let first = blocks.next();
    for other in blocks {
        let kind = &other.kind.name;
        let detail = format!("Only one `{kind}` block is allowed here. Remove all but one.");
        let problem = Diagnostic::error(messages::DUPLICATE_BLOCK.with(&[&kind]), detail);
        let _ = diags.error(problem.at(other.header));
    }
    first
}

fn read_encryption_target(
    diags: &mut Diagnostics,
    block: Block,
    schema: &BodySchema<'_>,
) -> EncryptionTargetBlock {
    let mut content = into_content(diags, block.body, schema);
    let enforced = take_bool_argument(diags, &mut content, "enforced").unwrap_or_default();
    let method = content.take_attribute("method").map(|attribute| attribute.expr);
    let fallback = take_single_block(diags, content.take_blocks("fallback"));
    let fallback =
        fallback.map(|block| Box::new(read_encryption_target(diags, block, &TARGET_SCHEMA)));
    EncryptionTargetBlock { enforced, method, fallback, span: Some(block.header) }
}

type RemoteTargets = (Option<EncryptionTargetBlock>, Vec<(Str, EncryptionTargetBlock)>);

fn read_remote_targets(diags: &mut Diagnostics, block: Block) -> RemoteTargets {
    let mut content = into_content(diags, block.body, &REMOTE_TARGETS_SCHEMA);
    let default = take_single_block(diags, content.take_blocks("default"));
    let default = default.map(|block| read_encryption_target(diags, block, &TARGET_SCHEMA));
    let mut remotes: Vec<(Str, EncryptionTargetBlock)> = Vec::new();
    for block in content.take_blocks("remote_state_data_source") {
        let Some(name) = block.labels.first().map(|label| label.name.clone()) else { continue };
        if remotes.iter().any(|(other, _)| *other == name) {
            let detail = format!(
                "There is more than one block for the data source {:?}. Remove all but one.",
                name.as_str()
            );
            let problem = Diagnostic::error(messages::DUPLICATE_REMOTE_STATE_DATA_SOURCE, detail);
            let _ = diags.error(problem.at(block.header));
            continue;
        }
        remotes.push((name, read_encryption_target(diags, block, &TARGET_SCHEMA)));
    }
    (default, remotes)
}

/// The error for a second `encryption` block.
pub(super) fn duplicate_encryption_error(
    sources: &Sources,
    first: Span,
    second: Span,
) -> Diagnostic {
    let detail = format!(
        "A module may have only one encryption configuration. Encryption was previously configured at {}.",
        format_span(sources, first)
    );
    Diagnostic::error(messages::DUPLICATE_ENCRYPTION_CONFIGURATION, detail).at(second)
}
