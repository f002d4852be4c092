//! The arguments of a key provider or method, converted on access.

use std::sync::Arc;

use formwork_core::eval::encryption::{ArgumentValue, EvaluatedArgument};
use formwork_value::convert::convert;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Type, Value};

use super::super::keys::{EncryptionAndDecryptionKeys, MethodKeys};
use super::build_key_provider;
use crate::arguments::BackendEnvironment;
use crate::messages;

/// The arguments of a block. Each can be taken once.
pub(super) struct EncryptionArguments<'a> {
    /// The block, for messages.
    pub(super) address: String,
    pub(super) span: Span,
    pub(super) unused: Vec<(&'a Str, &'a EvaluatedArgument)>,
    pub(super) environment: &'a BackendEnvironment,
}

impl EncryptionArguments<'_> {
    /// Returns the arguments of a schema, as an object of its type. An argument that is not set is
    /// null.
    #[cfg(any(feature = "aws_kms", feature = "gcp_kms"))]
    pub(super) fn take_schema_values(
        &mut self,
        diags: &mut Diagnostics,
        schema: &formwork_value::schema::Block,
    ) -> Result<Value, Reported> {
        let mut values: Vec<(Str, Value)> = Vec::new();
        for name in schema.attributes.keys() {
            if let Some(ArgumentValue::Value(value)) = self.take_argument(name.as_str()) {
                values.push((name.clone(), value));
            }
        }
        let values = schema.coerce(&Value::object(values));
        values.map_err(|error| self.report_argument(diags, &error.reason))
    }

    /// Reports a problem with an argument.
    pub(super) fn report_argument(&self, diags: &mut Diagnostics, reason: &str) -> Reported {
        // No value is shown, because it may be a secret.
        let detail = format!("The block {} is not valid: {reason}.", self.address);
        let problem = Diagnostic::error(messages::INVALID_ENCRYPTION_CONFIGURATION, detail);
        diags.error(problem.at(self.span))
    }

    /// Reports a required argument that is not set.
    pub(super) fn report_missing(&self, diags: &mut Diagnostics, name: &str) -> Reported {
        let detail = format!(
            "The argument {name:?} of the block {} is required, but no definition was found.",
            self.address
        );
        let problem = Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail);
        diags.error(problem.at(self.span))
    }

    pub(super) fn take_argument(&mut self, name: &str) -> Option<ArgumentValue> {
        let index = self.unused.iter().position(|(argument_name, _)| *argument_name == name)?;
        match &self.unused.swap_remove(index).1.value {
            ArgumentValue::Value(value) if value.is_null() => None,
            value => Some(value.clone()),
        }
    }

    /// Returns the value of an argument, converted to a type.
    pub(super) fn take_value(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
        ty: &Type,
    ) -> Result<Option<Value>, Reported> {
        let reason = match self.take_argument(name) {
            None => return Ok(None),
            Some(ArgumentValue::Keys(_)) => "a key provider was found".to_owned(),
            Some(ArgumentValue::Value(value)) => match convert(&value, ty) {
                Ok(value) => return Ok(Some(value)),
                Err(mismatch) => mismatch.reason,
            },
        };
        let ty = ty.friendly_name();
        Err(self.report_argument(diags, &format!("the argument {name:?} must be a {ty}: {reason}")))
    }

    pub(super) fn string_argument(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
    ) -> Result<Option<String>, Reported> {
        Ok(match self.take_value(diags, name, &Type::String)? {
            Some(Value::String(text)) => Some(text.as_str().to_owned()),
            _ => None,
        })
    }

    pub(super) fn string_list_argument(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
    ) -> Result<Option<Vec<String>>, Reported> {
        let Some(list) = self.take_value(diags, name, &Type::list(Type::String))? else {
            return Ok(None);
        };
        let items = list_items(&list).iter().map(|item| match item {
            Value::String(text) => text.as_str().to_owned(),
            _ => String::new(),
        });
        Ok(Some(items.collect()))
    }

    /// Returns the bytes in a list of numbers.
    pub(super) fn take_bytes(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
    ) -> Result<Option<Vec<u8>>, Reported> {
        let Some(list) = self.take_value(diags, name, &Type::list(Type::Number))? else {
            return Ok(None);
        };
        let bytes: Option<Vec<u8>> = list_items(&list).iter().map(byte_from_value).collect();
        let reason = format!("the argument {name:?} must be a list of numbers from 0 to 255");
        bytes.map(Some).ok_or_else(|| self.report_argument(diags, &reason))
    }

    pub(super) fn number_argument(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
        default: u32,
        minimum: u32,
    ) -> Result<u32, Reported> {
        let value = self.take_value(diags, name, &Type::Number)?;
        let Some(value) = value else { return Ok(default) };
        let number = match &value {
            Value::Number(number) => number.to_i64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let reason = format!("the argument {name:?} must be a whole number of at least {minimum}");
        number
            .filter(|number| *number >= minimum)
            .ok_or_else(|| self.report_argument(diags, &reason))
    }

    /// Returns the keys of a key provider, or those in an object.
    pub(super) fn take_keys(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
    ) -> Result<Option<MethodKeys>, Reported> {
        let value = match self.take_argument(name) {
            None => return Ok(None),
            Some(ArgumentValue::Keys(settings)) => {
                let provider = build_key_provider(diags, &settings, self.environment)?;
                return Ok(Some(MethodKeys::Provided(Arc::new(provider))));
            }
            Some(ArgumentValue::Value(value)) => value,
        };
        let key = |name: &str| {
            let value = match &value {
                Value::Object(object) => object.get(name),
                Value::Map(map) => map.get(name),
                _ => None,
            };
            let list = convert(value?, &Type::list(Type::Number)).ok()?;
            list_items(&list).iter().map(byte_from_value).collect::<Option<Vec<u8>>>()
        };
        let Some(encryption) = key("encryption_key") else {
            let reason = format!(
                "the argument {name:?} must be a key provider, such as key_provider.pbkdf2.NAME, or an object whose encryption_key is a list of numbers from 0 to 255"
            );
            return Err(self.report_argument(diags, &reason));
        };
        let decryption = key("decryption_key").filter(|key| !key.is_empty());
        Ok(Some(MethodKeys::Static(EncryptionAndDecryptionKeys { encryption, decryption })))
    }

    /// Reports an argument that was not used.
    pub(super) fn report_unused_argument(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some((name, argument)) = self.unused.first() else { return Ok(()) };
        let detail = format!(
            "An argument named {:?} is not expected in the block {}.",
            name.as_str(),
            self.address
        );
        let problem = Diagnostic::error(messages::UNSUPPORTED_ARGUMENT, detail);
        Err(diags.error(problem.at(argument.span)))
    }
}

fn byte_from_value(value: &Value) -> Option<u8> {
    match value {
        Value::Number(number) => u8::try_from(number.to_i64()?).ok(),
        _ => None,
    }
}

fn list_items(list: &Value) -> &[Value] {
    match list {
        Value::List(list) => list.items(),
        _ => &[],
    }
}
