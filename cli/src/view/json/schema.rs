//! Schemas as `providers schema -json` gives them.

use std::collections::BTreeMap;

use formwork_core::addr::ProviderAddr;
use formwork_core::provider::Loaded;
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::Schema;
use formwork_value::schema::{Attribute, AttributeKind, Block, Docs, NestedBlock, Nesting, Role};

use super::tree::Json;
use super::value;

/// The schemas of several providers, with the keys that Terraform of the reported version has. Schemas
/// of identities, of lists and of actions, and deprecation messages, came with later ones.
pub(crate) fn document<'l>(
    providers: impl Iterator<Item = (&'l ProviderAddr, &'l Loaded)>,
) -> Json {
    let schemas = providers.map(|(addr, loaded)| (addr.to_string(), provider(loaded)));
    Json::some([
        ("format_version", Some(Json::text("1.0"))),
        ("provider_schemas", Json::Object(schemas.collect()).filled()),
    ])
}

fn provider(loaded: &Loaded) -> Json {
    let offered = loaded.schema();
    let all = |schemas: &BTreeMap<String, Schema>| {
        Json::Object(schemas.iter().map(|(name, s)| (name.clone(), schema(s))).collect()).filled()
    };
    let functions = offered.functions.iter().map(|(name, f)| (name.clone(), function(f)));
    Json::some([
        ("provider", Some(schema(&offered.provider))),
        ("resource_schemas", all(&offered.resources)),
        ("data_source_schemas", all(&offered.data_sources)),
        ("ephemeral_resource_schemas", all(&offered.ephemeral_resources)),
        ("functions", Json::Object(functions.collect()).filled()),
    ])
}

fn int(number: u64) -> Json {
    Json::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn yes(flag: bool) -> Option<Json> {
    flag.then_some(Json::Bool(true))
}

fn filled_text(text: &str) -> Option<Json> {
    (!text.is_empty()).then(|| Json::text(text))
}

fn schema(schema: &Schema) -> Json {
    Json::object([("version", int(schema.version)), ("block", block(&schema.block))])
}

fn docs(docs: &Docs) -> [(&'static str, Option<Json>); 3] {
    let kind = if docs.markdown { "markdown" } else { "plain" };
    [
        ("description", filled_text(&docs.description)),
        ("description_kind", Some(Json::text(kind))),
        ("deprecated", yes(docs.deprecated)),
    ]
}

fn block(content: &Block) -> Json {
    let attributes = content.attributes.iter().map(|(name, a)| (name.to_string(), attribute(a)));
    let blocks = content.blocks.iter().map(|(name, b)| (name.to_string(), nested_block(b)));
    let members = [
        ("attributes", Json::Object(attributes.collect()).filled()),
        ("block_types", Json::Object(blocks.collect()).filled()),
    ];
    Json::some(members.into_iter().chain(docs(&content.docs)))
}

fn nesting(nesting: Nesting) -> Json {
    Json::text(match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    })
}

fn nested_block(nested: &NestedBlock) -> Json {
    Json::some([
        ("nesting_mode", Some(nesting(nested.nesting))),
        ("block", Some(block(&nested.block))),
        ("min_items", (nested.min_items > 0).then(|| int(nested.min_items))),
        ("max_items", (nested.max_items > 0).then(|| int(nested.max_items))),
    ])
}

fn attribute(attribute: &Attribute) -> Json {
    let (ty, nested) = match &attribute.kind {
        AttributeKind::Plain(ty) => (Some(value::type_of(ty)), None),
        AttributeKind::Nested(nested) => {
            let members =
                nested.attributes.iter().map(|(name, a)| (name.to_string(), self::attribute(a)));
            let json = Json::object([
                ("attributes", Json::Object(members.collect())),
                ("nesting_mode", nesting(nested.nesting)),
            ]);
            (None, Some(json))
        }
    };
    let role = attribute.role;
    let members =
        [("type", ty), ("nested_type", nested)].into_iter().chain(docs(&attribute.docs)).chain([
            ("required", yes(role == Role::Required)),
            ("optional", yes(matches!(role, Role::Optional | Role::OptionalComputed))),
            ("computed", yes(role.is_computed())),
            ("sensitive", yes(attribute.sensitive)),
            ("write_only", yes(attribute.write_only)),
        ]);
    Json::some(members)
}

fn function(signature: &FunctionSignature) -> Json {
    let parameters = signature.parameters.iter().map(parameter);
    Json::some([
        ("description", filled_text(&signature.description)),
        ("summary", filled_text(&signature.summary)),
        ("deprecation_message", filled_text(&signature.deprecation)),
        ("return_type", Some(value::type_of(&signature.returns))),
        ("parameters", Json::Array(parameters.collect()).filled()),
        ("variadic_parameter", signature.variadic.as_ref().map(parameter)),
    ])
}

fn parameter(parameter: &FunctionParameter) -> Json {
    Json::some([
        ("name", Some(Json::text(&parameter.name))),
        ("description", filled_text(&parameter.description)),
        ("is_nullable", yes(parameter.allow_null)),
        ("type", Some(value::type_of(&parameter.ty))),
    ])
}
