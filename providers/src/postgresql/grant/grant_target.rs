//! Targets of privileges: in statements, and in the server's catalog.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::super::session::Session;
use super::super::sql;

/// Target of privileges.
pub(super) struct GrantTarget<'g> {
    pub(super) kind: &'g str,
    pub(super) database: &'g str,
    pub(super) schema: Option<&'g str>,
    pub(super) objects: Option<&'g BTreeSet<String>>,
}

/// An object with the privileges of a role.
pub(super) struct ObjectPrivileges {
    pub(super) owner: String,
    pub(super) privileges: BTreeSet<String>,
    /// The privileges that the role may grant to others.
    pub(super) passed_on: BTreeSet<String>,
}

/// The first version that supports procedures.
const VERSION_WITH_PROCEDURES: u32 = 11;
/// The first version that supports `MAINTAIN`.
const VERSION_WITH_MAINTAIN: u32 = 17;

impl GrantTarget<'_> {
    /// The target in statements.
    pub(super) fn to_sql(&self) -> String {
        let schema = sql::quote_name(self.schema.unwrap_or_default());
        match (self.kind, self.named_objects()) {
            ("database", _) => format!("DATABASE {}", sql::quote_name(self.database)),
            ("schema", _) => format!("SCHEMA {schema}"),
            (kind, None) => format!("ALL {}S IN SCHEMA {schema}", kind.to_uppercase()),
            (kind, Some(objects)) => {
                let names = objects.iter().map(|name| self.object_to_sql(name));
                format!("{} {}", kind.to_uppercase(), names.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The objects that have names here; otherwise all are meant.
    fn named_objects(&self) -> Option<&BTreeSet<String>> {
        self.objects.filter(|objects| !objects.is_empty())
    }

    /// An object in statements.
    fn object_to_sql(&self, name: &str) -> String {
        let schema = sql::quote_name(self.schema.unwrap_or_default());
        match name.split_once('(').filter(|_| kind_has_arguments(self.kind)) {
            Some((name, arguments)) => {
                format!("{schema}.{}({arguments}", sql::quote_name(name.trim_end()))
            }
            None => format!("{schema}.{}", sql::quote_name(name)),
        }
    }

    /// The real objects, and the privileges of a role with this number on them.
    pub(super) async fn read_object_privileges(
        &self,
        session: &Session,
        role: u32,
    ) -> Answer<Vec<ObjectPrivileges>> {
        let container = if self.kind == "database" { Some(self.database) } else { self.schema };
        let rows = session
            .query_rows(
                &object_privileges_query(self.kind, session.version),
                &[&role, &container.unwrap_or_default()],
            )
            .await?;
        let routines = self.read_named_routine_oids(session).await?;
        let is_meant = |oid: u32, name: &String| match self.named_objects() {
            None => true,
            Some(_) if routines.contains(&oid) => true,
            Some(names) => names.contains(name),
        };
        let meant = rows.iter().filter(|row| is_meant(row.get(0), &row.get(1)));
        let set = |names: Vec<String>| names.into_iter().collect();
        Ok(meant
            .map(|row| ObjectPrivileges {
                owner: row.get(2),
                privileges: set(row.get(3)),
                passed_on: set(row.get(4)),
            })
            .collect())
    }

    /// The numbers of the routines that are named with their arguments.
    async fn read_named_routine_oids(&self, session: &Session) -> Answer<BTreeSet<u32>> {
        let names = self.named_objects().into_iter().flatten().filter(|name| name.contains('('));
        let names: Vec<_> = names.map(|name| self.object_to_sql(name)).collect();
        if names.is_empty() || !kind_has_arguments(self.kind) {
            return Ok(BTreeSet::new());
        }
        let query = "SELECT to_regprocedure(name)::oid FROM unnest($1::text[]) AS name";
        let rows = session.query_rows(query, &[&names]).await?;
        Ok(rows.iter().filter_map(|row| row.get::<_, Option<u32>>(0)).collect())
    }
}

/// Whether objects of a kind are identified by their arguments too.
fn kind_has_arguments(kind: &str) -> bool {
    ["function", "procedure", "routine"].contains(&kind)
}

/// Whether an object name is valid in a statement. The name of a routine may include its arguments.
pub(super) fn is_valid_object_name(kind: &str, name: &str) -> bool {
    let arguments = name.split_once('(').filter(|_| kind_has_arguments(kind)).map(|(_, rest)| rest);
    let is_word = |letter: char| letter.is_alphanumeric() || " _,.[]\"()".contains(letter);
    arguments.is_none_or(|rest| {
        let balance = rest.chars().try_fold(1_u32, |open, letter| match letter {
            _ if open == 0 => None,
            '(' => Some(open + 1),
            ')' => Some(open - 1),
            _ => Some(open),
        });
        rest.chars().all(is_word) && balance == Some(0)
    })
}

/// The privileges that there are on a kind of objects, besides `ALL`.
pub(super) fn privileges_of_object_kind(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "database" => &["CREATE", "CONNECT", "TEMPORARY"],
        "schema" => &["CREATE", "USAGE"],
        "table" => &[
            "SELECT",
            "INSERT",
            "UPDATE",
            "DELETE",
            "TRUNCATE",
            "REFERENCES",
            "TRIGGER",
            "MAINTAIN",
        ],
        "sequence" => &["USAGE", "SELECT", "UPDATE"],
        "function" | "procedure" | "routine" => &["EXECUTE"],
        _ => return None,
    })
}

/// Whether these are all privileges of a server for a kind of object.
pub(super) fn are_all_privileges(granted: &BTreeSet<String>, kind: &str, version: u32) -> bool {
    let mut required = privileges_of_object_kind(kind).unwrap_or_default().iter();
    required.all(|name| {
        granted.contains(*name) || (*name == "MAINTAIN" && version < VERSION_WITH_MAINTAIN)
    })
}

/// The rows of each object of a kind: its number, name and owner, what a role may do with it, and what of
/// that it may pass on.
fn object_privileges_query(kind: &str, version: u32) -> String {
    let of = |prefix: &str, letter: char, from: &str| {
        let owner = if prefix == "dat" { "datdba".to_owned() } else { format!("{prefix}owner") };
        // An object whose privileges were never changed has the default ones.
        let granted = format!(
            "SELECT DISTINCT privilege_type FROM \
             aclexplode(coalesce({prefix}acl, acldefault('{letter}', {owner}))) WHERE grantee = $1"
        );
        format!(
            "SELECT o.oid, {prefix}name::text, pg_get_userbyid({owner})::text, \
             ARRAY({granted}), ARRAY({granted} AND is_grantable) FROM {from}"
        )
    };
    let query_in_schema = |table: &str, prefix: &str, condition: &str| {
        format!(
            "{table} o JOIN pg_namespace n ON n.oid = {prefix}namespace \
             WHERE nspname = $2 {condition}"
        )
    };
    match kind {
        "database" => of("dat", 'd', "pg_database o WHERE datname = $2"),
        "schema" => of("nsp", 'n', "pg_namespace o WHERE nspname = $2"),
        "sequence" => of("rel", 's', &query_in_schema("pg_class", "rel", "AND relkind = 'S'")),
        "table" => {
            let condition = "AND relkind IN ('r', 'v', 'm', 'f', 'p')";
            of("rel", 'r', &query_in_schema("pg_class", "rel", condition))
        }
        kind => {
            // As `ALL FUNCTIONS` and so on mean it.
            let condition = match kind {
                _ if version < VERSION_WITH_PROCEDURES => "",
                "function" => "AND prokind <> 'p'",
                "procedure" => "AND prokind = 'p'",
                _ => "",
            };
            of("pro", 'f', &query_in_schema("pg_proc", "pro", condition))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_routine_is_named_with_its_argument_types_only() {
        let objects = BTreeSet::from(["f".to_owned(), "g (integer, \"my type\"[])".to_owned()]);
        let target = GrantTarget {
            kind: "function",
            database: "d",
            schema: Some("s"),
            objects: Some(&objects),
        };
        assert_eq!(target.to_sql(), "FUNCTION \"s\".\"f\", \"s\".\"g\"(integer, \"my type\"[])");
        for name in ["f", "f()", "f(integer)", "f(numeric(1,2), x.y)"] {
            assert!(is_valid_object_name("function", name), "{name}");
        }
        for name in ["f(", "f())", "f(a) TO PUBLIC", "f(a); DROP", "f('a')", "f(a) ()"] {
            assert!(!is_valid_object_name("routine", name), "{name}");
        }
        assert!(is_valid_object_name("table", "odd(';name"));
    }

    #[test]
    fn the_set_of_all_privileges_depends_on_the_server_version() {
        let seven =
            privileges_of_object_kind("table").unwrap()[..7].iter().map(|name| (*name).to_owned());
        let seven: BTreeSet<_> = seven.collect();
        assert!(are_all_privileges(&seven, "table", 16));
        assert!(!are_all_privileges(&seven, "table", 17));
    }
}
