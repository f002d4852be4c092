//! The method `sealed`: states, other files, and the keys that open them.

use formwork_core::state::file::sealed::read_sealed_header;

use super::*;
use crate::history::HistoryPoint;

pub(crate) const FIRST_IDENTITY: (&str, &str) = (
    "AGE-SECRET-KEY-1QCWV2QH957T5FCJDJSMYJU9S2WEUW0GU69SCRM9RUWKYQYWJWMMQCKJH0F",
    "age108a5p9y9zgyv9temkewvtw4nhha7rznazeqlyj2uv44ghu8r853sfwhmst",
);
const SECOND_IDENTITY: (&str, &str) = (
    "AGE-SECRET-KEY-1T8349WJX4QMU5K6ULF4477EMDCPSAVTXV6P9A3WV9F3WUPMHL0MQDYXRS3",
    "age1w9m9hana4s9kkerg4rthnjd534ymlmw3vnzm2gadjmxc34ga4fdsl5tv3c",
);
const SECRET: &str = "hunter2-in-a-state";

/// A key provider with a name, and a method that uses it.
fn sealed_method_block(name: &str, recipients: &[&str], identity: &str) -> String {
    format!(
        "key_provider \"age\" \"{name}\" {{\n  recipients = {recipients:?}\n  identity = {identity:?}\n}}\nmethod \"sealed\" \"{name}\" {{\n  keys = key_provider.age.{name}\n}}\n"
    )
}

/// Encryption with one method, and others for reading.
pub(crate) fn sealed_encryption(recipients: &[&str], identity: &str, more: &str) -> Encryption {
    let fallback = match more.is_empty() {
        true => String::new(),
        false => "fallback {\n  method = method.sealed.former\n  fallback {\n    method = method.unencrypted.none\n  }\n}".to_owned(),
    };
    let target = format!("{{\n  method = method.sealed.main\n  {fallback}\n}}");
    encryption_of_block(&format!(
        "{}{more}\nmethod \"unencrypted\" \"none\" {{}}\nstate {target}\nplan {target}\n",
        sealed_method_block("main", recipients, identity)
    ))
    .unwrap()
}

/// A state with a secret in one attribute and in one output.
fn state_with_secret() -> StateFile {
    let text = format!(
        r#"{{"version":4,"serial":3,"lineage":"l","outputs":{{"o":{{"value":"{SECRET}","type":"string","sensitive":true}}}},
        "resources":[{{"mode":"managed","type":"t","name":"a","provider":"provider[\"registry.terraform.io/hashicorp/t\"]",
        "instances":[{{"attributes":{{"a":"{SECRET}","b":"y"}},"sensitive_attributes":[[{{"type":"get_attr","value":"a"}}]]}}]}}]}}"#
    );
    StateFile::parse(text.as_bytes()).unwrap()
}

/// The sealed values of a state.
fn sealed_values(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let parts = text.split("\"sealed:age:").skip(1);
    parts.filter_map(|part| Some(part.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn unchanged_values_keep_their_ciphertexts_in_the_next_run() {
    let text = sealed_encryption(&[FIRST_IDENTITY.1, SECOND_IDENTITY.1], FIRST_IDENTITY.0, "")
        .state
        .serialize_state(&state_with_secret())
        .unwrap();
    let shown = String::from_utf8_lossy(&text);
    assert!(!shown.contains(SECRET) && shown.contains("\"b\": \"y\""), "{shown}");
    // The order of the recipients is irrelevant, and any of their identities can read.
    let next =
        sealed_encryption(&[SECOND_IDENTITY.1, FIRST_IDENTITY.1], SECOND_IDENTITY.0, "").state;
    let (mut read, is_current) = next.parse_checking_current_form(&text).unwrap();
    assert_eq!((&read, is_current), (&state_with_secret(), true));
    assert_eq!(next.serialize_state(&read).unwrap(), text);
    read.serial += 1;
    let again = next.serialize_state(&read).unwrap();
    assert_eq!((sealed_values(&again), sealed_values(&again).len()), (sealed_values(&text), 2));
    // A program that has not read them creates other ciphertexts, and an equal secret elsewhere has
    // its own.
    let other_values = sealed_values(
        &sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
            .state
            .serialize_state(&state_with_secret())
            .unwrap(),
    );
    assert!(
        other_values.iter().all(|value| !sealed_values(&text).contains(value))
            && other_values[0] != other_values[1]
    );
}

#[test]
fn changed_recipients_require_a_new_write() {
    let text = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
        .state
        .serialize_state(&state_with_secret())
        .unwrap();
    let both =
        sealed_encryption(&[FIRST_IDENTITY.1, SECOND_IDENTITY.1], FIRST_IDENTITY.0, "").state;
    let (file, is_current) = both.parse_checking_current_form(&text).unwrap();
    assert!(!is_current);
    let text = both.serialize_state(&file).unwrap();
    assert!(
        sealed_encryption(&[FIRST_IDENTITY.1, SECOND_IDENTITY.1], SECOND_IDENTITY.0, "")
            .state
            .parse_checking_current_form(&text)
            .unwrap()
            .1
    );

    // The former key is a fallback, and cannot read what is written now.
    let new_encryption = sealed_encryption(
        &[SECOND_IDENTITY.1],
        SECOND_IDENTITY.0,
        &sealed_method_block("former", &[FIRST_IDENTITY.1], FIRST_IDENTITY.0),
    )
    .state;
    let (file, is_current) = new_encryption.parse_checking_current_form(&text).unwrap();
    assert!(!is_current);
    let text = new_encryption.serialize_state(&file).unwrap();
    assert!(new_encryption.parse_checking_current_form(&text).unwrap().1);
    sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
        .state
        .parse_state(&text)
        .unwrap_err();
}

#[test]
fn recipients_added_only_to_the_header_require_a_new_write() {
    let text = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
        .state
        .serialize_state(&state_with_secret())
        .unwrap();
    let added = format!("\"{}\",\n    \"{}\"", FIRST_IDENTITY.1, SECOND_IDENTITY.1);
    let text =
        String::from_utf8(text).unwrap().replace(&format!("\"{}\"", FIRST_IDENTITY.1), &added);
    let both =
        sealed_encryption(&[FIRST_IDENTITY.1, SECOND_IDENTITY.1], FIRST_IDENTITY.0, "").state;
    let (read, is_current) = both.parse_checking_current_form(text.as_bytes()).unwrap();
    assert!(!is_current);
    let written = both.serialize_state(&read).unwrap();
    assert!(
        sealed_encryption(&[FIRST_IDENTITY.1, SECOND_IDENTITY.1], SECOND_IDENTITY.0, "")
            .state
            .parse_checking_current_form(&written)
            .unwrap()
            .1
    );
}

#[tokio::test]
async fn a_state_that_is_encrypted_as_a_whole_has_no_objects_of_a_readable_history() {
    // No server responds at this address, so the history is not queried.
    let conn_str = "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable&connect_timeout=1";
    let backend = configured_backend("pg", &[("conn_str", Value::string(conn_str))]);
    let mut store = backend.open_store("default").await.unwrap();
    store
        .set_cipher(encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap().state);
    let object = store.object_at("t.a", &HistoryPoint::Serial(1)).await;
    assert_eq!(object.unwrap(), None);
}

#[test]
fn several_runs_write_states_that_are_readable_or_sealed_without_a_fallback() {
    let sealed = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "").state;
    let former = sealed_method_block("former", &[SECOND_IDENTITY.1], "");
    let moving = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, &former).state;
    let cipher_of_whole =
        encryption_of_block(&block_with_pbkdf2(STATE_AND_PLAN_TARGETS)).unwrap().state;
    let cases = [
        (StateCipher::default(), None, false),
        (sealed, None, false),
        (moving, Some("has a fallback"), false),
        (cipher_of_whole, Some("encrypted as a whole"), true),
    ];
    for (cipher, reason, hides) in cases {
        let message = cipher.exclusive_write_reason();
        let is_expected =
            message.zip(reason).is_none_or(|(message, reason)| message.contains(reason));
        assert!(message.is_some() == reason.is_some() && is_expected, "{message:?} {reason:?}");
        assert_eq!(cipher.hides_addresses(), hides, "{message:?}");
    }
}

#[test]
fn a_part_of_a_state_is_sealed_with_copies_of_secrets_in_other_parts() {
    let cipher = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "").state;
    let text = String::from_utf8(state_with_secret().to_bytes()).unwrap();
    let file = StateFile::parse(text.replace("\"y\"", &format!("\"y {SECRET}\"")).as_bytes());
    let mut file = file.unwrap();
    // Only the object at the other address has the copy.
    let other_text = text.replace("\"name\": \"a\"", "\"name\": \"b\"").replace(SECRET, "z");
    let other_text =
        StateFile::parse(other_text.replace("\"y\"", &format!("\"{SECRET}\"")).as_bytes());
    file.state.resources.append(&mut other_text.unwrap().state.resources);
    let sealed = sealed_values(&cipher.serialize_state(&file).unwrap());
    let sealer = cipher.part_sealer(&file).unwrap().unwrap();
    for (addr, resource) in &file.state.resources {
        let mut part_file = StateFile { lineage: file.lineage.clone(), ..StateFile::new_empty() };
        part_file.state.resources.insert(addr.clone(), resource.clone());
        let text = sealer.seal(&part_file).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains(SECRET), "{addr}");
        let values = sealed_values(&text);
        assert!(values.len() == 2 && values.iter().all(|value| sealed.contains(value)), "{addr}");
        assert_eq!(cipher.parse_state(&text).unwrap(), part_file);
    }
    assert!(StateCipher::default().part_sealer(&file).unwrap().is_none());
}

#[test]
fn without_an_identity_the_recipients_are_named_and_headers_are_read() {
    let text = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
        .state
        .serialize_state(&state_with_secret())
        .unwrap();
    for identity in ["", SECOND_IDENTITY.0] {
        let other_cipher = sealed_encryption(&[SECOND_IDENTITY.1], identity, "").state;
        let error = other_cipher.parse_state(&text).unwrap_err().diagnostic("it");
        assert_eq!(error.summary, "State file cannot be decrypted");
        for part in [
            "it: output.o value: method.sealed.main: key_provider.age.main has no identity",
            FIRST_IDENTITY.1,
            "FORMWORK_AGE_IDENTITY_FILE",
            "Nothing was changed",
        ] {
            assert!(error.detail.contains(part), "{part}: {}", error.detail);
        }
        let header = other_cipher.parse_state_header(&text).unwrap();
        assert_eq!((header.serial, header.lineage.as_str()), (3, "l"));
        assert_eq!(other_cipher.read_providers(&text).unwrap().len(), 1);
    }
}

#[test]
fn plans_and_journals_are_encrypted_as_a_whole() {
    let encryption = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "");
    let plan = encryption.plan.encrypt(SECRET.into()).unwrap();
    assert!(is_encrypted(&plan) && !is_encrypted_state(&plan));
    assert!(!String::from_utf8_lossy(&plan).contains(SECRET));
    assert_eq!(&*encryption.plan.decrypt("p", &plan).unwrap(), SECRET.as_bytes());
    let error = sealed_encryption(&[SECOND_IDENTITY.1], SECOND_IDENTITY.0, "")
        .plan
        .decrypt("p", &plan)
        .unwrap_err();
    assert!(error.detail.contains(FIRST_IDENTITY.1), "{}", error.detail);
    assert!(encryption.plan.check_plaintext_allowed("p").is_err());

    let record = RecordSeal::seal_value(&encryption.state, SECRET.as_bytes()).unwrap().unwrap();
    assert!(record.starts_with(b"{\"") && !String::from_utf8_lossy(&record).contains(SECRET));
    assert_eq!(RecordSeal::open_value(&encryption.state, &record).unwrap(), SECRET.as_bytes());
    assert!(encryption.state.check_unsealed_allowed().is_err() && encryption.state.encrypts());
}

#[test]
fn readable_states_and_values_are_refused_without_a_fallback() {
    let strict = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "").state;
    let lenient = sealed_encryption(
        &[FIRST_IDENTITY.1],
        FIRST_IDENTITY.0,
        &sealed_method_block("former", &[SECOND_IDENTITY.1], ""),
    )
    .state;
    let text = strict.serialize_state(&state_with_secret()).unwrap();
    let readable = String::from_utf8(text.clone()).unwrap();
    let readable = readable.replace(&format!("sealed:age:{}", sealed_values(&text)[1]), "oops");
    let error = strict.parse_state(readable.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "t.a/a: the sensitive value is not encrypted");
    let copy = lenient.encrypt_file_text(readable.clone().into_bytes()).unwrap();
    assert!(!String::from_utf8_lossy(&copy).contains("oops") && sealed_values(&copy).len() == 2);
    assert_eq!(lenient.encrypt_file_text(text.clone()).unwrap(), text);
    for text in [readable.into_bytes(), state_with_secret().to_bytes()] {
        assert!(strict.parse_state(&text).is_err());
        let (read, is_current) = lenient.parse_checking_current_form(&text).unwrap();
        assert!(!is_current);
        assert!(
            lenient
                .parse_checking_current_form(&lenient.serialize_state(&read).unwrap())
                .unwrap()
                .1
        );
        // The copy of a readable state is sealed, regardless of its layout.
        let one_line = serde_json::to_vec(
            &serde_json::from_slice::<serde_json::Value>(&state_with_secret().to_bytes()).unwrap(),
        );
        let copy = lenient.encrypt_file_text(one_line.unwrap()).unwrap();
        assert!(read_sealed_header(&copy).is_some() && sealed_values(&copy).len() == 2);
    }
}

#[test]
fn states_move_between_the_methods() {
    let block = format!(
        "{}{}",
        block_with_pbkdf2(""),
        sealed_method_block("main", &[FIRST_IDENTITY.1], FIRST_IDENTITY.0)
    );
    let target = |first: &str, second: &str| {
        let target = format!(
            "state {{\n method = method.{first}.main\n fallback {{\n method = method.{second}.main\n }}\n}}"
        );
        encryption_of_block(&format!("{block}{target}")).unwrap().state
    };
    let (encrypted, sealed) = (target("aes_gcm", "sealed"), target("sealed", "aes_gcm"));
    for (source, destination) in [(&encrypted, &sealed), (&sealed, &encrypted)] {
        let text = source.serialize_state(&state_with_secret()).unwrap();
        assert_eq!(
            destination.parse_checking_current_form(&text).unwrap(),
            (state_with_secret(), false)
        );
        assert!(
            destination
                .parse_checking_current_form(
                    &destination.serialize_state(&state_with_secret()).unwrap()
                )
                .unwrap()
                .1
        );
        // A copy of a sealed state may have readable values, so it is encrypted again.
        let copy = destination.encrypt_file_text(text.clone()).unwrap();
        let is_kept = read_sealed_header(&text).is_none();
        assert_eq!(
            (copy == text, destination.parse_state(&copy).unwrap()),
            (is_kept, state_with_secret())
        );
    }
    let only = |target: &str| {
        let target = format!("state {{\n method = method.{target}.main\n}}");
        encryption_of_block(&format!("{block}{target}")).unwrap().state
    };
    let error = only("aes_gcm")
        .parse_state(&sealed.serialize_state(&state_with_secret()).unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("the encryption of `state` has no \"sealed\""), "{error}");
    let error = only("sealed")
        .parse_state(&encrypted.serialize_state(&state_with_secret()).unwrap())
        .unwrap_err()
        .to_string();
    assert!(error.contains("the encryption of `state` has no \"aes_gcm\""), "{error}");
}

#[test]
fn key_providers_and_methods_that_do_not_fit_are_reported() {
    let state = "state {\n  method = method.sealed.main\n}";
    let age = |arguments: &str| {
        errors_of_block(&format!(
            "key_provider \"age\" \"k\" {{\n{arguments}\n}}\nmethod \"sealed\" \"main\" {{\n  keys = key_provider.age.k\n}}\n{state}"
        ))
    };
    for (arguments, expected) in [
        ("", "The argument \"recipients\" of the block key_provider.age.k is required"),
        ("recipients = []", "is required"),
        ("recipients = [\"age1x\"]", "\"age1x\" in \"recipients\" is not an age or SSH public key"),
        (
            "recipients = [\"age1x\"]\nidentity = \"x\"\nidentity_file = \"y\"",
            "only one of the arguments \"identity\" and \"identity_file\" may be set",
        ),
        ("recipients = [\"age1x\"]\nother = 1", "An argument named \"other\" is not expected"),
    ] {
        let errors = age(arguments);
        assert!(errors.contains(expected), "{arguments}: {errors}");
    }
    let errors = errors_of_block(&block_with_pbkdf2(&format!(
        "method \"sealed\" \"main\" {{\n  keys = key_provider.pbkdf2.main\n}}\n{state}"
    )));
    assert!(errors.contains("must be a key provider of the type \"age\""), "{errors}");
    let errors = errors_of_block(&format!("method \"sealed\" \"main\" {{}}\n{state}"));
    assert!(errors.contains("The argument \"keys\" of the block method.sealed.main"), "{errors}");
    let errors = errors_of_block(&format!(
        "{}method \"aes_gcm\" \"x\" {{\n  keys = key_provider.age.k\n}}\nstate {{\n  method = method.aes_gcm.x\n}}",
        sealed_method_block("k", &[FIRST_IDENTITY.1], "")
    ));
    assert!(errors.contains("only a method of the type \"sealed\" can use"), "{errors}");
}

#[test]
fn only_a_command_that_shows_a_state_reads_it_without_an_identity_and_it_writes_none() {
    let text = sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
        .state
        .serialize_state(&state_with_secret())
        .unwrap();
    let without_identity = sealed_encryption(&[FIRST_IDENTITY.1], "", "").state;
    without_identity.parse_state(&text).unwrap_err();
    let redacted = without_identity.clone().with_sealed_values_hidden();
    let read = redacted.parse_state(&text).unwrap();
    assert_eq!(read.state.resources.len(), 1);
    assert!(
        redacted
            .serialize_state(&read)
            .unwrap_err()
            .to_string()
            .contains("without its sealed values")
    );
    assert!(redacted.write_state_to(&read, &mut Vec::new()).is_err());
    assert!(redacted.encrypt_file_text(text.clone()).is_err());
    // With an identity it reads all values.
    assert_eq!(
        sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
            .state
            .with_sealed_values_hidden()
            .parse_state(&text)
            .unwrap(),
        state_with_secret()
    );
    // A reader that can verify the state refuses one that was changed.
    let changed =
        String::from_utf8(text).unwrap().replace("\"lineage\": \"l\"", "\"lineage\": \"m\"");
    assert!(
        sealed_encryption(&[FIRST_IDENTITY.1], FIRST_IDENTITY.0, "")
            .state
            .with_sealed_values_hidden()
            .parse_state(changed.as_bytes())
            .is_err()
    );
}

#[test]
fn a_run_without_an_identity_for_its_own_values_is_refused_before_it_starts() {
    let check = |encryption: Encryption| {
        let mut diags = Diagnostics::new();
        let checked = encryption.state.check_identity_decrypts(&mut diags);
        checked.map_err(|_| {
            diags.iter().map(|diagnostic| diagnostic.detail.to_string()).collect::<String>()
        })
    };
    assert_eq!(
        check(sealed_encryption(&[FIRST_IDENTITY.1, SECOND_IDENTITY.1], SECOND_IDENTITY.0, "")),
        Ok(())
    );
    for identity in ["", SECOND_IDENTITY.0, "# nothing"] {
        let reason = check(sealed_encryption(&[FIRST_IDENTITY.1], identity, "")).unwrap_err();
        for part in ["method.sealed.main: ", "key_provider.age.main", "FORMWORK_AGE_IDENTITY_FILE"]
        {
            assert!(reason.contains(part), "{part}: {reason}");
        }
    }
    // A reader with the former key hands the state over to other recipients.
    assert_eq!(
        check(sealed_encryption(
            &[SECOND_IDENTITY.1],
            "",
            &sealed_method_block("former", &[FIRST_IDENTITY.1], FIRST_IDENTITY.0)
        )),
        Ok(())
    );
    assert!(
        check(sealed_encryption(
            &[SECOND_IDENTITY.1],
            "",
            &sealed_method_block("former", &[FIRST_IDENTITY.1], "")
        ))
        .is_err()
    );
    assert_eq!(check(Encryption::default()), Ok(()));
}
