//! Permitted uses of a certificate: their names, and the two extensions that hold them.

use x509_cert::der::asn1::OctetString;
use x509_cert::der::oid::{AssociatedOid as _, ObjectIdentifier};
use x509_cert::der::{Encode as _, Result};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{ExtendedKeyUsage, KeyUsage, KeyUsages};

/// Extension that holds a use.
#[derive(Clone, Copy)]
enum KeyUse {
    /// Among the uses of the key.
    Key(KeyUsages),
    /// Among the extended uses.
    Extended(&'static str),
}

const KEY_USE_NAMES: [(&str, KeyUse); 23] = [
    ("any_extended", KeyUse::Extended("2.5.29.37.0")),
    ("cert_signing", KeyUse::Key(KeyUsages::KeyCertSign)),
    ("client_auth", KeyUse::Extended("1.3.6.1.5.5.7.3.2")),
    ("code_signing", KeyUse::Extended("1.3.6.1.5.5.7.3.3")),
    ("content_commitment", KeyUse::Key(KeyUsages::NonRepudiation)),
    ("crl_signing", KeyUse::Key(KeyUsages::CRLSign)),
    ("data_encipherment", KeyUse::Key(KeyUsages::DataEncipherment)),
    ("decipher_only", KeyUse::Key(KeyUsages::DecipherOnly)),
    ("digital_signature", KeyUse::Key(KeyUsages::DigitalSignature)),
    ("email_protection", KeyUse::Extended("1.3.6.1.5.5.7.3.4")),
    ("encipher_only", KeyUse::Key(KeyUsages::EncipherOnly)),
    ("ipsec_end_system", KeyUse::Extended("1.3.6.1.5.5.7.3.5")),
    ("ipsec_tunnel", KeyUse::Extended("1.3.6.1.5.5.7.3.6")),
    ("ipsec_user", KeyUse::Extended("1.3.6.1.5.5.7.3.7")),
    ("key_agreement", KeyUse::Key(KeyUsages::KeyAgreement)),
    ("key_encipherment", KeyUse::Key(KeyUsages::KeyEncipherment)),
    ("microsoft_commercial_code_signing", KeyUse::Extended("1.3.6.1.4.1.311.2.1.22")),
    ("microsoft_kernel_code_signing", KeyUse::Extended("1.3.6.1.4.1.311.61.1.1")),
    ("microsoft_server_gated_crypto", KeyUse::Extended("1.3.6.1.4.1.311.10.3.3")),
    ("netscape_server_gated_crypto", KeyUse::Extended("2.16.840.1.113730.4.1")),
    ("ocsp_signing", KeyUse::Extended("1.3.6.1.5.5.7.3.9")),
    ("server_auth", KeyUse::Extended("1.3.6.1.5.5.7.3.1")),
    ("timestamping", KeyUse::Extended("1.3.6.1.5.5.7.3.8")),
];

/// Checks that all are names of uses.
pub(super) fn check_uses(uses: &[String]) -> std::result::Result<(), String> {
    let unknown =
        uses.iter().find(|name| KEY_USE_NAMES.iter().all(|(known_name, _)| known_name != name));
    let Some(unknown) = unknown else { return Ok(()) };
    let names: Vec<_> = KEY_USE_NAMES.iter().map(|(name, _)| format!("{name:?}")).collect();
    Err(format!("must have elements that are one of {}, and not {unknown:?}", names.join(", ")))
}

/// The extensions that hold the uses; none for no uses.
pub(super) fn key_use_extensions(uses: &[String]) -> Result<Vec<Extension>> {
    let of = |name: &String| {
        KEY_USE_NAMES.iter().find(|(known_name, _)| known_name == name).map(|(_, usage)| usage)
    };
    let uses: Vec<_> = uses.iter().filter_map(of).collect();
    let key = uses.iter().filter_map(|usage| match usage {
        KeyUse::Key(usage) => Some(*usage),
        KeyUse::Extended(_) => None,
    });
    let key = key.collect::<Vec<_>>();
    let extended = uses.iter().filter_map(|usage| match usage {
        KeyUse::Key(_) => None,
        KeyUse::Extended(oid) => Some(ObjectIdentifier::new(oid)),
    });
    let extended = extended.collect::<std::result::Result<Vec<_>, _>>()?;
    let mut extensions = Vec::new();
    if let Some((first, rest)) = key.split_first() {
        let usages = rest.iter().fold((*first).into(), |usages, usage| usages | *usage);
        let extn_value = OctetString::new(KeyUsage(usages).to_der()?)?;
        extensions.push(Extension { extn_id: KeyUsage::OID, critical: true, extn_value });
    }
    if !extended.is_empty() {
        let extn_value = OctetString::new(ExtendedKeyUsage(extended).to_der()?)?;
        extensions.push(Extension { extn_id: ExtendedKeyUsage::OID, critical: false, extn_value });
    }
    Ok(extensions)
}
