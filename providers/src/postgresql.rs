//! The `postgresql` provider: roles, databases, schemas, extensions and privileges of a server. Its
//! schemas are a subset of those of `cyrilgdn/postgresql`.
//!
//! It is an example of a provider for a real service: `server.rs` has the code that the resources
//! share, and each of them is one file with a model and five short handlers.

mod connection_encryption;
mod database;
mod extension;
mod grant;
mod role;
mod schema;
mod server;
mod session;
mod sql;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    provider_of_server(&server::PostgresqlServer::default())
}

/// The provider of a server.
fn provider_of_server(server: &server::PostgresqlServer) -> ProviderDef {
    ProviderDef::new("registry.terraform.io/cyrilgdn/postgresql")
        .with_configuration(server.clone())
        .resource("postgresql_database", database::DatabaseResource(server.clone()))
        .resource("postgresql_extension", extension::ExtensionResource(server.clone()))
        .resource("postgresql_grant", grant::GrantResource(server.clone()))
        .resource("postgresql_role", role::RoleResource(server.clone()))
        .resource("postgresql_schema", schema::SchemaResource(server.clone()))
}

#[cfg(test)]
mod tests;
