//! Files that nobody would write, given to everything that reads files: the kept examples, and what
//! becomes of them by a fixed row of changes. The language is tried in `core/lang/tests/hostile.rs`.

#[path = "../lang/fuzz/change.rs"]
mod change;
#[path = "../fuzz/targets.rs"]
mod targets;

use std::path::Path;

#[test]
fn no_file_makes_its_reader_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
