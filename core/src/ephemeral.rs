//! Ephemeral resources while a phase needs them: opened when they are visited, renewed for as long
//! as the phase continues, closed when the last vertex that needs them is done, and at the end in
//! any case. Each phase decides which vertex opens and which one closes them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_value::diag::Severity;
use formwork_value::{Diagnostic, Diagnostics, MarkPaths, Marks, Plain, Reported, Span, Value};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use crate::addr::{ConfigResourceAddr, InstanceAddr, ProviderConfigAddr};
use crate::config::Resource;
use crate::eval::ModuleScope;
use crate::event::{EphemeralStage, EphemeralStep, Event};
use crate::instance::{
    ConfiguredResource, InstanceConfig, find_written, plain, point_at_parts, sensitive_paths,
};
use crate::messages;
use crate::progress::ticking;
use crate::provider::{CallContext, Keep, ProviderClient};
use crate::session::Session;

/// The least time between two renewals, for providers whose deadlines have always passed.
const LEAST_LAST: Duration = Duration::from_millis(100);

/// The ephemeral resources that are open in one phase.
pub(crate) struct EphemeralResources<'s> {
    session: &'s Session<'s>,
    open: RefCell<BTreeMap<InstanceAddr, Rc<Open>>>,
    /// Set off when one is opened or closed.
    changed: Notify,
    /// Diagnostics of renewals.
    problems: RefCell<Diagnostics>,
}

/// An instance to be opened.
#[derive(Clone, Copy)]
pub(crate) struct EphemeralInstance<'a> {
    pub(crate) config: &'a Resource,
    pub(crate) addr: &'a InstanceAddr,
    pub(crate) provider: &'a ProviderConfigAddr,
}

/// An open ephemeral resource.
struct Open {
    addr: InstanceAddr,
    /// The header of the block.
    block: Span,
    handle: Rc<ProviderClient>,
    /// Private data of the opening, for closing it.
    opened: Bytes,
    /// Data of the last answer, for the next renewal.
    keep: RefCell<Keep>,
    /// When it has to be renewed; nothing while it is, and if it never has to.
    due: Cell<Option<Instant>>,
    /// Prevents closing it while it is renewed.
    turn: Semaphore,
}

impl Open {
    fn about(&self) -> CallContext<'_> {
        CallContext { addr: &self.addr, block: Some(self.block) }
    }

    fn kind(&self) -> &str {
        self.addr.resource.kind()
    }
}

impl<'s> EphemeralResources<'s> {
    /// None yet.
    pub(crate) fn new(session: &'s Session<'s>) -> Self {
        Self {
            session,
            open: RefCell::default(),
            changed: Notify::new(),
            problems: RefCell::default(),
        }
    }

    /// Opens an instance and returns its value. If its configuration is not known yet, it stays
    /// closed and its value is unknown.
    ///
    /// # Errors
    /// When anything on the way fails. Resources opened by then are closed at the end.
    pub(crate) async fn open(
        &self,
        diags: &mut Diagnostics,
        site: EphemeralInstance<'_>,
        scope: ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        // Collected apart, so that only these diagnostics are moved to parts of this block.
        let mut said = Diagnostics::new();
        let value = self.try_open(&mut said, site, scope).await;
        point_at_parts(&mut said, &site.config.body, site.config.span);
        diags.append(said).and(value)
    }

    async fn try_open(
        &self,
        diags: &mut Diagnostics,
        EphemeralInstance { config: resource, addr, provider }: EphemeralInstance<'_>,
        scope: ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        let session = self.session;
        let name = addr.of().config();
        let configured = ConfiguredResource { addr: &name, config: resource };
        let (handle, ty) = find_written(session, diags, provider, configured)?;
        let written = InstanceConfig { session, config: resource, addr, failure: Severity::Error };
        let config = written.evaluate(diags, &ty, &scope).await?;
        let about = written.about();
        // Validated on every opening, since the configuration of an ephemeral resource may differ
        // between plan and apply.
        handle.validate(diags, &ty, &config, about).await?;
        if !config.is_wholly_known() {
            self.see(addr, EphemeralStep::Open, EphemeralStage::Deferred);
            let unknown = plain(&Value::unknown(ty.ty.clone()));
            let value = proposed_new(ty.block(), &unknown, &plain(&config));
            return Ok(marked(value, &config));
        }
        let opening = handle.open(diags, &ty, &config, about);
        let opened = self.seen(addr, EphemeralStep::Open, opening).await?;
        let value = marked(opened.value, &config);
        // Kept before the postconditions are checked: the resource is open from now on and has to
        // be closed, also if one fails.
        self.keep(Open {
            addr: addr.clone(),
            block: resource.span,
            handle,
            // Protocol: `CloseEphemeralResource` gets the private data of the opening, and
            // `RenewEphemeralResource` those of the last answer.
            opened: opened.keep.private.clone(),
            due: Cell::new(self.deadline(&opened.keep)),
            keep: RefCell::new(opened.keep),
            turn: Semaphore::new(1),
        });
        written.check_after(diags, scope, &value).await?;
        Ok(value)
    }

    fn keep(&self, open: Open) {
        self.open.borrow_mut().insert(open.addr.clone(), Rc::new(open));
        self.changed.notify_one();
    }

    /// Closes all instances of a resource.
    pub(crate) async fn close(&self, diags: &mut Diagnostics, resource: &ConfigResourceAddr) {
        let theirs = |addr: &&InstanceAddr| addr.of().config() == *resource;
        let theirs = self.open.borrow().keys().filter(theirs).cloned().collect();
        self.close_these(diags, theirs).await;
    }

    /// Closes everything that is still open, and reports the diagnostics of renewals.
    pub(crate) async fn finish(&self, diags: &mut Diagnostics) {
        let left: Vec<InstanceAddr> = self.open.borrow().keys().cloned().collect();
        self.close_these(diags, left).await;
        let _ = diags.append(self.problems.take());
    }

    async fn close_these(&self, diags: &mut Diagnostics, these: Vec<InstanceAddr>) {
        let closed = these.iter().map(async |addr| {
            let mut said = Diagnostics::new();
            // Whatever comes of it, it is not closed twice.
            // Removed before the call, so that no renewal starts for it meanwhile.
            let open = self.open.borrow_mut().remove(addr);
            self.changed.notify_one();
            let Some(open) = open else { return said };
            // The semaphore is never closed, so a permit always comes.
            let _turn = open.turn.acquire().await;
            let private = open.opened.clone();
            let closing = open.handle.close(&mut said, open.kind(), private, open.about());
            let _ = self.seen(addr, EphemeralStep::Close, closing).await;
            self.place(&mut said, &open);
            said
        });
        for said in futures_util::future::join_all(closed).await {
            let _ = diags.append(said);
        }
    }

    /// Does something while everything that is open is renewed in time.
    pub(crate) async fn keeping<T>(&self, work: impl Future<Output = T>) -> T {
        // Within the same task and not on another one: renewals use the diagnostics and providers
        // of this phase without locks, and end with it.
        let (work, renewing) = (pin!(work), pin!(self.renew_for_ever()));
        match select(work, renewing).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => match never {},
        }
    }

    /// Renews each when it is due. A renewal that takes its time holds up no other.
    async fn renew_for_ever(&self) -> Infallible {
        let mut under_way = FuturesUnordered::new();
        loop {
            // Computed again after each event, because an opening or a renewal may have an earlier
            // time than the one waited for.
            let next = self.open.borrow().values().filter_map(|open| open.due.get()).min();
            let timer = async {
                match next {
                    Some(next) => tokio::time::sleep_until(next).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = timer => under_way.extend(self.due().into_iter().map(|open| self.renew(open))),
                () = self.changed.notified() => {}
                Some(()) = under_way.next() => {}
            }
        }
    }

    /// Takes the resources that have to be renewed now.
    fn due(&self) -> Vec<Rc<Open>> {
        let now = Instant::now();
        let is_due = |open: &&Rc<Open>| open.due.get().is_some_and(|at| at <= now);
        let due: Vec<_> = self.open.borrow().values().filter(is_due).cloned().collect();
        // Without a time until the renewal ends, or the loop would start it again at once.
        due.iter().for_each(|open| open.due.set(None));
        due
    }

    /// Time at which a resource must be renewed, if the provider says until when it lasts. Its
    /// clock is read at once: later changes of the clock have no effect.
    fn deadline(&self, keep: &Keep) -> Option<Instant> {
        // The protocol gives a wall-clock time. It becomes a duration here, because timers must not
        // depend on adjustments of the clock.
        let now: SystemTime = (self.session.world.clock)().into();
        let lasts = keep.renew_at?.duration_since(now).unwrap_or_default();
        // A time that the clock cannot represent is as good as none.
        Instant::now().checked_add(lasts.max(LEAST_LAST))
    }

    async fn renew(&self, open: Rc<Open>) {
        // The semaphore is never closed, so a permit always comes.
        let _turn = open.turn.acquire().await;
        let mut said = Diagnostics::new();
        let private = open.keep.borrow().private.clone();
        let renewing = open.handle.renew(&mut said, open.kind(), private, open.about());
        // After a failure it is not tried again: its users may be done before it runs out.
        if let Ok(keep) = self.seen(&open.addr, EphemeralStep::Renew, renewing).await {
            open.due.set(self.deadline(&keep));
            *open.keep.borrow_mut() = keep;
        }
        self.place(&mut said, &open);
        for problem in said {
            self.problems.borrow_mut().warn(about_renewal(&open.addr, open.block, problem));
        }
    }

    fn place(&self, said: &mut Diagnostics, open: &Open) {
        if let Some(resource) = self.session.config.resource(&open.addr.of().config()) {
            point_at_parts(said, &resource.body, open.block);
        }
    }

    /// Waits for a call, and reports its progress to the watcher.
    async fn seen<T>(
        &self,
        addr: &InstanceAddr,
        step: EphemeralStep,
        call: impl Future<Output = Result<T, Reported>>,
    ) -> Result<T, Reported> {
        self.see(addr, step, EphemeralStage::Start);
        let tick = |elapsed| self.see(addr, step, EphemeralStage::Progress(elapsed));
        let (result, elapsed) = ticking(pin!(call), tick).await;
        let stage = match &result {
            Ok(_) => EphemeralStage::Done(elapsed),
            Err(_) => EphemeralStage::Failed(elapsed),
        };
        self.see(addr, step, stage);
        result
    }

    fn see(&self, addr: &InstanceAddr, step: EphemeralStep, stage: EphemeralStage) {
        self.session.watch.see(&Event::Ephemeral { addr, step, stage });
    }
}

/// The value with the sensitive marks of the configuration. Attributes that the schema calls
/// sensitive are not marked: ephemeral values are neither shown nor stored, and Terraform marks
/// nothing more.
fn marked(value: Plain, config: &Value) -> Value {
    let paths = MarkPaths::all(sensitive_paths(config), Marks::SENSITIVE);
    value.with_marks(&paths).mark(Marks::EPHEMERAL)
}

/// A renewal that fails stops nothing: users of the resource may be done before it runs out, and
/// report an error if not.
fn about_renewal(addr: &InstanceAddr, block: Span, problem: Diagnostic) -> Diagnostic {
    if problem.severity == Severity::Warning {
        return problem;
    }
    let detail = format!(
        "{addr} could not be renewed, so it may run out before everything that uses it is done. Its provider says: {}: {}",
        problem.summary, problem.detail
    );
    let place = problem.subject.unwrap_or(block);
    Diagnostic::warning(messages::EPHEMERAL_RESOURCE_NOT_RENEWED, detail)
        .at(place)
        .about(addr.to_string())
}
