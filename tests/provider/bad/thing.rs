//! The schema of the provider: one resource type, one data source and one ephemeral resource, and
//! their values.

use std::collections::BTreeMap;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::capability::ServerCapabilities;
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_tests::fault::Fault;
use formwork_value::codec::{json, msgpack};
use formwork_value::schema::{Attribute, Block, NestedBlock, Nesting, Role, Schema};
use formwork_value::{Path, Plain, Type, Value};

use crate::passing::functions;

/// Nesting of excessively deep blocks.
const DEEP_BLOCKS: usize = 1000;

/// Returns what there is to be had, with the ordered fault in it.
pub(crate) fn provider_schema(fault: Option<Fault>) -> ProviderSchema {
    let mut resource = resource();
    match fault {
        Some(Fault::SchemaMinAboveMax) => {
            let parts = nest(&mut resource, Nesting::List, Block::default());
            (parts.min_items, parts.max_items) = (3, 2);
        }
        Some(Fault::SchemaSetOfAny) => {
            let mut block = Block::default();
            let any = Attribute::new(Type::Dynamic, Role::Optional);
            block.attributes.insert("any".into(), any);
            nest(&mut resource, Nesting::Set, block);
        }
        Some(Fault::SchemaBlocksDeep) => {
            let mut block = Block::default();
            for _ in 0..DEEP_BLOCKS {
                let mut outer = Schema { block: Block::default(), ..Schema::default() };
                nest(&mut outer, Nesting::Single, block);
                block = outer.block;
            }
            nest(&mut resource, Nesting::Single, block);
        }
        // The proxy changes these.
        Some(Fault::SchemaRoles) => {
            let mut roles = Attribute::new(Type::String, Role::Optional);
            (roles.sensitive, roles.docs.deprecated) = (true, true);
            add(&mut resource, "roles", roles);
        }
        Some(Fault::SchemaNoType) => {
            add(&mut resource, "typeless", Attribute::new(Type::String, Role::Optional));
        }
        Some(Fault::SchemaHuge) => {
            resource.block.docs.description = "so much to say ".repeat(6_000_000);
        }
        Some(Fault::SchemaTypeDeep) => {
            // Long enough to be replaced by another type of the same length.
            let ty = Type::object([("x".repeat(super::tamper::DEEP), Type::String)]);
            add(&mut resource, "deep", Attribute::new(ty, Role::Optional));
        }
        _ => (),
    }
    let region = || Attribute::new(Type::String, Role::Optional);
    let provider = match fault {
        Some(Fault::SchemaBadName) => schema([("region", region()), ("Bad Name!", region())]),
        Some(Fault::SchemaReservedName) => schema([("region", region()), ("count", region())]),
        Some(Fault::SchemaFickle) => {
            let mut schema = schema([("region", region())]);
            add(&mut schema, &format!("of_{}", std::process::id()), region());
            schema
        }
        _ => schema([("region", region())]),
    };
    ProviderSchema {
        provider,
        resources: BTreeMap::from([("bad_thing".to_owned(), resource)]),
        data_sources: BTreeMap::from([("bad_data".to_owned(), data())]),
        ephemeral_resources: BTreeMap::from([("bad_token".to_owned(), data())]),
        functions: functions(),
        list_resources: crate::listing::schema().into_iter().collect(),
        capabilities: ServerCapabilities { plan_destroy: true, ..ServerCapabilities::default() },
        ..ProviderSchema::default()
    }
}

/// The schema of `bad_thing`.
pub(crate) fn resource() -> Schema {
    let mut secret = Attribute::new(Type::String, Role::Optional);
    secret.write_only = true;
    schema([
        ("id", Attribute::new(Type::String, Role::Computed)),
        ("name", Attribute::new(Type::String, Role::Required)),
        ("size", Attribute::new(Type::Number, Role::Optional)),
        ("kind", Attribute::new(Type::String, Role::Optional)),
        ("link", Attribute::new(Type::String, Role::Optional)),
        ("text", Attribute::new(Type::String, Role::OptionalComputed)),
        ("generation", Attribute::new(Type::Number, Role::Computed)),
        ("fault", Attribute::new(Type::String, Role::Optional)),
        ("secret", secret),
    ])
}

/// The schema of `bad_data` and `bad_token`.
pub(crate) fn data() -> Schema {
    schema([
        ("name", Attribute::new(Type::String, Role::Required)),
        ("fault", Attribute::new(Type::String, Role::Optional)),
        ("text", Attribute::new(Type::String, Role::Computed)),
    ])
}

/// A `bad_thing`, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing(Value);

impl Thing {
    /// Reads one from a message.
    pub(crate) fn decode(payload: &Payload) -> Self {
        let plain = payload.decode(&resource().block.implied_type()).expect("hosts send what fits");
        Self(plain.into_value())
    }

    /// Decodes a stored object.
    pub(crate) fn from_json(text: &str) -> Self {
        let ty = resource().block.implied_type();
        Self(json::decode(text.as_bytes(), &ty).unwrap_or_else(|_| Value::null(ty)))
    }

    /// Encodes an object for storage.
    pub(crate) fn to_json(&self) -> String {
        json::encode(&self.0, &resource().block.implied_type()).expect("it fits its own type")
    }

    /// Nothing.
    pub(crate) fn null() -> Self {
        Self(Value::null(resource().block.implied_type()))
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn get(&self, name: &str) -> &Value {
        Path::root().attribute(name).find(&self.0).unwrap_or(&self.0)
    }

    /// An attribute's text, empty if it has none.
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::String(text) => text,
            _ => "",
        }
    }

    /// The thing with one attribute changed.
    pub(crate) fn with(&self, name: &str, value: Value) -> Self {
        let path = Path::root().attribute(name);
        Self(self.0.replace_at(&path, |_| value.clone()).unwrap_or_else(|| self.0.clone()))
    }

    /// The thing in a message.
    pub(crate) fn payload(&self) -> Payload {
        let plain = Plain::try_from(self.0.clone()).expect("nothing here has marks");
        Payload::Value(plain, resource().block.implied_type())
    }

    /// The beginning of the thing in a message, which ends after the first letter of an attribute.
    pub(crate) fn cut_at(&self, name: &str) -> Payload {
        let Ok(Payload::Msgpack(bytes)) = self.payload().encode() else { return self.payload() };
        let position = bytes.windows(name.len()).position(|window| window == name.as_bytes());
        Payload::Msgpack(bytes.slice(..position.unwrap_or_default() + name.len() + 2))
    }

    /// The thing in a message, although one attribute has another value than the schema allows; an
    /// attribute without a value is left out.
    pub(crate) fn payload_with_wrong_value(&self, name: &str, value: Option<Value>) -> Payload {
        let Value::Object(object) = &self.0 else { return self.payload() };
        let others = object.iter().filter(|(other, _)| other.as_str() != name);
        let mut pairs: Vec<_> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        pairs.extend(value.map(|value| (name.into(), value)));
        let value = Value::object(pairs);
        Payload::Msgpack(msgpack::encode(&value, &value.ty()).expect("its own type").into())
    }
}

fn schema<const N: usize>(attributes: [(&str, Attribute); N]) -> Schema {
    let mut schema = Schema::default();
    for (name, attribute) in attributes {
        add(&mut schema, name, attribute);
    }
    schema
}

/// Gives a schema blocks of the type `parts`.
fn nest(schema: &mut Schema, nesting: Nesting, block: Block) -> &mut NestedBlock {
    let parts = NestedBlock { nesting, block, min_items: 0, max_items: 0, computed: false };
    schema.block.blocks.entry("parts".into()).or_insert(parts)
}

fn add(schema: &mut Schema, name: &str, attribute: Attribute) {
    schema.block.attributes.insert(name.into(), attribute);
}
