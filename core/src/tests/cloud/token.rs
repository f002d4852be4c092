//! The ephemeral resource of the provider: its value follows from its name, and it takes faults as
//! `open a`, `renew a` and `close a`.

use std::time::{Duration, SystemTime};

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_plugin_protocol::message::ephemeral::{
    KeepRequest, OpenRequest, OpenResponse, RenewResponse,
};
use formwork_value::schema::Role;
use formwork_value::{Schema, Type, Value};

use super::{Cloud, Fault, decode, encode, field, no, schema, text, with};

pub(super) fn token() -> Schema {
    schema(&[
        ("name", Type::String, Role::Required),
        ("lasts", Type::Number, Role::Optional),
        ("token", Type::String, Role::Computed),
    ])
}

pub(super) fn open(cloud: &Cloud, request: &OpenRequest) -> OpenResponse {
    let ty = token().block.implied_type();
    let config = decode(&request.config, &ty);
    let name = text(field(&config, "name"));
    let fault = cloud.call(format!("open {name}"));
    let token = match fault {
        Some(Fault::Unknown) => Value::unknown(Type::String),
        _ => Value::string(format!("token of {name}")),
    };
    let result = match fault {
        Some(Fault::Other) => with(&config, "name", Value::string("another")),
        _ => with(&config, "token", token),
    };
    let lasts = match field(&config, "lasts") {
        Value::Number(number) => number.to_i64(),
        _ => None,
    };
    OpenResponse {
        result: encode(result, &ty),
        // A renewal and the end are asked with this alone, and so know the token.
        private: name.into(),
        // Always now, by the clock of these tests.
        renew_at: lasts.map(|_| SystemTime::UNIX_EPOCH),
        deferred: None,
        diagnostics: refusal(fault, "open"),
    }
}

/// Number of renewals that are needed.
const OFTEN: usize = 2;

pub(super) async fn renew(cloud: &Cloud, request: &KeepRequest) -> Result<RenewResponse, Failure> {
    let private = String::from_utf8_lossy(&request.private).into_owned();
    let fault = cloud.call(format!("renew {private}"));
    if fault == Some(Fault::Hangs) {
        return std::future::pending().await;
    }
    let again = private.matches("again").count() + 1 < OFTEN;
    Ok(RenewResponse {
        private: format!("{private} again").into(),
        renew_at: again.then_some(SystemTime::UNIX_EPOCH),
        diagnostics: refusal(fault, "renew"),
    })
}

/// Waits until something was renewed as often as it has to be, or for so long that it never will.
pub(super) async fn until_renewed_twice(cloud: &Cloud) {
    for _ in 0..1_000 {
        if cloud
            .things()
            .calls
            .iter()
            .any(|call| call.starts_with("renew") && call.ends_with("again"))
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

pub(super) fn close(cloud: &Cloud, request: &KeepRequest) -> DiagnosticsResponse {
    let private = String::from_utf8_lossy(&request.private).into_owned();
    let fault = cloud.call(format!("close {private}"));
    DiagnosticsResponse { diagnostics: refusal(fault, "close") }
}

fn refusal(
    fault: Option<Fault>,
    what: &str,
) -> Vec<formwork_plugin_protocol::message::ProviderDiagnostic> {
    match fault {
        Some(Fault::Refuses) => no(what),
        _ => Vec::new(),
    }
}
