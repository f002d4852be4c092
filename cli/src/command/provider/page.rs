//! Documentation pages in Markdown, in the layout of the registry, generated from schemas. Pure: callers read
//! and write the files.

use std::fmt::Write as _;

use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::Type;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, SchemaDocs,
};

/// Subject of a page.
pub(super) struct PageSubject<'s> {
    /// The name.
    pub(super) name: &'s str,
    /// The kind, as in a heading; empty for the provider itself.
    pub(super) kind: &'s str,
    /// The provider.
    pub(super) provider: &'s str,
    /// An example configuration, if one exists.
    pub(super) example: Option<String>,
    /// The import instructions, if any.
    pub(super) import: Option<String>,
}

/// The page of a provider, resource or other object with a schema.
pub(super) fn block_page(subject: &PageSubject<'_>, block: &Block) -> String {
    let mut out = page_header(subject, &block.docs.description);
    write_deprecation(&mut out, &block.docs);
    write_example(&mut out, subject);
    out.push_str("\n## Schema\n");
    let mut deeper = Vec::new();
    write_attributes_and_blocks(
        &mut out,
        &AttributesAndBlocks::of_block(block),
        "",
        "###",
        &mut deeper,
    );
    // Nested schemas are printed one after the other, so that all headings have the same level.
    let mut index = 0;
    while index < deeper.len() {
        let NestedSection { path, parts: nested, title } = &deeper[index];
        let anchor = path.replace('.', "--");
        let _ = write!(out, "\n<a id=\"nested--{anchor}\"></a>\n### {title} `{path}`\n");
        let mut nested_pages = Vec::new();
        write_attributes_and_blocks(&mut out, nested, path, "####", &mut nested_pages);
        index += 1;
        deeper.splice(index..index, nested_pages);
    }
    if let Some(import) = &subject.import {
        let _ = write!(out, "\n## Import\n\n```shell\n{}\n```\n", import.trim());
    }
    out
}

/// The page of a function.
pub(super) fn function_page(subject: &PageSubject<'_>, function: &FunctionSignature) -> String {
    let mut out = page_header(subject, &function.summary);
    if !function.deprecation.is_empty() {
        let _ = write!(out, "\n~> **Deprecated** {}\n", function.deprecation);
    }
    if !function.description.is_empty() && function.description != function.summary {
        let _ = write!(out, "\n{}\n", function.description.trim());
    }
    write_example(&mut out, subject);
    let names = function
        .parameters
        .iter()
        .map(|parameter| format!("{} {}", parameter.name, type_phrase(&parameter.ty)));
    let rest = function
        .variadic
        .iter()
        .map(|parameter| format!("{} {}...", parameter.name, type_phrase(&parameter.ty)));
    let signature: Vec<_> = names.chain(rest).collect();
    let returns = type_phrase(&function.returns);
    let _ = write!(
        out,
        "\n## Signature\n\n```text\n{}({}) {returns}\n```\n",
        subject.name,
        signature.join(", ")
    );
    if !signature.is_empty() {
        out.push_str("\n## Arguments\n\n");
    }
    for (index, parameter) in function.parameters.iter().chain(&function.variadic).enumerate() {
        write_argument(&mut out, index + 1, parameter, index >= function.parameters.len());
    }
    out
}

fn write_argument(out: &mut String, index: usize, parameter: &FunctionParameter, variadic: bool) {
    let kind = match (variadic, parameter.allow_null) {
        (true, _) => "Variadic, ",
        (false, true) => "Nullable, ",
        (false, false) => "",
    };
    let _ = writeln!(
        out,
        "{index}. `{}` ({kind}{}) {}",
        parameter.name,
        capitalize(&type_phrase(&parameter.ty)),
        join_lines(&parameter.description)
    );
}

fn page_header(subject: &PageSubject<'_>, description: &str) -> String {
    let PageSubject { name, kind, provider, .. } = subject;
    let title =
        if kind.is_empty() { format!("{provider} Provider") } else { format!("{name} ({kind})") };
    let page_title = match kind.is_empty() {
        true => format!("{provider} Provider"),
        false => format!("{name} {kind} - {provider}"),
    };
    let first = description.lines().next().unwrap_or_default().trim();
    let mut out = format!(
        "---\npage_title: \"{page_title}\"\nsubcategory: \"\"\ndescription: |-\n  {first}\n---\n\n# {title}\n"
    );
    if !description.trim().is_empty() {
        let _ = write!(out, "\n{}\n", description.trim());
    }
    out
}

fn write_deprecation(out: &mut String, docs: &SchemaDocs) {
    if docs.deprecated {
        let _ = write!(out, "\n~> **Deprecated** {}\n", docs.deprecation);
    }
}

fn write_example(out: &mut String, subject: &PageSubject<'_>) {
    if let Some(example) = &subject.example {
        let _ = write!(out, "\n## Example Usage\n\n```terraform\n{}\n```\n", example.trim());
    }
}

/// The parts of a schema, by name.
struct AttributesAndBlocks<'s> {
    attributes: Vec<(&'s str, &'s Attribute)>,
    blocks: Vec<(&'s str, &'s NestedBlock)>,
}

/// A nested schema to render.
struct NestedSection<'s> {
    path: String,
    title: &'static str,
    parts: AttributesAndBlocks<'s>,
}

impl<'s> AttributesAndBlocks<'s> {
    fn of_block(block: &'s Block) -> Self {
        Self {
            attributes: block
                .attributes
                .iter()
                .map(|(name, attribute)| (name.as_str(), attribute))
                .collect(),
            blocks: block
                .blocks
                .iter()
                .map(|(name, attribute)| (name.as_str(), attribute))
                .collect(),
        }
    }

    fn of_attributes(nested: &'s NestedAttributes) -> Self {
        let attributes =
            nested.attributes.iter().map(|(name, attribute)| (name.as_str(), attribute)).collect();
        Self { attributes, blocks: Vec::new() }
    }
}

fn write_attributes_and_blocks<'s>(
    out: &mut String,
    members: &AttributesAndBlocks<'s>,
    path: &str,
    heading: &str,
    deeper: &mut Vec<NestedSection<'s>>,
) {
    let nested_docs =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (title, group) in [("Required", Some(true)), ("Optional", Some(false)), ("Read-Only", None)]
    {
        let mut lines = String::new();
        for (name, attribute) in &members.attributes {
            let is_here = match attribute.role {
                Role::Required => group == Some(true),
                Role::Optional | Role::OptionalComputed => group == Some(false),
                Role::Computed => group.is_none(),
            };
            if is_here {
                write_attribute(&mut lines, name, attribute, &nested_docs(name));
                if let AttributeKind::Nested(nested) = &attribute.kind {
                    let parts = AttributesAndBlocks::of_attributes(nested);
                    deeper.push(NestedSection {
                        path: nested_docs(name),
                        title: "Nested Schema for",
                        parts,
                    });
                }
            }
        }
        for (name, attribute) in &members.blocks {
            if group == Some(attribute.min_items > 0) {
                write_block(&mut lines, name, attribute, &nested_docs(name));
                let parts = AttributesAndBlocks::of_block(&attribute.block);
                deeper.push(NestedSection {
                    path: nested_docs(name),
                    title: "Nested Schema for the block",
                    parts,
                });
            }
        }
        if !lines.is_empty() {
            let _ = write!(out, "\n{heading} {title}\n\n{lines}");
        }
    }
}

fn write_attribute(out: &mut String, name: &str, attribute: &Attribute, path: &str) {
    let kind = match &attribute.kind {
        AttributeKind::Plain(ty) => capitalize(&type_phrase(ty)),
        AttributeKind::Nested(nested) => match nested.nesting {
            Nesting::Single | Nesting::Group => "Attributes".to_owned(),
            Nesting::List => "Attributes List".to_owned(),
            Nesting::Set => "Attributes Set".to_owned(),
            Nesting::Map => "Attributes Map".to_owned(),
        },
    };
    let mut properties = vec![kind];
    properties.extend(attribute.sensitive.then(|| "Sensitive".to_owned()));
    properties.extend(attribute.write_only.then(|| "Write-only".to_owned()));
    properties.extend(attribute.docs.deprecated.then(|| "Deprecated".to_owned()));
    write_attribute_line(out, name, &properties, &attribute.docs);
    if matches!(attribute.kind, AttributeKind::Nested(_)) {
        write_link(out, path);
    }
}

fn write_block(out: &mut String, name: &str, block: &NestedBlock, path: &str) {
    let kind = match block.nesting {
        Nesting::Single | Nesting::Group => "Block",
        Nesting::List => "Block List",
        Nesting::Set => "Block Set",
        Nesting::Map => "Block Map",
    };
    let mut properties = vec![kind.to_owned()];
    if !matches!(block.nesting, Nesting::Single | Nesting::Group) {
        properties.extend((block.min_items > 0).then(|| format!("Min: {}", block.min_items)));
        properties.extend((block.max_items > 0).then(|| format!("Max: {}", block.max_items)));
    }
    properties.extend(block.block.docs.deprecated.then(|| "Deprecated".to_owned()));
    write_attribute_line(out, name, &properties, &block.block.docs);
    write_link(out, path);
}

fn write_attribute_line(out: &mut String, name: &str, properties: &[String], docs: &SchemaDocs) {
    let mut text =
        format!("- `{name}` ({}) {}", properties.join(", "), join_lines(&docs.description));
    if docs.deprecated && !docs.deprecation.is_empty() {
        text = format!("{} {}", text.trim_end(), join_lines(&docs.deprecation));
    }
    out.push_str(text.trim_end());
    out.push('\n');
}

fn write_link(out: &mut String, path: &str) {
    out.pop();
    let _ = writeln!(out, " (see [below](#nested--{}))", path.replace('.', "--"));
}

/// A type in human-readable form: `list of string`.
fn type_phrase(ty: &Type) -> String {
    match ty {
        Type::String => "string".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Bool => "boolean".to_owned(),
        Type::Dynamic => "dynamic".to_owned(),
        Type::List(element) => format!("list of {}", type_phrase(element)),
        Type::Set(element) => format!("set of {}", type_phrase(element)),
        Type::Map(element) => format!("map of {}", type_phrase(element)),
        Type::Object(_) => "object".to_owned(),
        Type::Tuple(_) => "tuple".to_owned(),
    }
}

fn capitalize(text: &str) -> String {
    let mut words = text.split(' ').map(|word| match word {
        "of" => word.to_owned(),
        _ => {
            let mut characters = word.chars();
            let first = characters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(characters).collect()
        }
    });
    let first = words.next().unwrap_or_default();
    words.fold(first, |text, word| format!("{text} {word}"))
}

fn join_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
