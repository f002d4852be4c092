//! The schema of the provider: `crash_named`, whose objects are found by their name, and
//! `crash_numbered`, whose objects have random ids. The latter can be listed if `CRASH_LISTED` is
//! set.

use std::collections::BTreeMap;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::schema::{
    IdentityAttribute, IdentitySchema, IdentitySchemas, ProviderSchema,
};
use formwork_value::codec::json;
use formwork_value::schema::{Attribute, Role, Schema};
use formwork_value::{Path, Plain, Type, Value};

/// The type whose objects are found by their name.
pub(crate) const NAMED: &str = "crash_named";
/// The type whose objects are found by nothing but their id.
pub(crate) const NUMBERED: &str = "crash_numbered";

/// Attributes whose change requires a new object.
pub(crate) const FORCING: [&str; 2] = ["name", "kind"];

/// Whether the objects of `crash_numbered` can be listed. Without that they have no identity either.
pub(crate) fn is_listed() -> bool {
    std::env::var_os("CRASH_LISTED").is_some()
}

/// Returns the schema.
pub(crate) fn provider_schema() -> ProviderSchema {
    let resources = [NAMED, NUMBERED].map(|name| (name.to_owned(), schema()));
    let listed = is_listed().then(|| (NUMBERED.to_owned(), Schema::default()));
    ProviderSchema {
        resources: BTreeMap::from(resources),
        list_resources: listed.into_iter().collect(),
        ..ProviderSchema::default()
    }
}

/// Returns the identity schemas.
pub(crate) fn identity_schemas() -> IdentitySchemas {
    let schema = |name: &str| {
        let attribute = IdentityAttribute {
            ty: Type::String,
            required_for_import: true,
            optional_for_import: false,
            description: format!("No two objects have the same {name}."),
        };
        IdentitySchema { version: 0, attributes: [(name.to_owned(), attribute)].into() }
    };
    let types = [NAMED, NUMBERED];
    let identified = types.into_iter().filter_map(|ty| Some((ty.to_owned(), schema(key(ty)?))));
    IdentitySchemas { schemas: identified.collect(), diagnostics: Vec::new() }
}

/// The attribute that identifies the objects of a type.
fn key(type_name: &str) -> Option<&'static str> {
    match type_name {
        NAMED => Some("name"),
        NUMBERED if is_listed() => Some("id"),
        _ => None,
    }
}

fn schema() -> Schema {
    let mut schema = Schema::default();
    let text = |role| Attribute::new(Type::String, role);
    let attributes = [
        ("id", text(Role::Computed)),
        ("name", text(Role::Required)),
        ("kind", text(Role::Optional)),
        ("link", text(Role::Optional)),
        ("size", Attribute::new(Type::Number, Role::Optional)),
    ];
    for (name, attribute) in attributes {
        schema.block.attributes.insert(name.into(), attribute);
    }
    schema
}

fn ty() -> Type {
    schema().block.implied_type()
}

/// An object, or null.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing(Value);

impl Thing {
    /// Decodes an object from a message.
    pub(crate) fn decode(payload: &Payload) -> Self {
        Self(payload.decode(&ty()).expect("hosts send what fits").into_value())
    }

    /// Decodes an object from the fake service or a state.
    pub(crate) fn from_json(text: &[u8]) -> Self {
        Self(json::decode(text, &ty()).unwrap_or_else(|_| Value::null(ty())))
    }

    /// An object with only its id known, which is the name if the name identifies it.
    pub(crate) fn known_by(type_name: &str, id: &str) -> Self {
        let text = |part| (part, Value::string(id));
        let null = |part| (part, Value::null(Type::String));
        let name = if type_name == NAMED { text("name") } else { null("name") };
        let size = ("size", Value::null(Type::Number));
        Self(Value::object([text("id"), name, null("kind"), null("link"), size]))
    }

    /// Encodes an object for the fake service.
    pub(crate) fn to_json(&self) -> String {
        json::encode(&self.0, &ty()).expect("it fits its own type")
    }

    /// No object.
    pub(crate) fn null() -> Self {
        Self(Value::null(ty()))
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn get(&self, name: &str) -> &Value {
        Path::root().attribute(name).find(&self.0).unwrap_or(&self.0)
    }

    /// The string of an attribute; empty if it has none.
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::String(text) => text,
            _ => "",
        }
    }

    /// The object with another id.
    pub(crate) fn with_id(&self, id: Value) -> Self {
        let path = Path::root().attribute("id");
        Self(self.0.replace_at(&path, |_| id.clone()).unwrap_or_else(|| self.0.clone()))
    }

    /// The object in a message.
    pub(crate) fn payload(&self) -> Payload {
        let plain = Plain::try_from(self.0.clone()).expect("nothing here has marks");
        Payload::Value(plain, ty())
    }

    /// The identity of the object, if its type has identities.
    pub(crate) fn identity(&self, type_name: &str) -> Option<Payload> {
        let key = key(type_name)?;
        if self.is_null() {
            return None;
        }
        let identity = Value::object([(key, self.get(key).clone())]);
        let plain = Plain::try_from(identity).expect("nothing here has marks");
        Some(Payload::Value(plain, Type::object([(key, Type::String)])))
    }
}

/// The id of the object with an identity. If the name identifies it, the name is the id.
pub(crate) fn id_in(type_name: &str, identity: &Payload) -> Option<String> {
    let key = key(type_name)?;
    let identity = identity.decode(&Type::object([(key, Type::String)])).ok()?.into_value();
    match Path::root().attribute(key).find(&identity) {
        Some(Value::String(id)) => Some(id.to_string()),
        _ => None,
    }
}
