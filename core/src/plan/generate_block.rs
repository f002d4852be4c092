//! Generates the block of a resource from an existing object. Pure: from a schema and a value to
//! text. Read-only and deprecated attributes are left out, and so are secrets.

use std::fmt::Write as _;

use formwork_lang::format::format_source;
use formwork_lang::print_value::quote_like_go;
use formwork_lang::write_expression::{self, UnknownValueError};
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
/// When a part of the object is unknown, which no part of a real object ever is.
pub(super) fn generate_block(
    resource: &Resource,
    schema: &Block,
    object: &Value,
) -> Result<String, UnknownValueError> {
    let (kind, name) = (resource.name.resource_type(), resource.name.name());
    let mut text = format!("resource \"{kind}\" \"{name}\" {{\n");
    let implied = crate::addr::LocalProviderConfig::implied_by_resource(&resource.name);
    if resource.local_provider != implied {
        let _ = writeln!(text, "provider = {}", resource.local_provider);
    }
    BlockWriter { out: &mut text }.write_body(schema, object)?;
    text.push('}');
    Ok(format_block(text))
}

fn format_block(text: String) -> String {
    let mut sources = Sources::new();
    let source = sources.add("generated", text.clone());
    // It can be parsed, or else it is shown as it is.
    format_source(&mut Diagnostics::new(), &sources, source).unwrap_or(text)
}

struct BlockWriter<'o> {
    out: &'o mut String,
}

impl BlockWriter<'_> {
    fn write_body(&mut self, block: &Block, object: &Value) -> Result<(), UnknownValueError> {
        self.write_attributes(&block.attributes, object)?;
        let current = block.blocks.iter().filter(|(_, nested)| !nested.block.docs.deprecated);
        for (name, nested) in current {
            if let Some(value) = member_value(object, name) {
                self.write_nested_blocks(name, nested, value)?;
            }
        }
        Ok(())
    }

    fn write_attributes<'s>(
        &mut self,
        attributes: impl IntoIterator<Item = (&'s Str, &'s Attribute)>,
        object: &Value,
    ) -> Result<(), UnknownValueError> {
        for (name, attribute) in attributes {
            if is_omitted_attribute(name, attribute) {
                continue;
            }
            let null = Value::null(attribute.implied_type());
            let value = member_value(object, name).unwrap_or(&null);
            match &attribute.kind {
                AttributeKind::Nested(nested) => {
                    self.write_nested_attribute(name, attribute, nested, value)?;
                }
                AttributeKind::Plain(_) => self.write_attribute(name, attribute, value)?,
            }
        }
        Ok(())
    }

    fn write_attribute(
        &mut self,
        name: &str,
        attribute: &Attribute,
        value: &Value,
    ) -> Result<(), UnknownValueError> {
        let text = match must_hide_attribute_value(attribute.sensitive, value) {
            true => "null # sensitive".to_owned(),
            // Providers on the older SDK cannot distinguish an empty string from null.
            false if attribute.role != Role::Required && is_empty_string(value) => {
                "null".to_owned()
            }
            false => value_to_expression(value)?,
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
    ) -> Result<(), UnknownValueError> {
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
        match (nested.nesting, value.without_own_marks()) {
            (Nesting::Map, Value::Map(map)) => {
                for (key, item) in map.iter() {
                    let _ = write!(self.out, "{} = ", write_expression::quote_key_if_needed(key));
                    self.write_object(nested, item, "")?;
                }
            }
            (Nesting::List | Nesting::Set, items) => {
                for item in items.children() {
                    self.write_object(nested, item, ",")?;
                }
            }
            (_, object) => self.write_attributes(&nested.attributes, object)?,
        }
        self.out.push_str(if listed { "]\n" } else { "}\n" });
        Ok(())
    }

    /// Writes one of several objects that an attribute holds.
    fn write_object(
        &mut self,
        nested: &NestedAttributes,
        value: &Value,
        suffix: &str,
    ) -> Result<(), UnknownValueError> {
        if must_hide_attribute_value(false, value) {
            let _ = writeln!(self.out, "{{}}{suffix} # sensitive");
            return Ok(());
        }
        self.out.push_str("{\n");
        self.write_attributes(&nested.attributes, value)?;
        let _ = writeln!(self.out, "}}{suffix}");
        Ok(())
    }

    fn write_nested_blocks(
        &mut self,
        name: &str,
        nested: &NestedBlock,
        value: &Value,
    ) -> Result<(), UnknownValueError> {
        if value.is_null() {
            return Ok(());
        }
        if must_hide_attribute_value(false, value) {
            let _ = writeln!(self.out, "{name} {{}} # sensitive");
            return Ok(());
        }
        let labelled = |key: &str| format!("{name} {}", quote_like_go(key));
        match (nested.nesting, value.without_own_marks()) {
            (Nesting::Map, Value::Map(map)) => map
                .iter()
                .try_for_each(|(key, item)| self.write_block(&labelled(key), &nested.block, item)),
            // A map whose elements have different types is an object.
            (Nesting::Map, Value::Object(object)) => object
                .iter()
                .try_for_each(|(key, item)| self.write_block(&labelled(key), &nested.block, item)),
            (Nesting::List | Nesting::Set, items) => items
                .children()
                .iter()
                .try_for_each(|item| self.write_block(name, &nested.block, item)),
            (_, object) => self.write_block(name, &nested.block, object),
        }
    }

    fn write_block(
        &mut self,
        header: &str,
        block: &Block,
        value: &Value,
    ) -> Result<(), UnknownValueError> {
        if must_hide_attribute_value(false, value) {
            let _ = writeln!(self.out, "{header} {{}} # sensitive");
            return Ok(());
        }
        let _ = writeln!(self.out, "{header} {{");
        self.write_body(block, value)?;
        self.out.push_str("}\n");
        Ok(())
    }
}

/// Whether an attribute does not belong into a configuration. Providers on the older SDK have an
/// `id` that they declare as optional, and refuse it.
fn is_omitted_attribute(name: &str, attribute: &Attribute) -> bool {
    let is_id = name == "id" && attribute.role == Role::OptionalComputed;
    !attribute.role.is_settable() || attribute.docs.deprecated || is_id
}

fn must_hide_attribute_value(sensitive: bool, value: &Value) -> bool {
    // The elements of a set cannot be addressed one by one, so one secret in it makes the whole set
    // secret.
    let of_set = matches!(value.without_own_marks(), Value::Set(_))
        && value.all_marks().contains(Marks::SENSITIVE);
    sensitive || of_set || matches!(value, Value::Marked(_))
}

fn is_empty_string(value: &Value) -> bool {
    matches!(value, Value::String(text) if text.is_empty())
}

fn member_value<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    Path::root().attribute(name).find(object)
}

/// Returns the expression for a value. A string that holds a JSON document is written as
/// `jsonencode` of its content.
fn value_to_expression(value: &Value) -> Result<String, UnknownValueError> {
    if let Value::String(text) = value
        && let Ok(document) = json::decode_untyped(text.as_bytes())
        && !matches!(document.ty(), Type::String | Type::Number | Type::Bool)
    {
        return Ok(format!("jsonencode({})", write_expression::write_expression(&document)?));
    }
    write_expression::write_expression(value)
}

#[cfg(test)]
mod tests;
