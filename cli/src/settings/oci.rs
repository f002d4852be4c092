//! Credentials for OCI registries in the CLI configuration: OpenTofu's blocks `oci_credentials` and
//! `oci_default_credentials`. This module reads no credentials files.

use std::path::{Path, PathBuf};

use super::expand_variables;
use super::oci_repository::read_prefix;
use super::parse_items::{ResultWithLine, SettingsItem, SettingsValue};
use crate::env::Env;

/// The settings for credentials of OCI registries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OciSettings {
    /// The `oci_credentials` blocks, in order.
    pub(crate) credentials: Vec<OciCredentials>,
    /// The `oci_default_credentials` block.
    pub(crate) defaults: Option<OciDefaults>,
}

/// Credentials for the repositories whose addresses begin with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OciCredentials {
    /// The domain of a registry, with an optional path.
    pub(crate) prefix: String,
    pub(crate) login: OciLogin,
}

/// The credentials for a registry, or their source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OciLogin {
    /// A user name and a password.
    Password { username: String, password: String },
    /// An access token, or a refresh token.
    Tokens { access: Option<String>, refresh: String },
    /// The name of a Docker-style credential helper.
    Helper(String),
}

/// The sources of credentials for repositories without an `oci_credentials` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OciDefaults {
    /// Whether credentials files are read.
    pub(crate) discovers: bool,
    /// The files to read. `None` for the files of container tools.
    pub(crate) files: Option<Vec<PathBuf>>,
    /// The name of a credential helper for all registries.
    pub(crate) helper: Option<String>,
}

impl OciSettings {
    /// Adds the settings of another file. Relative paths in it start from its directory, `directory`.
    ///
    /// # Errors
    /// Both files contain credentials for the same repositories, or both contain defaults.
    pub(super) fn merge(&mut self, other: Self, directory: &Path) -> Result<(), String> {
        for credentials in other.credentials {
            self.add(credentials)?;
        }
        if let Some(mut defaults) = other.defaults {
            for file in defaults.files.iter_mut().flatten() {
                let path = directory.join(&*file);
                *file = std::path::absolute(&path).unwrap_or(path);
            }
            self.set_defaults(defaults)?;
        }
        Ok(())
    }

    fn add(&mut self, credentials: OciCredentials) -> Result<(), String> {
        if self.credentials.iter().any(|existing| existing.prefix == credentials.prefix) {
            return Err(format!(
                "only one oci_credentials block is allowed for {:?}",
                credentials.prefix
            ));
        }
        self.credentials.push(credentials);
        Ok(())
    }

    fn set_defaults(&mut self, defaults: OciDefaults) -> Result<(), String> {
        if self.defaults.is_some() {
            return Err("only one oci_default_credentials block is allowed".to_owned());
        }
        self.defaults = Some(defaults);
        Ok(())
    }

    /// Reads an `oci_credentials` block.
    pub(super) fn read_credentials_block(
        &mut self,
        label: &str,
        items: Vec<SettingsItem>,
        line: usize,
    ) -> ResultWithLine<()> {
        let error_at_line = |reason: String| (line, reason);
        let prefix = read_prefix(label).map_err(|reason| {
            error_at_line(format!("the label of oci_credentials is invalid: {reason}"))
        })?;
        let block = format!("the oci_credentials block for {prefix:?}");
        let mut values: [Option<String>; 5] = Default::default();
        for item in items {
            let (name, value, line) = read_argument(item)?;
            let index = ARGUMENT_NAMES.iter().position(|argument| *argument == name);
            match (index, value) {
                (Some(index), SettingsValue::Text(text)) => values[index] = Some(text),
                (Some(_), _) => return Err((line, format!("{name} must be a string"))),
                (None, _) => return Err(unexpected_argument(&name, line)),
            }
        }
        let login = read_login(values, &block).map_err(error_at_line)?;
        if matches!(login, OciLogin::Helper(_)) && prefix.contains('/') {
            return Err(error_at_line(format!(
                "{block} cannot use docker_credentials_helper for a path: credential helpers support only whole registries"
            )));
        }
        self.add(OciCredentials { prefix, login }).map_err(error_at_line)
    }

    /// Reads the `oci_default_credentials` block.
    pub(super) fn read_defaults(
        &mut self,
        items: Vec<SettingsItem>,
        line: usize,
        env: &Env,
    ) -> ResultWithLine<()> {
        let mut defaults = OciDefaults { discovers: true, files: None, helper: None };
        for item in items {
            let (name, value, line) = read_argument(item)?;
            match (name.as_str(), value) {
                ("discover_ambient_credentials", SettingsValue::Text(text)) => {
                    defaults.discovers = text.parse().map_err(|_| {
                        (line, "discover_ambient_credentials must be true or false".to_owned())
                    })?;
                }
                ("docker_style_config_files", SettingsValue::List(files)) => {
                    let files = files.iter().map(|file| expand_variables(file, env)).collect();
                    defaults.files = Some(files);
                }
                ("docker_credentials_helper", SettingsValue::Text(name)) => {
                    defaults.helper =
                        Some(check_helper_name(name).map_err(|reason| (line, reason))?);
                }
                (name, _) => return Err(unexpected_argument(name, line)),
            }
        }
        if !defaults.discovers && defaults.files.is_some() {
            let reason = "oci_default_credentials sets docker_style_config_files, but discover_ambient_credentials = false disables them; remove one of the two";
            return Err((line, reason.to_owned()));
        }
        self.set_defaults(defaults).map_err(|reason| (line, reason))
    }
}

/// The arguments of an `oci_credentials` block.
const ARGUMENT_NAMES: [&str; 5] =
    ["username", "password", "access_token", "refresh_token", "docker_credentials_helper"];

/// Converts the values of the arguments, in the order of [`ARGUMENT_NAMES`], to credentials.
fn read_login(values: [Option<String>; 5], block: &str) -> Result<OciLogin, String> {
    match values {
        [Some(username), Some(password), None, None, None] => {
            Ok(OciLogin::Password { username, password })
        }
        [None, None, Some(access), Some(refresh), None] => {
            let access = Some(access).filter(|access| !access.is_empty());
            Ok(OciLogin::Tokens { access, refresh })
        }
        [None, None, None, None, Some(name)] => check_helper_name(name).map(OciLogin::Helper),
        _ => Err(format!(
            "{block} must set either username and password, or access_token and refresh_token, or docker_credentials_helper, and nothing else"
        )),
    }
}

/// Checks the name of a credential helper, which becomes part of a program name.
fn check_helper_name(name: String) -> Result<String, String> {
    if name.is_empty() || name.contains(['/', '\\', '\0']) {
        return Err(format!(
            "{name:?} is not the name of a credential helper; write NAME for the program docker-credential-NAME"
        ));
    }
    Ok(name)
}

fn read_argument(item: SettingsItem) -> ResultWithLine<(String, SettingsValue, usize)> {
    match item {
        SettingsItem::Value(name, value, line) => Ok((name, value, line)),
        SettingsItem::Block(name, _, line) | SettingsItem::Labelled(name, _, _, line) => {
            Err(unexpected_argument(&name, line))
        }
    }
}

fn unexpected_argument(name: &str, line: usize) -> (usize, String) {
    (line, format!("{name} is not expected here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::parse_settings;

    fn read(text: &str) -> Result<OciSettings, (usize, String)> {
        parse_settings(text, &Env::default()).map(|settings| settings.oci)
    }

    #[test]
    fn credentials_are_one_of_three_kinds() {
        let settings = read(
            "oci_credentials \"a.example\" {\n username = \"u\"\n password = \"p\"\n}\n\
             oci_credentials \"a.example/x\" {\n access_token = \"a\"\n refresh_token = \"r\"\n}\n\
             oci_credentials \"b.example:1\" {\n docker_credentials_helper = \"pass\"\n}\n\
             oci_default_credentials {\n docker_style_config_files = [\"auth.json\", \"/b\"]\n docker_credentials_helper = \"h\"\n}\n",
        )
        .unwrap();
        let prefixes: Vec<&str> =
            settings.credentials.iter().map(|credentials| credentials.prefix.as_str()).collect();
        assert_eq!(prefixes, ["a.example", "a.example/x", "b.example:1"]);
        let helper = OciLogin::Helper("pass".to_owned());
        assert_eq!(settings.credentials[2].login, helper);
        let mut merged = OciSettings::default();
        merged.merge(settings.clone(), Path::new("/rc")).unwrap();
        let files = vec![PathBuf::from("/rc/auth.json"), PathBuf::from("/b")];
        assert_eq!(merged.defaults.as_ref().unwrap().files, Some(files));
        let conflict = merged.merge(settings, Path::new("/rc")).unwrap_err();
        assert!(
            conflict.contains("only one oci_credentials block is allowed for \"a.example\""),
            "{conflict}"
        );
    }

    #[test]
    fn incomplete_credentials_and_wrong_names_are_refused_with_their_line() {
        let block = |label: &str, body: &str| format!("\noci_credentials \"{label}\" {{ {body} }}");
        let defaults = |body: &str| format!("\noci_default_credentials {{ {body} }}");
        let table = [
            (block("h.example", ""), "must set either username and password"),
            (block("h.example", "username = \"u\""), "must set either username and password"),
            (block("h.example", "access_token = \"u\""), "must set either"),
            (
                block(
                    "h.example",
                    "username = \"u\", password = \"p\", docker_credentials_helper = \"x\"",
                ),
                "and nothing else",
            ),
            (block("h.example", "token = \"u\""), "token is not expected here"),
            (block("h.example", "username = []"), "username must be a string"),
            (block("h example", "docker_credentials_helper = \"x\""), "is not the domain"),
            (block("h.example/A", "docker_credentials_helper = \"x\""), "is not the name of"),
            (
                block("h.example/a", "docker_credentials_helper = \"x\""),
                "support only whole registries",
            ),
            (block("h.example", "docker_credentials_helper = \"../x\""), "docker-credential-NAME"),
            (defaults("discover_ambient_credentials = maybe"), "must be true or false"),
            (
                defaults("discover_ambient_credentials = false, docker_style_config_files = []"),
                "remove one of the two",
            ),
            (defaults("other = 1"), "other is not expected here"),
        ];
        for (text, reason) in table {
            let (line, error) = read(&text).unwrap_err();
            assert!(line == 2 && error.contains(reason), "{text}: {line}: {error}");
        }
        let body = "docker_credentials_helper = \"x\"";
        let same = format!("{}{}", block("h.example", body), block("H.Example", body));
        let (line, error) = read(&same).unwrap_err();
        assert!(line == 3 && error.contains("only one oci_credentials block"), "{line}: {error}");
        let duplicate = format!("{}{}", defaults(""), defaults(""));
        assert_eq!(read(&duplicate).unwrap_err().0, 3);
    }
}
