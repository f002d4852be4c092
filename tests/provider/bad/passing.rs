//! Functions and ephemeral resources with the ordered fault.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use formwork_plugin_protocol::message::DeferredReason;
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_plugin_protocol::message::ephemeral::{
    OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse, FunctionError};
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_tests::fault::Fault;
use formwork_value::{Path, Plain, Type, Value};

use crate::answer::{absent_payload, error, exit_with_stderr, garbage, status};
use crate::provider::BadProvider;
use crate::thing::data;

/// The function `say`, which returns its argument.
pub(crate) fn functions() -> BTreeMap<String, FunctionSignature> {
    let text = FunctionParameter::new("text", Type::String);
    let say = FunctionSignature::new(vec![text], Type::String);
    BTreeMap::from([("say".to_owned(), say)])
}

fn text(text: &str) -> Payload {
    Payload::Value(plain(Value::string(text)), Type::String)
}

fn plain(value: Value) -> Plain {
    Plain::try_from(value).expect("nothing here has marks")
}

impl BadProvider {
    /// Calls a function.
    pub(crate) async fn call(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        let argument = request.arguments.into_iter().next().unwrap_or(Payload::Absent);
        let result = match self.fault {
            Some(Fault::FunctionError) => Err(FunctionError {
                text: "Nobody says such a thing".to_owned(),
                argument: Some(0),
            }),
            Some(Fault::FunctionStatus) => return Err(status("function")),
            Some(Fault::FunctionGarbage) => Ok(garbage()),
            Some(Fault::FunctionWrongType) => {
                let list = plain(Value::list(Type::Bool, vec![Value::Bool(true)]));
                Ok(Payload::Value(list, Type::list(Type::Bool)))
            }
            Some(Fault::FunctionUnknown) => {
                Ok(Payload::Value(plain(Value::unknown(Type::String)), Type::String))
            }
            Some(Fault::FunctionFickle) => {
                let turn = self.turns.fetch_add(1, Ordering::Relaxed);
                Ok(text(&format!("turn {turn} of {}", std::process::id())))
            }
            Some(Fault::FunctionDies) => exit_with_stderr("about to die in a function"),
            Some(Fault::FunctionHangs) => {
                self.gate("hangs", "function").await;
                pending().await
            }
            _ => Ok(argument),
        };
        Ok(CallResponse { result })
    }

    /// Opens a `bad_token`, which has the shape of `bad_data`.
    pub(crate) async fn open(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        self.service.log_event("open");
        let config = request.config.decode(&data().block.implied_type());
        let config = config.expect("hosts send what fits").into_value();
        let with = |name: &str, value: Value| {
            let path = Path::root().attribute(name);
            let changed = config.replace_at(&path, |_| value.clone());
            changed.unwrap_or_else(|| config.clone())
        };
        let payload = |value: Value| Payload::Value(plain(value), data().block.implied_type());
        let token = with("text", Value::string("the token"));
        let result = match self.fault {
            Some(Fault::OpenStatus) => return Err(status("opening")),
            Some(Fault::OpenGarbage) => garbage(),
            Some(Fault::OpenNull) => absent_payload(),
            Some(Fault::OpenUnknown) => payload(with("text", Value::unknown(Type::String))),
            Some(Fault::OpenChangesConfig) => payload(with("name", Value::string("another"))),
            Some(Fault::OpenDies) => exit_with_stderr("about to die in an opening"),
            Some(Fault::OpenHangs) => {
                self.gate("hangs", "open").await;
                pending().await
            }
            _ => payload(token),
        };
        let diagnostics = match self.fault {
            Some(Fault::OpenError) => error("The door is stuck"),
            _ => Vec::new(),
        };
        // A resource opened while planning is closed soon. The second opening is long and is
        // renewed.
        let lasts = self.turns.fetch_add(1, Ordering::Relaxed) > 0;
        Ok(OpenResponse {
            result,
            private: bytes::Bytes::from_static(b"token"),
            renew_at: (lasts && self.renews_badly()).then_some(SystemTime::UNIX_EPOCH),
            deferred: (self.fault == Some(Fault::OpenDefers))
                .then_some(DeferredReason::AbsentPrerequisite),
            diagnostics,
        })
    }

    fn renews_badly(&self) -> bool {
        let renew_faults =
            [Fault::RenewError, Fault::RenewStatus, Fault::RenewDies, Fault::RenewHangs];
        self.fault.is_some_and(|fault| renew_faults.contains(&fault))
    }

    /// Renews a `bad_token`.
    pub(crate) async fn renew(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        self.gate("renew", "token").await;
        let diagnostics = match self.fault {
            Some(Fault::RenewError) => error("The lock was changed"),
            Some(Fault::RenewStatus) => return Err(status("renewal")),
            Some(Fault::RenewDies) => exit_with_stderr("about to die in a renewal"),
            Some(Fault::RenewHangs) => pending().await,
            _ => Vec::new(),
        };
        Ok(RenewResponse { private: request.private, renew_at: None, diagnostics })
    }

    /// Closes a `bad_token`.
    pub(crate) async fn close(&self) -> Result<DiagnosticsResponse, Failure> {
        self.service.log_event("close");
        match self.fault {
            Some(Fault::CloseError) => {
                Ok(DiagnosticsResponse { diagnostics: error("The key broke off") })
            }
            Some(Fault::CloseStatus) => Err(status("closing")),
            Some(Fault::CloseDies) => exit_with_stderr("about to die in a closing"),
            Some(Fault::CloseHangs) => {
                self.gate("hangs", "close").await;
                pending().await
            }
            _ => Ok(DiagnosticsResponse::default()),
        }
    }
}
