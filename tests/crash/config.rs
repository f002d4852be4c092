//! Configurations by chance: objects that come, change, are replaced in either order, and go.

use std::fmt::Write as _;

use crate::chance::Chance;

/// How many names there are.
const NAMES: u64 = 30;

/// Writes a configuration. Each name stands for the same kind of resource in all of them.
pub(crate) fn random(chance: &mut Chance) -> String {
    let mut text = "terraform {\n  required_providers {\n    crash = { source = \"formwork/crash\" }\n  }\n}\n".to_owned();
    let mut before: Option<String> = None;
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
        if let Some(before) = before.as_ref().filter(|_| chance.is(1, 3)) {
            // A `String` never refuses to be written to.
            writeln!(block, "  link = {before}.id").ok();
        }
        if creates_first {
            block.push_str("  lifecycle {\n    create_before_destroy = true\n  }\n");
        }
        block.push_str("}\n");
        text.push_str(&block);
        before = Some(format!("{ty}.n{number}"));
    }
    text
}
