//! A session: from a line to a machine, over logging in, to commands that run there.

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

/// After how much silence a machine is asked whether it is still there.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Number of unanswered keep-alive requests after which a connection counts as lost.
const MAX_UNANSWERED_KEEPALIVES: usize = 8;

/// Time limit of the disconnect message.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Reason why there is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFailure {
    /// The machine is not the one that was meant.
    #[error("knownhosts: key mismatch: the machine has the key {0}")]
    Mismatch(String),
    /// The machine does not let us in.
    #[error("{0}")]
    Refused(String),
    /// Something went wrong on the way.
    #[error("ssh: {0}")]
    Ssh(#[from] russh::Error),
}

/// Result of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandResult {
    /// Success.
    Success,
    /// It did not; in words.
    Failure(String),
}

/// A machine that we are logged in to. It is let go when this is dropped.
pub(crate) struct Session {
    handle: Handle<SshClient>,
    /// The connection to the bastion; it must stay open.
    _bastion: Option<Handle<SshClient>>,
    forwards_agent: bool,
    pub(super) unix: bool,
}

impl Session {
    /// Calls a machine and logs in. Once, without patience of its own.
    ///
    /// # Errors
    /// When that does not work; in words.
    pub(super) async fn open(target: &SshTarget) -> Result<Self, String> {
        let bastion = match &target.bastion {
            Some(hop) => {
                let handle = connect_and_log_in(hop, async || connect_directly(target, hop).await)
                    .await
                    .map_err(|why| format!("Error connecting to bastion: {why}"))?;
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

    /// Runs a command and passes on its output as it comes, both streams in one.
    ///
    /// # Errors
    /// When it cannot be run, or the machine goes away meanwhile; in words.
    pub(crate) async fn run_command(
        &self,
        command: &str,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<CommandResult, String> {
        let why = |error: russh::Error| format!("Error starting script: ssh: {error}");
        let mut channel = self.open_channel().await?;
        if self.unix {
            // As in Terraform: programs then flush their output, and end with the session.
            let modes = [(Pty::ECHO, 0), (Pty::TTY_OP_ISPEED, 14400), (Pty::TTY_OP_OSPEED, 14400)];
            channel.request_pty(false, "xterm", 80, 40, 0, 0, &modes).await.map_err(why)?;
        }
        channel.exec(true, format!("{}\n", command.trim())).await.map_err(why)?;
        channel.eof().await.map_err(why)?;
        let mut ended = None;
        while let Some(message) = channel.wait().await {
            match message {
                ChannelMsg::Data { data } | ChannelMsg::ExtendedData { data, .. } => take(&data),
                ChannelMsg::Failure => {
                    return Err("Error starting script: the machine refuses to run commands".into());
                }
                message => ended = command_result_of_message(&message).or(ended),
            }
        }
        Ok(ended.unwrap_or_else(|| {
            let why = "wait: remote command exited without exit status or exit signal";
            CommandResult::Failure(why.to_owned())
        }))
    }

    /// Removes a file, if that works.
    pub(crate) async fn remove_remote_file(&self, path: &str) {
        let command = match self.unix {
            true => format!("rm -f -- {}", quote_shell_word(path, true)),
            false => format!("del /q \"{}\"", path.replace('/', "\\")),
        };
        // Its work is done whether it goes or not.
        self.run_command(&command, &mut |_| {}).await.ok();
    }

    /// Opens a channel for one command.
    pub(super) async fn open_channel(&self) -> Result<Channel<Msg>, String> {
        let channel = self.handle.channel_open_session().await;
        let channel = channel.map_err(|error| format!("ssh: cannot open a session: {error}"))?;
        if self.forwards_agent {
            // Commands may want to go on from there.
            channel.agent_forward(false).await.map_err(|error| format!("ssh: {error}"))?;
        }
        Ok(channel)
    }

    /// Says goodbye.
    pub(crate) async fn close(self) {
        let goodbye = self.handle.disconnect(Disconnect::ByApplication, "", "");
        // Whether it is heard or not: the line ends.
        timeout(DISCONNECT_TIMEOUT, goodbye).await.ok();
    }
}

/// A line from here, through the proxy if there is one.
async fn connect_directly(target: &SshTarget, hop: &SshHop) -> Result<Box<dyn ByteStream>, String> {
    match &target.proxy {
        Some(proxy) => proxy.connect_through(&hop.host, hop.port).await,
        None => dial::dial_tcp(hop.host_without_brackets(), hop.port).await,
    }
}

/// A line through another machine.
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

/// Shakes hands with a machine and logs in.
async fn connect_and_log_in(
    hop: &SshHop,
    line: impl AsyncFn() -> Result<Box<dyn ByteStream>, String>,
) -> Result<Handle<SshClient>, String> {
    let refused = |why: SessionFailure| {
        let SshHop { user, host, port, .. } = hop;
        format!("SSH authentication failed ({user}@{host}:{port}): ssh: handshake failed: {why}")
    };
    let mut handle = match shake_hands(hop, line().await?, false).await {
        // The key that was given may be that of an authority.
        Err(SessionFailure::Mismatch(_)) => shake_hands(hop, line().await?, true).await,
        met => met,
    }
    .map_err(refused)?;
    login(&mut handle, hop).await.map_err(refused)?;
    Ok(handle)
}

async fn shake_hands(
    hop: &SshHop,
    line: Box<dyn ByteStream>,
    certificates: bool,
) -> Result<Handle<SshClient>, SessionFailure> {
    let preferred = match &hop.host_key {
        Some(key) => Some(key.preferred_algorithms(certificates)),
        None => {
            hop.known.has_keys().then(|| host_key::preferred_algorithms(hop.known.keys(), false))
        }
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
        known: hop.known.clone(),
        agent: hop.agent.as_ref().map(|agent| agent.socket.clone()),
    };
    client::connect_stream(Arc::new(config), line, client).await
}

/// Result of a command, if a message carries it.
fn command_result_of_message(message: &ChannelMsg) -> Option<CommandResult> {
    match message {
        ChannelMsg::ExitStatus { exit_status: 0 } => Some(CommandResult::Success),
        ChannelMsg::ExitStatus { exit_status } => {
            Some(CommandResult::Failure(format!("Process exited with status {exit_status}")))
        }
        ChannelMsg::ExitSignal { signal_name, error_message, .. } => {
            let (name, number) = signal_name_and_number(signal_name);
            let mut why = format!("Process exited with status {} from signal {name}", 128 + number);
            if !error_message.is_empty() {
                why.push_str(&format!(". Reason was: {error_message}"));
            }
            Some(CommandResult::Failure(why))
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

/// Client side of the protocol: checks the machine's key, and forwards the agent.
pub(super) struct SshClient {
    name: String,
    host_key: Option<HostKey>,
    /// The keys that are known, if no key is given.
    known: KnownHostKeys,
    agent: Option<PathBuf>,
}

impl client::Handler for SshClient {
    type Error = SessionFailure;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        match &self.host_key {
            Some(key) if !key.accepts(shown, &self.name) => {
                let shown = shown.public_key().fingerprint(HashAlg::Sha256).to_string();
                Err(SessionFailure::Mismatch(shown))
            }
            None if !self.known.accepts(&shown.public_key()) => {
                let key = shown.public_key();
                let shown = key.fingerprint(HashAlg::Sha256).to_string();
                let advice = self.known.rejected_key_advice(&key);
                Err(SessionFailure::Refused(format!(
                    "knownhosts: key mismatch: the machine has the key {shown}, and {advice}"
                )))
            }
            // A machine that is neither known nor has a key given is accepted, as in Terraform:
            // machines that were just made are not known.
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

/// Lets a machine and our agent talk until one of them has nothing more to say.
async fn forward_agent(channel: Channel<Msg>, socket: impl AsRef<Path>) {
    if let Ok(mut agent) = agent::connect(socket.as_ref()).await {
        let mut there = channel.into_stream();
        // Either side may end it.
        tokio::io::copy_bidirectional(&mut there, &mut agent).await.ok();
    }
}
