//! `random`: nothing is ever changed in place, and nearly everything can be found again.

use super::super::row::{Import, Other, Provider, Replace, Resource, Update};

const REASON: &str = "the value is made of everything";

/// A row in which every change results in another value.
fn row(
    kind: &'static str,
    [create, update, replace]: [&'static str; 3],
    import: Import,
    generated: &'static [&'static str],
) -> Resource {
    let (update, replace) = (Update::Replaces(update, REASON), Replace::By(replace));
    Resource { kind, create, update, replace, import, generated }
}

pub(super) fn provider() -> Provider {
    let keepers = |word| match word {
        "a" => "  keepers = { k = \"a\", none = null }",
        _ => "  keepers = { k = \"b\" }",
    };
    Provider {
        source: "hashicorp/random",
        fixture: String::new(),
        files: &[],
        resources: kinds(keepers("a"))
            .into_iter()
            .chain(uuids([keepers("a"), keepers("b"), ""]))
            .collect(),
        other_types: vec![
            Other::Ephemeral(
                "random_bytes",
                "  length = 14",
                "length(ephemeral.random_bytes.row.hex) == 28",
            ),
            Other::Ephemeral(
                "random_password",
                "  length = 14",
                "length(ephemeral.random_password.row.result) == 14",
            ),
        ],
    }
}

/// All but the uuids.
fn kinds(argument: &'static str) -> Vec<Resource> {
    vec![
        row(
            "random_bytes",
            ["  length = 8", "  length = 8\n  keepers = { k = \"a\" }", "  length = 9"],
            Import::By("{base64}"),
            &["base64", "hex"],
        ),
        row(
            "random_id",
            ["  byte_length = 8", "  byte_length = 9", "  byte_length = 9\n  prefix = \"p-\""],
            Import::By("p-,{id}"),
            &["id", "hex", "dec", "b64_std", "b64_url"],
        ),
        row(
            "random_integer",
            [
                "  min = 1\n  max = 99",
                "  min = 10\n  max = 99",
                "  min = 10\n  max = 99\n  seed = \"always the same\"",
            ],
            Import::By("{result},{min},{max},{seed}"),
            &["id", "result"],
        ),
        row(
            "random_password",
            [
                "  length = 12\n  min_numeric = 2",
                "  length = 12\n  min_numeric = 2\n  keepers = { k = \"a\" }",
                "  length = 13",
            ],
            Import::By("{result}"),
            &["result", "bcrypt_hash"],
        ),
        row(
            "random_pet",
            [argument, "  length = 3\n  separator = \"_\"", "  length = 3"],
            Import::By("{id}"),
            &["id"],
        ),
        row(
            "random_shuffle",
            [
                "  input = [\"a\", \"b\"]\n  result_count = 3",
                "  input = [\"a\", \"b\"]",
                "  input = [\"a\", \"b\", \"c\"]\n  seed = \"x\"",
            ],
            Import::Refused("Resource import not supported"),
            &["result"],
        ),
        row(
            "random_string",
            [
                "  length = 12\n  special = false",
                "  length = 12\n  override_special = \"%%{~\"",
                "  length = 16",
            ],
            Import::By("{result}"),
            &["id", "result"],
        ),
    ]
}

fn uuids(bodies: [&'static str; 3]) -> Vec<Resource> {
    let row = |kind| row(kind, bodies, Import::By("{result}"), &["id", "result"]);
    ["random_uuid", "random_uuid4", "random_uuid7"].map(row).into()
}
