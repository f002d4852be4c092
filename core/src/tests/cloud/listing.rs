//! Listing of all objects, with their identities.

use std::collections::BTreeMap;

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::list::ListEvent;
use formwork_plugin_protocol::message::schema::{IdentityAttribute, IdentitySchema};
use formwork_value::{Schema, Type, Value};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use super::{Cloud, Things, encode, field, schema, thing};

/// Identity of a thing: its id, which is unknown before it is made, or its name.
pub(super) fn identities(things: &Things) -> BTreeMap<String, IdentitySchema> {
    let name = match (things.listed, things.identified) {
        (true, _) => "id",
        (false, true) => "name",
        (false, false) => return BTreeMap::new(),
    };
    let part = IdentityAttribute {
        ty: Type::String,
        required_for_import: true,
        optional_for_import: false,
        description: String::new(),
    };
    let schema = IdentitySchema { version: 0, attributes: [(name.to_owned(), part)].into() };
    [("test_thing".to_owned(), schema)].into()
}

/// Schemas of the types that can be listed.
pub(super) fn schemas(things: &Things) -> BTreeMap<String, Schema> {
    let filter = schema(&[]);
    things.listed.then(|| ("test_thing".to_owned(), filter)).into_iter().collect()
}

pub(super) fn list(cloud: &Cloud) -> BoxStream<'static, Result<ListEvent, Failure>> {
    cloud.call("list".into());
    let ty = thing().block.implied_type();
    let id = Type::object([("id", Type::String)]);
    let event = |object: &Value| ListEvent {
        identity: Some(encode(Value::object([("id", field(object, "id").clone())]), &id)),
        display_name: String::new(),
        object: Some(encode(object.clone(), &ty)),
        diagnostics: Vec::new(),
    };
    let events: Vec<_> = cloud.things().objects.values().map(event).map(Ok).collect();
    futures_util::stream::iter(events).boxed()
}
