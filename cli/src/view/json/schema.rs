//! Schemas in the format of `providers schema -json`.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::addr::ProviderAddr;
use formwork_core::provider::{LoadedProvider, ProviderPool};
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::Schema;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedBlock, Nesting, Role, SchemaDocs,
};

use super::json_builder::Json;
use super::value;

/// The schemas of several providers, with the keys of the reported Terraform version. Later versions added
/// identity, list and action schemas, and deprecation messages.
pub(crate) fn schemas_document<'l>(
    providers: impl Iterator<Item = (&'l ProviderAddr, &'l LoadedProvider)>,
) -> Json {
    let schemas = providers.map(|(addr, loaded)| (addr.to_string(), provider_to_json(loaded)));
    Json::object_of_some([
        ("format_version", Some(Json::text("1.0"))),
        ("provider_schemas", Json::Object(schemas.collect()).none_if_empty()),
    ])
}

/// The provider schemas of a test run, as members of its plan or state.
pub(crate) fn members_for_test<'p>(
    pool: &ProviderPool<'_>,
    providers: impl Iterator<Item = &'p ProviderAddr>,
) -> Vec<(&'static str, Json)> {
    let addrs: BTreeSet<&ProviderAddr> = providers.collect();
    let loaded = addrs.into_iter().filter_map(|addr| Some((addr, pool.loaded_provider(addr)?)));
    let schemas = loaded.map(|(addr, loaded)| (addr.to_string(), provider_to_json(&loaded)));
    let schemas = Json::Object(schemas.collect()).none_if_empty();
    let schemas = schemas.map(|schemas| ("provider_schemas", schemas));
    [("provider_format_version", Json::text("1.0"))].into_iter().chain(schemas).collect()
}

fn provider_to_json(loaded: &LoadedProvider) -> Json {
    let offered = loaded.provider_schema();
    let schemas_to_json = |schemas: &BTreeMap<String, Schema>| {
        Json::Object(schemas.iter().map(|(name, s)| (name.clone(), schema_to_json(s))).collect())
            .none_if_empty()
    };
    let functions = offered.functions.iter().map(|(name, f)| (name.clone(), function_to_json(f)));
    Json::object_of_some([
        ("provider", Some(schema_to_json(&offered.provider))),
        ("resource_schemas", schemas_to_json(&offered.resources)),
        ("data_source_schemas", schemas_to_json(&offered.data_sources)),
        ("ephemeral_resource_schemas", schemas_to_json(&offered.ephemeral_resources)),
        ("functions", Json::Object(functions.collect()).none_if_empty()),
    ])
}

fn int_to_json(number: u64) -> Json {
    Json::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn true_or_none(flag: bool) -> Option<Json> {
    flag.then_some(Json::Bool(true))
}

fn nonempty_text_to_json(text: &str) -> Option<Json> {
    (!text.is_empty()).then(|| Json::text(text))
}

fn schema_to_json(schema: &Schema) -> Json {
    Json::object([
        ("version", int_to_json(schema.version)),
        ("block", block_to_json(&schema.block)),
    ])
}

fn docs_to_members(docs: &SchemaDocs) -> [(&'static str, Option<Json>); 3] {
    let kind = if docs.markdown { "markdown" } else { "plain" };
    [
        ("description", nonempty_text_to_json(&docs.description)),
        ("description_kind", Some(Json::text(kind))),
        ("deprecated", true_or_none(docs.deprecated)),
    ]
}

fn block_to_json(content: &Block) -> Json {
    let attributes =
        content.attributes.iter().map(|(name, a)| (name.to_string(), attribute_to_json(a)));
    let blocks = content.blocks.iter().map(|(name, b)| (name.to_string(), nested_block_to_json(b)));
    let members = [
        ("attributes", Json::Object(attributes.collect()).none_if_empty()),
        ("block_types", Json::Object(blocks.collect()).none_if_empty()),
    ];
    Json::object_of_some(members.into_iter().chain(docs_to_members(&content.docs)))
}

fn nesting_name(nesting: Nesting) -> Json {
    Json::text(match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    })
}

fn nested_block_to_json(nested: &NestedBlock) -> Json {
    Json::object_of_some([
        ("nesting_mode", Some(nesting_name(nested.nesting))),
        ("block", Some(block_to_json(&nested.block))),
        ("min_items", (nested.min_items > 0).then(|| int_to_json(nested.min_items))),
        ("max_items", (nested.max_items > 0).then(|| int_to_json(nested.max_items))),
    ])
}

fn attribute_to_json(attribute: &Attribute) -> Json {
    let (ty, nested) = match &attribute.kind {
        AttributeKind::Plain(ty) => (Some(value::type_to_json(ty)), None),
        AttributeKind::Nested(nested) => {
            let members =
                nested.attributes.iter().map(|(name, a)| (name.to_string(), attribute_to_json(a)));
            let json = Json::object([
                ("attributes", Json::Object(members.collect())),
                ("nesting_mode", nesting_name(nested.nesting)),
            ]);
            (None, Some(json))
        }
    };
    let role = attribute.role;
    let members = [("type", ty), ("nested_type", nested)]
        .into_iter()
        .chain(docs_to_members(&attribute.docs))
        .chain([
            ("required", true_or_none(role == Role::Required)),
            ("optional", true_or_none(matches!(role, Role::Optional | Role::OptionalComputed))),
            ("computed", true_or_none(role.is_computed())),
            ("sensitive", true_or_none(attribute.sensitive)),
            ("write_only", true_or_none(attribute.write_only)),
        ]);
    Json::object_of_some(members)
}

fn function_to_json(signature: &FunctionSignature) -> Json {
    let parameters = signature.parameters.iter().map(parameter_to_json);
    Json::object_of_some([
        ("description", nonempty_text_to_json(&signature.description)),
        ("summary", nonempty_text_to_json(&signature.summary)),
        ("deprecation_message", nonempty_text_to_json(&signature.deprecation)),
        ("return_type", Some(value::type_to_json(&signature.returns))),
        ("parameters", Json::Array(parameters.collect()).none_if_empty()),
        ("variadic_parameter", signature.variadic.as_ref().map(parameter_to_json)),
    ])
}

fn parameter_to_json(parameter: &FunctionParameter) -> Json {
    Json::object_of_some([
        ("name", Some(Json::text(&parameter.name))),
        ("description", nonempty_text_to_json(&parameter.description)),
        ("is_nullable", true_or_none(parameter.allow_null)),
        ("type", Some(value::type_to_json(&parameter.ty))),
    ])
}
