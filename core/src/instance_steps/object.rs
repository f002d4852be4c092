//! Conversion of objects between providers, which receive no marks, and the state, which contains no
//! unknown values.

use std::sync::Arc;

use bytes::Bytes;
use formwork_value::{Diagnostic, Diagnostics, Known, Marks, Path, Plain, Reported, Type, Value};

use crate::addr::InstanceAddr;
use crate::event::ObjectLabel;
use crate::messages;
use crate::provider::{ResourceType, add_marks};
use crate::state::{ObjectAttributes, ObjectState, ObjectStatus};

/// Returns the paths of the sensitive parts of a configuration.
pub(crate) fn sensitive_paths(config: &Value) -> Vec<Path> {
    if !config.all_marks().contains(Marks::SENSITIVE) {
        return Vec::new();
    }
    let (_, marks) = config.clone().split_marks();
    marks.paths_with(Marks::SENSITIVE).cloned().collect()
}

/// Returns a value without its marks, for a request.
pub(crate) fn unmark_value(value: &Value) -> Plain {
    value.clone().split_marks().0
}

/// Returns the value with null for each unknown part.
pub(crate) fn unknown_to_null(value: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => Value::null(unknown.ty().clone()),
        value if value.is_wholly_known() => value.clone(),
        value => value.with_children(value.children().iter().map(unknown_to_null).collect()),
    }
}

/// Returns the label of an object: its `id`, or its `name` if the resource type has no `id`. Secret
/// labels are not returned.
pub(crate) fn object_label(value: &Value) -> Option<ObjectLabel> {
    let Value::Object(object) = value else { return None };
    // Chosen only by type, as in Terraform: a null or hidden id is not replaced by the name.
    let key = ["id", "name"].into_iter().find(|key| is_string_attribute(object.get(key)))?;
    label_from_string(key, object.get(key))
}

/// Returns the label of an object before a change: its `id`, otherwise its `name`, otherwise a tag.
pub(crate) fn prior_object_label(value: &Value) -> Option<ObjectLabel> {
    let Value::Object(object) = value else { return None };
    let named = || match is_string_attribute(object.get("name")) {
        true => label_from_string("name", object.get("name")),
        false => {
            let Some(Value::Map(tags)) = object.get("tags") else { return None };
            let tag = |key, name| label_from_string(key, tags.get(name));
            tag("tags.name", "name").or_else(|| tag("tags.Name", "Name"))
        }
    };
    object_label(value).or_else(named)
}

/// Returns whether the type has a string attribute of this name.
fn is_string_attribute(attribute: Option<&Value>) -> bool {
    attribute.is_some_and(|value| value.has_type(&Type::String))
}

/// Returns a label if the value is a string that is not secret.
fn label_from_string(key: &'static str, value: Option<&Value>) -> Option<ObjectLabel> {
    match value? {
        Value::String(text) => Some(ObjectLabel { key, value: text.to_string() }),
        _ => None,
    }
}

/// Encodes a value for the state.
///
/// # Errors
/// Returns an error if the value has unknown or ephemeral parts, which only a contract violation of a
/// provider or a bug in this program can cause.
pub(crate) fn encode_for_state(
    diags: &mut Diagnostics,
    ty: &ResourceType,
    addr: &InstanceAddr,
    value: &Value,
) -> Result<(ObjectAttributes, Arc<Vec<Path>>), Reported> {
    let unfit = |diags: &mut Diagnostics, reason: String| {
        let detail = format!("The object {addr} cannot be stored in the state: {reason}.");
        diags.error(
            Diagnostic::error(messages::OBJECT_CANNOT_BE_STORED, detail).about(addr.to_string()),
        )
    };
    let known = Known::new(value.clone())
        .map_err(|path| unfit(diags, format!("its part {path} is unknown or ephemeral")))?;
    ObjectState::encode_attributes(&known, &ty.ty).map_err(|error| unfit(diags, error.to_string()))
}

/// Returns a state object with a value and no other data.
///
/// # Errors
/// Returns an error if the value has unknown or ephemeral parts.
pub(crate) fn object_for_state(
    diags: &mut Diagnostics,
    ty: &ResourceType,
    addr: &InstanceAddr,
    value: &Value,
) -> Result<ObjectState, Reported> {
    let (attributes, sensitive) = encode_for_state(diags, ty, addr, value)?;
    Ok(ObjectState {
        status: ObjectStatus::Ready,
        schema_version: ty.schema.version,
        attributes,
        sensitive,
        private: Bytes::new(),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    })
}

/// Returns the value of a stored object without a call to the provider, or `None` if only the provider
/// can decode it.
pub(crate) fn decode_stored_value(ty: &ResourceType, object: &ObjectState) -> Option<Value> {
    // The provider is not called, so attributes that were removed from its schema must be dropped before
    // decoding.
    let value = object.attributes.without_undeclared(&ty.ty).decode_as(&ty.ty).ok()?;
    Some(add_marks(ty, value.split_marks().0, &object.sensitive))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<const N: usize>(pairs: [(&str, &str); N]) -> Value {
        Value::map(Type::String, pairs.map(|(key, text)| (key, Value::string(text))))
    }

    #[test]
    fn an_object_is_labelled_by_its_id_or_name_and_before_creation_by_a_tag() {
        let (text, none) = (Value::string, || Value::null(Type::String));
        let secret = || Value::string("s").mark(Marks::SENSITIVE);
        let tags = || texts([("Name", "t"), ("other", "o")]);
        let shown = |label: Option<ObjectLabel>| match label {
            Some(ObjectLabel { key, value }) => format!("{key}={value}"),
            None => String::new(),
        };
        // Each object, its label, and its label before a change.
        let table = [
            (vec![("id", text("1")), ("name", text("n"))], "id=1", "id=1"),
            (vec![("name", text("n")), ("tags", tags())], "name=n", "name=n"),
            (vec![("tags", tags())], "", "tags.Name=t"),
            (vec![("tags", texts([("Name", "t"), ("name", "u")]))], "", "tags.name=u"),
            (vec![("tags", Value::null(Type::map(Type::String)))], "", ""),
            // A null or secret id is not replaced by the name, except before a change.
            (vec![("id", none()), ("name", text("n"))], "", "name=n"),
            (vec![("id", secret()), ("name", text("n"))], "", "name=n"),
            (vec![("id", text("")), ("name", text("n"))], "id=", "id="),
            (vec![("name", none()), ("tags", tags())], "", ""),
            (vec![("name", secret()), ("tags", tags())], "", ""),
            (vec![("tags", tags().mark(Marks::SENSITIVE))], "", ""),
            (vec![("id", Value::int(1)), ("name", text("n"))], "name=n", "name=n"),
            (vec![("id", Value::unknown(Type::String)), ("name", text("n"))], "", "name=n"),
        ];
        for (parts, after, before) in table {
            let object = Value::object(parts);
            let labels = (shown(object_label(&object)), shown(prior_object_label(&object)));
            assert_eq!(labels, (after.to_owned(), before.to_owned()), "{object:?}");
        }
    }
}
