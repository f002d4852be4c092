//! The backend `pg`: a PostgreSQL table with a row for each workspace. The locks are advisory locks of
//! the server, the same that Terraform uses.

mod call_error;
mod claims;
mod client;
mod connect;
mod connection;
mod history;
mod idle_connections;
mod journals;
mod states_rights;
mod store;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod tls;

use std::path::PathBuf;
use std::sync::Arc;

use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::IntentLog;
use formwork_value::Type;
use formwork_value::schema::Block;

use self::call_error::CallAttempts;
use self::client::PgClient;
use self::connect::ConnectTarget;
use self::connection::Connection;
use self::journals::PgJournals;
use self::store::PgStore;
use crate::arguments::{BackendArguments, optional_attributes_block};
use crate::cause::Cause;
use crate::config_error::ConfigError;
use crate::journals::SharedIntents;
use crate::kind::{BackendKind, BackendSummary};
use crate::store::{StateStore, StoreError, StoreOperation};
use crate::wait_report::wait_with_report;
use crate::{
    Backend, DEFAULT_WORKSPACE, WorkspaceError, check_new_workspace, local_intent_log,
    with_default_workspace,
};

#[cfg(any(test, fuzzing))]
pub(crate) use self::connect::fuzz_connection;

/// The type of the backend.
pub(crate) struct PgBackendKind;

impl BackendKind for PgBackendKind {
    fn name(&self) -> &'static str {
        "pg"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "an advisory lock of PostgreSQL",
            release: "with the connection",
        }
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn schema(&self) -> Block {
        optional_attributes_block(&[
            ("conn_str", Type::String),
            ("schema_name", Type::String),
            ("skip_index_creation", Type::Bool),
            ("skip_schema_creation", Type::Bool),
            ("skip_table_creation", Type::Bool),
        ])
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let conn_str = arguments.string_or_variable("conn_str", &["PG_CONN_STR"]);
        let schema = arguments.string_or_variable("schema_name", &["PG_SCHEMA_NAME"]);
        let schema = schema.filter(|name| !name.is_empty());
        let skip = |object_kind: &str| {
            let variable = format!("PG_SKIP_{}_CREATION", object_kind.to_uppercase());
            arguments.bool_or_variable(&format!("skip_{object_kind}_creation"), &variable)
        };
        let table = StatesTable {
            target: ConnectTarget::parse_conn_str(&conn_str.unwrap_or_default(), |name| {
                arguments.read_env_variable(name)
            })?,
            schema: schema
                .map_or("terraform_remote_state".to_owned(), |name| truncate_identifier(&name)),
            skip_schema: skip("schema")?,
            skip_table: skip("table")?,
            skip_index: skip("index")?,
        };
        Ok(Arc::new(PgBackend { table, root: arguments.working_directory().to_owned() }))
    }
}

/// The sequence of row ids for all schemas. The ids are keys of advisory locks, which the database
/// shares.
const IDS_SEQUENCE: &str = "public.global_states_id_seq";

/// Returns a name as PostgreSQL truncates it: at 63 bytes, between two characters.
fn truncate_identifier(name: &str) -> String {
    // Catalogue queries compare the name as a string, which the server does not truncate.
    name[..name.floor_char_boundary(63)].to_owned()
}

/// The table of the states.
#[derive(Clone)]
struct StatesTable {
    target: ConnectTarget,
    schema: String,
    skip_schema: bool,
    skip_table: bool,
    skip_index: bool,
}

/// Returns a quoted identifier.
fn quote_identifier(name: &str) -> String {
    // PostgreSQL allows no zero byte in a statement.
    format!("\"{}\"", name.replace('\0', "").replace('"', "\"\""))
}

impl StatesTable {
    /// The location of a workspace, for messages.
    fn location(&self, workspace: &str) -> String {
        format!("{} (schema {:?}, workspace {workspace:?})", self.target.location(), self.schema)
    }

    /// The name of the table in a statement.
    fn name(&self) -> String {
        format!("{}.states", quote_identifier(&self.schema))
    }

    /// Connects, and creates the schema, the table and the index if they do not exist.
    async fn connect_and_create(&self) -> Result<Connection, Cause> {
        let mut client = self.target.connect().await?;
        if client.has_states_table(&self.schema) {
            return Ok(client);
        }
        // One round trip checks what exists. `IF NOT EXISTS` without this check would take one round
        // trip for each object, and require the rights to create it.
        // Read from the catalogue, which requires no rights in the schemas.
        let query = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), count(*) FILTER (WHERE (nspname, relname) IN (($1, 'states'), ('public', 'global_states_id_seq'))) = 2, count(*) FILTER (WHERE (nspname, relname) = ($1, 'states_by_name')) = 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relname IN ('states', 'states_by_name', 'global_states_id_seq')";
        let schema = quote_identifier(&self.schema);
        let row = client.query_one(query, &[&self.schema]).await?;
        if !self.skip_schema && !row.get::<_, bool>(0) {
            client.execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"), &[]).await?;
        }
        // The names and columns are Terraform's, which uses the same table.
        if !self.skip_table && !row.get::<_, bool>(1) {
            let statement = format!("CREATE SEQUENCE IF NOT EXISTS {IDS_SEQUENCE} AS bigint");
            client.execute(&statement, &[]).await?;
            let statement = format!(
                "CREATE TABLE IF NOT EXISTS {} (id bigint NOT NULL DEFAULT nextval('{IDS_SEQUENCE}') PRIMARY KEY, name text UNIQUE, data text)",
                self.name()
            );
            client.execute(&statement, &[]).await?;
        }
        if !self.skip_index && !row.get::<_, bool>(2) {
            let statement = format!(
                "CREATE UNIQUE INDEX IF NOT EXISTS states_by_name ON {} (name)",
                self.name()
            );
            client.execute(&statement, &[]).await?;
        }
        client.set_has_states_table(&self.schema);
        Ok(client)
    }
}

/// A backend that uses one table.
struct PgBackend {
    table: StatesTable,
    root: PathBuf,
}

impl PgBackend {
    fn store_error(&self, operation: StoreOperation) -> impl Fn(Cause) -> StoreError + use<'_> {
        move |cause| {
            let location =
                format!("{} (schema {:?})", self.table.target.location(), self.table.schema);
            StoreError::failed(operation, location, cause)
        }
    }

    /// Connects. A lost connection is replaced.
    async fn connect(&self) -> Result<Connection, Cause> {
        let mut attempts = CallAttempts::begin("connect");
        loop {
            match self.table.connect_and_create().await {
                Ok(client) => return Ok(client),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn list_workspaces(&self) -> Result<Vec<String>, Cause> {
        let mut attempts = CallAttempts::begin("list the workspaces");
        loop {
            let listing =
                async { self.workspace_names(&self.table.connect_and_create().await?).await };
            match listing.await {
                Ok(names) => return Ok(names),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn workspace_names(&self, client: &Connection) -> Result<Vec<String>, Cause> {
        let query = format!("SELECT name FROM {} WHERE name != 'default'", self.table.name());
        let rows = client.query(&query, &[]).await?;
        Ok(with_default_workspace(rows.iter().map(|row| row.get::<_, String>(0))))
    }
}

#[async_trait::async_trait]
impl Backend for PgBackend {
    fn kind(&self) -> &str {
        "pg"
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        let failed = self.store_error(StoreOperation::List);
        let location = self.table.target.location();
        let listing = self.list_workspaces();
        Ok(wait_with_report(location, StoreOperation::List, listing).await.map_err(failed)?)
    }

    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        let failed = self.store_error(StoreOperation::Create);
        let client = self.connect().await.map_err(&failed)?;
        check_new_workspace(&self.workspace_names(&client).await.map_err(&failed)?, name)?;
        // A row without objects: Terraform lists workspaces by their rows.
        let empty = StateFile { serial: 1, ..StateFile::new_empty() };
        let mut client = PgClient::new(self.table.clone(), name);
        client.create_row(&empty).await.map_err(failed)?;
        Ok(())
    }

    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        if name == DEFAULT_WORKSPACE {
            return Err(WorkspaceError::Default);
        }
        let failed = self.store_error(StoreOperation::Delete);
        let client = self.connect().await.map_err(&failed)?;
        let statement = format!("DELETE FROM {} WHERE name = $1", self.table.name());
        let removed = client.execute(&statement, &[&name]).await;
        match removed.map_err(&failed)? {
            // The statement itself reports whether the workspace existed, so no other run can
            // interfere.
            0 => Err(WorkspaceError::Missing(name.to_owned())),
            _ => Ok(self.table.delete_workspace_rows(&client, name).await.map_err(failed)?),
        }
    }

    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        Ok(Box::new(PgStore::new(self.table.clone(), workspace)))
    }

    fn location(&self, workspace: &str) -> String {
        self.table.location(workspace)
    }

    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let location = format!("{}\n{}", self.table.target.location(), self.table.schema);
        let local = local_intent_log(&self.root, &location, workspace);
        let shared = PgJournals::new(self.table.clone(), workspace);
        Arc::new(SharedIntents::new(local, Arc::new(shared)))
    }
}
