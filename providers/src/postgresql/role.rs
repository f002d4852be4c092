//! `postgresql_role`.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::server::PostgresqlServer;
use super::session::Session;
use super::sql;

/// A role: a user, or a group of users.
#[derive(Model)]
#[attr(conflicts(password, password_wo), together(password_wo, password_wo_version))]
pub(super) struct RoleModel {
    /// The name of the role.
    #[attr(required)]
    name: String,
    /// The password of the role.
    #[attr(optional, sensitive)]
    password: Option<String>,
    /// The password of the role, which is not stored. It is set again when `password_wo_version` changes.
    #[attr(optional, sensitive, write_only)]
    password_wo: Option<Secret<String>>,
    /// Anything that changes with `password_wo`.
    #[attr(optional)]
    password_wo_version: Option<String>,
    /// Whether the password is stored encrypted, as current servers always do.
    #[attr(default = true)]
    encrypted_password: bool,
    /// The roles that this one is a member of.
    #[attr(optional)]
    roles: Option<BTreeSet<String>>,
    /// The schemas in which the role finds what it names without a schema.
    #[attr(optional)]
    search_path: Option<Vec<String>>,
    /// Until when the password is valid.
    #[attr(default = "infinity")]
    valid_until: String,
    /// Greatest number of concurrent connections of the role; -1 for no limit.
    #[attr(default = -1, range = -1..)]
    connection_limit: i64,
    /// Whether the role is a superuser.
    #[attr(default = false)]
    superuser: bool,
    /// Whether the role may create databases.
    #[attr(default = false)]
    create_database: bool,
    /// Whether the role may create roles.
    #[attr(default = false)]
    create_role: bool,
    /// Whether the role inherits the privileges of the roles that it is a member of.
    #[attr(default = true)]
    inherit: bool,
    /// Whether the role may log in.
    #[attr(default = false)]
    login: bool,
    /// Whether the role may be used for replication.
    #[attr(default = false)]
    replication: bool,
    /// Whether the role bypasses row-level security.
    #[attr(default = false)]
    bypass_row_level_security: bool,
    /// Timeout of idle transactions of the role, in milliseconds.
    #[attr(optional, range = 0..)]
    idle_in_transaction_session_timeout: Option<i64>,
    /// Timeout of statements of the role, in milliseconds.
    #[attr(optional, range = 0..)]
    statement_timeout: Option<i64>,
    /// The role that this one becomes when it connects.
    #[attr(optional)]
    assume_role: Option<String>,
    /// Whether to keep the role when the resource is destroyed.
    #[attr(default = false)]
    skip_drop_role: bool,
    /// Whether to skip reassigning the role's objects when it is destroyed.
    #[attr(default = false)]
    skip_reassign_owned: bool,
    /// The name.
    #[attr(computed)]
    id: String,
}

/// The resource type.
pub(super) struct RoleResource(pub(super) PostgresqlServer);

impl Resource for RoleResource {
    type Model = RoleModel;

    async fn modify_plan(&self, change: &mut ModifyPlan<RoleModel>) -> Answer<()> {
        change.planned.id = change.planned.name.clone();
        Ok(())
    }

    async fn create(&self, call: Create<RoleModel>) -> Answer<RoleModelComputed> {
        let session = self.0.connect(None, &call.stop).await?;
        let role = call.planned;
        let options = role.changed_options(None).join(" ");
        let mut statements =
            vec![format!("CREATE ROLE {} WITH {options}", sql::quote_name(&role.name))];
        statements.extend(role.changed_setting_statements(None));
        statements.extend(role.membership_statements(&BTreeSet::new()));
        session.run_statements(&format!("Error creating role {}", role.name), &statements).await?;
        Ok(RoleModelComputed { id: role.name })
    }

    async fn read(&self, call: Read<RoleModel>) -> Answer<Option<RoleModel>> {
        let session = self.0.connect(None, &call.stop).await?;
        read_role(&session, call.current).await
    }

    async fn update(&self, call: Update<RoleModel>) -> Answer<RoleModelComputed> {
        let session = self.0.connect(None, &call.stop).await?;
        let (prior, role) = (call.prior, call.planned);
        let mut statements = Vec::new();
        if prior.name != role.name {
            let (from, to) = (sql::quote_name(&prior.name), sql::quote_name(&role.name));
            statements.push(format!("ALTER ROLE {from} RENAME TO {to}"));
        }
        let options = role.changed_options(Some(&prior));
        if !options.is_empty() {
            let name = sql::quote_name(&role.name);
            statements.push(format!("ALTER ROLE {name} WITH {}", options.join(" ")));
        }
        statements.extend(role.changed_setting_statements(Some(&prior)));
        statements.extend(role.membership_statements(&prior.roles.unwrap_or_default()));
        session.run_statements(&format!("Error updating role {}", role.name), &statements).await?;
        Ok(RoleModelComputed { id: role.name })
    }

    async fn delete(&self, call: Delete<RoleModel>) -> Answer<()> {
        let Delete { prior: role, call, .. } = call;
        let session = self.0.connect(None, &call.stop).await?;
        let exists = "SELECT 1 FROM pg_roles WHERE rolname = $1";
        if session.query_first_row(exists, &[&role.name]).await?.is_none() {
            return Ok(());
        }
        let name = sql::quote_name(&role.name);
        let mut statements = Vec::new();
        if !role.skip_reassign_owned {
            let membership = session.temporary_membership(&[&role.name]).await?;
            statements.extend(membership.begin);
            statements.push(format!("REASSIGN OWNED BY {name} TO CURRENT_USER"));
            statements.push(format!("DROP OWNED BY {name}"));
            // A deleted role has no members.
            statements.extend(membership.end.into_iter().filter(|_| role.skip_drop_role));
        }
        if !role.skip_drop_role {
            statements.push(format!("DROP ROLE {name}"));
        }
        session.run_statements(&format!("Error deleting role {}", role.name), &statements).await
    }

    async fn import(&self, call: Import<RoleModel>) -> Answer<RoleModelDraft> {
        let id = call.id.as_str();
        let (id, name) = (id.into(), id.into());
        let no = || false.into();
        Ok(RoleModelDraft {
            id,
            name,
            encrypted_password: true.into(),
            skip_drop_role: no(),
            skip_reassign_owned: no(),
            ..RoleModelDraft::default()
        })
    }
}

impl RoleModelInput {
    /// Options of the role that differ from the prior ones: only a superuser may use some of them
    /// in a statement.
    fn changed_options(&self, prior: Option<&RoleModel>) -> Vec<String> {
        let flags = [
            ("SUPERUSER", self.superuser, prior.map(|prior| prior.superuser)),
            ("CREATEDB", self.create_database, prior.map(|prior| prior.create_database)),
            ("CREATEROLE", self.create_role, prior.map(|prior| prior.create_role)),
            ("INHERIT", self.inherit, prior.map(|prior| prior.inherit)),
            ("LOGIN", self.login, prior.map(|prior| prior.login)),
            ("REPLICATION", self.replication, prior.map(|prior| prior.replication)),
            (
                "BYPASSRLS",
                self.bypass_row_level_security,
                prior.map(|prior| prior.bypass_row_level_security),
            ),
        ];
        let changed = flags.into_iter().filter(|(_, planned, prior)| Some(*planned) != *prior);
        let mut options: Vec<_> =
            changed.map(|(option, planned, _)| sql::option_or_no_option(option, planned)).collect();
        if prior.is_none_or(|prior| prior.connection_limit != self.connection_limit) {
            options.push(format!("CONNECTION LIMIT {}", self.connection_limit));
        }
        if prior.is_none_or(|prior| prior.valid_until != self.valid_until) {
            options.push(format!("VALID UNTIL {}", sql::quote_text(&self.valid_until)));
        }
        let hidden = self.password_wo.as_ref().map(Secret::expose);
        let password = self.password.as_ref().or(hidden).filter(|password| !password.is_empty());
        let is_new = prior.is_none_or(|prior| {
            prior.password != self.password
                || prior.password_wo_version != self.password_wo_version
                // Renaming may clear the password on the server.
                || (prior.name != self.name && password.is_some())
        });
        if is_new {
            let password = password.map_or_else(|| "NULL".to_owned(), |text| sql::quote_text(text));
            options.push(format!("PASSWORD {password}"));
        }
        options
    }

    /// The statements that set the session settings of the role that differ from the prior ones.
    fn changed_setting_statements(&self, prior: Option<&RoleModel>) -> Vec<String> {
        let planned_settings = session_settings(
            self.search_path.as_ref(),
            self.statement_timeout,
            self.idle_in_transaction_session_timeout,
            self.assume_role.as_ref(),
        );
        // A new role has none of the settings.
        let prior_settings = match prior {
            Some(prior) => session_settings(
                prior.search_path.as_ref(),
                prior.statement_timeout,
                prior.idle_in_transaction_session_timeout,
                prior.assume_role.as_ref(),
            ),
            None => session_settings(None, None, None, None),
        };
        let name = sql::quote_name(&self.name);
        let mut statements = Vec::new();
        for (planned, prior) in planned_settings.into_iter().zip(prior_settings) {
            if planned.value == prior.value {
                continue;
            }
            let setting = planned.name;
            statements.push(match planned.value {
                Some(value) => format!("ALTER ROLE {name} SET {setting} TO {value}"),
                None => format!("ALTER ROLE {name} RESET {setting}"),
            });
        }
        statements
    }

    /// The statements that add and revoke memberships of the role.
    fn membership_statements(&self, prior: &BTreeSet<String>) -> Vec<String> {
        let none = BTreeSet::new();
        let roles = self.roles.as_ref().unwrap_or(&none);
        let name = sql::quote_name(&self.name);
        let revoked = sql::names_only_in_first(prior, roles)
            .map(|role| format!("REVOKE {} FROM {name}", sql::quote_name(role)));
        let granted = sql::names_only_in_first(roles, prior)
            .map(|role| format!("GRANT {} TO {name}", sql::quote_name(role)));
        revoked.chain(granted).collect()
    }
}

const IDLE_TIMEOUT_SETTING: &str = "idle_in_transaction_session_timeout";

/// A setting of the sessions of a role.
struct SessionSetting {
    name: &'static str,
    /// The value as SQL. `None` if the role does not have the setting.
    value: Option<String>,
}

/// Returns the session settings of a role, always in the same order.
fn session_settings(
    search_path: Option<&Vec<String>>,
    statement_timeout: Option<i64>,
    idle_timeout: Option<i64>,
    assumed_role: Option<&String>,
) -> [SessionSetting; 4] {
    let search_path = search_path.filter(|path| !path.is_empty());
    let text = |number: i64| number.to_string();
    [
        ("search_path", search_path.map(sql::quote_names)),
        ("statement_timeout", statement_timeout.map(text)),
        (IDLE_TIMEOUT_SETTING, idle_timeout.map(text)),
        ("role", assumed_role.map(|role| sql::quote_name(role))),
    ]
    .map(|(name, value)| SessionSetting { name, value })
}

async fn read_role(session: &Session, prior: RoleModel) -> Answer<Option<RoleModel>> {
    let query = "SELECT rolsuper, rolcreatedb, rolcreaterole, rolinherit, rolcanlogin, rolreplication, \
                 rolbypassrls, rolconnlimit::int8, \
                 coalesce(rolvaliduntil, 'infinity') = $2::text::timestamptz, \
                 coalesce(rolvaliduntil::text, 'infinity'), coalesce(rolconfig, '{}'), \
                 ARRAY(SELECT pg_get_userbyid(roleid)::text FROM pg_auth_members WHERE member = r.oid) \
                 FROM pg_roles r WHERE rolname = $1";
    // A newly imported object has only its name.
    let until = if prior.valid_until.is_empty() { "infinity" } else { &prior.valid_until };
    let Some(row) = session.query_first_row(query, &[&prior.name, &until]).await? else {
        return Ok(None);
    };
    let config: Vec<String> = row.get(10);
    let setting = |name: &str| {
        let value = config.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.map(str::to_owned)
    };
    let roles: BTreeSet<String> = row.get::<_, Vec<String>>(11).into_iter().collect();
    let unquoted = |part: &str| part.trim_matches('"').replace("\"\"", "\"");
    let path = setting("search_path").map(|path| path.split(", ").map(unquoted).collect());
    // An empty set and none at all are the same to the server.
    let roles = Some(roles).filter(|roles| !roles.is_empty() || prior.roles.is_some());
    Ok(Some(RoleModel {
        id: prior.name.clone(),
        superuser: row.get(0),
        create_database: row.get(1),
        create_role: row.get(2),
        inherit: row.get(3),
        login: row.get(4),
        replication: row.get(5),
        bypass_row_level_security: row.get(6),
        connection_limit: row.get(7),
        // The server writes the same moment in another way.
        valid_until: if row.get(8) { until.to_owned() } else { row.get(9) },
        search_path: path.or_else(|| prior.search_path.clone().filter(Vec::is_empty)),
        statement_timeout: setting("statement_timeout").and_then(|text| text.parse().ok()),
        idle_in_transaction_session_timeout: setting(IDLE_TIMEOUT_SETTING)
            .and_then(|text| text.parse().ok()),
        assume_role: setting("role").map(|role| unquoted(&role)),
        roles,
        ..prior
    }))
}
