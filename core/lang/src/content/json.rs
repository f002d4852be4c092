//! Content of JSON bodies: the schema decides whether a member of an object is an argument, or blocks
//! whose labels are the keys of nested objects.

use std::collections::HashMap;

use formwork_value::diag::Summary;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::{BodySchema, ContentSchema};
use crate::messages;
use crate::syntax::{
    Attribute, Block, Body, Expr, ExprKind, Ident, ObjectItem, json_members_as_attributes,
};

/// Schema of a `dynamic` block of any block type.
const DYNAMIC_BLOCK_SCHEMA: BodySchema = BodySchema {
    attributes: &[("for_each", false), ("iterator", false), ("labels", false)],
    blocks: &[("content", &[])],
};

/// Converts the undecided members that are expected to arguments and blocks. The others stay undecided.
pub fn resolve_undecided_members(
    diags: &mut Diagnostics,
    body: &mut Body,
    expected: &impl ContentSchema,
) {
    if body.undecided.is_empty() {
        return;
    }
    let mut names: HashMap<Str, Span> =
        body.attributes.iter().map(|attr| (attr.name.name.clone(), attr.span)).collect();
    for member in std::mem::take(&mut body.undecided) {
        let name = member.name.name.clone();
        if member.is_json_comment() {
            // Comments are ignored.
        } else if expected.expects_attribute(&name) {
            if names.insert(name, member.span).is_some() {
                let _ = report_redefinition(diags, &member, messages::DUPLICATE_ARGUMENT);
            } else {
                body.attributes.push(member);
            }
        } else if let Some(labels) = expected.label_names(&name) {
            // A block type may occur several times: HCL collects the blocks of all members.
            let mut maker =
                JsonBlockBuilder { diags, kind: member.name, labels, blocks: &mut body.blocks };
            maker.build_labelled_blocks(Vec::new(), member.expr);
        } else {
            body.undecided.push(member);
        }
    }
}

/// Reports a name that is set twice.
pub(super) fn report_redefinition(
    diags: &mut Diagnostics,
    member: &Attribute,
    summary: impl Into<Summary>,
) -> Reported {
    let detail =
        format!("{:?} is already set. Each argument may be set only once.", member.name.name);
    diags.error(Diagnostic::error(summary, detail).at(member.name.span))
}

/// Builds the blocks of one type.
struct JsonBlockBuilder<'m> {
    diags: &'m mut Diagnostics,
    kind: Ident,
    labels: &'m [&'m str],
    blocks: &'m mut Vec<Block>,
}

impl JsonBlockBuilder<'_> {
    /// Builds blocks from the value below some labels.
    fn build_labelled_blocks(&mut self, labels: Vec<Ident>, expr: Expr) {
        let Some(label) = self.labels.get(labels.len()) else {
            return self.build_one_or_more_blocks(labels, expr);
        };
        let span = expr.span;
        let span_of_object = match expr.kind {
            ExprKind::Object(_) | ExprKind::Tuple(_) => first_character_span(span),
            _ => span,
        };
        let mut items = Vec::new();
        match expr.kind {
            // A null has no members, so it is reported below as a missing label, as in HCL.
            ExprKind::Null => {}
            ExprKind::Object(members) => items = members,
            // In an array, a label may occur several times. The keys of one object are unique.
            ExprKind::Tuple(elements) => {
                for element in elements {
                    match element.kind {
                        ExprKind::Object(members) => items.extend(members),
                        _ => self.report_wrong_value(LABELS_EXPECTED_DETAIL, element.span),
                    }
                }
            }
            _ => self.report_wrong_value(LABELS_EXPECTED_DETAIL, span),
        }
        if items.is_empty() {
            let kind = &self.kind.name;
            let detail = format!(
                "Expected an object whose property name is the {label} of the {kind} block."
            );
            self.report_error(messages::MISSING_BLOCK_LABEL, detail, span_of_object);
        }
        for ObjectItem { key, value, .. } in items {
            // The keys of an object in JSON are always strings, so nothing is omitted here.
            let ExprKind::Json(text) = key.kind else { continue };
            let label = Ident { name: text.text, span: key.span };
            self.build_labelled_blocks(labels.iter().cloned().chain([label]).collect(), value);
        }
    }

    /// Builds a block from an object, or from each object in an array.
    fn build_one_or_more_blocks(&mut self, labels: Vec<Ident>, expr: Expr) {
        let header = first_character_span(expr.span);
        match expr.kind {
            // HCL treats null as an absent block, so that generated files may set unused blocks to null.
            ExprKind::Null => {}
            ExprKind::Object(items) => self.build_block(labels, items, header, expr.span),
            ExprKind::Tuple(elements) => {
                for element in elements {
                    match element.kind {
                        ExprKind::Object(items) => {
                            self.build_block(labels.clone(), items, header, element.span);
                        }
                        _ => self.report_wrong_value(BODY_EXPECTED_DETAIL, element.span),
                    }
                }
            }
            _ => self.report_wrong_value(BODIES_EXPECTED_DETAIL, expr.span),
        }
    }

    /// Builds a block from an object. As in Terraform, its own diagnostics point to the start of its
    /// siblings, and those about missing items to its end.
    fn build_block(
        &mut self,
        labels: Vec<Ident>,
        items: Vec<ObjectItem>,
        header: Span,
        span: Span,
    ) {
        let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
        let mut body =
            Body { undecided: json_members_as_attributes(items), ..Body::empty(span, end) };
        // The parts of a `dynamic` block are the same for all block types, so they are decided
        // immediately. The content is decided later, by the schema of the generated type.
        if self.kind.name == "dynamic" {
            resolve_undecided_members(self.diags, &mut body, &DYNAMIC_BLOCK_SCHEMA);
        }
        self.blocks.push(Block { kind: self.kind.clone(), labels, body, header, brace: end, span });
    }

    fn report_wrong_value(&mut self, detail: &str, span: Span) {
        self.report_error(messages::INCORRECT_JSON_VALUE_TYPE, detail.to_owned(), span);
    }

    fn report_error(&mut self, summary: impl Into<Summary>, detail: String, span: Span) {
        let _ = self.diags.error(Diagnostic::error(summary, detail).at(span));
    }
}

/// Returns the first character of a value, at which messages about the whole value point.
fn first_character_span(span: Span) -> Span {
    Span { end: span.end.min(span.start + 1), ..span }
}

const LABELS_EXPECTED_DETAIL: &str =
    "Expected an object, or an array of objects, whose property names are labels of the block.";
const BODY_EXPECTED_DETAIL: &str =
    "Expected an object that contains the arguments and blocks of a block.";
const BODIES_EXPECTED_DETAIL: &str =
    "Expected an object, or an array of objects, each of which is a block.";
