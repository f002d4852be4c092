//! Diagnostics about providers that belong to no step of a run. They are kept apart from those that
//! steps report, because a step may run twice, or have its diagnostics dropped.

use std::cell::RefCell;

use formwork_value::Diagnostic;

use crate::addr::ProviderAddr;

/// Remarks that were not reported yet.
#[derive(Default)]
pub(super) struct ProviderWarnings(RefCell<Vec<ProviderWarning>>);

struct ProviderWarning {
    provider: ProviderAddr,
    /// Subject of the request; empty if the provider itself.
    about: String,
    remark: Diagnostic,
}

impl ProviderWarnings {
    /// Keeps a remark about a provider that was asked about something.
    pub(super) fn add_warning(&self, provider: &ProviderAddr, about: &str, remark: Diagnostic) {
        let (provider, about) = (provider.clone(), about.to_owned());
        self.0.borrow_mut().push(ProviderWarning { provider, about, remark });
    }

    /// Takes everything, in an order that does not depend on timing. A remark that several users of
    /// a provider got in the same words is there once.
    pub(super) fn take_warnings(&self) -> Vec<Diagnostic> {
        let mut all = self.0.take();
        all.sort_by(|one, next| one.merge_key().cmp(&next.merge_key()));
        let mut merged: Vec<ProviderWarning> = Vec::with_capacity(all.len());
        for one in all {
            let alike =
                merged.iter().rev().take_while(|before| before.merge_key() == one.merge_key());
            if !alike.into_iter().any(|before| before.remark == one.remark) {
                merged.push(one);
            }
        }
        merged.into_iter().map(|one| one.remark).collect()
    }
}

impl ProviderWarning {
    fn merge_key(&self) -> (&ProviderAddr, &str) {
        (&self.provider, &self.about)
    }
}
