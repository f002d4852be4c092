//! Encrypted connections with a real server, with certificates from the included `tls` provider.

use std::fs;

use formwork_sdk::prelude::*;
use formwork_sdk::testing::TestObject;
use formwork_sdk::value::{Type, Value};
use tempfile::TempDir;

use super::super::connection_encryption::ClientCertificateDraft;
use super::super::server::{PostgresqlConfigModelDraft, PostgresqlServer};
use super::installed::Installed;
use super::real::program;
use super::{Set, list, text, truth};

/// Creates an object of the `tls` provider; returns one of its attributes.
async fn created_attribute(kind: &str, config: Vec<Set>, attribute: &str) -> String {
    let mut object = TestObject::new(crate::tls::provider(), kind).await.unwrap();
    object.apply(config).await.unwrap();
    match object.get(attribute) {
        Value::String(text) => text.as_str().to_owned(),
        other => panic!("{attribute} is {other:?}"),
    }
}

async fn key() -> String {
    let config = vec![text("algorithm", "ECDSA"), text("ecdsa_curve", "P256")];
    created_attribute("tls_private_key", config, "private_key_pem").await
}

fn called(name: &str) -> Set {
    let list_of_texts = Value::null(Type::list(Type::String));
    let rest = ["organization", "organizational_unit", "locality", "province", "country"];
    let rest = rest.into_iter().chain(["postal_code", "serial_number", "email_address"]);
    let rest = rest.map(|name| (name, Value::null(Type::String)));
    let names = [("common_name", Value::string(name)), ("street_address", list_of_texts)];
    let subject = Value::object(rest.chain(names));
    ("subject", Value::list(subject.ty(), vec![subject]))
}

/// A certificate authority.
struct Authority {
    key: String,
    cert: String,
}

impl Authority {
    async fn new(name: &str) -> Self {
        let key = key().await;
        let config = vec![
            text("private_key_pem", &key),
            ("validity_period_hours", Value::int(1)),
            list("allowed_uses", &["cert_signing"]),
            truth("is_ca_certificate", true),
            called(name),
        ];
        Self { cert: created_attribute("tls_self_signed_cert", config, "cert_pem").await, key }
    }

    /// A certificate of that name, and its key.
    async fn sign(&self, name: &str, usage: &str) -> [String; 2] {
        let key = key().await;
        let request = vec![text("private_key_pem", &key), list("dns_names", &[name]), called(name)];
        let request = created_attribute("tls_cert_request", request, "cert_request_pem").await;
        let config = vec![
            text("ca_private_key_pem", &self.key),
            text("ca_cert_pem", &self.cert),
            text("cert_request_pem", &request),
            ("validity_period_hours", Value::int(1)),
            list("allowed_uses", &[usage]),
        ];
        [created_attribute("tls_locally_signed_cert", config, "cert_pem").await, key]
    }
}

/// A server that encrypts on request, and rejects the password of one role.
fn encrypting(cert: &str, key: &str, authority: &str) -> Option<Installed> {
    let access =
        "hostssl all certified all cert\nhost all certified all reject\nhost all all all trust\n";
    let files = [
        ("server.crt", cert),
        ("server.key", key),
        ("authority.crt", authority),
        ("pg_hba.conf", access),
    ];
    Installed::start(program, &["ssl=on", "ssl_ca_file=authority.crt"], &files)
}

/// Whether a connection with these settings is encrypted, or the error that prevents it.
async fn connected(port: u16, mut settings: PostgresqlConfigModelDraft) -> Result<bool, String> {
    settings.port = i64::from(port).into();
    settings.connect_timeout = 60_i64.into();
    ask(settings).await.map_err(|problem| format!("{problem:?}\n"))
}

async fn ask(settings: PostgresqlConfigModelDraft) -> Answer<bool> {
    let server = PostgresqlServer::default();
    server.configure(&settings)?;
    let (_switch, stop) = Stop::new();
    let session = server.connect(None, &stop).await?;
    let query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    Ok(session.query_first_row(query, &[]).await?.is_some_and(|row| row.get(0)))
}

fn written(directory: &TempDir, name: &str, text: &str) -> String {
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn each_mode_verifies_the_documented_certificates() {
    let (authority, stranger) =
        (Authority::new("authority").await, Authority::new("stranger").await);
    let [cert, key] = authority.sign("localhost", "server_auth").await;
    let Some(server) = encrypting(&cert, &key, &authority.cert) else { return };
    let directory = tempfile::tempdir().unwrap();
    let authority_file = written(&directory, "known.pem", &authority.cert);
    let strange = written(&directory, "strange.pem", &stranger.cert);
    let empty = written(&directory, "empty.pem", "");
    // Mode, trust file, host; whether the connection is encrypted, or the error.
    type Row<'r> = (&'r str, Option<&'r str>, &'r str, Result<bool, &'r str>);
    let table: [Row<'_>; 13] = [
        ("disable", None, "127.0.0.1", Ok(false)),
        ("prefer", None, "127.0.0.1", Ok(true)),
        ("require", None, "127.0.0.1", Ok(true)),
        ("require", Some(&authority_file), "127.0.0.1", Ok(true)),
        ("require", Some(&strange), "127.0.0.1", Err("UnknownIssuer")),
        ("verify-ca", Some(&authority_file), "127.0.0.1", Ok(true)),
        ("verify-ca", Some(&strange), "localhost", Err("UnknownIssuer")),
        ("verify-ca", None, "localhost", Err("UnknownIssuer")),
        ("verify-full", Some(&authority_file), "localhost", Ok(true)),
        ("verify-full", Some(&authority_file), "127.0.0.1", Err("not valid for name")),
        ("verify-full", None, "localhost", Err("UnknownIssuer")),
        ("verify-full", Some(&empty), "localhost", Err("holds no certificate in PEM")),
        ("verify-full", Some("none.pem"), "localhost", Err("none.pem cannot be read")),
    ];
    for (mode, authorities, host, expected) in table {
        let mut settings = PostgresqlConfigModelDraft::default();
        settings.host = host.into();
        settings.sslmode = mode.into();
        settings.sslrootcert = authorities.map(str::to_owned).into();
        let outcome = connected(server.port, settings).await;
        match (&outcome, expected) {
            (Ok(outcome), Ok(expected)) => assert_eq!(*outcome, expected, "{mode} {authorities:?}"),
            (Err(outcome), Err(expected)) if outcome.contains(expected) => {}
            _ => panic!("{mode} {authorities:?} {host}: {outcome:?}, not {expected:?}"),
        }
    }
}

#[tokio::test]
async fn a_self_signed_server_certificate_can_be_trusted() {
    let authority = Authority::new("localhost").await;
    let Some(server) = encrypting(&authority.cert, &authority.key, &authority.cert) else { return };
    let directory = tempfile::tempdir().unwrap();
    let authority_file = written(&directory, "known.pem", &authority.cert);
    for (mode, expected) in [("verify-ca", true), ("verify-full", false)] {
        let mut settings = PostgresqlConfigModelDraft::default();
        settings.host = "127.0.0.1".into();
        settings.sslmode = mode.into();
        settings.sslrootcert = authority_file.as_str().into();
        // The certificate contains no host name.
        let outcome = connected(server.port, settings).await;
        assert_eq!(outcome.is_ok(), expected, "{mode}: {outcome:?}");
    }
}

#[tokio::test]
async fn an_unencrypted_server_is_accepted_only_if_configured() {
    let Some(server) = Installed::start(program, &[], &[]) else { return };
    for (mode, expected) in [("disable", Ok(false)), ("prefer", Ok(false)), ("require", Err(()))] {
        let mut settings = PostgresqlConfigModelDraft::default();
        settings.host = "127.0.0.1".into();
        settings.sslmode = mode.into();
        let outcome = connected(server.port, settings).await;
        assert_eq!(outcome.clone().map_err(|_| ()), expected, "{mode}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_client_certificate_authenticates_the_user() {
    let authority = Authority::new("localhost").await;
    let [cert, key] = authority.sign("localhost", "server_auth").await;
    let Some(server) = encrypting(&cert, &key, &authority.cert) else { return };
    let mut first = PostgresqlConfigModelDraft::default();
    first.host = "127.0.0.1".into();
    assert_eq!(connected(server.port, first).await, Ok(true));
    let [cert, key] = authority.sign("certified", "client_auth").await;
    let directory = tempfile::tempdir().unwrap();
    let files = [written(&directory, "cert.pem", &cert), written(&directory, "key.pem", &key)];
    // The role does not exist, but authentication is checked first.
    let table = [
        (None, "client certificate"),
        (Some((files, false)), "role \"certified\" does not exist"),
        (Some(([cert, key], true)), "role \"certified\" does not exist"),
    ];
    for (presented, expected) in table {
        let mut settings = PostgresqlConfigModelDraft::default();
        settings.host = "127.0.0.1".into();
        settings.username = "certified".into();
        settings.clientcert = presented
            .map(|([cert, key], inline)| {
                let (cert, key, sslinline) = (cert.into(), key.into(), inline.into());
                vec![ClientCertificateDraft { cert, key, sslinline }]
            })
            .into();
        let problem = connected(server.port, settings).await.unwrap_err();
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
}
