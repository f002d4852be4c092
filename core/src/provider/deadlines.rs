//! Time limits for calls, by kind, and the read-only kinds.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::pin::pin;
use std::str::FromStr;
use std::time::Duration;

use formwork_plugin_protocol::{Failure, Method};
use formwork_value::duration;
use futures_util::future::{Either, select};
use tokio::time::sleep;

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// Configures a provider or a state store.
    Configure,
    /// Validates a configuration.
    Validate,
    /// Reads, upgrades, moves, imports or lists objects, or reads a data source, a schema or a stored state.
    Read,
    /// Plans a change.
    Plan,
    /// Changes an object, or a stored state or its lock.
    Apply,
    /// Calls a function.
    Function,
    /// Opens, renews or closes an ephemeral resource.
    Ephemeral,
}

const CALL_KINDS: [(&str, CallKind); 7] = [
    ("configure", CallKind::Configure),
    ("validate", CallKind::Validate),
    ("read", CallKind::Read),
    ("plan", CallKind::Plan),
    ("apply", CallKind::Apply),
    ("function", CallKind::Function),
    ("ephemeral", CallKind::Ephemeral),
];

impl CallKind {
    /// Returns the kind of the calls of a method.
    #[must_use]
    pub fn of(method: Method) -> Self {
        match method {
            Method::ConfigureProvider | Method::ConfigureStateStore => Self::Configure,
            Method::ValidateProviderConfig
            | Method::ValidateResourceConfig
            | Method::ValidateDataResourceConfig
            | Method::ValidateEphemeralResourceConfig
            | Method::ValidateListResourceConfig
            | Method::ValidateActionConfig
            | Method::ValidateStateStoreConfig => Self::Validate,
            Method::GetMetadata
            | Method::GetProviderSchema
            | Method::GetResourceIdentitySchemas
            | Method::GetFunctions
            | Method::StopProvider
            | Method::UpgradeResourceState
            | Method::UpgradeResourceIdentity
            | Method::ReadResource
            | Method::ImportResourceState
            | Method::MoveResourceState
            | Method::GenerateResourceConfig
            | Method::ReadDataSource
            | Method::ListResource
            | Method::ReadStateBytes
            | Method::GetStates => Self::Read,
            Method::PlanResourceChange | Method::PlanAction => Self::Plan,
            Method::ApplyResourceChange
            | Method::InvokeAction
            | Method::WriteStateBytes
            | Method::LockState
            | Method::UnlockState
            | Method::DeleteState => Self::Apply,
            Method::CallFunction => Self::Function,
            Method::OpenEphemeralResource
            | Method::RenewEphemeralResource
            | Method::CloseEphemeralResource => Self::Ephemeral,
        }
    }

    /// Returns whether a call of this kind can be abandoned without loss.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        // An opened resource must be closed, and only the response contains the data for it.
        !matches!(self, Self::Apply | Self::Ephemeral)
    }
}

/// Deadlines of calls by kind. None has a limit by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallDeadlines(BTreeMap<CallKind, Duration>);

impl CallDeadlines {
    /// Returns the limit of a kind of call.
    #[must_use]
    pub fn deadline_of(&self, kind: CallKind) -> Option<Duration> {
        self.0.get(&kind).copied()
    }

    /// Waits for a response, up to the limit of its kind of call.
    ///
    /// # Errors
    /// Returns an error if the call was abandoned, in addition to its own errors.
    pub async fn wait_for_answer<T>(
        &self,
        kind: CallKind,
        answer: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let passed = pin!(self.wait_until_passed(kind));
        // Polled in this order, so that a response that has arrived takes precedence over the deadline.
        match select(pin!(answer), passed).await {
            Either::Left((answer, _)) => answer,
            Either::Right((reason, _)) => Err(Failure::GivenUp(reason)),
        }
    }

    /// Waits until the deadline of a call that starts now has passed, and returns the reason.
    async fn wait_until_passed(&self, kind: CallKind) -> String {
        let Some(limit) = self.deadline_of(kind) else { return pending().await };
        sleep(limit).await;
        format!("its deadline of {} s has passed", limit.as_secs_f64())
    }
}

impl FromStr for CallDeadlines {
    type Err = String;

    /// Reads a list such as `read=5m,apply=1h`. A duration without a kind applies to all kinds without
    /// their own.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut limits = BTreeMap::new();
        let mut usual = None;
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (kind, limit) = entry
                .split_once('=')
                .map_or((None, entry), |(kind, limit)| (Some(kind.trim()), limit.trim()));
            let nanoseconds = duration::parse_nanoseconds(limit).ok();
            // A limit of 0 would end every call immediately.
            let limit = nanoseconds.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
            let limit = Duration::from_nanos(limit.ok_or_else(|| {
                format!("{entry:?} does not contain a duration such as 30s, 5m or 1h30m")
            })?);
            let Some(name) = kind else {
                usual = Some(limit);
                continue;
            };
            let known = CALL_KINDS.iter().find(|(known, _)| *known == name);
            let (_, kind) = known.ok_or_else(|| {
                let known = CALL_KINDS.map(|(name, _)| name).join(", ");
                format!("there is no kind of call {name:?}; the kinds are {known}")
            })?;
            limits.insert(*kind, limit);
        }
        for (_, kind) in CALL_KINDS {
            if let Some(limit) = usual {
                limits.entry(kind).or_insert(limit);
            }
        }
        Ok(Self(limits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_by_kind() {
        let read = |text: &str| text.parse::<CallDeadlines>();
        let of =
            |text: &str, kind| read(text).unwrap().deadline_of(kind).map(|limit| limit.as_secs());
        assert_eq!(of("read=5m, apply=1h", CallKind::Read), Some(300));
        assert_eq!(of("read=5m,apply=1h", CallKind::Apply), Some(3600));
        assert_eq!(of("read=5m", CallKind::Plan), None);
        assert_eq!(of("90s,apply=1h", CallKind::Plan), Some(90));
        assert_eq!(of("90s,apply=1h", CallKind::Apply), Some(3600));
        assert_eq!(of("", CallKind::Plan), None);
        assert!(read("destroy=1s").unwrap_err().contains("no kind of call \"destroy\""));
        for bad in ["read=5", "read=-5s", "read=0s", "soon"] {
            assert!(read(bad).unwrap_err().contains("does not contain a duration"), "{bad}");
        }
    }

    #[test]
    fn only_changes_and_ephemeral_resources_have_lasting_effects() {
        let lost: Vec<_> =
            Method::ALL.iter().filter(|method| !CallKind::of(**method).is_read_only()).collect();
        let expected = [
            Method::ApplyResourceChange,
            Method::OpenEphemeralResource,
            Method::RenewEphemeralResource,
            Method::CloseEphemeralResource,
            Method::InvokeAction,
            Method::WriteStateBytes,
            Method::LockState,
            Method::UnlockState,
            Method::DeleteState,
        ];
        assert_eq!(lost, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn calls_have_the_kinds_of_their_effects() {
        for (kind, method) in [
            (CallKind::Configure, Method::ConfigureProvider),
            (CallKind::Configure, Method::ConfigureStateStore),
            (CallKind::Validate, Method::ValidateStateStoreConfig),
            (CallKind::Validate, Method::ValidateEphemeralResourceConfig),
            (CallKind::Read, Method::ReadStateBytes),
            (CallKind::Read, Method::GetStates),
            (CallKind::Read, Method::ListResource),
            (CallKind::Plan, Method::PlanResourceChange),
            (CallKind::Function, Method::CallFunction),
        ] {
            assert_eq!(CallKind::of(method), kind, "{method}");
        }
    }
}
