//! Distinguished names and alternative names of certificates, and their conversion to and from
//! configurations.

use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::{Ia5String, OctetString, SetOfVec};
use x509_cert::der::oid::{AssociatedOid as _, ObjectIdentifier};
use x509_cert::der::{Any, Encode as _, Result, Tag, Tagged as _};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::{Name, RelativeDistinguishedName};

use crate::digest::to_hex;

/// The attributes of names that have a short name, in the order in which names are written. Strings
/// show them the other way round.
const SHORT_ATTRIBUTE_NAMES: [(&str, ObjectIdentifier); 9] = [
    ("C", ObjectIdentifier::new_unwrap("2.5.4.6")),
    ("O", ObjectIdentifier::new_unwrap("2.5.4.10")),
    ("OU", ObjectIdentifier::new_unwrap("2.5.4.11")),
    ("L", ObjectIdentifier::new_unwrap("2.5.4.7")),
    ("ST", ObjectIdentifier::new_unwrap("2.5.4.8")),
    ("STREET", ObjectIdentifier::new_unwrap("2.5.4.9")),
    ("POSTALCODE", ObjectIdentifier::new_unwrap("2.5.4.17")),
    ("CN", ObjectIdentifier::new_unwrap("2.5.4.3")),
    ("SERIALNUMBER", ObjectIdentifier::new_unwrap("2.5.4.5")),
];

/// The postal address, which is not one of the usual attributes.
const EMAIL_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1");

/// Encodes a name. `values` has the values by short name.
pub(super) fn build_distinguished_name(
    values: &[(&str, Vec<String>)],
    email: Option<&str>,
) -> Result<Name> {
    let mut name = Name::default();
    for (short, oid) in SHORT_ATTRIBUTE_NAMES {
        let values = values.iter().find(|(name, _)| *name == short);
        let parts = values.iter().flat_map(|(_, values)| values).map(|text| {
            let tag = if text.bytes().all(is_printable_byte) {
                Tag::PrintableString
            } else {
                Tag::Utf8String
            };
            Ok(AttributeTypeAndValue { oid, value: Any::new(tag, text.as_bytes())? })
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        if !parts.is_empty() {
            name.0.push(RelativeDistinguishedName(SetOfVec::try_from(parts)?));
        }
    }
    if let Some(email) = email {
        let value = Any::encode_from(&Ia5String::new(email)?)?;
        let part = AttributeTypeAndValue { oid: EMAIL_OID, value };
        name.0.push(RelativeDistinguishedName(SetOfVec::try_from(vec![part])?));
    }
    Ok(name)
}

/// Whether a character is a `PrintableString`, the most widely supported kind of string.
fn is_printable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte)
}

/// Shows a name as RFC 2253 does: the attributes with short names, last first, then the others.
pub(super) fn format_distinguished_name(name: &Name) -> String {
    let parts: Vec<_> = name.0.iter().flat_map(|part| part.0.iter()).collect();
    let is_short =
        |oid: &ObjectIdentifier| SHORT_ATTRIBUTE_NAMES.iter().any(|(_, short)| short == oid);
    let mut groups: Vec<String> = Vec::new();
    for (short, oid) in SHORT_ATTRIBUTE_NAMES.iter().rev() {
        let values = parts.iter().filter(|part| part.oid == *oid);
        let short_parts = values
            .map(|part| format!("{short}={}", escape_name_text(&attribute_text(&part.value))));
        let short_parts: Vec<_> = short_parts.collect();
        if !short_parts.is_empty() {
            groups.push(short_parts.join("+"));
        }
    }
    let other_parts = parts.iter().rev().filter(|part| !is_short(&part.oid));
    groups.extend(other_parts.map(|part| {
        let der = part.value.to_der().unwrap_or_default();
        format!("{}=#{}", part.oid, to_hex(&der))
    }));
    groups.join(",")
}

fn attribute_text(value: &Any) -> String {
    match value.tag() {
        Tag::BmpString => {
            let units =
                value.value().chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            String::from_utf16_lossy(&units.collect::<Vec<_>>())
        }
        _ => String::from_utf8_lossy(value.value()).into_owned(),
    }
}

fn escape_name_text(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut escaped = String::new();
    for (index, character) in text.chars().enumerate() {
        let is_special = match character {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
            ' ' => index == 0 || index == last,
            '#' => index == 0,
            _ => false,
        };
        if is_special {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// The other names of whom a certificate is about.
#[derive(Debug, Default)]
pub(super) struct AlternativeNames {
    pub(super) dns_names: Vec<String>,
    /// Length of such an address in bytes.
    pub(super) ip_addresses: Vec<Vec<u8>>,
    pub(super) uris: Vec<String>,
}

impl AlternativeNames {
    /// The extension that holds them; `None` if there are none.
    pub(super) fn to_extension(&self, is_critical: bool) -> Result<Option<Extension>> {
        let text = |text: &String| Ia5String::new(text);
        let mut names = Vec::new();
        for name in self.dns_names.iter().map(text) {
            names.push(GeneralName::DnsName(name?));
        }
        for address in &self.ip_addresses {
            names.push(GeneralName::IpAddress(OctetString::new(address.clone())?));
        }
        for uri in self.uris.iter().map(text) {
            names.push(GeneralName::UniformResourceIdentifier(uri?));
        }
        if names.is_empty() {
            return Ok(None);
        }
        let value = OctetString::new(SubjectAltName(names).to_der()?)?;
        let extn_id = SubjectAltName::OID;
        Ok(Some(Extension { extn_id, critical: is_critical, extn_value: value }))
    }
}

#[cfg(test)]
mod tests {
    use super::{build_distinguished_name, format_distinguished_name};

    /// The values of each short name.
    type Parts = &'static [(&'static str, &'static [&'static str])];

    #[test]
    fn a_name_is_shown_from_its_end() {
        let table: [(Parts, Option<&str>, &str); 5] = [
            (&[], None, ""),
            (&[("CN", &["example.com"]), ("O", &["ACME"])], None, "CN=example.com,O=ACME"),
            (&[("STREET", &["b", "a"]), ("C", &["ö"])], None, "STREET=a+STREET=b,C=ö"),
            (&[("O", &[" a, b "])], None, "O=\\ a\\, b\\ "),
            (&[("CN", &["#x"])], Some("a@b.c"), "CN=\\#x,1.2.840.113549.1.9.1=#16056140622e63"),
        ];
        for (values, email, expected) in table {
            let owned = values.iter().map(|(short, values)| {
                (*short, values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>())
            });
            let name = build_distinguished_name(&owned.collect::<Vec<_>>(), email).unwrap();
            assert_eq!(format_distinguished_name(&name), expected);
        }
    }
}
