//! The CLI configuration file: provider installation methods, and credentials for hosts.

mod install_method;
mod oci;
mod oci_repository;
mod parse_items;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::parse_items::{ResultWithLine, SettingsItem, SettingsValue};
use crate::env::Env;
use crate::messages;
use crate::platform::Platform;
use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text, read_user_text_file};
use formwork_value::diag::Message;

pub(crate) use self::install_method::{InstallMethod, InstallMethodKind, matches_pattern};
pub(crate) use self::oci::{OciLogin, OciSettings};
pub(crate) use self::oci_repository::{RepositoryAddr, RepositoryTemplate};

/// The name of the credentials file that `login` writes.
const TOKENS_FILE_NAME: &str = "credentials.tfrc.json";

/// The supported settings of the CLI configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The directory of unpacked providers that is shared between configurations.
    pub(crate) plugin_cache_dir: Option<PathBuf>,
    /// Whether the cache is used for packages without a locked hash.
    pub(crate) cache_may_break_lock: bool,
    /// Provider installation methods, in order. `None` for the default methods.
    pub(crate) methods: Option<Vec<InstallMethod>>,
    /// Directories that contain the program of a provider under development, by source address.
    pub(crate) overrides: Vec<(String, PathBuf)>,
    /// Service URLs of hosts for which service discovery is disabled, by service.
    pub(crate) hosts: BTreeMap<String, BTreeMap<String, String>>,
    /// API tokens, by host.
    pub(crate) tokens: BTreeMap<String, String>,
    /// The hosts whose tokens are in CLI configuration files instead of the credentials file of `login`.
    pub(crate) written: BTreeSet<String>,
    /// The credentials helper for other tokens.
    pub(crate) helper: Option<CredentialsHelper>,
    /// Credentials for OCI registries.
    pub(crate) oci: OciSettings,
    /// Warnings about the settings, each with a summary and a detail.
    pub(crate) warnings: Vec<(&'static Message, String)>,
}

/// The user's settings for proxies, credentials and limits.
#[derive(Clone, Copy)]
pub(crate) struct UserSettings<'a> {
    pub(crate) env: &'a Env,
    pub(crate) settings: &'a Settings,
}

/// A program that provides the tokens of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CredentialsHelper {
    /// The path of the program, if it is installed.
    pub(crate) program: Option<PathBuf>,
    /// The name for messages.
    pub(crate) name: String,
    /// The configured arguments, which precede those of a request.
    pub(crate) args: Vec<String>,
}

/// The reason why the CLI configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {reason}", path.display(), line.map_or(String::new(), |line| format!(":{line}")))]
pub(crate) struct SettingsError {
    path: PathBuf,
    line: Option<usize>,
    reason: String,
}

impl Settings {
    /// Reads the effective settings. The environment takes precedence over the files.
    ///
    /// # Errors
    /// A CLI configuration file cannot be read or parsed.
    pub(crate) fn load(env: &Env) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for path in settings_files(env)? {
            let text =
                read_user_text_file(&path, MAX_SMALL_FILE_LEN).map_err(|error| SettingsError {
                    path: path.clone(),
                    line: None,
                    reason: format!("cannot be read: {error}"),
                })?;
            let read = parse_settings(&text, env).map_err(|(line, reason)| SettingsError {
                path: path.clone(),
                line: Some(line),
                reason,
            })?;
            let in_file = |(summary, detail): (&'static Message, String)| {
                (summary, format!("{}{detail}", path.display()))
            };
            settings.warnings.extend(read.warnings.into_iter().map(in_file));
            settings.plugin_cache_dir = settings.plugin_cache_dir.or(read.plugin_cache_dir);
            settings.cache_may_break_lock |= read.cache_may_break_lock;
            if settings.methods.is_some() && read.methods.is_some() {
                let reason = DUPLICATE_INSTALLATION_REASON.to_owned();
                return Err(SettingsError { path, line: None, reason });
            }
            settings.methods = read.methods.or(settings.methods);
            settings.overrides.extend(read.overrides);
            settings.hosts.extend(read.hosts);
            settings.tokens.extend(read.tokens);
            let directory = path.parent().unwrap_or(Path::new(""));
            settings.oci.merge(read.oci, directory).map_err(|reason| SettingsError {
                path: path.clone(),
                line: None,
                reason,
            })?;
            if let Some(helper) = read.helper {
                if settings.helper.is_some() {
                    let reason = DUPLICATE_HELPER_REASON.to_owned();
                    return Err(SettingsError { path, line: None, reason });
                }
                settings.helper = Some(helper);
            }
        }
        settings.written = settings.tokens.keys().cloned().collect();
        for (host, token) in login_tokens(env) {
            settings.tokens.entry(host).or_insert(token);
        }
        settings.plugin_cache_dir = env.plugin_cache_dir.clone().or(settings.plugin_cache_dir);
        settings.cache_may_break_lock |= env.cache_may_break_lock;
        settings.warn_of_missing_paths(env);
        Ok(settings)
    }
}

impl Settings {
    /// Warns about files and directories that do not exist, because their names are probably misspelled.
    fn warn_of_missing_paths(&mut self, env: &Env) {
        if let Some(path) = env.cli_config_file.as_ref().filter(|path| !path.exists()) {
            let detail = format!(
                "The file {:?} in TF_CLI_CONFIG_FILE does not exist, so no settings are read.",
                path.display().to_string()
            );
            self.warnings.push((messages::UNABLE_TO_OPEN_CLI_CONFIGURATION_FILE, detail));
        }
        if let Some(directory) =
            self.plugin_cache_dir.as_ref().filter(|directory| !directory.is_dir())
        {
            let detail = format!(
                "The plugin cache directory {:?} does not exist. It is created when a provider is installed. If the name is wrong, correct it.",
                directory.display().to_string()
            );
            self.warnings.push((messages::PLUGIN_CACHE_DIRECTORY_CANNOT_BE_OPENED, detail));
        }
    }
}

fn settings_files(env: &Env) -> Result<Vec<PathBuf>, SettingsError> {
    if let Some(path) = &env.cli_config_file {
        // A configured file that does not exist counts as empty.
        return Ok(if path.exists() { vec![path.clone()] } else { Vec::new() });
    }
    let Some(home) = &env.home else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> =
        Some(home.join(".terraformrc")).into_iter().filter(|path| path.exists()).collect();
    let directory = home.join(".terraform.d");
    if let Ok(entries) = std::fs::read_dir(directory) {
        let mut more: Vec<_> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| is_settings_file_name(path))
            .collect();
        more.sort();
        files.extend(more);
    }
    Ok(files)
}

/// Whether a file in the settings directory is read. The credentials file of `login` is read separately.
fn is_settings_file_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name != TOKENS_FILE_NAME && (name.ends_with(".tfrc") || name.ends_with(".tfrc.json"))
}

/// Reads the tokens in the credentials file of `login`, which is not edited by hand. A damaged file
/// contains no tokens.
fn login_tokens(env: &Env) -> Vec<(String, String)> {
    let Some(path) = tokens_file(env) else { return Vec::new() };
    let text = read_text(&path, MAX_SMALL_FILE_LEN);
    text.map(|text| parse_tokens(&text)).unwrap_or_default()
}

/// Parses the tokens in a credentials file, by host.
pub(crate) fn parse_tokens(text: &str) -> Vec<(String, String)> {
    let document: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let hosts = document.as_ref().and_then(|document| document.get("credentials")?.as_object());
    let token = |entry: &serde_json::Value| Some(entry.get("token")?.as_str()?.to_owned());
    hosts
        .into_iter()
        .flatten()
        .filter_map(|(host, entry)| Some((host.to_lowercase(), token(entry)?)))
        .collect()
}

/// Parses a CLI configuration file.
///
/// # Errors
/// The document is not valid. The error is the line and the reason.
pub(crate) fn parse_settings(text: &str, env: &Env) -> Result<Settings, (usize, String)> {
    let mut settings = Settings::default();
    for item in parse_items::parse_items(text)? {
        let line = item.line();
        match item.name() {
            "plugin_cache_dir" => {
                let path = expand_variables(&item.into_text()?, env);
                settings.plugin_cache_dir = Some(path).filter(|path| !path.as_os_str().is_empty());
            }
            "plugin_cache_may_break_dependency_lock_file" => {
                settings.cache_may_break_lock = item.into_bool()?;
            }
            "disable_checkpoint" | "disable_checkpoint_signature" => {
                item.into_bool()?;
            }
            "provider_installation" => {
                if settings.methods.is_some() {
                    return Err((line, DUPLICATE_INSTALLATION_REASON.to_owned()));
                }
                let (methods, overrides) = read_installation(item.into_block()?, env)?;
                settings.methods = Some(methods);
                settings.overrides = overrides;
            }
            "host" => {
                for (host, items) in settings.labelled_blocks_or_warn(item, "hostname") {
                    if let Some(host) = settings.hostname_or_warn("host", &host, line) {
                        settings.hosts.insert(host, read_services(items));
                    }
                }
            }
            "credentials" => {
                for (host, items) in settings.labelled_blocks_or_warn(item, "hostname") {
                    if let Some(host) = settings.hostname_or_warn("credentials", &host, line) {
                        settings.tokens.extend(read_token(items).map(|token| (host, token)));
                    }
                }
            }
            "credentials_helper" => {
                for (name, items) in item.into_labelled("name")? {
                    if settings.helper.is_some() {
                        return Err((line, DUPLICATE_HELPER_REASON.to_owned()));
                    }
                    settings.helper = Some(read_helper(name, items, env)?);
                }
            }
            "oci_credentials" => {
                for (prefix, items) in item.into_labelled("repository prefix")? {
                    settings.oci.read_credentials_block(&prefix, items, line)?;
                }
            }
            "oci_default_credentials" => {
                settings.oci.read_defaults(item.into_block()?, line, env)?;
            }
            // Unknown names may be settings of other programs or later versions.
            _ => {}
        }
    }
    Ok(settings)
}

impl Settings {
    /// Returns the labelled blocks of an item. An error is reported as a warning and does not stop a
    /// command, as in Terraform, because other hosts are not affected.
    fn labelled_blocks_or_warn(
        &mut self,
        item: SettingsItem,
        label_kind: &str,
    ) -> Vec<(String, Vec<SettingsItem>)> {
        item.into_labelled(label_kind).unwrap_or_else(|(line, reason)| {
            self.warn_of_block(line, &reason);
            Vec::new()
        })
    }

    /// Returns the hostname in the label of a block, normalized for comparison.
    fn hostname_or_warn(&mut self, block: &str, label: &str, line: usize) -> Option<String> {
        let host = label.strip_suffix(":443").unwrap_or(label);
        let host = host.strip_suffix('.').unwrap_or(host);
        // The hostname is validated as part of a provider address.
        if format!("{host}/namespace/type").parse::<ProviderAddr>().is_err() {
            self.warn_of_block(
                line,
                &format!("the {block} block has the invalid hostname {label:?}"),
            );
            return None;
        }
        Some(host.to_lowercase())
    }

    fn warn_of_block(&mut self, line: usize, reason: &str) {
        let detail = format!(":{line}: {reason}. The block is ignored.");
        self.warnings.push((messages::SETTINGS_BLOCK_IGNORED, detail));
    }
}

/// The error for a second `credentials_helper` block.
const DUPLICATE_HELPER_REASON: &str = "no more than one credentials_helper block may be specified";
/// The error for a second `provider_installation` block.
const DUPLICATE_INSTALLATION_REASON: &str =
    "no more than one provider_installation block may be specified";

/// Reads the URLs in `services = { … }`.
fn read_services(items: Vec<SettingsItem>) -> BTreeMap<String, String> {
    let urls = items.into_iter().filter_map(|item| match item {
        SettingsItem::Value(name, SettingsValue::Block(items), _)
        | SettingsItem::Block(name, items, _)
            if name == "services" =>
        {
            Some(items)
        }
        _ => None,
    });
    let urls = urls.flatten().filter_map(|item| match item {
        SettingsItem::Value(service, SettingsValue::Text(url), _) => Some((service, url)),
        _ => None,
    });
    urls.collect()
}

/// Reads the string in `token = "…"`.
fn read_token(items: Vec<SettingsItem>) -> Option<String> {
    items.into_iter().find_map(|item| match item {
        SettingsItem::Value(name, SettingsValue::Text(token), _) if name == "token" => Some(token),
        _ => None,
    })
}

/// Reads the program of a `credentials_helper` block, which is searched in the plugin directories.
fn read_helper(
    name: String,
    items: Vec<SettingsItem>,
    env: &Env,
) -> ResultWithLine<CredentialsHelper> {
    let mut args = Vec::new();
    for item in items.into_iter().filter(|item| item.name() == "args") {
        args = item.into_list()?;
    }
    let plugins = env.home.as_ref().map(|home| home.join(".terraform.d/plugins"));
    let platform = Platform::current().to_string();
    let directories = plugins.into_iter().flat_map(|plugins| [plugins.join(&platform), plugins]);
    let program = directories
        .map(|directory| directory.join(format!("terraform-credentials-{name}")))
        .find(|program| program.is_file());
    Ok(CredentialsHelper { program, name, args })
}

type MethodsAndDevOverrides = (Vec<InstallMethod>, Vec<(String, PathBuf)>);

fn read_installation(
    items: Vec<SettingsItem>,
    env: &Env,
) -> ResultWithLine<MethodsAndDevOverrides> {
    let mut methods = Vec::new();
    let mut overrides = Vec::new();
    for item in items {
        let (name, line) = (item.name().to_owned(), item.line());
        let items = item.into_block()?;
        if name == "dev_overrides" {
            if !methods.is_empty() {
                let reason = "dev_overrides must appear before all other installation methods, because it has priority over them";
                return Err((line, reason.to_owned()));
            }
            for item in items {
                let (provider, line) = (item.name().to_owned(), item.line());
                if provider.parse::<ProviderAddr>().is_err() {
                    return Err((line, format!("{provider:?} is not a provider source address")));
                }
                overrides.push((provider, expand_variables(&item.into_text()?, env)));
            }
            continue;
        }
        methods.push(install_method::read_method_block(&name, items, line, env)?);
    }
    Ok((methods, overrides))
}

/// Expands `$NAME` and `${NAME}`, and a leading `~`.
fn expand_variables(text: &str, env: &Env) -> PathBuf {
    let mut result = String::new();
    let mut rest = text;
    while let Some(index) = rest.find('$') {
        result.push_str(&rest[..index]);
        let after_dollar = &rest[index + 1..];
        let (name, next) =
            match after_dollar.strip_prefix('{').and_then(|braced| braced.split_once('}')) {
                Some(parts) => parts,
                None => {
                    let end = after_dollar
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .unwrap_or(after_dollar.len());
                    after_dollar.split_at(end)
                }
            };
        result.push_str(env.environment.get(name).map_or("", String::as_str));
        rest = next;
    }
    result.push_str(rest);
    match (result.strip_prefix("~/"), &env.home) {
        (Some(relative_path), Some(home)) => home.join(relative_path),
        _ => PathBuf::from(result),
    }
}

/// Returns the implied mirror directories, used if the settings contain no installation methods.
pub(crate) fn implied_mirror_dirs(env: &Env, root: &Path) -> Vec<PathBuf> {
    let mut directories = vec![root.join("terraform.d/plugins")];
    directories.extend(env.home.iter().map(|home| home.join(".terraform.d/plugins")));
    directories.extend(env.data_homes.iter().map(|dir| dir.join("terraform/plugins")));
    directories
}

/// Returns the path of the credentials file that `login` writes.
pub(crate) fn tokens_file(env: &Env) -> Option<PathBuf> {
    Some(env.home.as_ref()?.join(".terraform.d").join(TOKENS_FILE_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_overrides_mirrors_and_the_cache() {
        let text = r#"
            # a comment
            plugin_cache_dir = "$HOME/cache"
            disable_checkpoint = true
            provider_installation {
              dev_overrides {
                "hashicorp/null" = "~/null"   // under development
              }
              filesystem_mirror {
                path    = "/mirror"
                include = ["example.com/*/*", "hashicorp/random"]
              }
              direct { exclude = ["example.com/*/*"] }
            }
            credentials "Example.com" { token = "x" }
            host "mirror.example" {
              services = { "modules.v1" = "https://other.example/modules/" }
            }
        "#;
        let env = Env {
            home: Some("/home/me".into()),
            environment: [("HOME".to_owned(), "/home/me".to_owned())].into(),
            ..Env::default()
        };
        let settings = parse_settings(text, &env).unwrap();
        assert_eq!(settings.plugin_cache_dir, Some("/home/me/cache".into()));
        assert_eq!(settings.overrides, [("hashicorp/null".to_owned(), "/home/me/null".into())]);
        assert_eq!(settings.tokens["example.com"], "x");
        assert_eq!(
            settings.hosts["mirror.example"]["modules.v1"],
            "https://other.example/modules/"
        );
        let methods = settings.methods.unwrap();
        assert_eq!(methods.len(), 2);
        let null = "hashicorp/null".parse().unwrap();
        let own_addr = "example.com/a/b".parse().unwrap();
        assert!(!methods[0].serves(&null) && methods[0].serves(&own_addr));
        assert!(methods[0].serves(&"random".parse().unwrap()));
        assert!(methods[1].serves(&null) && !methods[1].serves(&own_addr));
    }

    #[test]
    fn repository_templates_may_contain_quotes_and_errors_have_a_line() {
        let block = |template: &str| {
            format!(
                "provider_installation {{\n oci_mirror {{\n  repository_template = \"{template}\"\n }}\n}}"
            )
        };
        let full_template =
            "h.example/${hostname}/${namespace == \"acme\" ? \"a\" : namespace}/${type}";
        let settings = parse_settings(&block(full_template), &Env::default()).unwrap();
        let methods = settings.methods.unwrap();
        let InstallMethodKind::Oci(template) = &methods[0].kind else { panic!("{methods:?}") };
        let repository = template.repository(&"corp.example/acme/thing".parse().unwrap()).unwrap();
        assert_eq!(repository.to_string(), "h.example/corp.example/a/thing");
        let (line, reason) =
            parse_settings(&block("h.example/${type}"), &Env::default()).unwrap_err();
        assert!(line == 2 && reason.contains("must refer to ${hostname}"), "{line}: {reason}");
        let none = "provider_installation {\n oci_mirror {}\n}";
        let expected = (2, "oci_mirror requires a repository_template".to_owned());
        assert_eq!(parse_settings(none, &Env::default()), Err(expected));
    }

    #[test]
    fn invalid_settings_are_errors_and_unknown_names_are_not() {
        let env = Env::default();
        for (text, reason) in [
            ("provider_installation \"x\" {}", "provider_installation does not support a label"),
            ("provider_installation = {}", "provider_installation must be a block"),
            ("provider_installation { direct = {} }", "direct must be a block"),
            ("provider_installation { direct \"x\" {} }", "direct does not support a label"),
            (
                "provider_installation { direct {} dev_overrides {} }",
                "dev_overrides must appear before all other installation methods",
            ),
            (
                "provider_installation { dev_overrides { \"a/b/c/d\" = \"x\" } }",
                "\"a/b/c/d\" is not a provider source address",
            ),
            (
                "provider_installation { direct { include = \"a/b\" } }",
                "include must be a list of strings",
            ),
            ("disable_checkpoint = \"yes\"", "disable_checkpoint must be true or false"),
            ("plugin_cache_dir = [\"a\"]", "plugin_cache_dir must be a string"),
            ("credentials_helper { args = [] }", "a name is missing before \"args\""),
            ("credentials_helper \"x\" { args = \"a\" }", "args must be a list of strings"),
            ("credentials_helper \"x\" {} credentials_helper \"y\" {}", "no more than one"),
            ("plugin_cache_dir = <<EOF\n", "a heredoc after << does not end"),
            ("{\"host\": }", "expected value"),
        ] {
            let (line, message) = parse_settings(text, &env).unwrap_err();
            assert!(line == 1 && message.starts_with(reason), "{text}: {line}: {message}");
            assert!(!message.contains(" at line "), "{message}");
        }
        assert_eq!(
            parse_settings("nonsense \"x\" {}\nmore = 1", &env).unwrap(),
            Settings::default()
        );
    }

    #[test]
    fn a_block_for_an_invalid_host_is_reported_and_ignored() {
        let env = Env::default();
        for (text, reason) in [
            ("credentials { token = \"x\" }", "a hostname is missing before \"token\""),
            ("credentials = \"x\"", "credentials must be a block"),
            ("credentials \"bad host!\" {}", "the credentials block has the invalid hostname"),
            ("host \"bad host\" {}", "the host block has the invalid hostname"),
            ("{\"credentials\": 1}", "credentials must be a block"),
            ("{\"host\": {\"h.example\": 1}}", "a hostname is missing before \"h.example\""),
        ] {
            let settings = parse_settings(&format!("\n{text}"), &env).unwrap();
            let (_, detail) = &settings.warnings[0];
            assert!(detail.starts_with(&format!(":2: {reason}")), "{text}: {detail}");
            assert!(settings.tokens.is_empty() && settings.hosts.is_empty(), "{text}");
        }
    }

    #[test]
    fn labels_may_be_names_of_inner_blocks() {
        let env = Env::default();
        let expected = parse_settings("credentials \"a.example\" { token = \"x\" }", &env).unwrap();
        for text in [
            "credentials { \"a.example\" { token = \"x\" } }",
            "credentials = { \"A.example:443\" = { token = \"x\" } }",
            "credentials \"a.example.\" { token = \"\\u0078\" }",
            "\u{feff}credentials \"a.example\" { token = \"x\" }\ncredentials {}",
        ] {
            assert_eq!(parse_settings(text, &env).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn strings_have_the_escapes_and_the_heredocs_of_terraform() {
        let env = Env::default();
        let cache = |text: &str| parse_settings(text, &env).unwrap().plugin_cache_dir;
        assert_eq!(cache("plugin_cache_dir = \"a\\tb\\u0041\\\"\""), Some("a\tbA\"".into()));
        assert_eq!(cache("plugin_cache_dir = <<EOF\na b\nEOF\n"), Some("a b\n".into()));
        let text = "plugin_cache_dir = <<-EOF\n    a\n      b\n    EOF\ndisable_checkpoint = true";
        assert_eq!(cache(text), Some("a\n  b\n".into()));
        assert_eq!(cache("plugin_cache_dir = \"$UNSET\""), None);
        assert_eq!(cache("{\"plugin_cache_dir\": null}"), None);
    }

    #[test]
    fn settings_in_json_are_equivalent() {
        let text = r#"{
            "plugin_cache_dir": "/cache",
            "disable_checkpoint": true,
            "credentials": {"A.example": {"token": "a"}, "b.example": [{"token": "b"}]},
            "credentials": {"e.example": {"token": "e"}},
            "credentials_helper": {"vault": {"args": ["x", "y"]}},
            "host": [{"c.example": {"services": {"modules.v1": "https://d.example/"}}}],
            "provider_installation": {
                "dev_overrides": [{"hashicorp/null": "/null"}],
                "filesystem_mirror": [{"path": "/b"}, {"path": "/a", "include": ["x/*"]}],
                "direct": {}
            }
        }"#;
        let env = Env::default();
        let settings = parse_settings(text, &env).unwrap();
        let same = r#"
            plugin_cache_dir = "/cache"
            credentials "a.example" { token = "a" }
            credentials "b.example" { token = "b" }
            credentials "e.example" { token = "e" }
            credentials_helper "vault" { args = ["x", "y"] }
            host "c.example" { services = { "modules.v1" = "https://d.example/" } }
            provider_installation {
                dev_overrides { "hashicorp/null" = "/null" }
                filesystem_mirror { path = "/b" }
                filesystem_mirror {
                    path    = "/a"
                    include = ["x/*"]
                }
                direct {}
            }
        "#;
        assert_eq!(settings, parse_settings(same, &env).unwrap());
        let (line, _) =
            parse_settings("{\"x\": \"plugin_cache_dir\",\n\"plugin_cache_dir\": []}", &env)
                .unwrap_err();
        assert_eq!(line, 2);
    }

    #[test]
    fn errors_name_their_line() {
        let check = |text: &str| parse_settings(text, &Env::default()).unwrap_err();
        assert_eq!(check("a = 1\nb = \"x").0, 2);
        assert_eq!(check("provider_installation {\n  teleport {}\n}").0, 2);
        assert_eq!(check("provider_installation {\n"), (2, "a block does not end".into()));
    }
}
