//! Body content: matches a body against the expected arguments and blocks, returns them, and reports
//! everything unexpected. The native and the JSON syntax use the same interface.

mod json;

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, BTreeSet};

use formwork_value::{Diagnostic, Diagnostics, Span, Str, schema};

pub use json::resolve_undecided_members;

use crate::messages;
use crate::suggest::nearest_name;
use crate::syntax::{Attribute, Block, Body};

/// Arguments and blocks that a body may contain.
pub trait ContentSchema {
    /// Returns whether an argument of this name is allowed.
    fn expects_attribute(&self, name: &str) -> bool;

    /// Returns the label names of blocks of this type, or `None` if the type is not allowed.
    fn label_names(&self, kind: &str) -> Option<&[&str]>;

    /// Returns the names of the required arguments.
    fn required_attributes(&self) -> Vec<&str>;

    /// Returns the names of all arguments.
    fn attribute_names(&self) -> Vec<&str>;

    /// Returns all block types.
    fn block_kinds(&self) -> Vec<&str>;
}

/// Arguments and blocks of a body whose meaning the language itself defines.
#[derive(Clone, Copy, Debug)]
pub struct BodySchema<'s> {
    /// Argument names, and whether each is required.
    pub attributes: &'s [(&'s str, bool)],
    /// Block types, and the names of their labels.
    pub blocks: &'s [(&'s str, &'s [&'s str])],
}

impl ContentSchema for BodySchema<'_> {
    fn expects_attribute(&self, name: &str) -> bool {
        self.attributes.iter().any(|attr| attr.0 == name)
    }

    fn label_names(&self, kind: &str) -> Option<&[&str]> {
        self.blocks.iter().find(|block| block.0 == kind).map(|block| block.1)
    }

    fn required_attributes(&self) -> Vec<&str> {
        self.attributes.iter().filter(|attr| attr.1).map(|attr| attr.0).collect()
    }

    fn attribute_names(&self) -> Vec<&str> {
        self.attributes.iter().map(|attr| attr.0).collect()
    }

    fn block_kinds(&self) -> Vec<&str> {
        self.blocks.iter().map(|block| block.0).collect()
    }
}

/// Arguments and blocks of a provider schema. Arguments that only the provider can set are accepted
/// here, because the provider reports them.
impl ContentSchema for schema::Block {
    fn expects_attribute(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }

    fn label_names(&self, kind: &str) -> Option<&[&str]> {
        let block = self.blocks.get(kind)?;
        // The label of a block in a map is its key there; no other nesting has labels in the
        // protocol.
        Some(if block.nesting == schema::Nesting::Map { &["key"] } else { &[] })
    }

    fn required_attributes(&self) -> Vec<&str> {
        let required = self.attributes.iter().filter(|attr| attr.1.role == schema::Role::Required);
        required.map(|(name, _)| name.as_str()).collect()
    }

    fn attribute_names(&self) -> Vec<&str> {
        // An argument that only the provider sets is never suggested: setting it is an error, too.
        let settable = self.attributes.iter().filter(|attr| attr.1.role.is_settable());
        settable.map(|(name, _)| name.as_str()).collect()
    }

    fn block_kinds(&self) -> Vec<&str> {
        self.blocks.keys().map(Str::as_str).collect()
    }
}

/// Content of a body: owned, or borrowed from it.
#[derive(Clone, Debug)]
pub struct Content<A = Attribute, B = Block> {
    /// The expected arguments that are set, by name.
    pub attributes: BTreeMap<Str, A>,
    /// The expected blocks, in the order written. Each has the expected number of labels.
    pub blocks: Vec<B>,
    /// Position at which a missing argument is reported.
    pub missing: Span,
}

impl<A, B: Borrow<Block>> Content<A, B> {
    /// Removes an argument and returns it.
    pub fn take_attribute(&mut self, name: &str) -> Option<A> {
        self.attributes.remove(name)
    }

    /// Removes all blocks of a type and returns them, in the order written.
    pub fn take_blocks(&mut self, kind: &str) -> Vec<B> {
        let is_kind = |block: &mut B| (*block).borrow().kind.name == kind;
        self.blocks.extract_if(.., is_kind).collect()
    }
}

/// Matches a borrowed body against a schema. Unexpected, missing and wrongly labelled parts are reported
/// and omitted.
pub fn read_content<'b>(
    diags: &mut Diagnostics,
    body: &'b Body,
    expected: &impl ContentSchema,
) -> Content<Cow<'b, Attribute>, Cow<'b, Block>> {
    if !body.undecided.is_empty() {
        // Conversion of JSON members to blocks consumes them, so it needs a copy.
        let Content { attributes, blocks, missing } = into_content(diags, body.clone(), expected);
        let owned = attributes.into_iter().map(|(name, attr)| (name, Cow::Owned(attr)));
        let blocks = blocks.into_iter().map(Cow::Owned).collect();
        return Content { attributes: owned.collect(), blocks, missing };
    }
    let mut reader = ContentReader::new(diags, expected, body.missing);
    let attributes = body.attributes.iter().map(Cow::Borrowed);
    let blocks = body.blocks.iter().map(Cow::Borrowed);
    reader.partition_items(attributes, blocks, |reader, attributes, blocks| {
        reader.report_unexpected_items(&attributes, &blocks);
    })
}

/// Converts a body into the content that a schema allows. Unexpected, missing and wrongly labelled parts
/// are reported and dropped.
pub fn into_content(
    diags: &mut Diagnostics,
    mut body: Body,
    expected: &impl ContentSchema,
) -> Content {
    resolve_undecided_members(diags, &mut body, expected);
    let undecided = body.undecided;
    let mut reader = ContentReader::new(diags, expected, body.missing);
    reader.partition_items(body.attributes, body.blocks, |reader, attributes, blocks| {
        reader.report_unexpected_items(&attributes, &blocks);
        reader.report_unexpected_json_members(&undecided);
    })
}

/// Removes the expected content from a body and returns the rest as a body, to be matched against
/// another schema. Missing and wrongly labelled items are reported.
pub fn split_content(
    diags: &mut Diagnostics,
    mut body: Body,
    expected: &impl ContentSchema,
) -> (Content, Body) {
    resolve_undecided_members(diags, &mut body, expected);
    let mut rest = Body { undecided: body.undecided, ..Body::empty(body.span, body.missing) };
    let content = ContentReader::new(diags, expected, body.missing).partition_items(
        body.attributes,
        body.blocks,
        |_, mut attributes, mut blocks| {
            // A body stays in memory as long as its configuration.
            attributes.shrink_to_fit();
            blocks.shrink_to_fit();
            rest.attributes = attributes;
            rest.blocks = blocks;
        },
    );
    (content, rest)
}

/// Returns the arguments of a body that accepts any argument name and no blocks, such as `locals`.
pub fn into_just_attributes(diags: &mut Diagnostics, body: Body) -> Vec<Attribute> {
    // As in HCL, only the first block is reported.
    if let Some(block) = body.blocks.first() {
        let kind = &block.kind.name;
        let detail = format!(
            "Blocks are not allowed here. To set {kind:?}, write {kind} = followed by its value."
        );
        let _ = diags.error(
            Diagnostic::error(
                messages::UNEXPECTED_BLOCK.with(&[&format_args!("{kind:?}")]),
                detail,
            )
            .at(block.header),
        );
    }
    let mut attributes = body.attributes;
    let mut names: BTreeMap<Str, Span> =
        attributes.iter().map(|attr| (attr.name.name.clone(), attr.span)).collect();
    for member in body.undecided.into_iter().filter(|member| !member.is_json_comment()) {
        if names.insert(member.name.name.clone(), member.span).is_some() {
            let _ =
                json::report_redefinition(diags, &member, messages::DUPLICATE_ATTRIBUTE_DEFINITION);
        } else {
            attributes.push(member);
        }
    }
    attributes
}

struct ContentReader<'d, E> {
    diags: &'d mut Diagnostics,
    expected: &'d E,
    missing: Span,
    /// The expected arguments that are set. They are not suggested for a misspelt name.
    set: BTreeSet<Str>,
}

impl<'d, E: ContentSchema> ContentReader<'d, E> {
    fn new(diags: &'d mut Diagnostics, expected: &'d E, missing: Span) -> Self {
        Self { diags, expected, missing, set: BTreeSet::new() }
    }

    /// Separates the expected items from the others, which go to `others`.
    fn partition_items<A: Borrow<Attribute>, B: Borrow<Block>>(
        &mut self,
        attributes: impl IntoIterator<Item = A>,
        blocks: impl IntoIterator<Item = B>,
        others: impl FnOnce(&mut Self, Vec<A>, Vec<B>),
    ) -> Content<A, B> {
        let (expected, other_attributes): (Vec<A>, Vec<A>) = attributes
            .into_iter()
            .partition(|attr| self.expected.expects_attribute(&attr.borrow().name.name));
        let attributes: BTreeMap<Str, A> =
            expected.into_iter().map(|attr| (attr.borrow().name.name.clone(), attr)).collect();
        self.report_missing_arguments(&attributes);
        // Needed only for a suggestion, and most bodies have no mistake.
        if !other_attributes.is_empty() {
            self.set = attributes.keys().cloned().collect();
        }
        let (mut blocks, other_blocks): (Vec<B>, Vec<B>) = blocks
            .into_iter()
            .partition(|block| self.expected.label_names(&block.borrow().kind.name).is_some());
        others(self, other_attributes, other_blocks);
        // Readers of blocks rely on the number of labels.
        blocks.retain(|block| self.check_labels(block.borrow()));
        Content { attributes, blocks, missing: self.missing }
    }

    fn report_missing_arguments<A>(&mut self, attributes: &BTreeMap<Str, A>) {
        for name in self.expected.required_attributes() {
            if !attributes.contains_key(name) {
                let detail =
                    format!("The argument {name:?} is required, but no definition was found.");
                let diagnostic = Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail);
                let _ = self.diags.error(diagnostic.at(self.missing));
            }
        }
    }

    fn check_labels(&mut self, block: &Block) -> bool {
        let Some(names) = self.expected.label_names(&block.kind.name) else { return false };
        let (kind, list) = (&block.kind.name, names.join(", "));
        let diagnostic = if let Some(first) = names.get(block.labels.len()) {
            let n_labels = names.len();
            let detail = format!("All {kind} blocks must have {n_labels} labels ({list}).");
            // HCL points at the brace, because the missing label belongs before it.
            Diagnostic::error(messages::MISSING_LABEL.with(&[&first, &kind]), detail)
                .at(block.brace)
        } else if let Some(extra) = block.labels.get(names.len()) {
            let detail = match names.len() {
                0 => format!("No labels are expected for {kind} blocks."),
                n => format!("Only {n} labels ({list}) are expected for {kind} blocks."),
            };
            Diagnostic::error(messages::EXTRANEOUS_LABEL.with(&[&kind]), detail).at(extra.span)
        } else {
            return true;
        };
        let _ = self.diags.error(diagnostic.with_source_context(block.header));
        false
    }

    /// Reports unexpected parts.
    fn report_unexpected_items<A: Borrow<Attribute>, B: Borrow<Block>>(
        &mut self,
        attributes: &[A],
        blocks: &[B],
    ) {
        for attr in attributes {
            let _ = self.report_unexpected_argument(attr.borrow());
        }
        for block in blocks {
            let _ = self.report_unexpected_block(block.borrow());
        }
    }

    /// Reports members of an object in JSON that were not expected.
    fn report_unexpected_json_members(&mut self, members: &[Attribute]) {
        for member in members.iter().filter(|member| !member.is_json_comment()) {
            let name = member.name.name.as_str();
            let mut known = self.expected.attribute_names();
            known.extend(self.expected.block_kinds());
            let detail = format!(
                "No argument or block type is named {name:?}.{}",
                did_you_mean_hint(name, &known)
            );
            let summary = messages::EXTRANEOUS_JSON_OBJECT_PROPERTY;
            let _ = self.diags.error(Diagnostic::error(summary, detail).at(member.name.span));
        }
    }

    fn report_unexpected_argument(&mut self, attr: &Attribute) -> formwork_value::Reported {
        let name = attr.name.name.as_str();
        let mut candidates = self.expected.attribute_names();
        candidates.retain(|candidate| !self.set.contains(*candidate));
        let hint = match did_you_mean_hint(name, &candidates) {
            hint if hint.is_empty() && self.expected.label_names(name).is_some() => {
                format!(" Did you mean to define a block of type {name:?}?")
            }
            hint => hint,
        };
        let detail = format!("An argument named {name:?} is not expected here.{hint}");
        self.diags
            .error(Diagnostic::error(messages::UNSUPPORTED_ARGUMENT, detail).at(attr.name.span))
    }

    fn report_unexpected_block(&mut self, block: &Block) -> formwork_value::Reported {
        let kind = block.kind.name.as_str();
        let hint = match did_you_mean_hint(kind, &self.expected.block_kinds()) {
            hint if hint.is_empty() && self.expected.expects_attribute(kind) => format!(
                " Did you mean to define argument {kind:?}? If so, use the equals sign to assign it a value."
            ),
            hint => hint,
        };
        let detail = format!("Blocks of type {kind:?} are not expected here.{hint}");
        let diagnostic = Diagnostic::error(messages::UNSUPPORTED_BLOCK_TYPE, detail);
        self.diags.error(diagnostic.at(block.kind.span).with_source_context(block.header))
    }
}

/// Suggests the name that was probably meant.
fn did_you_mean_hint(name: &str, candidates: &[&str]) -> String {
    nearest_name(name, candidates.iter().copied())
        .map(|name| format!(" Did you mean {name:?}?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
