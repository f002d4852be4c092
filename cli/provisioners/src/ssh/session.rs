//! An SSH session: connection, authentication and commands on a remote host.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, ChannelOpenHandle, Config, Handle, Msg};
use russh::keys::HashAlg;
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg, Disconnect, Pty, Sig};
use tokio::time::timeout;

use super::agent;
use super::dial::{self, ByteStream};
use super::host_key::{self, HostKey};
use super::known_hosts::KnownHostKeys;
use super::login::login;
use super::quote::quote_shell_word;
use super::target::{SshHop, SshTarget};

/// Interval between keep-alive requests.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Number of unanswered keep-alive requests after which the connection is closed.
const MAX_UNANSWERED_KEEPALIVES: usize = 8;

/// Time limit for sending the disconnect message.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Reason why a session could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFailure {
    /// The host key is not the configured one.
    #[error("knownhosts: key mismatch: the host presented the key {0}")]
    Mismatch(String),
    /// Authentication failed, or the host key was rejected.
    #[error("{0}")]
    Refused(String),
    /// The connection or the protocol failed.
    #[error("ssh: {0}")]
    Ssh(#[from] russh::Error),
}

/// Result of a remote command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandResult {
    /// The command exited with status 0.
    Success,
    /// The command failed, with the reason.
    Failure(String),
}

/// An authenticated connection to a host. Dropping it closes the connection.
pub(crate) struct Session {
    handle: Handle<SshClient>,
    /// The connection to the bastion; it must stay open.
    _bastion: Option<Handle<SshClient>>,
    forwards_agent: bool,
    pub(super) unix: bool,
}

impl Session {
    /// Connects to a host and authenticates, in a single attempt.
    ///
    /// # Errors
    /// The connection or the authentication failed. The error is a message for the user.
    pub(super) async fn open(target: &SshTarget) -> Result<Self, String> {
        let bastion = match &target.bastion {
            Some(hop) => {
                let handle = connect_and_log_in(hop, async || connect_directly(target, hop).await)
                    .await
                    .map_err(|reason| format!("Error connecting to bastion: {reason}"))?;
                Some(handle)
            }
            None => None,
        };
        let end = &target.end;
        let handle = match &bastion {
            Some(bastion) => {
                connect_and_log_in(end, async || connect_through_bastion(bastion, end).await)
                    .await?
            }
            None => connect_and_log_in(end, async || connect_directly(target, end).await).await?,
        };
        let forwards_agent = target.forwards_agent;
        Ok(Self { handle, _bastion: bastion, forwards_agent, unix: target.is_unix() })
    }

    /// Runs a command and passes its standard output and standard error to `take` as they arrive.
    ///
    /// # Errors
    /// The command could not be started, or the connection was lost. The error is a message for the
    /// user.
    pub(crate) async fn run_command(
        &self,
        command: &str,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<CommandResult, String> {
        let start_error = |error: russh::Error| format!("Error starting script: ssh: {error}");
        let mut channel = self.open_channel().await?;
        if self.unix {
            // As in Terraform: with a terminal, programs flush their output and end with the session.
            let modes = [(Pty::ECHO, 0), (Pty::TTY_OP_ISPEED, 14400), (Pty::TTY_OP_OSPEED, 14400)];
            channel.request_pty(false, "xterm", 80, 40, 0, 0, &modes).await.map_err(start_error)?;
        }
        channel.exec(true, format!("{}\n", command.trim())).await.map_err(start_error)?;
        channel.eof().await.map_err(start_error)?;
        let mut result = None;
        while let Some(message) = channel.wait().await {
            match message {
                ChannelMsg::Data { data } | ChannelMsg::ExtendedData { data, .. } => take(&data),
                ChannelMsg::Failure => {
                    return Err("Error starting script: the host refused to run the command".into());
                }
                message => result = command_result_of_message(&message).or(result),
            }
        }
        Ok(result.unwrap_or_else(|| {
            let reason = "wait: remote command exited without exit status or exit signal";
            CommandResult::Failure(reason.to_owned())
        }))
    }

    /// Removes a file, and ignores errors.
    pub(crate) async fn remove_remote_file(&self, path: &str) {
        let command = match self.unix {
            true => format!("rm -f -- {}", quote_shell_word(path, true)),
            false => format!("del /q \"{}\"", path.replace('/', "\\")),
        };
        // The script has already run, so a file that remains is not an error.
        self.run_command(&command, &mut |_| {}).await.ok();
    }

    /// Opens a channel for one command, with agent forwarding if it is enabled.
    pub(super) async fn open_channel(&self) -> Result<Channel<Msg>, String> {
        let channel = self.handle.channel_open_session().await;
        let channel = channel.map_err(|error| format!("ssh: cannot open a session: {error}"))?;
        if self.forwards_agent {
            // Commands can then connect from the host to further hosts.
            channel.agent_forward(false).await.map_err(|error| format!("ssh: {error}"))?;
        }
        Ok(channel)
    }

    /// Disconnects from the host.
    pub(crate) async fn close(self) {
        let goodbye = self.handle.disconnect(Disconnect::ByApplication, "", "");
        // The connection is closed in any case, so the result does not matter.
        timeout(DISCONNECT_TIMEOUT, goodbye).await.ok();
    }
}

/// Connects to a host, through the proxy if one is configured.
async fn connect_directly(target: &SshTarget, hop: &SshHop) -> Result<Box<dyn ByteStream>, String> {
    match &target.proxy {
        Some(proxy) => proxy.connect_through(&hop.host, hop.port).await,
        None => dial::dial_tcp(hop.host_without_brackets(), hop.port).await,
    }
}

/// Connects to a host through the bastion.
async fn connect_through_bastion(
    bastion: &Handle<SshClient>,
    hop: &SshHop,
) -> Result<Box<dyn ByteStream>, String> {
    let opened = bastion
        .channel_open_direct_tcpip(hop.host_without_brackets(), u32::from(hop.port), "127.0.0.1", 0)
        .await;
    let channel = opened.map_err(|error| match error {
        russh::Error::ChannelOpenFailure(reason) => {
            format!("ssh: rejected: connect failed ({reason:?})")
        }
        error => format!("ssh: {error}"),
    })?;
    Ok(Box::new(channel.into_stream()))
}

/// Performs the handshake with a host and authenticates.
async fn connect_and_log_in(
    hop: &SshHop,
    line: impl AsyncFn() -> Result<Box<dyn ByteStream>, String>,
) -> Result<Handle<SshClient>, String> {
    let handshake_error = |reason: SessionFailure| {
        let SshHop { user, host, port, .. } = hop;
        format!("SSH authentication failed ({user}@{host}:{port}): ssh: handshake failed: {reason}")
    };
    let mut handle = match shake_hands(hop, line().await?, false).await {
        // The configured key may be that of a certificate authority.
        Err(SessionFailure::Mismatch(_)) => shake_hands(hop, line().await?, true).await,
        met => met,
    }
    .map_err(handshake_error)?;
    login(&mut handle, hop).await.map_err(handshake_error)?;
    Ok(handle)
}

/// Performs the handshake. `certificates` also requests host certificates.
async fn shake_hands(
    hop: &SshHop,
    line: Box<dyn ByteStream>,
    certificates: bool,
) -> Result<Handle<SshClient>, SessionFailure> {
    let preferred = match &hop.host_key {
        Some(key) => Some(key.preferred_algorithms(certificates)),
        None => hop
            .known_keys
            .has_keys()
            .then(|| host_key::preferred_algorithms(hop.known_keys.keys(), false)),
    };
    let config = Config {
        client_id: russh::SshId::Standard(Cow::Borrowed("SSH-2.0-formwork")),
        preferred: preferred.unwrap_or_default(),
        keepalive_interval: Some(KEEPALIVE_INTERVAL),
        keepalive_max: MAX_UNANSWERED_KEEPALIVES,
        nodelay: true,
        ..Config::default()
    };
    let client = SshClient {
        name: hop.host_without_brackets().to_owned(),
        host_key: hop.host_key.clone(),
        known_keys: hop.known_keys.clone(),
        agent: hop.agent.as_ref().map(|agent| agent.socket.clone()),
    };
    client::connect_stream(Arc::new(config), line, client).await
}

/// Returns the result of the command if the message contains it.
fn command_result_of_message(message: &ChannelMsg) -> Option<CommandResult> {
    match message {
        ChannelMsg::ExitStatus { exit_status: 0 } => Some(CommandResult::Success),
        ChannelMsg::ExitStatus { exit_status } => {
            Some(CommandResult::Failure(format!("Process exited with status {exit_status}")))
        }
        ChannelMsg::ExitSignal { signal_name, error_message, .. } => {
            let (name, number) = signal_name_and_number(signal_name);
            let mut reason =
                format!("Process exited with status {} from signal {name}", 128 + number);
            if !error_message.is_empty() {
                reason.push_str(&format!(". Reason was: {error_message}"));
            }
            Some(CommandResult::Failure(reason))
        }
        _ => None,
    }
}

fn signal_name_and_number(signal: &Sig) -> (&str, u32) {
    match signal {
        Sig::HUP => ("HUP", 1),
        Sig::INT => ("INT", 2),
        Sig::QUIT => ("QUIT", 3),
        Sig::ILL => ("ILL", 4),
        Sig::ABRT => ("ABRT", 6),
        Sig::FPE => ("FPE", 8),
        Sig::KILL => ("KILL", 9),
        Sig::USR1 => ("USR1", 10),
        Sig::SEGV => ("SEGV", 11),
        Sig::PIPE => ("PIPE", 13),
        Sig::ALRM => ("ALRM", 14),
        Sig::TERM => ("TERM", 15),
        Sig::Custom(name) => (name, 0),
    }
}

/// Client side of the protocol: checks the host key and forwards the agent.
pub(super) struct SshClient {
    name: String,
    host_key: Option<HostKey>,
    /// The known keys of the host, used if no key is configured.
    known_keys: KnownHostKeys,
    agent: Option<PathBuf>,
}

impl client::Handler for SshClient {
    type Error = SessionFailure;

    async fn check_server_key(
        &mut self,
        presented: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        match &self.host_key {
            Some(key) if !key.accepts(presented, &self.name) => {
                let presented = presented.public_key().fingerprint(HashAlg::Sha256).to_string();
                Err(SessionFailure::Mismatch(presented))
            }
            None if !self.known_keys.accepts(&presented.public_key()) => {
                let key = presented.public_key();
                let presented = key.fingerprint(HashAlg::Sha256).to_string();
                let advice = self.known_keys.rejected_key_advice(&key);
                Err(SessionFailure::Refused(format!(
                    "knownhosts: key mismatch: the host presented the key {presented}, and {advice}"
                )))
            }
            // A host without a known or configured key is accepted, as in Terraform: newly created
            // hosts have no known key.
            _ => Ok(true),
        }
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        if let Some(socket) = self.agent.clone() {
            reply.accept().await;
            tokio::spawn(forward_agent(channel, socket));
        }
        Ok(())
    }
}

/// Copies bytes between the host and the local agent until one side closes the connection.
async fn forward_agent(channel: Channel<Msg>, socket: impl AsRef<Path>) {
    if let Ok(mut agent) = agent::connect(socket.as_ref()).await {
        let mut remote = channel.into_stream();
        // Either side may close the connection, so an error is expected here.
        tokio::io::copy_bidirectional(&mut remote, &mut agent).await.ok();
    }
}
