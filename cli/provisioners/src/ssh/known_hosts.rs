//! The keys of machines that the user has met, from the files of OpenSSH.

use std::path::{Path, PathBuf};

use formwork_value::quote::shell_quoted;
use russh::keys::PublicKey;
use russh::keys::known_hosts::known_host_keys_path;

/// The keys that are known for one machine. A machine that is not known has none.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownHostKeys {
    keys: Vec<PublicKey>,
    /// The name of the machine in the files.
    name: String,
    /// The file that has the first key.
    file: PathBuf,
}

impl KnownHostKeys {
    /// Looks a machine up in `~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`.
    ///
    /// # Errors
    /// When a key of the machine there cannot be read.
    pub(super) fn find(host: &str, port: u16, home: Option<&Path>) -> Result<Self, String> {
        let own = home.map(|home| home.join(".ssh/known_hosts"));
        let name = if port == 22 { host.to_owned() } else { format!("[{host}]:{port}") };
        let mut known = Self { name, ..Self::default() };
        for file in own.into_iter().chain([PathBuf::from("/etc/ssh/ssh_known_hosts")]) {
            // Only regular files: a pipe could block forever.
            if !file.is_file() {
                continue;
            }
            let keys = known_host_keys_path(host, port, &file).map_err(|error| {
                format!("the key of {host} in {} cannot be read: {error}", file.display())
            })?;
            if known.keys.is_empty() {
                known.file = file;
            }
            known.keys.extend(keys.into_iter().map(|(_, key)| key));
        }
        Ok(known)
    }

    /// Whether any key is known.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The keys that are known.
    pub(super) fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    /// Whether a key is one of a known machine, or the machine is not known.
    pub(super) fn accepts(&self, shown: &PublicKey) -> bool {
        !self.has_keys() || self.keys.iter().any(|key| key.key_data() == shown.key_data())
    }

    /// The remedies for a machine that shows another key.
    pub(super) fn changed_key_advice(&self) -> String {
        format!(
            "{} has another key for {}. If the machine was set up again, run: ssh-keygen -R {}. Or give its new key in the argument host_key, which counts before the file",
            self.file.display(),
            self.name,
            shell_quoted(&self.name)
        )
    }
}

/// Reads bytes as the user's file of known machines.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_known_hosts(data: &[u8]) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.expect("a test that has no folder for temporary files cannot run");
    std::fs::create_dir(folder.path().join(".ssh")).expect("a new folder is empty");
    std::fs::write(folder.path().join(".ssh/known_hosts"), data).expect("a new folder has room");
    for port in [22, 2222] {
        drop(KnownHostKeys::find("one.example", port, Some(folder.path())));
    }
}
