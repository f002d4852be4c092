//! Converts the arguments of the backend `kubernetes` and the environment to settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text};
use formwork_value::schema::{Attribute, Block, NestedBlock, Nesting, Role};
use formwork_value::{Type, Value};
use ureq::http::Uri;

use super::cluster_connection::ClusterConnection;
use super::kubeconfig::{ClusterAccess, ContextSelection, ExecEntry, ExecVariable, Kubeconfig};
use crate::arguments::{BackendArguments, RequiredArgument, optional_attributes_block};
use crate::config_error::ConfigError;

/// Settings of the backend.
pub(super) struct KubernetesSettings {
    pub(super) suffix: String,
    pub(super) namespace: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) connection: ClusterConnection,
}

const STRING_ARGUMENTS: &[&str] = &[
    "client_certificate",
    "client_key",
    "cluster_ca_certificate",
    "config_context",
    "config_context_auth_info",
    "config_context_cluster",
    "config_path",
    "host",
    "namespace",
    "password",
    "proxy_url",
    "secret_suffix",
    "token",
    "username",
];

/// The arguments that it cannot do without.
pub(super) const REQUIRED_ARGUMENTS: [RequiredArgument; 1] = [RequiredArgument {
    name: "secret_suffix",
    about: "Suffix used when creating the secret. The secret will be named in the format: `tfstate-{workspace}-{secret_suffix}`. Large states have several secrets, with a number at the end.",
}];

/// The schema.
pub(super) fn schema() -> Block {
    // Required arguments are checked later, because options of `init` may set them.
    let mut attributes: Vec<_> =
        STRING_ARGUMENTS.iter().map(|name| (*name, Type::String)).collect();
    attributes.extend(
        ["in_cluster_config", "insecure", "load_config_file"].map(|name| (name, Type::Bool)),
    );
    attributes.push(("config_paths", Type::list(Type::String)));
    attributes.push(("labels", Type::map(Type::String)));
    let mut block = optional_attributes_block(&attributes);
    let mut exec = optional_attributes_block(&[
        ("args", Type::list(Type::String)),
        ("env", Type::map(Type::String)),
    ]);
    for name in ["api_version", "command"] {
        exec.attributes.insert(name.into(), Attribute::new(Type::String, Role::Required));
    }
    let exec = NestedBlock {
        nesting: Nesting::Single,
        block: exec,
        min_items: 0,
        max_items: 0,
        computed: false,
    };
    block.blocks.insert("exec".into(), exec);
    block
}

/// Reads the arguments.
///
/// # Errors
/// Returns an error if an argument is missing or invalid, or if a file that it names is invalid.
pub(super) fn read_settings(
    arguments: &BackendArguments<'_>,
) -> Result<KubernetesSettings, ConfigError> {
    arguments.check_required(&REQUIRED_ARGUMENTS)?;
    let suffix = arguments.string("secret_suffix").unwrap_or_default();
    // The parts of a large state have numbers at the end of their names.
    if suffix.rsplit_once('-').is_some_and(|(_, last_part)| last_part.parse::<i64>().is_ok()) {
        return Err(ConfigError::new(format!(
            "secret_suffix must not end with '-<number>', got {suffix:?}"
        )));
    }
    let namespace = argument_or_variable(arguments, "namespace", "KUBE_NAMESPACE");
    let labels = arguments.value("labels").map(strings_of_map).unwrap_or_default();
    Ok(KubernetesSettings {
        suffix,
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        labels: labels.into_iter().collect(),
        connection: read_connection(arguments)?,
    })
}

/// Returns the string of an argument, or otherwise of a variable. An empty string counts as not
/// set.
fn argument_or_variable(
    arguments: &BackendArguments<'_>,
    name: &str,
    variable: &str,
) -> Option<String> {
    arguments.string_or_variable(name, &[variable]).filter(|text| !text.is_empty())
}

fn strings_of_list(value: &Value) -> Vec<String> {
    let Value::List(list) = value else { return Vec::new() };
    list.items().iter().map(string_or_empty).collect()
}

fn strings_of_map(value: &Value) -> Vec<(String, String)> {
    let Value::Map(map) = value else { return Vec::new() };
    map.iter().map(|(name, value)| (name.to_string(), string_or_empty(value))).collect()
}

fn string_or_empty(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        _ => String::new(),
    }
}

/// Returns the settings for cluster access. Arguments and variables override the settings in files.
fn read_connection(arguments: &BackendArguments<'_>) -> Result<ClusterConnection, ConfigError> {
    let in_cluster = arguments.bool_or_variable("in_cluster_config", "KUBE_IN_CLUSTER_CONFIG")?;
    let mut access =
        if in_cluster { access_from_pod(arguments)? } else { access_from_kubeconfig(arguments)? };
    let replace = |value: &mut Option<String>, name: &str, variable: &str| {
        if let Some(text) = argument_or_variable(arguments, name, variable) {
            *value = Some(text);
        }
    };
    replace(&mut access.server, "host", "KUBE_HOST");
    replace(&mut access.username, "username", "KUBE_USER");
    replace(&mut access.password, "password", "KUBE_PASSWORD");
    replace(&mut access.authorities, "cluster_ca_certificate", "KUBE_CLUSTER_CA_CERT_DATA");
    replace(&mut access.certificate, "client_certificate", "KUBE_CLIENT_CERT_DATA");
    replace(&mut access.key, "client_key", "KUBE_CLIENT_KEY_DATA");
    replace(&mut access.token, "token", "KUBE_TOKEN");
    if argument_or_variable(arguments, "token", "KUBE_TOKEN").is_some() {
        // An explicitly set token takes precedence over the file of the pod.
        access.token_file = None;
    }
    let insecure = arguments.bool_or_variable("insecure", "KUBE_INSECURE")?;
    let server = access.server.take().filter(|server| !server.is_empty()).ok_or_else(|| {
        ConfigError::new(
            "invalid configuration: no configuration has been provided: set config_path or KUBE_CONFIG_PATH, in_cluster_config, or host",
        )
    })?;
    // Without this, an address without a scheme would send the credentials unencrypted.
    let server = if server.contains("://") { server } else { format!("https://{server}") };
    let parsed: Option<Uri> = server.parse().ok();
    // Messages contain the URL, so it must not contain a user and password.
    let parsed = parsed.filter(|url| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.authority().is_some_and(|authority| !authority.as_str().contains('@'))
    });
    if parsed.is_none() {
        return Err(ConfigError::new(
            "host or the server of the cluster is not a URL with http or https",
        ));
    }
    Ok(ClusterConnection { server: server.trim_end_matches('/').to_owned(), insecure, access })
}

/// Returns the settings for access to the cluster that this process runs in.
fn access_from_pod(arguments: &BackendArguments<'_>) -> Result<ClusterAccess, ConfigError> {
    let address = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];
    let [Some(host), Some(port)] = address.map(|name| arguments.read_env_variable(name)) else {
        return Err(ConfigError::new(
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
        ));
    };
    // In a URL, an IPv6 address is enclosed in brackets.
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let directory = PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount");
    // As in Kubernetes' own client, the default authorities are trusted if this file does not
    // exist.
    let authorities = read_text(&directory.join("ca.crt"), MAX_SMALL_FILE_LEN).ok();
    Ok(ClusterAccess {
        server: Some(format!("https://{host}:{port}")),
        authorities,
        token_file: Some(directory.join("token")),
        ..ClusterAccess::default()
    })
}

/// Returns the settings for cluster access in the files. A missing file is ignored.
fn access_from_kubeconfig(arguments: &BackendArguments<'_>) -> Result<ClusterAccess, ConfigError> {
    let configured_paths = arguments.value("config_paths").map(strings_of_list);
    // As in Terraform, a single path takes precedence over all lists.
    let paths = match argument_or_variable(arguments, "config_path", "KUBE_CONFIG_PATH") {
        Some(path) => vec![path],
        None => configured_paths.unwrap_or_else(|| {
            let paths = arguments.read_env_variable("KUBE_CONFIG_PATHS").unwrap_or_default();
            paths.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect()
        }),
    };
    let mut config = Kubeconfig::default();
    for path in paths {
        let home = arguments.read_env_variable("HOME").unwrap_or_default();
        let path = path
            .strip_prefix("~/")
            .map_or(path.clone(), |relative_path| format!("{home}/{relative_path}"));
        if let Some(file_config) = Kubeconfig::read(&arguments.working_directory().join(path))? {
            config.merge(file_config);
        }
    }
    let selection = ContextSelection {
        context: argument_or_variable(arguments, "config_context", "KUBE_CTX"),
        cluster: argument_or_variable(arguments, "config_context_cluster", "KUBE_CTX_CLUSTER"),
        user: argument_or_variable(arguments, "config_context_auth_info", "KUBE_CTX_AUTH_INFO"),
    };
    let mut access = config.select_access(&selection)?;
    if let Some(exec) = read_exec_argument(arguments) {
        access.exec = Some(exec);
    }
    if access.server.as_ref().is_some_and(|server| server.starts_with("http://")) {
        // As in Terraform, credentials from files and programs are sent over TLS only.
        let ClusterAccess { server, proxy, .. } = access;
        access = ClusterAccess { server, proxy, ..ClusterAccess::default() };
    }
    if let Some(proxy) = argument_or_variable(arguments, "proxy_url", "KUBE_PROXY_URL") {
        access.proxy = Some(proxy);
    }
    Ok(access)
}

fn read_exec_argument(arguments: &BackendArguments<'_>) -> Option<ExecEntry> {
    let Value::Object(exec) = arguments.value("exec")? else { return None };
    let value = |name: &str| exec.get(name).filter(|value| !value.is_null());
    let env = value("env").map(strings_of_map).unwrap_or_default().into_iter();
    Some(ExecEntry {
        api_version: value("api_version").map(string_or_empty).unwrap_or_default(),
        command: value("command").map(string_or_empty).unwrap_or_default(),
        args: value("args").map(strings_of_list),
        env: Some(env.map(|(name, value)| ExecVariable { name, value }).collect()),
    })
}
