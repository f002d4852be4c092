//! `tls_cert_request`.

use formwork_sdk::prelude::*;

use super::issue_certificate;
use super::key::{PrivateKey, check_private_key_pem, encode_pem};
use super::renewal::is_pem_change_replacing;
use super::subject::{self, Subject, SubjectArguments};
use crate::digest::{sha1, to_hex};

/// A request for a certificate, to be given to an authority.
#[derive(Model)]
pub(super) struct CertRequestModel {
    /// Private key of the certificate, in PEM.
    #[attr(required, sensitive, replace_if = is_pem_change_replacing, check = check_private_key_pem)]
    private_key_pem: String,
    /// Host names of the certificate.
    #[attr(optional, replace, check = subject::check_names_are_ascii)]
    dns_names: Option<Vec<String>>,
    /// IP addresses of the certificate.
    #[attr(optional, replace, check = subject::check_ip_addresses)]
    ip_addresses: Option<Vec<String>>,
    /// URIs of the certificate.
    #[attr(optional, replace, check = subject::check_names_are_ascii)]
    uris: Option<Vec<String>>,
    /// The algorithm of the key.
    #[attr(computed, keep)]
    key_algorithm: String,
    /// The request in PEM.
    #[attr(computed, keep)]
    cert_request_pem: String,
    /// The SHA-1 digest of the request.
    #[attr(computed, keep)]
    id: String,
    /// Subject of the certificate.
    #[block(max = 1, replace)]
    subject: Vec<Subject>,
}

/// The resource type.
pub(super) struct CertRequestResource;

impl Resource for CertRequestResource {
    type Model = CertRequestModel;

    async fn create(&self, call: Create<CertRequestModel>) -> Answer<CertRequestModelComputed> {
        let planned = call.planned;
        let key = PrivateKey::from_pem(&planned.private_key_pem)
            .or_fail("Failed to parse private key PEM")?;
        let subject_arguments = SubjectArguments {
            subject: &planned.subject,
            dns_names: planned.dns_names.as_ref(),
            ip_addresses: planned.ip_addresses.as_ref(),
            uris: planned.uris.as_ref(),
        };
        let (name, alternatives) = subject_arguments.encode_names()?;
        let request = issue_certificate::create_cert_request(name, alternatives, &key)
            .and_then(|der| Ok((to_hex(&sha1(&der)), encode_pem("CERTIFICATE REQUEST", &der)?)));
        let (id, cert_request_pem) = request.or_fail("Error creating certificate request")?;
        Ok(CertRequestModelComputed {
            key_algorithm: key.algorithm().to_owned(),
            cert_request_pem,
            id,
        })
    }
}
