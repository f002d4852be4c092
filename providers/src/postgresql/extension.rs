//! `postgresql_extension`.

use formwork_sdk::prelude::*;

use super::server::PostgresqlServer;
use super::session::Session;
use super::sql;

/// An extension of a database.
#[derive(Model)]
pub(super) struct ExtensionModel {
    /// The name of the extension.
    #[attr(required, replace)]
    name: String,
    /// The schema that its objects are in.
    #[attr(optional_computed, keep)]
    schema: String,
    /// The version; the usual one of the server if not set.
    #[attr(optional_computed, keep)]
    version: String,
    /// The database; the one that the provider begins with if not set.
    #[attr(optional_computed, keep, replace)]
    database: String,
    /// Whether objects that depend on the extension are destroyed with it.
    #[attr(default = false)]
    drop_cascade: bool,
    /// Whether the extensions that it requires are created with it.
    #[attr(default = false)]
    create_cascade: bool,
    /// Database and name with a dot in between.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct ExtensionResource(pub(super) PostgresqlServer);

impl Resource for ExtensionResource {
    type Model = ExtensionModel;

    async fn create(&self, call: Create<ExtensionModel>) -> Answer<ExtensionModelComputed> {
        let planned = &call.planned;
        let session = self.0.connect(planned.database.as_deref(), &call.stop).await?;
        let mut clauses =
            vec![format!("CREATE EXTENSION IF NOT EXISTS {}", sql::quote_name(&planned.name))];
        clauses.extend(
            planned.schema.as_ref().map(|schema| format!("SCHEMA {}", sql::quote_name(schema))),
        );
        clauses.extend(
            planned.version.as_ref().map(|version| format!("VERSION {}", sql::quote_name(version))),
        );
        clauses.extend(planned.create_cascade.then(|| "CASCADE".to_owned()));
        let summary = format!("Error creating extension {}", planned.name);
        let owner = session.read_database_owner().await?;
        session.run_statements_as(&summary, &[&owner], &[clauses.join(" ")]).await?;
        let id = format!("{}.{}", session.database, planned.name);
        let model = |schema, version| {
            let (database, id) = (session.database.clone(), id.clone());
            ExtensionModelComputed { schema, version, database, id }
        };
        let or_empty = |configured: &Option<String>| configured.clone().unwrap_or_default();
        call.keep(model(or_empty(&planned.schema), or_empty(&planned.version)));
        let (schema, version) =
            read_extension_in_session(&session, &planned.name).await?.unwrap_or_default();
        Ok(model(schema, version))
    }

    async fn read(&self, call: Read<ExtensionModel>) -> Answer<Option<ExtensionModel>> {
        let Read { current: prior, call, .. } = call;
        let current = self.read_extension(&prior.database, &prior.name, &call.stop).await?;
        Ok(current.map(|(schema, version)| ExtensionModel { schema, version, ..prior }))
    }

    async fn update(&self, call: Update<ExtensionModel>) -> Answer<ExtensionModelComputed> {
        let Update { prior, planned, call, .. } = call;
        let session = self.0.connect(Some(&prior.database), &call.stop).await?;
        let name = sql::quote_name(&planned.name);
        let mut statements = Vec::new();
        if let Some(schema) = planned.schema.filter(|schema| *schema != prior.schema) {
            statements
                .push(format!("ALTER EXTENSION {name} SET SCHEMA {}", sql::quote_name(&schema)));
        }
        if let Some(version) = planned.version.filter(|version| *version != prior.version) {
            statements
                .push(format!("ALTER EXTENSION {name} UPDATE TO {}", sql::quote_name(&version)));
        }
        let owner = session.read_database_owner().await?;
        let summary = format!("Error updating extension {}", planned.name);
        session.run_statements_as(&summary, &[&owner], &statements).await?;
        let (schema, version) =
            read_extension_in_session(&session, &planned.name).await?.unwrap_or_default();
        Ok(ExtensionModelComputed { schema, version, database: prior.database, id: prior.id })
    }

    async fn delete(&self, call: Delete<ExtensionModel>) -> Answer<()> {
        let Delete { prior: extension, call, .. } = call;
        let first = self.0.connect(None, &call.stop).await?;
        if !first.has_database(&extension.database).await? {
            return Ok(());
        }
        let session = self.0.connect(Some(&extension.database), &call.stop).await?;
        let behavior = if extension.drop_cascade { "CASCADE" } else { "RESTRICT" };
        let statement =
            format!("DROP EXTENSION IF EXISTS {} {behavior}", sql::quote_name(&extension.name));
        let summary = format!("Error deleting extension {}", extension.name);
        let owner = session.read_database_owner().await?;
        session.run_statements_as(&summary, &[&owner], &[statement]).await
    }

    async fn import(&self, call: Import<ExtensionModel>) -> Answer<ExtensionModelDraft> {
        let id = call.id.as_str();
        let (database, name) = match id.split_once('.') {
            Some((database, name)) => (database.to_owned(), name),
            None => (self.0.default_database(), id),
        };
        let (database, name, id) = (database.into(), name.into(), id.into());
        let (drop_cascade, create_cascade) = (false.into(), false.into());
        Ok(ExtensionModelDraft {
            database,
            name,
            id,
            drop_cascade,
            create_cascade,
            ..ExtensionModelDraft::default()
        })
    }
}

impl ExtensionResource {
    /// Schema and version of an extension; `None` if it does not exist, or its database does not.
    async fn read_extension(
        &self,
        database: &str,
        name: &str,
        stop: &Stop,
    ) -> Answer<Option<(String, String)>> {
        let first = self.0.connect(None, stop).await?;
        if !first.has_database(database).await? {
            return Ok(None);
        }
        let session = self.0.connect(Some(database), stop).await?;
        read_extension_in_session(&session, name).await
    }
}

/// Schema and version of an extension of the session's database; `None` if it does not exist.
async fn read_extension_in_session(
    session: &Session,
    name: &str,
) -> Answer<Option<(String, String)>> {
    let query = "SELECT nspname::text, extversion FROM pg_extension e \
                 JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = $1";
    Ok(session.query_first_row(query, &[&name]).await?.map(|row| (row.get(0), row.get(1))))
}
