//! Plans one instance of a managed resource: evaluates its block, looks at the real object, asks the
//! provider what applying would bring about, and checks that the provider keeps its word.

use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform::{self, assert_plan_valid};
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_plugin_protocol::contract::replace::requires_replace;
use formwork_plugin_protocol::contract::{Finding, legacy};
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Value};

use super::generated::{self, Generated, at_import};
use super::interrupted::{self, Search};
use super::prior::{self, Prior};
use super::resource::Here;
use super::{View, import, triggers};
use crate::addr::{InstanceAddr, InstanceKey};
use crate::change::{Action, Change, Importing, Reason};
use crate::config::Resource;
use crate::eval::ModuleScope;
use crate::eval::conditions::{self, ConditionKind};
use crate::eval::verdicts::Judged;
use crate::eval::vertex::is_infinite;
use crate::phase::{check_ignored, evaluate, ignored, plain, sensitive_paths, spoken_from};
use crate::plan::Mode;
use crate::plan::decide::{Facts, decide};
use crate::plan::outcome::{FoundObject, Refreshed};
use crate::plan::vertex::ResourceVertex;
use crate::provider::{About, Ask, Breach, Handle, Planned, ResourceType, remark};

/// Plans one instance.
///
/// # Errors
/// When anything on the way fails; then nothing is known of the instance.
pub(super) async fn plan(
    view: View<'_>,
    diags: &mut Diagnostics,
    here: &Here<'_>,
    key: InstanceKey,
) -> Result<FoundObject, Reported> {
    let (vertex, addr) = (here.vertex, here.addr.instance(key));
    let (handle, ty) = provider_for(view, diags, vertex)?;
    let handle = spoken_from(view.session, diags, handle, &vertex.addr)?;
    let owner = prior::Owner {
        handle: &handle,
        ty: &ty,
        addr: &addr,
        deposed: None,
        block: Some(vertex.config.span),
    };
    let stored = here.prior.and_then(|prior| prior.instances.get(&addr.key)?.current.as_ref());
    // What is managed already is not imported again.
    let (mut prior, mut importing) = match (stored, here.sought.get(&addr)) {
        (Some(object), _) => {
            (Some(prior::bring_up_to_date(view, diags, owner, object).await?), None)
        }
        (None, Some(clue)) => {
            let found = import::find(view, diags, owner, (clue, vertex.config.span)).await?;
            (Some(found), Some(Importing { clue: clue.clone(), generated_config: None }))
        }
        (None, None) => (None, None),
    };
    let mut never_made = false;
    if let (None, Some(planned)) = (&prior, view.options.interrupted.get(&addr)) {
        match interrupted::look_for(view, diags, owner, (planned, vertex.config)).await {
            Search::Found(found) => prior = Some(*found),
            Search::NeverMade => never_made = true,
            Search::InDoubt => {}
        }
    }
    let scope = here.scope(view, &addr.key);
    let instance = Instance { view, vertex, addr: &addr, handle: &handle, ty: &ty };
    if view.options.mode == Mode::RefreshOnly {
        return instance.refreshed_only(diags, prior, scope).await;
    }
    let found = prior.as_ref().filter(|_| vertex.generated).map(|prior| &prior.current);
    let generate = |object| generated::generate(view, diags, vertex, (&addr, &ty, object));
    let generated = found.map(generate).transpose()?;
    let mut problems = Diagnostics::new();
    let config = match &generated {
        None => instance.config(&mut problems, &scope, vertex.config).await,
        Some(Generated { text, resource }) => {
            let config = instance.config(&mut problems, &scope, resource).await;
            problems.map_from(0, |problem| at_import(problem, vertex.config.span));
            if let Some(importing) = &mut importing {
                importing.generated_config = Some(text.clone());
            }
            config
        }
    };
    diags.append(problems)?;
    let config = config?;
    let mut change = instance.change(diags, prior.as_ref(), &config, &scope).await?;
    if is_infinite(&change.after) {
        return Err(diags.error(not_finite(&addr, vertex.config)));
    }
    change.importing = importing;
    instance.check_after(diags, &change.after, scope).await?;
    match &mut prior {
        Some(prior) if change.action == Action::NoOp => {
            prior.settle(&change.dependencies, change.create_before_destroy);
        }
        // What is imported was not made after anything; the apply says what it stands on now.
        Some(_) if change.importing.is_some() => {}
        Some(prior) if !prior.current.is_null() && !view.options.skip_refresh => {
            prior.add_dependencies(&change.dependencies);
        }
        _ => {}
    }
    let mut found = instance.found(prior, change);
    if never_made {
        found.refreshed = Refreshed::NeverMade;
    }
    Ok(found)
}

/// The provider of a resource, and its type there.
///
/// # Errors
/// When the provider has no such type.
pub(super) fn provider_for(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> Result<(std::rc::Rc<Handle>, std::rc::Rc<ResourceType>), Reported> {
    let Some(handle) = view.session.pool.configured(&vertex.provider) else {
        // The provider's vertex failed, and then this one is not visited.
        let detail = format!("{} was not configured before {}.", vertex.provider, vertex.addr);
        return Err(diags.error(
            Diagnostic::error("Provider not configured", detail)
                .blame(formwork_value::diag::Blame::Internal),
        ));
    };
    let name = &vertex.addr.resource;
    match handle.loaded().find(name.mode(), name.kind()) {
        Some(ty) => Ok((handle, ty)),
        None => Err(diags.error(crate::provider::unsupported_type(
            handle.loaded(),
            name,
            vertex.config.span,
        ))),
    }
}

/// One instance while it is being planned.
struct Instance<'a> {
    view: View<'a>,
    vertex: &'a ResourceVertex<'a>,
    addr: &'a InstanceAddr,
    handle: &'a Handle,
    ty: &'a ResourceType,
}

impl<'a> Instance<'a> {
    fn about(&self) -> About<'a> {
        About { addr: self.addr, block: Some(self.vertex.config.span) }
    }

    /// Evaluates the block, and has the provider look at it.
    async fn config(
        &self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
        resource: &Resource,
    ) -> Result<Value, Reported> {
        let Self { view, ty, .. } = *self;
        let object = &Judged::instance(self.addr);
        let judging = view.judging(object);
        let (kind, lifecycle) = (ConditionKind::ResourcePrecondition, &resource.lifecycle);
        let config = |diags: &mut Diagnostics| {
            conditions::check(diags, scope, kind, &lifecycle.preconditions, judging)?;
            check_ignored(diags, &lifecycle.ignore_changes, ty.block())?;
            evaluate(diags, resource, ty.block(), scope)
        };
        let config = view.session.settled(diags, config).await?;
        self.handle.validate(diags, ty, &config, self.about()).await?;
        Ok(config)
    }

    async fn change(
        &self,
        diags: &mut Diagnostics,
        prior: Option<&Prior>,
        config: &Value,
        scope: &ModuleScope<'_>,
    ) -> Result<Change, Reported> {
        let null = Value::null(self.ty.ty.clone());
        let existing = prior.filter(|prior| !prior.current.is_null());
        let tainted = existing.is_some_and(Prior::is_tainted);
        // A tainted object is planned as if there were none; what there is goes into `before`.
        let usable = existing.filter(|_| !tainted);
        let before = existing.map_or(&null, |prior| &prior.current);
        let planned = self.ask(diags, usable, config).await?;
        let forced = self.forced(diags, scope, existing).await?;
        let replace_paths = match usable {
            Some(prior) => self.replace_paths(diags, prior, &planned)?,
            None => Vec::new(),
        };
        let after = self.marked(&planned, config);
        let order = self.view.settled.orders.order(&self.vertex.addr);
        let (action, reason) = decide(&Facts {
            prior: before,
            planned: &after,
            tainted,
            replace_paths: &replace_paths,
            forced,
            order,
        });
        let planned = match action {
            // A tainted object was planned as a new one already.
            Action::Replace(_) if !tainted => {
                self.ask_anew(diags, config, &planned.private).await?
            }
            _ => planned,
        };
        self.refuse_to_destroy(diags, action)?;
        let identity = planned.encoded_identity();
        Ok(Change {
            addr: self.addr.clone(),
            deposed: None,
            moved_from: None,
            importing: None,
            provider: self.vertex.provider.clone(),
            action,
            reason,
            before: before.clone(),
            after: self.marked(&planned, config),
            replace_paths,
            private: planned.private,
            config_known: config.is_wholly_known(),
            identity,
            dependencies: self.view.settled.closures.of(&self.vertex.addr),
            prior_dependencies: prior
                .map_or_else(Arc::default, |prior| prior.object.dependencies.clone()),
            create_before_destroy: order == crate::change::ReplaceOrder::CreateFirst,
        })
    }

    /// Asks the provider what applying would bring about, and checks its answer.
    async fn ask(
        &self,
        diags: &mut Diagnostics,
        prior: Option<&Prior>,
        config: &Value,
    ) -> Result<Planned, Reported> {
        let block = self.ty.block();
        let before =
            prior.map_or_else(|| conform::planned_destroy(block), |prior| plain(&prior.current));
        let private = prior.map_or_else(Bytes::new, |prior| prior.object.private.clone());
        let ignored = ignored(&self.vertex.config.lifecycle.ignore_changes);
        let mut config = plain(config);
        if let Some(ignored) = &ignored {
            config = ignored.in_config(block, &before, &config);
        }
        let proposed = proposed_new(block, &before, &config);
        let identity = prior.and_then(|prior| self.ty.identity_of(&prior.object));
        let identity = identity.as_ref();
        let ask = Ask {
            prior: &before,
            proposed: &proposed,
            config: &config,
            private: &private,
            identity,
        };
        let mut planned = self.handle.plan(diags, self.ty, ask, self.about()).await?;
        self.broken(diags, &conform::write_only_findings(block, &planned.value))?;
        self.broken(diags, &conform::type_findings(block, &planned.value))?;
        if planned.legacy {
            planned.value = legacy::normalise(block, &planned.value);
            if let Some(ignored) = &ignored {
                planned.value = ignored.in_planned(&before, &planned.value);
            }
        } else {
            self.broken(diags, &assert_plan_valid(block, &before, &config, &planned.value))?;
        }
        Ok(planned)
    }

    /// Asks for the new object of a replacement, as if there were nothing before.
    async fn ask_anew(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        private: &Bytes,
    ) -> Result<Planned, Reported> {
        let block = self.ty.block();
        let null = conform::planned_destroy(block);
        let config = plain(config);
        let proposed = proposed_new(block, &null, &config);
        let ask =
            Ask { prior: &null, proposed: &proposed, config: &config, private, identity: None };
        let planned = self.handle.plan(diags, self.ty, ask, self.about()).await?;
        self.broken(diags, &conform::write_only_findings(block, &planned.value))?;
        self.broken(diags, &conform::type_findings(block, &planned.value))?;
        Ok(planned)
    }

    /// Reports how a plan breaks the contract.
    fn broken(&self, diags: &mut Diagnostics, findings: &[Finding]) -> Result<(), Reported> {
        let (summary, call) = ("Provider produced invalid plan", "PlanResourceChange");
        let mut result = Ok(());
        for finding in findings {
            let text = finding.to_string();
            result = Err(self.handle.invalid(
                diags,
                Breach { summary, call, problem: &text },
                self.about(),
            ));
        }
        result
    }

    fn replace_paths(
        &self,
        diags: &mut Diagnostics,
        prior: &Prior,
        planned: &Planned,
    ) -> Result<Vec<Path>, Reported> {
        let (block, before) = (self.ty.block(), plain(&prior.current));
        let replacement =
            requires_replace(block, &before, &planned.value, &planned.requires_replace);
        self.broken(diags, &replacement.findings)?;
        Ok(replacement.paths)
    }

    /// Puts the marks of the configuration and of the schema on a planned object.
    fn marked(&self, planned: &Planned, config: &Value) -> Value {
        remark(self.ty, planned.value.clone(), &sensitive_paths(config))
    }

    /// Why the author wants a replacement, if so.
    async fn forced(
        &self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
        existing: Option<&Prior>,
    ) -> Result<Option<Reason>, Reported> {
        let triggers = &self.vertex.config.lifecycle.replace_triggered_by;
        let triggered =
            |diags: &mut Diagnostics| triggers::triggered(self.view, diags, triggers, scope);
        // Also where nothing can be replaced yet, so that a mistake shows before the day it matters.
        let triggered = self.view.session.settled(diags, triggered).await?;
        if existing.is_none() {
            return Ok(None);
        }
        if self.view.options.replace.contains(self.addr) {
            return Ok(Some(Reason::ReplaceByRequest));
        }
        Ok(triggered.then_some(Reason::ReplaceByTriggers))
    }

    fn refuse_to_destroy(&self, diags: &mut Diagnostics, action: Action) -> Result<(), Reported> {
        if !action.destroys() || !self.vertex.config.lifecycle.prevent_destroy {
            return Ok(());
        }
        Err(diags.error(must_not_be_destroyed(self.addr, self.vertex.config)))
    }

    async fn check_after(
        &self,
        diags: &mut Diagnostics,
        value: &Value,
        scope: ModuleScope<'_>,
    ) -> Result<(), Reported> {
        let postconditions = &self.vertex.config.lifecycle.postconditions;
        if postconditions.is_empty() {
            return Ok(());
        }
        let scope = scope.with_self(value.clone());
        let object = &Judged::instance(self.addr);
        let judging = self.view.judging(object);
        let kind = ConditionKind::ResourcePostcondition;
        let check = |diags: &mut Diagnostics| {
            conditions::check(diags, &scope, kind, postconditions, judging)
        };
        self.view.session.settled(diags, check).await
    }

    /// Looks at the conditions, where nothing else is done.
    async fn refreshed_only(
        &self,
        diags: &mut Diagnostics,
        prior: Option<Prior>,
        scope: ModuleScope<'_>,
    ) -> Result<FoundObject, Reported> {
        // Whoever only imports wants to hear nothing of what is right later.
        if !self.view.options.imports.is_empty() {
            return Ok(self.as_it_is(prior));
        }
        let object = &Judged::instance(self.addr);
        let judging = self.view.judging(object);
        let before = |diags: &mut Diagnostics| {
            let kind = ConditionKind::ResourcePrecondition;
            let preconditions = &self.vertex.config.lifecycle.preconditions;
            conditions::check(diags, &scope, kind, preconditions, judging)
        };
        self.view.session.settled(diags, before).await?;
        let found = self.as_it_is(prior);
        let value = found.value.clone().unwrap_or_else(|| Value::null(self.ty.ty.clone()));
        self.check_after(diags, &value, scope).await?;
        Ok(found)
    }

    fn as_it_is(&self, prior: Option<Prior>) -> FoundObject {
        let current = prior.as_ref().map(|prior| prior.current.clone());
        let value = current
            .filter(|current| !current.is_null())
            // What is not there may be made by the next run, and then have any value.
            .unwrap_or_else(|| Value::unknown(self.ty.ty.clone()));
        let change = self.unchanged(&value);
        let drift = prior.as_ref().and_then(|prior| {
            // Where nothing else is done, a new address alone is worth showing.
            let moved = self.view.settled.moves.origin(self.addr).is_some();
            prior::drift(prior, &change).or_else(|| moved.then_some(change))
        });
        FoundObject {
            key: self.addr.key.clone(),
            deposed: None,
            refreshed: prior.map_or(Refreshed::Same, |prior| prior.refreshed),
            drift,
            change: None,
            value: Some(value),
        }
    }

    fn unchanged(&self, value: &Value) -> Change {
        Change {
            addr: self.addr.clone(),
            deposed: None,
            moved_from: None,
            importing: None,
            provider: self.vertex.provider.clone(),
            action: Action::NoOp,
            reason: None,
            before: value.clone(),
            after: value.clone(),
            replace_paths: Vec::new(),
            private: Bytes::new(),
            config_known: true,
            identity: None,
            dependencies: Arc::default(),
            prior_dependencies: Arc::default(),
            create_before_destroy: false,
        }
    }

    fn found(&self, prior: Option<Prior>, change: Change) -> FoundObject {
        let drift = prior.as_ref().and_then(|prior| prior::drift(prior, &change));
        FoundObject {
            key: self.addr.key.clone(),
            deposed: None,
            refreshed: prior.map_or(Refreshed::Same, |prior| prior.refreshed),
            drift,
            value: Some(change.after.clone()),
            change: Some(change),
        }
    }
}

/// Says that an object has a number in it that no state can hold.
fn not_finite(addr: &InstanceAddr, config: &Resource) -> Diagnostic {
    let detail = format!(
        "{addr} would have a number in it that is infinite, which no state can hold. It comes of a division by zero, or of numbers too large to be told apart from it."
    );
    Diagnostic::error("Object cannot be stored", detail).at(config.span).about(addr.to_string())
}

/// Says that an instance is protected.
pub(super) fn must_not_be_destroyed(addr: &InstanceAddr, config: &Resource) -> Diagnostic {
    let detail = format!(
        "Resource {addr} has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan using the -target option."
    );
    Diagnostic::error("Instance cannot be destroyed", detail)
        .at(config.span)
        .about(addr.to_string())
}
