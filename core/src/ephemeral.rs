//! Ephemeral resources of a phase: they are opened when they are visited, renewed while the phase runs,
//! and closed when the last vertex that needs them is done, or at the end of the phase. Each phase
//! determines the vertices that open and close them.

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

/// Minimum time between two renewals, for providers that return times in the past.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_millis(100);

/// The ephemeral resources that are open in one phase.
pub(crate) struct EphemeralResources<'s> {
    session: &'s Session<'s>,
    open: RefCell<BTreeMap<InstanceAddr, Rc<OpenResource>>>,
    /// Notified when a resource is opened or closed.
    changed: Notify,
    /// Diagnostics of renewals.
    problems: RefCell<Diagnostics>,
}

/// An instance to open.
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
    /// Private data of the open call, for the close call.
    opened: Bytes,
    /// Private data of the last response, for the next renewal.
    keep: RefCell<OpenEphemeralData>,
    /// The time of the next renewal. `None` during a renewal, and if none is required.
    due: Cell<Option<Instant>>,
    /// Prevents a close during a renewal.
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
    /// Creates the set without open resources.
    pub(crate) fn new(session: &'s Session<'s>) -> Self {
        Self {
            session,
            open: RefCell::default(),
            changed: Notify::new(),
            problems: RefCell::default(),
        }
    }

    /// Opens an instance and returns its value. If its configuration is unknown, it is not opened and
    /// its value is unknown.
    ///
    /// # Errors
    /// Returns an error if the evaluation, validation or opening fails. Resources that are already open
    /// are closed at the end.
    pub(crate) async fn open_instance(
        &self,
        diags: &mut Diagnostics,
        site: EphemeralInstance<'_>,
        scope: ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        // Collected separately, so that only these diagnostics are assigned to parts of this block.
        let mut open_diags = Diagnostics::new();
        let value = self.try_open(&mut open_diags, site, scope).await;
        point_diagnostics_at_parts(&mut open_diags, &site.config.body, site.config.span);
        diags.append(open_diags).and(value)
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
        // Validated each time, because the configuration of an ephemeral resource may differ between
        // plan and apply.
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
        // Stored before the postconditions are checked: the resource is now open and must be closed,
        // even if a postcondition fails.
        self.add_open_resource(OpenResource {
            addr: addr.clone(),
            block: resource.span,
            client,
            // Protocol: `CloseEphemeralResource` receives the private data of the open call, and
            // `RenewEphemeralResource` those of the last response.
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

    /// Closes all open resources, and reports the diagnostics of renewals.
    pub(crate) async fn close_all(&self, diags: &mut Diagnostics) {
        let still_open: Vec<InstanceAddr> = self.open.borrow().keys().cloned().collect();
        self.close_instances(diags, still_open).await;
        let _ = diags.append(self.problems.take());
    }

    async fn close_instances(&self, diags: &mut Diagnostics, these: Vec<InstanceAddr>) {
        let closed = these.iter().map(async |addr| {
            let mut close_diags = Diagnostics::new();
            // Removed before the call, so that it is not closed twice and no renewal starts in the
            // meantime.
            let open = self.open.borrow_mut().remove(addr);
            self.changed.notify_one();
            let Some(open) = open else { return close_diags };
            // The semaphore is never closed, so a permit is always granted.
            let _turn = open.turn.acquire().await;
            let private = open.opened.clone();
            let closing = open.client.close_ephemeral(
                &mut close_diags,
                open.resource_type(),
                private,
                open.call_context(),
            );
            let _ = self.wait_with_events(addr, EphemeralStep::Close, closing).await;
            self.point_at_resource_block(&mut close_diags, &open);
            close_diags
        });
        for close_diags in futures_util::future::join_all(closed).await {
            let _ = diags.append(close_diags);
        }
    }

    /// Runs a future while all open resources are renewed in time.
    pub(crate) async fn renew_while_running<T>(&self, work: impl Future<Output = T>) -> T {
        // Within the same task and not on another one: renewals use the diagnostics and providers
        // of this phase without locks, and end with it.
        let (work, renewing) = (pin!(work), pin!(self.renew_forever()));
        match select(work, renewing).await {
            Either::Left((done, _)) => done,
            Either::Right((never, _)) => match never {},
        }
    }

    /// Renews each resource when it is due. A slow renewal does not delay the others.
    async fn renew_forever(&self) -> Infallible {
        let mut under_way = FuturesUnordered::new();
        loop {
            // Recomputed after each event, because an open call or a renewal may have an earlier time
            // than the awaited one.
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

    /// Takes the resources that are due for renewal.
    fn take_resources_to_renew(&self) -> Vec<Rc<OpenResource>> {
        let now = Instant::now();
        let is_due = |open: &&Rc<OpenResource>| open.due.get().is_some_and(|at| at <= now);
        let due: Vec<_> = self.open.borrow().values().filter(is_due).cloned().collect();
        // No time is set until the renewal ends. Otherwise the loop would immediately start it again.
        due.iter().for_each(|open| open.due.set(None));
        due
    }

    /// Returns the time at which a resource must be renewed, if the provider returned one.
    fn renewal_deadline(&self, keep: &OpenEphemeralData) -> Option<Instant> {
        // The clock is read immediately, so later changes of the clock have no effect. The protocol
        // gives a wall-clock time. It becomes a duration here, because timers must not depend on
        // adjustments of the clock.
        let now: SystemTime = (self.session.world.clock)().into();
        let lasts = keep.renew_at?.duration_since(now).unwrap_or_default();
        // A time that the clock cannot represent is ignored.
        Instant::now().checked_add(lasts.max(MIN_RENEWAL_INTERVAL))
    }

    async fn renew_resource(&self, open: Rc<OpenResource>) {
        // The semaphore is never closed, so a permit is always granted.
        let _turn = open.turn.acquire().await;
        let mut renew_diags = Diagnostics::new();
        let private = open.keep.borrow().private.clone();
        let renewing = open.client.renew_ephemeral(
            &mut renew_diags,
            open.resource_type(),
            private,
            open.call_context(),
        );
        // A failed renewal is not retried, because the dependents may be done before the resource
        // expires.
        if let Ok(keep) = self.wait_with_events(&open.addr, EphemeralStep::Renew, renewing).await {
            open.due.set(self.renewal_deadline(&keep));
            *open.keep.borrow_mut() = keep;
        }
        self.point_at_resource_block(&mut renew_diags, &open);
        for problem in renew_diags {
            self.problems.borrow_mut().warn(renewal_warning(&open.addr, open.block, problem));
        }
    }

    fn point_at_resource_block(&self, diags: &mut Diagnostics, open: &OpenResource) {
        if let Some(resource) =
            self.session.config.find_resource(&open.addr.resource_addr().config_addr())
        {
            point_diagnostics_at_parts(diags, &resource.body, open.block);
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

/// Returns the value with the sensitive marks of the configuration.
fn with_config_marks(value: Plain, config: &Value) -> Value {
    // Attributes that are sensitive in the schema are not marked: ephemeral values are neither shown nor
    // stored, and Terraform does not mark them either.
    let paths = MarkPaths::on_all_paths(sensitive_paths(config), Marks::SENSITIVE);
    value.with_marks(&paths).mark(Marks::EPHEMERAL)
}

/// A failed renewal is only a warning: the dependents of the resource may be done before it expires.
/// Otherwise they report an error.
fn renewal_warning(addr: &InstanceAddr, block: Span, problem: Diagnostic) -> Diagnostic {
    if problem.severity == Severity::Warning {
        return problem;
    }
    let detail = format!(
        "{addr} could not be renewed, so it may expire before all its dependents are done. The provider reported: {}: {}",
        problem.summary, problem.detail
    );
    let span = problem.subject.unwrap_or(block);
    Diagnostic::warning(messages::EPHEMERAL_RESOURCE_NOT_RENEWED, detail)
        .at(span)
        .about(addr.to_string())
}
