//! Creates and signs certificates and certificate requests. The resources define the arguments that
//! authors may set.

use std::time::Duration;

use formwork_sdk::prelude::*;
use x509_cert::attr::Attribute;
use x509_cert::certificate::{Certificate, TbsCertificate, Version};
use x509_cert::der::asn1::{BitString, GeneralizedTime, OctetString, SetOfVec, UtcTime};
use x509_cert::der::oid::AssociatedOid;
use x509_cert::der::{Decode as _, Encode};
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, SubjectAltName, SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, Extensions};
use x509_cert::name::Name;
use x509_cert::request::{self, CertReq, CertReqInfo, ExtensionReq};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::SubjectPublicKeyInfoOwned;
use x509_cert::time::{Time, Validity};

use super::key::{KeyError, PrivateKey, encode_pem};
use super::key_usage;
use crate::decode_pem::first_pem_block;
use crate::digest::sha1;

/// Subject of a certificate.
pub(super) struct CertificateSubject {
    pub(super) name: Name,
    /// The extension with other names.
    pub(super) alternatives: Option<Extension>,
    pub(super) key: SubjectPublicKeyInfoOwned,
}

/// Signer of a certificate.
pub(super) struct Issuer<'k> {
    pub(super) name: Name,
    pub(super) key: &'k PrivateKey,
    /// Key identifier in the certificates that it signs.
    pub(super) key_id: Option<Vec<u8>>,
}

/// Validity, permitted uses and role of a certificate that is to be issued.
pub(super) struct CertificateTerms<'t> {
    /// Since when it is valid, since 1970.
    pub(super) from: Duration,
    pub(super) until: Duration,
    pub(super) uses: &'t [String],
    pub(super) is_ca: bool,
    /// Greatest number of certificates below it.
    pub(super) max_path_length: Option<i64>,
    pub(super) has_subject_key_id: bool,
}

/// An issued certificate.
pub(super) struct IssuedCertificate {
    /// The serial number.
    pub(super) serial: String,
    pub(super) pem: String,
}

/// Issues a certificate.
pub(super) fn issue_certificate(
    terms: &CertificateTerms<'_>,
    holder: CertificateSubject,
    issuer: &Issuer<'_>,
) -> Result<IssuedCertificate, KeyError> {
    let mut extensions = key_usage::key_use_extensions(terms.uses)?;
    // A certificate that signs none has no limit, and -1 means any number.
    let length = terms.max_path_length.filter(|_| terms.is_ca);
    let path_len_constraint = length.and_then(|length| u8::try_from(length).ok());
    let constraints = BasicConstraints { ca: terms.is_ca, path_len_constraint };
    extensions.push(encode_extension(true, &constraints)?);
    if terms.has_subject_key_id {
        let id = SubjectKeyIdentifier(OctetString::new(key_identifier(&holder.key))?);
        extensions.push(encode_extension(false, &id)?);
    }
    if let Some(id) = &issuer.key_id {
        let key_identifier = Some(OctetString::new(id.clone())?);
        let id = AuthorityKeyIdentifier { key_identifier, ..AuthorityKeyIdentifier::default() };
        extensions.push(encode_extension(false, &id)?);
    }
    extensions.extend(holder.alternatives);
    let number: u128 = rand::random();
    let signature = issuer.key.signature_algorithm();
    let tbs_certificate = TbsCertificate {
        version: Version::V3,
        serial_number: SerialNumber::new(&number.to_be_bytes())?,
        signature: signature.clone(),
        issuer: issuer.name.clone(),
        validity: Validity {
            not_before: to_certificate_time(terms.from)?,
            not_after: to_certificate_time(terms.until)?,
        },
        subject: holder.name,
        subject_public_key_info: holder.key,
        issuer_unique_id: None,
        subject_unique_id: None,
        extensions: Some(extensions),
    };
    let signed = issuer.key.sign(&tbs_certificate.to_der()?)?;
    let signature_bits = BitString::from_bytes(&signed)?;
    let certificate =
        Certificate { tbs_certificate, signature_algorithm: signature, signature: signature_bits };
    let pem = encode_pem("CERTIFICATE", &certificate.to_der()?)?;
    Ok(IssuedCertificate { serial: number.to_string(), pem })
}

/// Checks that an authority has a name: RFC 5280 demands one, as its signatures name it.
pub(super) fn check_authority_has_name(is_ca: bool, name: &Name) -> Answer<()> {
    if !is_ca || !name.is_empty() {
        return Ok(());
    }
    let detail =
        "A certificate with `is_ca_certificate` needs a `subject` with at least one argument.";
    Err(Problem::new("Invalid Certificate Subject", detail))
}

/// Creates a certificate request; returns its DER form.
pub(super) fn create_cert_request(
    name: Name,
    alternatives: Option<Extension>,
    key: &PrivateKey,
) -> Result<Vec<u8>, KeyError> {
    let requested =
        alternatives.map(|extension| Attribute::try_from(ExtensionReq(vec![extension])));
    let attributes: Vec<_> = requested.transpose()?.into_iter().collect();
    let info = CertReqInfo {
        version: request::Version::V1,
        subject: name,
        public_key: key.public_key_info()?,
        attributes: SetOfVec::try_from(attributes)?,
    };
    let signature = BitString::from_bytes(&key.sign(&info.to_der()?)?)?;
    Ok(CertReq { info, algorithm: key.signature_algorithm(), signature }.to_der()?)
}

/// Subject of the certificate in a request.
pub(super) fn subject_of_request(pem: &str) -> Result<CertificateSubject, KeyError> {
    let request = CertReq::from_der(&decode_pem_with_label("CERTIFICATE REQUEST", pem)?)?;
    let mut alternatives = None;
    for attribute in
        request.info.attributes.iter().filter(|candidate| candidate.oid == ExtensionReq::OID)
    {
        for value in attribute.values.iter() {
            let extensions: Extensions = value.decode_as()?;
            let names =
                extensions.into_iter().find(|candidate| candidate.extn_id == SubjectAltName::OID);
            alternatives = names.or(alternatives);
        }
    }
    let (name, key) = (request.info.subject, request.info.public_key);
    // RFC 5280: without a subject name, the alternative names identify the subject.
    let alternatives =
        alternatives.map(|candidate| Extension { critical: name.is_empty(), ..candidate });
    Ok(CertificateSubject { name, alternatives, key })
}

/// Reads a certificate.
pub(super) fn parse_certificate(pem: &str) -> Result<Certificate, KeyError> {
    Ok(Certificate::from_der(&decode_pem_with_label("CERTIFICATE", pem)?)?)
}

/// Checks an attribute whose value is a certificate.
pub(super) fn check_certificate_pem(pem: &impl AsRef<str>) -> Result<(), String> {
    let read = parse_certificate(pem.as_ref());
    read.map(drop).map_err(|error| format!("must be a certificate in PEM: {error}"))
}

/// Checks an attribute whose value is a request for a certificate.
pub(super) fn check_cert_request_pem(pem: &impl AsRef<str>) -> Result<(), String> {
    let requested = subject_of_request(pem.as_ref());
    requested.map(drop).map_err(|error| format!("must be a certificate request in PEM: {error}"))
}

/// Content of the first block of a PEM text, whose label must be the given one.
pub(super) fn decode_pem_with_label(label: &str, pem: &str) -> Result<Vec<u8>, KeyError> {
    let Some(block) = first_pem_block(pem) else {
        let reason =
            format!("failed to decode PEM of expected type {label:?}: there is no PEM block");
        return Err(KeyError::Malformed(reason));
    };
    if block.label == label {
        return Ok(block.content);
    }
    let actual_label = block.label;
    Err(KeyError::Malformed(format!("invalid PEM type - expected {label:?}, got {actual_label:?}")))
}

/// Identifier of a key in certificates, if it has one.
pub(super) fn key_identifier(key: &SubjectPublicKeyInfoOwned) -> Vec<u8> {
    sha1(key.subject_public_key.raw_bytes()).to_vec()
}

/// The extension of a kind, read.
pub(super) fn find_extension<'c, T>(certificate: &'c TbsCertificate) -> Option<T>
where
    T: AssociatedOid + x509_cert::der::Decode<'c>,
{
    certificate.get::<T>().ok().flatten().map(|(_, extension)| extension)
}

fn encode_extension<T: AssociatedOid + Encode>(
    critical: bool,
    value: &T,
) -> Result<Extension, KeyError> {
    let extn_value = OctetString::new(value.to_der()?)?;
    Ok(Extension { extn_id: T::OID, critical, extn_value })
}

/// RFC 5280: two digits for the year until 2049, four from then on.
fn to_certificate_time(since_1970: Duration) -> Result<Time, KeyError> {
    Ok(match UtcTime::from_unix_duration(since_1970) {
        Ok(time) => Time::UtcTime(time),
        Err(_) => Time::GeneralTime(GeneralizedTime::from_unix_duration(since_1970)?),
    })
}
