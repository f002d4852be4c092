//! The ephemeral resource of the provider: it hands out what its name says, and takes faults as
//! `open a`, `renew a` and `close a`.

use std::time::{Duration, SystemTime};

use formwork_plugin_protocol::message::configure::Verdict;
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
        private: name.into(),
        renew_at: lasts.map(|_| SystemTime::UNIX_EPOCH + Duration::from_secs(1)),
        deferred: None,
        diagnostics: refusal(fault, "open"),
    }
}

pub(super) fn renew(cloud: &Cloud, request: &KeepRequest) -> RenewResponse {
    let private = String::from_utf8_lossy(&request.private).into_owned();
    let fault = cloud.call(format!("renew {private}"));
    RenewResponse {
        private: format!("{private} again").into(),
        renew_at: None,
        diagnostics: refusal(fault, "renew"),
    }
}

pub(super) fn close(cloud: &Cloud, request: &KeepRequest) -> Verdict {
    let private = String::from_utf8_lossy(&request.private).into_owned();
    let fault = cloud.call(format!("close {private}"));
    Verdict { diagnostics: refusal(fault, "close") }
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
