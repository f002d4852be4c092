//! Fuzz targets for data that a remote host sends over SSH, and for the files that SSH reads.
//! `cli/fuzz` runs them under a fuzzer. The test in this file replays the stored examples.

use crate::ssh;

/// A target and its name, which is also the name of its example directory.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 3] = [("scp", scp), ("known_hosts", known_hosts), ("ssh_key", ssh_key)];

/// The output of the `scp` program on a remote host.
pub fn scp(data: &[u8]) {
    ssh::fuzz_scp(data);
}

/// A `known_hosts` file.
pub fn known_hosts(data: &[u8]) {
    ssh::fuzz_known_hosts(data);
}

/// A private key, a certificate, and a host key.
pub fn ssh_key(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        ssh::fuzz_ssh_keys(text);
    }
}

#[cfg(test)]
#[path = "../../../core/lang/fuzz/change.rs"]
mod change;

#[test]
fn data_of_a_remote_host_causes_no_panic() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, target) in TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
