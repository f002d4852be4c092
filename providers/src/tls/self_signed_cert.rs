//! `tls_self_signed_cert`.

use formwork_sdk::prelude::*;

use super::issue_certificate::{CertificateSubject, Issuer, key_identifier};
use super::key::{PrivateKey, check_private_key_pem};
use super::renewal::is_pem_change_replacing;
use super::signed_cert_attributes::SignedCertAttributes;
use super::subject::{self, Subject, SubjectArguments};

/// A certificate that is signed with the key that it is for.
#[derive(Model)]
pub(super) struct SelfSignedCertModel {
    /// The private key that the certificate is for, in PEM.
    #[attr(required, sensitive, replace_if = is_pem_change_replacing, check = check_private_key_pem)]
    private_key_pem: String,
    /// The names of hosts that the certificate is for.
    #[attr(optional, replace, check = subject::check_names_are_ascii)]
    dns_names: Option<Vec<String>>,
    /// The addresses of hosts that the certificate is for.
    #[attr(optional, replace, check = subject::check_ip_addresses)]
    ip_addresses: Option<Vec<String>>,
    /// The URIs that the certificate is for.
    #[attr(optional, replace, check = subject::check_names_are_ascii)]
    uris: Option<Vec<String>>,
    /// Whether the certificate contains an authority key identifier.
    #[attr(default = false, replace)]
    set_authority_key_id: bool,
    /// The algorithm of the key.
    #[attr(computed, keep)]
    key_algorithm: String,
    #[attr(flatten, fills)]
    signed: SignedCertAttributes,
    /// Subject of the certificate.
    #[block(max = 1, replace)]
    subject: Vec<Subject>,
}

/// The resource type.
pub(super) struct SelfSignedCertResource;

impl Resource for SelfSignedCertResource {
    type Model = SelfSignedCertModel;

    async fn modify_plan(&self, change: &mut ModifyPlan<SelfSignedCertModel>) -> Answer<()> {
        let ModifyPlan { prior, config, planned, replace, .. } = change;
        let prior = prior.as_ref().map(|prior| &prior.signed);
        planned.signed.plan_renewal_attributes(prior, &config.signed, replace);
        Ok(())
    }

    async fn create(
        &self,
        call: Create<SelfSignedCertModel>,
    ) -> Answer<SelfSignedCertModelComputed> {
        let planned = call.planned;
        let key = PrivateKey::from_pem(&planned.private_key_pem)
            .or_fail("Failed to parse private key PEM")?;
        let (name, alternatives) = planned.subject_arguments().encode_names()?;
        if planned.set_authority_key_id && !planned.signed.has_subject_key_id() {
            let detail = "`set_authority_key_id` has the certificate name its own key, which it does \
                          only with `is_ca_certificate` or `set_subject_key_id`.";
            return Err(Problem::new("Invalid Certificate Authority", detail));
        }
        let public = key.public_key_info().or_fail("Failed to create certificate")?;
        let key_id = planned.set_authority_key_id.then(|| key_identifier(&public));
        let issuer = Issuer { name: name.clone(), key: &key, key_id };
        let signed = planned
            .signed
            .issue_certificate(CertificateSubject { name, alternatives, key: public }, &issuer)?;
        Ok(SelfSignedCertModelComputed { key_algorithm: key.algorithm().to_owned(), signed })
    }

    async fn read(&self, call: Read<SelfSignedCertModel>) -> Answer<Option<SelfSignedCertModel>> {
        let cert = call.current;
        Ok(Some(SelfSignedCertModel { signed: cert.signed.refresh_renewal(), ..cert }))
    }
}

impl SelfSignedCertModelInput {
    fn subject_arguments(&self) -> SubjectArguments<'_> {
        SubjectArguments {
            subject: &self.subject,
            dns_names: self.dns_names.as_ref(),
            ip_addresses: self.ip_addresses.as_ref(),
            uris: self.uris.as_ref(),
        }
    }
}
