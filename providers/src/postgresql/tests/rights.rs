//! Lifecycles of objects under a user who may create roles and databases but is not a superuser, as
//! on most hosted servers.

use formwork_sdk::testing::PlannedAction;
use formwork_sdk::value::Value;

use super::real::Real;
use super::{create_object, set, text, truth};

/// Memberships of `admin`, except those that come with creating a role.
const MEMBERSHIPS: &str = "SELECT count(*) FROM pg_auth_members \
                           WHERE member = 'admin'::regrole AND NOT admin_option";

async fn start() -> Option<Real> {
    let real = Real::start().await?;
    real.run("CREATE ROLE admin LOGIN CREATEROLE CREATEDB").await;
    Some(real.known_as("admin"))
}

#[tokio::test]
async fn a_user_with_createrole_can_create_change_and_delete_roles() {
    let Some(real) = start().await else { return };
    let role = |name, limit| vec![text("name", name), ("connection_limit", Value::int(limit))];
    let mut app = create_object(&real, "postgresql_role", role("app", 5)).await;
    assert_eq!(app.apply(role("app", 6)).await, Ok(PlannedAction::Update));
    assert_eq!(app.apply(role("apps", 6)).await, Ok(PlannedAction::Update));
    assert_eq!(app.apply(role("apps", 6)).await, Ok(PlannedAction::Nothing));
    real.run("CREATE TABLE t (); ALTER TABLE t OWNER TO apps").await;
    app.destroy().await.unwrap();
    let owner = "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 't'";
    assert_eq!(real.ask(owner).await, "admin");
    assert_eq!(real.ask(MEMBERSHIPS).await, "0");
}

#[tokio::test]
async fn objects_of_other_owners_are_created_changed_and_deleted() {
    let Some(real) = start().await else { return };
    for name in ["one", "other", "reader"] {
        create_object(&real, "postgresql_role", vec![text("name", name)]).await;
    }
    let database = |owner| {
        vec![text("name", "shop"), text("owner", owner), truth("alter_object_ownership", true)]
    };
    let mut shop = create_object(&real, "postgresql_database", database("one")).await;
    let schema =
        |owner| vec![text("name", "goods"), text("database", "shop"), text("owner", owner)];
    let mut goods = create_object(&real, "postgresql_schema", schema("one")).await;
    real.run_in("shop", "CREATE TABLE goods.a (); ALTER TABLE goods.a OWNER TO one").await;
    let grant = |privilege| {
        vec![
            text("role", "reader"),
            text("database", "shop"),
            text("schema", "goods"),
            text("object_type", "table"),
            set("privileges", &[privilege]),
        ]
    };
    let mut grants = create_object(&real, "postgresql_grant", grant("SELECT")).await;
    assert_eq!(grants.apply(grant("INSERT")).await, Ok(PlannedAction::Update));
    assert_eq!(goods.apply(schema("other")).await, Ok(PlannedAction::Update));
    assert_eq!(goods.apply(schema("other")).await, Ok(PlannedAction::Nothing));
    assert_eq!(shop.apply(database("other")).await, Ok(PlannedAction::Update));
    assert_eq!(shop.apply(database("other")).await, Ok(PlannedAction::Nothing));
    let owner = "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'a'";
    assert_eq!(real.ask_in("shop", owner).await, "other");
    grants.destroy().await.unwrap();
    goods.apply([schema("other"), vec![truth("drop_cascade", true)]].concat()).await.unwrap();
    goods.destroy().await.unwrap();
    shop.destroy().await.unwrap();
    assert_eq!(real.ask(MEMBERSHIPS).await, "0");
}

#[tokio::test]
async fn an_existing_membership_is_kept() {
    let Some(real) = start().await else { return };
    real.run("CREATE ROLE one; GRANT one TO admin").await;
    let database = vec![text("name", "shop"), text("owner", "one")];
    let mut shop = create_object(&real, "postgresql_database", database).await;
    shop.destroy().await.unwrap();
    assert_eq!(real.ask(MEMBERSHIPS).await, "1");
}
