//! Hostile input for every reader of the language: the corpus, and fixed mutations of it. Finds on
//! every run what the fuzzer would find soon.

#[path = "../fuzz/change.rs"]
mod change;
#[path = "../fuzz/targets.rs"]
mod targets;

use std::path::Path;

#[test]
fn no_input_makes_a_parser_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
