//! References in a body that is matched against a schema. An argument or block that the schema lacks is
//! never evaluated, so its references do not count.

use formwork_value::Diagnostics;
use formwork_value::Span;
use formwork_value::schema::Block as Schema;

use super::{ReferenceFinder, Traversal};
use crate::attributes_as_blocks::{AttributesAsBlocks, LegacySchemaCheck};
use crate::content::{ContentSchema, resolve_undecided_members};
use crate::dynamic::{DynamicBlock, SchemaWithDynamicBlocks};
use crate::stack::with_stack;
use crate::syntax::{Body, Expr};

/// The references in the arguments and blocks of a body that its schema declares.
#[derive(Debug, Default)]
pub struct ContentReferences {
    /// References that determine the number of blocks that a `dynamic` block generates.
    pub repetitions: Vec<Traversal>,
    /// All other references.
    pub values: Vec<Traversal>,
}

/// Returns every reference in the arguments and blocks of a body that the schema declares. As in
/// Terraform, the `for_each` of a `dynamic` block counts for blocks of any type.
#[must_use]
pub fn references_of_content(body: &Body, schema: &Schema) -> ContentReferences {
    let mut finder = ReferenceFinder::default();
    finder.visit_content(body, schema, &LegacySchemaCheck::of(schema));
    ContentReferences { repetitions: finder.repetitions, values: finder.traversals }
}

/// Returns the spans of the arguments and blocks that the schema lacks, in nested blocks too. For a
/// `dynamic` block, this is the span of its content.
#[must_use]
pub fn find_spans_outside_schema(body: &Body, schema: &Schema) -> Vec<Span> {
    let mut spans = Vec::new();
    collect_spans_outside_schema(&mut spans, body, schema, &LegacySchemaCheck::of(schema));
    spans
}

/// An argument or block of a body, matched against the schema.
enum BodyItem<'i> {
    Argument(&'i Expr),
    Block(&'i Body, BlockSchema<'i>),
    /// A `dynamic` block, without a schema if the block type is not declared.
    Dynamic(DynamicBlock<'i>, Option<BlockSchema<'i>>),
    Unsupported(Span),
}

/// The schema of one type of blocks.
#[derive(Clone, Copy)]
struct BlockSchema<'i> {
    schema: &'i Schema,
    /// Whether the blocks replace the value of an attribute.
    is_attribute: bool,
}

impl<'i> BlockSchema<'i> {
    fn find(
        schema: &'i Schema,
        attributes: &'i AttributesAsBlocks<'_>,
        name: &str,
    ) -> Option<Self> {
        if let Some(nested) = schema.blocks.get(name) {
            return Some(Self { schema: &nested.block, is_attribute: false });
        }
        let (_, schema) = attributes.find_attribute_as_block(name)?;
        Some(Self { schema, is_attribute: true })
    }

    /// Calls a function with the schema, and the rule for attributes written as blocks that holds there.
    fn visit_with_schema(
        self,
        outer: &LegacySchemaCheck<'_>,
        visit: impl FnOnce(&Schema, &LegacySchemaCheck<'_>),
    ) {
        with_stack(|| match self.is_attribute {
            true => visit(self.schema, &LegacySchemaCheck::of(self.schema)),
            false => visit(self.schema, outer),
        });
    }
}

fn collect_spans_outside_schema(
    spans: &mut Vec<Span>,
    body: &Body,
    schema: &Schema,
    legacy_check: &LegacySchemaCheck<'_>,
) {
    for_each_body_item(body, schema, legacy_check, &mut |item| match item {
        BodyItem::Argument(_) => {}
        BodyItem::Block(body, block) => {
            block.visit_with_schema(legacy_check, |schema, legacy_check| {
                collect_spans_outside_schema(spans, body, schema, legacy_check);
            });
        }
        BodyItem::Dynamic(dynamic, block) => match (dynamic.content, block) {
            (Some(content), Some(block)) => {
                block.visit_with_schema(legacy_check, |schema, legacy_check| {
                    collect_spans_outside_schema(spans, &content.body, schema, legacy_check);
                });
            }
            (Some(content), None) => spans.push(content.span),
            (None, _) => {}
        },
        BodyItem::Unsupported(span) => spans.push(span),
    });
}

/// Visits the arguments of a body, then its blocks.
fn for_each_body_item(
    body: &Body,
    schema: &Schema,
    legacy_check: &LegacySchemaCheck<'_>,
    visit: &mut dyn FnMut(BodyItem<'_>),
) {
    let expected =
        SchemaWithDynamicBlocks(AttributesAsBlocks::find_in_body(schema, body, legacy_check));
    let decided: Body;
    let body = match body.undecided.is_empty() {
        true => body,
        false => {
            let mut undecided = body.clone();
            // Syntax errors are reported when the body is decoded.
            resolve_undecided_members(&mut Diagnostics::new(), &mut undecided, &expected);
            decided = undecided;
            &decided
        }
    };
    for attribute in &body.attributes {
        visit(match expected.expects_attribute(&attribute.name.name) {
            true => BodyItem::Argument(&attribute.expr),
            false => BodyItem::Unsupported(attribute.span),
        });
    }
    for block in &body.blocks {
        let find = |name: &str| BlockSchema::find(schema, &expected.0, name);
        visit(match (find(&block.kind.name), DynamicBlock::of(block)) {
            // A provider may have a block type that is called `dynamic`, and it comes first.
            (Some(block_schema), _) => BodyItem::Block(&block.body, block_schema),
            (None, Some(dynamic)) => BodyItem::Dynamic(dynamic, find(&dynamic.kind.name)),
            (None, None) => BodyItem::Unsupported(block.span),
        });
    }
    body.undecided.iter().for_each(|member| visit(BodyItem::Unsupported(member.span)));
}

impl ReferenceFinder {
    fn visit_content(
        &mut self,
        body: &Body,
        schema: &Schema,
        legacy_check: &LegacySchemaCheck<'_>,
    ) {
        for_each_body_item(body, schema, legacy_check, &mut |item| match item {
            BodyItem::Argument(expr) => self.visit_expr(expr),
            BodyItem::Block(body, block) => {
                block.visit_with_schema(legacy_check, |schema, legacy_check| {
                    self.visit_content(body, schema, legacy_check);
                });
            }
            BodyItem::Dynamic(dynamic, block) => {
                self.visit_dynamic_content(dynamic, block, legacy_check);
            }
            BodyItem::Unsupported(_) => {}
        });
    }

    fn visit_dynamic_content(
        &mut self,
        dynamic: DynamicBlock<'_>,
        block: Option<BlockSchema<'_>>,
        legacy_check: &LegacySchemaCheck<'_>,
    ) {
        let n_found = self.traversals.len();
        dynamic.for_each.into_iter().for_each(|for_each| self.visit_expr(for_each));
        self.repetitions.extend(self.traversals.drain(n_found..));
        let iterator = dynamic.iterator_name();
        self.with_bound_names(&[&iterator], |finder| {
            dynamic.labels.into_iter().for_each(|labels| finder.visit_expr(labels));
            if let (Some(content), Some(block)) = (dynamic.content, block) {
                block.visit_with_schema(legacy_check, |schema, legacy_check| {
                    finder.visit_content(&content.body, schema, legacy_check);
                });
            }
        });
    }
}
