//! All environment variables that the program reads. Only this file reads the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use formwork_plugin_protocol::proxy_env::ProxyEnv;
use formwork_provisioners::ProvisionerEnvironment;

use crate::normalize::parse_boolean;

/// The variable with the maximum size of a module, in mebibytes.
pub(crate) const MODULE_SIZE_VARIABLE: &str = "FORMWORK_MODULE_SIZE";

/// The environment variables that Formwork uses, read once at the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    /// `TF_DATA_DIR`: data directory to use instead of `.terraform`.
    pub(crate) data_dir: Option<PathBuf>,
    /// `TF_WORKSPACE`: the workspace, instead of the selected one.
    pub(crate) workspace: Option<String>,
    /// `TF_ENCRYPTION`: the encryption of states and plans, merged over the encryption of the configuration.
    pub(crate) encryption: Option<String>,
    /// `TF_INPUT`: whether prompts are allowed; a false value disables them.
    pub(crate) input: bool,
    /// `TF_IN_AUTOMATION`: omit hints about the next command.
    pub(crate) in_automation: bool,
    /// `TF_CLI_CONFIG_FILE`, or the older `TERRAFORM_CONFIG`: the CLI configuration file to read instead of
    /// the default ones.
    pub(crate) cli_config_file: Option<PathBuf>,
    /// `TF_PLUGIN_CACHE_DIR`: directory of unpacked providers, shared between projects.
    pub(crate) plugin_cache_dir: Option<PathBuf>,
    /// `TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE`.
    pub(crate) cache_may_break_lock: bool,
    /// `TF_REATTACH_PROVIDERS`: running providers, for debugging.
    pub(crate) reattach: Option<String>,
    /// `TF_DISABLE_PLUGIN_TLS`: communicate with plugins without TLS.
    pub(crate) plugin_tls: bool,
    /// `FORMWORK_PLUGIN_CONNECTIONS`: maximum number of connections that the calls to one plugin
    /// share.
    pub(crate) plugin_connections: Option<usize>,
    /// `FORMWORK_PLUGIN_PROCESSES`: maximum number of concurrent plugin processes.
    pub(crate) plugin_processes: Option<usize>,
    /// `FORMWORK_PLUGIN_START_TIMEOUT`: maximum time for a plugin to start, in seconds.
    pub(crate) plugin_start_timeout: Option<Duration>,
    /// `FORMWORK_PLUGIN_PATIENCE`: time in seconds without a response after which a pending plugin call is
    /// reported.
    pub(crate) plugin_reminder_delay: Option<Duration>,
    /// `FORMWORK_PLUGIN_DEADLINES`: maximum time of calls, by kind.
    pub(crate) plugin_deadlines: Option<String>,
    /// `FORMWORK_PLUGIN_MEMORY`: writable memory limit of each plugin, in mebibytes; here in bytes.
    pub(crate) plugin_memory: Option<u64>,
    /// `FORMWORK_PLUGIN_FILES`: maximum number of open files and connections of each plugin.
    pub(crate) plugin_files: Option<u64>,
    /// The variables that are withheld from plugins, by `FORMWORK_PLUGIN_ENV`.
    pub(crate) plugin_withheld: Vec<OsString>,
    /// `TF_LOG`: log level.
    pub(crate) log: Option<String>,
    /// `TF_LOG_CORE`: log level for this program, without `TF_LOG`.
    pub(crate) log_core: Option<String>,
    /// `TF_LOG_PROVIDER`: log level for providers.
    pub(crate) log_provider: Option<String>,
    /// `TF_LOG_PATH`: file for the log instead of stderr.
    pub(crate) log_path: Option<PathBuf>,
    /// `TF_REGISTRY_DISCOVERY_RETRY`: number of retries for a registry that does not respond.
    pub(crate) registry_retries: Option<u32>,
    /// `TF_REGISTRY_CLIENT_TIMEOUT`: timeout for responses of a registry, in seconds.
    pub(crate) registry_timeout: Option<Duration>,
    /// `FORMWORK_MODULE_SIZE`: the maximum size of a module, in bytes.
    pub(crate) module_size: Option<u64>,
    /// `NO_COLOR` or `-no-color`: no colour on any terminal.
    pub(crate) no_color: bool,
    /// Whether the terminal does not support control sequences, or `TERM` is not set.
    pub(crate) dumb_terminal: bool,
    /// `-compact-warnings`: each warning is one line, if there is no error.
    pub(crate) compact_warnings: bool,
    /// The directory in which the program was started, even with `-chdir`: `path.cwd`.
    pub(crate) cwd: String,
    /// `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// `FORMWORK_PLAN_KEY`: the secret that seals saved plans, instead of the user's own.
    pub(crate) plan_key: Option<String>,
    /// The file with the user's secret that seals saved plans.
    pub(crate) plan_key_file: Option<PathBuf>,
    /// `SSH_AUTH_SOCK`: the socket of the SSH agent.
    pub(crate) ssh_agent: Option<PathBuf>,
    /// `XDG_DATA_HOME` and `XDG_DATA_DIRS`, in order.
    pub(crate) data_homes: Vec<PathBuf>,
    /// `TF_VAR_NAME`: variable values.
    pub(crate) variables: BTreeMap<String, String>,
    /// `TF_CLI_ARGS` and `TF_CLI_ARGS_COMMAND`: arguments that precede the given ones, by command. The empty
    /// command applies to all.
    pub(crate) arguments: BTreeMap<String, String>,
    /// Names of the included providers, which this program serves when it is started under their names.
    pub(crate) bundled: &'static [&'static str],
    /// `COMP_LINE`: the line that the shell completes.
    pub(crate) comp_line: Option<String>,
    /// `COMP_POINT`: the number of characters before the cursor in that line.
    pub(crate) comp_point: Option<usize>,
    /// `COMP_TYPE`: set only by bash.
    pub(crate) is_bash: bool,
    /// `FORMWORK_SIGNING_PASSPHRASE`: the passphrase of the key that signs provider releases.
    pub(crate) signing_passphrase: Option<String>,
    /// `XDG_CACHE_HOME`, or the user's `.cache` directory.
    pub(crate) cache_home: Option<PathBuf>,
    /// The whole environment, for paths in the CLI configuration file that reference variables.
    pub(crate) environment: BTreeMap<String, String>,
    /// The name of a variable of Terraform or Formwork whose value would be ignored, because it is not
    /// Unicode.
    pub(crate) unreadable: Option<String>,
}

/// The first variable whose value would be ignored.
fn find_unreadable_variable(variables: &BTreeMap<OsString, OsString>) -> Option<String> {
    variables.iter().find_map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        (value.to_str().is_none() && must_be_unicode(&name)).then_some(name)
    })
}

/// Whether a variable of Terraform or Formwork has a value that must be Unicode: it is not a path.
fn must_be_unicode(name: &str) -> bool {
    let is_path = ["_DIR", "_FILE", "_PATH", "_CONFIG"].iter().any(|end| name.ends_with(end));
    name.starts_with("TF_VAR_")
        || ((name.starts_with("TF_") || name.starts_with("FORMWORK_")) && !is_path)
}

/// The current directory.
pub(crate) fn current_dir() -> String {
    std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned()
}

impl Env {
    /// Sets the included providers.
    pub(crate) fn with_bundled_providers(self, bundled: &'static [&'static str]) -> Self {
        Self { bundled, ..self }
    }

    /// Reads the environment.
    #[expect(clippy::disallowed_methods, reason = "the only file that reads the environment")]
    pub(crate) fn read() -> Self {
        Self::from_variables(&std::env::vars_os().collect())
    }

    /// Reads the variables. Each is read as Terraform reads it: some are enabled by any value, some by any
    /// value except zero, some by a true value.
    fn from_variables(variables: &BTreeMap<OsString, OsString>) -> Self {
        let value = |name: &str| variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
        let text = |name: &str| value(name).and_then(|value| value.to_str()).map(str::to_owned);
        let path = |name: &str| value(name).map(PathBuf::from);
        let seconds = |name: &str| text(name)?.parse().ok().map(Duration::from_secs);
        let unicode = |(name, value): (&OsString, &OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        let environment: BTreeMap<String, String> = variables.iter().filter_map(unicode).collect();
        let prefixed = |prefix: &str| {
            let with = environment.iter().filter_map(|(name, value)| {
                Some((name.strip_prefix(prefix)?.to_owned(), value.clone()))
            });
            with.collect::<BTreeMap<_, _>>()
        };
        let mut arguments: BTreeMap<_, _> = prefixed("TF_CLI_ARGS_");
        arguments.extend(text("TF_CLI_ARGS").map(|value| (String::new(), value)));
        let data_dirs =
            text("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
        let home = path("HOME");
        let data_home =
            path("XDG_DATA_HOME").or_else(|| home.as_ref().map(|home| home.join(".local/share")));
        let plan_key_file = data_home.as_ref().map(|home| home.join("formwork/plan-key"));
        let cache_home = path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let cache_home = cache_home.or_else(|| home.as_ref().map(|home| home.join(".cache")));
        Self {
            data_dir: path("TF_DATA_DIR"),
            workspace: text("TF_WORKSPACE"),
            encryption: text("TF_ENCRYPTION"),
            input: text("TF_INPUT").and_then(|text| parse_boolean(&text)) != Some(false),
            in_automation: value("TF_IN_AUTOMATION").is_some(),
            cli_config_file: path("TF_CLI_CONFIG_FILE").or_else(|| path("TERRAFORM_CONFIG")),
            plugin_cache_dir: path("TF_PLUGIN_CACHE_DIR"),
            cache_may_break_lock: value("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE")
                .is_some_and(|value| value != "0"),
            reattach: text("TF_REATTACH_PROVIDERS"),
            plugin_tls: value("TF_DISABLE_PLUGIN_TLS").is_none(),
            plugin_connections: text("FORMWORK_PLUGIN_CONNECTIONS").and_then(|n| n.parse().ok()),
            plugin_processes: text("FORMWORK_PLUGIN_PROCESSES").and_then(|n| n.parse().ok()),
            plugin_start_timeout: seconds("FORMWORK_PLUGIN_START_TIMEOUT"),
            plugin_reminder_delay: seconds("FORMWORK_PLUGIN_PATIENCE"),
            plugin_deadlines: text("FORMWORK_PLUGIN_DEADLINES"),
            plugin_memory: text("FORMWORK_PLUGIN_MEMORY")
                .and_then(|n| n.parse::<u64>().ok()?.checked_mul(1 << 20)),
            plugin_files: text("FORMWORK_PLUGIN_FILES").and_then(|n| n.parse().ok()),
            plugin_withheld: withheld_variables(
                text("FORMWORK_PLUGIN_ENV").as_deref(),
                variables.keys().map(OsString::as_os_str),
            ),
            log: text("TF_LOG"),
            log_core: text("TF_LOG_CORE"),
            log_provider: text("TF_LOG_PROVIDER"),
            log_path: path("TF_LOG_PATH"),
            registry_retries: text("TF_REGISTRY_DISCOVERY_RETRY").and_then(|n| n.parse().ok()),
            registry_timeout: seconds("TF_REGISTRY_CLIENT_TIMEOUT"),
            module_size: text(MODULE_SIZE_VARIABLE)
                .and_then(|n| n.parse::<u64>().ok()?.checked_mul(1 << 20)),
            no_color: text("NO_COLOR").is_some(),
            dumb_terminal: text("TERM").is_none_or(|name| name == "dumb"),
            compact_warnings: false,
            data_homes: data_home
                .into_iter()
                .chain(data_dirs.split(':').filter(|dir| !dir.is_empty()).map(PathBuf::from))
                .collect(),
            cwd: current_dir(),
            home,
            plan_key: text("FORMWORK_PLAN_KEY"),
            plan_key_file,
            ssh_agent: path("SSH_AUTH_SOCK"),
            variables: prefixed("TF_VAR_"),
            arguments,
            bundled: &[],
            cache_home,
            signing_passphrase: text("FORMWORK_SIGNING_PASSPHRASE"),
            unreadable: find_unreadable_variable(variables),
            comp_line: text("COMP_LINE"),
            comp_point: text("COMP_POINT").and_then(|n| n.parse().ok()),
            is_bash: value("COMP_TYPE").is_some(),
            environment,
        }
    }

    /// The proxy settings.
    pub(crate) fn proxies(&self) -> ProxyEnv {
        ProxyEnv::read(|name| self.environment.get(name).cloned())
    }

    /// The parts that provisioners require.
    pub(crate) fn provisioner_environment(&self) -> ProvisionerEnvironment {
        ProvisionerEnvironment { agent: self.ssh_agent.clone(), home: self.home.clone() }
    }
}

/// Variables that only this program reads, and that may contain secrets: variable values, registry
/// credentials, arguments. A star matches anything.
const FORMWORK_ONLY_VARIABLES: [&str; 5] =
    ["FORMWORK_*", "TF_VAR_*", "TF_TOKEN_*", "TF_CLI_ARGS*", "TF_REATTACH_PROVIDERS"];

/// Variables that are passed to plugins only if they are listed, because they allow decrypting states.
const AGE_IDENTITY_VARIABLES: [&str; 1] = ["FORMWORK_AGE_IDENTITY*"];

/// Variables that any program may require: directories, locale, proxies, certificates, logs.
const BASIC_VARIABLES: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "TF_LOG*",
    "TF_APPEND_USER_AGENT",
    "TF_ACC*",
    "CHECKPOINT_DISABLE",
    "GODEBUG",
];

/// The variables that are withheld from plugins: by default Formwork's own, for `inherit` only identities,
/// and for a list of names all except the basic and the listed ones.
fn withheld_variables<'v>(
    setting: Option<&str>,
    names: impl Iterator<Item = &'v OsStr>,
) -> Vec<OsString> {
    let is_in = |name: &OsStr, patterns: &[&str]| {
        let name = name.to_string_lossy();
        patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        })
    };
    let listed: Vec<&str> =
        setting.into_iter().flat_map(|it| it.split(',')).map(str::trim).collect();
    let is_withheld = |name: &&OsStr| match setting {
        None => is_in(name, &FORMWORK_ONLY_VARIABLES),
        Some("inherit") => is_in(name, &AGE_IDENTITY_VARIABLES),
        Some(_) => !is_in(name, &BASIC_VARIABLES) && !is_in(name, &listed),
    };
    names.filter(is_withheld).map(OsStr::to_os_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formwork_variables_are_withheld_from_plugins() {
        let names = ["PATH", "AWS_PROFILE", "LC_ALL", "TF_VAR_secret", "TF_LOG", "FORMWORK_X"];
        let identities = ["FORMWORK_AGE_IDENTITY", "FORMWORK_AGE_IDENTITY_FILE"];
        let visible_names = |setting: Option<&str>| {
            let names_and_identities = names.iter().chain(&identities).map(OsStr::new);
            let withheld = withheld_variables(setting, names_and_identities);
            let all_names = names.iter().chain(&identities);
            let visible_names = all_names.filter(|name| !withheld.iter().any(|it| it == **name));
            visible_names.copied().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(visible_names(None), "PATH AWS_PROFILE LC_ALL TF_LOG");
        assert_eq!(visible_names(Some("inherit")), names.join(" "));
        assert_eq!(visible_names(Some("basic")), "PATH LC_ALL TF_LOG");
        assert_eq!(
            visible_names(Some("AWS_*, TF_VAR_secret")),
            "PATH AWS_PROFILE LC_ALL TF_VAR_secret TF_LOG"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_not_unicode_is_never_ignored() {
        use std::os::unix::ffi::OsStringExt as _;

        let unreadable = |name: &str| {
            let value = OsString::from_vec(b"\xe9".to_vec());
            Env::from_variables(&BTreeMap::from([(OsString::from(name), value)])).unreadable
        };
        for name in ["TF_WORKSPACE", "TF_VAR_a", "TF_VAR_state_path", "TF_CLI_ARGS_plan"] {
            assert_eq!(unreadable(name).as_deref(), Some(name));
        }
        // Paths need not be Unicode, and the variables of other programs are not checked.
        for name in ["TF_DATA_DIR", "TF_LOG_PATH", "TF_CLI_CONFIG_FILE", "LESSOPEN"] {
            assert_eq!(unreadable(name), None);
        }
    }

    #[test]
    fn variables_have_terraforms_meaning() {
        let read = |name: &str, value: &str| {
            let env = Env::from_variables(&[(name.into(), value.into())].into());
            match name {
                "TF_DISABLE_PLUGIN_TLS" => !env.plugin_tls,
                "TF_IN_AUTOMATION" => env.in_automation,
                "TF_INPUT" => env.input,
                _ => env.cache_may_break_lock,
            }
        };
        let cache = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE";
        for (name, values) in [
            ("TF_DISABLE_PLUGIN_TLS", [("", false), ("1", true), ("0", true), ("false", true)]),
            ("TF_IN_AUTOMATION", [("", false), ("1", true), ("0", true), ("false", true)]),
            (cache, [("", false), ("1", true), ("0", false), ("false", true)]),
            ("TF_INPUT", [("", true), ("nope", true), ("0", false), ("False", false)]),
        ] {
            for (value, expected) in values {
                assert_eq!(read(name, value), expected, "{name}={value}");
            }
        }
    }
}
