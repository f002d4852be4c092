//! Two sides with each other's certificate connect, others do not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use rustls::server::ParsedCertificate;
use rustls::{ClientConnection, ProtocolVersion, ServerConnection, SignatureScheme};

use super::*;

/// Runs the handshakes of two sides until both are complete or one is refused. Returns the client's end.
fn connect(
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
) -> Result<ClientConnection, rustls::Error> {
    let name = ServerName::try_from(TLS_SERVER_NAME).expect("a valid name");
    let mut client = ClientConnection::new(client, name)?;
    let mut server = ServerConnection::new(server)?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).expect("a vector takes everything");
        server.read_tls(&mut bytes.as_slice()).expect("a slice can be read");
        server.process_new_packets()?;
        let mut bytes = Vec::new();
        server.write_tls(&mut bytes).expect("a vector takes everything");
        client.read_tls(&mut bytes.as_slice()).expect("a slice can be read");
        client.process_new_packets()?;
    }
    Ok(client)
}

fn identity() -> TlsIdentity {
    TlsIdentity::generate().expect("a certificate can be made")
}

#[test]
fn a_host_and_a_plugin_with_pinned_certificates_connect() {
    let (host, plugin) = (identity(), identity());
    let client = client_config(&host, plugin.certificate_der().to_vec()).expect("a client");
    let server = server_config(&plugin, host.certificate_pem()).expect("a server");
    let connection = connect(client, server).expect("both are who they say");
    assert_eq!(connection.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    // gRPC needs HTTP/2, and newer versions of grpc-go refuse a peer that does not name it here.
    assert_eq!(connection.alpn_protocol(), Some(b"h2".as_slice()));
}

#[test]
fn a_host_refuses_another_plugin() {
    let (host, plugin, stranger) = (identity(), identity(), identity());
    let client = client_config(&host, plugin.certificate_der().to_vec()).expect("a client");
    let server = server_config(&stranger, host.certificate_pem()).expect("a server");
    let error = connect(client, server).expect_err("the certificate is another");
    assert!(matches!(error, rustls::Error::InvalidCertificate(_)), "{error}");
}

#[test]
fn a_plugin_refuses_another_host() {
    let (host, plugin, stranger) = (identity(), identity(), identity());
    let client = client_config(&stranger, plugin.certificate_der().to_vec()).expect("a client");
    let server = server_config(&plugin, host.certificate_pem()).expect("a server");
    let error = connect(client, server).expect_err("the certificate is another");
    assert!(matches!(error, rustls::Error::InvalidCertificate(_)), "{error}");
}

#[test]
fn a_plugin_refuses_a_host_without_a_certificate() {
    let (host, plugin) = (identity(), identity());
    let server = server_config(&plugin, host.certificate_pem()).expect("a server");
    let provider = crypto_provider();
    // Created here, because the clients of this library always send a certificate.
    let pin = PinnedVerifier::new(plugin.certificate.clone(), &provider);
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions are known")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pin))
        .with_no_client_auth();
    let error = connect(Arc::new(client), server).expect_err("nothing was shown");
    assert_eq!(error, rustls::Error::NoCertificatesPresented);
}

#[test]
fn a_host_certificate_that_is_no_certificate_is_an_error() {
    let error = server_config(&identity(), "-----BEGIN nothing").expect_err("not PEM");
    assert!(error.to_string().contains("PLUGIN_CLIENT_CERT"), "{error}");
}

#[test]
fn the_certificate_has_the_same_fields_as_terraforms() {
    let der = identity().certificate_der().to_vec();
    // 595 bytes is terraform's; the subject differs.
    assert!((550..650).contains(&der.len()), "{}", der.len());
    let certificate = CertificateDer::from(der);
    let parsed = ParsedCertificate::try_from(&certificate).expect("it can be read");
    let name = ServerName::try_from(TLS_SERVER_NAME).expect("a valid name");
    rustls::client::verify_server_name(&parsed, &name).expect("it is for localhost");
}

// Created with openssl: a 1024-bit certificate, and PKCS #1 with SHA-256 over "a handshake".
const WEAK_CERTIFICATE: &str = "\
    MIICHDCCAYWgAwIBAgIUMJ56HqdwOHcrVA1ra3oRJcAl4uowDQYJKoZIhvcNAQELBQAwFDESMBAGA1UEAwwJbG9jYWxob3N0\
    MCAXDTI2MTEyMTE0MDI1M1oYDzIxMjYxMDI4MTQwMjUzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwgZ8wDQYJKoZIhvcNAQEB\
    BQADgY0AMIGJAoGBAMS4aZA9X3SsoHNUTIHEXZzXIUXnQQlZ4outouL+fHGpXJOBGrtwg8LAXWLaz2Lc3VzZ8CtyfpD06oX/\
    x3ETrWyqlY5V99SKimhXQ4OIwr4Ljkw0n3QcE74S7atPwg/jBiEcthdiTbXizURtR45WfH5JOt7oGTn1YCWoJjOUNvTjAgMB\
    AAGjaTBnMB0GA1UdDgQWBBTT4jAoc7I65hh6jNInEcaBPBCdNzAfBgNVHSMEGDAWgBTT4jAoc7I65hh6jNInEcaBPBCdNzAP\
    BgNVHRMBAf8EBTADAQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDANBgkqhkiG9w0BAQsFAAOBgQBjejiP9aW0TuyngRnXftFM\
    bxoNju9bHW9RwOp7UKIqXSWyejVgubVd7RrBrkc19Ncjj8YSDGxHADJRj58WBF0RF8AmYae7wpSnAi7PpGSDN+YxoPfJBfdk\
    yzHrtSXCl/n2bmOcD57pakeYIUMqquaRLef0OYdV3PK2WX6C4S4pyg==";
const WEAK_SIGNATURE: &str = "\
    ab962eT/LTvolbH3zL3mtmqvTS4JwYTQBGb6xbGWRTjJRKgPADzM+w/0L4cfChWxHMp4DCFr5VOXr3qSI+4UJOJrvDkhLNOP\
    7P8M7+gXLe619EnGoMWuNBYcit/NwDS5/yP1O9g6bM3oHFZUtKw6dF++m3S5BeUgWwnAWZ58tus=";

fn weak_certificate() -> CertificateDer<'static> {
    STANDARD.decode(WEAK_CERTIFICATE).expect("base64").into()
}

#[test]
fn only_a_short_rsa_key_counts_as_weak() {
    assert!(weak_rsa::has_weak_rsa_key(&weak_certificate()));
    assert!(!weak_rsa::has_weak_rsa_key(&identity().certificate));
}

#[test]
fn signatures_with_a_short_key_are_verified() {
    let signature = STANDARD.decode(WEAK_SIGNATURE).expect("base64");
    let verify = |message: &[u8], scheme| {
        weak_rsa::verify_weak_rsa_signature(message, &weak_certificate(), scheme, &signature)
            .is_ok()
    };
    assert!(verify(b"a handshake", SignatureScheme::RSA_PKCS1_SHA256));
    assert!(!verify(b"another handshake", SignatureScheme::RSA_PKCS1_SHA256));
    assert!(!verify(b"a handshake", SignatureScheme::RSA_PKCS1_SHA512));
    assert!(!verify(b"a handshake", SignatureScheme::RSA_PSS_SHA256));
}

#[test]
fn a_host_uses_tls_1_2_for_a_plugin_with_a_weak_key() {
    let weak = client_config(&identity(), weak_certificate().to_vec()).expect("a client");
    let plugin = identity();
    let server = server_config(&plugin, plugin.certificate_pem()).expect("a server");
    // The server's own certificate is P-521, with which TLS 1.2 has no signature in common here; TLS
    // 1.3 would, and refuse it for being another one.
    let error = connect(weak, server).expect_err("TLS 1.2 has no such signature");
    assert!(matches!(error, rustls::Error::PeerIncompatible(_)), "{error}");
}
