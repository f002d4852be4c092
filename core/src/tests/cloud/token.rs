//! The ephemeral resource of the provider: its value follows from its name, and it takes faults as
//! `open a`, `renew a` and `close a`.

use std::time::{Duration, SystemTime};

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_plugin_protocol::message::ephemeral::{
    OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse,
};
use formwork_value::schema::Role;
use formwork_value::{Schema, Type, Value};

use super::{
    CallFault, FakeCloud, decode, encode, error_diagnostic, object_attribute, schema, string_value,
    with_attribute,
};

pub(super) fn token_schema() -> Schema {
    schema(&[
        ("name", Type::String, Role::Required),
        ("lasts", Type::Number, Role::Optional),
        ("token", Type::String, Role::Computed),
    ])
}

pub(super) fn open_token(cloud: &FakeCloud, request: &OpenRequest) -> OpenResponse {
    let ty = token_schema().block.implied_type();
    let config = decode(&request.config, &ty);
    let name = string_value(object_attribute(&config, "name"));
    let fault = cloud.record_call(format!("open {name}"));
    let token = match fault {
        Some(CallFault::Unknown) => Value::unknown(Type::String),
        _ => Value::string(format!("token of {name}")),
    };
    let result = match fault {
        Some(CallFault::Other) => with_attribute(&config, "name", Value::string("another")),
        _ => with_attribute(&config, "token", token),
    };
    let lasts = match object_attribute(&config, "lasts") {
        Value::Number(number) => number.to_i64(),
        _ => None,
    };
    OpenResponse {
        result: encode(result, &ty),
        // Renew and close requests contain only this, so it identifies the token.
        private: name.into(),
        // Always now, by the clock of these tests.
        renew_at: lasts.map(|_| SystemTime::UNIX_EPOCH),
        deferred: None,
        diagnostics: refusal(fault, "open"),
    }
}

/// Number of renewals that are needed.
const EXPECTED_RENEWALS: usize = 2;

pub(super) async fn renew_token(
    cloud: &FakeCloud,
    request: &RenewOrCloseRequest,
) -> Result<RenewResponse, Failure> {
    let private = String::from_utf8_lossy(&request.private).into_owned();
    let fault = cloud.record_call(format!("renew {private}"));
    if fault == Some(CallFault::Hangs) {
        return std::future::pending().await;
    }
    let again = private.matches("again").count() + 1 < EXPECTED_RENEWALS;
    Ok(RenewResponse {
        private: format!("{private} again").into(),
        renew_at: again.then_some(SystemTime::UNIX_EPOCH),
        diagnostics: refusal(fault, "renew"),
    })
}

/// Waits until something was renewed as often as it has to be, or for so long that it never will.
pub(super) async fn wait_for_renewals(cloud: &FakeCloud) {
    for _ in 0..1_000 {
        if cloud
            .lock_contents()
            .calls
            .iter()
            .any(|call| call.starts_with("renew") && call.ends_with("again"))
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

pub(super) fn close_token(cloud: &FakeCloud, request: &RenewOrCloseRequest) -> DiagnosticsResponse {
    let private = String::from_utf8_lossy(&request.private).into_owned();
    let fault = cloud.record_call(format!("close {private}"));
    DiagnosticsResponse { diagnostics: refusal(fault, "close") }
}

fn refusal(
    fault: Option<CallFault>,
    call: &str,
) -> Vec<formwork_plugin_protocol::message::ProviderDiagnostic> {
    match fault {
        Some(CallFault::Refuses) => error_diagnostic(call),
        _ => Vec::new(),
    }
}
