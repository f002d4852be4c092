//! Credentials for OCI registries: from the CLI configuration, from the files of container tools, and from
//! credential helpers. The most specific credentials are used. This module sends no requests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_text_file};
use serde_json::Value;

use super::super::credential_helper::{self, HelperAnswer, HelperError};
use crate::env::Env;
use crate::settings::{OciLogin, RepositoryAddr, Settings};

/// The output of a helper that has no credentials for a registry.
const NO_CREDENTIALS_ANSWER: &str = "credentials not found in native keychain";
/// The user name that helpers return if the secret is a token.
const IDENTITY_TOKEN_USER: &str = "<token>";

/// The domains of Docker Hub. The first one is used in image addresses.
const DOCKER_HUB_DOMAINS: [&str; 3] = ["docker.io", "index.docker.io", "registry-1.docker.io"];
/// The key of Docker Hub in the files of Docker and in credential helpers.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// Credentials for a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegistryLogin {
    /// The source of the credentials, for messages.
    pub(super) origin: String,
    pub(super) secret: LoginSecret,
}

/// The secret part of credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoginSecret {
    Password { username: String, password: String },
    Tokens { access: Option<String>, refresh: String },
}

/// Looks up credentials, once for each repository.
pub(super) struct RegistryLoginFinder<'a> {
    env: &'a Env,
    settings: &'a Settings,
    cache: Mutex<BTreeMap<String, Arc<CachedLogins>>>,
}

/// The results of lookups for one registry, by repository.
type CachedLogins = Mutex<BTreeMap<RepositoryAddr, Result<Option<RegistryLogin>, String>>>;

/// Credentials that apply to a repository, before a helper is called.
struct LoginCandidate {
    /// The number of path segments that the credentials match, or `None` if they are for all registries.
    segments: Option<usize>,
    origin: String,
    login: OciLogin,
}

impl<'a> RegistryLoginFinder<'a> {
    pub(super) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        Self { env, settings, cache: Mutex::default() }
    }

    /// Returns the credentials for a repository, if any exist.
    ///
    /// # Errors
    /// A file that the settings specify cannot be read, or a helper fails.
    pub(super) fn find(
        &self,
        repository: &RepositoryAddr,
    ) -> Result<Option<RegistryLogin>, String> {
        let of_registry = {
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cache.entry(repository.registry.clone()).or_default())
        };
        // The lock is held while a helper runs, so that it runs once for each repository. Lookups for other
        // registries are not blocked.
        let mut cache = of_registry.lock().unwrap_or_else(PoisonError::into_inner);
        let logins = cache.entry(repository.clone()).or_insert_with(|| self.look_up(repository));
        logins.clone()
    }

    fn look_up(&self, repository: &RepositoryAddr) -> Result<Option<RegistryLogin>, String> {
        let mut best: Option<LoginCandidate> = None;
        for candidate in self.login_candidates(repository)? {
            // The first of equally specific candidates is used.
            if best.as_ref().is_none_or(|best| candidate.segments > best.segments) {
                best = Some(candidate);
            }
        }
        let Some(LoginCandidate { origin, login, .. }) = best else { return Ok(None) };
        let secret = match login {
            OciLogin::Password { username, password } => {
                LoginSecret::Password { username, password }
            }
            OciLogin::Tokens { access, refresh } => LoginSecret::Tokens { access, refresh },
            OciLogin::Helper(name) => {
                let helper = RegistryCredentialHelper::new(&name);
                for server in server_addresses(repository) {
                    let secret = helper
                        .ask_helper(&server)
                        .map_err(|reason| format!("{origin}: {reason}"))?;
                    if let Some(secret) = secret {
                        let origin = format!("the credential helper {name:?}");
                        return Ok(Some(RegistryLogin { origin, secret }));
                    }
                }
                return Ok(None);
            }
        };
        Ok(Some(RegistryLogin { origin, secret }))
    }

    /// Returns all credentials that apply to a repository, in order of precedence.
    fn login_candidates(&self, repository: &RepositoryAddr) -> Result<Vec<LoginCandidate>, String> {
        let settings = &self.settings.oci;
        let explicit = settings.credentials.iter().filter_map(|credentials| {
            Some(LoginCandidate {
                segments: Some(repository.n_segments_covered_by(&credentials.prefix)?),
                origin: format!("the block oci_credentials {:?}", credentials.prefix),
                login: credentials.login.clone(),
            })
        });
        let mut candidates: Vec<LoginCandidate> = explicit.collect();
        let defaults = settings.defaults.as_ref();
        if let Some(name) = defaults.and_then(|defaults| defaults.helper.clone()) {
            let origin = "the block oci_default_credentials".to_owned();
            candidates.push(LoginCandidate {
                segments: None,
                origin,
                login: OciLogin::Helper(name),
            });
        }
        if defaults.is_some_and(|defaults| !defaults.discovers) {
            return Ok(candidates);
        }
        match defaults.and_then(|defaults| defaults.files.as_ref()) {
            Some(files) => {
                for file in files {
                    for credentials in logins_in_file(file, &read_auth_file(file)?, repository) {
                        candidates.push(credentials?);
                    }
                }
            }
            None => {
                for file in credential_files(self.env) {
                    candidates.extend(logins_in_container_tool_file(&file, repository));
                }
            }
        }
        Ok(candidates)
    }
}

/// Returns the credentials files of container tools, in order of precedence.
fn credential_files(env: &Env) -> Vec<PathBuf> {
    const CONTAINERS_AUTH_FILE: &str = "containers/auth.json";
    let directory =
        |name: &str| env.environment.get(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = env.home.as_ref();
    let mut files = Vec::new();
    if cfg!(target_os = "linux") {
        files.extend(
            directory("XDG_RUNTIME_DIR").map(|directory| directory.join(CONTAINERS_AUTH_FILE)),
        );
    } else {
        files.extend(home.map(|home| home.join(".config").join(CONTAINERS_AUTH_FILE)));
    }
    let config = directory("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")));
    files.extend(config.map(|config| config.join(CONTAINERS_AUTH_FILE)));
    files.extend(home.map(|home| home.join(".docker/config.json")));
    files.extend(home.map(|home| home.join(".dockercfg")));
    files.dedup();
    files.retain(|file| file.exists());
    files
}

fn read_auth_file(file: &Path) -> Result<Value, String> {
    let with_file_name = |reason: String| {
        format!("the credentials file {} cannot be read: {reason}", file.display())
    };
    let text = read_user_text_file(file, MAX_SMALL_FILE_LEN)
        .map_err(|error| with_file_name(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| with_file_name(error.to_string()))
}

/// Returns the credentials for a repository in a file of another program. Damaged entries are skipped.
fn logins_in_container_tool_file(file: &Path, repository: &RepositoryAddr) -> Vec<LoginCandidate> {
    let candidates = match read_auth_file(file) {
        Ok(document) => logins_in_file(file, &document, repository),
        Err(reason) => vec![Err(reason)],
    };
    let pass_over = |reason: &String| tracing::debug!(reason, "credentials skipped");
    candidates.into_iter().filter_map(|candidate| candidate.inspect_err(pass_over).ok()).collect()
}

/// Returns the credentials for a repository in a file in Docker's format, and the errors of damaged entries
/// for it.
fn logins_in_file(
    file: &Path,
    document: &Value,
    repository: &RepositoryAddr,
) -> Vec<Result<LoginCandidate, String>> {
    let origin = file.display().to_string();
    let mut candidates = Vec::new();
    // Docker's old file format contains only entries.
    let is_old = file.file_name().is_some_and(|name| name == ".dockercfg");
    let entries = document.get("auths").or_else(|| is_old.then_some(document));
    for (prefix, entry) in entries.and_then(Value::as_object).into_iter().flatten() {
        let Some(segments) = n_segments_covered_by_key(repository, prefix) else { continue };
        let candidate =
            |login| LoginCandidate { segments: Some(segments), origin: origin.clone(), login };
        let damaged = |reason: String| {
            format!(
                "the entry for {prefix:?} in {origin} is damaged: {reason}; log in to the registry again"
            )
        };
        candidates.extend(
            login_in_entry(entry).map_err(damaged).transpose().map(|login| login.map(candidate)),
        );
    }
    let helper =
        |name: Option<&Value>| Some(name?.as_str()?.to_owned()).filter(|name| is_helper_name(name));
    let helpers = document.get("credHelpers").and_then(Value::as_object);
    let own_helper = helpers.and_then(|helpers| {
        let mut covering =
            helpers.iter().filter(|(key, _)| n_segments_covered_by_key(repository, key) == Some(0));
        covering.next().map(|(_, name)| name)
    });
    for (segments, name) in [(Some(0), own_helper), (None, document.get("credsStore"))] {
        let login = helper(name).map(OciLogin::Helper);
        candidates.extend(
            login.map(|login| Ok(LoginCandidate { segments, origin: origin.clone(), login })),
        );
    }
    candidates
}

/// Returns the number of path segments that the key of an entry and an address have in common, or `None` if
/// the entry is not for the repository. All names of Docker Hub are the same registry.
fn n_segments_covered_by_key(repository: &RepositoryAddr, key: &str) -> Option<usize> {
    if !is_docker_hub(repository) {
        // The keys of old entries are URLs of the registry API, such as https://example.com/v1/.
        let address = key.strip_prefix("https://").and_then(|address| address.split('/').next());
        return repository.n_segments_covered_by(address.unwrap_or(key));
    }
    if key == DOCKER_HUB_KEY {
        return Some(0);
    }
    DOCKER_HUB_DOMAINS.iter().find_map(|domain| {
        let same = RepositoryAddr { registry: (*domain).to_owned(), path: repository.path.clone() };
        same.n_segments_covered_by(key)
    })
}

fn is_docker_hub(repository: &RepositoryAddr) -> bool {
    DOCKER_HUB_DOMAINS.contains(&repository.registry.as_str())
}

/// Returns the server addresses to request from a helper for a repository, in order.
fn server_addresses(repository: &RepositoryAddr) -> Vec<String> {
    let own_address = format!("https://{}", repository.registry);
    if is_docker_hub(repository) {
        vec![DOCKER_HUB_KEY.to_owned(), own_address]
    } else {
        vec![own_address]
    }
}

fn is_helper_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0'])
}

/// Returns the credentials in an entry. An entry without a token or password means that a helper has them.
fn login_in_entry(entry: &Value) -> Result<Option<OciLogin>, String> {
    let field =
        |name: &str| entry.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
    // Docker stores a user name without a password next to a token.
    if let Some(token) = field("identitytoken") {
        return Ok(Some(OciLogin::Tokens { access: None, refresh: token.to_owned() }));
    }
    let Some(auth) = field("auth") else { return Ok(None) };
    let damaged = || "its \"auth\" is not a user name and password in base64".to_owned();
    decode_auth_pair(auth).map(Some).ok_or_else(damaged)
}

/// Decodes the user name and password from the base64 form of `NAME:PASSWORD`.
fn decode_auth_pair(auth: &str) -> Option<OciLogin> {
    let text = String::from_utf8(STANDARD.decode(auth).ok()?).ok()?;
    let (username, password) = text.split_once(':')?;
    Some(OciLogin::Password { username: username.to_owned(), password: password.to_owned() })
}

/// A credential helper.
struct RegistryCredentialHelper {
    program: String,
    /// The time limit after which the helper is terminated.
    limit: Duration,
}

impl RegistryCredentialHelper {
    fn new(name: &str) -> Self {
        Self {
            program: format!("docker-credential-{name}"),
            limit: credential_helper::HELPER_TIME_LIMIT,
        }
    }

    /// Requests the secret for a server. Returns `None` if the helper has no secret for it.
    fn ask_helper(&self, server: &str) -> Result<Option<LoginSecret>, String> {
        let program = &self.program;
        let HelperAnswer { status, text } = self.run(server)?;
        let text = text.trim();
        if !status.success() {
            if text == NO_CREDENTIALS_ANSWER {
                return Ok(None);
            }
            let first = text.lines().next().unwrap_or_default();
            return Err(format!("the credential helper {program} failed with {status}: {first}"));
        }
        parse_helper_secret(text).ok_or_else(|| {
            format!(
                "the output of the credential helper {program} for {server} contains no \"Username\" and \"Secret\""
            )
        })
    }

    /// Runs `docker-credential-NAME get` with the address of a server on its stdin.
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of the user, and the caller waits for its end"
    )]
    fn run(&self, server: &str) -> Result<HelperAnswer, String> {
        let Self { program, limit } = self;
        let mut command = Command::new(program);
        command.arg("get").stdout(Stdio::piped());
        credential_helper::run_helper_program(&mut command, server, *limit).map_err(|error| match error {
            HelperError::Io(error) if error.kind() == io::ErrorKind::NotFound => format!(
                "the credential helper is not installed: the program {program} was not found on the PATH"
            ),
            HelperError::Io(error) => format!("the credential helper {program} failed: {error}"),
            HelperError::Late(limit) => format!(
                "the credential helper {program} did not respond for {server} within {} seconds and was terminated; unlock its store, or add an oci_credentials block to the CLI configuration",
                limit.as_secs()
            ),
        })
    }
}

/// Parses the output of a helper. Output without a user name and a secret contains no credentials.
fn parse_helper_secret(answer: &str) -> Option<Option<LoginSecret>> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let field = |name: &str| answer.get(name)?.as_str().map(str::to_owned);
    let (username, password) = (field("Username")?, field("Secret")?);
    Some(match (username.as_str(), password.as_str()) {
        ("", "") => None,
        (IDENTITY_TOKEN_USER, _) => Some(LoginSecret::Tokens { access: None, refresh: password }),
        _ => Some(LoginSecret::Password { username, password }),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::settings::Settings;

    /// The credentials for a repository: `FILE: NAME:PASSWORD`, with these settings and files in a home
    /// directory.
    fn find(rc: &str, files: &[(&str, &str)], repository: &str) -> Result<Option<String>, String> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let path = directory.path().join("rc");
        std::fs::write(&path, rc).unwrap();
        let home = Some(directory.path().to_owned());
        let env = Env { home, cli_config_file: Some(path), ..Env::default() };
        let settings = Settings::load(&env).unwrap();
        let repository = RepositoryAddr::parse(repository).unwrap();
        let directory_prefix = format!("{}/", directory.path().display());
        let login_text = |login: RegistryLogin| {
            let secret = match login.secret {
                LoginSecret::Password { username, password } => format!("{username}:{password}"),
                LoginSecret::Tokens { access, refresh } => format!("{access:?} {refresh}"),
            };
            format!("{}: {secret}", login.origin.replace(&directory_prefix, ""))
        };
        let login_result = RegistryLoginFinder::new(&env, &settings).find(&repository);
        login_result
            .map(|login| login.map(login_text))
            .map_err(|reason| reason.replace(&directory_prefix, ""))
    }

    fn auths(entries: &[(&str, &str)]) -> String {
        let entries = entries.iter().map(|(prefix, login)| {
            ((*prefix).to_owned(), serde_json::json!({ "auth": STANDARD.encode(login) }))
        });
        let entries: serde_json::Map<String, Value> = entries.collect();
        serde_json::json!({ "auths": entries }).to_string()
    }

    #[test]
    fn the_most_specific_credentials_are_used_and_settings_precede_files() {
        let block = |label: &str, name: &str| {
            format!(
                "oci_credentials \"{label}\" {{\n username = \"{name}\"\n password = \"p\"\n}}\n"
            )
        };
        let rc = [block("h.example", "domain"), block("h.example/a/b", "path")].concat();
        let docker = auths(&[("h.example", "d:1"), ("h.example/a", "a:2"), ("i.example", "i:3")]);
        let podman = auths(&[("i.example", "first:4")]);
        let files =
            [(".docker/config.json", docker.as_str()), (".config/containers/auth.json", &podman)];
        for (repository, expected) in [
            ("h.example/x", Some("the block oci_credentials \"h.example\": domain:p")),
            ("h.example/a/x", Some(".docker/config.json: a:2")),
            ("h.example/a/b/c", Some("the block oci_credentials \"h.example/a/b\": path:p")),
            ("i.example/x", Some(".config/containers/auth.json: first:4")),
            ("h.example:5000/x", None),
        ] {
            let login = find(&rc, &files, repository).unwrap();
            assert_eq!(login.as_deref(), expected, "{repository}");
        }
        let off = "oci_default_credentials { discover_ambient_credentials = false }";
        assert_eq!(find(off, &files, "i.example/x"), Ok(None));
        let with_named_files =
            "oci_default_credentials { docker_style_config_files = [\".docker/config.json\"] }";
        let login = find(with_named_files, &files, "i.example/x").unwrap();
        assert_eq!(login.as_deref(), Some(".docker/config.json: i:3"));
    }

    #[test]
    fn docker_hub_has_the_credentials_that_docker_stores() {
        let docker = auths(&[("https://index.docker.io/v1/", "hub:1")]);
        let hub_auths =
            auths(&[("https://index.docker.io/v1/", "hub:1"), ("docker.io/team", "team:2")]);
        for (file, repository, expected) in [
            (&docker, "docker.io/a/b", Some(".docker/config.json: hub:1")),
            (&docker, "index.docker.io/a/b", Some(".docker/config.json: hub:1")),
            (&docker, "registry-1.docker.io/a/b", Some(".docker/config.json: hub:1")),
            (&hub_auths, "docker.io/team/b", Some(".docker/config.json: team:2")),
            (&hub_auths, "docker.io/teams/b", Some(".docker/config.json: hub:1")),
            (&docker, "docker.io.example/a/b", None),
        ] {
            let login = find("", &[(".docker/config.json", file)], repository).unwrap();
            assert_eq!(login.as_deref(), expected, "{repository}");
        }
        let helpers = r#"{"credHelpers": {"https://index.docker.io/v1/": "nowhere-1"}}"#;
        let error = find("", &[(".docker/config.json", helpers)], "docker.io/a/b").unwrap_err();
        assert!(error.contains("docker-credential-nowhere-1"), "{error}");
    }

    #[test]
    fn an_identity_token_precedes_a_password() {
        for entry in [
            r#"{"identitytoken": "t"}"#,
            r#"{"auth": "dTo=", "identitytoken": "t"}"#,
            r#"{"auth": "damaged", "identitytoken": "t"}"#,
        ] {
            let file = format!("{{\"auths\": {{\"h.example\": {entry}}}}}");
            let login = find("", &[(".docker/config.json", &file)], "h.example/x").unwrap();
            assert_eq!(login.as_deref(), Some(".docker/config.json: None t"), "{entry}");
        }
        let file = r#"{"auths": {"h.example": {"auth": "dTpw", "identitytoken": ""}}}"#;
        let login = find("", &[(".docker/config.json", file)], "h.example/x").unwrap();
        assert_eq!(login.as_deref(), Some(".docker/config.json: u:p"));
    }

    #[test]
    fn an_old_docker_file_has_its_hosts_at_the_top_level() {
        let old = r#"{"h.example": {"auth": "dTpw", "email": "e"}, "https://i.example/v1/": {"auth": "dTpw"}, "https://index.docker.io/v1/": {"auth": "dTpw"}}"#;
        for repository in ["h.example/x", "i.example/x", "docker.io/x"] {
            let login = find("", &[(".dockercfg", old)], repository).unwrap();
            assert_eq!(login.as_deref(), Some(".dockercfg: u:p"), "{repository}");
        }
        assert_eq!(find("", &[(".docker/config.json", old)], "h.example/x"), Ok(None));
    }

    #[test]
    fn a_damaged_file_is_an_error_only_if_the_settings_name_it() {
        let files = [(".docker/config.json", "{"), (".dockercfg", "[]")];
        assert_eq!(find("", &files, "h.example/x"), Ok(None));
        let settings_naming = |file: &str| {
            format!("oci_default_credentials {{ docker_style_config_files = [\"{file}\"] }}")
        };
        for file in [".docker/config.json", "missing.json"] {
            let error = find(&settings_naming(file), &files, "h.example/x").unwrap_err();
            assert!(error.contains(&format!("credentials file {file} cannot be read")), "{error}");
        }
        let entry = auths(&[("h.example", "no colon")]);
        let files = [(".docker/config.json", entry.as_str())];
        let settings_naming = settings_naming(".docker/config.json");
        let error = find(&settings_naming, &files, "h.example/x").unwrap_err();
        assert!(
            error.contains("the entry for \"h.example\" in .docker/config.json is damaged"),
            "{error}"
        );
        assert_eq!(find(&settings_naming, &files, "other.example/x"), Ok(None));
        assert_eq!(find("", &files, "h.example/x"), Ok(None));
        let rc = "oci_credentials \"h.example/x\" {\n username = \"u\"\n password = \"p\"\n}\n";
        let login = find(rc, &files, "h.example/x").unwrap();
        assert_eq!(login.as_deref(), Some("the block oci_credentials \"h.example/x\": u:p"));
    }

    #[test]
    fn a_missing_helper_is_named() {
        let entry = r#"{"auths": {"h.example": {}}, "credHelpers": {"h.example": "nowhere-1"}, "credsStore": "nowhere-2"}"#;
        let files = [(".docker/config.json", entry)];
        let error = find("", &files, "h.example/x").unwrap_err();
        assert!(
            error.contains("the program docker-credential-nowhere-1 was not found on the PATH"),
            "{error}"
        );
        let error = find("", &files, "i.example/x").unwrap_err();
        assert!(
            error.contains("the program docker-credential-nowhere-2 was not found on the PATH"),
            "{error}"
        );
    }

    /// A helper that is a shell script.
    fn scripted(directory: &Path, script: &str, limit: Duration) -> RegistryCredentialHelper {
        let program = directory.join("docker-credential-test");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        RegistryCredentialHelper { program: program.display().to_string(), limit }
    }

    #[test]
    fn a_helper_that_does_not_end_is_killed() {
        let directory = tempfile::tempdir().unwrap();
        for script in ["sleep 600", "exec >&-; sleep 600", "cat; sleep 600 & wait"] {
            let helper = scripted(directory.path(), script, Duration::from_millis(300));
            let error = helper.ask_helper("https://h.example").unwrap_err();
            let expected =
                "did not respond for https://h.example within 0 seconds and was terminated; unlock";
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_helper_receives_the_address_of_a_server() {
        let directory = tempfile::tempdir().unwrap();
        let script = "read -r server\necho \"{\\\"Username\\\": \\\"$1\\\", \\\"Secret\\\": \\\"$server\\\"}\"";
        let answer = scripted(directory.path(), script, credential_helper::HELPER_TIME_LIMIT)
            .ask_helper("https://h.example");
        let (username, password) = ("get".to_owned(), "https://h.example".to_owned());
        assert_eq!(answer, Ok(Some(LoginSecret::Password { username, password })));
    }

    #[test]
    fn a_helper_returns_a_password_or_a_token() {
        let password = LoginSecret::Password { username: "u".into(), password: "p".into() };
        let token = LoginSecret::Tokens { access: None, refresh: "t".into() };
        for (answer, expected) in [
            (r#"{"ServerURL": "x", "Username": "u", "Secret": "p"}"#, Some(Some(password))),
            (r#"{"Username": "<token>", "Secret": "t"}"#, Some(Some(token))),
            (r#"{"Username": "", "Secret": ""}"#, Some(None)),
            (r#"{"Username": "u"}"#, None),
            ("no", None),
        ] {
            assert_eq!(parse_helper_secret(answer), expected, "{answer}");
        }
    }
}
