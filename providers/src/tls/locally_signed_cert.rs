//! `tls_locally_signed_cert`.

use formwork_sdk::prelude::*;
use x509_cert::ext::pkix::{BasicConstraints, SubjectKeyIdentifier};

use super::issue::{self, Issuer, Terms, found};
use super::key::{KeyError, PrivateKey, is_private};
use super::private_key::report;
use super::renewal::{self, Lifetime, was_pem};
use super::usage;

/// A certificate that was requested, signed with the key of an authority.
#[derive(Model)]
pub(super) struct Cert {
    /// The certificate of the authority in PEM.
    #[attr(required, replace_if = was_pem, check = issue::is_certificate)]
    ca_cert_pem: String,
    /// The private key of the authority in PEM.
    #[attr(required, sensitive, replace_if = was_pem, check = is_private)]
    ca_private_key_pem: String,
    /// The request in PEM.
    #[attr(required, replace_if = was_pem, check = issue::is_request)]
    cert_request_pem: String,
    /// For how many hours the certificate is valid.
    #[attr(required, replace, range = 0..)]
    validity_period_hours: i64,
    /// What the certificate may be used for, in the words of RFC 5280.
    #[attr(required, replace, check = usage::known)]
    allowed_uses: Vec<String>,
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
    /// The algorithm of the authority's key.
    #[attr(computed, keep)]
    ca_key_algorithm: String,
    /// The number of the certificate.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct TlsLocallySignedCert;

impl Resource for TlsLocallySignedCert {
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
        let planned = &call.planned;
        let holder = issue::asked(&planned.cert_request_pem)
            .or_fail("Failed to parse certificate request PEM")?;
        let key = PrivateKey::from_pem(&planned.ca_private_key_pem)
            .or_fail("Failed to parse CA private key PEM")?;
        let issuer = authority(&call, &planned.ca_cert_pem, &key)?;
        issue::check_authority(planned.is_ca_certificate, &holder.name)?;
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
        let issued =
            issue::certificate(&terms, holder, &issuer).or_fail("Failed to create certificate")?;
        Ok(CertComputed {
            cert_pem: issued.pem,
            max_path_length: planned.max_path_length,
            ready_for_renewal: renewal::is_born_due(
                planned.validity_period_hours,
                planned.early_renewal_hours,
            ),
            validity_start_time: renewal::shown(lifetime.from),
            validity_end_time: renewal::shown(lifetime.until),
            ca_key_algorithm: key.algorithm().to_owned(),
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

/// The authority, whose certificate must be for its key.
fn authority<'k>(call: &Call, pem: &str, key: &'k PrivateKey) -> Answer<Issuer<'k>> {
    let certificate = issue::read(pem).or_fail("Failed to parse CA certificate PEM")?;
    let certificate = certificate.tbs_certificate;
    let is_for_key = key.public().map(|public| public == certificate.subject_public_key_info);
    match is_for_key {
        Ok(true) => {}
        Ok(false) => {
            let error = KeyError::Crypto("the certificate of the CA is not for its key".to_owned());
            return Err(report("Failed to create certificate", &error));
        }
        Err(error) => return Err(report("Failed to create certificate", &error)),
    }
    if !found::<BasicConstraints>(&certificate).is_some_and(|constraints| constraints.ca) {
        call.warn(Problem::new(
            "Potentially Invalid Certificate Authority",
            "`ca_cert_pem` does not say that others may be signed with it, so those who check may refuse \
             what is signed.",
        ));
    }
    let key_id = found::<SubjectKeyIdentifier>(&certificate).map(|id| id.0.into_bytes());
    Ok(Issuer { name: certificate.subject, key, key_id })
}
