//! Converts all blocks of one type in a body to one value.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use formwork_value::convert::convert;
use formwork_value::diag::Summary;
use formwork_value::schema::{NestedBlock, Nesting};
use formwork_value::{Diagnostic, Diagnostics, Marks, Span, Str, Type, Value};

use crate::messages;

/// The blocks of one type found so far.
#[derive(Default)]
pub(super) struct CollectedBlocks {
    blocks: Vec<(Value, Option<Str>, Span)>,
    /// The opening brace of each block.
    braces: Vec<Span>,
    /// Whether the number of blocks is unknown.
    pub(super) is_unknown: bool,
    /// The marks of the value that determines the number of blocks.
    pub(super) marks: Marks,
}

impl CollectedBlocks {
    /// Adds a block with its value and its label, if any. A generated block has the header of the
    /// `dynamic` block, and the brace of its content.
    pub(super) fn push(&mut self, value: Value, label: Option<Str>, header: Span, brace: Span) {
        self.blocks.push((value, label, header));
        self.braces.push(brace);
    }

    /// Builds the value of an attribute of the type `ty` that is written as blocks: null without blocks.
    /// An unknown number of blocks counts as one block with unknown arguments.
    pub(super) fn into_attribute_value(self, ty: &Type) -> Value {
        // An unset attribute has no blocks.
        let Some(element) = ty.element().filter(|_| !self.blocks.is_empty()) else {
            return Value::null(ty.clone());
        };
        let blocks = self.blocks.into_iter().map(|(value, _, _)| value).collect();
        let list = Value::list(element.clone(), blocks);
        // Each block was decoded as the element type requires.
        convert(&list, ty).unwrap_or_else(|_| Value::unknown(ty.clone()))
    }

    /// Builds the value that contains all blocks. Too many or too few are reported at a block, or at
    /// `missing`.
    pub(super) fn into_value(
        self,
        diags: &mut Diagnostics,
        kind: &Str,
        nested: &NestedBlock,
        missing: Span,
    ) -> Value {
        let is_single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        if self.is_unknown && !is_single {
            // Sensitivity moves to the arguments once there are blocks, as in Terraform;
            // ephemerality has to be refused in time.
            let marks = self.marks.without(Marks::SENSITIVE);
            return Value::unknown(nested.implied_type()).mark(marks);
        }
        let mut report = |summary: Summary, detail: String, span: Span| {
            let _ = diags.error(Diagnostic::error(summary, detail).at(span));
        };
        match nested.nesting {
            // If the existence of a block is unknown, its arguments are unknown, as in Terraform.
            Nesting::Single | Nesting::Group => {
                self.into_single_value(kind, nested, missing, &mut report)
            }
            Nesting::List | Nesting::Set => {
                self.check_block_count(kind, nested, missing, &mut report);
                self.into_list_or_set_value(nested)
            }
            Nesting::Map => self.into_map_value(kind, nested, &mut report),
        }
    }

    fn into_single_value(
        self,
        kind: &Str,
        nested: &NestedBlock,
        missing: Span,
        report: &mut impl FnMut(Summary, String, Span),
    ) -> Value {
        if self.blocks.is_empty() && nested.min_items > 0 {
            let detail = format!("A block of type {kind:?} is required here.");
            report(messages::MISSING_BLOCK.with(&[&kind]), detail, missing);
        }
        if let Some((_, _, header)) = self.blocks.get(1) {
            let detail = format!("Only one block of type {kind:?} is allowed.");
            report(messages::DUPLICATE_BLOCK.with(&[&kind]), detail, *header);
        }
        // The first of several blocks is used: the others were reported.
        let first = self.blocks.into_iter().next();
        first.map_or_else(|| nested.empty_value(), |(value, _, _)| value)
    }

    fn check_block_count(
        &self,
        kind: &Str,
        nested: &NestedBlock,
        missing: Span,
        report: &mut impl FnMut(Summary, String, Span),
    ) {
        let n_blocks = self.blocks.len() as u64;
        let (min, max) = (nested.min_items, nested.max_items);
        if n_blocks < min {
            let detail =
                format!("At least {min} {kind:?} blocks are required, but {n_blocks} are given.");
            report(messages::INSUFFICIENT_BLOCKS.with(&[&kind]), detail, missing);
        } else if max > 0 && n_blocks > max {
            let extra = usize::try_from(max).ok().and_then(|at| self.braces.get(at));
            let span = extra.copied().unwrap_or(missing);
            let detail = format!(
                "No more than {max} {kind:?} blocks are allowed, but {n_blocks} are given."
            );
            report(messages::TOO_MANY_BLOCKS.with(&[&kind]), detail, span);
        }
    }

    fn into_list_or_set_value(self, nested: &NestedBlock) -> Value {
        // Null leaves the choice of the blocks to the provider; an empty collection would be a
        // choice.
        let none_written = self.blocks.is_empty() && nested.computed;
        if none_written {
            return Value::null(nested.implied_type());
        }
        nested.to_list_or_set_value(self.blocks.into_iter().map(|(value, _, _)| value).collect())
    }

    fn into_map_value(
        self,
        kind: &Str,
        nested: &NestedBlock,
        report: &mut impl FnMut(Summary, String, Span),
    ) -> Value {
        if self.blocks.is_empty() && nested.computed {
            return Value::null(nested.implied_type());
        }
        let mut pairs = BTreeMap::new();
        for (value, label, header) in self.blocks {
            // A block with an invalid label was reported.
            let Some(label) = label else { continue };
            match pairs.entry(label) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(first) => {
                    let label = first.key();
                    let detail = format!(
                        "A block for {kind} {label:?} was already defined. The labels of {kind} blocks must be unique."
                    );
                    report(messages::DUPLICATE_BLOCK.with(&[&kind]), detail, header);
                }
            }
        }
        nested.to_keyed_collection_value(pairs.into_iter().collect())
    }
}
