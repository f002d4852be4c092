//! Asks a provider what applying would make of an object, and holds its answers against the contract.
//! What an answer means is each phase's own business.

use bytes::Bytes;
use formwork_plugin_protocol::contract::Finding;
use formwork_plugin_protocol::contract::conform::{self, assert_plan_valid};
use formwork_plugin_protocol::contract::ignore::Ignore;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_plugin_protocol::contract::replace::requires_replace;
use formwork_value::{Diagnostics, Path, Plain, Reported};

use crate::config::IgnoreChanges;
use crate::provider::{About, Ask, Breach, Handle, Planned, ResourceType};
use crate::state::Object;

/// The answer to a plan is not what it may be.
pub(crate) const INVALID_PLAN: (&str, &str) =
    ("Provider produced invalid plan", "PlanResourceChange");

/// Whom to ask, about what, and what must not be told of it.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) handle: &'a Handle,
    pub(crate) ty: &'a ResourceType,
    pub(crate) about: About<'a>,
    /// What the author, or the state, has as sensitive.
    pub(crate) secrets: &'a [Path],
}

impl Asking<'_> {
    /// Asks what becomes of an object under a configuration. `before` is what it is like, null if
    /// there is none; the object is what else the state has of it.
    ///
    /// # Errors
    /// When the provider does not answer, or its answer breaks the contract.
    pub(crate) async fn change(
        self,
        diags: &mut Diagnostics,
        (before, object): (&Plain, Option<&Object>),
        config: &Plain,
        ignored: &IgnoreChanges,
    ) -> Result<Planned, Reported> {
        let block = self.ty.block();
        let ignored = ignore(ignored);
        let config = match &ignored {
            Some(ignored) => &ignored.in_config(block, before, config),
            None => config,
        };
        let proposed = proposed_new(block, before, config);
        let private = object.map_or_else(Bytes::new, |object| object.private.clone());
        let identity = object.and_then(|object| self.ty.identity_of(object));
        let (private, identity) = (&private, identity.as_ref());
        let ask = Ask { prior: before, proposed: &proposed, config, private, identity };
        let mut planned = self.plan(diags, ask).await?;
        if planned.legacy {
            // The legacy type system returns unknown and null blocks, and they are kept so.
            if let Some(ignored) = &ignored {
                planned.value = ignored.in_planned(before, &planned.value);
            }
        } else {
            let findings = assert_plan_valid(block, before, config, &planned.value);
            self.broken(diags, INVALID_PLAN, findings, &planned.value)?;
        }
        Ok(planned)
    }

    /// Asks for the new object of a replacement, as if there were nothing before. `private` is what
    /// the provider said along with the replacement.
    ///
    /// # Errors
    /// When the provider does not answer, or its answer breaks the contract.
    pub(crate) async fn anew(
        self,
        diags: &mut Diagnostics,
        config: &Plain,
        private: &Bytes,
    ) -> Result<Planned, Reported> {
        let block = self.ty.block();
        let null = conform::planned_destroy(block);
        let proposed = proposed_new(block, &null, config);
        let ask = Ask { prior: &null, proposed: &proposed, config, private, identity: None };
        self.plan(diags, ask).await
    }

    async fn plan(self, diags: &mut Diagnostics, ask: Ask<'_>) -> Result<Planned, Reported> {
        let planned = self.handle.plan(diags, self.ty, ask, self.about).await?;
        let (block, value) = (self.ty.block(), &planned.value);
        self.broken(diags, INVALID_PLAN, conform::write_only_findings(block, value), value)?;
        self.broken(diags, INVALID_PLAN, conform::type_findings(block, value), value)?;
        Ok(planned)
    }

    /// The paths whose changes cannot be made in place.
    ///
    /// # Errors
    /// When the provider named paths that lead nowhere.
    pub(crate) fn replace_paths(
        self,
        diags: &mut Diagnostics,
        before: &Plain,
        planned: &Planned,
    ) -> Result<Vec<Path>, Reported> {
        let Planned { value, requires_replace: paths, .. } = planned;
        let replacement = requires_replace(self.ty.block(), before, value, paths);
        self.broken(diags, INVALID_PLAN, replacement.findings, value)?;
        Ok(replacement.paths)
    }

    /// Reports each way in which the answer to a call breaks the contract, without what is secret.
    ///
    /// # Errors
    /// When there is one.
    pub(crate) fn broken(
        self,
        diags: &mut Diagnostics,
        (summary, call): (&str, &str),
        findings: Vec<Finding>,
        answer: &Plain,
    ) -> Result<(), Reported> {
        if findings.is_empty() {
            return Ok(());
        }
        let mut secrets = self.ty.block().sensitive_paths(answer.value());
        secrets.extend_from_slice(self.secrets);
        let mut result = Ok(());
        for finding in findings {
            let problem = &finding.without(&secrets).to_string();
            result = Err(self.handle.invalid(diags, Breach { summary, call, problem }, self.about));
        }
        result
    }
}

/// What of the configuration is not looked at, if anything.
fn ignore(ignored: &IgnoreChanges) -> Option<Ignore> {
    match ignored {
        IgnoreChanges::Nothing => None,
        IgnoreChanges::All => Some(Ignore::All),
        IgnoreChanges::These(paths) => {
            Some(Ignore::Paths(paths.iter().filter_map(|path| path.to_path()).collect()))
        }
    }
}
