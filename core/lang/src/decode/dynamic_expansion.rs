//! Expansion of a `dynamic` block to the blocks that it generates, without decoding their content.

use formwork_value::convert::convert;
use formwork_value::diag::Message;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Str, Type, Value};

use super::iteration_scope::IterationScope;
use crate::content::{BodySchema, read_content};
use crate::dynamic::DynamicBlock;
use crate::eval::{ErrorCause, describe_referenced_values, evaluate};
use crate::messages;
use crate::scope::Scope;
use crate::syntax::{Block, Expr, ExprKind};
use crate::traversal::as_traversal;

/// The blocks that a `dynamic` block generates.
pub(super) struct DynamicExpansion<'b> {
    dynamic: DynamicBlock<'b>,
    pub(super) content: &'b Block,
    /// Key and value of each element. If the number of elements is unknown, one unknown element, so that
    /// the content is still checked.
    pub(super) elements: Vec<(Value, Value)>,
    pub(super) is_unknown: bool,
    /// The marks of the collection.
    pub(super) marks: Marks,
    iterator: Str,
}

/// Evaluates the collection of a `dynamic` block. `has_labels` states whether the generated blocks have
/// a label.
pub(super) fn expand_dynamic_block<'b>(
    diags: &mut Diagnostics,
    block: &'b Block,
    has_labels: bool,
    scope: &dyn Scope,
) -> Result<DynamicExpansion<'b>, Reported> {
    let (dynamic, for_each, content) = read_required_parts(diags, block, has_labels)?;
    let collection = evaluate(diags, for_each, scope)?;
    let (collection, marks) = collection.unmark();
    let refuse = |diags: &mut Diagnostics, subject: &str| {
        let detail =
            format!("Cannot use {subject} in for_each. An iterable collection is required.");
        let problem =
            Diagnostic::error(messages::INVALID_DYNAMIC_FOR_EACH_VALUE, detail).at(for_each.span);
        diags.error(problem.with_referenced_values(describe_referenced_values(
            for_each,
            scope,
            ErrorCause::Values,
        )))
    };
    let is_unknown = collection.is_unknown();
    let elements = match &collection {
        Value::Null(_) => return Err(refuse(diags, "a null value")),
        // No value of the type can be iterated, so the error is reported before the value is known.
        Value::Unknown(unknown) if unknown.ty().is_primitive() => {
            return Err(refuse(diags, &format!("a {} value", unknown.ty().friendly_name())));
        }
        Value::Unknown(_) => vec![(Value::dynamic(), Value::dynamic())],
        _ => match element_keys_and_values(&collection) {
            Some(elements) => elements,
            None => {
                return Err(refuse(diags, &format!("a {} value", collection.ty().friendly_name())));
            }
        },
    };
    // The marks of the collection go to each element, because the content reads them one by one.
    let elements =
        elements.into_iter().map(|(key, value)| (key.mark(marks), value.mark(marks))).collect();
    let iterator = dynamic.iterator_name();
    Ok(DynamicExpansion { dynamic, content, elements, is_unknown, marks, iterator })
}

/// Returns the key and value of each element, or `None` if the value is not a collection.
fn element_keys_and_values(collection: &Value) -> Option<Vec<(Value, Value)>> {
    let values = collection.children().iter().cloned();
    Some(match collection {
        Value::List(_) | Value::Tuple(_) => {
            values.enumerate().map(|(at, value)| (Value::Number(at.into()), value)).collect()
        }
        // A set has no keys, so HCL uses the element for both.
        Value::Set(_) => values.map(|value| (value.clone(), value)).collect(),
        Value::Map(map) => string_keyed_pairs(map.keys(), values),
        Value::Object(object) => string_keyed_pairs(object.names(), values),
        _ => return None,
    })
}

fn string_keyed_pairs(keys: &[Str], values: impl Iterator<Item = Value>) -> Vec<(Value, Value)> {
    keys.iter().map(|key| Value::String(key.clone())).zip(values).collect()
}

/// Checks that the required parts exist.
fn read_required_parts<'b>(
    diags: &mut Diagnostics,
    block: &'b Block,
    has_labels: bool,
) -> Result<(DynamicBlock<'b>, &'b Expr, &'b Block), Reported> {
    let mut block_diags = Diagnostics::new();
    let labels: &[(&str, bool)] = if has_labels { &[("labels", true)] } else { &[] };
    let attributes = [&[("for_each", true), ("iterator", false)], labels].concat();
    let schema = BodySchema { attributes: &attributes, blocks: &[("content", &[])] };
    let content = read_content(&mut block_diags, &block.body, &schema);
    let mut complain = |summary: &'static Message, detail: &str, span: Span| {
        let _ = block_diags.error(Diagnostic::error(summary, detail).at(span));
    };
    match content.blocks.as_slice() {
        [_] => {}
        [] => complain(
            messages::MISSING_DYNAMIC_CONTENT_BLOCK,
            "A dynamic block must have a nested block of type \"content\" to describe the body of each generated block.",
            block.body.missing,
        ),
        [_, extra, ..] => complain(
            messages::EXTRANEOUS_DYNAMIC_CONTENT_BLOCK,
            "Only one block of type \"content\" is allowed.",
            extra.kind.span,
        ),
    }
    let dynamic = DynamicBlock::of(block);
    if let Some(iterator) = content.attributes.get("iterator") {
        let summary = match as_traversal(&iterator.expr) {
            Some(name) if name.steps.is_empty() => None,
            Some(_) => Some(messages::INVALID_DYNAMIC_ITERATOR_NAME),
            None => Some(messages::INVALID_EXPRESSION),
        };
        if let Some(summary) = summary {
            complain(
                summary,
                "The iterator must be a single name without quotes.",
                iterator.expr.span,
            );
        }
    }
    let Some((dynamic, for_each, content)) =
        dynamic.and_then(|dynamic| Some((dynamic, dynamic.for_each?, dynamic.content?)))
    else {
        // The checks above report missing parts more precisely.
        diags.append(block_diags)?;
        return Err(report_missing_part(diags, block));
    };
    diags.append(block_diags)?;
    Ok((dynamic, for_each, content))
}

fn report_missing_part(diags: &mut Diagnostics, block: &Block) -> Reported {
    let detail = "A dynamic block needs the argument for_each and a block of type \"content\".";
    diags.error(
        Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail).at(block.body.missing),
    )
}

impl DynamicExpansion<'_> {
    /// The scope of the content for one element.
    pub(super) fn iteration_scope<'s>(
        &self,
        outer: &'s dyn Scope,
        key: &Value,
        value: &Value,
    ) -> IterationScope<'s> {
        IterationScope::new(outer, self.iterator.clone(), key.clone(), value.clone())
    }

    /// Evaluates the label of one block in the scope of its element.
    pub(super) fn evaluate_label(
        &self,
        diags: &mut Diagnostics,
        scope: &dyn Scope,
    ) -> Result<Str, Reported> {
        let span = self.dynamic.labels.map_or(self.content.header, |labels| labels.span);
        let mut refuse = |summary: &'static Message, detail: &str| {
            Err(diags.error(Diagnostic::error(summary, detail).at(span)))
        };
        let expr = match self.dynamic.labels.map(|labels| &labels.kind) {
            Some(ExprKind::Tuple(labels)) => match labels.as_slice() {
                [label] => label,
                [] => {
                    return refuse(
                        messages::INSUFFICIENT_DYNAMIC_BLOCK_LABELS,
                        "One label is needed.",
                    );
                }
                _ => {
                    return refuse(
                        messages::EXTRANEOUS_DYNAMIC_BLOCK_LABEL,
                        "Only one label is needed.",
                    );
                }
            },
            _ => {
                return refuse(
                    messages::INVALID_DYNAMIC_BLOCK_LABEL,
                    "The labels must be a list in brackets.",
                );
            }
        };
        let value = evaluate(diags, expr, scope)?;
        let detail = match convert(&value, &Type::String) {
            Ok(Value::String(text)) => return Ok(text),
            // The existence of the blocks is unknown too, so no label is required yet.
            Ok(value) if value.is_unknown() && self.is_unknown => return Ok(Str::new("")),
            Ok(value) if value.is_unknown() => {
                "A label must be known when the configuration is planned."
            }
            Ok(value) if value.is_null() => "A label cannot be null.",
            Ok(_) => "A label cannot be sensitive or ephemeral, because labels are printed.",
            Err(_) => "A label must be a string.",
        };
        Err(diags
            .error(Diagnostic::error(messages::INVALID_DYNAMIC_BLOCK_LABEL, detail).at(expr.span)))
    }
}
