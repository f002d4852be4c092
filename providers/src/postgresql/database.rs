//! `postgresql_database`.

use formwork_sdk::prelude::*;

use super::server::PostgresqlServer;
use super::session::role_names;
use super::sql;

/// A database.
#[derive(Clone, Model)]
pub(super) struct DatabaseModel {
    /// The name of the database.
    #[attr(required)]
    name: String,
    /// The role that owns the database. Default: the user of the connection.
    #[attr(optional_computed, keep)]
    owner: String,
    /// The database to copy; `template0` if not set.
    #[attr(optional_computed, keep, replace)]
    template: String,
    /// Character encoding; `UTF8` if not set.
    #[attr(optional_computed, keep, replace)]
    encoding: String,
    /// The order of strings; `C` if not set.
    #[attr(optional_computed, keep, replace)]
    lc_collate: String,
    /// The kinds of characters; `C` if not set.
    #[attr(optional_computed, keep, replace)]
    lc_ctype: String,
    /// Tablespace of the database.
    #[attr(optional_computed, keep)]
    tablespace_name: String,
    /// Greatest number of concurrent connections; -1 for no limit.
    #[attr(default = -1, range = -1..)]
    connection_limit: i64,
    /// Whether any role may connect.
    #[attr(default = true)]
    allow_connections: bool,
    /// Whether any role that may create databases may clone it.
    #[attr(optional_computed, keep)]
    is_template: bool,
    /// Whether a change of the owner also transfers the objects that the previous owner owns in the
    /// database.
    #[attr(default = false)]
    alter_object_ownership: bool,
    /// The name.
    #[attr(computed)]
    id: String,
}

/// The resource type.
pub(super) struct DatabaseResource(pub(super) PostgresqlServer);

impl Resource for DatabaseResource {
    type Model = DatabaseModel;

    async fn modify_plan(&self, change: &mut ModifyPlan<DatabaseModel>) -> Answer<()> {
        change.planned.id = change.planned.name.clone();
        Ok(())
    }

    async fn create(&self, call: Create<DatabaseModel>) -> Answer<DatabaseModelComputed> {
        let session = self.0.connect(None, &call.stop).await?;
        let planned = &call.planned;
        let or = |configured: &Option<String>, default: &str| {
            configured.clone().unwrap_or(default.to_owned())
        };
        let template = or(&planned.template, "template0");
        let mut options = vec![
            format!("TEMPLATE {}", sql::quote_name(&template)),
            format!("ENCODING {}", sql::quote_text(&or(&planned.encoding, "UTF8"))),
            format!("LC_COLLATE {}", sql::quote_text(&or(&planned.lc_collate, "C"))),
            format!("LC_CTYPE {}", sql::quote_text(&or(&planned.lc_ctype, "C"))),
            format!("ALLOW_CONNECTIONS {}", planned.allow_connections),
            format!("CONNECTION LIMIT {}", planned.connection_limit),
            format!("IS_TEMPLATE {}", planned.is_template.unwrap_or(false)),
        ];
        options.extend(
            planned.owner.as_ref().map(|owner| format!("OWNER {}", sql::quote_name(owner))),
        );
        options.extend(
            planned
                .tablespace_name
                .as_ref()
                .map(|space| format!("TABLESPACE {}", sql::quote_name(space))),
        );
        let name = sql::quote_name(&planned.name);
        let statement = format!("CREATE DATABASE {name} {}", options.join(" "));
        let summary = format!("Error creating database {}", planned.name);
        session
            .run_outside_transaction_as(&summary, &role_names(planned.owner.as_slice()), statement)
            .await?;
        let created = DatabaseModel { template, ..DatabaseModel::with_name_only(&planned.name) };
        call.keep(created.clone());
        match self.read_database(created, &call.stop).await? {
            Some(database) => Ok(database.into()),
            None => Err(missing_database_problem(&planned.name)),
        }
    }

    async fn read(&self, call: Read<DatabaseModel>) -> Answer<Option<DatabaseModel>> {
        let Read { current, call, .. } = call;
        self.read_database(current, &call.stop).await
    }

    async fn update(&self, call: Update<DatabaseModel>) -> Answer<DatabaseModelComputed> {
        let (prior, planned) = (&call.prior, &call.planned);
        let session = self.0.connect(None, &call.stop).await?;
        let summary = format!("Error updating database {}", planned.name);
        let name = sql::quote_name(&planned.name);
        let new_owner = planned.owner.as_ref().filter(|owner| **owner != prior.owner);
        let mut roles = vec![prior.owner.as_str()];
        roles.extend(new_owner.map(String::as_str));
        session.run_statements_as(&summary, &roles, &planned.alter_statements(prior)).await?;
        let mut result = prior.after_alter_statements(planned);
        call.keep(result.clone());
        let space =
            planned.tablespace_name.as_ref().filter(|space| **space != prior.tablespace_name);
        if let Some(space) = space {
            // Not possible together with others.
            let statement =
                format!("ALTER DATABASE {name} SET TABLESPACE {}", sql::quote_name(space));
            session.run_outside_transaction_as(&summary, &[&result.owner], statement).await?;
            result.tablespace_name = space.clone();
            call.keep(result.clone());
        }
        if let Some(owner) = new_owner.filter(|_| planned.alter_object_ownership) {
            let session_in_database = self.0.connect(Some(&planned.name), &call.stop).await?;
            let (from, to) = (sql::quote_name(&prior.owner), sql::quote_name(owner));
            let statement = format!("REASSIGN OWNED BY {from} TO {to}");
            session_in_database.run_statements_as(&summary, &roles, &[statement]).await?;
        }
        match self.read_database(result, &call.stop).await? {
            Some(database) => Ok(database.into()),
            None => Err(missing_database_problem(&planned.name)),
        }
    }

    async fn delete(&self, call: Delete<DatabaseModel>) -> Answer<()> {
        let session = self.0.connect(None, &call.stop).await?;
        let database = &call.prior;
        if !session.has_database(&database.name).await? {
            return Ok(());
        }
        let summary = format!("Error deleting database {}", database.name);
        let name = sql::quote_name(&database.name);
        if database.is_template {
            let statement = format!("ALTER DATABASE {name} IS_TEMPLATE false");
            session.run_statements_as(&summary, &[&database.owner], &[statement]).await?;
        }
        let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        session.run_outside_transaction_as(&summary, &[&database.owner], statement).await
    }

    async fn import(&self, call: Import<DatabaseModel>) -> Answer<DatabaseModelDraft> {
        let id = call.id.as_str();
        let (id, name) = (id.into(), id.into());
        Ok(DatabaseModelDraft {
            id,
            name,
            alter_object_ownership: false.into(),
            ..DatabaseModelDraft::default()
        })
    }
}

impl DatabaseResource {
    /// The real database of a known part of one.
    async fn read_database(
        &self,
        prior: DatabaseModel,
        stop: &Stop,
    ) -> Answer<Option<DatabaseModel>> {
        let session = self.0.connect(None, stop).await?;
        let query = "SELECT pg_get_userbyid(datdba)::text, pg_encoding_to_char(encoding)::text, \
                     datcollate::text, datctype::text, spcname::text, datconnlimit::int8, datallowconn, \
                     datistemplate FROM pg_database d JOIN pg_tablespace t ON t.oid = dattablespace \
                     WHERE datname = $1";
        let Some(row) = session.query_first_row(query, &[&prior.name]).await? else {
            return Ok(None);
        };
        // The server does not remember what a database is a copy of.
        let template = Some(prior.template).filter(|template| !template.is_empty());
        Ok(Some(DatabaseModel {
            id: prior.name.clone(),
            owner: row.get(0),
            encoding: row.get(1),
            lc_collate: row.get(2),
            lc_ctype: row.get(3),
            tablespace_name: row.get(4),
            connection_limit: row.get(5),
            allow_connections: row.get(6),
            is_template: row.get(7),
            template: template.unwrap_or_else(|| "template0".to_owned()),
            ..prior
        }))
    }
}

impl DatabaseModelInput {
    /// The statements that bring the database to the planned form, grouped as far as possible.
    fn alter_statements(&self, prior: &DatabaseModel) -> Vec<String> {
        let name = sql::quote_name(&self.name);
        let mut statements = Vec::new();
        if prior.name != self.name {
            let from = sql::quote_name(&prior.name);
            statements.push(format!("ALTER DATABASE {from} RENAME TO {name}"));
        }
        let options = [
            (prior.allow_connections != self.allow_connections)
                .then(|| format!("ALLOW_CONNECTIONS {}", self.allow_connections)),
            (prior.connection_limit != self.connection_limit)
                .then(|| format!("CONNECTION LIMIT {}", self.connection_limit)),
            self.is_template
                .filter(|is_template| *is_template != prior.is_template)
                .map(|is_template| format!("IS_TEMPLATE {is_template}")),
        ];
        let options: Vec<_> = options.into_iter().flatten().collect();
        if !options.is_empty() {
            statements.push(format!("ALTER DATABASE {name} WITH {}", options.join(" ")));
        }
        if let Some(owner) = self.owner.as_ref().filter(|owner| **owner != prior.owner) {
            statements.push(format!("ALTER DATABASE {name} OWNER TO {}", sql::quote_name(owner)));
        }
        statements
    }
}

impl DatabaseModel {
    /// The database once the statements that go together are done.
    fn after_alter_statements(&self, planned: &DatabaseModelInput) -> Self {
        Self {
            id: planned.name.clone(),
            name: planned.name.clone(),
            owner: planned.owner.clone().unwrap_or_else(|| self.owner.clone()),
            connection_limit: planned.connection_limit,
            allow_connections: planned.allow_connections,
            is_template: planned.is_template.unwrap_or(self.is_template),
            ..self.clone()
        }
    }

    /// A database of which only the name is known.
    fn with_name_only(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            owner: String::new(),
            template: String::new(),
            encoding: String::new(),
            lc_collate: String::new(),
            lc_ctype: String::new(),
            tablespace_name: String::new(),
            connection_limit: -1,
            allow_connections: true,
            is_template: false,
            alter_object_ownership: false,
            id: name.to_owned(),
        }
    }
}

fn missing_database_problem(name: &str) -> Problem {
    let detail =
        format!("The database {name} was created, and another session has dropped it since.");
    Problem::new("Database not found", detail)
}
