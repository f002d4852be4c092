//! Objects that can be listed, and found by an identity. Only with `BAD_LISTED`: other tests see a
//! provider that cannot read an object it has not named.

use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_plugin_protocol::message::schema::{
    IdentityAttribute, IdentitySchema, IdentitySchemas,
};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::schema::Schema;
use formwork_value::{Path, Plain, Type, Value};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::fake_service::FakeService;
use crate::thing::Thing;

/// Whether objects can be listed.
pub(crate) fn is_listed() -> bool {
    std::env::var_os("BAD_LISTED").is_some()
}

/// The schema of the list block, if there is one.
pub(crate) fn schema() -> Option<(String, Schema)> {
    is_listed().then(|| ("bad_thing".to_owned(), Schema::default()))
}

/// The attribute that identifies an object.
pub(crate) fn identity_schemas() -> Result<IdentitySchemas, Failure> {
    if !is_listed() {
        return Err(Failure::Unimplemented("GetResourceIdentitySchemas"));
    }
    let attribute = IdentityAttribute {
        ty: Type::String,
        required_for_import: true,
        optional_for_import: false,
        description: "No two objects have the same id.".to_owned(),
    };
    let schema = IdentitySchema { version: 0, attributes: [("id".to_owned(), attribute)].into() };
    let schemas = [("bad_thing".to_owned(), schema)].into();
    Ok(IdentitySchemas { schemas, diagnostics: Vec::new() })
}

fn ty() -> Type {
    Type::object([("id", Type::String)])
}

/// The identity of an object.
pub(crate) fn identity(thing: &Thing) -> Option<Payload> {
    if !is_listed() || thing.is_null() {
        return None;
    }
    let identity = Value::object([("id", thing.get("id").clone())]);
    Some(Payload::Value(Plain::try_from(identity).expect("nothing here has marks"), ty()))
}

/// The id in an identity.
pub(crate) fn id_in(identity: &Payload) -> Option<String> {
    let identity = identity.decode(&ty()).ok()?.into_value();
    match Path::root().attribute("id").find(&identity) {
        Some(Value::String(id)) => Some(id.to_string()),
        _ => None,
    }
}

/// All objects.
pub(crate) fn list(
    service: &FakeService,
    request: &ListRequest,
) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
    if !is_listed() {
        return Err(Failure::Unimplemented("ListResource"));
    }
    service.log_event(&format!("list {}", request.type_name));
    let event = |text: String| {
        let thing = Thing::from_json(&text);
        ListEvent {
            identity: identity(&thing),
            display_name: thing.text("name").to_owned(),
            object: Some(thing.payload()),
            diagnostics: Vec::new(),
        }
    };
    let events: Vec<_> = service.all_objects().into_iter().map(event).map(Ok).collect();
    Ok(futures_util::stream::iter(events).boxed())
}
