//! Errors of calls to providers' state stores. Stores keep them as the causes of their failures.

use formwork_value::diag::Blame;

/// The reason why a call of a state store failed.
///
/// ```
/// use formwork_backend::provider_store::ProviderStoreError;
/// use formwork_value::diag::Blame;
///
/// let error = ProviderStoreError::Broken {
///     provider: "acme/states".to_owned(),
///     call: "LockState",
///     problem: "the lock has no id".to_owned(),
/// };
/// assert_eq!(error.blame(), Blame::Provider);
/// assert!(error.remedy().is_some());
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ProviderStoreError {
    /// The provider reported errors.
    #[error("the provider {provider} answered {call} with an error: {text}")]
    Reported {
        /// The provider.
        provider: String,
        /// The call.
        call: &'static str,
        /// The errors, in the provider's words.
        text: String,
    },
    /// There was no response.
    #[error("{text}")]
    NoAnswer {
        /// Description of the failure.
        text: String,
        /// The party at fault.
        blame: Blame,
    },
    /// The response violates the protocol.
    #[error("the response of the provider {provider} to {call} cannot be used: {problem}")]
    Broken {
        /// The provider.
        provider: String,
        /// The call.
        call: &'static str,
        /// The problem, as the end of a sentence.
        problem: String,
    },
}

impl ProviderStoreError {
    /// The party at fault.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            // Usually a problem with the store: a directory, a permission, a lock.
            Self::Reported { .. } => Blame::Environment,
            Self::NoAnswer { blame, .. } => *blame,
            Self::Broken { .. } => Blame::Provider,
        }
    }

    /// The remedy that the error itself suggests, in whole sentences.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        let is_broken = matches!(self, Self::Broken { .. });
        is_broken.then_some("This is a bug in the provider; please report it to its authors.")
    }
}
