//! The chain of credential sources, in the order of Terraform: arguments, variables, profiles, the
//! container, the machine. Then the role that the credentials assume.

use reqsign_aws_v4::{
    Credential, ECSCredentialProvider, IMDSv2CredentialProvider, SSOCredentialProvider,
};
use reqsign_core::{Context, Error, ProvideCredential, Result};

use super::profile::{CredentialOrigin, ProfilePaths, Profiles, SsoRole};
use super::sts::{RoleToAssume, StsClient};

/// Settings of the credential chain.
#[derive(Clone, Debug)]
pub(crate) struct CredentialSettings {
    /// Keys that arguments set.
    pub(crate) keys: Option<Credential>,
    /// The profile that an argument sets.
    pub(crate) profile: Option<String>,
    /// The profile files.
    pub(crate) files: ProfilePaths,
    /// A role that a web identity token permits to assume.
    pub(crate) web_identity: Option<(RoleToAssume, WebIdentityToken)>,
    /// The role that the credentials assume.
    pub(crate) role: Option<RoleToAssume>,
    /// The STS service that issues the credentials of roles.
    pub(crate) sts: StsClient,
    /// A custom URL of the IAM Identity Center.
    pub(crate) sso_endpoint: Option<String>,
    /// A custom URL of the machine's metadata service.
    pub(crate) metadata_endpoint: Option<String>,
    /// Whether the metadata service is used. `None` leaves it to the environment.
    pub(crate) metadata: Option<bool>,
    /// Accounts that the credentials must, or must not, belong to.
    pub(crate) accounts: AllowedAccounts,
}

/// A token of another identity provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WebIdentityToken {
    /// The token itself.
    Value(String),
    /// The file that contains it.
    File(String),
}

/// The accounts that credentials may belong to.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedAccounts {
    /// The only allowed accounts, unless this is empty.
    pub(crate) allowed: Vec<String>,
    /// Excluded accounts.
    pub(crate) forbidden: Vec<String>,
}

/// The chain of credential sources.
#[derive(Debug)]
pub(crate) struct CredentialChain {
    settings: CredentialSettings,
    context: Context,
    /// For services of the container and the machine, which respond immediately or not at all.
    local_context: Context,
}

impl CredentialChain {
    /// Creates the chain. Sends no request yet.
    pub(crate) fn new(
        settings: CredentialSettings,
        context: Context,
        local_context: Context,
    ) -> Self {
        Self { settings, context, local_context }
    }

    /// The context of the chain.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    async fn find_base_credential(&self) -> Result<Credential> {
        let CredentialSettings { keys, profile, web_identity, .. } = &self.settings;
        if let Some(keys) = keys {
            return Ok(keys.clone());
        }
        if let Some((role, token)) = web_identity {
            return self.assume_with_token(role, token).await;
        }
        let profiles = Profiles::read(&self.context, &self.settings.files).await?;
        // A profile of the backend takes precedence over keys in the environment, as in the AWS SDK
        // for Go.
        if let Some(name) = profile {
            return match profiles.credential_origin(name)? {
                Some(origin) => self.credential_of_origin(origin).await,
                None => {
                    self.credential_from_container_or_machine(&format!(
                        "profile {name:?} has no credentials"
                    ))
                    .await
                }
            };
        }
        if let Some(keys) = self.credential_from_environment()? {
            return Ok(keys);
        }
        // EKS sets these two variables in the pods of a service account that has a role.
        let variable = |name: &str| self.context.env_var(name);
        if let (Some(file), Some(arn)) =
            (variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"))
        {
            let session_name = variable("AWS_ROLE_SESSION_NAME");
            let role = RoleToAssume { arn, session_name, ..RoleToAssume::default() };
            return self.assume_with_token(&role, &WebIdentityToken::File(file)).await;
        }
        let named = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let name = named.as_deref().unwrap_or("default");
        let origin = match &named {
            // Only the default profile may be missing. A profile that is specified has to exist.
            None if !profiles.has_profile(name) => None,
            _ => profiles.credential_origin(name)?,
        };
        match origin {
            Some(origin) => self.credential_of_origin(origin).await,
            None => {
                self.credential_from_container_or_machine(&format!(
                    "no profile {name:?} with credentials"
                ))
                .await
            }
        }
    }

    fn credential_from_environment(&self) -> Result<Option<Credential>> {
        let first_set = |names: [&str; 2]| names.iter().find_map(|name| self.context.env_var(name));
        // The AWS SDK for Go reads the second names, too.
        let id = first_set(["AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY"]);
        let secret = first_set(["AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY"]);
        match (id, secret) {
            (Some(access_key_id), Some(secret_access_key)) => Ok(Some(Credential {
                access_key_id,
                secret_access_key,
                session_token: self.context.env_var("AWS_SESSION_TOKEN"),
                expires_in: None,
            })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Error::config_invalid(
                "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not",
            )),
            (None, Some(_)) => Err(Error::config_invalid(
                "AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not",
            )),
        }
    }

    /// Returns the credentials of the container or the machine, for when no other source has any.
    async fn credential_from_container_or_machine(
        &self,
        profile_status: &str,
    ) -> Result<Credential> {
        // Variables announce these sources, so that a failure is an error. The metadata service may
        // be absent.
        if let Some(credential) = self.credential_from_container().await? {
            return Ok(credential);
        }
        let reason = match self.credential_from_instance_metadata().await {
            Ok(Some(credential)) => return Ok(credential),
            Ok(None) => "the metadata service of the machine is disabled".to_owned(),
            // The service is the last source and responds only on EC2, so its error is one reason
            // among others.
            Err(error) => {
                format!("no credentials from the metadata service of the machine ({error})")
            }
        };
        Err(Error::credential_invalid(format!(
            "no valid credential sources found: no access_key and secret_key in the backend, no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, {profile_status} in {}, no container credentials, {reason}",
            self.profile_file_names()
        )))
    }

    fn profile_file_names(&self) -> String {
        let ProfilePaths { config, credentials } = &self.settings.files;
        config.iter().chain(credentials).map(String::as_str).collect::<Vec<_>>().join(" and ")
    }

    async fn credential_from_container(&self) -> Result<Option<Credential>> {
        ECSCredentialProvider::new().provide_credential(&self.local_context).await
    }

    async fn credential_from_instance_metadata(&self) -> Result<Option<Credential>> {
        let disabled = self.context.env_var("AWS_EC2_METADATA_DISABLED");
        let disabled = disabled.is_some_and(|text| text.eq_ignore_ascii_case("true"));
        if !self.settings.metadata.unwrap_or(!disabled) {
            return Ok(None);
        }
        let mut provider = IMDSv2CredentialProvider::new();
        if let Some(endpoint) = &self.settings.metadata_endpoint {
            provider = provider.with_endpoint(endpoint.trim_end_matches('/'));
        }
        provider.provide_credential(&self.local_context).await
    }

    /// Returns the credentials of a profile. The roles of a chain are assumed one after the other.
    async fn credential_of_origin(&self, origin: CredentialOrigin) -> Result<Credential> {
        let mut roles = Vec::new();
        let mut base_origin = origin;
        while let CredentialOrigin::Role(source, role) = base_origin {
            roles.push(role);
            base_origin = *source;
        }
        let missing = |source_name: &str| {
            Error::credential_invalid(format!(
                "the profile specifies {source_name} as the source of its credentials, but it has none"
            ))
        };
        let mut credential = match base_origin {
            CredentialOrigin::Keys(keys) => keys,
            CredentialOrigin::WebIdentity(role, file) => {
                self.assume_with_token(&role, &WebIdentityToken::File(file)).await?
            }
            CredentialOrigin::Sso(sso) => self.credential_from_sso(&sso).await?,
            CredentialOrigin::Environment => {
                self.credential_from_environment()?.ok_or_else(|| missing("the environment"))?
            }
            CredentialOrigin::Container => {
                self.credential_from_container().await?.ok_or_else(|| missing("the container"))?
            }
            // The loop above has removed all roles.
            CredentialOrigin::Machine | CredentialOrigin::Role(..) => self
                .credential_from_instance_metadata()
                .await?
                .ok_or_else(|| missing("the machine"))?,
        };
        // Starting at the source: each role is assumed with the credentials of the previous one.
        for role in roles.iter().rev() {
            credential = self.settings.sts.assume_role(&self.context, role, &credential).await?;
        }
        Ok(credential)
    }

    async fn credential_from_sso(&self, sso: &SsoRole) -> Result<Credential> {
        let mut provider = SSOCredentialProvider::new()
            .with_account_id(&sso.account)
            .with_region(&sso.region)
            .with_role_name(&sso.role)
            .with_start_url(&sso.token);
        if let Some(endpoint) = &self.settings.sso_endpoint {
            let endpoint = endpoint.trim_end_matches('/');
            provider = provider.with_endpoint(format!("{endpoint}/federation/credentials"));
        }
        let credential = provider.provide_credential(&self.context).await?;
        credential.ok_or_else(|| {
            Error::credential_invalid(
                "there is no valid token of the IAM Identity Center: run `aws sso login`",
            )
        })
    }

    async fn assume_with_token(
        &self,
        role: &RoleToAssume,
        token: &WebIdentityToken,
    ) -> Result<Credential> {
        let text = match token {
            WebIdentityToken::Value(text) => text.clone(),
            WebIdentityToken::File(path) => {
                self.context.file_read_as_string(path).await.map_err(|error| {
                    Error::config_invalid(format!("the web identity token cannot be read: {error}"))
                })?
            }
        };
        self.settings.sts.assume_role_with_web_identity(&self.context, role, &text).await
    }

    async fn check_account(&self, credential: &Credential) -> Result<()> {
        let AllowedAccounts { allowed, forbidden } = &self.settings.accounts;
        if allowed.is_empty() && forbidden.is_empty() {
            return Ok(());
        }
        // This requires a call of STS, so it is made only if accounts are restricted.
        let account = self.settings.sts.caller_account(&self.context, credential).await?;
        if forbidden.contains(&account) || (!allowed.is_empty() && !allowed.contains(&account)) {
            return Err(Error::config_invalid(format!(
                "AWS account ID not allowed: {account}; allowed_account_ids or forbidden_account_ids of the backend exclude it"
            )));
        }
        Ok(())
    }
}

impl ProvideCredential for CredentialChain {
    type Credential = Credential;

    async fn provide_credential(&self, _: &Context) -> Result<Option<Credential>> {
        let mut credential = self.find_base_credential().await?;
        if let Some(role) = &self.settings.role {
            credential = self.settings.sts.assume_role(&self.context, role, &credential).await?;
        }
        // Checked last: requests are made in the account of the role, not in that of its source.
        self.check_account(&credential).await?;
        Ok(Some(credential))
    }
}
