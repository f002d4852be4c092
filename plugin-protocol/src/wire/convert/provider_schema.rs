//! Schemas, metadata, identities and functions of a provider. The messages that differ in protocol
//! 5 are converted to those of protocol 6 and back.

use std::collections::BTreeMap;

use formwork_value::schema::Schema;

use super::schema::{self, SchemaStrictness, decode_type, description_string_kind, is_markdown};
use super::{InvalidMessage, UnencodableMessage, decode_count, diag, encode_count};
use crate::message::function::Functions;
use crate::message::schema::{
    FunctionParameter, FunctionSignature, IdentityAttribute, IdentitySchema, IdentitySchemas,
    Metadata, ProviderSchema,
};
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};
use formwork_value::codec::type_json;
use v6::get_metadata as names;

type MapByName<T> = BTreeMap<String, T>;

/// Reads each item by name; an error contains the name.
fn decode_each_by_name<W, N>(
    wire: MapByName<W>,
    kind: &str,
    decode: impl Fn(W) -> Result<N, InvalidMessage>,
) -> Result<MapByName<N>, InvalidMessage> {
    wire.into_iter()
        .map(|(name, wire)| match decode(wire) {
            Ok(decoded) => Ok((name, decoded)),
            Err(error) => {
                Err(error.prepend_location(format_args!("the schema of {kind} `{name}`")))
            }
        })
        .collect()
}

fn encode_schema_map(
    schemas: &MapByName<Schema>,
) -> Result<MapByName<v6::Schema>, UnencodableMessage> {
    schemas
        .iter()
        .map(|(name, schema)| Ok((name.clone(), schema::encode_schema(schema)?)))
        .collect()
}

impl TryFrom<v6::get_provider_schema::Response> for ProviderSchema {
    type Error = InvalidMessage;

    fn try_from(wire: v6::get_provider_schema::Response) -> Result<Self, InvalidMessage> {
        let diagnostics = diag::decode_diagnostics(wire.diagnostics);
        if diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == formwork_value::diag::Severity::Error)
        {
            // Errors take precedence: the answer need not be complete.
            return Ok(Self { diagnostics, ..Self::default() });
        }
        // As in Terraform, which validates only the schemas of resources, data sources, ephemeral
        // and list resources.
        let strict = |schema| schema::decode_schema(schema, SchemaStrictness::Strict);
        let lenient = |schema| schema::decode_schema(schema, SchemaStrictness::Lenient);
        // Mandatory, also for a provider that has no configuration.
        let provider = wire.provider.ok_or_else(|| {
            InvalidMessage::new("the answer has no schema of the provider itself")
        })?;
        Ok(Self {
            provider: lenient(provider)
                .map_err(|reason| reason.prepend_location("the schema of the provider"))?,
            provider_meta: wire
                .provider_meta
                .map(lenient)
                .transpose()
                .map_err(|reason| reason.prepend_location("the schema of provider_meta"))?,
            resources: decode_each_by_name(wire.resource_schemas, "resource", strict)?,
            data_sources: decode_each_by_name(wire.data_source_schemas, "data source", strict)?,
            ephemeral_resources: decode_each_by_name(
                wire.ephemeral_resource_schemas,
                "ephemeral resource",
                strict,
            )?,
            list_resources: decode_each_by_name(
                wire.list_resource_schemas,
                "list resource",
                strict,
            )?,
            state_stores: decode_each_by_name(wire.state_store_schemas, "state store", lenient)?,
            actions: decode_each_by_name(wire.action_schemas, "action", |action| {
                lenient(action.schema.ok_or_else(|| InvalidMessage::new("it is empty"))?)
            })?,
            functions: decode_each_by_name(wire.functions, "function", TryInto::try_into)?,
            capabilities: wire.server_capabilities.map(Into::into).unwrap_or_default(),
            diagnostics,
        })
    }
}

impl TryFrom<ProviderSchema> for v6::get_provider_schema::Response {
    type Error = UnencodableMessage;

    fn try_from(provider_schema: ProviderSchema) -> Result<Self, UnencodableMessage> {
        let action = |(name, schema)| {
            let schema = Some(schema);
            (name, v6::ActionSchema { schema })
        };
        Ok(Self {
            // Always: Go hosts refuse an answer without the schema of the provider itself.
            provider: Some(schema::encode_schema(&provider_schema.provider)?),
            resource_schemas: encode_schema_map(&provider_schema.resources)?,
            data_source_schemas: encode_schema_map(&provider_schema.data_sources)?,
            diagnostics: diag::encode_diagnostics(provider_schema.diagnostics),
            provider_meta: provider_schema
                .provider_meta
                .as_ref()
                .map(schema::encode_schema)
                .transpose()?,
            server_capabilities: Some(provider_schema.capabilities.into()),
            functions: provider_schema
                .functions
                .into_iter()
                .map(|(name, f)| (name, f.into()))
                .collect(),
            ephemeral_resource_schemas: encode_schema_map(&provider_schema.ephemeral_resources)?,
            list_resource_schemas: encode_schema_map(&provider_schema.list_resources)?,
            state_store_schemas: encode_schema_map(&provider_schema.state_stores)?,
            action_schemas: encode_schema_map(&provider_schema.actions)?
                .into_iter()
                .map(action)
                .collect(),
        })
    }
}

fn schema_map_v5_to_v6(schemas: MapByName<v5::Schema>) -> MapByName<v6::Schema> {
    schemas.into_iter().map(|(name, schema)| (name, schema.into())).collect()
}

fn schema_map_v6_to_v5(
    schemas: MapByName<v6::Schema>,
    kind: &str,
) -> Result<MapByName<v5::Schema>, UnencodableMessage> {
    schemas
        .into_iter()
        .map(|(name, schema)| match schema.try_into() {
            Ok(schema) => Ok((name, schema)),
            Err(UnencodableMessage(reason)) => {
                Err(UnencodableMessage(format!("{kind} `{name}`: {reason}")))
            }
        })
        .collect()
}

impl From<v5::get_provider_schema::Response> for v6::get_provider_schema::Response {
    fn from(wire: v5::get_provider_schema::Response) -> Self {
        let action = |(name, action): (String, v5::ActionSchema)| {
            (name, v6::ActionSchema { schema: action.schema.map(Into::into) })
        };
        Self {
            provider: wire.provider.map(Into::into),
            resource_schemas: schema_map_v5_to_v6(wire.resource_schemas),
            data_source_schemas: schema_map_v5_to_v6(wire.data_source_schemas),
            diagnostics: wire.diagnostics,
            provider_meta: wire.provider_meta.map(Into::into),
            server_capabilities: wire.server_capabilities,
            functions: wire.functions,
            ephemeral_resource_schemas: schema_map_v5_to_v6(wire.ephemeral_resource_schemas),
            list_resource_schemas: schema_map_v5_to_v6(wire.list_resource_schemas),
            // Protocol 5 has none.
            state_store_schemas: BTreeMap::new(),
            action_schemas: wire.action_schemas.into_iter().map(action).collect(),
        }
    }
}

/// Leaves state stores out: protocol 5 has none.
impl TryFrom<v6::get_provider_schema::Response> for v5::get_provider_schema::Response {
    type Error = UnencodableMessage;

    fn try_from(wire: v6::get_provider_schema::Response) -> Result<Self, UnencodableMessage> {
        let action = |(name, action): (String, v6::ActionSchema)| {
            let schema = action.schema.map(TryInto::try_into).transpose()?;
            Ok((name, v5::ActionSchema { schema }))
        };
        Ok(Self {
            provider: wire.provider.map(TryInto::try_into).transpose()?,
            resource_schemas: schema_map_v6_to_v5(wire.resource_schemas, "resource")?,
            data_source_schemas: schema_map_v6_to_v5(wire.data_source_schemas, "data source")?,
            diagnostics: wire.diagnostics,
            provider_meta: wire.provider_meta.map(TryInto::try_into).transpose()?,
            server_capabilities: wire.server_capabilities,
            functions: wire.functions,
            ephemeral_resource_schemas: schema_map_v6_to_v5(
                wire.ephemeral_resource_schemas,
                "ephemeral resource",
            )?,
            list_resource_schemas: schema_map_v6_to_v5(
                wire.list_resource_schemas,
                "list resource",
            )?,
            action_schemas: wire
                .action_schemas
                .into_iter()
                .map(action)
                .collect::<Result<_, UnencodableMessage>>()?,
        })
    }
}

/// The answer of a provider that requires protocol 6.
pub(crate) fn unencodable_schema_response(
    UnencodableMessage(reason): UnencodableMessage,
) -> v5::get_provider_schema::Response {
    let diagnostic = v6::Diagnostic {
        severity: v6::diagnostic::Severity::Error.into(),
        summary: "Provider needs protocol 6".to_owned(),
        detail: format!(
            "This provider cannot be used through protocol 5: {reason}. Use a host that offers \
             protocol 6."
        ),
        attribute: None,
    };
    v5::get_provider_schema::Response { diagnostics: vec![diagnostic], ..Default::default() }
}

impl From<v6::get_metadata::Response> for Metadata {
    fn from(wire: v6::get_metadata::Response) -> Self {
        Self {
            capabilities: wire.server_capabilities.map(Into::into).unwrap_or_default(),
            resources: wire.resources.into_iter().map(|entry| entry.type_name).collect(),
            data_sources: wire.data_sources.into_iter().map(|entry| entry.type_name).collect(),
            ephemeral_resources: wire
                .ephemeral_resources
                .into_iter()
                .map(|entry| entry.type_name)
                .collect(),
            list_resources: wire.list_resources.into_iter().map(|entry| entry.type_name).collect(),
            state_stores: wire.state_stores.into_iter().map(|entry| entry.type_name).collect(),
            actions: wire.actions.into_iter().map(|entry| entry.type_name).collect(),
            functions: wire.functions.into_iter().map(|entry| entry.name).collect(),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl From<Metadata> for v6::get_metadata::Response {
    fn from(metadata: Metadata) -> Self {
        fn all<T>(names: Vec<String>, create: impl Fn(String) -> T) -> Vec<T> {
            names.into_iter().map(create).collect()
        }
        Self {
            server_capabilities: Some(metadata.capabilities.into()),
            diagnostics: diag::encode_diagnostics(metadata.diagnostics),
            data_sources: all(metadata.data_sources, |type_name| names::DataSourceMetadata {
                type_name,
            }),
            resources: all(metadata.resources, |type_name| names::ResourceMetadata { type_name }),
            functions: all(metadata.functions, |name| names::FunctionMetadata { name }),
            ephemeral_resources: all(metadata.ephemeral_resources, |type_name| {
                names::EphemeralMetadata { type_name }
            }),
            list_resources: all(metadata.list_resources, |type_name| names::ListResourceMetadata {
                type_name,
            }),
            state_stores: all(metadata.state_stores, |type_name| names::StateStoreMetadata {
                type_name,
            }),
            actions: all(metadata.actions, |type_name| names::ActionMetadata { type_name }),
        }
    }
}

impl From<v5::get_metadata::Response> for v6::get_metadata::Response {
    fn from(wire: v5::get_metadata::Response) -> Self {
        // Field 8 in Terraform's description, 9 in that of terraform-plugin-go.
        let actions =
            if wire.actions.is_empty() { wire.actions_of_go_library } else { wire.actions };
        Self {
            server_capabilities: wire.server_capabilities,
            diagnostics: wire.diagnostics,
            data_sources: wire.data_sources,
            resources: wire.resources,
            functions: wire.functions,
            ephemeral_resources: wire.ephemeral_resources,
            list_resources: wire.list_resources,
            state_stores: Vec::new(),
            actions,
        }
    }
}

/// Leaves state stores out: protocol 5 has none.
impl From<v6::get_metadata::Response> for v5::get_metadata::Response {
    fn from(wire: v6::get_metadata::Response) -> Self {
        Self {
            server_capabilities: wire.server_capabilities,
            diagnostics: wire.diagnostics,
            data_sources: wire.data_sources,
            resources: wire.resources,
            functions: wire.functions,
            ephemeral_resources: wire.ephemeral_resources,
            list_resources: wire.list_resources,
            actions: wire.actions,
            // Hosts read the field of Terraform's description.
            actions_of_go_library: Vec::new(),
        }
    }
}

impl TryFrom<v6::get_resource_identity_schemas::Response> for IdentitySchemas {
    type Error = InvalidMessage;

    fn try_from(wire: v6::get_resource_identity_schemas::Response) -> Result<Self, InvalidMessage> {
        Ok(Self {
            schemas: decode_each_by_name(
                wire.identity_schemas,
                "the identity of",
                decode_identity_schema,
            )?,
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        })
    }
}

fn decode_identity_schema(
    wire: v6::ResourceIdentitySchema,
) -> Result<IdentitySchema, InvalidMessage> {
    let attributes = wire.identity_attributes.into_iter().map(|attribute| {
        let ty = decode_type(&attribute.r#type).map_err(|reason| {
            reason.prepend_location(format_args!("attribute `{}`", attribute.name))
        })?;
        let identity_attribute = IdentityAttribute {
            ty,
            required_for_import: attribute.required_for_import,
            optional_for_import: attribute.optional_for_import,
            description: attribute.description,
        };
        Ok((attribute.name, identity_attribute))
    });
    Ok(IdentitySchema {
        attributes: attributes.collect::<Result<_, _>>()?,
        version: decode_count(wire.version, "the schema version")?,
    })
}

impl TryFrom<IdentitySchemas> for v6::get_resource_identity_schemas::Response {
    type Error = UnencodableMessage;

    fn try_from(identities: IdentitySchemas) -> Result<Self, UnencodableMessage> {
        let schemas =
            identities.schemas.into_iter().map(|(name, schema)| Ok((name, schema.try_into()?)));
        Ok(Self {
            identity_schemas: schemas.collect::<Result<_, UnencodableMessage>>()?,
            diagnostics: diag::encode_diagnostics(identities.diagnostics),
        })
    }
}

impl TryFrom<IdentitySchema> for v6::ResourceIdentitySchema {
    type Error = UnencodableMessage;

    fn try_from(identity_schema: IdentitySchema) -> Result<Self, UnencodableMessage> {
        use v6::resource_identity_schema::IdentityAttribute;
        let attributes =
            identity_schema.attributes.into_iter().map(|(name, attribute)| IdentityAttribute {
                name,
                r#type: type_json::encode(&attribute.ty).into(),
                required_for_import: attribute.required_for_import,
                optional_for_import: attribute.optional_for_import,
                description: attribute.description,
            });
        Ok(Self {
            version: encode_count(identity_schema.version, "the schema version")?,
            identity_attributes: attributes.collect(),
        })
    }
}

impl TryFrom<v6::get_functions::Response> for Functions {
    type Error = InvalidMessage;

    fn try_from(wire: v6::get_functions::Response) -> Result<Self, InvalidMessage> {
        Ok(Self {
            functions: decode_each_by_name(wire.functions, "function", TryInto::try_into)?,
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        })
    }
}

impl From<Functions> for v6::get_functions::Response {
    fn from(functions: Functions) -> Self {
        Self {
            functions: functions.functions.into_iter().map(|(name, f)| (name, f.into())).collect(),
            diagnostics: diag::encode_diagnostics(functions.diagnostics),
        }
    }
}

impl TryFrom<v6::Function> for FunctionSignature {
    type Error = InvalidMessage;

    fn try_from(wire: v6::Function) -> Result<Self, InvalidMessage> {
        let returns = wire.r#return.ok_or_else(|| InvalidMessage::new("it has no result type"))?;
        let parameters = wire.parameters.into_iter().map(TryInto::try_into);
        Ok(Self {
            parameters: parameters.collect::<Result<_, _>>()?,
            variadic: wire.variadic_parameter.map(TryInto::try_into).transpose()?,
            returns: decode_type(&returns.r#type)
                .map_err(|reason| reason.prepend_location("its result type"))?,
            summary: wire.summary,
            description: wire.description,
            markdown: is_markdown(wire.description_kind),
            deprecation: wire.deprecation_message,
        })
    }
}

impl TryFrom<v6::function::Parameter> for FunctionParameter {
    type Error = InvalidMessage;

    fn try_from(wire: v6::function::Parameter) -> Result<Self, InvalidMessage> {
        let ty = decode_type(&wire.r#type)
            .map_err(|reason| reason.prepend_location(format_args!("parameter `{}`", wire.name)))?;
        Ok(Self {
            name: wire.name,
            ty,
            allow_null: wire.allow_null_value,
            allow_unknown: wire.allow_unknown_values,
            description: wire.description,
            markdown: is_markdown(wire.description_kind),
        })
    }
}

impl From<FunctionSignature> for v6::Function {
    fn from(signature: FunctionSignature) -> Self {
        Self {
            parameters: signature.parameters.into_iter().map(Into::into).collect(),
            variadic_parameter: signature.variadic.map(Into::into),
            r#return: Some(v6::function::Return {
                r#type: type_json::encode(&signature.returns).into(),
            }),
            summary: signature.summary,
            description: signature.description,
            description_kind: description_string_kind(signature.markdown),
            deprecation_message: signature.deprecation,
        }
    }
}

impl From<FunctionParameter> for v6::function::Parameter {
    fn from(parameter: FunctionParameter) -> Self {
        Self {
            name: parameter.name,
            r#type: type_json::encode(&parameter.ty).into(),
            allow_null_value: parameter.allow_null,
            allow_unknown_values: parameter.allow_unknown,
            description: parameter.description,
            description_kind: description_string_kind(parameter.markdown),
        }
    }
}
