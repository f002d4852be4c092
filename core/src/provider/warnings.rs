//! Diagnostics about providers that do not belong to a step of a run. They are separate from those that
//! steps report, because a step may run twice, or its diagnostics may be dropped.

use std::cell::RefCell;

use formwork_value::Diagnostic;

use crate::addr::ProviderAddr;

/// Diagnostics that are not reported yet.
#[derive(Default)]
pub(super) struct ProviderWarnings(RefCell<Vec<ProviderWarning>>);

struct ProviderWarning {
    provider: ProviderAddr,
    /// Subject of the request, or empty for the provider itself.
    about: String,
    remark: Diagnostic,
}

impl ProviderWarnings {
    /// Adds a diagnostic about a call to a provider.
    pub(super) fn add_warning(&self, provider: &ProviderAddr, about: &str, remark: Diagnostic) {
        let (provider, about) = (provider.clone(), about.to_owned());
        self.0.borrow_mut().push(ProviderWarning { provider, about, remark });
    }

    /// Takes all diagnostics, in an order that does not depend on timing, without duplicates.
    pub(super) fn take_warnings(&self) -> Vec<Diagnostic> {
        let mut all = self.0.take();
        all.sort_by(|warning, next| warning.merge_key().cmp(&next.merge_key()));
        let mut merged: Vec<ProviderWarning> = Vec::with_capacity(all.len());
        for warning in all {
            let alike =
                merged.iter().rev().take_while(|before| before.merge_key() == warning.merge_key());
            if !alike.into_iter().any(|before| before.remark == warning.remark) {
                merged.push(warning);
            }
        }
        merged.into_iter().map(|warning| warning.remark).collect()
    }
}

impl ProviderWarning {
    fn merge_key(&self) -> (&ProviderAddr, &str) {
        (&self.provider, &self.about)
    }
}
