//! Listing of all objects, with their identities.

use std::collections::BTreeMap;

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::list::ListEvent;
use formwork_plugin_protocol::message::schema::{IdentityAttribute, IdentitySchema};
use formwork_value::{Schema, Type, Value};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use super::{
    CallFault, CloudContents, FakeCloud, encode, error_diagnostic, object_attribute, schema,
    thing_schema,
};

/// Identity of a thing: its id, which is unknown before it is made, or its name.
pub(super) fn identity_schemas(things: &CloudContents) -> BTreeMap<String, IdentitySchema> {
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
pub(super) fn list_schemas(things: &CloudContents) -> BTreeMap<String, Schema> {
    let filter = schema(&[]);
    things.listed.then(|| ("test_thing".to_owned(), filter)).into_iter().collect()
}

pub(super) fn list_things(cloud: &FakeCloud) -> BoxStream<'static, Result<ListEvent, Failure>> {
    let fault = cloud.record_call("list".into());
    let ty = thing_schema().block.implied_type();
    let id = Type::object([("id", Type::String)]);
    let event = |object: &Value| ListEvent {
        identity: Some(encode(
            Value::object([("id", object_attribute(object, "id").clone())]),
            &id,
        )),
        display_name: String::new(),
        object: (fault != Some(CallFault::Null)).then(|| encode(object.clone(), &ty)),
        diagnostics: match fault {
            Some(CallFault::Refuses) => error_diagnostic("list"),
            _ => Vec::new(),
        },
    };
    let mut events: Vec<_> = cloud.lock_contents().objects.values().map(event).map(Ok).collect();
    if fault == Some(CallFault::Dies) {
        let (reason, output) = ("the connection was closed".to_owned(), String::new());
        events.push(Err(Failure::Lost { reason, exit: None, output }));
    }
    futures_util::stream::iter(events).boxed()
}
