//! Texts that nobody would write, given to every reader of the language: the kept examples, and what
//! becomes of them by a fixed row of changes. Finds what the fuzzer would find soon, on every run.

#[path = "../fuzz/change.rs"]
mod change;
#[path = "../fuzz/targets.rs"]
mod targets;

use std::path::Path;

#[test]
fn no_text_makes_a_reader_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
