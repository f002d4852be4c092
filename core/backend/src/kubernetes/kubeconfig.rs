//! Kubeconfig files: the server and the credentials of the selected context.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text};
use serde::Deserialize;

use super::yaml;
use crate::config_error::ConfigError;

/// A configuration: the content of one file or of several.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Kubeconfig {
    current_context: Option<String>,
    clusters: Option<Vec<NamedEntry<ClusterEntry>>>,
    contexts: Option<Vec<NamedEntry<ContextEntry>>>,
    users: Option<Vec<NamedEntry<UserEntry>>>,
}

#[derive(Debug, Deserialize)]
struct NamedEntry<T> {
    name: String,
    #[serde(alias = "cluster", alias = "context", alias = "user")]
    entry: Option<T>,
    /// The directory of the file, which relative paths start from.
    #[serde(skip)]
    directory: PathBuf,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct ClusterEntry {
    server: Option<String>,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
    tls_server_name: Option<String>,
    proxy_url: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ContextEntry {
    cluster: String,
    user: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct UserEntry {
    client_certificate: Option<String>,
    client_certificate_data: Option<String>,
    client_key: Option<String>,
    client_key_data: Option<String>,
    token: Option<String>,
    // Kubernetes spells this field differently.
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    username: Option<String>,
    password: Option<String>,
    auth_provider: Option<serde_json::Value>,
    exec: Option<ExecEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ExecEntry {
    pub(super) api_version: String,
    pub(super) command: String,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<Vec<ExecVariable>>,
}

/// An environment variable of a program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct ExecVariable {
    pub(super) name: String,
    pub(super) value: String,
}

/// The selection of a context and of its parts.
#[derive(Debug, Default)]
pub(super) struct ContextSelection {
    pub(super) context: Option<String>,
    pub(super) cluster: Option<String>,
    pub(super) user: Option<String>,
}

/// The access settings of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClusterAccess {
    pub(super) server: Option<String>,
    pub(super) authorities: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
    pub(super) token: Option<String>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) exec: Option<ExecEntry>,
}

impl Kubeconfig {
    /// Reads a file. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is not such a configuration.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, ConfigError> {
        let shown_path = path.display();
        let text = match read_text(path, MAX_SMALL_FILE_LEN) {
            Ok(text) => text,
            // As in kubectl, a file in the list may be missing.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(ConfigError::new(format!("{shown_path} cannot be read: {error}")));
            }
        };
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        let config = Self::parse(&text, &directory);
        config.map(Some).map_err(|error| {
            ConfigError::new(format!("{shown_path} is not the configuration of a cluster: {error}"))
        })
    }

    fn parse(text: &str, directory: &Path) -> Result<Self, String> {
        let value = match yaml::parse_yaml(text)? {
            serde_json::Value::Null => return Ok(Self::default()),
            value => value,
        };
        // The error contains no value, which may be a secret.
        let mut config: Self = serde_json::from_value(value).map_err(|error| {
            let text = error.to_string();
            text.split('"').next().unwrap_or_default().trim_end().to_owned()
        })?;
        // Paths are relative to their file, and only clusters and users have paths.
        config
            .clusters
            .iter_mut()
            .flatten()
            .for_each(|entry| entry.directory = directory.to_owned());
        config.users.iter_mut().flatten().for_each(|entry| entry.directory = directory.to_owned());
        Ok(config)
    }

    /// Adds the entries of another configuration that this one lacks.
    pub(super) fn merge(&mut self, other_config: Self) {
        fn add_missing_entries<T>(
            entries: &mut Option<Vec<NamedEntry<T>>>,
            new_entries: Option<Vec<NamedEntry<T>>>,
        ) {
            let entries = entries.get_or_insert_default();
            for new_entry in new_entries.into_iter().flatten() {
                if !entries.iter().any(|entry| entry.name == new_entry.name) {
                    entries.push(new_entry);
                }
            }
        }
        // As in kubectl, the first file with an entry takes precedence.
        let current_context = self.current_context.take().filter(|name| !name.is_empty());
        self.current_context = current_context.or(other_config.current_context);
        add_missing_entries(&mut self.clusters, other_config.clusters);
        add_missing_entries(&mut self.contexts, other_config.contexts);
        add_missing_entries(&mut self.users, other_config.users);
    }

    /// Returns the access settings of the selected context.
    ///
    /// # Errors
    /// Returns an error if the context, its cluster or its user does not exist, or if a file that they
    /// name cannot be read.
    pub(super) fn select_access(
        &self,
        selection: &ContextSelection,
    ) -> Result<ClusterAccess, ConfigError> {
        let name = selection.context.as_ref().or(self.current_context.as_ref());
        let name = name.filter(|name| !name.is_empty());
        let context = match name {
            None => ContextEntry::default(),
            Some(name) => find_entry(self.contexts.as_deref(), name, "context")?.0,
        };
        let cluster = selection.cluster.clone().unwrap_or(context.cluster);
        let user = selection.user.clone().unwrap_or(context.user);
        let mut access = ClusterAccess::default();
        if !cluster.is_empty() {
            let (entry, directory) = find_entry(self.clusters.as_deref(), &cluster, "cluster")?;
            access.add_cluster(entry, &directory)?;
        }
        if !user.is_empty() {
            let (entry, directory) = find_entry(self.users.as_deref(), &user, "auth info")?;
            access.add_user(entry, &directory)?;
        }
        Ok(access)
    }
}

fn find_entry<T: Clone + Default>(
    entries: Option<&[NamedEntry<T>]>,
    name: &str,
    kind: &str,
) -> Result<(T, PathBuf), ConfigError> {
    let entry = entries.unwrap_or_default().iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| {
        ConfigError::new(format!("{kind} {name:?} does not exist in config_path"))
    })?;
    Ok((entry.entry.clone().unwrap_or_default(), entry.directory.clone()))
}

impl ClusterAccess {
    fn add_cluster(&mut self, entry: ClusterEntry, directory: &Path) -> Result<(), ConfigError> {
        if entry.tls_server_name.is_some() {
            return Err(ConfigError::new(
                "tls-server-name of the cluster is not supported: use a server name of the certificate",
            ));
        }
        self.server = entry.server;
        self.proxy = entry.proxy_url;
        let (data, path) = (entry.certificate_authority_data, entry.certificate_authority);
        self.authorities = read_pem_data_or_file(data, path, directory, "certificate-authority")?;
        Ok(())
    }

    fn add_user(&mut self, entry: UserEntry, directory: &Path) -> Result<(), ConfigError> {
        if entry.auth_provider.is_some() {
            return Err(ConfigError::new(
                "auth-provider is not supported, as Kubernetes has removed it: use exec",
            ));
        }
        let (data, path) = (entry.client_certificate_data, entry.client_certificate);
        self.certificate = read_pem_data_or_file(data, path, directory, "client-certificate")?;
        self.key = read_pem_data_or_file(
            entry.client_key_data,
            entry.client_key,
            directory,
            "client-key",
        )?;
        self.token = entry.token.filter(|token| !token.is_empty());
        self.token_file = entry.token_file.map(|path| directory.join(path));
        self.username = entry.username;
        self.password = entry.password;
        self.exec = entry.exec.map(|mut exec| {
            // A name without a slash is searched in PATH.
            if exec.command.contains('/') {
                exec.command = directory.join(&exec.command).display().to_string();
            }
            exec
        });
        Ok(())
    }
}

/// Returns the PEM text of a certificate or key: encoded in the configuration, or in a file.
fn read_pem_data_or_file(
    data: Option<String>,
    path: Option<String>,
    directory: &Path,
    name: &str,
) -> Result<Option<String>, ConfigError> {
    // As in Kubernetes' client, data in the configuration replaces the file.
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let text = STANDARD.decode(data.trim()).ok().and_then(|text| String::from_utf8(text).ok());
        let text = text.ok_or_else(|| {
            ConfigError::new(format!("{name}-data is not a certificate or key in base64"))
        })?;
        return Ok(Some(text));
    }
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Ok(None) };
    let text = read_text(&directory.join(&path), MAX_SMALL_FILE_LEN);
    let text =
        text.map_err(|error| ConfigError::new(format!("{name} {path:?} cannot be read: {error}")))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KUBECONFIG_FILE: &str = "apiVersion: v1\nkind: Config\ncurrent-context: one\nclusters:\n- name: c\n  cluster:\n    server: https://c:6443\n    certificate-authority-data: cGVt\n- name: d\n  cluster: {server: https://d}\ncontexts:\n- name: one\n  context: {cluster: c, user: u, namespace: ignored}\nusers:\n- name: u\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: ./login\n      args: [a]\n      env: [{name: N, value: v}]\n- name: t\n  user: {tokenFile: token}\n";

    fn parse(text: &str) -> Kubeconfig {
        Kubeconfig::parse(text, Path::new("/k")).unwrap()
    }

    #[test]
    fn an_endless_file_and_a_pipe_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for (path, kind) in [(pipe.as_path(), "a pipe"), (Path::new("/dev/zero"), "a device")] {
            let error = Kubeconfig::read(path).err().unwrap().to_string();
            assert!(error.contains(kind), "{error}");
        }
    }

    #[test]
    fn the_context_selects_cluster_and_user_and_arguments_replace_them() {
        let config = parse(KUBECONFIG_FILE);
        let access = config.select_access(&ContextSelection::default()).unwrap();
        assert_eq!(access.server.as_deref(), Some("https://c:6443"));
        assert_eq!(access.authorities.as_deref(), Some("pem"));
        let exec = access.exec.unwrap();
        assert_eq!((exec.command.as_str(), exec.args), ("/k/./login", Some(vec!["a".to_owned()])));
        let selection = ContextSelection {
            cluster: Some("d".to_owned()),
            user: Some("t".to_owned()),
            ..ContextSelection::default()
        };
        let access = config.select_access(&selection).unwrap();
        assert_eq!(access.server.as_deref(), Some("https://d"));
        assert_eq!(access.token_file, Some(PathBuf::from("/k/token")));
        let missing =
            ContextSelection { context: Some("two".to_owned()), ..ContextSelection::default() };
        assert!(
            config.select_access(&missing).unwrap_err().message.contains("\"two\" does not exist")
        );
    }

    #[test]
    fn the_first_of_several_files_takes_precedence() {
        let mut config = parse("clusters:\n- name: c\n  cluster: {server: https://first}\n");
        config.merge(parse(KUBECONFIG_FILE));
        let access = config.select_access(&ContextSelection::default()).unwrap();
        assert_eq!(access.server.as_deref(), Some("https://first"));
        assert!(access.exec.is_some());
    }

    #[test]
    fn no_secret_is_in_the_message_about_a_file_that_is_not_valid() {
        let text = "users:\n- name: u\n  user: {token: [hush]}\n";
        let error = Kubeconfig::parse(text, Path::new("/k")).unwrap_err();
        assert!(!error.contains("hush"), "{error}");
        let error = Kubeconfig::parse("users: hush", Path::new("/k")).unwrap_err();
        assert!(!error.contains("hush"), "{error}");
    }
}
