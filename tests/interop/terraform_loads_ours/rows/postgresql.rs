//! `postgresql`, on a real server.

use super::super::row::{Import, Provider, Replace, Resource, Update};

/// The provider of the server on a port.
pub(super) fn provider(port: u16) -> Provider {
    let settings =
        format!("  host     = \"127.0.0.1\"\n  port     = {port}\n  sslmode  = \"disable\"\n");
    // Objects that the rows depend on stay as they are.
    let fixture = format!(
        r#"
provider "postgresql" {{
{settings}}}
resource "postgresql_role" "owner" {{
  name = "owner"
}}
resource "postgresql_database" "shop" {{
  name = "shop"
}}
"#
    );
    Provider {
        source: "cyrilgdn/postgresql",
        fixture,
        files: &[],
        resources: vec![database(), extension(), grant(), role(), schema()],
        other_types: Vec::new(),
    }
}

fn database() -> Resource {
    Resource {
        kind: "postgresql_database",
        create: "  name = \"one\"",
        update: Update::InPlace(
            "  name             = \"two\"\n  owner            = postgresql_role.owner.name\n  connection_limit = 7",
        ),
        replace: Replace::By(
            "  name     = \"two\"\n  encoding = \"LATIN1\"\n  owner    = postgresql_role.owner.name",
        ),
        import: Import::By("two"),
        generated: &[],
    }
}

fn extension() -> Resource {
    Resource {
        kind: "postgresql_extension",
        create: "  name     = \"plpgsql\"\n  database = postgresql_database.shop.name",
        update: Update::InPlace(
            "  name         = \"plpgsql\"\n  database     = postgresql_database.shop.name\n  drop_cascade = true",
        ),
        replace: Replace::By("  name     = \"plpgsql\"\n  database = \"postgres\""),
        import: Import::By("postgres.plpgsql"),
        generated: &[],
    }
}

fn grant() -> Resource {
    Resource {
        kind: "postgresql_grant",
        create: r#"
  role        = postgresql_role.owner.name
  database    = postgresql_database.shop.name
  schema      = "public"
  object_type = "table"
  privileges  = ["SELECT", "INSERT"]
"#,
        update: Update::InPlace(
            r#"
  role        = postgresql_role.owner.name
  database    = postgresql_database.shop.name
  schema      = "public"
  object_type = "table"
  privileges  = ["SELECT"]
"#,
        ),
        replace: Replace::By(
            r#"
  role        = postgresql_role.owner.name
  database    = postgresql_database.shop.name
  object_type = "database"
  privileges  = ["CONNECT", "CREATE"]
"#,
        ),
        import: Import::Refused("Resource import not supported"),
        generated: &[],
    }
}

fn role() -> Resource {
    Resource {
        kind: "postgresql_role",
        create: "  name     = \"app\"\n  login    = true\n  password = \"secret\"",
        update: Update::InPlace(
            r#"
  name              = "the \"app\""
  roles             = [postgresql_role.owner.name]
  search_path       = ["a b", "public"]
  statement_timeout = 5000
  valid_until       = "2040-01-02T03:04:05Z"
"#,
        ),
        replace: Replace::OnRequest("everything about a role can be changed"),
        import: Import::Incomplete("{name}", "the server writes moments in another way"),
        generated: &[],
    }
}

fn schema() -> Resource {
    Resource {
        kind: "postgresql_schema",
        create: "  name     = \"goods\"\n  database = postgresql_database.shop.name",
        update: Update::InPlace(
            r#"
  name     = "wares"
  database = postgresql_database.shop.name
  owner    = postgresql_role.owner.name
"#,
        ),
        replace: Replace::By(
            "  name     = \"wares\"\n  database = \"postgres\"\n  owner    = postgresql_role.owner.name",
        ),
        import: Import::By("postgres.wares"),
        generated: &[],
    }
}
