//! Reason for the failure of a provisioner, without the summary of the diagnostic.

use formwork_core::provisioner::ProvisionerError;

use crate::messages;

/// The reason for a failure, in full and without values of the configuration.
#[derive(Debug)]
pub(crate) struct FailureReason {
    /// The reason in full.
    pub(crate) detail: String,
    /// The reason without values of the configuration, printed if the configuration is sensitive.
    pub(crate) bare: String,
}

/// A reason that contains no value of the configuration.
impl From<String> for FailureReason {
    fn from(text: String) -> Self {
        Self { bare: text.clone(), detail: text }
    }
}

impl FailureReason {
    /// A reason in full, and without values that may be sensitive.
    pub(crate) fn new(detail: String, bare: impl Into<String>) -> Self {
        Self { detail, bare: bare.into() }
    }

    /// Returns the error of a provisioner of type `kind`.
    pub(crate) fn into_provisioner_error(self, kind: &str) -> ProvisionerError {
        let Self { detail, bare } = self;
        ProvisionerError { summary: messages::PROVISIONER_ERROR.with(&[&kind]), detail, bare }
    }
}
