//! Known host keys, from the `known_hosts` files of OpenSSH.

use std::io;
use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_file};
use formwork_value::quote::shell_quoted;
use formwork_value::wildcards::matches_wildcards;
use russh::keys::PublicKey;
use russh::keys::known_hosts::known_host_keys_path;
use russh::keys::ssh_key::known_hosts::{Entry, HostPatterns, Marker};

/// The known keys of one host. They are empty for an unknown host.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownHostKeys {
    keys: Vec<PublicKey>,
    /// Keys that must not be accepted, from lines with `@revoked`.
    revoked: Vec<PublicKey>,
    /// The name of the host in the files.
    name: String,
    /// The file that contains the first key.
    file: PathBuf,
}

impl KnownHostKeys {
    /// Looks up a host in `~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`.
    ///
    /// # Errors
    /// A file, or a key of the host in it, cannot be read.
    pub(super) fn find(host: &str, port: u16, home: Option<&Path>) -> Result<Self, String> {
        let user_file = home.map(|home| home.join(".ssh/known_hosts"));
        let name = if port == 22 { host.to_owned() } else { format!("[{host}]:{port}") };
        let mut known_keys = Self { name, ..Self::default() };
        for file in user_file.into_iter().chain([PathBuf::from("/etc/ssh/ssh_known_hosts")]) {
            // Only regular files: a pipe could block forever.
            if !file.is_file() {
                continue;
            }
            let keys = known_host_keys_path(host, port, &file).map_err(|error| {
                format!("cannot read the key of {host} in {}: {error}", file.display())
            })?;
            if known_keys.keys.is_empty() {
                file.clone_into(&mut known_keys.file);
            }
            known_keys.keys.extend(keys.into_iter().map(|(_, key)| key));
            known_keys
                .add_entries_with_patterns(&file)
                .map_err(|error| format!("cannot read the keys in {}: {error}", file.display()))?;
        }
        Ok(known_keys)
    }

    /// Adds the keys of lines with wildcards and markers, which `russh` does not support.
    fn add_entries_with_patterns(&mut self, file: &Path) -> io::Result<()> {
        let bytes = match read_user_file(file, MAX_SMALL_FILE_LEN) {
            // A file of another user that cannot be read is ignored, as by OpenSSH and `russh`.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            read => read?,
        };
        for line in String::from_utf8_lossy(&bytes).lines() {
            // The library supports only single spaces between words.
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            // OpenSSH skips malformed lines, too.
            let Ok(entry) = fields.join(" ").parse::<Entry>() else { continue };
            // OpenSSH does not hash names on lines with a marker.
            let HostPatterns::Patterns(patterns) = entry.host_patterns() else { continue };
            if !matches_host_patterns(patterns, &self.name) {
                continue;
            }
            let key = entry.public_key().clone();
            match entry.marker() {
                Some(Marker::Revoked) => self.revoked.push(key),
                // The key of a certificate authority is not a key of the host.
                Some(Marker::CertAuthority) => {}
                None => {
                    if self.keys.is_empty() {
                        file.clone_into(&mut self.file);
                    }
                    self.keys.push(key);
                }
            }
        }
        Ok(())
    }

    /// Whether a key of the host is known.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The known keys of the host.
    pub(super) fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    /// Whether a key is one of the known keys, or the host has no known key. A revoked key is never
    /// accepted.
    pub(super) fn accepts(&self, presented: &PublicKey) -> bool {
        let is_among =
            |keys: &[PublicKey]| keys.iter().any(|key| key.key_data() == presented.key_data());
        !is_among(&self.revoked) && (!self.has_keys() || is_among(&self.keys))
    }

    /// Returns the reason and remedy for a host key that is not accepted.
    pub(super) fn rejected_key_advice(&self, presented: &PublicKey) -> String {
        if self.revoked.iter().any(|key| key.key_data() == presented.key_data()) {
            return format!(
                "a known_hosts file has revoked that key for {}. Generate a new host key",
                self.name
            );
        }
        format!(
            "{} contains a different key for {}. If the host was recreated, run: ssh-keygen -R {}. Or set the argument host_key to the new key, which takes precedence over the file",
            self.file.display(),
            self.name,
            shell_quoted(&self.name)
        )
    }
}

/// Whether a name matches a pattern of the list and no negated pattern.
fn matches_host_patterns(patterns: &[String], name: &str) -> bool {
    // OpenSSH compares byte by byte and ignores case.
    let chars = |text: &str| {
        text.bytes().map(|byte| char::from(byte.to_ascii_lowercase())).collect::<Vec<_>>()
    };
    let name = chars(name);
    let matches = |pattern: &str| matches_wildcards(&chars(pattern), &name);
    let (negated, positive): (Vec<&str>, Vec<&str>) =
        patterns.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
    positive.iter().any(|pattern| matches(pattern))
        && !negated.iter().any(|pattern| matches(&pattern[1..]))
}

/// Parses arbitrary bytes as the user's `known_hosts` file.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_known_hosts(data: &[u8]) {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let directory = directory.expect("a test that has no directory for temporary files cannot run");
    std::fs::create_dir(directory.path().join(".ssh")).expect("a new directory is empty");
    std::fs::write(directory.path().join(".ssh/known_hosts"), data)
        .expect("a new directory has room");
    for port in [22, 2222] {
        drop(KnownHostKeys::find("one.example", port, Some(directory.path())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns_as_in_openssh() {
        for (patterns, name, expected) in [
            ("*", "a.example", true),
            ("*.example", "a.example", true),
            ("*.EXAMPLE", "a.example", true),
            ("?.example", "a.example", true),
            ("?.example", "ab.example", false),
            ("*.example,!a.*", "a.example", false),
            ("!a.*,*.example", "b.example", true),
            ("!a.example", "b.example", false),
            ("[*]:2222", "[a.example]:2222", true),
            ("[*]:2222", "a.example", false),
            ("*a*b*", "xaxxbx", true),
            ("*a*b", "xaxxbx", false),
            ("", "a", false),
        ] {
            let patterns: Vec<String> = patterns.split(',').map(str::to_owned).collect();
            assert_eq!(matches_host_patterns(&patterns, name), expected, "{patterns:?} {name}");
        }
    }
}
