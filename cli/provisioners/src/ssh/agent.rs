//! The SSH agent: selection and order of its keys. `russh` implements the agent protocol.

#[cfg_attr(unix, path = "agent/unix.rs")]
#[cfg_attr(not(unix), path = "agent/windows.rs")]
mod connection;

use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{PublicKey, decode_secret_key};

pub(super) use self::connection::{AgentStream, connect};
use crate::config_block::expand_home;

/// An SSH agent and the key of it to try first.
#[derive(Clone, Debug)]
pub(super) struct SshAgent {
    pub(super) socket: PathBuf,
    /// The key to try first: its comment or path as configured, and the key if it can be parsed.
    first: Option<(String, Option<PublicKey>)>,
}

impl SshAgent {
    /// Returns the agent at a socket. The key that `identity` specifies is tried first. `identity` is
    /// the comment of a key, a public key, or the path of a key file.
    pub(super) fn new(socket: &Path, identity: Option<&str>, home: Option<&Path>) -> Self {
        let first = identity.map(|text| (text.to_owned(), key_in_text_or_file(text, home)));
        Self { socket: socket.to_owned(), first }
    }

    /// Connects to the agent.
    ///
    /// # Errors
    /// The connection to the agent failed.
    pub(super) async fn connect_and_list_keys(&self) -> Result<AgentClient<AgentStream>, String> {
        let stream = connect(&self.socket).await;
        stream
            .map(AgentClient::connect)
            .map_err(|error| format!("Error connecting to SSH_AUTH_SOCK: {error}"))
    }

    /// Returns the keys of the agent, in the order in which they are tried.
    ///
    /// # Errors
    /// The agent does not list its keys.
    pub(super) async fn ordered_identities(
        &self,
        client: &mut AgentClient<AgentStream>,
    ) -> Result<Vec<AgentIdentity>, String> {
        let mut identities = client
            .request_identities()
            .await
            .map_err(|error| format!("the SSH agent does not list its keys: {error}"))?;
        // The sort is stable: the other keys keep the agent's order.
        identities.sort_by_key(|identity| !self.is_configured_identity(identity));
        Ok(identities)
    }

    fn is_configured_identity(&self, identity: &AgentIdentity) -> bool {
        let Some((name, key)) = &self.first else { return false };
        let (public_key, comment) = match identity {
            AgentIdentity::PublicKey { key, comment } => (key.key_data(), comment),
            AgentIdentity::Certificate { certificate, comment } => {
                (certificate.public_key(), comment)
            }
        };
        comment == name || key.as_ref().is_some_and(|key| key.key_data() == public_key)
    }
}

/// Returns the public key in a string, in the file that it names, or in that file's `.pub` file.
fn key_in_text_or_file(text: &str, home: Option<&Path>) -> Option<PublicKey> {
    if let Ok(key) = PublicKey::from_openssh(text.trim()) {
        return Some(key);
    }
    let path = expand_home(text, home);
    let public_key_path = PathBuf::from(format!("{}.pub", path.display()));
    let mut texts = [path, public_key_path]
        .into_iter()
        .filter_map(|path| read_text(&path, MAX_SMALL_FILE_LEN).ok());
    texts.find_map(|text| {
        let public = PublicKey::from_openssh(text.trim()).ok();
        public.or_else(|| decode_secret_key(&text, None).ok().map(|key| key.public_key().clone()))
    })
}
