//! Attributes, plan and signing of certificates, shared by all signers.

use formwork_sdk::prelude::*;

use super::issue_certificate::{self, CertificateSubject, CertificateTerms, Issuer};
use super::key_usage;
use super::renewal::{self, ValidityPeriod};

/// A certificate that was signed.
#[derive(Model)]
pub(super) struct SignedCertAttributes {
    /// For how many hours the certificate is valid.
    #[attr(required, replace, range = 0..)]
    validity_period_hours: i64,
    /// Permitted uses of the certificate, in the words of RFC 5280.
    #[attr(required, replace, check = key_usage::check_uses)]
    allowed_uses: Vec<String>,
    /// Number of hours before its end at which the certificate counts as due, so that another one
    /// is planned.
    #[attr(default = 0, range = 0..)]
    early_renewal_hours: i64,
    /// Whether it is a CA certificate.
    #[attr(default = false, replace)]
    is_ca_certificate: bool,
    /// Greatest number of certificates between this one, if it signs others, and the last; -1 for
    /// any number. A stored value stays if it is not set: some versions of the public provider
    /// stored -1.
    #[attr(optional_computed, keep, replace, range = -1..=255)]
    max_path_length: Option<i64>,
    /// Whether the certificate contains a subject key identifier. CA certificates always do.
    #[attr(default = false, replace)]
    set_subject_key_id: bool,
    /// The certificate in PEM.
    #[attr(computed, keep)]
    cert_pem: String,
    /// Whether the certificate has expired, or is in its early renewal period.
    #[attr(computed, keep)]
    ready_for_renewal: bool,
    /// When the certificate begins to be valid.
    #[attr(computed, keep)]
    validity_start_time: String,
    /// When the certificate ends to be valid.
    #[attr(computed, keep)]
    validity_end_time: String,
    /// The number of the certificate.
    #[attr(computed, keep)]
    id: String,
}

impl SignedCertAttributes {
    /// The certificate as it is at this moment.
    pub(super) fn refresh_renewal(mut self) -> Self {
        self.ready_for_renewal |=
            renewal::is_renewal_due(&self.validity_end_time, self.early_renewal_hours);
        self
    }
}

impl SignedCertAttributesDraft {
    /// Plans the attributes that depend on the existing certificate, if any.
    pub(super) fn plan_renewal_attributes(
        &mut self,
        prior: Option<&SignedCertAttributes>,
        config: &Self,
        replace: &mut Vec<Path>,
    ) {
        // A stored value stays, and so does an absent one.
        if let Some(prior) = prior.filter(|_| config.max_path_length.is_null()) {
            self.max_path_length = prior.max_path_length.into();
        }
        let end = prior.map(|prior| prior.validity_end_time.as_str());
        let (validity_hours, early_hours) =
            (&self.validity_period_hours, &self.early_renewal_hours);
        renewal::RenewalInputs { end, validity_hours, early_hours }
            .plan_renewal(&mut self.ready_for_renewal, replace);
    }
}

impl SignedCertAttributesInput {
    /// Whether the certificate contains a subject key identifier.
    pub(super) fn has_subject_key_id(&self) -> bool {
        self.is_ca_certificate || self.set_subject_key_id
    }

    /// Issues the certificate.
    pub(super) fn issue_certificate(
        &self,
        holder: CertificateSubject,
        issuer: &Issuer<'_>,
    ) -> Answer<SignedCertAttributesComputed> {
        issue_certificate::check_authority_has_name(self.is_ca_certificate, &holder.name)?;
        let lifetime = ValidityPeriod::from_now_for_hours(self.validity_period_hours)?;
        let (from, until) = lifetime.since_1970();
        let terms = CertificateTerms {
            from,
            until,
            uses: &self.allowed_uses,
            is_ca: self.is_ca_certificate,
            max_path_length: self.max_path_length,
            has_subject_key_id: self.has_subject_key_id(),
        };
        let issued = issue_certificate::issue_certificate(&terms, holder, issuer)
            .or_fail("Failed to create certificate")?;
        Ok(SignedCertAttributesComputed {
            cert_pem: issued.pem,
            max_path_length: self.max_path_length,
            ready_for_renewal: renewal::is_renewal_due_at_creation(
                self.validity_period_hours,
                self.early_renewal_hours,
            ),
            validity_start_time: renewal::format_time(lifetime.from),
            validity_end_time: renewal::format_time(lifetime.until),
            id: issued.serial,
        })
    }
}
