//! The types of key providers and methods with their arguments: turns an evaluated configuration into
//! targets.

use std::num::NonZeroU32;
use std::sync::Arc;

use formwork_core::eval::encryption::{
    Argument, ArgumentValue, KeyProviderSettings, MethodSettings, UNENCRYPTED,
};
use formwork_value::convert::convert;
use formwork_value::schema::Role;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Type, Value};

use super::age::{Age, IDENTITY, IDENTITY_FILE, IdentitySource};
use super::algorithms::{AesGcm, Hash};
use super::aws_kms::{self, AwsKms, KeySpec};
use super::external::External;
use super::gcp_kms::{self, GcpKms};
use super::keys::{KeyPair, KeyProvider, KeyProviderKind, Keys, Pbkdf2};
use super::openbao::{OpenBao, OpenBaoSettings};
use super::sealed::SealedMethod;
use super::target::{AesGcmMethod, Method, Target};
use crate::gcs::GcsKind;
use crate::kind::{self, BackendEnvironment, BackendKind};
use crate::messages;
use crate::s3::S3Kind;

const SHORTEST_PASSPHRASE: usize = 16;
const FEWEST_ITERATIONS: u32 = 200_000;

/// Makes a target of its methods.
///
/// # Errors
/// When a type or an argument is not valid.
pub(super) fn target(
    diags: &mut Diagnostics,
    name: &str,
    environment: &BackendEnvironment,
    methods: &[MethodSettings],
) -> Result<Target, Reported> {
    let methods: Result<Vec<Method>, Reported> =
        methods.iter().map(|settings| method(diags, settings, environment)).collect();
    Ok(Target::new(name, methods?))
}

/// The arguments of a block, each taken once.
struct Arguments<'a> {
    /// The block, as messages name it.
    address: String,
    span: Span,
    left: Vec<(&'a Str, &'a Argument)>,
    environment: &'a BackendEnvironment,
}

fn method(
    diags: &mut Diagnostics,
    settings: &MethodSettings,
    environment: &BackendEnvironment,
) -> Result<Method, Reported> {
    let MethodSettings { kind, name, arguments, span } = settings;
    let address = format!("method.{kind}.{name}");
    let left = arguments.iter().collect();
    let mut arguments = Arguments { address: address.clone(), span: *span, left, environment };
    match kind.as_str() {
        UNENCRYPTED => Ok(Method::Unencrypted),
        "aes_gcm" => {
            let keys = arguments.keys(diags, "keys")?;
            let Some(keys) = keys else {
                return Err(arguments.report_missing(diags, "keys"));
            };
            let aad = arguments.bytes(diags, "aad")?.unwrap_or_default();
            arguments.finish(diags)?;
            let method = AesGcmMethod { address, keys, aad };
            check_length(diags, &arguments, &method)?;
            check_metadata(diags, &arguments, &method)?;
            Ok(Method::AesGcm(method))
        }
        "sealed" => {
            let keys = arguments.take("keys");
            let Some(keys) = keys else { return Err(arguments.report_missing(diags, "keys")) };
            arguments.finish(diags)?;
            let keys = match keys {
                ArgumentValue::Keys(settings) if settings.kind == "age" => settings,
                _ => {
                    let reason = "the argument \"keys\" must be a key provider of the type \"age\"";
                    return Err(arguments.refuse(diags, reason));
                }
            };
            let age = age(diags, &keys, environment)?;
            Ok(Method::Sealed(SealedMethod::new(address, age)))
        }
        other => {
            let detail = format!(
                "There is no method of the type {other:?}. The types are \"aes_gcm\", \"sealed\" and \"unencrypted\"."
            );
            let problem = Diagnostic::error(messages::UNKNOWN_ENCRYPTION_METHOD_TYPE, detail);
            Err(diags.error(problem.at(*span)))
        }
    }
}

/// Reports a key whose length is known and cannot be that of a key of AES.
fn check_length(
    diags: &mut Diagnostics,
    arguments: &Arguments<'_>,
    method: &AesGcmMethod,
) -> Result<(), Reported> {
    let lengths = match &method.keys {
        Keys::Given(pair) => {
            vec![Some(pair.encryption.len()), pair.decryption.as_ref().map(Vec::len)]
        }
        Keys::Of(provider) => match &provider.kind {
            KeyProviderKind::Pbkdf2(pbkdf2) => vec![Some(pbkdf2.key_length)],
            KeyProviderKind::AwsKms(kms) => vec![Some(kms.spec.length())],
            KeyProviderKind::GcpKms(kms) => vec![Some(kms.key_length)],
            KeyProviderKind::OpenBao(openbao) => vec![Some(openbao.key_length())],
            KeyProviderKind::External(_) => Vec::new(),
        },
    };
    let wrong = lengths.into_iter().flatten().find(|it| !AesGcm::LENGTHS.contains(it));
    wrong.map_or(Ok(()), |length| Err(arguments.refuse(diags, &method.wrong_length(length))))
}

/// Reports two key providers of a method that would write their metadata to one place.
fn check_metadata(
    diags: &mut Diagnostics,
    arguments: &Arguments<'_>,
    method: &AesGcmMethod,
) -> Result<(), Reported> {
    let providers = method.keys.providers();
    for (at, provider) in providers.iter().enumerate() {
        let same = |other: &&&KeyProvider| other.metadata_key == provider.metadata_key;
        if let Some(other) = providers[..at].iter().find(same) {
            let detail = format!(
                "{} and {} both store metadata as {:?}; give each its own encrypted_metadata_alias",
                other.address, provider.address, provider.metadata_key
            );
            return Err(arguments.refuse(diags, &detail));
        }
    }
    Ok(())
}

fn key_provider(
    diags: &mut Diagnostics,
    settings: &KeyProviderSettings,
    environment: &BackendEnvironment,
) -> Result<KeyProvider, Reported> {
    let KeyProviderSettings { kind, name, metadata_key, arguments, span } = settings;
    let address = format!("key_provider.{kind}.{name}");
    let left = arguments.iter().collect();
    let mut arguments = Arguments { address: address.clone(), span: *span, left, environment };
    let made = match kind.as_str() {
        "pbkdf2" => KeyProviderKind::Pbkdf2(pbkdf2(diags, &mut arguments)?),
        "external" => {
            let command = arguments.string_list_argument(diags, "command")?.unwrap_or_default();
            if command.is_empty() {
                return Err(arguments.report_missing(diags, "command"));
            }
            KeyProviderKind::External(External { command })
        }
        "openbao" => KeyProviderKind::OpenBao(Box::new(openbao(diags, &mut arguments)?)),
        "aws_kms" => KeyProviderKind::AwsKms(Box::new(aws_kms(diags, &mut arguments)?)),
        "gcp_kms" => KeyProviderKind::GcpKms(Box::new(gcp_kms(diags, &mut arguments)?)),
        "age" => {
            let reason = "it has public keys, which only a method of the type \"sealed\" can use";
            return Err(arguments.refuse(diags, reason));
        }
        other => {
            let detail = format!(
                "There is no key provider of the type {other:?} in this program. The types are \"age\", \"aws_kms\", \"gcp_kms\", \"openbao\", \"pbkdf2\" and \"external\", whose program can fetch keys from any service. The key provider \"azure_vault\" of OpenTofu is not supported."
            );
            let problem = Diagnostic::error(messages::UNKNOWN_KEY_PROVIDER_TYPE, detail);
            return Err(diags.error(problem.at(*span)));
        }
    };
    arguments.finish(diags)?;
    Ok(KeyProvider::new(address, metadata_key.clone(), made))
}

/// Makes a key provider `age`, which only the method `sealed` uses.
fn age(
    diags: &mut Diagnostics,
    settings: &KeyProviderSettings,
    environment: &BackendEnvironment,
) -> Result<Age, Reported> {
    let address = format!("key_provider.age.{}", settings.name);
    let (left, span) = (settings.arguments.iter().collect(), settings.span);
    let mut arguments = Arguments { address: address.clone(), span, left, environment };
    let recipients = arguments.string_list_argument(diags, "recipients")?.unwrap_or_default();
    if recipients.is_empty() {
        return Err(arguments.report_missing(diags, "recipients"));
    }
    let text = arguments.string_argument(diags, "identity")?.filter(|text| !text.is_empty());
    let file = arguments.string_argument(diags, "identity_file")?.filter(|path| !path.is_empty());
    arguments.finish(diags)?;
    let variable = |name| environment.variables.get(name).filter(|text| !text.is_empty()).cloned();
    let of_file = |path: String| IdentitySource::File(environment.root.join(path));
    let of_text = |name: &str, text| IdentitySource::Text { name: name.to_owned(), text };
    let source = match (text, file) {
        (Some(_), Some(_)) => {
            let reason = "only one of the arguments \"identity\" and \"identity_file\" may be set";
            return Err(arguments.refuse(diags, reason));
        }
        (Some(text), None) => of_text("the argument \"identity\"", text),
        (None, Some(path)) => of_file(path),
        (None, None) => match (variable(IDENTITY), variable(IDENTITY_FILE)) {
            (Some(text), _) => of_text(IDENTITY, text),
            (None, Some(path)) => of_file(path),
            (None, None) => IdentitySource::None,
        },
    };
    let age = Age::new(address, &recipients, source);
    age.map_err(|reason| arguments.refuse(diags, &reason))
}

fn pbkdf2(diags: &mut Diagnostics, arguments: &mut Arguments<'_>) -> Result<Pbkdf2, Reported> {
    let passphrase =
        arguments.string_argument(diags, "passphrase")?.filter(|text| !text.is_empty());
    let chain = arguments.keys(diags, "chain")?;
    let passphrase = match (passphrase, chain) {
        (Some(passphrase), None) => {
            if passphrase.len() < SHORTEST_PASSPHRASE {
                let reason = format!(
                    "the passphrase is too short: {SHORTEST_PASSPHRASE} characters are the minimum"
                );
                return Err(arguments.refuse(diags, &reason));
            }
            let bytes = passphrase.into_bytes();
            Keys::Given(KeyPair { decryption: Some(bytes.clone()), encryption: bytes })
        }
        (None, Some(chain)) => {
            if let Keys::Given(pair) = &chain {
                let short = |key: &[u8]| key.len() < SHORTEST_PASSPHRASE;
                if short(&pair.encryption) || pair.decryption.as_deref().is_some_and(short) {
                    let reason = format!(
                        "a key in \"chain\" is too short: {SHORTEST_PASSPHRASE} bytes are the minimum"
                    );
                    return Err(arguments.refuse(diags, &reason));
                }
            }
            chain
        }
        (None, None) => {
            let reason = "one of the arguments \"passphrase\" and \"chain\" is required";
            return Err(arguments.refuse(diags, reason));
        }
        (Some(_), Some(_)) => {
            let reason = "only one of the arguments \"passphrase\" and \"chain\" may be set";
            return Err(arguments.refuse(diags, reason));
        }
    };
    let key_length = arguments.number_argument(diags, "key_length", 32, 1)?;
    let iterations = arguments.number_argument(diags, "iterations", 600_000, FEWEST_ITERATIONS)?;
    let salt_length = arguments.number_argument(diags, "salt_length", 32, 1)?;
    let hash = arguments.string_argument(diags, "hash_function")?;
    let hash = Hash::find(hash.as_deref().unwrap_or("sha512")).ok_or_else(|| {
        arguments.refuse(diags, "the argument \"hash_function\" must be \"sha256\" or \"sha512\"")
    })?;
    Ok(Pbkdf2 {
        passphrase,
        key_length: key_length as usize,
        iterations: NonZeroU32::new(iterations).unwrap_or(NonZeroU32::MAX),
        hash,
        salt_length: salt_length as usize,
    })
}

fn openbao(diags: &mut Diagnostics, arguments: &mut Arguments<'_>) -> Result<OpenBao, Reported> {
    let key_name = arguments.string_argument(diags, "key_name")?.filter(|name| !name.is_empty());
    let key_name = key_name.ok_or_else(|| arguments.report_missing(diags, "key_name"))?;
    let key_length = arguments.number_argument(diags, "key_length", 32, 1)? as usize;
    if ![16, 32, 64].contains(&key_length) {
        let reason = "the argument \"key_length\" must be 16, 32 or 64";
        return Err(arguments.refuse(diags, reason));
    }
    let address = arguments.string_argument(diags, "address")?;
    let token = arguments.string_argument(diags, "token")?;
    let engine =
        arguments.string_argument(diags, "transit_engine_path")?.filter(|path| !path.is_empty());
    let settings = OpenBaoSettings { address, token, key_name, key_length, engine };
    let variables = &arguments.environment.variables;
    let variable = |name: &str| variables.get(name).filter(|text| !text.is_empty()).cloned();
    OpenBao::new(settings, variable).map_err(|reason| arguments.refuse(diags, &reason))
}

fn aws_kms(diags: &mut Diagnostics, arguments: &mut Arguments<'_>) -> Result<AwsKms, Reported> {
    let key_id = arguments.string_argument(diags, "kms_key_id")?.filter(|id| !id.is_empty());
    let key_id = key_id.ok_or_else(|| arguments.report_missing(diags, "kms_key_id"))?;
    let spec = arguments.string_argument(diags, "key_spec")?;
    let spec = spec.ok_or_else(|| arguments.report_missing(diags, "key_spec"))?;
    let spec = KeySpec::find(&spec).ok_or_else(|| {
        let reason = "the argument \"key_spec\" must be \"AES_128\" or \"AES_256\"";
        arguments.refuse(diags, reason)
    })?;
    let values = arguments.of_backend(diags, &S3Kind, &aws_kms::SHARED)?;
    let given = kind::Arguments { values: &values, environment: arguments.environment };
    let made = AwsKms::new(&given, key_id, spec);
    made.map_err(|error| arguments.refuse(diags, &error.to_string()))
}

fn gcp_kms(diags: &mut Diagnostics, arguments: &mut Arguments<'_>) -> Result<GcpKms, Reported> {
    let name =
        arguments.string_argument(diags, "kms_encryption_key")?.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| arguments.report_missing(diags, "kms_encryption_key"))?;
    if !arguments.left.iter().any(|(name, _)| *name == "key_length") {
        return Err(arguments.report_missing(diags, "key_length"));
    }
    let key_length = arguments.number_argument(diags, "key_length", 0, 1)?;
    if key_length > gcp_kms::MAX_KEY_LENGTH {
        let reason = format!(
            "the argument \"key_length\" must be at most {}, the limit of the service",
            gcp_kms::MAX_KEY_LENGTH
        );
        return Err(arguments.refuse(diags, &reason));
    }
    let values = arguments.of_backend(diags, &GcsKind, &gcp_kms::SHARED)?;
    let given = kind::Arguments { values: &values, environment: arguments.environment };
    let made = GcpKms::new(&given, &name, key_length as usize);
    made.map_err(|error| arguments.refuse(diags, &error.to_string()))
}

impl Arguments<'_> {
    /// The arguments that a key provider and a backend have in common, as values of the backend.
    fn of_backend(
        &mut self,
        diags: &mut Diagnostics,
        backend: &dyn BackendKind,
        names: &[&str],
    ) -> Result<Value, Reported> {
        let schema = backend.schema();
        // Arguments that the schema requires are those of the place of a state, and not used.
        let required =
            schema.attributes.iter().filter(|(_, attribute)| attribute.role == Role::Required);
        let unused = required.map(|(name, _)| (name.clone(), Value::string("unused")));
        let mut values: Vec<(Str, Value)> = unused.collect();
        for name in names {
            if let Some(ArgumentValue::Value(value)) = self.take(name) {
                values.push((Str::new(name), value));
            }
        }
        let values = schema.coerce(&Value::object(values));
        values.map_err(|error| self.refuse(diags, &error.reason))
    }

    /// Reports an argument. No value is shown: it may be a secret.
    fn refuse(&self, diags: &mut Diagnostics, reason: &str) -> Reported {
        let detail = format!("The block {} is not valid: {reason}.", self.address);
        let problem = Diagnostic::error(messages::INVALID_ENCRYPTION_CONFIGURATION, detail);
        diags.error(problem.at(self.span))
    }

    /// Reports a required argument that is not set.
    fn report_missing(&self, diags: &mut Diagnostics, name: &str) -> Reported {
        let detail = format!(
            "The argument {name:?} of the block {} is required, but no definition was found.",
            self.address
        );
        let problem = Diagnostic::error(messages::MISSING_REQUIRED_ARGUMENT, detail);
        diags.error(problem.at(self.span))
    }

    fn take(&mut self, name: &str) -> Option<ArgumentValue> {
        let at = self.left.iter().position(|(other, _)| *other == name)?;
        match &self.left.swap_remove(at).1.value {
            ArgumentValue::Value(value) if value.is_null() => None,
            value => Some(value.clone()),
        }
    }

    /// The value of an argument, converted to a type.
    fn value(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
        ty: &Type,
    ) -> Result<Option<Value>, Reported> {
        let reason = match self.take(name) {
            None => return Ok(None),
            Some(ArgumentValue::Keys(_)) => "a key provider was found".to_owned(),
            Some(ArgumentValue::Value(value)) => match convert(&value, ty) {
                Ok(value) => return Ok(Some(value)),
                Err(refused) => refused.reason,
            },
        };
        let ty = ty.friendly_name();
        Err(self.refuse(diags, &format!("the argument {name:?} must be a {ty}: {reason}")))
    }

    fn string_argument(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
    ) -> Result<Option<String>, Reported> {
        Ok(match self.value(diags, name, &Type::String)? {
            Some(Value::String(text)) => Some(text.as_str().to_owned()),
            _ => None,
        })
    }

    fn string_list_argument(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
    ) -> Result<Option<Vec<String>>, Reported> {
        let Some(list) = self.value(diags, name, &Type::list(Type::String))? else {
            return Ok(None);
        };
        let items = items(&list).iter().map(|item| match item {
            Value::String(text) => text.as_str().to_owned(),
            _ => String::new(),
        });
        Ok(Some(items.collect()))
    }

    /// The bytes in a list of numbers.
    fn bytes(&mut self, diags: &mut Diagnostics, name: &str) -> Result<Option<Vec<u8>>, Reported> {
        let Some(list) = self.value(diags, name, &Type::list(Type::Number))? else {
            return Ok(None);
        };
        let bytes: Option<Vec<u8>> = items(&list).iter().map(byte).collect();
        let reason = format!("the argument {name:?} must be a list of numbers from 0 to 255");
        bytes.map(Some).ok_or_else(|| self.refuse(diags, &reason))
    }

    fn number_argument(
        &mut self,
        diags: &mut Diagnostics,
        name: &str,
        usual: u32,
        least: u32,
    ) -> Result<u32, Reported> {
        let value = self.value(diags, name, &Type::Number)?;
        let Some(value) = value else { return Ok(usual) };
        let number = match &value {
            Value::Number(number) => number.to_i64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let reason = format!("the argument {name:?} must be a whole number of at least {least}");
        number.filter(|number| *number >= least).ok_or_else(|| self.refuse(diags, &reason))
    }

    /// The keys of a key provider, or those in an object.
    fn keys(&mut self, diags: &mut Diagnostics, name: &str) -> Result<Option<Keys>, Reported> {
        let value = match self.take(name) {
            None => return Ok(None),
            Some(ArgumentValue::Keys(settings)) => {
                let provider = key_provider(diags, &settings, self.environment)?;
                return Ok(Some(Keys::Of(Arc::new(provider))));
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
            items(&list).iter().map(byte).collect::<Option<Vec<u8>>>()
        };
        let Some(encryption) = key("encryption_key") else {
            let reason = format!(
                "the argument {name:?} must be a key provider, such as key_provider.pbkdf2.NAME, or an object whose encryption_key is a list of numbers from 0 to 255"
            );
            return Err(self.refuse(diags, &reason));
        };
        let decryption = key("decryption_key").filter(|key| !key.is_empty());
        Ok(Some(Keys::Given(KeyPair { encryption, decryption })))
    }

    /// Reports an argument that was not taken.
    fn finish(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some((name, argument)) = self.left.first() else { return Ok(()) };
        let detail = format!(
            "An argument named {:?} is not expected in the block {}.",
            name.as_str(),
            self.address
        );
        let problem = Diagnostic::error(messages::UNSUPPORTED_ARGUMENT, detail);
        Err(diags.error(problem.at(argument.span)))
    }
}

fn byte(value: &Value) -> Option<u8> {
    match value {
        Value::Number(number) => u8::try_from(number.to_i64()?).ok(),
        _ => None,
    }
}

fn items(list: &Value) -> &[Value] {
    match list {
        Value::List(list) => list.items(),
        _ => &[],
    }
}
