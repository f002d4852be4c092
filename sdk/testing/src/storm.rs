//! Faults at every call of a configuration's life, one life for each.

use formwork_sdk::ProviderDef;

use crate::{Fault, Lab};

/// A fault that was lived through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weathered {
    /// The call that it struck.
    pub call: String,
    /// What happened to it.
    pub fault: Fault,
}

/// Applies a configuration once for each call that it takes and each fault that can happen to it, and
/// again when the trouble is over. Returns what was lived through.
///
/// # Panics
/// When, the trouble being over, the configuration cannot be applied, something is left to do after
/// that, or not everything can be destroyed.
pub fn storm(
    provider: impl Fn() -> ProviderDef + Clone + Send + Sync + 'static,
    config: &str,
) -> Vec<Weathered> {
    let mut weathered = Vec::new();
    for fault in Fault::ALL {
        for at in 0.. {
            let mut lab = Lab::new(provider.clone());
            lab.fault(at, fault);
            let ran = lab.apply(config);
            let Some(call) = lab.calls().into_iter().nth(at) else {
                // Lives share a world: what is left in it would be found by those that come after.
                lab.destroy(config);
                break;
            };
            // What only asks is asked once more, of a provider that lives.
            let may_pass = !call.starts_with("apply ");
            assert!(may_pass || !ran.is_done(), "{fault:?} at {call}: nobody noticed");
            let after = format!("after {fault:?} at {call}");
            let again = lab.apply(config);
            assert!(again.is_done(), "{after}: {}", again.said());
            lab.plan(config).expect_nothing();
            let gone = lab.destroy(config);
            assert!(gone.is_done() && lab.n_objects() == 0, "{after}: {}", gone.said());
            weathered.push(Weathered { call, fault });
        }
    }
    weathered
}
