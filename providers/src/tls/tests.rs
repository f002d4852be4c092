//! Requests and certificates through their lifecycles, verified with `openssl`.

use std::fs;
use std::path::Path;

use formwork_sdk::testing::{PlannedAction, TestObject};
use formwork_sdk::value::{Type, Value};

use super::provider;
use crate::test_program::run_test_program;

type Set = (&'static str, Value);

fn text(name: &'static str, text: &str) -> Set {
    (name, Value::string(text))
}

fn list(name: &'static str, items: &[&str]) -> Set {
    (name, Value::list(Type::String, items.iter().map(|item| Value::string(*item)).collect()))
}

fn int(name: &'static str, number: i64) -> Set {
    (name, Value::int(number))
}

fn truth(name: &'static str) -> Set {
    (name, Value::Bool(true))
}

fn subject(common_name: &str) -> Set {
    let null = || Value::null(Type::String);
    let subject = Value::object([
        ("common_name", Value::string(common_name)),
        ("organization", Value::string("ACME & Söhne")),
        ("organizational_unit", null()),
        ("street_address", Value::null(Type::list(Type::String))),
        ("locality", null()),
        ("province", null()),
        ("country", Value::string("DE")),
        ("postal_code", null()),
        ("serial_number", null()),
        ("email_address", Value::string("a@example.com")),
    ]);
    ("subject", Value::list(subject.ty(), vec![subject]))
}

async fn create_object(type_name: &str, config: impl IntoIterator<Item = Set>) -> TestObject {
    let mut object = TestObject::new(provider(), type_name).await.unwrap();
    assert_eq!(object.apply(config).await, Ok(PlannedAction::Create));
    object.upgrade_stored().await.unwrap();
    object
}

fn attribute_text(object: &TestObject, name: &str) -> String {
    match object.get(name) {
        Value::String(text) => text.as_str().to_owned(),
        other => panic!("{name} is {other:?}"),
    }
}

async fn key(algorithm: &str, curve: &str) -> String {
    let config = [text("algorithm", algorithm), text("ecdsa_curve", curve)];
    attribute_text(&create_object("tls_private_key", config).await, "private_key_pem")
}

fn authority(key: &str) -> Vec<Set> {
    vec![
        text("private_key_pem", key),
        int("validity_period_hours", 24),
        list("allowed_uses", &["cert_signing", "crl_signing"]),
        truth("is_ca_certificate"),
        truth("set_authority_key_id"),
        int("max_path_length", 0),
        subject("authority"),
    ]
}

const KEYS: [(&str, &str); 6] = [
    ("RSA", "P224"),
    ("ECDSA", "P224"),
    ("ECDSA", "P256"),
    ("ECDSA", "P384"),
    ("ECDSA", "P521"),
    ("ED25519", "P224"),
];

fn openssl_output(directory: &Path, command: &[&str], input: &str) -> String {
    run_test_program(directory, &[&["openssl"], command].concat(), input).unwrap_or_default()
}

#[tokio::test]
async fn openssl_verifies_certificates_of_an_authority() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (algorithm, curve) in KEYS {
        let key = key(algorithm, curve).await;
        let ca = create_object("tls_self_signed_cert", authority(&key)).await;
        let request = [
            text("private_key_pem", &key),
            subject("example.com"),
            list("dns_names", &["example.com", "*.example.com"]),
            list("ip_addresses", &["10.0.0.1", "::1"]),
            list("uris", &["spiffe://example.com/a"]),
        ];
        let request = create_object("tls_cert_request", request).await;
        assert_eq!(attribute_text(&request, "key_algorithm"), algorithm);
        let request = attribute_text(&request, "cert_request_pem");
        openssl_output(directory, &["req", "-verify", "-noout"], &request);
        let leaf = [
            text("ca_private_key_pem", &key),
            text("ca_cert_pem", &attribute_text(&ca, "cert_pem")),
            text("cert_request_pem", &request),
            int("validity_period_hours", 12),
            list("allowed_uses", &["server_auth", "client_auth", "digital_signature"]),
            truth("set_subject_key_id"),
        ];
        let leaf = create_object("tls_locally_signed_cert", leaf).await;
        assert_eq!(attribute_text(&leaf, "ca_key_algorithm"), algorithm);
        fs::write(directory.join("ca.pem"), attribute_text(&ca, "cert_pem")).unwrap();
        let leaf = attribute_text(&leaf, "cert_pem");
        let command = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem"];
        openssl_output(directory, &command, &leaf);
        let command = ["x509", "-noout", "-text", "-nameopt", "RFC2253,utf8,-esc_msb"];
        let output = openssl_output(directory, &command, &leaf);
        for expected in [
            "Subject: emailAddress=a@example.com,CN=example.com,O=ACME & Söhne,C=DE",
            "CN=authority",
            "Digital Signature",
            "TLS Web Server Authentication, TLS Web Client Authentication",
            "DNS:example.com, DNS:*.example.com, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, \
             URI:spiffe://example.com/a",
            "CA:FALSE",
        ] {
            assert!(output.is_empty() || output.contains(expected), "{expected}: {output}");
        }
    }
}

#[tokio::test]
async fn a_certificate_is_replaced_when_it_is_due_and_not_before() {
    let key = key("ED25519", "P224").await;
    let mut ca = create_object("tls_self_signed_cert", authority(&key)).await;
    let id = attribute_text(&ca, "id");
    let early = |hours| authority(&key).into_iter().chain([int("early_renewal_hours", hours)]);
    assert_eq!(ca.apply(early(0)).await, Ok(PlannedAction::Nothing));
    assert_eq!(ca.apply(early(5)).await, Ok(PlannedAction::Update));
    assert_eq!(attribute_text(&ca, "id"), id);
    assert_eq!(ca.get("ready_for_renewal"), &Value::Bool(false));
    assert_eq!(ca.apply(early(30)).await, Ok(PlannedAction::Replace));
    assert_ne!(attribute_text(&ca, "id"), id);
    assert_eq!(ca.get("ready_for_renewal"), &Value::Bool(true));
    assert_eq!(ca.apply(early(5)).await, Ok(PlannedAction::Update));
    assert_eq!(ca.get("ready_for_renewal"), &Value::Bool(false));
    assert_eq!(ca.apply(early(5)).await, Ok(PlannedAction::Nothing));
    ca.destroy().await.unwrap();
}

#[tokio::test]
async fn a_stored_path_length_is_kept() {
    let key = key("ED25519", "P224").await;
    let mut config = authority(&key);
    config.retain(|(name, _)| *name != "max_path_length");
    let stored = [config.clone(), vec![int("max_path_length", -1)]].concat();
    let mut ca = create_object("tls_self_signed_cert", stored).await;
    assert_eq!(ca.apply(config.clone()).await, Ok(PlannedAction::Nothing));
    assert_eq!(ca.get("max_path_length"), &Value::int(-1));
    let mut ca = create_object("tls_self_signed_cert", config.clone()).await;
    assert!(ca.get("max_path_length").is_null());
    assert_eq!(ca.apply(config.clone()).await, Ok(PlannedAction::Nothing));
    let early = [config, vec![int("early_renewal_hours", 2)]].concat();
    assert_eq!(ca.apply(early).await, Ok(PlannedAction::Update));
}

#[tokio::test]
async fn invalid_certificate_arguments_are_refused() {
    let (key, other_key) = (key("ED25519", "P224").await, key("ED25519", "P224").await);
    let arguments_with = |key: &str, with: Vec<Set>| {
        let base = [
            text("private_key_pem", key),
            int("validity_period_hours", 1),
            list("allowed_uses", &[]),
        ];
        base.into_iter().chain(with).collect::<Vec<_>>()
    };
    let self_signed = [
        (arguments_with("nothing", vec![]), "`private_key_pem` must be a private key in PEM"),
        (arguments_with(&key, vec![list("allowed_uses", &["fun"])]), "not \"fun\""),
        (arguments_with(&key, vec![list("ip_addresses", &["1.2.3"])]), "\"1.2.3\" is not one"),
        (arguments_with(&key, vec![list("uris", &["ü"])]), "\"ü\" has others"),
        (arguments_with(&key, vec![truth("is_ca_certificate")]), "Invalid Certificate Subject"),
        (
            arguments_with(&key, vec![truth("set_authority_key_id")]),
            "Invalid Certificate Authority",
        ),
        (
            arguments_with(&key, vec![int("validity_period_hours", i64::MAX)]),
            "beyond the year 9999",
        ),
        (arguments_with(&key, vec![int("validity_period_hours", -1)]), "at least 0"),
    ];
    for (config, expected) in self_signed {
        let mut object = TestObject::new(provider(), "tls_self_signed_cert").await.unwrap();
        let refusal = object.apply(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
    let ca = create_object("tls_self_signed_cert", authority(&key)).await;
    let request = create_object("tls_cert_request", [text("private_key_pem", &key)]).await;
    let (ca, request) =
        (attribute_text(&ca, "cert_pem"), attribute_text(&request, "cert_request_pem"));
    let locally = |key: &str, ca: &str, request: &str| {
        [
            text("ca_private_key_pem", key),
            text("ca_cert_pem", ca),
            text("cert_request_pem", request),
            int("validity_period_hours", 1),
            list("allowed_uses", &[]),
        ]
    };
    let local = [
        (locally(&other_key, &ca, &request), "not for its key"),
        (locally(&key, &request, &request), "invalid PEM type - expected \"CERTIFICATE\""),
        (locally(&key, &ca, &ca), "`cert_request_pem` must be a certificate request"),
        (locally("", &ca, &request), "`ca_private_key_pem` must be a private key"),
    ];
    for (config, expected) in local {
        let mut object = TestObject::new(provider(), "tls_locally_signed_cert").await.unwrap();
        let refusal = object.apply(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
}
