//! `postgresql_grant`: the privileges of one role on one database, one schema, or the tables, sequences or
//! functions of a schema.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::server::{Server, Session};
use super::sql;

/// The privileges of a role. All that are not listed are taken away.
#[derive(Model)]
pub(super) struct Grant {
    /// The role; `public` is everybody.
    #[attr(required, replace)]
    role: String,
    /// The database.
    #[attr(required, replace)]
    database: String,
    /// The schema; needed unless `object_type` is `database`.
    #[attr(optional, replace)]
    schema: Option<String>,
    /// What the privileges are on.
    #[attr(
        required,
        replace,
        one_of = ["database", "schema", "table", "sequence", "function"]
    )]
    object_type: String,
    /// The names of tables, sequences or functions; all that there are if not set or empty.
    #[attr(optional, replace)]
    objects: Option<BTreeSet<String>>,
    /// The privileges, such as `SELECT`, or `ALL`.
    #[attr(required)]
    privileges: BTreeSet<String>,
    /// Whether the role may pass them on.
    #[attr(default = false, replace)]
    with_grant_option: bool,
    /// The role, the database, the schema, the kind and the objects, with underscores in between.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct Grants(pub(super) Server);

impl Resource for Grants {
    type Model = Grant;

    fn validate(&self, call: Validate<Grant>) -> Answer<()> {
        let refuse = |name: &str, why: String| {
            Err(Problem::new("Invalid Attribute Combination", why).at(name))
        };
        let Some(kind) = call.config.object_type.get() else { return Ok(()) };
        let Some(allowed) = allowed(kind) else { return Ok(()) };
        let mut privileges = call.config.privileges.get().into_iter().flatten();
        let wrong = privileges.find(|given| !allowed.contains(&given.as_str()));
        if let Some(wrong) = wrong {
            let why = format!("On a {kind} there is no privilege {wrong:?}, only {allowed:?}.");
            return refuse("privileges", why);
        }
        if kind != "database" && call.config.schema.is_null() {
            return refuse("schema", format!("`schema` is needed for a {kind}."));
        }
        let names_objects = call.config.objects.get().is_some_and(|objects| !objects.is_empty());
        if ["database", "schema"].contains(&kind.as_str()) && names_objects {
            return refuse("objects", format!("`objects` cannot be given for a {kind}."));
        }
        Ok(())
    }

    async fn create(&self, call: Create<Grant>) -> Answer<GrantComputed> {
        let Create { planned: wanted, call, .. } = call;
        let session = self.0.connect(Some(&wanted.database), &call.stop).await?;
        let statements = wanted.statements();
        session.run("Error granting privileges", &statements).await?;
        Ok(GrantComputed { id: wanted.id() })
    }

    async fn read(&self, call: Read<Grant>) -> Answer<Option<Grant>> {
        let Read { current: known, call, .. } = call;
        let first = self.0.connect(None, &call.stop).await?;
        if !first.has_database(&known.database).await? {
            return Ok(None);
        }
        let session = self.0.connect(Some(&known.database), &call.stop).await?;
        read(&session, known).await
    }

    async fn update(&self, call: Update<Grant>) -> Answer<GrantComputed> {
        let Update { prior, planned: wanted, call, .. } = call;
        let session = self.0.connect(Some(&wanted.database), &call.stop).await?;
        let statements = wanted.statements();
        session.run("Error granting privileges", &statements).await?;
        Ok(GrantComputed { id: prior.id })
    }

    async fn delete(&self, call: Delete<Grant>) -> Answer<()> {
        let Delete { prior: known, call, .. } = call;
        let first = self.0.connect(None, &call.stop).await?;
        if !first.has_database(&known.database).await? {
            return Ok(());
        }
        let session = self.0.connect(Some(&known.database), &call.stop).await?;
        let target = Target {
            kind: &known.object_type,
            database: &known.database,
            schema: known.schema.as_deref(),
            objects: known.objects.as_ref(),
        };
        let statement = revoke(&target, &known.role);
        // A role or schema that is gone has taken its privileges with it.
        if read(&session, known).await?.is_none() {
            return Ok(());
        }
        session.run("Error revoking privileges", &[statement]).await
    }
}

/// What privileges are on.
struct Target<'g> {
    kind: &'g str,
    database: &'g str,
    schema: Option<&'g str>,
    objects: Option<&'g BTreeSet<String>>,
}

impl Target<'_> {
    /// The target in statements.
    fn sql(&self) -> String {
        let schema = sql::name(self.schema.unwrap_or_default());
        match (self.kind, self.objects.filter(|objects| !objects.is_empty())) {
            ("database", _) => format!("DATABASE {}", sql::name(self.database)),
            ("schema", _) => format!("SCHEMA {schema}"),
            (kind, None) => format!("ALL {}S IN SCHEMA {schema}", kind.to_uppercase()),
            (kind, Some(objects)) => {
                let names = objects.iter().map(|name| format!("{schema}.{}", sql::name(name)));
                format!("{} {}", kind.to_uppercase(), names.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl GrantInput {
    fn target(&self) -> Target<'_> {
        Target {
            kind: &self.object_type,
            database: &self.database,
            schema: self.schema.as_deref(),
            objects: self.objects.as_ref(),
        }
    }

    /// The statements after which the role has these privileges and no others.
    fn statements(&self) -> Vec<String> {
        let target = self.target();
        let mut statements = vec![revoke(&target, &self.role)];
        if !self.privileges.is_empty() {
            // The names of privileges were checked; they are no names of the server's.
            let privileges: Vec<_> = self.privileges.iter().map(String::as_str).collect();
            let option = if self.with_grant_option { " WITH GRANT OPTION" } else { "" };
            statements.push(format!(
                "GRANT {} ON {} TO {}{option}",
                privileges.join(", "),
                target.sql(),
                sql::grantee(&self.role)
            ));
        }
        statements
    }

    fn id(&self) -> String {
        let mut parts = vec![self.role.clone(), self.database.clone()];
        if self.object_type != "database" {
            parts.extend(self.schema.clone());
        }
        parts.push(self.object_type.clone());
        parts.extend(self.objects.clone().into_iter().flatten());
        parts.join("_")
    }
}

fn revoke(target: &Target<'_>, role: &str) -> String {
    format!("REVOKE ALL PRIVILEGES ON {} FROM {}", target.sql(), sql::grantee(role))
}

/// The privileges that there are on a kind of objects.
fn allowed(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "database" => &["ALL", "CREATE", "CONNECT", "TEMPORARY"],
        "schema" => &["ALL", "CREATE", "USAGE"],
        "table" => {
            &["ALL", "SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
        }
        "sequence" => &["ALL", "USAGE", "SELECT", "UPDATE"],
        "function" => &["ALL", "EXECUTE"],
        _ => return None,
    })
}

/// The rows of each object of a kind: its name, and what the role may do with it.
fn query(kind: &str) -> String {
    let of = |name: &str, acl: &str, from: &str| {
        format!(
            "SELECT {name}::text, ARRAY(SELECT privilege_type FROM aclexplode({acl}) \
             WHERE grantee = $1) FROM {from}"
        )
    };
    let in_schema = "JOIN pg_namespace n ON n.oid = {}namespace WHERE nspname = $2";
    let classes = |kinds: &str| {
        let join = in_schema.replace("{}", "rel");
        of("relname", "relacl", &format!("pg_class {join} AND relkind IN ({kinds})"))
    };
    match kind {
        "database" => of("datname", "datacl", "pg_database WHERE datname = $2"),
        "schema" => of("nspname", "nspacl", "pg_namespace WHERE nspname = $2"),
        "sequence" => classes("'S'"),
        "function" => {
            of("proname", "proacl", &format!("pg_proc {}", in_schema.replace("{}", "pro")))
        }
        _ => classes("'r', 'v', 'm', 'f', 'p'"),
    }
}

/// The privileges that the role really has; `None` if role or schema are gone.
async fn read(session: &Session, known: Grant) -> Answer<Option<Grant>> {
    let role = match known.role.eq_ignore_ascii_case("public") {
        true => Some(0),
        false => {
            let query = "SELECT oid FROM pg_roles WHERE rolname = $1";
            session.row(query, &[&known.role]).await?.map(|row| row.get::<_, u32>(0))
        }
    };
    let Some(role) = role else { return Ok(None) };
    let kind = known.object_type.as_str();
    let place = if kind == "database" { Some(&known.database) } else { known.schema.as_ref() };
    let place = place.cloned().unwrap_or_default();
    if kind != "database" {
        let query = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
        if session.row(query, &[&place]).await?.is_none() {
            return Ok(None);
        }
    }
    let rows = session.rows(&query(kind), &[&role, &place]).await?;
    let all = allowed(kind).unwrap_or_default();
    let meant = known.objects.as_ref().filter(|objects| !objects.is_empty());
    for row in rows {
        let object: String = row.get(0);
        if meant.is_some_and(|objects| !objects.contains(&object)) {
            continue;
        }
        let granted: BTreeSet<String> = row.get::<_, Vec<String>>(1).into_iter().collect();
        let is_all = granted.len() + 1 >= all.len();
        let is_as_known =
            granted == known.privileges || (is_all && known.privileges.contains("ALL"));
        if !is_as_known {
            // One that differs is enough to plan the privileges anew.
            return Ok(Some(Grant { privileges: granted, ..known }));
        }
    }
    Ok(Some(known))
}
