//! `postgresql_grant`: the privileges of one role on one database, one schema, or the tables, sequences or
//! routines of a schema.

mod grant_target;

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::server::PostgresqlServer;
use super::session::Session;
use super::sql;
use grant_target::{
    GrantTarget, ObjectPrivileges, are_all_privileges, is_valid_object_name,
    privileges_of_object_kind,
};

/// The privileges of a role. Privileges that are not listed are revoked.
#[derive(Model)]
pub(super) struct GrantModel {
    /// The role; `public` is every role.
    #[attr(required, replace)]
    role: String,
    /// The database.
    #[attr(required, replace)]
    database: String,
    /// The schema; needed unless `object_type` is `database`.
    #[attr(optional, replace)]
    schema: Option<String>,
    /// Targets of the privileges.
    #[attr(
        required,
        replace,
        one_of = ["database", "schema", "table", "sequence", "function", "procedure", "routine"]
    )]
    object_type: String,
    /// The names of tables, sequences or routines; all that there are if not set or empty. A routine may
    /// be named with the types of its arguments, as in `f(integer)`, and must be where there are several.
    #[attr(optional, replace)]
    objects: Option<BTreeSet<String>>,
    /// The privileges, such as `SELECT`, or `ALL`.
    #[attr(required)]
    privileges: BTreeSet<String>,
    /// Whether the role may grant the privileges to others.
    #[attr(default = false, replace)]
    with_grant_option: bool,
    /// The role, the database, the schema, the kind and the objects, with underscores in between.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct GrantResource(pub(super) PostgresqlServer);

impl Resource for GrantResource {
    type Model = GrantModel;

    fn validate(&self, call: Validate<GrantModel>) -> Answer<()> {
        let refuse = |name: &str, reason: String| {
            call.report(Problem::new("Invalid Attribute Combination", reason).at(name));
        };
        let Some(kind) = call.config.object_type.get() else { return Ok(()) };
        let Some(allowed) = privileges_of_object_kind(kind) else { return Ok(()) };
        let privileges = call.config.privileges.get().into_iter().flatten();
        for unknown_privilege in privileges
            .filter(|privileges| *privileges != "ALL" && !allowed.contains(&privileges.as_str()))
        {
            let reason = format!(
                "A {kind} has no privilege {unknown_privilege:?}, only {allowed:?} and \"ALL\"."
            );
            refuse("privileges", reason);
        }
        if kind != "database" && call.config.schema.is_null() {
            refuse("schema", format!("`schema` is needed for a {kind}."));
        }
        let mut objects = call.config.objects.get().into_iter().flatten();
        if ["database", "schema"].contains(&kind.as_str()) {
            if objects.next().is_some() {
                refuse("objects", format!("`objects` cannot be given for a {kind}."));
            }
        } else if let Some(unknown_privilege) =
            objects.find(|name| !is_valid_object_name(kind, name))
        {
            let reason = format!(
                "{unknown_privilege:?} is not the name of a {kind} with the types of its arguments."
            );
            refuse("objects", reason);
        }
        Ok(())
    }

    async fn create(&self, call: Create<GrantModel>) -> Answer<GrantModelComputed> {
        let Create { planned, call, .. } = call;
        let session = self.0.connect(Some(&planned.database), &call.stop).await?;
        let statements = planned.grant_statements();
        run_as_owners(&session, "Error granting privileges", &planned.target(), &statements)
            .await?;
        Ok(GrantModelComputed { id: planned.id() })
    }

    async fn read(&self, call: Read<GrantModel>) -> Answer<Option<GrantModel>> {
        let Read { current: prior, call, .. } = call;
        let first = self.0.connect(None, &call.stop).await?;
        if !first.has_database(&prior.database).await? {
            return Ok(None);
        }
        let session = self.0.connect(Some(&prior.database), &call.stop).await?;
        read_granted_privileges(&session, prior).await
    }

    async fn update(&self, call: Update<GrantModel>) -> Answer<GrantModelComputed> {
        let Update { prior, planned, call, .. } = call;
        let session = self.0.connect(Some(&planned.database), &call.stop).await?;
        let statements = planned.grant_statements();
        run_as_owners(&session, "Error granting privileges", &planned.target(), &statements)
            .await?;
        Ok(GrantModelComputed { id: prior.id })
    }

    async fn delete(&self, call: Delete<GrantModel>) -> Answer<()> {
        let Delete { prior, call, .. } = call;
        let first = self.0.connect(None, &call.stop).await?;
        if !first.has_database(&prior.database).await? {
            return Ok(());
        }
        let session = self.0.connect(Some(&prior.database), &call.stop).await?;
        let target = prior.target();
        // The privileges of a deleted role or schema are deleted, too.
        if read_role_oid(&session, &prior.role).await?.is_none()
            || target.read_object_privileges(&session, 0).await?.is_empty()
        {
            return Ok(());
        }
        let statement = revoke_all_statement(&target, &prior.role);
        run_as_owners(&session, "Error revoking privileges", &target, &[statement]).await
    }
}

impl GrantModel {
    fn target(&self) -> GrantTarget<'_> {
        GrantTarget {
            kind: &self.object_type,
            database: &self.database,
            schema: self.schema.as_deref(),
            objects: self.objects.as_ref(),
        }
    }
}

impl GrantModelInput {
    fn target(&self) -> GrantTarget<'_> {
        GrantTarget {
            kind: &self.object_type,
            database: &self.database,
            schema: self.schema.as_deref(),
            objects: self.objects.as_ref(),
        }
    }

    /// The statements after which the role has these privileges and no others.
    fn grant_statements(&self) -> Vec<String> {
        let target = self.target();
        let mut statements = vec![revoke_all_statement(&target, &self.role)];
        if !self.privileges.is_empty() {
            // The names of privileges were checked; they are keywords, not identifiers of the
            // server.
            let privileges: Vec<_> = self.privileges.iter().map(String::as_str).collect();
            let option = if self.with_grant_option { " WITH GRANT OPTION" } else { "" };
            statements.push(format!(
                "GRANT {} ON {} TO {}{option}",
                privileges.join(", "),
                target.to_sql(),
                sql::quote_grantee(&self.role)
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

fn revoke_all_statement(target: &GrantTarget<'_>, role: &str) -> String {
    format!("REVOKE ALL PRIVILEGES ON {} FROM {}", target.to_sql(), sql::quote_grantee(role))
}

/// The OID of the role; `None` if it no longer exists.
async fn read_role_oid(session: &Session, role: &str) -> Answer<Option<u32>> {
    if role.eq_ignore_ascii_case("public") {
        return Ok(Some(0));
    }
    let query = "SELECT oid FROM pg_roles WHERE rolname = $1";
    Ok(session.query_first_row(query, &[&role]).await?.map(|row| row.get(0)))
}

/// Changes privileges in the role of the objects' owner.
async fn run_as_owners(
    session: &Session,
    summary: &str,
    target: &GrantTarget<'_>,
    statements: &[String],
) -> Answer<()> {
    let objects = target.read_object_privileges(session, 0).await?;
    let owners: BTreeSet<&str> = objects.iter().map(|object| object.owner.as_str()).collect();
    session.run_statements_as(summary, &owners.into_iter().collect::<Vec<_>>(), statements).await
}

/// The actual privileges of the role; `None` if the role or the schema no longer exists.
async fn read_granted_privileges(
    session: &Session,
    prior: GrantModel,
) -> Answer<Option<GrantModel>> {
    let Some(role) = read_role_oid(session, &prior.role).await? else { return Ok(None) };
    if let Some(schema) = prior.schema.as_ref().filter(|_| prior.object_type != "database") {
        let query = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
        if session.query_first_row(query, &[schema]).await?.is_none() {
            return Ok(None);
        }
    }
    for object in prior.target().read_object_privileges(session, role).await? {
        let ObjectPrivileges { owner, privileges, passed_on } = object;
        // An owner may grant everything, with or without the option.
        let with_grant_option = match prior.with_grant_option {
            _ if owner == prior.role => prior.with_grant_option,
            true => privileges.is_subset(&passed_on),
            false => !passed_on.is_empty(),
        };
        let is_all = prior.privileges.contains("ALL")
            && are_all_privileges(&privileges, &prior.object_type, session.version);
        let is_as_known = is_all || privileges == prior.privileges;
        if !is_as_known || with_grant_option != prior.with_grant_option {
            // A single difference is enough to plan all privileges again.
            let privileges = if is_as_known { prior.privileges } else { privileges };
            return Ok(Some(GrantModel { privileges, with_grant_option, ..prior }));
        }
    }
    Ok(Some(prior))
}
