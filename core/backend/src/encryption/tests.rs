//! Tests of the complete encryption, against files that OpenTofu 1.12.6 wrote and against the
//! published algorithms.

pub(crate) mod sealed;

use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_core::config::inputs::{
    self, GivenValue, GivenVariable, InputOrigin, UnsetVariableTreatment,
};
use formwork_core::config::{ConfigFiles, load_root_module};
use formwork_core::eval::HostValues;
use formwork_core::eval::static_scope::StaticScope;
use formwork_value::Value;
use formwork_value::diag::Sources;

use super::algorithms::{AesGcmKey, Pbkdf2Hash, derive_pbkdf2_key};
use super::*;
use crate::scripted_server::configure_backend as configured_backend;
use crate::{StoreError, WriteOutcome};

const OPENTOFU_STATE: &[u8] = include_bytes!("golden/opentofu.tfstate");
const OPENTOFU_PLAN: &[u8] = include_bytes!("golden/opentofu.tfplan.json");
/// The passphrase that both files were written with.
const PASSPHRASE: &str = "correct horse battery staple";

/// Creates a root module from one file.
struct SingleFileConfig(String);

impl ConfigFiles for SingleFileConfig {
    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(vec!["main.tf".to_owned()])
    }

    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

/// Returns the encryption of a block, or the summaries and details of the errors.
fn encryption_of_block(block: &str) -> Result<Encryption, Vec<String>> {
    let text = format!(
        "terraform {{\n  encryption {{\n{block}\n  }}\n}}\nvariable \"passphrase\" {{\n  type = string\n  sensitive = true\n}}\nlocals {{\n  secret = \"${{var.passphrase}}\"\n}}\n"
    );
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let encryption = build_encryption(&mut diags, &mut sources, &text);
    encryption.map_err(|_| {
        let errors = diags.iter().filter(|diagnostic| diagnostic.is_error());
        errors.map(|error| format!("{}: {}", error.summary, error.detail)).collect()
    })
}

fn build_encryption(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    text: &str,
) -> Result<Encryption, Reported> {
    let module =
        load_root_module(diags, sources, &SingleFileConfig(text.to_owned()), Path::new("."))?;
    let given = vec![GivenVariable {
        name: "passphrase".into(),
        value: GivenValue::Unparsed(PASSPHRASE.to_owned()),
        origin: InputOrigin::Environment,
    }];
    let variables =
        inputs::resolve_variables(diags, sources, &module, given, UnsetVariableTreatment::Unknown)?;
    let world = HostValues::for_dir("/", || time::OffsetDateTime::UNIX_EPOCH);
    let scope = StaticScope::new(&module, &variables, &world);
    let block = module.settings.encryption.as_ref().expect("the text has the block");
    let settings = EncryptionSettings::evaluate(diags, block, &scope)?;
    Encryption::new(diags, &settings, &BackendEnvironment::default())
}

fn errors_of_block(block: &str) -> String {
    encryption_of_block(block).err().unwrap_or_default().join("\n")
}

/// A block with a key provider, a method, and further content.
fn block_with_pbkdf2(more: &str) -> String {
    format!(
        "key_provider \"pbkdf2\" \"main\" {{\n  passphrase = local.secret\n}}\nmethod \"aes_gcm\" \"main\" {{\n  keys = key_provider.pbkdf2.main\n}}\nmethod \"unencrypted\" \"none\" {{}}\n{more}"
    )
}

const STATE_AND_PLAN_TARGETS: &str =
    "state {\n  method = method.aes_gcm.main\n}\nplan {\n  method = method.aes_gcm.main\n}";

fn test_state() -> StateFile {
    StateFile { serial: 7, ..StateFile::new_empty() }
}

#[test]
fn files_that_opentofu_has_written_are_read() {
    let encryption = encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap();
    let (text, is_current) = encryption.state.decrypt(OPENTOFU_STATE).unwrap();
    let read = StateFile::parse(&text).unwrap();
    assert_eq!((read.serial, read.terraform_version.as_str()), (1, "1.12.6"));
    assert!(is_current && String::from_utf8_lossy(&text).contains("hunter2-is-the-secret"));
    let plan = encryption.plan.decrypt("plan.bin", OPENTOFU_PLAN).unwrap();
    assert!(plan.starts_with(b"PK\x03\x04"));
    assert!(
        is_encrypted_state(OPENTOFU_STATE)
            && !is_encrypted_state(OPENTOFU_PLAN)
            && is_encrypted(OPENTOFU_PLAN)
    );
}

/// Decrypts a file with only the algorithms and the names of the format.
fn decrypt_by_hand(text: &[u8]) -> Vec<u8> {
    let file: serde_json::Value = serde_json::from_slice(text).unwrap();
    assert_eq!(file["encryption_version"], "v0");
    let decode =
        |value: &serde_json::Value| BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap();
    let meta = decode(&file["meta"]["key_provider.pbkdf2.main"]);
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    assert_eq!((&meta["hash_function"], &meta["key_length"]), (&"sha512".into(), &32.into()));
    let iterations = u32::try_from(meta["iterations"].as_u64().unwrap()).unwrap();
    assert_eq!(iterations, 600_000);
    let salt = decode(&meta["salt"]);
    assert_eq!(salt.len(), 32);
    let iterations = NonZeroU32::new(iterations).unwrap();
    let key = derive_pbkdf2_key(Pbkdf2Hash::Sha512, iterations, PASSPHRASE.as_bytes(), &salt, 32);
    AesGcmKey::new(&key).unwrap().decrypt(&decode(&file["encrypted_data"]), b"").unwrap()
}

#[test]
fn files_are_the_result_of_the_documented_steps() {
    assert!(decrypt_by_hand(OPENTOFU_STATE).starts_with(b"{"));
    assert!(decrypt_by_hand(OPENTOFU_PLAN).starts_with(b"PK\x03\x04"));
    let encryption = encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap();
    let file = test_state();
    let text = encryption.state.serialize_state(&file).unwrap();
    assert_eq!(decrypt_by_hand(&text), file.to_bytes());
    let wrapper: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(
        (&wrapper["serial"], &wrapper["lineage"]),
        (&7.into(), &file.lineage.as_str().into())
    );
    assert_eq!(encryption.state.parse_state(&text).unwrap(), file);
    let plan = encryption.plan.encrypt(b"PK a plan".to_vec()).unwrap();
    assert_eq!(decrypt_by_hand(&plan), b"PK a plan");
}

/// The bytes of a hexadecimal string.
fn bytes_from_hex(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
    digits.map(|pair| byte(pair).unwrap()).collect()
}

/// Keys, ciphertexts and tags were calculated with Python's `hashlib` and `cryptography` (OpenSSL), from the
/// documented format: PBKDF2-HMAC over passphrase and salt, followed by nonce, ciphertext and tag in this
/// order.
#[test]
fn a_file_assembled_step_by_step_from_another_implementation_is_read() {
    let plain = r#"{"version":4,"terraform_version":"1.12.6","serial":9,"lineage":"step-by-step","outputs":{},"resources":[]}"#;
    let nonce: Vec<u8> = (0xa0..0xac).collect();
    for (hash, name, salt_length, aad, key, ciphertext, tag) in [
        (
            Pbkdf2Hash::Sha512,
            "sha512",
            32,
            "",
            "21b77230aa94e917f27cd864609bb43ecf0a8b64844d5685d575ae388b0b2100",
            "b8968d773e22a1f131c792d67cb2b14e0196ce8605dc5fc19d97b8121a4e2d43aae6717c1e47211ad1027679365cbbfcafd50e3e17e42c9c1253c35bdde7adaa6eba866f8a59ea2171e4fced59904a1932be51b4d96c19f8d6ede532e6f6a2ea180bc46fe975831827ee",
            "f30fc4e1227288a033ac8e56e20541fb",
        ),
        (
            Pbkdf2Hash::Sha256,
            "sha256",
            12,
            "1, 2, 3",
            "b555d119a9b11139dacee9b749f5480e",
            "63a6a4c88158982c307cc7af28cc9455d1671dba86a20c3624c5b161b79b488e492b2d3edd7be822621d08fe532fa920aad96d18f79f40081f8a337bb4cb19fa13a2ad1a19a714eb25c0badc5a8cf74f6096ef5c588ae63374d8ea7e2293f48c5e863d21576db67de7d0",
            "8ddbac53f52a3ecef4a11800764595e7",
        ),
    ] {
        let salt: Vec<u8> = (0..salt_length).collect();
        let iterations = NonZeroU32::new(200_000).unwrap();
        let (key, n_bytes) = (bytes_from_hex(key), key.len() / 2);
        assert_eq!(derive_pbkdf2_key(hash, iterations, PASSPHRASE.as_bytes(), &salt, n_bytes), key);
        let sealed = [nonce.clone(), bytes_from_hex(ciphertext), bytes_from_hex(tag)].concat();
        let salt = BASE64_STANDARD.encode(&salt);
        let meta = format!(
            r#"{{"salt":"{salt}","iterations":200000,"hash_function":"{name}","key_length":{n_bytes}}}"#
        );
        let file = format!(
            r#"{{"serial":9,"lineage":"step-by-step","meta":{{"key_provider.pbkdf2.main":"{}"}},"encrypted_data":"{}","encryption_version":"v0"}}"#,
            BASE64_STANDARD.encode(meta),
            BASE64_STANDARD.encode(sealed)
        );
        // The arguments of the key provider are for new files. The parameters of this file are in its
        // metadata.
        let keys = "keys = key_provider.pbkdf2.main";
        let block = block_with_pbkdf2(STATE_AND_PLAN_TARGETS)
            .replace(keys, &format!("{keys}\n  aad = [{aad}]"));
        let opened = encryption_of_block(&block).unwrap().state;
        let (text, is_current) = opened.decrypt(file.as_bytes()).unwrap();
        assert_eq!((&*String::from_utf8_lossy(&text), is_current), (plain, true));
        assert_eq!(opened.parse_state(file.as_bytes()).unwrap().serial, 9);
    }
}

#[test]
fn a_wrong_passphrase_is_reported_with_the_key_provider() {
    let other_block = block_with_pbkdf2(STATE_AND_PLAN_TARGETS)
        .replace("local.secret", "\"another passphrase!\"");
    let cipher = encryption_of_block(&other_block).unwrap().state;
    let error = cipher.parse_state(OPENTOFU_STATE).unwrap_err().diagnostic("terraform.tfstate");
    assert_eq!(error.summary, "State file cannot be decrypted");
    assert!(error.detail.starts_with("terraform.tfstate: no method decrypts the file: method.aes_gcm.main: the key of key_provider.pbkdf2.main is not the one"), "{}", error.detail);
    let renamed = block_with_pbkdf2(STATE_AND_PLAN_TARGETS)
        .replace("\"pbkdf2\" \"main\"", "\"pbkdf2\" \"new\"");
    let renamed = renamed.replace("key_provider.pbkdf2.main", "key_provider.pbkdf2.new");
    let error = encryption_of_block(&renamed)
        .unwrap()
        .state
        .parse_state(OPENTOFU_STATE)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("the file has no metadata \"key_provider.pbkdf2.new\" of key_provider.pbkdf2.new, but key_provider.pbkdf2.main"), "{error}");
    let aliased = renamed.replace(
        "passphrase = local.secret",
        "passphrase = local.secret\n  encrypted_metadata_alias = \"key_provider.pbkdf2.main\"",
    );
    assert_eq!(
        encryption_of_block(&aliased).unwrap().state.parse_state(OPENTOFU_STATE).unwrap().serial,
        1
    );
}

#[test]
fn a_damaged_state_is_not_called_unencrypted() {
    let state = encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap().state;
    let text = String::from_utf8(OPENTOFU_STATE.to_vec()).unwrap();
    for member in ["\"encrypted_data\": \"", "\"key_provider.pbkdf2.main\": \""] {
        assert!(text.contains(member), "{text}");
        let damaged = text.replace(member, &format!("{member}*"));
        assert!(is_encrypted(damaged.as_bytes()) && is_encrypted_state(damaged.as_bytes()));
        let error = state.decrypt(damaged.as_bytes()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the encrypted file is damaged: Invalid symbol 42"), "{text}");
    }
}

#[test]
fn a_state_that_is_not_encrypted_needs_a_fallback() {
    let file = test_state();
    let plain = file.to_bytes();
    let strict = encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap();
    let error = strict.state.parse_state(&plain).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "the file is not encrypted, and the encryption of `state` has no fallback"
        ),
        "{error}"
    );
    assert_eq!(strict.state.parse_user_named_state(&plain).unwrap(), file);
    assert!(strict.plan.check_plaintext_allowed("p").is_err());
    let (text, is_current) = strict.state.decrypt(b"").unwrap();
    assert!(text.is_empty() && is_current);

    let fallback = "state {\n  method = method.aes_gcm.main\n  fallback {\n    method = method.unencrypted.none\n  }\n}";
    let moving = encryption_of_block(&block_with_pbkdf2(fallback)).unwrap();
    let (text, is_current) = moving.state.decrypt(&plain).unwrap();
    assert_eq!((&*text, is_current), (plain.as_slice(), false));
    assert!(moving.state.decrypt(OPENTOFU_STATE).unwrap().1);
    assert!(
        moving.plan.check_plaintext_allowed("p").is_ok()
            && moving.plan.decrypt("p", OPENTOFU_PLAN).is_err()
    );

    let back = "state {\n  method = method.unencrypted.none\n  fallback {\n    method = method.aes_gcm.main\n  }\n}";
    let back = encryption_of_block(&block_with_pbkdf2(back)).unwrap().state;
    assert!(
        !back.encrypts()
            && !back.decrypt(OPENTOFU_STATE).unwrap().1
            && back.decrypt(&plain).unwrap().1
    );
    assert_eq!(back.serialize_state(&file).unwrap(), plain);
}

#[tokio::test]
async fn an_unchanged_state_is_encrypted_when_it_is_written_after_a_fallback_has_read_it() {
    let fallback = "state {\n  method = method.aes_gcm.main\n  fallback {\n    method = method.unencrypted.none\n  }\n}";
    let moving = encryption_of_block(&block_with_pbkdf2(fallback)).unwrap().state;
    let directory = tempfile::tempdir().unwrap();
    let states = [("workspace_dir", Value::string(directory.path().display().to_string()))];
    for backend in [configured_backend("inmem", &[]), configured_backend("local", &states)] {
        backend.create_workspace("encrypted-later").await.unwrap();
        let mut store = backend.open_store("encrypted-later").await.unwrap();
        let mut file = test_state();
        store.write(&mut file).await.unwrap();

        let mut store = backend.open_store("encrypted-later").await.unwrap();
        store.set_cipher(moving.clone());
        let mut file = store.read().await.unwrap().unwrap();
        assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Stored);
        assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Unchanged);
        let store_error =
            backend.open_store("encrypted-later").await.unwrap().read().await.unwrap_err();
        let encrypted = matches!(&store_error, StoreError::Unusable { error, .. } if *error == FileError::Encrypted);
        assert!(encrypted, "{store_error}");
    }
}

#[test]
fn an_encrypted_file_is_refused_without_a_configured_encryption() {
    let cipher = StateCipher::default();
    assert_eq!(cipher.parse_state(OPENTOFU_STATE).unwrap_err(), FileError::Encrypted);
    assert_eq!(StateFile::read_header(OPENTOFU_STATE).unwrap_err(), FileError::Encrypted);
    let error = PlanCipher::default().decrypt("plan.bin", OPENTOFU_PLAN).unwrap_err();
    assert!(error.detail.contains("TF_ENCRYPTION"), "{}", error.detail);
}

#[test]
fn a_changed_file_is_refused() {
    let cipher = encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap().state;
    let changed = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(OPENTOFU_STATE).replacen(from, to, 1);
        cipher.parse_state(text.as_bytes()).unwrap_err().to_string()
    };
    assert!(changed("\"serial\": 1", "\"serial\": 2").ends_with("different values of serial"));
    assert!(
        changed("\"lineage\": \"3", "\"lineage\": \"4").ends_with("different values of lineage")
    );
    assert!(changed("\"v0\"", "\"v1\"").contains("encryption version \"v1\""));
    assert!(
        changed("\"encrypted_data\": \"N", "\"encrypted_data\": \"O")
            .contains("or the file was changed")
    );
}

#[test]
fn keys_may_be_chained_or_specified_directly() {
    let block = |key: &str| {
        format!(
            "key_provider \"pbkdf2\" \"outer\" {{\n  chain = {key}\n  iterations = 200000\n  hash_function = \"sha256\"\n  salt_length = 12\n  key_length = 16\n}}\nkey_provider \"pbkdf2\" \"main\" {{\n  passphrase = var.passphrase\n}}\nmethod \"aes_gcm\" \"main\" {{\n  keys = key_provider.pbkdf2.outer\n  aad = [1, 2]\n}}\n{STATE_AND_PLAN_TARGETS}"
        )
    };
    let cipher = encryption_of_block(&block("key_provider.pbkdf2.main")).unwrap().state;
    let text = cipher.serialize_state(&test_state()).unwrap();
    assert_eq!(cipher.parse_state(&text).unwrap().serial, 7);
    let wrapper: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(wrapper["meta"].as_object().unwrap().len(), 2);
    // A different authenticated value has the same effect as a different key.
    let other_block = block("key_provider.pbkdf2.main").replace("[1, 2]", "[1, 3]");
    assert!(encryption_of_block(&other_block).unwrap().state.parse_state(&text).is_err());
    let given = block("{ encryption_key = [for n in range(16) : n], decryption_key = range(16) }");
    let cipher = encryption_of_block(&given).unwrap().state;
    let text = cipher.serialize_state(&test_state()).unwrap();
    assert_eq!(encryption_of_block(&given).unwrap().state.parse_state(&text).unwrap().serial, 7);
}

#[test]
fn a_method_may_take_keys_from_a_program() {
    let script = r#"echo '{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}'; cat >/dev/null; echo '{\"keys\":{\"encryption_key\":\"AAAAAAAAAAAAAAAAAAAAAA==\",\"decryption_key\":\"AAAAAAAAAAAAAAAAAAAAAA==\"},\"meta\":{\"external_data\":{\"key\":1}}}'"#;
    let block = format!(
        "key_provider \"external\" \"it\" {{\n  command = [\"sh\", \"-c\", \"{script}\"]\n}}\nmethod \"aes_gcm\" \"main\" {{\n  keys = key_provider.external.it\n}}\n{STATE_AND_PLAN_TARGETS}"
    );
    let cipher = encryption_of_block(&block).unwrap().state;
    let text = cipher.serialize_state(&test_state()).unwrap();
    assert_eq!(encryption_of_block(&block).unwrap().state.parse_state(&text).unwrap().serial, 7);
    let failing = block.replace("cat >/dev/null", "exit 5");
    let cipher = encryption_of_block(&failing).unwrap().state;
    let reason = "the key provider key_provider.external.it: it ended with exit status: 5";
    assert_eq!(cipher.prepare_key(), Err(reason.to_owned()));
    assert!(cipher.parse_state(&text).unwrap_err().to_string().starts_with(reason));
}

#[test]
fn mistakes_are_reported_without_values() {
    let check = |block: &str, expected: &str| {
        let reported = errors_of_block(block);
        assert!(reported.contains(expected), "{block}\n{reported}");
        assert!(!reported.contains("hunter2"), "{reported}");
    };
    let main = |more: &str| block_with_pbkdf2(more);
    check(&main("state {\n}"), "Missing encryption method");
    check(&main("state {\n  method = \"x\"\n}"), "Invalid encryption method identifier");
    check(
        &main("state {\n  method = method.aes_gcm.other\n}"),
        "There is no method \"aes_gcm\" \"other\" block",
    );
    check(
        &main(
            "state {\n  enforced = true\n  method = method.aes_gcm.main\n  fallback {\n    method = method.unencrypted.none\n  }\n}",
        ),
        "Unencrypted method is forbidden",
    );
    check(
        &main(
            "state {\n  method = method.aes_gcm.main\n}\nstate {\n  method = method.aes_gcm.main\n}",
        ),
        "Duplicate state block",
    );
    check(&main("method \"aes_gcm\" \"main\" {}"), "Duplicate method");
    let replaced = |from: &str, to: &str| main(STATE_AND_PLAN_TARGETS).replace(from, to);
    check(&replaced("local.secret", "\"hunter2\""), "the passphrase is too short");
    check(&replaced("local.secret", "var.missing"), "undeclared input variable");
    check(
        &replaced("local.secret", "aws_instance.x.id"),
        "`aws_instance` is not known before the state is read",
    );
    check(
        &replaced("passphrase = local.secret", "passphrase = local.secret\n  iterations = 1000"),
        "\"iterations\" must be a whole number of at least 200000",
    );
    check(
        &replaced(
            "passphrase = local.secret",
            "passphrase = local.secret\n  hash_function = \"md5\"",
        ),
        "must be \"sha256\" or \"sha512\"",
    );
    check(
        &replaced("passphrase = local.secret", "passphrase = local.secret\n  key_length = 20"),
        "requires a key of 16, 24 or 32 bytes, but the key has 20 bytes",
    );
    check(
        &replaced(
            "passphrase = local.secret",
            "passphrase = local.secret\n  pasphrase = \"hunter2\"",
        ),
        "Unsupported argument: An argument named \"pasphrase\" is not expected",
    );
    check(
        &replaced("passphrase = local.secret", ""),
        "one of the arguments \"passphrase\" and \"chain\" is required",
    );
    check(
        &replaced("passphrase = local.secret", "chain = key_provider.pbkdf2.main"),
        "key_provider.pbkdf2.main -> key_provider.pbkdf2.main",
    );
    check(
        &replaced("keys = key_provider.pbkdf2.main", "keys = \"hunter2\""),
        "must be a key provider",
    );
    check(
        &replaced("keys = key_provider.pbkdf2.main", "keys = key_provider.pbkdf2.no"),
        "There is no key_provider \"pbkdf2\" \"no\"",
    );
    check(
        &replaced("\"aes_gcm\" \"main\"", "\"rot13\" \"main\"")
            .replace("method.aes_gcm", "method.rot13"),
        "The method type \"rot13\" does not exist",
    );
}

#[test]
fn mistakes_in_key_providers_of_services_are_reported_without_values() {
    let check = |block: &str, expected: &str| {
        let reported = errors_of_block(block);
        assert!(reported.contains(expected), "{block}\n{reported}");
        assert!(!reported.contains("hunter2"), "{reported}");
    };
    let replaced =
        |from: &str, to: &str| block_with_pbkdf2(STATE_AND_PLAN_TARGETS).replace(from, to);
    let block_of_kind = |kind: &str, arguments: &str| {
        replaced("\"pbkdf2\" \"main\"", &format!("\"{kind}\" \"main\""))
            .replace("key_provider.pbkdf2", &format!("key_provider.{kind}"))
            .replace("passphrase = local.secret", arguments)
    };
    check(
        &block_of_kind("azure_vault", ""),
        "The key provider type \"azure_vault\" does not exist",
    );
    check(
        &block_of_kind("gcp_kms", ""),
        "The argument \"kms_encryption_key\" of the block key_provider.gcp_kms.main",
    );
    let name = "projects/p/locations/l/keyRings/r/cryptoKeys/k";
    let gcp_block = |extra_arguments: &str| {
        block_of_kind("gcp_kms", &format!("kms_encryption_key = \"{name}\"\n  {extra_arguments}"))
    };
    check(&gcp_block(""), "The argument \"key_length\" of the block key_provider.gcp_kms.main");
    check(&gcp_block("key_length = 1025"), "\"key_length\" must be at most 1024");
    check(&gcp_block("key_length = 64"), "but the key has 64 bytes");
    check(
        &gcp_block("key_length = 32\n  credentials = \"hunter2\""),
        "neither valid json nor a valid file",
    );
    check(
        &gcp_block("key_length = 32\n  bucket = \"b\""),
        "An argument named \"bucket\" is not expected",
    );
    check(
        &block_of_kind("aws_kms", ""),
        "The argument \"kms_key_id\" of the block key_provider.aws_kms.main",
    );
    let aws_block = |extra_arguments: &str| {
        block_of_kind("aws_kms", &format!("kms_key_id = \"k\"\n  {extra_arguments}"))
    };
    check(&aws_block("key_spec = \"RSA\""), "must be \"AES_128\" or \"AES_256\"");
    check(&aws_block("key_spec = \"AES_256\""), "the \"region\" attribute or the \"AWS_REGION\"");
    check(&aws_block("key_spec = \"AES_256\"\n  bucket = \"hunter2\""), "the \"region\" attribute");
    let region = "key_spec = \"AES_256\"\n  region = \"eu-west-1\"\n  ";
    check(
        &aws_block(&format!("{region}bucket = \"b\"")),
        "An argument named \"bucket\" is not expected",
    );
    check(&aws_block(&format!("{region}max_retries = \"many\"")), "number");
    check(
        &block_of_kind("openbao", ""),
        "The argument \"key_name\" of the block key_provider.openbao.main",
    );
    let bao_block = |extra_arguments: &str| {
        block_of_kind("openbao", &format!("key_name = \"k\"\n  {extra_arguments}"))
    };
    check(&bao_block("key_length = 24"), "\"key_length\" must be 16, 32 or 64");
    check(&bao_block(""), "no token was found: set the argument \"token\" or BAO_TOKEN");
    check(&bao_block("token = \"t\"\n  key_length = 64"), "but the key has 64 bytes");
}

#[test]
fn a_data_source_has_its_own_encryption_or_the_default_one() {
    let block = block_with_pbkdf2(
        "remote_state_data_sources {\n  default {\n    method = method.unencrypted.none\n  }\n  remote_state_data_source \"sub[1].it[\\\"a\\\"]\" {\n    method = method.aes_gcm.main\n  }\n}",
    );
    let remotes = encryption_of_block(&block).unwrap().remotes;
    assert!(remotes.cipher_for("module.sub[1].data.terraform_remote_state.it[\"a\"]").encrypts());
    assert!(!remotes.cipher_for("data.terraform_remote_state.it").encrypts());
    assert!(
        remotes.cipher_for("data.terraform_remote_state.it").parse_state(OPENTOFU_STATE).is_err()
    );
}
