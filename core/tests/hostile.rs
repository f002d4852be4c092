//! Hostile files for every reader: the kept examples, and a fixed sequence of mutations of them.
//! The language is tested in `core/lang/tests/hostile.rs`.

#[path = "../lang/fuzz/change.rs"]
mod change;
#[path = "../fuzz/targets.rs"]
mod targets;

use std::path::Path;

#[test]
fn no_input_makes_a_file_reader_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
