//! Configurations by chance: objects that come, change, are replaced in either order, and go.

use std::fmt::Write as _;

use crate::chance::Chance;

/// How many names there are.
const NAMES: u64 = 30;

/// Writes a configuration. Each name stands for the same kind of resource in all of them.
pub(crate) fn random(chance: &mut Chance) -> String {
    let mut text = "terraform {\n  required_providers {\n    crash = { source = \"formwork/crash\" }\n  }\n}\n".to_owned();
    let (mut before, mut first): (Option<String>, Option<String>) = (None, None);
    for number in 0..NAMES {
        if !chance.is(2, 3) {
            continue;
        }
        let (ty, creates_first) = match number % 4 {
            0 => ("crash_named", false),
            1 => ("crash_numbered", true),
            _ => ("crash_numbered", false),
        };
        let (size, kind) = (chance.below(3), chance.below(2));
        let mut block = format!(
            "resource \"{ty}\" \"n{number}\" {{\n  name = \"n{number}\"\n  size = {size}\n  kind = \"k{kind}\"\n"
        );
        let linked = if creates_first { &first } else { &before };
        if let Some(before) = linked.as_ref().filter(|_| chance.is(1, 3)) {
            // A `String` never refuses to be written to.
            writeln!(block, "  link = {before}.id").ok();
        }
        if creates_first {
            block.push_str("  lifecycle {\n    create_before_destroy = true\n  }\n");
        }
        block.push_str("}\n");
        text.push_str(&block);
        // Whoever creates first makes what it needs create first as well. Of a name there is only one
        // object, and a resource that changes its order between two configurations may be in a cycle
        // with its users, in any engine.
        if creates_first {
            first = Some(format!("{ty}.n{number}"));
        }
        if ty != "crash_named" {
            before = Some(format!("{ty}.n{number}"));
        }
    }
    text
}
