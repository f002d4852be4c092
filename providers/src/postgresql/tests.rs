//! Roles, databases, schemas, extensions and privileges on a real server, which each test starts
//! for itself. Where PostgreSQL is not installed (Debian: `postgresql-15`) the tests report it
//! prominently.

mod encryption;
mod installed;
mod real;
mod rights;
mod waiting;

use formwork_sdk::testing::{PlannedAction, TestObject};
use formwork_sdk::value::{Type, Value};

use real::Real;

type Set = (&'static str, Value);

fn text(name: &'static str, text: &str) -> Set {
    (name, Value::string(text))
}

fn truth(name: &'static str, truth: bool) -> Set {
    (name, Value::Bool(truth))
}

fn set(name: &'static str, items: &[&str]) -> Set {
    (name, Value::set(Type::String, items.iter().map(|item| Value::string(*item)).collect()))
}

fn list(name: &'static str, items: &[&str]) -> Set {
    (name, Value::list(Type::String, items.iter().map(|item| Value::string(*item)).collect()))
}

async fn create_object(real: &Real, kind: &str, config: Vec<Set>) -> TestObject {
    let mut object = real.test_object(kind).await;
    assert_eq!(object.apply(config.clone()).await, Ok(PlannedAction::Create));
    object.upgrade_stored().await.unwrap();
    assert_eq!(object.apply(config).await, Ok(PlannedAction::Nothing));
    object
}

#[tokio::test]
async fn a_role_is_created_changed_renamed_imported_and_deleted() {
    let Some(real) = Real::start().await else { return };
    let _group = create_object(&real, "postgresql_role", vec![text("name", "group")]).await;
    let config = |name: &str, login| {
        vec![
            text("name", name),
            text("password", "it's \\ secret"),
            truth("login", login),
            set("roles", &["group"]),
            list("search_path", &["a b", "public"]),
            text("valid_until", "2040-01-02T03:04:05Z"),
            ("statement_timeout", Value::int(5000)),
            ("connection_limit", Value::int(7)),
        ]
    };
    let mut role = create_object(&real, "postgresql_role", config("app", true)).await;
    assert_eq!(real.ask("SELECT rolconnlimit FROM pg_roles WHERE rolname = 'app'").await, "7");
    assert_eq!(role.apply(config("app", false)).await, Ok(PlannedAction::Update));
    assert_eq!(role.apply(config("the \"app\"", false)).await, Ok(PlannedAction::Update));
    assert_eq!(role.get("id"), &Value::string("the \"app\""));
    assert_eq!(role.apply(config("the \"app\"", false)).await, Ok(PlannedAction::Nothing));

    // Another session changes it, and the provider changes it back.
    real.run("ALTER ROLE \"the \"\"app\"\"\" SUPERUSER").await;
    real.run("REVOKE \"group\" FROM \"the \"\"app\"\"\"").await;
    assert_eq!(role.apply(config("the \"app\"", false)).await, Ok(PlannedAction::Update));
    assert_eq!(role.apply(config("the \"app\"", false)).await, Ok(PlannedAction::Nothing));

    let mut imported = real.test_object("postgresql_role").await;
    imported.import("the \"app\"").await.unwrap();
    assert_eq!(imported.get("roles"), role.get("roles"));
    assert_eq!(imported.get("search_path"), role.get("search_path"));
    assert!(imported.import("nobody").await.is_err());

    // It owns an object, which does not prevent its destruction.
    real.run("CREATE TABLE t (); ALTER TABLE t OWNER TO \"the \"\"app\"\"\"").await;
    role.destroy().await.unwrap();
    assert_eq!(real.ask("SELECT count(*) FROM pg_roles WHERE rolname LIKE '%app%'").await, "0");
    assert_eq!(real.ask("SELECT count(*) FROM pg_class WHERE relname = 't'").await, "1");
}

#[tokio::test]
async fn objects_deleted_by_another_program_are_recreated() {
    let Some(real) = Real::start().await else { return };
    let config = || vec![text("name", "gone")];
    for (kind, statement) in [
        ("postgresql_role", "DROP ROLE gone"),
        ("postgresql_database", "DROP DATABASE gone"),
        ("postgresql_schema", "DROP SCHEMA gone"),
    ] {
        let mut object = create_object(&real, kind, config()).await;
        real.run(statement).await;
        assert_eq!(object.apply(config()).await, Ok(PlannedAction::Create), "{kind}");
        real.run(statement).await;
        object.destroy().await.unwrap();
    }
}

#[tokio::test]
async fn a_database_with_a_schema_an_extension_and_privileges() {
    let Some(real) = Real::start().await else { return };
    for name in ["owner", "reader"] {
        create_object(&real, "postgresql_role", vec![text("name", name)]).await;
    }
    let database = |limit| {
        vec![text("name", "shop"), text("owner", "owner"), ("connection_limit", Value::int(limit))]
    };
    let mut shop = create_object(&real, "postgresql_database", database(-1)).await;
    assert_eq!(shop.get("encoding"), &Value::string("UTF8"));
    assert_eq!(shop.apply(database(50)).await, Ok(PlannedAction::Update));
    let changed = [database(50), vec![text("lc_collate", "C.UTF-8")]].concat();
    assert_eq!(shop.plan(changed).await.unwrap().action, PlannedAction::Replace);

    let schema = |name| vec![text("name", name), text("database", "shop"), text("owner", "owner")];
    let mut goods = create_object(&real, "postgresql_schema", schema("goods")).await;
    assert_eq!(goods.apply(schema("wares")).await, Ok(PlannedAction::Update));
    assert_eq!(goods.get("id"), &Value::string("shop.wares"));
    let mut imported = real.test_object("postgresql_schema").await;
    imported.import("shop.wares").await.unwrap();
    assert_eq!(imported.apply(schema("wares")).await, Ok(PlannedAction::Nothing));

    let config = vec![text("name", "plpgsql"), text("database", "shop")];
    let mut extension = create_object(&real, "postgresql_extension", config).await;
    assert_eq!(extension.get("schema"), &Value::string("pg_catalog"));
    extension.destroy().await.unwrap();

    real.run_in("shop", "CREATE TABLE wares.a (); CREATE TABLE wares.b ()").await;
    let grant = |privileges: &[&str]| {
        vec![
            text("role", "reader"),
            text("database", "shop"),
            text("schema", "wares"),
            text("object_type", "table"),
            set("privileges", privileges),
        ]
    };
    let mut tables = create_object(&real, "postgresql_grant", grant(&["SELECT", "INSERT"])).await;
    assert_eq!(tables.get("id"), &Value::string("reader_shop_wares_table"));
    let may = "SELECT has_table_privilege('reader', 'wares.b', 'INSERT')";
    assert_eq!(real.ask_in("shop", may).await, "true");
    assert_eq!(tables.apply(grant(&["SELECT"])).await, Ok(PlannedAction::Update));
    assert_eq!(real.ask_in("shop", may).await, "false");
    real.run_in("shop", "REVOKE SELECT ON wares.a FROM reader").await;
    assert_eq!(tables.apply(grant(&["SELECT"])).await, Ok(PlannedAction::Update));
    assert_eq!(tables.apply(grant(&["ALL"])).await, Ok(PlannedAction::Update));
    assert_eq!(tables.apply(grant(&["ALL"])).await, Ok(PlannedAction::Nothing));

    let connect = vec![
        text("role", "public"),
        text("database", "shop"),
        text("object_type", "database"),
        set("privileges", &["CONNECT"]),
    ];
    create_object(&real, "postgresql_grant", connect).await;
    tables.destroy().await.unwrap();
    goods.apply([schema("wares"), vec![truth("drop_cascade", true)]].concat()).await.unwrap();
    goods.destroy().await.unwrap();
    shop.destroy().await.unwrap();
}

#[tokio::test]
async fn concurrent_changes_of_privileges_of_one_object_succeed() {
    let Some(real) = Real::start().await else { return };
    let names: Vec<_> = (0..8).map(|index| format!("role{index}")).collect();
    let mut roles = Vec::new();
    for name in &names {
        roles.push(create_object(&real, "postgresql_role", vec![text("name", name)]).await);
    }
    let mut grants = Vec::new();
    for _ in &names {
        grants.push(real.test_object("postgresql_grant").await);
    }
    let changes = grants.iter_mut().zip(&names).map(|(grant, name)| {
        grant.apply([
            text("role", name),
            text("database", "postgres"),
            text("schema", "public"),
            text("object_type", "schema"),
            set("privileges", &["USAGE", "CREATE"]),
        ])
    });
    for result in futures_util::future::join_all(changes).await {
        assert_eq!(result, Ok(PlannedAction::Create));
    }
}

#[tokio::test]
async fn errors_of_the_server_are_reported_verbatim() {
    let Some(real) = Real::start().await else { return };
    let grant = |kind: &str, privilege: &str| {
        vec![
            text("role", "postgres"),
            text("database", "postgres"),
            text("object_type", kind),
            set("privileges", &[privilege]),
        ]
    };
    let table = [
        ("postgresql_role", vec![text("name", "postgres")], "already exists (SQLSTATE 42710)"),
        (
            "postgresql_role",
            vec![text("name", "a"), set("roles", &["nobody"])],
            "role \"nobody\" does not exist",
        ),
        ("postgresql_database", vec![text("name", "a"), text("owner", "nobody")], "does not exist"),
        ("postgresql_schema", vec![text("name", "a"), text("database", "no")], "does not exist"),
        ("postgresql_extension", vec![text("name", "none")], "Error creating extension none"),
        ("postgresql_grant", grant("table", "SELECT"), "`schema` is needed"),
        ("postgresql_grant", grant("database", "SELECT"), "no privilege \"SELECT\""),
    ];
    for (kind, config, expected) in table {
        let refusal = real.test_object(kind).await.apply(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
    // A failed creation has left no objects.
    assert_eq!(real.ask("SELECT count(*) FROM pg_roles WHERE rolname = 'a'").await, "0");
}

#[tokio::test]
async fn privileges_on_routines_converge_and_revoked_ones_are_granted_again() {
    let Some(real) = Real::start().await else { return };
    create_object(&real, "postgresql_role", vec![text("name", "caller")]).await;
    let routines = "CREATE SCHEMA s; \
        CREATE FUNCTION s.f(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'; \
        CREATE FUNCTION s.f(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'; \
        CREATE AGGREGATE s.total(integer) (sfunc = int4pl, stype = integer); \
        CREATE PROCEDURE s.p() LANGUAGE sql AS 'SELECT 1'";
    real.run(routines).await;
    let grant = |kind: &str, objects: &[&str], passes_on| {
        vec![
            text("role", "caller"),
            text("database", "postgres"),
            text("schema", "s"),
            text("object_type", kind),
            set("objects", objects),
            set("privileges", &["EXECUTE"]),
            truth("with_grant_option", passes_on),
        ]
    };
    for kind in ["function", "procedure", "routine"] {
        create_object(&real, "postgresql_grant", grant(kind, &[], false))
            .await
            .destroy()
            .await
            .unwrap();
    }
    // One of two of the same name, with the grant option.
    let config = || grant("function", &["f(int)"], true);
    let mut created_grant = create_object(&real, "postgresql_grant", config()).await;
    let may =
        "SELECT has_function_privilege('caller', 's.f(integer)', 'EXECUTE WITH GRANT OPTION')";
    assert_eq!(real.ask(may).await, "true");
    real.run("REVOKE GRANT OPTION FOR EXECUTE ON FUNCTION s.f(integer) FROM caller").await;
    assert_eq!(created_grant.apply(config()).await, Ok(PlannedAction::Replace));
    assert_eq!(real.ask(may).await, "true");
    assert_eq!(created_grant.apply(config()).await, Ok(PlannedAction::Nothing));
    let invalid_grant = grant("function", &["f(int) TO PUBLIC; --"], false);
    let refusal =
        real.test_object("postgresql_grant").await.apply(invalid_grant).await.unwrap_err();
    assert!(refusal.0.contains("is not the name of a function"), "{refusal:?}");
}
