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
use crate::instance_steps::{
    InstanceConfig, ResourceWithAddress, find_client_of_config, point_diagnostics_at_parts,
    sensitive_paths, unmark_value,
};
use crate::messages;
use crate::progress::wait_with_ticks;
use crate::provider::{CallContext, OpenEphemeralData, ProviderClient};
use crate::session::Session;

/// The least time between two renewals, for providers whose deadlines have always passed.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_millis(100);

/// The ephemeral resources that are open in one phase.
pub(crate) struct EphemeralResources<'s> {
    session: &'s Session<'s>,
    open: RefCell<BTreeMap<InstanceAddr, Rc<OpenResource>>>,
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
struct OpenResource {
    addr: InstanceAddr,
    /// The header of the block.
    block: Span,
    client: Rc<ProviderClient>,
    /// Private data of the opening, for closing it.
    opened: Bytes,
    /// Data of the last answer, for the next renewal.
    keep: RefCell<OpenEphemeralData>,
    /// When it has to be renewed; nothing while it is, and if it never has to.
    due: Cell<Option<Instant>>,
    /// Prevents closing it while it is renewed.
    turn: Semaphore,
}

impl OpenResource {
    fn call_context(&self) -> CallContext<'_> {
        CallContext { addr: &self.addr, block: Some(self.block) }
    }

    fn resource_type(&self) -> &str {
        self.addr.resource.resource_type()
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
    pub(crate) async fn open_instance(
        &self,
        diags: &mut Diagnostics,
        site: EphemeralInstance<'_>,
        scope: ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        // Collected apart, so that only these diagnostics are moved to parts of this block.
        let mut said = Diagnostics::new();
        let value = self.try_open(&mut said, site, scope).await;
        point_diagnostics_at_parts(&mut said, &site.config.body, site.config.span);
        diags.append(said).and(value)
    }

    async fn try_open(
        &self,
        diags: &mut Diagnostics,
        EphemeralInstance { config: resource, addr, provider }: EphemeralInstance<'_>,
        scope: ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        let session = self.session;
        let name = addr.resource_addr().config_addr();
        let configured = ResourceWithAddress { addr: &name, config: resource };
        let (client, ty) = find_client_of_config(session, diags, provider, configured)?;
        let written = InstanceConfig { session, config: resource, addr, failure: Severity::Error };
        let config = written.evaluate(diags, &ty, &scope).await?;
        let about = written.call_context();
        // Validated on every opening, since the configuration of an ephemeral resource may differ
        // between plan and apply.
        client.validate_resource_config(diags, &ty, &config, about).await?;
        if !config.is_wholly_known() {
            self.send_event(addr, EphemeralStep::Open, EphemeralStage::Deferred);
            let unknown = unmark_value(&Value::unknown(ty.ty.clone()));
            let value = proposed_new(ty.schema_block(), &unknown, &unmark_value(&config));
            return Ok(with_config_marks(value, &config));
        }
        let opening = client.open_ephemeral(diags, &ty, &config, about);
        let opened = self.wait_with_events(addr, EphemeralStep::Open, opening).await?;
        let value = with_config_marks(opened.value, &config);
        // Kept before the postconditions are checked: the resource is open from now on and has to
        // be closed, also if one fails.
        self.add_open_resource(OpenResource {
            addr: addr.clone(),
            block: resource.span,
            client,
            // Protocol: `CloseEphemeralResource` gets the private data of the opening, and
            // `RenewEphemeralResource` those of the last answer.
            opened: opened.keep.private.clone(),
            due: Cell::new(self.renewal_deadline(&opened.keep)),
            keep: RefCell::new(opened.keep),
            turn: Semaphore::new(1),
        });
        written.check_postconditions(diags, scope, &value).await?;
        Ok(value)
    }

    fn add_open_resource(&self, open: OpenResource) {
        self.open.borrow_mut().insert(open.addr.clone(), Rc::new(open));
        self.changed.notify_one();
    }

    /// Closes all instances of a resource.
    pub(crate) async fn close_resource(
        &self,
        diags: &mut Diagnostics,
        resource: &ConfigResourceAddr,
    ) {
        let theirs = |addr: &&InstanceAddr| addr.resource_addr().config_addr() == *resource;
        let theirs = self.open.borrow().keys().filter(theirs).cloned().collect();
        self.close_instances(diags, theirs).await;
    }

    /// Closes everything that is still open, and reports the diagnostics of renewals.
    pub(crate) async fn close_all(&self, diags: &mut Diagnostics) {
        let left: Vec<InstanceAddr> = self.open.borrow().keys().cloned().collect();
        self.close_instances(diags, left).await;
        let _ = diags.append(self.problems.take());
    }

    async fn close_instances(&self, diags: &mut Diagnostics, these: Vec<InstanceAddr>) {
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
            let closing = open.client.close_ephemeral(
                &mut said,
                open.resource_type(),
                private,
                open.call_context(),
            );
            let _ = self.wait_with_events(addr, EphemeralStep::Close, closing).await;
            self.point_at_resource_block(&mut said, &open);
            said
        });
        for said in futures_util::future::join_all(closed).await {
            let _ = diags.append(said);
        }
    }

    /// Does something while everything that is open is renewed in time.
    pub(crate) async fn renew_while_running<T>(&self, work: impl Future<Output = T>) -> T {
        // Within the same task and not on another one: renewals use the diagnostics and providers
        // of this phase without locks, and end with it.
        let (work, renewing) = (pin!(work), pin!(self.renew_forever()));
        match select(work, renewing).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => match never {},
        }
    }

    /// Renews each when it is due. A renewal that takes its time holds up no other.
    async fn renew_forever(&self) -> Infallible {
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
                () = timer => under_way.extend(self.take_resources_to_renew().into_iter().map(|open| self.renew_resource(open))),
                () = self.changed.notified() => {}
                Some(()) = under_way.next() => {}
            }
        }
    }

    /// Takes the resources that have to be renewed now.
    fn take_resources_to_renew(&self) -> Vec<Rc<OpenResource>> {
        let now = Instant::now();
        let is_due = |open: &&Rc<OpenResource>| open.due.get().is_some_and(|at| at <= now);
        let due: Vec<_> = self.open.borrow().values().filter(is_due).cloned().collect();
        // Without a time until the renewal ends, or the loop would start it again at once.
        due.iter().for_each(|open| open.due.set(None));
        due
    }

    /// Time at which a resource must be renewed, if the provider says until when it lasts.
    fn renewal_deadline(&self, keep: &OpenEphemeralData) -> Option<Instant> {
        // Its clock is read at once: later changes of the clock have no effect.
        // The protocol gives a wall-clock time. It becomes a duration here, because timers must not
        // depend on adjustments of the clock.
        let now: SystemTime = (self.session.world.clock)().into();
        let lasts = keep.renew_at?.duration_since(now).unwrap_or_default();
        // A time that the clock cannot represent is as good as none.
        Instant::now().checked_add(lasts.max(MIN_RENEWAL_INTERVAL))
    }

    async fn renew_resource(&self, open: Rc<OpenResource>) {
        // The semaphore is never closed, so a permit always comes.
        let _turn = open.turn.acquire().await;
        let mut said = Diagnostics::new();
        let private = open.keep.borrow().private.clone();
        let renewing = open.client.renew_ephemeral(
            &mut said,
            open.resource_type(),
            private,
            open.call_context(),
        );
        // After a failure it is not tried again: its users may be done before it runs out.
        if let Ok(keep) = self.wait_with_events(&open.addr, EphemeralStep::Renew, renewing).await {
            open.due.set(self.renewal_deadline(&keep));
            *open.keep.borrow_mut() = keep;
        }
        self.point_at_resource_block(&mut said, &open);
        for problem in said {
            self.problems.borrow_mut().warn(renewal_warning(&open.addr, open.block, problem));
        }
    }

    fn point_at_resource_block(&self, said: &mut Diagnostics, open: &OpenResource) {
        if let Some(resource) =
            self.session.config.find_resource(&open.addr.resource_addr().config_addr())
        {
            point_diagnostics_at_parts(said, &resource.body, open.block);
        }
    }

    /// Waits for a call, and reports its progress to the watcher.
    async fn wait_with_events<T>(
        &self,
        addr: &InstanceAddr,
        step: EphemeralStep,
        call: impl Future<Output = Result<T, Reported>>,
    ) -> Result<T, Reported> {
        self.send_event(addr, step, EphemeralStage::Start);
        let tick = |elapsed| self.send_event(addr, step, EphemeralStage::Progress(elapsed));
        let (result, elapsed) = wait_with_ticks(pin!(call), tick).await;
        let stage = match &result {
            Ok(_) => EphemeralStage::Done(elapsed),
            Err(_) => EphemeralStage::Failed(elapsed),
        };
        self.send_event(addr, step, stage);
        result
    }

    fn send_event(&self, addr: &InstanceAddr, step: EphemeralStep, stage: EphemeralStage) {
        self.session.watch.on_event(&Event::Ephemeral { addr, step, stage });
    }
}

/// The value with the sensitive marks of the configuration.
fn with_config_marks(value: Plain, config: &Value) -> Value {
    // Attributes that the schema calls sensitive are not marked: ephemeral values are neither shown
    // nor stored, and Terraform marks nothing more.
    let paths = MarkPaths::on_all_paths(sensitive_paths(config), Marks::SENSITIVE);
    value.with_marks(&paths).mark(Marks::EPHEMERAL)
}

/// A renewal that fails stops nothing: users of the resource may be done before it runs out, and
/// report an error if not.
fn renewal_warning(addr: &InstanceAddr, block: Span, problem: Diagnostic) -> Diagnostic {
    if problem.severity == Severity::Warning {
        return problem;
    }
    let detail = format!(
        "{addr} could not be renewed, so it may expire before all its dependents are done. The provider reported: {}: {}",
        problem.summary, problem.detail
    );
    let place = problem.subject.unwrap_or(block);
    Diagnostic::warning(messages::EPHEMERAL_RESOURCE_NOT_RENEWED, detail)
        .at(place)
        .about(addr.to_string())
}
