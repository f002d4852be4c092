//! `tls_locally_signed_cert`.

use formwork_sdk::prelude::*;
use x509_cert::ext::pkix::{BasicConstraints, SubjectKeyIdentifier};

use super::issue_certificate::{self, Issuer, find_extension};
use super::key::{KeyError, PrivateKey, check_private_key_pem};
use super::private_key::key_problem;
use super::renewal::is_pem_change_replacing;
use super::signed_cert_attributes::SignedCertAttributes;

/// A certificate that was requested, signed with the key of an authority.
#[derive(Model)]
pub(super) struct LocallySignedCertModel {
    /// The certificate of the authority in PEM.
    #[attr(required, replace_if = is_pem_change_replacing, check = issue_certificate::check_certificate_pem)]
    ca_cert_pem: String,
    /// The private key of the authority in PEM.
    #[attr(required, sensitive, replace_if = is_pem_change_replacing, check = check_private_key_pem)]
    ca_private_key_pem: String,
    /// The request in PEM.
    #[attr(required, replace_if = is_pem_change_replacing, check = issue_certificate::check_cert_request_pem)]
    cert_request_pem: String,
    /// The algorithm of the authority's key.
    #[attr(computed, keep)]
    ca_key_algorithm: String,
    #[attr(flatten, fills)]
    signed: SignedCertAttributes,
}

/// The resource type.
pub(super) struct LocallySignedCertResource;

impl Resource for LocallySignedCertResource {
    type Model = LocallySignedCertModel;

    async fn modify_plan(&self, change: &mut ModifyPlan<LocallySignedCertModel>) -> Answer<()> {
        let ModifyPlan { prior, config, planned, replace, .. } = change;
        let prior = prior.as_ref().map(|prior| &prior.signed);
        planned.signed.plan_renewal_attributes(prior, &config.signed, replace);
        Ok(())
    }

    async fn create(
        &self,
        call: Create<LocallySignedCertModel>,
    ) -> Answer<LocallySignedCertModelComputed> {
        let planned = &call.planned;
        let holder = issue_certificate::subject_of_request(&planned.cert_request_pem)
            .or_fail("Failed to parse certificate request PEM")?;
        let key = PrivateKey::from_pem(&planned.ca_private_key_pem)
            .or_fail("Failed to parse CA private key PEM")?;
        let issuer = check_issuer(&call, &planned.ca_cert_pem, &key)?;
        let signed = planned.signed.issue_certificate(holder, &issuer)?;
        Ok(LocallySignedCertModelComputed { ca_key_algorithm: key.algorithm().to_owned(), signed })
    }

    async fn read(
        &self,
        call: Read<LocallySignedCertModel>,
    ) -> Answer<Option<LocallySignedCertModel>> {
        let cert = call.current;
        Ok(Some(LocallySignedCertModel { signed: cert.signed.refresh_renewal(), ..cert }))
    }
}

/// The authority, whose certificate must be for its key.
fn check_issuer<'k>(call: &Call, pem: &str, key: &'k PrivateKey) -> Answer<Issuer<'k>> {
    let certificate =
        issue_certificate::parse_certificate(pem).or_fail("Failed to parse CA certificate PEM")?;
    let certificate = certificate.tbs_certificate;
    let is_for_key =
        key.public_key_info().map(|public| public == certificate.subject_public_key_info);
    match is_for_key {
        Ok(true) => {}
        Ok(false) => {
            let error = KeyError::Crypto("the certificate of the CA is not for its key".to_owned());
            return Err(key_problem("Failed to create certificate", &error));
        }
        Err(error) => return Err(key_problem("Failed to create certificate", &error)),
    }
    if !find_extension::<BasicConstraints>(&certificate).is_some_and(|constraints| constraints.ca) {
        call.warn(Problem::new(
            "Potentially Invalid Certificate Authority",
            "The certificate in `ca_cert_pem` may not sign others, so verifiers may reject the signed \
             certificate.",
        ));
    }
    let key_id = find_extension::<SubjectKeyIdentifier>(&certificate).map(|id| id.0.into_bytes());
    Ok(Issuer { name: certificate.subject, key, key_id })
}
