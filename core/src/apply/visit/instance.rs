//! Makes or changes one instance, or reads a data source. One straight function from evaluation to
//! record, so that the order of calls and durable writes can be read from top to bottom.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform::{
    self, assert_object_compatible, assert_plan_valid,
};
use formwork_plugin_protocol::contract::legacy;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_plugin_protocol::contract::replace::requires_replace;
use formwork_value::diag::{Blame, Severity};
use formwork_value::{Diagnostic, Diagnostics, Plain, Reported, Value};

use super::again::{self, Question};
use super::{Came, View, announce, provision};
use crate::addr::{InstanceAddr, Mode};
use crate::apply::salvage::{self, Asked, Salvaged};
use crate::apply::vertex::InstanceVertex;
use crate::change::{Action, Change};
use crate::config::When;
use crate::eval::ModuleScope;
use crate::eval::conditions::{self, ConditionKind, Judging};
use crate::eval::verdicts::Judged;
use crate::event::Event;
use crate::phase::{
    encode, evaluate, ignored, plain, read_data, read_nested, sensitive_paths, shown_id,
    spoken_from, stored_data, watched,
};
use crate::provider::{About, Ask, Breach, Handle, Planned, ResourceType, StoredIdentity, remark};
use crate::state::journal::{self, Intent, JournalError, Op};
use crate::state::{Object, Status};

/// Visits an instance.
pub(super) async fn visit(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &InstanceVertex<'_>,
) -> Result<Came, Reported> {
    let (handle, ty) = provider(view, diags, vertex)?;
    let change = vertex.change;
    let Some(module) = view.session.results.module(&change.addr.module) else {
        return Err(diags.error(no_place(&change.addr)));
    };
    let expansion = module.resource(&change.addr.resource);
    let data = expansion.and_then(|results| Some(results.expansion()?.data(&change.addr.key)));
    let scope = view.session.scope(module).repeated(data.unwrap_or_default());
    let lifecycle = &vertex.config.lifecycle;
    let kind = ConditionKind::ResourcePrecondition;
    let object = &Judged::instance(&change.addr);
    let (verdicts, failure) = (&view.session.results.verdicts, Severity::Error);
    let judging = Judging { object, verdicts, failure };
    let config = |diags: &mut Diagnostics| {
        conditions::check(diags, &scope, kind, &lifecycle.preconditions, judging)?;
        evaluate(diags, vertex.config, ty.block(), &scope)
    };
    let config = view.session.settled(diags, config).await?;
    let work = Work { view, vertex, handle: &handle, ty: &ty };
    let came = match change.addr.resource.mode() {
        Mode::Data => work.read(diags, &config).await?,
        Mode::Managed | Mode::Ephemeral => work.make(diags, &config, &scope).await?,
    };
    work.check_after(diags, &came, scope).await;
    Ok(came)
}

fn tainted(object: &Object) -> Object {
    Object { status: Status::Tainted, ..object.clone() }
}

/// A module that had an instance while planning and has none now: its repetition is not the same.
fn no_place(addr: &InstanceAddr) -> Diagnostic {
    let detail = format!(
        "The plan has {addr}, but now {} is not among the instances of its module. Its count or for_each must not change between planning and applying.",
        addr.module
    );
    Diagnostic::error("Module instance not there", detail).about(addr.to_string())
}

fn provider(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &InstanceVertex<'_>,
) -> Result<(Rc<Handle>, Rc<ResourceType>), Reported> {
    let addr = &vertex.change.addr;
    let handle = view.session.pool.configured(&vertex.change.provider);
    let found = handle.and_then(|handle| {
        let ty = handle.loaded().find(addr.resource.mode(), addr.resource.kind())?;
        Some((handle, ty))
    });
    let (handle, ty) = found.ok_or_else(|| {
        let detail = format!(
            "{} was not configured, or has no such type, when {addr} was to be applied.",
            vertex.change.provider
        );
        diags.error(Diagnostic::error("Provider not ready", detail).blame(Blame::Internal))
    })?;
    Ok((spoken_from(view.session, diags, handle, &addr.of().config())?, ty))
}

/// The work on one instance.
struct Work<'a> {
    view: View<'a>,
    vertex: &'a InstanceVertex<'a>,
    handle: &'a Rc<Handle>,
    ty: &'a ResourceType,
}

impl<'a> Work<'a> {
    fn change(&self) -> &'a Change {
        self.vertex.change
    }

    fn about(&self) -> About<'a> {
        About { addr: &self.vertex.change.addr, block: Some(self.vertex.config.span) }
    }

    fn see(&self, event: &Event<'_>) {
        self.view.session.watch.see(event);
    }

    /// What is done now: the second half of a replacement is a creation.
    fn action(&self) -> Action {
        match self.change().action {
            Action::Replace(_) => Action::Create,
            action => action,
        }
    }

    async fn read(&self, diags: &mut Diagnostics, config: &Value) -> Result<Came, Reported> {
        let addr = &self.change().addr;
        if !config.is_wholly_known() {
            let detail = format!(
                "The configuration of {addr} holds values that are still not known while applying."
            );
            return Err(diags.error(
                Diagnostic::error("Configuration contains unknown value", detail)
                    .blame(Blame::Internal),
            ));
        }
        self.handle.validate(diags, self.ty, config, self.about()).await?;
        let (session, with) = (self.view.session, (&**self.handle, self.ty));
        let place = (addr, self.vertex.config.span);
        let value = match &self.vertex.config.within {
            None => read_data(session, diags, with, config, place).await?,
            Some(check) => {
                let place = (addr, self.vertex.config.span, check);
                let read = read_nested(session, diags, with, config, place).await;
                // What was asked for is kept also if there was no answer.
                read.unwrap_or_else(|| remark(self.ty, plain(config), &sensitive_paths(config)))
            }
        };
        let object = Some(Arc::new(stored_data(diags, self.ty, addr, &value)?));
        Ok(Came::Made { object, value: Some(value), deposes: None, changed: true })
    }

    async fn make(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        scope: &ModuleScope<'_>,
    ) -> Result<Came, Reported> {
        if !self.change().config_known {
            self.handle.validate(diags, self.ty, config, self.about()).await?;
        }
        let updating = self.change().action == Action::Update;
        let stored = self.prior_object().filter(|_| updating);
        let prior = if updating {
            plain(&self.change().before)
        } else {
            conform::planned_destroy(self.ty.block())
        };
        let plain_config = plain(config);
        let planned = self.plan_again(diags, &prior, &plain_config).await?;
        if planned.value == prior {
            return self.unchanged(diags, planned, config);
        }
        let ask = Ask {
            prior: &prior,
            proposed: &planned.value,
            config: &plain_config,
            private: &planned.private,
            identity: planned.identity.as_ref(),
        };
        self.send(diags, (ask, stored), (config, scope)).await
    }

    /// Asks for the plan again, now that more is known, and holds it against the one the user saw.
    async fn plan_again(
        &self,
        diags: &mut Diagnostics,
        prior: &Plain,
        config: &Plain,
    ) -> Result<Planned, Reported> {
        let block = self.ty.block();
        let updating = !prior.value().is_null();
        let private = if updating { self.prior_private() } else { Bytes::new() };
        let ignored = ignored(&self.vertex.config.lifecycle.ignore_changes);
        let config = match &ignored {
            Some(ignored) => ignored.in_config(block, prior, config),
            None => config.clone(),
        };
        let proposed = proposed_new(block, prior, &config);
        let identity = self.prior_object().filter(|_| updating);
        let identity = identity.and_then(|object| self.ty.identity_of(object));
        let identity = identity.as_ref();
        let ask = Ask { prior, proposed: &proposed, config: &config, private: &private, identity };
        let mut planned = self.handle.plan(diags, self.ty, ask, self.about()).await?;
        let mut findings = conform::write_only_findings(block, &planned.value);
        findings.extend(conform::type_findings(block, &planned.value));
        if planned.legacy {
            planned.value = legacy::normalise(block, &planned.value);
            if let Some(ignored) = &ignored {
                planned.value = ignored.in_planned(prior, &planned.value);
            }
        } else {
            findings.extend(assert_plan_valid(block, prior, &config, &planned.value));
        }
        let replacement = requires_replace(block, prior, &planned.value, &planned.requires_replace);
        findings.extend(replacement.findings);
        let findings = findings.iter().map(ToString::to_string);
        self.broken(diags, "Provider produced invalid plan", findings)?;
        let shown = plain(&self.change().after);
        let problems = assert_object_compatible(block, &shown, &planned.value);
        let problems = problems.iter().map(|problem| {
            format!("the plan made while applying differs from the one that was shown: {problem}")
        });
        let replaced = replacement.paths.iter().map(|path| {
            format!("an update was shown, and now a change of {path} demands a replacement")
        });
        let problems = problems.chain(replaced);
        self.broken(diags, "Provider produced inconsistent final plan", problems)?;
        Ok(planned)
    }

    /// Reports how a plan breaks the contract.
    fn broken(
        &self,
        diags: &mut Diagnostics,
        summary: &str,
        problems: impl Iterator<Item = String>,
    ) -> Result<(), Reported> {
        let call = "PlanResourceChange";
        let mut result = Ok(());
        for problem in problems {
            let breach = Breach { summary, call, problem: &problem };
            result = Err(self.handle.invalid(diags, breach, self.about()));
        }
        result
    }

    fn prior_object(&self) -> Option<&'a Arc<Object>> {
        self.view.plan.prior.current(&self.vertex.change.addr)
    }

    fn prior_private(&self) -> Bytes {
        self.prior_object().map_or_else(Bytes::new, |object| object.private.clone())
    }

    /// Nothing is left to ask of the provider: only what the state says about the object changes. That
    /// something is sensitive now, or is no longer, is told as a change, as it was planned.
    fn unchanged(
        &self,
        diags: &mut Diagnostics,
        planned: Planned,
        config: &Value,
    ) -> Result<Came, Reported> {
        let value = remark(self.ty, planned.value, &sensitive_paths(config));
        let identity = self.prior_object().and_then(|object| object.identity.clone());
        let object = self.object(diags, &value, (self.prior_private(), identity), Status::Ready)?;
        let Change { addr, before, action, .. } = self.change();
        let changed = value != *before;
        if changed {
            let (action, deposed, id, elapsed) = (*action, None, shown_id(&value), Duration::ZERO);
            self.see(&Event::Start { addr, deposed, action, id: id.clone() });
            self.see(&Event::Done { addr, deposed, action, id, elapsed });
        }
        Ok(Came::Made { object: Some(object), value: Some(value), deposes: None, changed })
    }

    /// Announces the call, makes it, keeps the answer, and only then looks at it.
    async fn send(
        &self,
        diags: &mut Diagnostics,
        (ask, stored): (Ask<'_>, Option<&Arc<Object>>),
        given: (&Value, &ModuleScope<'_>),
    ) -> Result<Came, Reported> {
        let (change, action) = (self.change(), self.action());
        let id = shown_id(&change.before).filter(|_| action == Action::Update);
        let intent = Intent {
            addr: &change.addr,
            provider: &change.provider,
            deposed: None,
            deposes: self.vertex.deposes.as_ref(),
            action: match action {
                Action::Update => journal::Action::Update,
                _ => journal::Action::Create,
            },
            prior: stored
                .or_else(|| self.prior_object().filter(|_| self.vertex.deposes.is_some()))
                .map(|object| &**object),
            planned: ask.proposed.value(),
        };
        let op = announce(self.view, intent).await;
        let op = op.map_err(|why| salvage::not_durable(diags, &why, self.about()))?;
        self.see(&Event::Start { addr: &change.addr, deposed: None, action, id: id.clone() });
        let asked = Asked { prior: ask.prior, planned: ask.proposed };
        let call = async {
            let answer = self.handle.apply(self.ty, ask, &change.addr).await;
            let kept = self.view.journal.answer(op, salvage::taken_down(&answer));
            let salvaged =
                salvage::salvage(diags, (self.handle, self.ty), asked, answer, self.about());
            let predecessor = self.predecessor();
            let question = self.question(stored, &predecessor);
            let salvaged = again::resolve(self.view, diags, question, asked, salvaged).await;
            if let Err(why) = kept {
                // Nothing is wrong with the object: dependents wait, but it is not half made.
                let _: Reported = self.not_kept(diags, &why);
            }
            self.keep(diags, (op, salvaged), given).await
        };
        let (came, elapsed) =
            watched(self.view.session, (&change.addr, action, id.as_ref()), call).await;
        match &came {
            Ok(Came::Made { value: Some(value), .. }) => {
                let id = shown_id(value);
                self.see(&Event::Done { addr: &change.addr, deposed: None, action, id, elapsed });
            }
            _ => self.see(&Event::Failed { addr: &change.addr, action, elapsed }),
        }
        came
    }

    /// What the object is like that is deposed once the new one is there; null if there is none.
    fn predecessor(&self) -> Plain {
        match self.vertex.deposes {
            Some(_) => plain(&self.change().before),
            None => conform::planned_destroy(self.ty.block()),
        }
    }

    fn question<'q>(
        &'q self,
        stored: Option<&'q Arc<Object>>,
        predecessor: &'q Plain,
    ) -> Question<'q> {
        Question {
            addr: &self.change().addr,
            provider: &self.change().provider,
            handle: self.handle,
            ty: self.ty,
            object: stored.map(|object| &**object),
            predecessor: predecessor.value(),
        }
    }

    fn not_kept(&self, diags: &mut Diagnostics, why: &JournalError) -> Reported {
        let detail = format!(
            "{} was changed, but the answer could not be written to the journal: {why}",
            self.change().addr
        );
        diags
            .error(Diagnostic::error("Journal cannot be written", detail).blame(Blame::Environment))
    }

    /// Records what the call left behind, whether it went well or not, and runs what is to run beside
    /// an object that was made.
    async fn keep(
        &self,
        diags: &mut Diagnostics,
        (op, salvaged): (Op, Salvaged),
        (config, scope): (&Value, &ModuleScope<'_>),
    ) -> Result<Came, Reported> {
        let sensitive = sensitive_paths(config);
        let creating = self.action() == Action::Create;
        let mut failed = salvaged.result.is_err();
        let provisions =
            creating && !failed && provision::any(&self.vertex.config.provisioners, When::Create);
        let value = remark(self.ty, salvaged.value.clone(), &sensitive);
        let mut object = if salvaged.value.value().is_null() {
            None
        } else if salvaged.untouched {
            self.prior_object().cloned()
        } else {
            // What was to run beside a new object has not run when its creation failed.
            let whole =
                salvaged.sound && !provision::any(&self.vertex.config.provisioners, When::Create);
            let half_made = failed && creating && !whole;
            let status = if half_made { Status::Tainted } else { Status::Ready };
            let kept = self.prior_object().filter(|_| !creating);
            let kept = kept.and_then(|object| object.identity.clone());
            let beside = (salvaged.private, salvaged.identity.or(kept));
            Some(self.object(diags, &value, beside, status)?)
        };
        if provisions {
            // Tainted in the journal as long as that runs: if the program is cut off meanwhile, the
            // object is half made.
            let half_made = object.as_deref().map(tainted);
            if let Err(why) = self.view.journal.settle_for_now(op, half_made.as_ref()) {
                let _: Reported = self.not_kept(diags, &why);
            }
            let scope = scope.clone().with_self(value.clone());
            let what = (&*self.vertex.config.provisioners, When::Create);
            let done =
                provision::provision(self.view, diags, &self.change().addr, what, &scope).await;
            if done.is_err() {
                failed = true;
                object = half_made.map(Arc::new);
            }
        }
        if !salvaged.in_doubt
            && let Err(why) = self.view.journal.settle(op, object.as_deref())
        {
            let _: Reported = self.not_kept(diags, &why);
        }
        let deposes = self.vertex.deposes.clone().filter(|_| object.is_some());
        Ok(Came::Made { object, value: (!failed).then_some(value), deposes, changed: true })
    }

    fn object(
        &self,
        diags: &mut Diagnostics,
        value: &Value,
        (private, identity): (Bytes, Option<StoredIdentity>),
        status: Status,
    ) -> Result<Arc<Object>, Reported> {
        let (attributes, sensitive) = encode(diags, self.ty, &self.change().addr, value)?;
        Ok(Arc::new(Object {
            status,
            schema_version: self.ty.schema.version,
            attributes,
            sensitive,
            private,
            dependencies: self.change().dependencies.clone(),
            create_before_destroy: self.change().create_before_destroy,
            identity,
        }))
    }

    /// A postcondition that does not hold stops what depends on the instance, but the instance is
    /// kept as it is.
    async fn check_after(&self, diags: &mut Diagnostics, came: &Came, scope: ModuleScope<'_>) {
        let postconditions = &self.vertex.config.lifecycle.postconditions;
        if let Came::Made { value: Some(value), .. } = came
            && !postconditions.is_empty()
        {
            let scope = scope.with_self(value.clone());
            let kind = ConditionKind::ResourcePostcondition;
            // Errors are in `diags`, and that is what stops dependents.
            let object = &Judged::instance(&self.change().addr);
            let (verdicts, failure) = (&self.view.session.results.verdicts, Severity::Error);
            let judging = Judging { object, verdicts, failure };
            let check = |diags: &mut Diagnostics| {
                conditions::check(diags, &scope, kind, postconditions, judging)
            };
            let _ = self.view.session.settled(diags, check).await;
        }
    }
}
