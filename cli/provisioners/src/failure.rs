//! Reason for the failure of a provisioner, before it has its summary.

use formwork_core::provisioner::ProvisionerError;

use crate::messages;

/// A reason, and the part of it without the provisioner's own configuration.
#[derive(Debug)]
pub(crate) struct FailureReason {
    /// The reason in full.
    pub(crate) detail: String,
    /// The part that may be printed when the configuration is sensitive.
    pub(crate) bare: String,
}

/// A reason that holds nothing of it at all.
impl From<String> for FailureReason {
    fn from(text: String) -> Self {
        Self { bare: text.clone(), detail: text }
    }
}

impl FailureReason {
    /// A reason in full, and without possible secrets.
    pub(crate) fn new(detail: String, bare: impl Into<String>) -> Self {
        Self { detail, bare: bare.into() }
    }

    /// The failure of a provisioner of this kind.
    pub(crate) fn into_provisioner_error(self, kind: &str) -> ProvisionerError {
        let Self { detail, bare } = self;
        ProvisionerError { summary: messages::PROVISIONER_ERROR.with(&[&kind]), detail, bare }
    }
}
