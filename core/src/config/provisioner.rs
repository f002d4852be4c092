//! Reads `provisioner` and `connection` blocks, without knowledge of provisioner types.

use std::collections::BTreeSet;

use formwork_lang::content::{BodySchema, split_content};
use formwork_lang::refs::{self, Traversal, TraversalStep};
use formwork_lang::syntax::{Attribute, Block, Body, ExprKind, Ident};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::arguments::{NestedBlocks, format_span, merge_escape_blocks};
use super::{OnFailure, Provisioner, ProvisionerTiming};
use crate::messages;

const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[("when", false), ("on_failure", false)],
    blocks: &[("connection", &[]), ("lifecycle", &[]), ("_", &[])],
};

/// Kinds that were taken out of the language, with the version that announced it.
const REMOVED_PROVISIONER_KINDS: [(&str, &str); 4] = [
    ("chef", "0.13.4"),
    ("habitat", "0.13.4"),
    ("puppet", "0.13.4"),
    ("salt-masterless", "0.13.4"),
];

/// Reads the `provisioner` blocks of a block. Each has the connection of that block, overridden by
/// its own. Invalid blocks are reported and left out.
pub(super) fn read_provisioners(
    diags: &mut Diagnostics,
    sources: &Sources,
    blocks: Vec<Block>,
    connections: NestedBlocks<'_>,
) -> Vec<Provisioner> {
    let shared = single_connection_body(diags, sources, connections);
    let read = blocks
        .into_iter()
        .filter_map(|block| read_provisioner_block(diags, sources, block, shared.as_ref()));
    read.collect()
}

fn read_provisioner_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    mut block: Block,
    shared: Option<&Body>,
) -> Option<Provisioner> {
    let kind = block.labels.pop()?;
    let missing = block.body.missing;
    let (mut content, rest) = split_content(diags, block.body, &BODY_SCHEMA);
    let when = content.take_attribute("when").map_or(Ok(ProvisionerTiming::Create), |attribute| {
        let words =
            [("create", ProvisionerTiming::Create), ("destroy", ProvisionerTiming::Destroy)];
        read_keyword(diags, &attribute, &words)
    });
    let on_failure =
        content.take_attribute("on_failure").map_or(Ok(OnFailure::Fail), |attribute| {
            let words = [("continue", OnFailure::Continue), ("fail", OnFailure::Fail)];
            read_keyword(diags, &attribute, &words)
        });
    let connections =
        NestedBlocks { blocks: content.take_blocks("connection"), within: "provisioner" };
    let own_connection = single_connection_body(diags, sources, connections);
    let escaping = NestedBlocks { blocks: content.take_blocks("_"), within: "provisioner" };
    let body = merge_escape_blocks(diags, sources, rest, escaping);
    for reserved in &content.blocks {
        let detail = format!(
            "The block type name {:?} is reserved for use by Terraform in a future version.",
            reserved.kind.name
        );
        let summary = messages::RESERVED_BLOCK_TYPE_NAME_IN_PROVISIONER_BLOCK;
        let _ = diags.error(Diagnostic::error(summary, detail).at(reserved.kind.span));
    }
    reject_removed_provisioner_kind(diags, &kind).ok()?;
    let provisioner = Provisioner {
        when: when.ok()?,
        on_failure: on_failure.ok()?,
        connection: merge_connections(shared, own_connection),
        kind,
        body,
        span: block.header,
        missing,
    };
    if provisioner.when == ProvisionerTiming::Destroy {
        check_destroy_time_references(diags, &provisioner);
    }
    Some(provisioner)
}

/// The body of the one block there may be.
fn single_connection_body(
    diags: &mut Diagnostics,
    sources: &Sources,
    nested: NestedBlocks<'_>,
) -> Option<Body> {
    let NestedBlocks { blocks, within: of } = nested;
    let mut blocks = blocks.into_iter();
    let first = blocks.next()?;
    for duplicate in blocks {
        let before = format_span(sources, first.header);
        let detail = format!("This {of} already has a connection block at {before}.");
        let problem = Diagnostic::error(messages::DUPLICATE_CONNECTION_BLOCK, detail);
        let _ = diags.error(problem.at(duplicate.header));
    }
    Some(first.body)
}

/// Merges two connections, argument by argument: the provisioner's arguments override the
/// resource's.
fn merge_connections(shared: Option<&Body>, own_connection: Option<Body>) -> Option<Body> {
    let Some(shared) = shared else { return own_connection };
    let Some(mut merged) = own_connection else { return Some(shared.clone()) };
    let names: BTreeSet<Str> =
        merged.written_attributes().map(|attr| attr.name.name.clone()).collect();
    let more = |list: &[Attribute]| -> Vec<Attribute> {
        list.iter().filter(|attribute| !names.contains(&attribute.name.name)).cloned().collect()
    };
    merged.attributes.extend(more(&shared.attributes));
    merged.undecided.extend(more(&shared.undecided));
    Some(merged)
}

/// Reads a keyword. Earlier versions required quotes, which are deprecated.
fn read_keyword<T: Copy>(
    diags: &mut Diagnostics,
    attribute: &Attribute,
    words: &[(&str, T)],
) -> Result<T, Reported> {
    let expr = &attribute.expr;
    let quoted = expr.as_string_literal().map(|text| text.as_str());
    // JSON has only the quoted form.
    if quoted.is_some() && !matches!(expr.kind, ExprKind::Json(_)) {
        let detail = "In this context, keywords are expected literally rather than in quotes. Terraform 0.11 and earlier required quotes, but quoted keywords are now deprecated and will be removed in a future version of Terraform. Remove the quotes surrounding this keyword to silence this warning.";
        let warning = Diagnostic::warning(messages::QUOTED_KEYWORDS_ARE_DEPRECATED, detail);
        diags.warn(warning.at(expr.span));
    }
    let keyword = quoted.or_else(|| expr.as_keyword());
    if let Some((_, meaning)) = words.iter().find(|(word, _)| keyword == Some(*word)) {
        return Ok(*meaning);
    }
    let name = &attribute.name.name;
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let detail = format!(
        "The \"{name}\" argument requires one of the following keywords: {}.",
        words.join(" or ")
    );
    let summary = messages::INVALID_PROVISIONER_KEYWORD.with(&[&name]);
    Err(diags.error(Diagnostic::error(summary, detail).at(expr.span)))
}

fn reject_removed_provisioner_kind(diags: &mut Diagnostics, kind: &Ident) -> Result<(), Reported> {
    let Some((name, since)) = REMOVED_PROVISIONER_KINDS.iter().find(|(name, _)| kind.name == *name)
    else {
        return Ok(());
    };
    let summary = messages::REMOVED_PROVISIONER.with(&[&name]);
    let detail = format!(
        "The \"{name}\" provisioner was deprecated in Terraform {since} and has been removed from the language. Let a local-exec provisioner call the program instead."
    );
    Err(diags.error(Diagnostic::error(summary, detail).at(kind.span)))
}

/// Reports references to objects that do not exist any more, or not yet, when an object is
/// destroyed.
fn check_destroy_time_references(diags: &mut Diagnostics, provisioner: &Provisioner) {
    let connection = provisioner.connection.iter().flat_map(Body::written_attributes);
    for attribute in provisioner.body.written_attributes().chain(connection) {
        for _ in refs::traversals_of_expr(&attribute.expr)
            .iter()
            .filter(|traversal| !is_known_from_own_state(traversal))
        {
            let detail = "Destroy-time provisioners and their connection configurations may only reference attributes of the related resource, via 'self', 'count.index', or 'each.key'.\n\nReferences to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy.";
            let summary = messages::INVALID_REFERENCE_FROM_DESTROY_PROVISIONER;
            let _ = diags.error(Diagnostic::error(summary, detail).at(attribute.expr.span));
        }
    }
}

/// Whether the value of a reference depends only on the state and the address.
fn is_known_from_own_state(traversal: &Traversal) -> bool {
    let step = match traversal.steps.as_slice() {
        [TraversalStep::Attribute(name)] => name.name.as_str(),
        _ => "",
    };
    match traversal.root.name.as_str() {
        "self" | "path" | "terraform" => true,
        "count" => step == "index",
        "each" => step == "key",
        _ => false,
    }
}
