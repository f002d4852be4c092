//! Stores and removes API tokens of hosts: in Terraform's credentials file, or with the configured
//! credentials helper.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text, set_mode};
use serde_json::{Map, Value, json};

use super::credential_helper::{self, HelperAnswer};
use crate::env::Env;
use crate::settings::{CredentialsHelper, Settings, tokens_file};

/// The location of the token for a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenSource<'a> {
    /// The CLI configuration file, which the user edits.
    Settings,
    /// The credentials file. `is_stored` is set if it already contains a token for the host.
    File { path: PathBuf, is_stored: bool },
    /// The credentials helper.
    Helper(&'a CredentialsHelper),
    /// No location, because no home directory is known.
    None,
}

/// Returns the location where the token for a host is stored, or is to be stored.
pub(crate) fn token_source<'a>(env: &Env, settings: &'a Settings, host: &str) -> TokenSource<'a> {
    if settings.written.contains(host) {
        return TokenSource::Settings;
    }
    let Some(path) = tokens_file(env) else { return TokenSource::None };
    match (settings.tokens.contains_key(host), &settings.helper) {
        (false, Some(helper)) => TokenSource::Helper(helper),
        (is_stored, _) => TokenSource::File { path, is_stored },
    }
}

/// Stores a token, or removes the stored one if `token` is `None`.
///
/// # Errors
/// The file cannot be read or written, or the helper fails.
pub(crate) fn store_or_remove_token(
    source: &TokenSource<'_>,
    host: &str,
    token: Option<&str>,
) -> io::Result<()> {
    match source {
        TokenSource::Settings => {
            Err(io::Error::other("the token is set in the CLI configuration file"))
        }
        TokenSource::None => Err(io::Error::other("the home directory is not known")),
        TokenSource::File { path, .. } => update_tokens_file(path, host, token),
        TokenSource::Helper(helper) => run_helper(helper, host, token),
    }
}

/// Replaces the entry of a host and preserves all other entries of the file.
fn update_tokens_file(path: &Path, host: &str, token: Option<&str>) -> io::Result<()> {
    let text = match read_text(path, MAX_SMALL_FILE_LEN) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let damaged = |reason: &str| io::Error::other(format!("{}: {reason}", path.display()));
    let mut document: Map<String, Value> = if text.trim().is_empty() {
        Map::new()
    } else {
        serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?
    };
    let entries = document.entry("credentials").or_insert_with(|| json!({}));
    let entries = entries
        .as_object_mut()
        .ok_or_else(|| damaged("the property \"credentials\" must be a JSON object"))?;
    entries.retain(|entry_host, _| !entry_host.eq_ignore_ascii_case(host));
    if let Some(token) = token {
        entries.insert(host.to_owned(), json!({ "token": token }));
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    // The file must never be readable by other users, not even before the rename.
    let mut temp_file = tempfile::NamedTempFile::new_in(directory)?;
    set_mode(temp_file.as_file(), 0o600)?;
    serde_json::to_writer_pretty(&mut temp_file, &document)?;
    temp_file.as_file().sync_all()?;
    temp_file.persist(path)?;
    Ok(())
}

/// Runs `PROGRAM ARGS… store HOST` with the token on its stdin, or `PROGRAM ARGS… forget HOST`.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of the user, and the caller waits for its end"
)]
fn run_helper(helper: &CredentialsHelper, host: &str, token: Option<&str>) -> io::Result<()> {
    let name = &helper.name;
    let program = helper.program.as_ref().ok_or_else(|| {
        io::Error::other(format!(
            "the credentials helper {name:?} is not installed: the program terraform-credentials-{name} was not found in ~/.terraform.d/plugins"
        ))
    })?;
    let verb = if token.is_some() { "store" } else { "forget" };
    let input = token.map(|token| json!({ "token": token }).to_string()).unwrap_or_default();
    let mut command = Command::new(program);
    command.args(&helper.args).args([verb, host]).stdout(Stdio::null());
    let failed = |reason: String| {
        io::Error::other(format!("the credentials helper {name:?} failed: {reason}"))
    };
    let HelperAnswer { status, .. } = credential_helper::run_helper_program(
        &mut command,
        &input,
        credential_helper::HELPER_TIME_LIMIT,
    )
    .map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    Err(failed(format!("it exited with {status}")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_entry_is_replaced_and_the_others_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/credentials.tfrc.json");
        let source = TokenSource::File { path: path.clone(), is_stored: false };
        store_or_remove_token(&source, "b.example", Some("one")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        // The layout that Terraform writes.
        let expected = "{\n  \"credentials\": {\n    \"b.example\": {\n      \"token\": \"one\"\n    }\n  }\n}";
        assert_eq!(text, expected);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let other_content = "{\"other\": 1.50, \"credentials\": {\"B.example\": {}, \"a.example\": {\"token\": \"x\"}}}";
        std::fs::write(&path, other_content).unwrap();
        store_or_remove_token(&source, "b.example", Some("two")).unwrap();
        store_or_remove_token(&source, "c.example", Some("three")).unwrap();
        store_or_remove_token(&source, "c.example", None).unwrap();
        let stored: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let expected = json!({
            "other": 1.5,
            "credentials": { "a.example": { "token": "x" }, "b.example": { "token": "two" } },
        });
        assert_eq!(stored, expected);
        for broken in ["{", "[]", "{\"credentials\": 1}"] {
            std::fs::write(&path, broken).unwrap();
            assert!(store_or_remove_token(&source, "c.example", Some("t")).is_err(), "{broken}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
        }
    }
}
