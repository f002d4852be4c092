//! Commands around one kill: the one that is killed, and those that are run after it.

use crate::config::Config;
use crate::rng::Rng;

/// The operation that is killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Another configuration is applied.
    Apply,
    /// It is, and some objects are replaced regardless of it.
    Replace(Vec<String>),
    /// It is planned, and the plan is applied.
    Saved,
    /// Existing objects are refreshed, and nothing is changed.
    Refresh,
    /// Some of what exists is destroyed, with what depends on it.
    DestroyPart(Vec<String>),
    /// Everything is destroyed.
    DestroyAll,
}

/// File of a saved plan.
pub(crate) const PLAN: &str = "kept.plan";

impl Operation {
    /// One at random, for a configuration that was applied.
    pub(crate) fn random(rng: &mut Rng, config: &Config) -> Self {
        match rng.below(20) {
            0..=2 => Self::Replace(config.some_addresses(rng, 3)),
            3 | 4 => Self::Saved,
            5 => Self::Refresh,
            6..=8 => Self::DestroyPart(config.some_addresses(rng, 3)),
            9 => Self::DestroyAll,
            _ => Self::Apply,
        }
    }

    /// Whether another configuration belongs to it.
    pub(crate) fn needs_new_config(&self) -> bool {
        matches!(self, Self::Apply | Self::Replace(_) | Self::Saved)
    }

    /// Command that has to run before, and is not killed.
    pub(crate) fn preparation(&self) -> Option<Vec<String>> {
        let plan = ["plan", "-input=false", "-out", PLAN];
        (*self == Self::Saved).then(|| plan.map(str::to_owned).into())
    }

    /// The command. A plan that was kept can be used once.
    pub(crate) fn args(&self, is_first: bool) -> Vec<String> {
        let (verb, options): (&str, Vec<String>) = match self {
            Self::Saved if is_first => ("apply", vec![PLAN.to_owned()]),
            Self::Apply | Self::Saved => ("apply", vec![]),
            // A second run cannot tell whether the object was replaced already.
            Self::Replace(addrs) if is_first => ("apply", options("-replace", addrs)),
            Self::Replace(_) => ("apply", vec![]),
            Self::Refresh => ("apply", vec!["-refresh-only".to_owned()]),
            Self::DestroyPart(addrs) => ("destroy", options("-target", addrs)),
            Self::DestroyAll => ("destroy", vec![]),
        };
        let first = [verb, "-auto-approve", "-input=false"].map(str::to_owned);
        first.into_iter().chain(options).collect()
    }

    /// Whether everything is as the configuration has it when it is done.
    pub(crate) fn fulfils(&self) -> bool {
        self.needs_new_config()
    }
}

fn options(name: &str, addrs: &[String]) -> Vec<String> {
    addrs.iter().map(|addr| format!("{name}={addr}")).collect()
}
