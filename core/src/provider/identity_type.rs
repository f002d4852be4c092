//! The identity of an object, separate from its attributes: it is stored with the object, sent with
//! calls about it, and can be used to find it. Providers before protocol 5.9 have no identities.

use formwork_plugin_protocol::message::schema::IdentitySchema;
use formwork_value::{Path, Plain, Str, Type, Value, convert};

/// The schema of the identities of a resource type.
#[derive(Clone, Debug)]
pub struct IdentityType {
    /// Version of the stored form.
    pub version: u64,
    /// The type of the identity.
    pub ty: Type,
    /// The attributes that are required to find an object.
    required: Vec<String>,
}

impl IdentityType {
    pub(super) fn from_schema(schema: &IdentitySchema) -> Self {
        let parts = schema.attributes.iter();
        let required = parts.clone().filter(|(_, part)| part.required_for_import);
        Self {
            version: schema.version,
            ty: Type::object(parts.map(|(name, part)| (name.as_str(), part.ty.clone()))),
            required: required.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Completes an identity from the configuration with the optional attributes.
    ///
    /// # Errors
    /// Returns an error if the identity does not fit the schema.
    pub(super) fn complete_identity(&self, given: &Value) -> Result<Plain, String> {
        let (Type::Object(shape), Value::Object(object)) = (&self.ty, given) else {
            return Err("it is not an object".to_owned());
        };
        let unknown = object.names().iter().find(|name| !shape.attributes.contains_key(*name));
        if let Some(name) = unknown {
            return Err(format!("it has no attribute {:?}", name.as_str()));
        }
        let mut parts: Vec<(Str, Value)> = Vec::new();
        for (name, ty) in &shape.attributes {
            // Null is equivalent to an omitted attribute, as for an argument.
            let given = attribute_value(given, name).filter(|given| !given.is_null());
            let is_required = self.required.iter().any(|required| *required == name.as_str());
            let value = match given {
                // Converted like an argument, because authors write identities as expressions.
                Some(given) => convert::convert(given, ty)
                    .map_err(|refused| format!("its attribute {name:?}: {}", refused.reason))?,
                None if is_required => return Err(format!("its attribute {name:?} is missing")),
                None => Value::null(ty.clone()),
            };
            parts.push((name.clone(), value));
        }
        Ok(Value::object(parts).split_marks().0)
    }

    /// Returns the future identity of an object, as far as attributes of the same name determine it.
    pub(super) fn predict_identity(&self, planned: &Value) -> Option<Value> {
        let Type::Object(shape) = &self.ty else { return None };
        let mut parts: Vec<(Str, Value)> = Vec::new();
        for (name, ty) in &shape.attributes {
            let part =
                attribute_value(planned, name).and_then(|part| convert::convert(part, ty).ok());
            let part = part.filter(|part| part.is_wholly_known() && !part.is_null());
            match part {
                Some(part) => parts.push((name.clone(), part)),
                None if self.required.iter().any(|required| *required == name.as_str()) => {
                    return None;
                }
                None => parts.push((name.clone(), Value::null(ty.clone()))),
            }
        }
        // An identity without required attributes could be all null, and would not find any object.
        (!self.required.is_empty()).then(|| Value::object(parts))
    }
}

fn attribute_value<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    Path::root().attribute(name).find(value)
}
