//! Authentication: each method is tried once, in Terraform's order.

use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::{HashAlg, PrivateKeyWithHashAlg};
use russh::{MethodKind, MethodSet};

use super::session::{SessionFailure, SshClient};
use super::target::SshHop;

/// Maximum number of rounds of keyboard-interactive questions.
const MAX_QUESTION_ROUNDS: usize = 16;

/// A method of authentication.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AuthMethod {
    Key,
    Password,
    Questions,
    Agent,
}

impl AuthMethod {
    /// Terraform's order. The keys of the agent use the same method as a configured key, and a method
    /// is tried once: with a configured key, the agent is not used.
    const ALL: [Self; 4] = [Self::Key, Self::Password, Self::Questions, Self::Agent];

    fn to_method_kind(self) -> MethodKind {
        match self {
            Self::Key | Self::Agent => MethodKind::PublicKey,
            Self::Password => MethodKind::Password,
            Self::Questions => MethodKind::KeyboardInteractive,
        }
    }

    fn is_available(self, hop: &SshHop) -> bool {
        match self {
            Self::Key => hop.identity.is_some(),
            Self::Password | Self::Questions => hop.password.is_some(),
            Self::Agent => hop.agent.is_some(),
        }
    }
}

/// Authenticates the user of a hop.
///
/// # Errors
/// The host accepts none of the credentials, or the connection failed.
pub(super) async fn login(
    handle: &mut Handle<SshClient>,
    hop: &SshHop,
) -> Result<(), SessionFailure> {
    let mut tried = vec!["none"];
    let mut tried_methods = Vec::new();
    let mut accepted_methods = match handle.authenticate_none(&hop.user).await? {
        AuthResult::Success => return Ok(()),
        AuthResult::Failure { remaining_methods, .. } => remaining_methods,
    };
    loop {
        let next = AuthMethod::ALL.into_iter().find(|auth_method| {
            let method = auth_method.to_method_kind();
            auth_method.is_available(hop)
                && accepted_methods.contains(&method)
                && !tried_methods.contains(&method)
        });
        let Some(auth_method) = next else {
            return Err(SessionFailure::Refused(format!(
                "ssh: unable to authenticate, attempted methods [{}], no supported methods remain",
                tried.join(" ")
            )));
        };
        tried_methods.push(auth_method.to_method_kind());
        tried.push(match auth_method.to_method_kind() {
            MethodKind::PublicKey => "publickey",
            MethodKind::Password => "password",
            _ => "keyboard-interactive",
        });
        match try_auth_method(handle, hop, auth_method).await? {
            None => return Ok(()),
            Some(remaining) => accepted_methods = remaining,
        }
    }
}

/// Tries one method. Returns the methods that may be tried next, or `None` if authentication is
/// complete.
async fn try_auth_method(
    handle: &mut Handle<SshClient>,
    hop: &SshHop,
    auth_method: AuthMethod,
) -> Result<Option<MethodSet>, SessionFailure> {
    match auth_method {
        AuthMethod::Key => authenticate_with_key(handle, hop).await,
        AuthMethod::Password => {
            let password = hop.password.as_deref().unwrap_or_default();
            Ok(remaining_methods(handle.authenticate_password(&hop.user, password).await?))
        }
        AuthMethod::Questions => authenticate_with_password_answers(handle, hop).await,
        AuthMethod::Agent => authenticate_with_agent(handle, hop).await,
    }
}

fn remaining_methods(result: AuthResult) -> Option<MethodSet> {
    match result {
        AuthResult::Success => None,
        AuthResult::Failure { remaining_methods, .. } => Some(remaining_methods),
    }
}

/// Signature algorithms to try for RSA keys. A server that lists none is old and may support only SHA-1.
async fn rsa_hash_algorithms(
    handle: &Handle<SshClient>,
) -> Result<Vec<Option<HashAlg>>, SessionFailure> {
    Ok(match handle.best_supported_rsa_hash().await? {
        Some(best) => vec![best],
        None => vec![None, Some(HashAlg::Sha256)],
    })
}

async fn authenticate_with_key(
    handle: &mut Handle<SshClient>,
    hop: &SshHop,
) -> Result<Option<MethodSet>, SessionFailure> {
    let Some(identity) = &hop.identity else { return Ok(Some(MethodSet::empty())) };
    let key = Arc::clone(&identity.key);
    if let Some(certificate) = &identity.certificate {
        let result = handle.authenticate_openssh_cert(&hop.user, key, certificate.clone()).await?;
        return Ok(remaining_methods(result));
    }
    let hashes =
        if key.algorithm().is_rsa() { rsa_hash_algorithms(handle).await? } else { vec![None] };
    let mut remaining = Some(MethodSet::empty());
    for hash in hashes {
        let key = PrivateKeyWithHashAlg::new(Arc::clone(&key), hash);
        remaining = remaining_methods(handle.authenticate_publickey(&hop.user, key).await?);
        if remaining.is_none() {
            break;
        }
    }
    Ok(remaining)
}

async fn authenticate_with_agent(
    handle: &mut Handle<SshClient>,
    hop: &SshHop,
) -> Result<Option<MethodSet>, SessionFailure> {
    let mut remaining = MethodSet::empty();
    let Some(agent) = &hop.agent else { return Ok(Some(remaining)) };
    let mut client = agent.connect_and_list_keys().await.map_err(SessionFailure::Refused)?;
    for identity in agent.ordered_identities(&mut client).await.map_err(SessionFailure::Refused)? {
        let rsa = match &identity {
            AgentIdentity::PublicKey { key, .. } => key.algorithm().is_rsa(),
            AgentIdentity::Certificate { certificate, .. } => certificate.algorithm().is_rsa(),
        };
        let hashes = if rsa { rsa_hash_algorithms(handle).await? } else { vec![None] };
        for hash in hashes {
            let user = hop.user.as_str();
            let result = match identity.clone() {
                AgentIdentity::PublicKey { key, .. } => {
                    handle.authenticate_publickey_with(user, key, hash, &mut client).await
                }
                AgentIdentity::Certificate { certificate, .. } => {
                    handle.authenticate_certificate_with(user, certificate, hash, &mut client).await
                }
            };
            match result {
                Ok(AuthResult::Success) => return Ok(None),
                Ok(AuthResult::Failure { remaining_methods, .. }) => remaining = remaining_methods,
                // If the agent does not sign with a key, the next key is tried.
                Err(_) if !handle.is_closed() => {}
                Err(error) => return Err(SessionFailure::Refused(error.to_string())),
            }
        }
    }
    Ok(Some(remaining))
}

/// Authenticates with the password as the response to every question.
async fn authenticate_with_password_answers(
    handle: &mut Handle<SshClient>,
    hop: &SshHop,
) -> Result<Option<MethodSet>, SessionFailure> {
    let password = hop.password.as_deref().unwrap_or_default();
    let mut response = handle.authenticate_keyboard_interactive_start(&hop.user, None).await?;
    for _ in 0..MAX_QUESTION_ROUNDS {
        let answers = match response {
            KeyboardInteractiveAuthResponse::Success => return Ok(None),
            KeyboardInteractiveAuthResponse::Failure { remaining_methods, .. } => {
                return Ok(Some(remaining_methods));
            }
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => {
                vec![password.to_owned(); prompts.len()]
            }
        };
        response = handle.authenticate_keyboard_interactive_respond(answers).await?;
    }
    Ok(Some(MethodSet::empty()))
}
