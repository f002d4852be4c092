//! The types of key providers and methods with their arguments. Converts an evaluated configuration
//! to encryption targets.

#[cfg(feature = "age")]
mod age;
mod arguments;
#[cfg(feature = "aws_kms")]
mod aws_kms;
#[cfg(feature = "gcp_kms")]
mod gcp_kms;
#[cfg(feature = "openbao")]
mod openbao;

use std::num::NonZeroU32;

use formwork_core::eval::encryption::{
    ArgumentValue, KeyProviderSettings, MethodSettings, UNENCRYPTED_METHOD_TYPE,
};
use formwork_value::{Diagnostic, Diagnostics, Reported};

#[cfg(feature = "age")]
use self::age::build_age_keys;
use self::arguments::EncryptionArguments;
use super::algorithms::{AesGcmKey, Pbkdf2Hash};
use super::external::ExternalKeyProvider;
use super::keys::{
    EncryptionAndDecryptionKeys, KeyProvider, KeyProviderKind, MethodKeys, Pbkdf2KeyProvider,
};
use super::sealed_method::SealedMethod;
use super::target::{AesGcmMethod, EncryptionMethod, EncryptionTarget};
use crate::arguments::BackendEnvironment;
use crate::left_out_part::describe_left_out_part;
use crate::messages;

/// The types of key providers that have a cargo feature, by name. A build may leave them out.
const OPTIONAL_KEY_PROVIDERS: [&str; 4] = ["age", "aws_kms", "gcp_kms", "openbao"];

const MIN_PASSPHRASE_LEN: usize = 16;
const MIN_PBKDF2_ITERATIONS: u32 = 200_000;

/// Creates a target from its methods.
///
/// # Errors
/// Returns an error if a type or an argument is invalid.
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
    let unused = arguments.iter().collect();
    let mut arguments =
        EncryptionArguments { address: address.clone(), span: *span, unused, environment };
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
            let age = build_age_keys(diags, &keys, environment);
            age.map(|age| SealedMethod::new(address, age)).map(EncryptionMethod::Sealed)
        }
        kind => {
            let detail = format!(
                "The method type {kind:?} does not exist. Valid types are \"aes_gcm\", \"sealed\" and \"unencrypted\"."
            );
            let problem = Diagnostic::error(messages::UNKNOWN_ENCRYPTION_METHOD_TYPE, detail);
            Err(diags.error(problem.at(*span)))
        }
    }
}

/// Reports a key whose length is known and is invalid for AES.
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
            KeyProviderKind::Source(source) => vec![source.key_length()],
        },
    };
    let wrong_length =
        lengths.into_iter().flatten().find(|candidate| !AesGcmKey::KEY_LENGTHS.contains(candidate));
    wrong_length.map_or(Ok(()), |length| {
        Err(arguments.report_argument(diags, &method.describe_wrong_key_length(length)))
    })
}

/// Reports two key providers of a method that would store their metadata under the same key.
fn check_metadata_keys_differ(
    diags: &mut Diagnostics,
    arguments: &EncryptionArguments<'_>,
    method: &AesGcmMethod,
) -> Result<(), Reported> {
    let providers = method.keys.key_providers();
    for (index, provider) in providers.iter().enumerate() {
        let has_same_key =
            |other_provider: &&&KeyProvider| other_provider.metadata_key == provider.metadata_key;
        if let Some(other_provider) = providers[..index].iter().find(has_same_key) {
            let detail = format!(
                "{} and {} both store metadata as {:?}; give each its own encrypted_metadata_alias",
                other_provider.address, provider.address, provider.metadata_key
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
    let unused = arguments.iter().collect();
    let mut arguments =
        EncryptionArguments { address: address.clone(), span: *span, unused, environment };
    let provider_kind = match kind.as_str() {
        "pbkdf2" => KeyProviderKind::Pbkdf2(build_pbkdf2_provider(diags, &mut arguments)?),
        "external" => {
            let command = arguments.string_list_argument(diags, "command")?.unwrap_or_default();
            if command.is_empty() {
                return Err(arguments.report_missing(diags, "command"));
            }
            KeyProviderKind::Source(Box::new(ExternalKeyProvider { command }))
        }
        #[cfg(feature = "openbao")]
        "openbao" => KeyProviderKind::Source(Box::new(openbao::build_openbao_provider(
            diags,
            &mut arguments,
        )?)),
        #[cfg(feature = "aws_kms")]
        "aws_kms" => KeyProviderKind::Source(Box::new(aws_kms::build_aws_kms_provider(
            diags,
            &mut arguments,
        )?)),
        #[cfg(feature = "gcp_kms")]
        "gcp_kms" => KeyProviderKind::Source(Box::new(gcp_kms::build_gcp_kms_provider(
            diags,
            &mut arguments,
        )?)),
        "age" => {
            let reason = "it has public keys, which only a method of the type \"sealed\" can use";
            return Err(arguments.report_argument(diags, reason));
        }
        _ => return Err(diags.error(missing_key_provider_error(kind).at(*span))),
    };
    arguments.report_unused_argument(diags)?;
    Ok(KeyProvider::new(address, metadata_key.clone(), provider_kind))
}

/// The error for a key provider type that is not part of this build.
fn missing_key_provider_error(kind: &str) -> Diagnostic {
    if OPTIONAL_KEY_PROVIDERS.contains(&kind) {
        let detail = describe_left_out_part("key provider", kind);
        return Diagnostic::error(messages::KEY_PROVIDER_LEFT_OUT_OF_BUILD, detail);
    }
    let detail = format!(
        "The key provider type {kind:?} does not exist. Valid types are \"age\", \"aws_kms\", \"gcp_kms\", \"openbao\", \"pbkdf2\" and \"external\", whose program can fetch keys from any service. The key provider \"azure_vault\" of OpenTofu is not supported."
    );
    Diagnostic::error(messages::UNKNOWN_KEY_PROVIDER_TYPE, detail)
}

/// Refuses a key provider `age`, because this build does not include it.
#[cfg(not(feature = "age"))]
fn build_age_keys(
    diags: &mut Diagnostics,
    settings: &KeyProviderSettings,
    _environment: &BackendEnvironment,
) -> Result<super::age::AgeKeys, Reported> {
    Err(diags.error(missing_key_provider_error(&settings.kind).at(settings.span)))
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
        // Never zero, because the minimum was checked above.
        iterations: NonZeroU32::new(iterations).unwrap_or(NonZeroU32::MAX),
        hash,
        salt_length: salt_length as usize,
    })
}

/// Returns the passphrase of the block, or the keys of the chained key provider.
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
                // A passphrase in the block both encrypts and decrypts. A chained key provider may
                // have an older key for decryption.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_provider_that_was_left_out_of_a_build_is_refused_by_its_feature() {
        let manifest = include_str!("../../Cargo.toml");
        for kind in OPTIONAL_KEY_PROVIDERS {
            assert!(manifest.contains(&format!("\n{kind} = [")), "{kind}");
            // The list of types is needed only for those that are not part of this build.
            let error = missing_key_provider_error(kind);
            assert!(error.is_about_message(messages::KEY_PROVIDER_LEFT_OUT_OF_BUILD), "{kind}");
            assert!(error.detail.ends_with(&format!("--features {kind}")), "{}", error.detail);
        }
        let error = missing_key_provider_error("azure_vault");
        assert!(error.is_about_message(messages::UNKNOWN_KEY_PROVIDER_TYPE));
    }
}
