//! Applying: the object is first changed correctly, then the fault changes the response.

use std::future::pending;

use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::resource::{ApplyRequest, ApplyResponse};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_tests::fault::Fault;
use formwork_value::{Type, Value};
use tokio::task::spawn_blocking;

use crate::answer::{absent_payload, error, exit_with_stderr, garbage, status, warning};
use crate::listing;
use crate::provider::BadProvider;
use crate::start::crash_process;
use crate::thing::Thing;

/// More bytes than any peer accepts in one message.
const TOO_LARGE: usize = 300 << 20;
/// Number of words of a very long string.
const LONG: usize = 1 << 20;

impl BadProvider {
    /// Creates, updates or destroys.
    pub(crate) async fn apply_change(
        &self,
        request: ApplyRequest,
    ) -> Result<ApplyResponse, Failure> {
        let prior = Thing::decode(&request.prior);
        let planned = Thing::decode(&request.planned);
        let name = [&planned, &prior].map(|thing| thing.text("name"));
        let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_owned();
        self.gate("before", &name).await;
        let answer = match planned.is_null() {
            true => self.destroy(&prior)?,
            false => self.create_or_update(&prior, &planned).await?,
        };
        self.gate("after", &name).await;
        Ok(ApplyResponse { private: request.planned_private, ..answer })
    }

    /// Waits on another thread, so that other calls continue.
    pub(crate) async fn gate(&self, moment: &'static str, name: &str) {
        let (service, name) = (self.service.clone(), name.to_owned());
        spawn_blocking(move || service.gate(moment, &name)).await.expect("a gate only waits");
    }

    fn destroy(&self, prior: &Thing) -> Result<ApplyResponse, Failure> {
        let id = prior.text("id");
        match self.fault_of(prior) {
            Some(Fault::DestroyError) => {
                return Ok(apply_response(prior.payload(), error("It is still needed")));
            }
            Some(Fault::DestroyDies) => exit_with_stderr("about to die in a destruction"),
            _ => (),
        }
        self.service.remove(id);
        self.service.log_event(&format!("destroy {id}"));
        Ok(match self.fault_of(prior) {
            Some(Fault::DestroyReturns) => apply_response(prior.payload(), Vec::new()),
            Some(Fault::DestroyAbsent) => apply_response(absent_payload(), Vec::new()),
            _ => apply_response(Thing::null().payload(), Vec::new()),
        })
    }

    async fn create_or_update(
        &self,
        prior: &Thing,
        planned: &Thing,
    ) -> Result<ApplyResponse, Failure> {
        let fault = self.fault_of(planned);
        if fault == Some(Fault::ApplyRefuses) {
            return Ok(apply_response(prior.payload(), error("The quota is used up")));
        }
        if fault == Some(Fault::ApplyAborts) {
            self.stopped.notified().await;
            return Ok(apply_response(prior.payload(), error("The work was aborted")));
        }
        let applied = self.change_object(prior, planned);
        if fault == Some(Fault::ApplyHangs) {
            self.gate("hangs", planned.text("name")).await;
            pending::<()>().await;
        }
        faulty_apply_response(fault, &applied)
    }

    /// Changes the object as planned, and returns it.
    fn change_object(&self, prior: &Thing, planned: &Thing) -> Thing {
        let name = planned.text("name");
        let (verb, id) = match prior.is_null() {
            true => ("create", self.service.create(name)),
            false => ("update", prior.text("id").to_owned()),
        };
        let generation = match prior.get("generation") {
            Value::Number(number) => number.to_i64().unwrap_or_default() + 1,
            _ => 1,
        };
        let mut applied = planned
            .with("id", Value::string(id.as_str()))
            .with("generation", Value::int(generation));
        if applied.get("text").is_unknown() {
            applied = applied.with("text", Value::string(format!("the text of {name}")));
        }
        self.service.write(&id, &applied.to_json());
        self.service.log_event(&format!("{verb} {id}"));
        applied
    }
}

/// The answer about an existing object.
fn faulty_apply_response(fault: Option<Fault>, applied: &Thing) -> Result<ApplyResponse, Failure> {
    let text = |text: &str| Value::string(text);
    let state = match fault {
        Some(Fault::ApplyGarbage) => garbage(),
        Some(Fault::ApplyAbsent | Fault::ApplyErrorAbsent) => absent_payload(),
        Some(Fault::ApplyNoId) => applied.payload_with_wrong_value("id", None),
        Some(Fault::ApplyWrongId) => {
            applied.payload_with_wrong_value("id", Some(Value::tuple(vec![])))
        }
        Some(Fault::ApplyUnknownId) => applied.with("id", Value::unknown(Type::String)).payload(),
        Some(Fault::ApplyErrorNoId) => applied.with("id", Value::null(Type::String)).payload(),
        Some(Fault::ApplyCut) => applied.cut_at("id"),
        Some(Fault::ApplyNull | Fault::ApplyErrorNull) => Thing::null().payload(),
        Some(Fault::ApplyMissing) => applied.payload_with_wrong_value("text", None),
        Some(Fault::ApplyWrongType) => {
            applied.payload_with_wrong_value("text", Some(Value::tuple(vec![])))
        }
        Some(Fault::ApplyUnknown) => applied.with("text", Value::unknown(Type::String)).payload(),
        Some(Fault::ApplyWriteOnly) => applied.with("secret", text("leaked")).payload(),
        Some(Fault::ApplyDiffers) => applied.with("name", text("another")).payload(),
        Some(Fault::ApplyErrorPartial) => applied.with("text", text("half done")).payload(),
        Some(Fault::ApplyHangsUp) => applied.with("text", text("HANG-UP")).payload(),
        Some(Fault::ApplyInvalidText) => applied.with("text", text("UTF8-HERE")).payload(),
        Some(Fault::ApplyLongText) => applied.with("text", text(&"long ".repeat(LONG))).payload(),
        Some(Fault::ApplyTooLarge) => Payload::Msgpack(vec![0xc0; TOO_LARGE].into()),
        Some(Fault::ApplyExits) => exit_with_stderr("about to die in an apply"),
        Some(Fault::ApplyPanics) => panic!("the result is lost"),
        Some(Fault::ApplyStatus) => return Err(status("apply")),
        Some(Fault::ApplyKilled) => {
            crash_process();
            Payload::Absent
        }
        _ => applied.payload(),
    };
    let diagnostics = match fault {
        Some(
            Fault::ApplyErrorPartial
            | Fault::ApplyErrorNull
            | Fault::ApplyErrorAbsent
            | Fault::ApplyErrorNoId,
        ) => error("The power went out"),
        // The name by which `tamper` finds it.
        Some(Fault::ApplyStrangeSeverity) => warning("strange"),
        Some(Fault::ApplyEscapes) => warning("\x1b[2J\x1b]0;title\x07Apply complete!"),
        Some(Fault::ApplyManyWarnings) => {
            (0..20_000).flat_map(|n| warning(&format!("Warning number {n}"))).collect()
        }
        _ => Vec::new(),
    };
    let identity = match fault {
        Some(Fault::ApplyIdentity) => Some(applied.payload()),
        _ => listing::identity(applied),
    };
    Ok(ApplyResponse { identity, ..apply_response(state, diagnostics) })
}

fn apply_response(state: Payload, diagnostics: Vec<ProviderDiagnostic>) -> ApplyResponse {
    ApplyResponse {
        state,
        private: bytes::Bytes::new(),
        legacy_type_system: false,
        identity: None,
        diagnostics,
    }
}
