//! Subject of a certificate or a request, as in the configuration.

use std::net::{AddrParseError, Ipv4Addr, Ipv6Addr};

use formwork_sdk::prelude::*;
use x509_cert::ext::Extension;
use x509_cert::name::Name;

use super::distinguished_name::{self, AlternativeNames};
use super::key::KeyError;

/// Subject of a certificate. Each argument is a part of the distinguished name.
#[derive(Clone, Debug, Default, Nested)]
pub(super) struct Subject {
    /// The part `CN`.
    #[attr(optional)]
    common_name: Option<String>,
    /// The part `O`.
    #[attr(optional)]
    organization: Option<String>,
    /// The part `OU`.
    #[attr(optional)]
    organizational_unit: Option<String>,
    /// The parts `STREET`.
    #[attr(optional)]
    street_address: Option<Vec<String>>,
    /// The part `L`.
    #[attr(optional)]
    locality: Option<String>,
    /// The part `ST`.
    #[attr(optional)]
    province: Option<String>,
    /// The part `C`.
    #[attr(optional)]
    country: Option<String>,
    /// The part `POSTALCODE`.
    #[attr(optional)]
    postal_code: Option<String>,
    /// The part `SERIALNUMBER`.
    #[attr(optional)]
    serial_number: Option<String>,
    /// The part with the number `1.2.840.113549.1.9.1`.
    #[attr(optional)]
    email_address: Option<String>,
}

impl Subject {
    /// The distinguished name.
    pub(super) fn distinguished_name(&self) -> Result<Name, KeyError> {
        let part = |short, value: &'_ Option<String>| (short, value.iter().cloned().collect());
        let parts: [(&str, Vec<String>); 9] = [
            part("CN", &self.common_name),
            part("O", &self.organization),
            part("OU", &self.organizational_unit),
            ("STREET", self.street_address.clone().unwrap_or_default()),
            part("L", &self.locality),
            part("ST", &self.province),
            part("C", &self.country),
            part("POSTALCODE", &self.postal_code),
            part("SERIALNUMBER", &self.serial_number),
        ];
        Ok(distinguished_name::build_distinguished_name(&parts, self.email_address.as_deref())?)
    }
}

/// Checks that all are addresses of hosts.
pub(super) fn check_ip_addresses(texts: &[String]) -> Result<(), String> {
    match texts.iter().find(|text| ip_address_bytes(text).is_err()) {
        Some(invalid_address) => {
            Err(format!("must have addresses of hosts, and {invalid_address:?} is not one"))
        }
        None => Ok(()),
    }
}

/// Checks that all can be written in a certificate.
pub(super) fn check_names_are_ascii(texts: &[String]) -> Result<(), String> {
    match texts.iter().find(|text| !text.is_ascii()) {
        Some(invalid_name) => {
            Err(format!("must have ASCII letters only, and {invalid_name:?} has others"))
        }
        None => Ok(()),
    }
}

/// Length of such an address in bytes.
fn ip_address_bytes(text: &str) -> Result<Vec<u8>, AddrParseError> {
    let short = text.parse::<Ipv4Addr>().map(|address| address.octets().to_vec());
    short.or_else(|_| text.parse::<Ipv6Addr>().map(|address| address.octets().to_vec()))
}

/// Arguments about the subject of a certificate.
pub(super) struct SubjectArguments<'m> {
    /// At most one.
    pub(super) subject: &'m [Subject],
    pub(super) dns_names: Option<&'m Vec<String>>,
    pub(super) ip_addresses: Option<&'m Vec<String>>,
    pub(super) uris: Option<&'m Vec<String>>,
}

impl SubjectArguments<'_> {
    /// The distinguished name, and the extension with the other names.
    pub(super) fn encode_names(&self) -> Answer<(Name, Option<Extension>)> {
        let mut ip_addresses = Vec::new();
        for text in self.ip_addresses.into_iter().flatten() {
            ip_addresses.push(ip_address_bytes(text).map_err(|error| {
                let detail = format!("{text:?} in `ip_addresses` is not an address: {error}.");
                Problem::new("Invalid IP address", detail).at("ip_addresses")
            })?);
        }
        let texts = |texts: Option<&'_ Vec<String>>| texts.cloned().unwrap_or_default();
        let (dns_names, uris) = (texts(self.dns_names), texts(self.uris));
        let alternatives = AlternativeNames { dns_names, ip_addresses, uris };
        let all_names = || {
            let name = self
                .subject
                .first()
                .map(Subject::distinguished_name)
                .transpose()?
                .unwrap_or_default();
            // RFC 5280: without a subject name, the alternative names identify the subject.
            let alternatives = alternatives.to_extension(name.is_empty())?;
            Ok((name, alternatives))
        };
        all_names().map_err(|error: KeyError| {
            let detail = format!("The names cannot be written in a certificate: {error}.");
            Problem::new("Invalid Certificate Subject", detail)
        })
    }
}
