//! Profiles in the AWS configuration and credentials files. A profile contains keys, or specifies
//! their source.

use std::collections::BTreeMap;

use ini::{Ini, ParseOption};
use reqsign_aws_v4::Credential;
use reqsign_core::{Context, Error, Result};

use super::sts::RoleToAssume;

/// The paths of the files. The default is the usual paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProfilePaths {
    /// The configuration files.
    pub(crate) config: Vec<String>,
    /// The credentials files.
    pub(crate) credentials: Vec<String>,
}

/// The profiles of all files.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    profiles: BTreeMap<String, ProfileProperties>,
    /// The sessions of the IAM Identity Center.
    sessions: BTreeMap<String, ProfileProperties>,
}

type ProfileProperties = BTreeMap<String, String>;

/// The source of a profile's credentials.
#[derive(Debug)]
pub(crate) enum CredentialOrigin {
    /// Keys in the file.
    Keys(Credential),
    /// A role that the credentials of another source may assume.
    Role(Box<Self>, RoleToAssume),
    /// A role that a web identity token in a file permits to assume.
    WebIdentity(RoleToAssume, String),
    /// The IAM Identity Center.
    Sso(SsoRole),
    /// The environment variables.
    Environment,
    /// The container that this process runs in.
    Container,
    /// The machine that this process runs on.
    Machine,
}

/// A role at the IAM Identity Center.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SsoRole {
    /// The account.
    pub(crate) account: String,
    /// The role.
    pub(crate) role: String,
    /// The region of the service.
    pub(crate) region: String,
    /// The name under which `aws sso login` stores the token.
    pub(crate) token: String,
}

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProfileFileKind {
    Config,
    Credentials,
}

impl Profiles {
    /// Reads the files. A missing file counts as empty. A later file overrides an earlier one, and
    /// credentials files override configuration files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be parsed.
    pub(crate) async fn read(context: &Context, files: &ProfilePaths) -> Result<Self> {
        let mut profiles = Self::default();
        let config = files.config.iter().map(|path| (path, ProfileFileKind::Config));
        let credentials = files.credentials.iter().map(|path| (path, ProfileFileKind::Credentials));
        // In this order, so that keys in a credentials file replace those in a configuration file.
        for (path, kind) in config.chain(credentials) {
            let Some(path) = context.expand_home_dir(path) else { continue };
            // The default files need not exist.
            let Ok(text) = context.file_read_as_string(&path).await else { continue };
            profiles.add_file(&text, kind).map_err(|reason| {
                Error::config_invalid(format!("{path} cannot be read: {reason}"))
            })?;
        }
        Ok(profiles)
    }

    fn add_file(
        &mut self,
        text: &str,
        kind: ProfileFileKind,
    ) -> std::result::Result<(), ini::ParseError> {
        // The AWS file format has neither quotes nor escapes: a backslash in a path is literal.
        let options =
            ParseOption { enabled_quote: false, enabled_escape: false, ..ParseOption::default() };
        let file = Ini::load_from_str_opt(text, options)?;
        for (section, properties) in &file {
            // Lines before the first section belong to no profile.
            let Some(section) = section.map(str::trim) else { continue };
            let name_after = |prefix: &str| {
                let rest = section.strip_prefix(prefix)?;
                rest.starts_with(char::is_whitespace).then(|| rest.trim().to_owned())
            };
            let (list, name) = match (kind, name_after("profile"), name_after("sso-session")) {
                (ProfileFileKind::Config, Some(name), _) => (&mut self.profiles, name),
                (ProfileFileKind::Config, None, Some(name)) => (&mut self.sessions, name),
                // In a configuration file, only the default profile is written without the word
                // `profile`.
                (ProfileFileKind::Config, None, None) if section != "default" => continue,
                _ => (&mut self.profiles, section.to_owned()),
            };
            let entry = list.entry(name).or_default();
            for (name, value) in properties.iter() {
                // The AWS SDKs ignore the case of names here.
                entry.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
            }
        }
        Ok(())
    }

    /// Whether a profile with this name exists.
    pub(crate) fn has_profile(&self, name: &str) -> bool {
        self.profiles.contains_key(name)
    }

    /// Returns the source of a profile's credentials, or `None` if the profile specifies none.
    ///
    /// # Errors
    /// Returns an error if a referenced profile does not exist, or is incomplete.
    pub(crate) fn credential_origin(&self, name: &str) -> Result<Option<CredentialOrigin>> {
        self.resolve_origin(name, &mut Vec::new())
    }

    fn resolve_origin(
        &self,
        name: &str,
        chain: &mut Vec<String>,
    ) -> Result<Option<CredentialOrigin>> {
        let Some(profile) = self.profiles.get(name) else {
            return Err(Error::config_invalid(format!(
                "failed to get shared config profile, {name}"
            )));
        };
        // This check also ends a cycle of `source_profile`, which would otherwise recurse until the
        // stack overflows.
        let is_cycle = chain.iter().any(|visited| visited == name);
        chain.push(name.to_owned());
        let get = |key: &str| profile.get(key).filter(|value| !value.is_empty()).cloned();
        // A profile that names itself as the source has the keys with which the role is assumed.
        if let (Some(arn), false) = (get("role_arn"), is_cycle) {
            let role = read_role(arn, &get)?;
            if let Some(source) = get("source_profile") {
                let origin = self.resolve_origin(&source, chain)?.ok_or_else(|| {
                    Error::config_invalid(format!("profile {source:?} has no credentials"))
                })?;
                return Ok(Some(CredentialOrigin::Role(Box::new(origin), role)));
            }
            if let Some(source) = get("credential_source") {
                let origin = origin_of_credential_source(name, &source)?;
                return Ok(Some(CredentialOrigin::Role(Box::new(origin), role)));
            }
            if let Some(path) = get("web_identity_token_file") {
                return Ok(Some(CredentialOrigin::WebIdentity(role, path)));
            }
            return Err(Error::config_invalid(format!(
                "profile {name:?} has role_arn, but neither source_profile, credential_source nor web_identity_token_file"
            )));
        }
        if let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key")) {
            return Ok(Some(CredentialOrigin::Keys(Credential {
                access_key_id: id,
                secret_access_key: secret,
                session_token: get("aws_session_token"),
                expires_in: None,
            })));
        }
        if get("sso_account_id").is_some() || get("sso_session").is_some() {
            return self.read_sso_role(name, &get).map(|sso| Some(CredentialOrigin::Sso(sso)));
        }
        if get("credential_process").is_some() {
            return Err(Error::config_invalid(format!(
                "profile {name:?} has credential_process, which is not supported: run `aws configure export-credentials --profile {name} --format env` and set the variables that it prints"
            )));
        }
        Ok(None)
    }

    fn read_sso_role(&self, name: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<SsoRole> {
        let session = get("sso_session");
        let session_value = |key: &str| {
            let properties = self.sessions.get(session.as_deref()?)?;
            properties.get(key).cloned()
        };
        // Profiles of AWS CLI 1 contain the URL and region themselves. Later versions share them in
        // a session.
        let required = |key: &str| {
            get(key).or_else(|| session_value(key)).ok_or_else(|| {
                Error::config_invalid(format!("profile {name:?} has no {key}, which SSO requires"))
            })
        };
        let url = required("sso_start_url")?;
        Ok(SsoRole {
            account: required("sso_account_id")?,
            role: required("sso_role_name")?,
            region: required("sso_region")?,
            // The AWS CLI names the token file after the session, or otherwise after the URL.
            token: session.unwrap_or(url),
        })
    }
}

/// Returns the role of a profile.
fn origin_of_credential_source(profile: &str, source: &str) -> Result<CredentialOrigin> {
    match source {
        "Environment" => Ok(CredentialOrigin::Environment),
        "EcsContainer" => Ok(CredentialOrigin::Container),
        "Ec2InstanceMetadata" => Ok(CredentialOrigin::Machine),
        _ => Err(Error::config_invalid(format!(
            "profile {profile:?} has credential_source {source:?}, which is not Environment, EcsContainer or Ec2InstanceMetadata"
        ))),
    }
}

fn read_role(arn: String, get: &dyn Fn(&str) -> Option<String>) -> Result<RoleToAssume> {
    // A run cannot prompt for the code: it may have no terminal, and a code can be used only once.
    if get("mfa_serial").is_some() {
        return Err(Error::config_invalid(format!(
            "the role {arn} requires a code from an MFA device (mfa_serial): set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN to those of a session that was created with one"
        )));
    }
    Ok(RoleToAssume {
        arn,
        duration: get("duration_seconds").and_then(|seconds| seconds.parse().ok()),
        external_id: get("external_id"),
        session_name: get("role_session_name"),
        ..RoleToAssume::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG_FILE: &str = "[default]\nregion = eu-west-1\n\n[profile ci]\nrole_arn = arn:aws:iam::1:role/ci\nsource_profile = base\nexternal_id = x\ns3 =\n  max_concurrent_requests = 20\n\n[profile self]\nrole_arn = arn:aws:iam::1:role/self\nsource_profile = self\naws_access_key_id = A\naws_secret_access_key = S\n\n[profile loop]\nrole_arn = r\nsource_profile = noend\n[profile noend]\nrole_arn = r\nsource_profile = loop\n\n[sso-session corp]\nsso_start_url = https://corp\nsso_region = eu-west-1\n[profile sso]\nsso_session = corp\nsso_account_id = 1\nsso_role_name = r\n\n[profile program]\ncredential_process = /bin/x\n";
    const CREDENTIALS_FILE: &str =
        "# keys\n[base]\naws_access_key_id = AKIA\naws_secret_access_key = a\\b+c/d#e\n";

    fn parse_test_profiles() -> Profiles {
        let mut profiles = Profiles::default();
        profiles.add_file(CONFIG_FILE, ProfileFileKind::Config).unwrap();
        profiles.add_file(CREDENTIALS_FILE, ProfileFileKind::Credentials).unwrap();
        profiles
    }

    #[test]
    fn a_role_is_assumed_with_the_keys_of_its_source_profile() {
        let Some(CredentialOrigin::Role(source, role)) =
            parse_test_profiles().credential_origin("ci").unwrap()
        else {
            panic!("a role");
        };
        assert_eq!(
            (role.arn.as_str(), role.external_id.as_deref()),
            ("arn:aws:iam::1:role/ci", Some("x"))
        );
        let CredentialOrigin::Keys(keys) = *source else { panic!("keys") };
        assert_eq!(
            (keys.access_key_id.as_str(), keys.secret_access_key.as_str()),
            ("AKIA", "a\\b+c/d#e")
        );
        // A profile may name itself as the source. In this case its own keys are used.
        let Some(CredentialOrigin::Role(source, _)) =
            parse_test_profiles().credential_origin("self").unwrap()
        else {
            panic!("a role");
        };
        assert!(matches!(*source, CredentialOrigin::Keys(_)));
    }

    #[test]
    fn a_session_of_the_identity_center_completes_its_profile() {
        let Some(CredentialOrigin::Sso(sso)) =
            parse_test_profiles().credential_origin("sso").unwrap()
        else {
            panic!("sso")
        };
        assert_eq!((sso.region.as_str(), sso.token.as_str()), ("eu-west-1", "corp"));
    }

    #[test]
    fn profiles_without_credentials_are_refused() {
        let refusal =
            |name: &str| parse_test_profiles().credential_origin(name).unwrap_err().to_string();
        assert!(refusal("missing").contains("failed to get shared config profile, missing"));
        assert!(refusal("loop").contains("loop"), "{}", refusal("loop"));
        assert!(refusal("program").contains("export-credentials --profile program"));
        assert!(parse_test_profiles().credential_origin("default").unwrap().is_none());
    }
}
