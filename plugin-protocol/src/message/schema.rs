//! Schemas and metadata of a provider.

use std::collections::BTreeMap;

use formwork_value::Type;
use formwork_value::schema::Schema;

use super::ProviderDiagnostic;
use crate::capability::ServerCapabilities;

/// Everything a provider offers, as `GetProviderSchema` returns it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderSchema {
    /// The provider's own configuration.
    pub provider: Schema,
    /// Schema of `provider_meta`.
    pub provider_meta: Option<Schema>,
    /// Resource types by name.
    pub resources: BTreeMap<String, Schema>,
    /// Data sources by name.
    pub data_sources: BTreeMap<String, Schema>,
    /// Ephemeral resource types by name.
    pub ephemeral_resources: BTreeMap<String, Schema>,
    /// List resource types by name.
    pub list_resources: BTreeMap<String, Schema>,
    /// State stores by name.
    pub state_stores: BTreeMap<String, Schema>,
    /// Actions by name.
    pub actions: BTreeMap<String, Schema>,
    /// Functions by name.
    pub functions: BTreeMap<String, FunctionSignature>,
    /// Capabilities of the provider.
    pub capabilities: ServerCapabilities,
    /// Diagnostics about the request.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The names of the types and functions of a provider, as `GetMetadata` returns them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// Capabilities of the provider.
    pub capabilities: ServerCapabilities,
    /// Resource types.
    pub resources: Vec<String>,
    /// Data sources.
    pub data_sources: Vec<String>,
    /// Ephemeral resource types.
    pub ephemeral_resources: Vec<String>,
    /// List resource types.
    pub list_resources: Vec<String>,
    /// State stores.
    pub state_stores: Vec<String>,
    /// Actions.
    pub actions: Vec<String>,
    /// Functions.
    pub functions: Vec<String>,
    /// Diagnostics about the request.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// The fixed parameters.
    pub parameters: Vec<FunctionParameter>,
    /// The parameter for any further arguments.
    pub variadic: Option<FunctionParameter>,
    /// The type of the result.
    pub returns: Type,
    /// A summary of one line.
    pub summary: String,
    /// More about it.
    pub description: String,
    /// Whether the description is Markdown.
    pub markdown: bool,
    /// Suggested replacement; empty if it is not deprecated.
    pub deprecation: String,
}

impl FunctionSignature {
    /// A function without descriptions.
    #[must_use]
    pub fn new(parameters: Vec<FunctionParameter>, returns: Type) -> Self {
        Self {
            parameters,
            variadic: None,
            returns,
            summary: String::new(),
            description: String::new(),
            markdown: false,
            deprecation: String::new(),
        }
    }
}

/// A parameter of a provider's function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// Its name.
    pub name: String,
    /// The type of its arguments.
    pub ty: Type,
    /// Whether the argument may be null.
    pub allow_null: bool,
    /// Whether the argument may be unknown.
    pub allow_unknown: bool,
    /// Description.
    pub description: String,
    /// Whether the description is Markdown.
    pub markdown: bool,
}

impl FunctionParameter {
    /// A parameter that accepts only known values, without a description.
    #[must_use]
    pub fn new(name: &str, ty: Type) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            allow_null: false,
            allow_unknown: false,
            description: String::new(),
            markdown: false,
        }
    }
}

/// The schema of the identity of a resource type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentitySchema {
    /// Version of the stored form.
    pub version: u64,
    /// Attributes by name.
    pub attributes: BTreeMap<String, IdentityAttribute>,
}

/// One attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// Its type.
    pub ty: Type,
    /// Whether an import must provide the attribute.
    pub required_for_import: bool,
    /// Whether an import may provide the attribute.
    pub optional_for_import: bool,
    /// Description.
    pub description: String,
}

/// Identity schemas by resource type, as `GetResourceIdentitySchemas` returns them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentitySchemas {
    /// Schemas by resource type.
    pub schemas: BTreeMap<String, IdentitySchema>,
    /// Diagnostics about the request.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
