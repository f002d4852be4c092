//! Credentials for hosts: a token from the environment, from the CLI configuration, or from a
//! credentials helper. The sender decides which requests contain the token.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::credential_helper::{self, HelperAnswer};
use crate::env::Env;
use crate::settings::{CredentialsHelper, Settings};

/// Results of the helper, by host.
type HelperAnswers = BTreeMap<String, Result<Option<String>, String>>;

/// Looks up tokens. The helper is called once for each host, and only if no other source has a token.
pub(super) struct Credentials<'a> {
    env: &'a Env,
    settings: &'a Settings,
    helper_answers: Mutex<HelperAnswers>,
}

impl<'a> Credentials<'a> {
    pub(super) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        Self { env, settings, helper_answers: Mutex::default() }
    }

    /// Returns the token for a host, if one is configured.
    pub(super) fn token(&self, host: &str) -> Option<String> {
        let configured =
            self.token_in_environment(host).or_else(|| self.settings.tokens.get(host).cloned());
        configured.or_else(|| self.helper_token(host).ok().flatten())
    }

    /// Returns the error of the helper for a host, if it failed. Requests to hosts that need no token
    /// are possible anyway.
    pub(super) fn helper_error(&self, host: &str) -> Option<String> {
        self.lock_helper_answers().get(host)?.as_ref().err().cloned()
    }

    fn token_in_environment(&self, host: &str) -> Option<String> {
        // Variable names cannot contain dots or, in most shells, dashes.
        let plain = format!("TF_TOKEN_{}", host.replace('.', "_"));
        let escaped = format!("TF_TOKEN_{}", host.replace('-', "__").replace('.', "_"));
        [escaped, plain].into_iter().find_map(|name| self.env.environment.get(&name).cloned())
    }

    fn helper_token(&self, host: &str) -> Result<Option<String>, String> {
        let Some(helper) = &self.settings.helper else { return Ok(None) };
        // The lock is held while the helper runs, so that it runs once for each host.
        let mut answers = self.lock_helper_answers();
        answers.entry(host.to_owned()).or_insert_with(|| ask_helper(helper, host)).clone()
    }

    fn lock_helper_answers(&self) -> std::sync::MutexGuard<'_, HelperAnswers> {
        self.helper_answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the helper: `PROGRAM ARGS… get HOST` prints an object with a `token`, or an empty object.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of the user, and the caller waits for its end"
)]
fn ask_helper(helper: &CredentialsHelper, host: &str) -> Result<Option<String>, String> {
    let name = &helper.name;
    let Some(program) = &helper.program else {
        return Err(format!(
            "the credentials helper {name:?} is not installed: the program terraform-credentials-{name} was not found in ~/.terraform.d/plugins"
        ));
    };
    let failed = |reason: String| format!("the credentials helper {name:?} failed: {reason}");
    let mut command = Command::new(program);
    command.args(&helper.args).args(["get", host]).stdout(Stdio::piped());
    let HelperAnswer { status, text } = credential_helper::run_helper_program(
        &mut command,
        "",
        credential_helper::HELPER_TIME_LIMIT,
    )
    .map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(format!("it exited with {status}")));
    }
    parse_helper_token(&text).map_err(failed)
}

/// Parses the token in the output of a helper. Returns `None` for an empty object.
///
/// # Errors
/// The output is not a JSON object, or its token is not a string.
pub(crate) fn parse_helper_token(answer: &str) -> Result<Option<String>, String> {
    let answer: serde_json::Value =
        serde_json::from_str(answer).map_err(|error| format!("its output is not JSON: {error}"))?;
    match answer.get("token") {
        Some(serde_json::Value::String(token)) => Ok(Some(token.clone())),
        None if answer.is_object() => Ok(None),
        _ => Err("its output is not an object with a token".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn tokens_of_the_environment_precede_those_of_the_settings() {
        let mut env = Env::default();
        let mut settings = Settings::default();
        settings.tokens.insert("my-host.example.com".into(), "from settings".into());
        let token = |env: &Env, host: &str| Credentials::new(env, &settings).token(host);
        assert_eq!(token(&env, "my-host.example.com").as_deref(), Some("from settings"));
        env.environment.insert("TF_TOKEN_my__host_example_com".into(), "from env".into());
        assert_eq!(token(&env, "my-host.example.com").as_deref(), Some("from env"));
        assert_eq!(token(&env, "other.example.com"), None);
    }

    /// Result of a helper with this script for a host, and its error.
    fn check(script: &str) -> (Option<String>, Option<String>) {
        let directory = tempfile::tempdir().unwrap();
        let plugins = directory.path().join(".terraform.d/plugins");
        std::fs::create_dir_all(&plugins).unwrap();
        let program = plugins.join("terraform-credentials-h");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let rc = directory.path().join("rc");
        std::fs::write(&rc, "credentials_helper \"h\" { args = [\"a\", \"b\"] }").unwrap();
        let home = Some(directory.path().to_owned());
        let env = Env { home, cli_config_file: Some(rc), ..Env::default() };
        let settings = Settings::load(&env).unwrap();
        let credentials = Credentials::new(&env, &settings);
        let token = credentials.token("h.example.com");
        let second = credentials.token("h.example.com");
        assert_eq!(token, second);
        (token, credentials.helper_error("h.example.com"))
    }

    #[test]
    fn a_helper_is_called_only_if_no_other_source_has_the_token() {
        let (token, complaint) = check("echo \"{\\\"token\\\": \\\"$*\\\"}\"");
        assert_eq!((token.as_deref(), complaint), (Some("a b get h.example.com"), None));
        assert_eq!(check("echo {}"), (None, None));
    }

    #[test]
    fn the_error_of_a_failed_helper_is_reported() {
        for (script, reason) in [
            ("exit 3", "it exited with exit status: 3"),
            ("echo no", "is not JSON"),
            ("echo '[]'", "not an object with a token"),
            ("echo '{\"token\": 1}'", "not an object with a token"),
        ] {
            let (token, complaint) = check(script);
            assert_eq!(token, None, "{script}");
            assert!(complaint.unwrap().contains(reason), "{script}");
        }
    }
}
