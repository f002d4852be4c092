//! Decodes a body to a value by the schema of a provider. Every error is reported: an invalid part does
//! not prevent the check of the others.

mod attribute;
mod collected_blocks;
mod dynamic_expansion;
mod iteration_scope;

use std::borrow::Cow;
use std::collections::BTreeMap;

use formwork_value::diag::Summary;
use formwork_value::schema::{Block as Schema, Nesting};
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Str, Value};

use crate::attributes_as_blocks::{AttributesAsBlocks, LegacySchemaCheck};
use crate::content::{Content, read_content};
use crate::dynamic::SchemaWithDynamicBlocks;
use crate::messages;
use crate::scope::Scope;
use crate::stack::with_stack;
use crate::syntax::{Attribute, Block, Body};
use collected_blocks::CollectedBlocks;
use dynamic_expansion::{DynamicExpansion, expand_dynamic_block};

/// Evaluates a body against a schema. The value has the implied type of the schema: unset arguments are
/// null, absent blocks an empty collection.
///
/// # Errors
/// Returns an error if the body contains items that the schema does not declare or lacks required items,
/// or if an expression has no value of the required type.
pub fn evaluate_body(
    diags: &mut Diagnostics,
    body: &Body,
    schema: &Schema,
    scope: &dyn Scope,
) -> Result<Value, Reported> {
    // Only the diagnostics of this body are sorted. Those of the caller keep their order.
    let mut body_diags = Diagnostics::new();
    let mut decoder = Decoder { diags: &mut body_diags };
    let legacy_check = &LegacySchemaCheck::of(schema);
    let context = DecodeContext { scope, marks: Marks::NONE, is_unknown: false, legacy_check };
    let value = decoder.decode_body(body, schema, context);
    diags.append(sort_and_dedup_diagnostics(body_diags))?;
    Ok(value)
}

/// Sorts diagnostics by position. A problem in the content of a `dynamic` block occurs for every
/// element but is reported once.
fn sort_and_dedup_diagnostics(diags: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = diags.into_iter().collect();
    list.sort_by_key(|diag| diag.subject.map(|span| (span.source, span.start)));
    list.dedup();
    let mut sorted = Diagnostics::new();
    for diag in list {
        // The severity is kept. The caller receives one receipt for all diagnostics.
        let _ = sorted.push(diag);
    }
    sorted
}

/// Surroundings of the body being decoded.
#[derive(Clone, Copy)]
struct DecodeContext<'s> {
    scope: &'s dyn Scope,
    /// The marks of the collection of an enclosing `dynamic` block.
    marks: Marks,
    /// Whether the existence of the body is unknown, because of an enclosing `dynamic` block.
    is_unknown: bool,
    /// Whether attributes may be written as blocks.
    legacy_check: &'s LegacySchemaCheck<'s>,
}

/// The block types that a body may contain.
#[derive(Clone, Copy)]
struct BlockKinds<'s> {
    schema: &'s Schema,
    attributes: &'s AttributesAsBlocks<'s>,
}

/// One block type.
#[derive(Clone, Copy)]
struct BlockKind<'s> {
    name: &'s str,
    schema: &'s Schema,
    has_label: bool,
    /// Whether the blocks are written instead of the value of an attribute.
    is_attribute: bool,
}

impl<'s> BlockKinds<'s> {
    fn find(self, name: &str) -> Option<BlockKind<'s>> {
        if let Some((name, nested)) = self.schema.blocks.get_key_value(name) {
            let has_label = nested.nesting == Nesting::Map;
            return Some(BlockKind { name, schema: &nested.block, has_label, is_attribute: false });
        }
        let (name, schema) = self.attributes.find_attribute_as_block(name)?;
        Some(BlockKind { name, schema, has_label: false, is_attribute: true })
    }
}

struct Decoder<'d> {
    diags: &'d mut Diagnostics,
}

impl Decoder<'_> {
    fn decode_body(&mut self, body: &Body, schema: &Schema, context: DecodeContext<'_>) -> Value {
        let expected = SchemaWithDynamicBlocks(AttributesAsBlocks::find_in_body(
            schema,
            body,
            context.legacy_check,
        ));
        let content = read_content(self.diags, body, &expected);
        let SchemaWithDynamicBlocks(written_as_blocks) = expected;
        let kinds = BlockKinds { schema, attributes: &written_as_blocks };
        let mut collected: BTreeMap<&str, CollectedBlocks> = BTreeMap::new();
        for block in &content.blocks {
            self.decode_block(&mut collected, block, kinds, context);
        }
        let mut pairs = self.decode_attributes(&content, schema, &mut collected, context);
        for (name, nested) in &schema.blocks {
            let blocks = collected.remove(name.as_str()).unwrap_or_default();
            let value = blocks.into_value(self.diags, name, nested, content.missing);
            pairs.push((name.clone(), value));
        }
        Value::object(pairs)
    }

    fn decode_attributes(
        &mut self,
        content: &Content<Cow<'_, Attribute>, Cow<'_, Block>>,
        schema: &Schema,
        collected: &mut BTreeMap<&str, CollectedBlocks>,
        context: DecodeContext<'_>,
    ) -> Vec<(Str, Value)> {
        let mut pairs = Vec::with_capacity(schema.attributes.len() + schema.blocks.len());
        for (name, attr) in &schema.attributes {
            let value = match content.attributes.get(name) {
                Some(written) => self.decode_attribute(written, attr, context),
                None => {
                    let blocks = collected.remove(name.as_str()).unwrap_or_default();
                    blocks.into_attribute_value(&attr.implied_type())
                }
            };
            pairs.push((name.clone(), value));
        }
        pairs
    }

    /// Decodes a block, or all blocks that a `dynamic` block generates.
    fn decode_block<'s>(
        &mut self,
        collected: &mut BTreeMap<&'s str, CollectedBlocks>,
        block: &Block,
        kinds: BlockKinds<'s>,
        context: DecodeContext<'_>,
    ) {
        if let Some(kind) = kinds.find(&block.kind.name) {
            let key = block.labels.first().map(|label| label.name.clone());
            let value = self.decode_block_body(&block.body, kind, context);
            let blocks = collected.entry(kind.name).or_default();
            blocks.is_unknown |= context.is_unknown;
            blocks.push(value, key, block.header, block.brace);
            return;
        }
        let Some((repetition, kind)) = self.evaluate_dynamic_block(block, kinds, context) else {
            return;
        };
        let blocks = collected.entry(kind.name).or_default();
        // Once the elements are known, each argument carries the marks itself. A wholly unknown
        // collection has no arguments to carry them.
        if repetition.is_unknown {
            blocks.marks |= repetition.marks;
        }
        let is_unknown = context.is_unknown || repetition.is_unknown;
        blocks.is_unknown |= is_unknown;
        let marks = context.marks | repetition.marks;
        for (key, value) in &repetition.elements {
            let iteration = repetition.iteration_scope(context.scope, key, value);
            let context = DecodeContext { scope: &iteration, marks, is_unknown, ..context };
            let label = self.evaluate_dynamic_label(&repetition, kind, context);
            let value = self.decode_block_body(&repetition.content.body, kind, context);
            blocks.push(value, label, block.header, repetition.content.brace);
        }
    }

    /// Decodes the body of one block.
    fn decode_block_body(
        &mut self,
        body: &Body,
        kind: BlockKind<'_>,
        context: DecodeContext<'_>,
    ) -> Value {
        if !kind.is_attribute {
            // Blocks may be nested deeper than the stack allows.
            return with_stack(|| self.decode_body(body, kind.schema, context));
        }
        // The type of an element is a schema of its own, so the rule is decided again from its
        // attributes.
        let legacy_check = &LegacySchemaCheck::of(kind.schema);
        with_stack(|| {
            self.decode_body(body, kind.schema, DecodeContext { legacy_check, ..context })
        })
    }

    fn evaluate_dynamic_block<'b, 's>(
        &mut self,
        block: &'b Block,
        kinds: BlockKinds<'s>,
        context: DecodeContext<'_>,
    ) -> Option<(DynamicExpansion<'b>, BlockKind<'s>)> {
        let name = block.labels.first()?;
        let Some(kind) = kinds.find(&name.name) else {
            let detail = format!("Blocks of type {:?} are not expected here.", name.name);
            self.report_error(messages::UNSUPPORTED_BLOCK_TYPE, detail, name.span);
            return None;
        };
        let repetition = expand_dynamic_block(self.diags, block, kind.has_label, context.scope);
        Some((repetition.ok()?, kind))
    }

    fn evaluate_dynamic_label(
        &mut self,
        repetition: &DynamicExpansion<'_>,
        kind: BlockKind<'_>,
        context: DecodeContext<'_>,
    ) -> Option<Str> {
        kind.has_label.then(|| repetition.evaluate_label(self.diags, context.scope).ok()).flatten()
    }

    fn report_error(&mut self, summary: impl Into<Summary>, detail: impl Into<String>, span: Span) {
        let _ = self.diags.error(Diagnostic::error(summary, detail).at(span));
    }
}

#[cfg(test)]
mod tests;
