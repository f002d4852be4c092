//! A certificate as a data source shows it.

use formwork_sdk::prelude::*;
use rsa::BigUint;
use x509_cert::certificate::{Certificate as X509, Version};
use x509_cert::der::Decode as _;
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::ext::pkix::BasicConstraints;
use x509_cert::time::Time;

use super::distinguished_name;
use super::issue_certificate::find_extension;
use super::key::{KeyError, encode_pem};
use crate::digest::{sha1, to_hex};

/// Attributes of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Nested)]
pub(super) struct ShownCertificate {
    /// Signature algorithm.
    #[attr(computed)]
    signature_algorithm: String,
    /// The algorithm of its key.
    #[attr(computed)]
    public_key_algorithm: String,
    /// The serial number.
    #[attr(computed)]
    serial_number: String,
    /// Whether it is a CA certificate.
    #[attr(computed)]
    is_ca: bool,
    /// Maximum number of intermediate certificates below it: -1 for any number, 0 if it does not
    /// specify one.
    #[attr(computed)]
    max_path_length: i64,
    /// The version of its form.
    #[attr(computed)]
    version: i64,
    /// Issuer.
    #[attr(computed)]
    issuer: String,
    /// The subject.
    #[attr(computed)]
    subject: String,
    /// When it begins to be valid.
    #[attr(computed)]
    not_before: String,
    /// When it ends to be valid.
    #[attr(computed)]
    not_after: String,
    /// The SHA-1 fingerprint.
    #[attr(computed)]
    sha1_fingerprint: String,
    /// The certificate in PEM.
    #[attr(computed)]
    cert_pem: String,
}

impl ShownCertificate {
    /// Reads a certificate in DER.
    pub(super) fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let certificate = X509::from_der(der)?;
        let signed = &certificate.tbs_certificate;
        let constraints = find_extension::<BasicConstraints>(signed);
        let length = constraints.as_ref().map(|constraints| constraints.path_len_constraint);
        let key = &signed.subject_public_key_info.algorithm.oid;
        Ok(Self {
            signature_algorithm: algorithm_name(
                &SIGNATURE_ALGORITHM_NAMES,
                &certificate.signature_algorithm.oid,
            ),
            public_key_algorithm: algorithm_name(&KEY_ALGORITHM_NAMES, key),
            serial_number: BigUint::from_bytes_be(signed.serial_number.as_bytes()).to_string(),
            is_ca: constraints.is_some_and(|constraints| constraints.ca),
            max_path_length: length.map_or(0, |length| length.map_or(-1, i64::from)),
            version: match signed.version {
                Version::V1 => 1,
                Version::V2 => 2,
                Version::V3 => 3,
            },
            issuer: distinguished_name::format_distinguished_name(&signed.issuer),
            subject: distinguished_name::format_distinguished_name(&signed.subject),
            not_before: format_certificate_time(&signed.validity.not_before),
            not_after: format_certificate_time(&signed.validity.not_after),
            sha1_fingerprint: to_hex(&sha1(der)),
            cert_pem: encode_pem("CERTIFICATE", der)?,
        })
    }
}

const KEY_ALGORITHM_NAMES: [(&str, &str); 4] = [
    ("1.2.840.113549.1.1.1", "RSA"),
    ("1.2.840.10040.4.1", "DSA"),
    ("1.2.840.10045.2.1", "ECDSA"),
    ("1.3.101.112", "Ed25519"),
];

const SIGNATURE_ALGORITHM_NAMES: [(&str, &str); 12] = [
    ("1.2.840.113549.1.1.4", "MD5-RSA"),
    ("1.2.840.113549.1.1.5", "SHA1-RSA"),
    ("1.2.840.113549.1.1.11", "SHA256-RSA"),
    ("1.2.840.113549.1.1.12", "SHA384-RSA"),
    ("1.2.840.113549.1.1.13", "SHA512-RSA"),
    ("1.2.840.113549.1.1.10", "SHA256-RSAPSS"),
    ("2.16.840.1.101.3.4.3.2", "DSA-SHA256"),
    ("1.2.840.10045.4.1", "ECDSA-SHA1"),
    ("1.2.840.10045.4.3.2", "ECDSA-SHA256"),
    ("1.2.840.10045.4.3.3", "ECDSA-SHA384"),
    ("1.2.840.10045.4.3.4", "ECDSA-SHA512"),
    ("1.3.101.112", "Ed25519"),
];

/// The name of an algorithm; `0` for one without a name, as the public provider has it.
fn algorithm_name(names: &[(&str, &str)], oid: &ObjectIdentifier) -> String {
    let oid = oid.to_string();
    let name = names.iter().find(|(known_oid, _)| *known_oid == oid);
    name.map_or("0", |(_, name)| name).to_owned()
}

fn format_certificate_time(time: &Time) -> String {
    time.to_date_time().to_string()
}
