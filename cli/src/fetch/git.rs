//! Fetches git repositories by running `git`, which uses the user's keys and proxies.
//!
//! Every repository is cloned into a new directory: git settings in a directory that another user can
//! write to are never read. No part of an address can become a command-line option, and git never
//! prompts.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use formwork_core::disk::{FileOptions as _, allocated_bytes};
use formwork_value::quote::shell_quoted;

use super::http::DOWNLOAD_TIMEOUT;
use super::{FetchError, GitSettings, url_parameters};
use crate::env::MODULE_SIZE_VARIABLE;
use crate::redact;
use crate::signals::{ForcedEnd, SupervisedChild};

/// The parts of a git address.
#[derive(Debug, PartialEq, Eq)]
struct GitParams {
    /// The URL of the repository, without the parameters that Formwork uses.
    url: String,
    /// A branch, tag or commit.
    reference: Option<String>,
    /// A private key, in base64.
    key: Option<String>,
}

impl GitParams {
    fn parse(address: &str) -> Result<Self, FetchError> {
        let (url, references) = url_parameters::take_parameter(address, "ref");
        let (url, keys) = url_parameters::take_parameter(&url, "sshkey");
        // The history is only fetched if necessary, so the `depth` parameter has no effect.
        let (url, _) = url_parameters::take_parameter(&url, "depth");
        // The first of several values is used, as in Terraform.
        let reference = references.into_iter().find(|reference| !reference.is_empty());
        let params = Self { url, reference, key: keys.into_iter().next() };
        if let Some(reference) = params.reference.as_deref().filter(|text| text.starts_with('-')) {
            let reason = format!(
                "{reference:?} cannot be the name of a branch, tag or commit: it begins with a dash"
            );
            return Err(FetchError::Address(reason));
        }
        Ok(params)
    }
}

/// Returns the branch, tag or commit that an address specifies.
#[cfg(any(test, fuzzing))]
pub(crate) fn reference_in_git_address(address: &str) -> Result<Option<String>, FetchError> {
    let mut params = GitParams::parse(address)?;
    drop(GitLogin::take_from_url(&mut params.url));
    Ok(params.reference)
}

/// Checks out the requested revision of a repository, without its history, into a new directory.
pub(super) fn clone_repository(
    address: &str,
    into: &Path,
    settings: GitSettings,
) -> Result<(), FetchError> {
    let mut params = GitParams::parse(address)?;
    let login = GitLogin::take_from_url(&mut params.url);
    let key = params.key.as_deref().map(|key| write_key_file(key, into)).transpose()?;
    let GitSettings { own_ssh, max_size } = settings;
    let git = GitCommand {
        key: key.as_deref(),
        login,
        plain_ssh: !own_ssh,
        limit: DOWNLOAD_TIMEOUT,
        max_size,
        into,
    };
    let target = into.as_os_str();
    let result = git.fetch(&params, target).and_then(|()| {
        let submodules = into.join(".gitmodules").exists();
        let update = ["submodule", "update", "--init", "--recursive", "--depth", "1"];
        // Submodules must not be local directories. For them, git's own protocol rules apply, which
        // the user may have changed.
        if submodules {
            git.run(Some(into), AllowedProtocols::AsUsual, &update.map(OsStr::new))
        } else {
            Ok(())
        }
    });
    if let Some(key) = key {
        std::fs::remove_file(key)?;
    }
    result?;
    let history = into.join(".git");
    if history.is_dir() {
        std::fs::remove_dir_all(history)?;
    }
    Ok(())
}

/// Writes a private key to a file that only the current user can read.
fn write_key_file(key: &str, into: &Path) -> Result<PathBuf, FetchError> {
    let key = base64::engine::general_purpose::STANDARD.decode(key).map_err(|error| {
        FetchError::Address(format!("the parameter sshkey is not valid base64: {error}"))
    })?;
    // `ssh` rejects key files that other users can read.
    let path = into.with_extension("key");
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).owner_only().open(&path)?;
    file.write_all(&key)?;
    std::path::absolute(path).map_err(FetchError::from)
}

/// The user name and password in an `http` address. Other processes can see command-line arguments, so
/// git reads the credentials from a credential helper, which reads them from its environment.
#[derive(Debug, PartialEq, Eq)]
struct GitLogin {
    /// The scheme, host and port that the credentials are for.
    origin: String,
    name: String,
    password: Option<String>,
}

/// The credential helper, a shell command.
const CREDENTIAL_HELPER_SCRIPT: &str = r#"!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$FORMWORK_GIT_USERNAME" "$FORMWORK_GIT_PASSWORD"; }; f"#;

impl GitLogin {
    /// Removes the credentials from an address and returns them. A password in an SSH address is
    /// dropped, because SSH does not use it.
    fn take_from_url(url: &mut String) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (login, host) = rest[..end].rsplit_once('@')?;
        let (name, password) = match login.split_once(':') {
            Some((name, password)) => (name, Some(url_parameters::decode_percent(password))),
            None => (login, None),
        };
        let is_http = ["http", "https"].contains(&scheme.to_ascii_lowercase().as_str());
        let (name, origin) = (url_parameters::decode_percent(name), format!("{scheme}://{host}"));
        let visible_user =
            if is_http { String::new() } else { format!("{}@", login.split(':').next()?) };
        let without = format!("{scheme}://{visible_user}{host}{}", &rest[end..]);
        *url = without;
        is_http.then_some(Self { origin, name, password })
    }

    fn add_to_command(&self, command: &mut Command) {
        let setting = |name: &str| format!("credential.{}.{name}", self.origin);
        command.env("FORMWORK_GIT_USERNAME", &self.name);
        match &self.password {
            Some(password) => {
                // An empty name clears the list of helpers, so that no other helper is called.
                command.args(["-c", &format!("{}=", setting("helper"))]);
                command.args(["-c", &format!("{}={CREDENTIAL_HELPER_SCRIPT}", setting("helper"))]);
                command.env("FORMWORK_GIT_PASSWORD", password);
            }
            // The user's own credential helpers provide the password.
            None => {
                command.args([
                    "--config-env",
                    &format!("{}=FORMWORK_GIT_USERNAME", setting("username")),
                ]);
            }
        }
    }
}

/// Protocols that git may use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllowedProtocols {
    /// All supported protocols, including local paths: the address is from local configuration.
    Known,
    /// The protocols that git itself allows for addresses from a remote source.
    AsUsual,
}

/// The `git` command with the arguments and limits of all calls.
struct GitCommand<'a> {
    key: Option<&'a Path>,
    login: Option<GitLogin>,
    /// Whether git uses its default SSH program.
    plain_ssh: bool,
    /// Maximum duration of a call: a server could otherwise send small amounts of data forever.
    limit: Duration,
    /// Maximum size of the repository on disk, in bytes: a server could send data forever, and a small
    /// download can decompress to a large size.
    max_size: u64,
    /// The directory of the repository.
    into: &'a Path,
}

impl GitCommand<'_> {
    /// Fetches the requested revision. A fetch of only the last commit is tried first, which not every
    /// server and not every commit name supports.
    fn fetch(&self, params: &GitParams, target: &OsStr) -> Result<(), FetchError> {
        let url = OsStr::new(&params.url);
        let [clone, depth, depth_value, end] = ["clone", "--depth", "1", "--"].map(OsStr::new);
        let Some(reference) = &params.reference else {
            return self
                .run(None, AllowedProtocols::Known, &[clone, depth, depth_value, end, url, target])
                .or_else(|error| {
                    if !may_need_full_history(&error) {
                        return Err(error);
                    }
                    self.run(None, AllowedProtocols::Known, &[clone, end, url, target])
                });
        };
        let branch = format!("--branch={reference}");
        let shallow = [clone, depth, depth_value, OsStr::new(&branch), end, url, target];
        match self.run(None, AllowedProtocols::Known, &shallow) {
            Err(error) if may_need_full_history(&error) => {}
            result => return result,
        }
        self.run(
            None,
            AllowedProtocols::Known,
            &[clone, OsStr::new("--no-checkout"), end, url, target],
        )?;
        let checkout = ["checkout", "--quiet", reference, "--"].map(OsStr::new);
        self.run(Some(Path::new(target)), AllowedProtocols::AsUsual, &checkout)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "git is not a plugin, and the caller waits for its end"
    )]
    fn command(&self, allowed: AllowedProtocols) -> Command {
        let mut command = Command::new("git");
        command
            .args(["-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"])
            .env("GIT_TERMINAL_PROMPT", "0")
            // The messages of git are parsed, so they must not be translated.
            .env("LC_ALL", "C")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .stdin(Stdio::null());
        match allowed {
            AllowedProtocols::Known => command.env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
            AllowedProtocols::AsUsual => command.env("GIT_PROTOCOL_FROM_USER", "0"),
        };
        if let Some(login) = &self.login {
            login.add_to_command(&mut command);
        }
        if let Some(key) = self.key {
            let key = shell_quoted(&key.display().to_string());
            let ssh = format!("ssh -o BatchMode=yes -o IdentitiesOnly=yes -i {key}");
            command.env("GIT_SSH_COMMAND", ssh);
        } else if self.plain_ssh {
            command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        command
    }

    fn forced_end_message(&self, end: ForcedEnd) -> String {
        match end {
            ForcedEnd::Late => {
                let limit = self.limit.as_secs() / 60;
                format!("git did not finish within {limit} minutes and was terminated")
            }
            ForcedEnd::TooMuch => format!(
                "the repository is larger than {} MiB on disk, the limit for a module, and git was terminated; set {MODULE_SIZE_VARIABLE} to change the limit, in mebibytes",
                self.max_size >> 20
            ),
        }
    }

    fn run(
        &self,
        working_dir: Option<&Path>,
        allowed: AllowedProtocols,
        arguments: &[&OsStr],
    ) -> Result<(), FetchError> {
        let mut command = self.command(allowed);
        command.args(arguments);
        if let Some(directory) = working_dir {
            command.current_dir(directory);
        }
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut error_output = Vec::new();
        let mut forced = None;
        let result = SupervisedChild::start(&mut command).and_then(|mut git| {
            let (into, max_size) = (self.into.to_owned(), self.max_size);
            let deadline = git.end_after(self.limit, move || size_on_disk(&into) > max_size)?;
            // The output contains messages of the server, whose length is not limited.
            let read = git.stderr().map_or(Ok(()), |stderr| {
                let mut stderr = stderr;
                stderr.by_ref().take(MAX_ERROR_OUTPUT).read_to_end(&mut error_output)?;
                std::io::copy(&mut stderr, &mut std::io::sink()).map(drop)
            });
            forced = deadline.forced_end();
            drop(deadline);
            git.wait().and_then(|status| read.map(|()| status))
        });
        if let Some(end) = forced {
            return Err(FetchError::Git(self.forced_end_message(end)));
        }
        let status = result.map_err(|error| match error.kind() {
            ErrorKind::NotFound => FetchError::Git(
                "git must be available and on the PATH; install it, or use an archive with an https:// address".to_owned(),
            ),
            _ => FetchError::Git(format!("git cannot be run: {error}")),
        })?;
        if status.success() {
            return Ok(());
        }
        let error_output = String::from_utf8_lossy(&error_output);
        let error_output: Vec<&str> = error_output.trim().lines().take(MAX_ERROR_LINES).collect();
        let error_output = format!("git exited with {status}: {}", error_output.join("\n"));
        Err(FetchError::Git(redact::redact_text(&error_output).into_owned()))
    }
}

/// Returns the size of a directory on disk, in bytes. Unreadable files are not counted, because git may
/// be deleting files concurrently.
fn size_on_disk(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        let own_size = allocated_bytes(&metadata);
        Some(if metadata.is_dir() {
            own_size.saturating_add(size_on_disk(&entry.path()))
        } else {
            own_size
        })
    });
    sizes.fold(0, u64::saturating_add)
}

/// Maximum number of bytes that are kept of an error message.
const MAX_ERROR_OUTPUT: u64 = 64 << 10;

/// Maximum number of lines of an error message that are printed.
const MAX_ERROR_LINES: usize = 20;

/// Whether a clone may have failed because only part of the history was requested.
fn may_need_full_history(error: &FetchError) -> bool {
    let FetchError::Git(stderr) = error else { return false };
    let signs = ["Remote branch", "shallow", "does not support --depth", "dumb http"];
    signs.iter().any(|sign| stderr.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git_of(login: Option<GitLogin>, into: &Path) -> GitCommand<'_> {
        GitCommand {
            key: None,
            login,
            plain_ssh: true,
            limit: DOWNLOAD_TIMEOUT,
            max_size: 1 << 30,
            into,
        }
    }

    #[test]
    fn own_parameters_are_removed_from_the_git_address() {
        let table = [
            ("https://h/a.git", "https://h/a.git", None),
            ("https://h/a.git?ref=v1&depth=1", "https://h/a.git", Some("v1")),
            ("https://h/a.git?x=1&ref=feature%2Fa", "https://h/a.git?x=1", Some("feature/a")),
            ("https://h/a.git?ref=", "https://h/a.git", None),
            ("https://h/a.git?ref=v1&ref=v2", "https://h/a.git", Some("v1")),
        ];
        for (address, url, reference) in table {
            let params = GitParams::parse(address).unwrap();
            assert_eq!((params.url.as_str(), params.reference.as_deref()), (url, reference));
        }
    }

    #[test]
    fn git_runs_in_the_c_locale() {
        let git = git_of(None, Path::new("unused"));
        let variable = |name: &str| {
            let command = git.command(AllowedProtocols::Known);
            let entry = command.get_envs().find(|(set, _)| *set == name);
            entry.and_then(|(_, value)| value.map(OsStr::to_owned))
        };
        assert_eq!(variable("LC_ALL"), Some("C".into()));
    }

    #[test]
    fn passwords_reach_git_but_not_its_arguments() {
        let mut url = "https://to%40ken:hunter%2F2@127.0.0.1:1/a.git".to_owned();
        let login = GitLogin::take_from_url(&mut url);
        assert_eq!(url, "https://127.0.0.1:1/a.git");
        let git = git_of(login, Path::new("unused"));
        let mut command = git.command(AllowedProtocols::Known);
        let arguments = format!("{:?}", command.get_args().collect::<Vec<_>>());
        assert!(!arguments.contains("ken") && !arguments.contains("hunter"), "{arguments}");
        command.args(["credential", "fill"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let request = b"protocol=https\nhost=127.0.0.1:1\n\n";
        child.stdin.take().unwrap().write_all(request).unwrap();
        let output = child.wait_with_output().unwrap();
        let answer = String::from_utf8_lossy(&output.stdout);
        assert!(answer.contains("username=to@ken\npassword=hunter/2\n"), "{answer}");
    }

    #[test]
    fn credentials_are_removed_from_any_address() {
        for (full_url, rest, login) in [
            ("https://h/a", "https://h/a", None),
            ("https://t@h/a@b", "https://h/a@b", Some(("t", None))),
            ("https://u:p@q@h", "https://h", Some(("u", Some("p@q")))),
            ("https://t:@h", "https://h", Some(("t", Some("")))),
            ("ssh://git@h/a", "ssh://git@h/a", None),
            ("ssh://me:p@h/a", "ssh://me@h/a", None),
            ("git@h:a/b", "git@h:a/b", None),
        ] {
            let mut url = full_url.to_owned();
            let parsed = GitLogin::take_from_url(&mut url);
            let parsed = parsed.as_ref().map(|it| (it.name.as_str(), it.password.as_deref()));
            assert_eq!((url.as_str(), parsed), (rest, login), "{full_url}");
        }
    }

    #[test]
    fn a_slow_endless_server_does_not_block_git() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let serving = std::thread::spawn(move || {
            let (mut git, _) = server.accept().unwrap();
            // The length of a line, and the line a byte at a time.
            git.write_all(b"fff0").unwrap();
            while git.write_all(b"x").is_ok() {
                std::thread::park_timeout(Duration::from_millis(5));
            }
        });
        let directory = tempfile::tempdir().unwrap();
        let into = directory.path().join("a");
        let git = GitCommand { limit: Duration::from_millis(200), ..git_of(None, &into) };
        let url = format!("git://127.0.0.1:{port}/a");
        let params = GitParams { url, ..GitParams::parse("https://h/a").unwrap() };
        let error = git.fetch(&params, into.as_os_str()).unwrap_err();
        assert!(error.to_string().contains("git did not finish within"), "{error}");
        serving.join().unwrap();
    }

    #[test]
    fn an_endless_repository_is_abandoned_at_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let into = directory.path().join("a");
        // The program runs until it is terminated, and its files remain.
        let script = format!(
            "mkdir -p {0}/.git && while head -c 100000 /dev/zero >> {0}/.git/pack; do :; done",
            into.display()
        );
        let git = GitCommand { max_size: 3 << 20, ..git_of(None, &into) };
        let alias = format!("alias.endless=!{script}");
        let arguments = ["-c", &alias, "endless"].map(OsStr::new);
        let error = git.run(None, AllowedProtocols::Known, &arguments).unwrap_err().to_string();
        assert!(error.contains("larger than 3 MiB on disk"), "{error}");
        assert!(error.contains("set FORMWORK_MODULE_SIZE to change the limit"), "{error}");
    }

    #[test]
    fn no_reference_can_be_an_option() {
        let error =
            GitParams::parse("https://h/a?ref=--upload-pack=touch").unwrap_err().to_string();
        assert!(error.contains("begins with a dash"), "{error}");
        assert!(GitParams::parse("https://h/a?ref=%2Dx").is_err());
    }
}
