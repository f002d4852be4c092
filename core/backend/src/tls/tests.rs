//! Certificates as users create them with `openssl`, and as Terraform accepts them.

use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use time::OffsetDateTime;

use rustls::pki_types::{ServerName, UnixTime};

use super::client_tls::{ClientTls, TlsSettings};
use super::*;

/// An X.509 version 1 certificate, as created by `openssl x509 -req`, and its key.
const VERSION_1: (&str, &str) = (
    "-----BEGIN CERTIFICATE-----
MIIBGjCBwQIUcWn6q0zIRDHTZsMy1QKRp04XY9EwCgYIKoZIzj0EAwIwDTELMAkG
A1UEAwwCY2EwIBcNMjYxMTI4MDA0NzMyWhgPMjEyNjExMDQwMDQ3MzJaMBExDzAN
BgNVBAMMBmNsaWVudDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLug967KiQev
+uFifnh6aLl6V4V7fEIB0vXsHCGb0fQPVdcGTsVejGfiS/FnC+1ttiKJjAWs8QNe
0ltNVQm0n84wCgYIKoZIzj0EAwIDSAAwRQIhAN9udLS13YNRQ3rmV/G6O9nM6bjj
RSAHDljmUrqjmI4nAiBxOIhCt8lDNy4F/NnKXjbeQ08ErC2fTPg4HKXNdXyxBA==
-----END CERTIFICATE-----
",
    "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgggiYXBPcujlkWC/R
prYg9TeqrajgXl0GaXYMSVYX/kihRANCAAS7oPeuyokHr/rhYn54emi5eleFe3xC
AdL17Bwhm9H0D1XXBk7FXoxn4kvxZwvtbbYiiYwFrPEDXtJbTVUJtJ/O
-----END PRIVATE KEY-----
",
);

/// A self-signed certificate, as created by `openssl req -x509`, and its key.
fn self_signed(is_ca: bool) -> (rcgen::Certificate, KeyPair) {
    let mut params = CertificateParams::new(["state.test".to_owned()]).unwrap();
    if is_ca {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    params.not_before = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    params.not_after = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(3_000_000);
    let key = KeyPair::generate().unwrap();
    (params.self_signed(&key).unwrap(), key)
}

#[test]
fn a_certificate_of_a_client_is_checked_against_its_key() {
    let (certificate, key) = self_signed(false);
    let (own_certificate, own_key) = (certificate.pem(), key.serialize_pem());
    let (old_certificate, old_key) = VERSION_1;
    let mismatch = Some(
        "cannot load client certificate: the private key does not match the public key of the certificate",
    );
    for (certificate, key, expected) in [
        (own_certificate.as_str(), own_key.as_str(), None),
        (old_certificate, old_key, None),
        (&own_certificate, old_key, mismatch),
        (old_certificate, &own_key, mismatch),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            old_key,
            Some("cannot load client certificate: the first certificate cannot be read"),
        ),
        ("", old_key, Some("cannot load client certificate: there is none")),
        (old_certificate, "", Some("cannot load client private key: no items found")),
    ] {
        let identity = Some((certificate.to_owned(), key.to_owned()));
        let client_tls = ClientTls::new(&TlsSettings { identity, ..TlsSettings::default() });
        let error = client_tls.err().map(|error| error.message);
        assert_eq!(error.as_deref(), expected, "{certificate}");
    }
}

#[test]
fn a_server_may_present_a_trusted_root_as_its_certificate() {
    let inside = 2_000_000;
    for is_ca in [true, false] {
        let (certificate, _) = self_signed(is_ca);
        let (other_certificate, _) = self_signed(is_ca);
        for (trusted, name, unix_time, expected) in [
            (&certificate, "state.test", inside, Ok(())),
            (&certificate, "other.test", inside, Err("not valid for name")),
            (&certificate, "state.test", 4_000_000, Err("expired")),
            (&certificate, "state.test", 0, Err("not valid yet")),
            (&other_certificate, "state.test", inside, Err("")),
        ] {
            let verifier = authority_verifier(vec![trusted.der().clone()]).unwrap();
            let name = ServerName::try_from(name).unwrap();
            let unix_time = UnixTime::since_unix_epoch(Duration::from_secs(unix_time));
            let verdict =
                verifier.verify_server_cert(certificate.der(), &[], &name, &[], unix_time);
            match (verdict.map(drop).map_err(|error| error.to_string()), expected) {
                (Ok(()), Ok(())) => {}
                (Err(error), Err(part)) if error.contains(part) => {}
                (verdict, _) => panic!("{is_ca} {name:?} {unix_time:?}: {verdict:?}"),
            }
        }
    }
}

#[test]
fn certificates_of_authorities_that_cannot_be_read_are_an_error() {
    for (pem, expected) in [
        ("", "no CA certificate is found in the PEM text"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "the CA certificates cannot be used: no root trust anchors were provided",
        ),
    ] {
        let authorities = Some(pem.to_owned());
        let client_tls = ClientTls::new(&TlsSettings { authorities, ..TlsSettings::default() });
        assert_eq!(client_tls.unwrap_err().message, expected);
    }
}
