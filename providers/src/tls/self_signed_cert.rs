//! `tls_self_signed_cert`.

use formwork_sdk::prelude::*;

use super::issue::{self, Holder, Issuer, Terms, key_id};
use super::key::{PrivateKey, is_private};
use super::renewal::{self, Lifetime, was_pem};
use super::subject::{self, About, Subject};
use super::usage;

/// A certificate that is signed with the key that it is for.
#[derive(Model)]
pub(super) struct Cert {
    /// The private key that the certificate is for, in PEM.
    #[attr(required, sensitive, replace_if = was_pem, check = is_private)]
    private_key_pem: String,
    /// For how many hours the certificate is valid.
    #[attr(required, replace, range = 0..)]
    validity_period_hours: i64,
    /// What the certificate may be used for, in the words of RFC 5280.
    #[attr(required, replace, check = usage::known)]
    allowed_uses: Vec<String>,
    /// The names of hosts that the certificate is for.
    #[attr(optional, replace, check = subject::names)]
    dns_names: Option<Vec<String>>,
    /// The addresses of hosts that the certificate is for.
    #[attr(optional, replace, check = subject::addresses)]
    ip_addresses: Option<Vec<String>>,
    /// The URIs that the certificate is for.
    #[attr(optional, replace, check = subject::names)]
    uris: Option<Vec<String>>,
    /// How many hours before its end the certificate counts as due, so that another one is planned.
    #[attr(default = 0, range = 0..)]
    early_renewal_hours: i64,
    /// Whether others may be signed with the certificate.
    #[attr(default = false, replace)]
    is_ca_certificate: bool,
    /// How many certificates may come between this one, if it signs others, and the last; -1 for any
    /// number. What is stored stays if it is not set: some versions of the public provider stored -1.
    #[attr(optional_computed, keep, replace, range = -1..=255)]
    max_path_length: Option<i64>,
    /// Whether the certificate names its key, as those that sign others always do.
    #[attr(default = false, replace)]
    set_subject_key_id: bool,
    /// Whether the certificate names the key that it is signed with.
    #[attr(default = false, replace)]
    set_authority_key_id: bool,
    /// The certificate in PEM.
    #[attr(computed, keep)]
    cert_pem: String,
    /// Whether the certificate is past its end, or near it.
    #[attr(computed, keep)]
    ready_for_renewal: bool,
    /// When the certificate begins to be valid.
    #[attr(computed, keep)]
    validity_start_time: String,
    /// When the certificate ends to be valid.
    #[attr(computed, keep)]
    validity_end_time: String,
    /// The algorithm of the key.
    #[attr(computed, keep)]
    key_algorithm: String,
    /// The number of the certificate.
    #[attr(computed, keep)]
    id: String,
    /// Whom the certificate is for.
    #[block(max = 1, replace)]
    subject: Vec<Subject>,
}

/// The resource type.
pub(super) struct TlsSelfSignedCert;

impl Resource for TlsSelfSignedCert {
    type Model = Cert;

    async fn modify_plan(&self, change: &mut Change<Cert>) -> Answer<()> {
        let Change { prior, config, planned, replace, .. } = change;
        // What is stored stays, and so does that nothing is.
        if let Some(prior) = prior.as_ref().filter(|_| config.max_path_length.is_null()) {
            planned.max_path_length = prior.max_path_length.into();
        }
        let end = prior.as_ref().map(|prior| prior.validity_end_time.as_str());
        let (validity_hours, early_hours) =
            (&planned.validity_period_hours, &planned.early_renewal_hours);
        renewal::Planned { end, validity_hours, early_hours }
            .decide(&mut planned.ready_for_renewal, replace);
        Ok(())
    }

    async fn create(&self, call: Create<Cert>) -> Answer<CertComputed> {
        let planned = call.planned;
        let key = PrivateKey::from_pem(&planned.private_key_pem)
            .or_fail("Failed to parse private key PEM")?;
        let (name, alternatives) = planned.about().names()?;
        issue::check_authority(planned.is_ca_certificate, &name)?;
        let lifetime = Lifetime::hours_from_now(planned.validity_period_hours)?;
        let (from, until) = lifetime.since_1970();
        let terms = Terms {
            from,
            until,
            uses: &planned.allowed_uses,
            is_ca: planned.is_ca_certificate,
            max_path_length: planned.max_path_length,
            names_key: planned.is_ca_certificate || planned.set_subject_key_id,
        };
        if planned.set_authority_key_id && !terms.names_key {
            let detail = "`set_authority_key_id` has the certificate name its own key, which it does \
                          only with `is_ca_certificate` or `set_subject_key_id`.";
            return Err(Problem::new("Invalid Certificate Authority", detail));
        }
        let issued = key.public().and_then(|public| {
            let key_id = planned.set_authority_key_id.then(|| key_id(&public));
            let issuer = Issuer { name: name.clone(), key: &key, key_id };
            issue::certificate(&terms, Holder { name, alternatives, key: public }, &issuer)
        });
        let issued = issued.or_fail("Failed to create certificate")?;
        Ok(CertComputed {
            cert_pem: issued.pem,
            max_path_length: planned.max_path_length,
            ready_for_renewal: renewal::is_born_due(
                planned.validity_period_hours,
                planned.early_renewal_hours,
            ),
            validity_start_time: renewal::shown(lifetime.from),
            validity_end_time: renewal::shown(lifetime.until),
            key_algorithm: key.algorithm().to_owned(),
            id: issued.serial,
        })
    }

    async fn read(&self, call: Read<Cert>) -> Answer<Option<Cert>> {
        let mut cert = call.current;
        cert.ready_for_renewal |=
            renewal::is_due(&cert.validity_end_time, cert.early_renewal_hours);
        Ok(Some(cert))
    }
}

impl CertInput {
    fn about(&self) -> About<'_> {
        About {
            subject: &self.subject,
            dns_names: self.dns_names.as_ref(),
            ip_addresses: self.ip_addresses.as_ref(),
            uris: self.uris.as_ref(),
        }
    }
}
