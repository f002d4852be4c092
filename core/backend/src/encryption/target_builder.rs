//! The types of key providers and methods with their arguments: turns an evaluated configuration into
//! targets.

mod arguments;

use std::num::NonZeroU32;

use formwork_core::eval::encryption::{
    ArgumentValue, KeyProviderSettings, MethodSettings, UNENCRYPTED_METHOD_TYPE,
};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use self::arguments::EncryptionArguments;
use super::age::{AgeKeys, IDENTITY_FILE_VARIABLE, IDENTITY_VARIABLE, IdentitySource};
use super::algorithms::{AesGcmKey, Pbkdf2Hash};
use super::aws_kms::{AwsKmsKeyProvider, KeySpec};
use super::external::ExternalKeyProvider;
use super::gcp_kms::{self, GcpKmsKeyProvider};
use super::keys::{
    EncryptionAndDecryptionKeys, KeyProvider, KeyProviderKind, MethodKeys, Pbkdf2KeyProvider,
};
use super::openbao::{OpenBaoKeyProvider, OpenBaoSettings};
use super::sealed_method::SealedMethod;
use super::target::{AesGcmMethod, EncryptionMethod, EncryptionTarget};
use crate::arguments::{BackendArguments, BackendEnvironment};
use crate::aws::schema::connection_arguments_block;
use crate::gcp::credentials::credential_arguments_block;
use crate::messages;

const MIN_PASSPHRASE_LEN: usize = 16;
const MIN_PBKDF2_ITERATIONS: u32 = 200_000;

/// Makes a target of its methods.
///
/// # Errors
/// When a type or an argument is not valid.
pub(super) fn build_target(
    diags: &mut Diagnostics,
    name: &str,
    environment: &BackendEnvironment,
    methods: &[MethodSettings],
) -> Result<EncryptionTarget, Reported> {
    let methods: Result<Vec<EncryptionMethod>, Reported> =
        methods.iter().map(|settings| build_method(diags, settings, environment)).collect();
    Ok(EncryptionTarget::new(name, methods?))
}

fn build_method(
    diags: &mut Diagnostics,
    settings: &MethodSettings,
    environment: &BackendEnvironment,
) -> Result<EncryptionMethod, Reported> {
    let MethodSettings { kind, name, arguments, span } = settings;
    let address = format!("method.{kind}.{name}");
    let left = arguments.iter().collect();
    let mut arguments =
        EncryptionArguments { address: address.clone(), span: *span, left, environment };
    match kind.as_str() {
        UNENCRYPTED_METHOD_TYPE => Ok(EncryptionMethod::Unencrypted),
        "aes_gcm" => {
            let keys = arguments.take_keys(diags, "keys")?;
            let Some(keys) = keys else {
                return Err(arguments.report_missing(diags, "keys"));
            };
            let aad = arguments.take_bytes(diags, "aad")?.unwrap_or_default();
            arguments.report_unused_argument(diags)?;
            let method = AesGcmMethod { address, keys, aad };
            check_key_length(diags, &arguments, &method)?;
            check_metadata_keys_differ(diags, &arguments, &method)?;
            Ok(EncryptionMethod::AesGcm(method))
        }
        "sealed" => {
            let keys = arguments.take_argument("keys");
            let Some(keys) = keys else { return Err(arguments.report_missing(diags, "keys")) };
            arguments.report_unused_argument(diags)?;
            let keys = match keys {
                ArgumentValue::Keys(settings) if settings.kind == "age" => settings,
                _ => {
                    let reason = "the argument \"keys\" must be a key provider of the type \"age\"";
                    return Err(arguments.report_argument(diags, reason));
                }
            };
            let age = build_age_keys(diags, &keys, environment)?;
            Ok(EncryptionMethod::Sealed(SealedMethod::new(address, age)))
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
fn check_key_length(
    diags: &mut Diagnostics,
    arguments: &EncryptionArguments<'_>,
    method: &AesGcmMethod,
) -> Result<(), Reported> {
    let lengths = match &method.keys {
        MethodKeys::Static(pair) => {
            vec![Some(pair.encryption.len()), pair.decryption.as_ref().map(Vec::len)]
        }
        MethodKeys::Provided(provider) => match &provider.kind {
            KeyProviderKind::Pbkdf2(pbkdf2) => vec![Some(pbkdf2.key_length)],
            KeyProviderKind::AwsKms(kms) => vec![Some(kms.spec.key_length())],
            KeyProviderKind::GcpKms(kms) => vec![Some(kms.key_length)],
            KeyProviderKind::OpenBao(openbao) => vec![Some(openbao.key_length())],
            KeyProviderKind::External(_) => Vec::new(),
        },
    };
    let wrong = lengths.into_iter().flatten().find(|it| !AesGcmKey::KEY_LENGTHS.contains(it));
    wrong.map_or(Ok(()), |length| {
        Err(arguments.report_argument(diags, &method.describe_wrong_key_length(length)))
    })
}

/// Reports two key providers of a method that would write their metadata to one place.
fn check_metadata_keys_differ(
    diags: &mut Diagnostics,
    arguments: &EncryptionArguments<'_>,
    method: &AesGcmMethod,
) -> Result<(), Reported> {
    let providers = method.keys.key_providers();
    for (at, provider) in providers.iter().enumerate() {
        let same = |other: &&&KeyProvider| other.metadata_key == provider.metadata_key;
        if let Some(other) = providers[..at].iter().find(same) {
            let detail = format!(
                "{} and {} both store metadata as {:?}; give each its own encrypted_metadata_alias",
                other.address, provider.address, provider.metadata_key
            );
            return Err(arguments.report_argument(diags, &detail));
        }
    }
    Ok(())
}

fn build_key_provider(
    diags: &mut Diagnostics,
    settings: &KeyProviderSettings,
    environment: &BackendEnvironment,
) -> Result<KeyProvider, Reported> {
    let KeyProviderSettings { kind, name, metadata_key, arguments, span } = settings;
    let address = format!("key_provider.{kind}.{name}");
    let left = arguments.iter().collect();
    let mut arguments =
        EncryptionArguments { address: address.clone(), span: *span, left, environment };
    let made = match kind.as_str() {
        "pbkdf2" => KeyProviderKind::Pbkdf2(build_pbkdf2_provider(diags, &mut arguments)?),
        "external" => {
            let command = arguments.string_list_argument(diags, "command")?.unwrap_or_default();
            if command.is_empty() {
                return Err(arguments.report_missing(diags, "command"));
            }
            KeyProviderKind::External(ExternalKeyProvider { command })
        }
        "openbao" => {
            KeyProviderKind::OpenBao(Box::new(build_openbao_provider(diags, &mut arguments)?))
        }
        "aws_kms" => {
            KeyProviderKind::AwsKms(Box::new(build_aws_kms_provider(diags, &mut arguments)?))
        }
        "gcp_kms" => {
            KeyProviderKind::GcpKms(Box::new(build_gcp_kms_provider(diags, &mut arguments)?))
        }
        "age" => {
            let reason = "it has public keys, which only a method of the type \"sealed\" can use";
            return Err(arguments.report_argument(diags, reason));
        }
        other => {
            let detail = format!(
                "There is no key provider of the type {other:?} in this program. The types are \"age\", \"aws_kms\", \"gcp_kms\", \"openbao\", \"pbkdf2\" and \"external\", whose program can fetch keys from any service. The key provider \"azure_vault\" of OpenTofu is not supported."
            );
            let problem = Diagnostic::error(messages::UNKNOWN_KEY_PROVIDER_TYPE, detail);
            return Err(diags.error(problem.at(*span)));
        }
    };
    arguments.report_unused_argument(diags)?;
    Ok(KeyProvider::new(address, metadata_key.clone(), made))
}

/// Makes a key provider `age`, which only the method `sealed` uses.
fn build_age_keys(
    diags: &mut Diagnostics,
    settings: &KeyProviderSettings,
    environment: &BackendEnvironment,
) -> Result<AgeKeys, Reported> {
    let address = format!("key_provider.age.{}", settings.name);
    let (left, span) = (settings.arguments.iter().collect(), settings.span);
    let mut arguments = EncryptionArguments { address: address.clone(), span, left, environment };
    let recipients = arguments.string_list_argument(diags, "recipients")?.unwrap_or_default();
    if recipients.is_empty() {
        return Err(arguments.report_missing(diags, "recipients"));
    }
    let text = arguments.string_argument(diags, "identity")?.filter(|text| !text.is_empty());
    let file = arguments.string_argument(diags, "identity_file")?.filter(|path| !path.is_empty());
    arguments.report_unused_argument(diags)?;
    let variable = |name| environment.variables.get(name).filter(|text| !text.is_empty()).cloned();
    let of_file = |path: String| IdentitySource::File(environment.root.join(path));
    let of_text = |name: &str, text| IdentitySource::Text { name: name.to_owned(), text };
    let source = match (text, file) {
        (Some(_), Some(_)) => {
            let reason = "only one of the arguments \"identity\" and \"identity_file\" may be set";
            return Err(arguments.report_argument(diags, reason));
        }
        (Some(text), None) => of_text("the argument \"identity\"", text),
        (None, Some(path)) => of_file(path),
        (None, None) => match (variable(IDENTITY_VARIABLE), variable(IDENTITY_FILE_VARIABLE)) {
            (Some(text), _) => of_text(IDENTITY_VARIABLE, text),
            (None, Some(path)) => of_file(path),
            (None, None) => IdentitySource::None,
        },
    };
    let age = AgeKeys::new(address, &recipients, source);
    age.map_err(|reason| arguments.report_argument(diags, &reason))
}

fn build_pbkdf2_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<Pbkdf2KeyProvider, Reported> {
    let passphrase = pbkdf2_passphrase(diags, arguments)?;
    let key_length = arguments.number_argument(diags, "key_length", 32, 1)?;
    let iterations =
        arguments.number_argument(diags, "iterations", 600_000, MIN_PBKDF2_ITERATIONS)?;
    let salt_length = arguments.number_argument(diags, "salt_length", 32, 1)?;
    let hash = arguments.string_argument(diags, "hash_function")?;
    let hash = Pbkdf2Hash::from_name(hash.as_deref().unwrap_or("sha512")).ok_or_else(|| {
        arguments.report_argument(
            diags,
            "the argument \"hash_function\" must be \"sha256\" or \"sha512\"",
        )
    })?;
    Ok(Pbkdf2KeyProvider {
        passphrase,
        key_length: key_length as usize,
        // Never zero, because the least number was checked above.
        iterations: NonZeroU32::new(iterations).unwrap_or(NonZeroU32::MAX),
        hash,
        salt_length: salt_length as usize,
    })
}

/// Returns the passphrase of the block, or the keys of the key provider that it is chained to.
fn pbkdf2_passphrase(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<MethodKeys, Reported> {
    let passphrase =
        arguments.string_argument(diags, "passphrase")?.filter(|text| !text.is_empty());
    let chain = arguments.take_keys(diags, "chain")?;
    match (passphrase, chain) {
        (Some(passphrase), None) => {
            if passphrase.len() < MIN_PASSPHRASE_LEN {
                let reason = format!(
                    "the passphrase is too short: {MIN_PASSPHRASE_LEN} characters are the minimum"
                );
                return Err(arguments.report_argument(diags, &reason));
            }
            let bytes = passphrase.into_bytes();
            Ok(MethodKeys::Static(EncryptionAndDecryptionKeys {
                // A passphrase of the block serves both ways; a chained key provider may have an
                // older key to decrypt with.
                decryption: Some(bytes.clone()),
                encryption: bytes,
            }))
        }
        (None, Some(chain)) => {
            if let MethodKeys::Static(pair) = &chain {
                let short = |key: &[u8]| key.len() < MIN_PASSPHRASE_LEN;
                if short(&pair.encryption) || pair.decryption.as_deref().is_some_and(short) {
                    let reason = format!(
                        "a key in \"chain\" is too short: {MIN_PASSPHRASE_LEN} bytes are the minimum"
                    );
                    return Err(arguments.report_argument(diags, &reason));
                }
            }
            Ok(chain)
        }
        (None, None) => {
            let reason = "one of the arguments \"passphrase\" and \"chain\" is required";
            Err(arguments.report_argument(diags, reason))
        }
        (Some(_), Some(_)) => {
            let reason = "only one of the arguments \"passphrase\" and \"chain\" may be set";
            Err(arguments.report_argument(diags, reason))
        }
    }
}

fn build_openbao_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<OpenBaoKeyProvider, Reported> {
    let key_name = arguments.string_argument(diags, "key_name")?.filter(|name| !name.is_empty());
    let key_name = key_name.ok_or_else(|| arguments.report_missing(diags, "key_name"))?;
    let key_length = arguments.number_argument(diags, "key_length", 32, 1)? as usize;
    if ![16, 32, 64].contains(&key_length) {
        let reason = "the argument \"key_length\" must be 16, 32 or 64";
        return Err(arguments.report_argument(diags, reason));
    }
    let address = arguments.string_argument(diags, "address")?;
    let token = arguments.string_argument(diags, "token")?;
    let engine =
        arguments.string_argument(diags, "transit_engine_path")?.filter(|path| !path.is_empty());
    let settings = OpenBaoSettings { address, token, key_name, key_length, engine };
    let variables = &arguments.environment.variables;
    let variable = |name: &str| variables.get(name).filter(|text| !text.is_empty()).cloned();
    OpenBaoKeyProvider::new(settings, variable)
        .map_err(|reason| arguments.report_argument(diags, &reason))
}

fn build_aws_kms_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<AwsKmsKeyProvider, Reported> {
    let key_id = arguments.string_argument(diags, "kms_key_id")?.filter(|id| !id.is_empty());
    let key_id = key_id.ok_or_else(|| arguments.report_missing(diags, "kms_key_id"))?;
    let spec = arguments.string_argument(diags, "key_spec")?;
    let spec = spec.ok_or_else(|| arguments.report_missing(diags, "key_spec"))?;
    let spec = KeySpec::from_name(&spec).ok_or_else(|| {
        let reason = "the argument \"key_spec\" must be \"AES_128\" or \"AES_256\"";
        arguments.report_argument(diags, reason)
    })?;
    let values = arguments.take_schema_values(diags, &connection_arguments_block())?;
    let given = BackendArguments { values: &values, environment: arguments.environment };
    let made = AwsKmsKeyProvider::new(&given, key_id, spec);
    made.map_err(|error| arguments.report_argument(diags, &error.to_string()))
}

fn build_gcp_kms_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<GcpKmsKeyProvider, Reported> {
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
        return Err(arguments.report_argument(diags, &reason));
    }
    let values = arguments.take_schema_values(diags, &credential_arguments_block())?;
    let given = BackendArguments { values: &values, environment: arguments.environment };
    let made = GcpKmsKeyProvider::new(&given, &name, key_length as usize);
    made.map_err(|error| arguments.report_argument(diags, &error.to_string()))
}
