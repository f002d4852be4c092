//! The provider: correct answers to every call, changed by the ordered fault. Applying is in
//! `apply`, functions and ephemeral resources in `passing`.

use std::fs::File;
use std::future::pending;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};

use formwork_plugin_protocol::message::DeferredReason;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::ephemeral::{
    OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportedResource, PlanRequest,
    PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use formwork_tests::fault::Fault;
use formwork_value::{Path, Plain, Type, Value};
use futures_util::stream::BoxStream;
use tokio::sync::Notify;

use crate::answer::{
    absent_payload, bomb, deeply_nested_lists, error, exit_with_stderr, garbage, status,
    unavailable_status, warning,
};
use crate::fake_service::FakeService;
use crate::listing;
use crate::thing::{Thing, data, provider_schema};

/// A shell that leaves child processes with the same stdin.
const FAMILY: &str = "exec 3<&0; sleep 1000 <&3 & sleep 1000 <&3 & wait";

/// The provider.
pub(crate) struct BadProvider {
    /// Ordered for the process.
    pub(crate) fault: Option<Fault>,
    /// The object to which `fault` is narrowed, if it is.
    fault_of: Option<String>,
    pub(crate) service: FakeService,
    stdout: File,
    /// Number of calls whose answer depends on that number.
    pub(crate) turns: AtomicI64,
    /// Notified when the process is asked to stop.
    pub(crate) stopped: Notify,
}

impl BadProvider {
    pub(crate) fn new(fault: Option<Fault>, service: FakeService, stdout: File) -> Self {
        let fault_of = std::env::var("BAD_FAULT_OF").ok();
        let (turns, stopped) = (AtomicI64::new(0), Notify::new());
        Self { fault, fault_of, service, stdout, turns, stopped }
    }

    /// The fault of an object: its own, or the one ordered for all or for it.
    pub(crate) fn fault_of(&self, thing: &Thing) -> Option<Fault> {
        Fault::named(thing.text("fault")).or_else(|| {
            let meant = self.fault_of.as_deref().is_none_or(|name| name == thing.text("name"));
            self.fault.filter(|_| meant)
        })
    }

    /// Performs a fault of the process, for any call.
    #[expect(clippy::print_stderr, reason = "the flood goes there")]
    fn misbehave(&self) {
        match self.fault {
            Some(Fault::ProcessStderr) => {
                (0..100_000).for_each(|n| eprintln!("line {n} of a great many"));
                eprintln!("{}", "long ".repeat(1_000_000));
            }
            Some(Fault::ProcessStdout) => {
                let waste = vec![b'w'; 1 << 20];
                let written = (0..20).try_for_each(|_| (&self.stdout).write_all(&waste));
                written.expect("somebody empties the pipe");
            }
            Some(Fault::ProcessChild) => self.leave(Command::new("sleep").arg("1000")),
            Some(Fault::ProcessForks) => {
                (0..50).for_each(|_| self.leave(Command::new("sh").args(["-c", FAMILY])));
            }
            Some(Fault::ProcessDetaches) => {
                let mut command = Command::new("setsid");
                command.args(["sleep", "1000"]).stdout(Stdio::null()).stderr(Stdio::null());
                self.leave(&mut command);
            }
            _ => (),
        }
    }

    /// Starts a program and leaves it running. A test detects by its stdin whether it runs.
    #[expect(clippy::zombie_processes, reason = "that is the fault")]
    fn leave(&self, command: &mut Command) {
        let lifetime = self
            .service
            .process_witness()
            .map_or(Stdio::null(), |lifetime| OwnedFd::from(lifetime).into());
        let _child = command.stdin(lifetime).spawn().expect("there is such a program");
    }

    fn plan_fault(&self, fault: Option<Fault>, planned: &Thing) -> Result<Payload, Failure> {
        let text = |text: &str| Value::string(text);
        Ok(match fault {
            Some(Fault::PlanGarbage) => garbage(),
            Some(Fault::PlanBomb) => bomb(),
            Some(Fault::PlanDeep) => deeply_nested_lists(),
            Some(Fault::PlanAbsent) => absent_payload(),
            Some(Fault::PlanNull) => Thing::null().payload(),
            Some(Fault::PlanWrongType) => planned.payload_with_wrong_value(
                "name",
                Some(Value::list(Type::Bool, vec![Value::Bool(true)])),
            ),
            Some(Fault::PlanChangesConfig) => planned.with("name", text("another")).payload(),
            Some(Fault::PlanSetsUnset) => planned.with("link", text("unasked")).payload(),
            Some(Fault::PlanWriteOnly) => planned.with("secret", text("leaked")).payload(),
            Some(Fault::PlanFickle) => {
                let turn = self.turns.fetch_add(1, Ordering::Relaxed);
                planned
                    .with("text", text(&format!("turn {turn} of {}", std::process::id())))
                    .payload()
            }
            Some(Fault::PlanRestless) if !planned.is_null() => {
                planned.with("generation", Value::unknown(Type::Number)).payload()
            }
            Some(Fault::PlanStatus) => return Err(status("plan")),
            Some(Fault::PlanPanics) => panic!("the plan is lost"),
            Some(Fault::PlanDies) => exit_with_stderr("about to die in a plan"),
            _ => planned.payload(),
        })
    }

    fn read_fault(fault: Option<Fault>, thing: &Thing) -> Result<Payload, Failure> {
        Ok(match fault {
            Some(Fault::ReadGarbage) => garbage(),
            Some(Fault::ReadWrongType) => {
                thing.payload_with_wrong_value("name", Some(Value::tuple(vec![])))
            }
            Some(Fault::ReadUnknown) => thing.with("text", Value::unknown(Type::String)).payload(),
            Some(Fault::ReadNull) => Thing::null().payload(),
            Some(Fault::ReadAbsent) => absent_payload(),
            Some(Fault::ReadStatus) => return Err(status("read")),
            Some(Fault::ReadDies) => exit_with_stderr("about to die in a read"),
            _ => thing.payload(),
        })
    }
}

/// The object that an apply would produce without a fault.
fn plan(prior: &Thing, proposed: &Thing) -> Thing {
    if proposed.is_null() {
        return Thing::null();
    }
    let mut planned = proposed.with("secret", Value::null(Type::String));
    if prior.is_null() {
        planned = planned.with("id", Value::unknown(Type::String));
    }
    if planned.get("text").is_null() || planned.get("text").is_unknown() {
        planned = planned.with("text", Value::unknown(Type::String));
    }
    if planned == *prior {
        return planned;
    }
    planned.with("generation", Value::unknown(Type::Number))
}

fn data_payload(name: &Value, text: Value) -> Payload {
    let value = Value::object([
        ("name", name.clone()),
        ("fault", Value::null(Type::String)),
        ("text", text),
    ]);
    let plain = Plain::try_from(value).expect("nothing here has marks");
    Payload::Value(plain, data().block.implied_type())
}

impl ProviderHandlers for BadProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        self.service.log_event("schema");
        let mut offer = provider_schema(self.fault);
        match self.fault {
            Some(Fault::SchemaDies) => exit_with_stderr("about to die in the schema"),
            Some(Fault::SchemaPanics) => panic!("the schema is lost"),
            Some(Fault::SchemaStatus) => return Err(status("schema")),
            Some(Fault::SchemaUnimplemented) => {
                return Err(Failure::Unimplemented("GetProviderSchema"));
            }
            Some(Fault::SchemaHangs) => {
                self.gate("hangs", "schema").await;
                pending::<()>().await;
            }
            Some(Fault::SchemaError) => offer.diagnostics = error("No schema today"),
            _ => (),
        }
        Ok(offer)
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        listing::identity_schemas()
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let RawState::Json(text) = request.identity else {
            return Err(Failure::Misbehaved("a flat identity".to_owned()));
        };
        Ok(UpgradeIdentityResponse { identity: Payload::Json(text), diagnostics: Vec::new() })
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        self.service.log_event("configure");
        self.misbehave();
        match self.fault {
            Some(Fault::ConfigureError) => {
                Ok(DiagnosticsResponse { diagnostics: error("The region is closed") })
            }
            Some(Fault::ConfigureStatus) => Err(status("configuration")),
            Some(Fault::ConfigureHangs) => {
                self.gate("hangs", "configure").await;
                pending().await
            }
            Some(Fault::ConfigureDies) => exit_with_stderr("about to die in the configuration"),
            _ => Ok(DiagnosticsResponse::default()),
        }
    }

    async fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        match self.fault_of(&Thing::decode(&request.config)) {
            Some(Fault::ValidateError) => {
                Ok(DiagnosticsResponse { diagnostics: error("The name is not free") })
            }
            Some(Fault::ValidateWarning) => {
                Ok(DiagnosticsResponse { diagnostics: warning("Watch\x1b[2J out\x07") })
            }
            Some(Fault::ValidateDies) => exit_with_stderr("about to die in a validation"),
            _ => Ok(DiagnosticsResponse::default()),
        }
    }

    async fn validate_data_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let RawState::Json(text) = &request.state else {
            return Err(Failure::Misbehaved("a flat state".to_owned()));
        };
        let stored = Thing::from_json(&String::from_utf8_lossy(text));
        let state = match self.fault_of(&stored) {
            Some(Fault::UpgradeGarbage) => garbage(),
            Some(Fault::UpgradeAbsent) => absent_payload(),
            Some(Fault::UpgradeDies) => exit_with_stderr("about to die in an upgrade"),
            _ => stored.payload(),
        };
        Ok(UpgradeResponse { state, diagnostics: Vec::new() })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let current = Thing::decode(&request.current);
        self.service.log_event(&format!("read {}", current.text("id")));
        let fault = self.fault_of(&current);
        if fault == Some(Fault::ReadHangs) {
            self.gate("hangs", current.text("name")).await;
            pending::<()>().await;
        }
        if fault == Some(Fault::ReadBusy) && self.turns.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(unavailable_status());
        }
        let stored = self
            .service
            .read(current.text("id"))
            .map_or_else(Thing::null, |text| Thing::from_json(&text));
        let diagnostics = match fault {
            Some(Fault::ReadError) => error("The network is down"),
            _ => Vec::new(),
        };
        Ok(ReadResponse {
            state: Self::read_fault(fault, &stored)?,
            private: request.private,
            deferred: (fault == Some(Fault::ReadDefers))
                .then_some(DeferredReason::AbsentPrerequisite),
            identity: match fault {
                Some(Fault::ReadIdentity) => Some(stored.payload()),
                _ => listing::identity(&stored),
            },
            diagnostics,
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let prior = Thing::decode(&request.prior);
        let proposed = Thing::decode(&request.proposed);
        let planned = plan(&prior, &proposed);
        let fault = self.fault_of(&proposed);
        if fault == Some(Fault::PlanHangs) {
            self.gate("hangs", proposed.text("name")).await;
            pending::<()>().await;
        }
        let mut requires_replace: Vec<Path> = Vec::new();
        if !prior.is_null() && !planned.is_null() {
            let forcing = ["name", "kind"].into_iter();
            let changed = forcing.filter(|name| prior.get(name) != planned.get(name));
            requires_replace.extend(changed.map(|name| Path::root().attribute(name)));
        }
        if fault == Some(Fault::PlanReplaceNowhere) {
            requires_replace.push(Path::root().attribute("nowhere"));
        }
        let diagnostics = match fault {
            Some(Fault::PlanError) => error("There is no room for it"),
            _ => Vec::new(),
        };
        Ok(PlanResponse {
            planned: self.plan_fault(fault, &planned)?,
            requires_replace,
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: (fault == Some(Fault::PlanDefers))
                .then_some(DeferredReason::AbsentPrerequisite),
            planned_identity: listing::identity(&planned),
            diagnostics,
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        self.apply_change(request).await
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let identified = request.identity.as_ref().and_then(listing::id_in);
        let stored = self.service.read(&identified.unwrap_or(request.id));
        let stored = stored.filter(|_| self.fault != Some(Fault::ImportNothing));
        let is_other_type = self.fault == Some(Fault::ImportOtherType);
        if self.fault == Some(Fault::ImportDies) {
            exit_with_stderr("about to die in an import");
        }
        let resources = stored.map(|text| ImportedResource {
            type_name: if is_other_type { "bad_other".to_owned() } else { request.type_name },
            identity: listing::identity(&Thing::from_json(&text)),
            state: match self.fault {
                Some(Fault::ImportGarbage) => garbage(),
                _ => Thing::from_json(&text).payload(),
            },
            private: bytes::Bytes::new(),
        });
        Ok(ImportResponse {
            resources: resources.into_iter().collect(),
            deferred: None,
            diagnostics: Vec::new(),
        })
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        listing::list(&self.service, &request)
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let config = request.config.decode(&data().block.implied_type());
        let config = config.expect("hosts send what fits").into_value();
        let part = |name| Path::root().attribute(name).find(&config).cloned();
        let name = part("name").unwrap_or_else(|| Value::null(Type::String));
        let fault = match part("fault") {
            Some(Value::String(fault)) => Fault::named(&fault),
            _ => self.fault,
        };
        let state = match fault {
            Some(Fault::DataGarbage) => garbage(),
            Some(Fault::DataNull) => absent_payload(),
            Some(Fault::DataUnknown) => data_payload(&name, Value::unknown(Type::String)),
            Some(Fault::DataDies) => exit_with_stderr("about to die reading data"),
            _ => data_payload(&name, Value::string("what there is to know")),
        };
        let deferred =
            (fault == Some(Fault::DataDefers)).then_some(DeferredReason::AbsentPrerequisite);
        Ok(ReadDataResponse { state, deferred, diagnostics: Vec::new() })
    }

    async fn validate_ephemeral_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        self.open(request).await
    }

    async fn renew_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        self.renew(request).await
    }

    async fn close_ephemeral(
        &self,
        _: RenewOrCloseRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.close().await
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        self.call(request).await
    }

    async fn stop(&self) -> Result<String, Failure> {
        self.service.log_event("stop");
        self.stopped.notify_waiters();
        self.stopped.notify_one();
        match self.fault {
            Some(Fault::StopHangs) => pending().await,
            _ => Ok(String::new()),
        }
    }
}
