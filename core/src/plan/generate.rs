//! Generates the block of a resource from an existing object. Pure: from a schema and a value to
//! text. Read-only and deprecated attributes are left out, and so are secrets.

use std::fmt::Write as _;

use formwork_lang::format::format;
use formwork_lang::print::quoted;
use formwork_lang::write::{self, Unknown};
use formwork_value::codec::json;
use formwork_value::diag::Sources;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role,
};
use formwork_value::{Diagnostics, Marks, Path, Str, Type, Value};

use crate::config::Resource;

/// Returns the block, in the usual layout and without a line end.
///
/// # Errors
/// When a part of the object is unknown, which what was read of a real object never is.
pub(super) fn block(
    resource: &Resource,
    schema: &Block,
    object: &Value,
) -> Result<String, Unknown> {
    let (kind, name) = (resource.name.kind(), resource.name.name());
    let mut text = format!("resource \"{kind}\" \"{name}\" {{\n");
    let implied = crate::addr::LocalProvider::implied_by(&resource.name);
    if resource.local_provider != implied {
        let _ = writeln!(text, "provider = {}", resource.local_provider);
    }
    Writer { out: &mut text }.body(schema, object)?;
    text.push('}');
    Ok(laid_out(text))
}

fn laid_out(text: String) -> String {
    let mut sources = Sources::new();
    let source = sources.add("generated", text.clone());
    // It can be parsed, or else it is shown as it is.
    format(&mut Diagnostics::new(), &sources, source).unwrap_or(text)
}

struct Writer<'o> {
    out: &'o mut String,
}

impl Writer<'_> {
    fn body(&mut self, block: &Block, object: &Value) -> Result<(), Unknown> {
        self.attributes(&block.attributes, object)?;
        let current = block.blocks.iter().filter(|(_, nested)| !nested.block.docs.deprecated);
        for (name, nested) in current {
            if let Some(value) = part(object, name) {
                self.blocks(name, nested, value)?;
            }
        }
        Ok(())
    }

    fn attributes<'s>(
        &mut self,
        attributes: impl IntoIterator<Item = (&'s Str, &'s Attribute)>,
        object: &Value,
    ) -> Result<(), Unknown> {
        for (name, attribute) in attributes {
            if is_left_out(name, attribute) {
                continue;
            }
            let null = Value::null(attribute.implied_type());
            let value = part(object, name).unwrap_or(&null);
            match &attribute.kind {
                AttributeKind::Nested(nested) => {
                    self.write_nested_attribute(name, attribute, nested, value)?;
                }
                AttributeKind::Plain(_) => self.plain(name, attribute, value)?,
            }
        }
        Ok(())
    }

    fn plain(&mut self, name: &str, attribute: &Attribute, value: &Value) -> Result<(), Unknown> {
        let text = match is_secret(attribute.sensitive, value) {
            true => "null # sensitive".to_owned(),
            // Providers on the older SDK cannot distinguish an empty string from null.
            false if attribute.role != Role::Required && is_empty_text(value) => "null".to_owned(),
            false => expression(value)?,
        };
        let _ = writeln!(self.out, "{name} = {text}");
        Ok(())
    }

    /// Writes an attribute that holds objects.
    fn write_nested_attribute(
        &mut self,
        name: &str,
        attribute: &Attribute,
        nested: &NestedAttributes,
        value: &Value,
    ) -> Result<(), Unknown> {
        let listed = matches!(nested.nesting, Nesting::List | Nesting::Set);
        if attribute.sensitive {
            let empty = if listed { "[]" } else { "{}" };
            let _ = writeln!(self.out, "{name} = {empty} # sensitive");
            return Ok(());
        }
        if value.is_null() {
            let _ = writeln!(self.out, "{name} = null");
            return Ok(());
        }
        let _ = writeln!(self.out, "{name} = {}", if listed { "[" } else { "{" });
        match (nested.nesting, value.peek()) {
            (Nesting::Map, Value::Map(map)) => {
                for (key, item) in map.iter() {
                    let _ = write!(self.out, "{} = ", write::key(key));
                    self.object(nested, item, "")?;
                }
            }
            (Nesting::List | Nesting::Set, items) => {
                for item in items.children() {
                    self.object(nested, item, ",")?;
                }
            }
            (_, object) => self.attributes(&nested.attributes, object)?,
        }
        self.out.push_str(if listed { "]\n" } else { "}\n" });
        Ok(())
    }

    /// Writes one of several objects that an attribute holds.
    fn object(
        &mut self,
        nested: &NestedAttributes,
        value: &Value,
        behind: &str,
    ) -> Result<(), Unknown> {
        if is_secret(false, value) {
            let _ = writeln!(self.out, "{{}}{behind} # sensitive");
            return Ok(());
        }
        self.out.push_str("{\n");
        self.attributes(&nested.attributes, value)?;
        let _ = writeln!(self.out, "}}{behind}");
        Ok(())
    }

    fn blocks(&mut self, name: &str, nested: &NestedBlock, value: &Value) -> Result<(), Unknown> {
        if value.is_null() {
            return Ok(());
        }
        if is_secret(false, value) {
            let _ = writeln!(self.out, "{name} {{}} # sensitive");
            return Ok(());
        }
        let labelled = |key: &str| format!("{name} {}", quoted(key));
        match (nested.nesting, value.peek()) {
            (Nesting::Map, Value::Map(map)) => map
                .iter()
                .try_for_each(|(key, item)| self.one_block(&labelled(key), &nested.block, item)),
            // A map whose elements have different types is an object.
            (Nesting::Map, Value::Object(object)) => object
                .iter()
                .try_for_each(|(key, item)| self.one_block(&labelled(key), &nested.block, item)),
            (Nesting::List | Nesting::Set, items) => items
                .children()
                .iter()
                .try_for_each(|item| self.one_block(name, &nested.block, item)),
            (_, object) => self.one_block(name, &nested.block, object),
        }
    }

    fn one_block(&mut self, header: &str, block: &Block, value: &Value) -> Result<(), Unknown> {
        if is_secret(false, value) {
            let _ = writeln!(self.out, "{header} {{}} # sensitive");
            return Ok(());
        }
        let _ = writeln!(self.out, "{header} {{");
        self.body(block, value)?;
        self.out.push_str("}\n");
        Ok(())
    }
}

/// Whether an attribute does not belong into a configuration. Providers on the older SDK have an
/// `id` that they declare as optional, and refuse it.
fn is_left_out(name: &str, attribute: &Attribute) -> bool {
    let is_id = name == "id" && attribute.role == Role::OptionalComputed;
    !attribute.role.is_settable() || attribute.docs.deprecated || is_id
}

fn is_secret(sensitive: bool, value: &Value) -> bool {
    // The elements of a set cannot be addressed one by one, so one secret in it makes the whole set
    // secret.
    let of_set =
        matches!(value.peek(), Value::Set(_)) && value.all_marks().contains(Marks::SENSITIVE);
    sensitive || of_set || matches!(value, Value::Marked(_))
}

fn is_empty_text(value: &Value) -> bool {
    matches!(value, Value::String(text) if text.is_empty())
}

fn part<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    Path::root().attribute(name).find(object)
}

/// Returns the expression for a value. A string that holds a JSON document is written as
/// `jsonencode` of its content.
fn expression(value: &Value) -> Result<String, Unknown> {
    if let Value::String(text) = value
        && let Ok(document) = json::decode_simple(text.as_bytes())
        && !matches!(document.ty(), Type::String | Type::Number | Type::Bool)
    {
        return Ok(format!("jsonencode({})", write::expression(&document)?));
    }
    write::expression(value)
}

#[cfg(test)]
mod tests;
