//! Fuzz targets for content that state stores read from servers, other programs and configurations. No input
//! may make a target panic, hang or use unbounded memory. `core/backend/fuzz` runs them with a fuzzer, and the
//! test in this file replays the stored examples.

use crate::lock::LockInfo;
use crate::pg;

/// A target and its name, which is also that of its directory of examples.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// All targets.
pub const FUZZ_TARGETS: [FuzzTarget; 2] =
    [("lock_info", fuzz_lock_info), ("connection", fuzz_pg_connection)];

/// The information about the holder of a lock, from a file or a server. Serializing and parsing it again
/// preserves it.
pub fn fuzz_lock_info(data: &[u8]) {
    let Ok(info) = serde_json::from_slice::<LockInfo>(data) else { return };
    drop((info.describe_holder(), info.describe()));
    let text = serde_json::to_vec(&info).expect("strings have a form in JSON");
    let reparsed: LockInfo = serde_json::from_slice(&text).expect("what is written can be read");
    assert_eq!(reparsed, info);
}

/// A PostgreSQL connection string, and a password file.
pub fn fuzz_pg_connection(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        pg::fuzz_connection(text);
    }
}

#[cfg(test)]
#[path = "../../lang/fuzz/change.rs"]
mod change;

#[test]
fn no_server_file_or_argument_makes_its_reader_panic() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in FUZZ_TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
