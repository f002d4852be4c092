//! `postgresql_schema`. Privileges on schemas are the business of `postgresql_grant`.

use formwork_sdk::prelude::*;

use super::server::PostgresqlServer;
use super::session::{Session, role_names};
use super::sql;

/// A schema of a database.
#[derive(Model)]
pub(super) struct SchemaModel {
    /// The name of the schema.
    #[attr(required)]
    name: String,
    /// The database; the one that the provider begins with if not set.
    #[attr(optional_computed, keep, replace)]
    database: String,
    /// The role that owns the schema. Default: the user of the connection.
    #[attr(optional_computed, keep)]
    owner: String,
    /// Whether to adopt an existing schema.
    #[attr(default = true)]
    if_not_exists: bool,
    /// Whether all objects in the schema are destroyed with it; otherwise it must be empty.
    #[attr(default = false)]
    drop_cascade: bool,
    /// Database and name with a dot in between.
    #[attr(computed)]
    id: String,
}

/// The resource type.
pub(super) struct SchemaResource(pub(super) PostgresqlServer);

impl Resource for SchemaResource {
    type Model = SchemaModel;

    async fn create(&self, call: Create<SchemaModel>) -> Answer<SchemaModelComputed> {
        let planned = &call.planned;
        let session = self.0.connect(planned.database.as_deref(), &call.stop).await?;
        let condition = if planned.if_not_exists { "IF NOT EXISTS " } else { "" };
        let name = sql::quote_name(&planned.name);
        let mut statements = vec![format!("CREATE SCHEMA {condition}{name}")];
        // Separate, because an existing schema already has an owner.
        let owner = planned.owner.as_ref().map(|owner| sql::quote_name(owner));
        statements.extend(owner.map(|owner| format!("ALTER SCHEMA {name} OWNER TO {owner}")));
        let summary = format!("Error creating schema {}", planned.name);
        let mut roles = vec![session.read_database_owner().await?];
        roles.extend(planned.owner.clone());
        // An existing schema may have another owner.
        roles.extend(read_schema_owner(&session, &planned.name).await?);
        session.run_statements_as(&summary, &role_names(&roles), &statements).await?;
        let id = format!("{}.{}", session.database, planned.name);
        let database = session.database.clone();
        let owner = planned.owner.clone().unwrap_or_default();
        call.keep(SchemaModelComputed { database: database.clone(), owner, id: id.clone() });
        let owner = read_schema_owner(&session, &planned.name).await?;
        Ok(SchemaModelComputed { database, owner: owner.unwrap_or_default(), id })
    }

    async fn read(&self, call: Read<SchemaModel>) -> Answer<Option<SchemaModel>> {
        let Read { current: prior, call, .. } = call;
        let owner = self.read_owner_in_database(&prior.database, &prior.name, &call.stop).await?;
        let id = format!("{}.{}", prior.database, prior.name);
        Ok(owner.map(|owner| SchemaModel { owner, id, ..prior }))
    }

    async fn update(&self, call: Update<SchemaModel>) -> Answer<SchemaModelComputed> {
        let Update { prior, planned, call, .. } = call;
        let session = self.0.connect(Some(&prior.database), &call.stop).await?;
        let name = sql::quote_name(&planned.name);
        let mut statements = Vec::new();
        if prior.name != planned.name {
            let from = sql::quote_name(&prior.name);
            statements.push(format!("ALTER SCHEMA {from} RENAME TO {name}"));
        }
        let owner = planned.owner.unwrap_or_else(|| prior.owner.clone());
        if owner != prior.owner {
            statements.push(format!("ALTER SCHEMA {name} OWNER TO {}", sql::quote_name(&owner)));
        }
        let roles = [session.read_database_owner().await?, prior.owner, owner.clone()];
        let summary = format!("Error updating schema {}", planned.name);
        session.run_statements_as(&summary, &role_names(&roles), &statements).await?;
        let id = format!("{}.{}", session.database, planned.name);
        Ok(SchemaModelComputed { database: session.database, owner, id })
    }

    async fn delete(&self, call: Delete<SchemaModel>) -> Answer<()> {
        let Delete { prior: schema, call, .. } = call;
        let first = self.0.connect(None, &call.stop).await?;
        if !first.has_database(&schema.database).await? {
            return Ok(());
        }
        let session = self.0.connect(Some(&schema.database), &call.stop).await?;
        let behavior = if schema.drop_cascade { "CASCADE" } else { "RESTRICT" };
        let statement =
            format!("DROP SCHEMA IF EXISTS {} {behavior}", sql::quote_name(&schema.name));
        let summary = format!("Error deleting schema {}", schema.name);
        session.run_statements_as(&summary, &[&schema.owner], &[statement]).await
    }

    async fn import(&self, call: Import<SchemaModel>) -> Answer<SchemaModelDraft> {
        let id = call.id.as_str();
        let (database, name) = match id.split_once('.') {
            Some((database, name)) => (database.to_owned(), name),
            None => (self.0.default_database(), id),
        };
        let (database, name, id) = (database.into(), name.into(), id.into());
        let (if_not_exists, drop_cascade) = (true.into(), false.into());
        Ok(SchemaModelDraft {
            database,
            name,
            id,
            if_not_exists,
            drop_cascade,
            ..SchemaModelDraft::default()
        })
    }
}

impl SchemaResource {
    /// Owner of a schema; `None` if it does not exist, or its database does not.
    async fn read_owner_in_database(
        &self,
        database: &str,
        name: &str,
        stop: &Stop,
    ) -> Answer<Option<String>> {
        let first = self.0.connect(None, stop).await?;
        if !first.has_database(database).await? {
            return Ok(None);
        }
        let session = self.0.connect(Some(database), stop).await?;
        read_schema_owner(&session, name).await
    }
}

/// Owner of a schema of the session's database; `None` if it does not exist.
async fn read_schema_owner(session: &Session, name: &str) -> Answer<Option<String>> {
    let query = "SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = $1";
    Ok(session.query_first_row(query, &[&name]).await?.map(|row| row.get(0)))
}
