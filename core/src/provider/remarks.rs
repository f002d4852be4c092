//! What there is to say of providers that is about no step of a run. It is kept apart from what steps
//! report, because a step may be gone through twice, or for nobody to hear.

use std::cell::RefCell;

use formwork_value::Diagnostic;

use crate::addr::ProviderAddr;

/// What nobody has told yet.
#[derive(Default)]
pub(super) struct Remarks(RefCell<Vec<Remark>>);

#[derive(PartialEq)]
struct Remark {
    provider: ProviderAddr,
    /// What it was asked about; empty if about itself.
    about: String,
    remark: Diagnostic,
}

impl Remarks {
    /// Keeps what is to be said of a provider that was asked about something.
    pub(super) fn keep(&self, provider: &ProviderAddr, about: &str, remark: Diagnostic) {
        let (provider, about) = (provider.clone(), about.to_owned());
        self.0.borrow_mut().push(Remark { provider, about, remark });
    }

    /// Takes everything, in an order that does not depend on timing. What several users of a provider
    /// met with in the same words is there once.
    pub(super) fn take(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Remark> = Vec::new();
        for one in self.0.take() {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all.sort_by(|one, next| (&one.provider, &one.about).cmp(&(&next.provider, &next.about)));
        all.into_iter().map(|one| one.remark).collect()
    }
}
