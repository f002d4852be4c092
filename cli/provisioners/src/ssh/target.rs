//! The `connection` block: address and credentials. Opens no connection, but reads the keys, so
//! that an unusable one is found before the first attempt.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use formwork_value::{Plain, duration};

use super::agent::SshAgent;
use super::host_key::HostKey;
use super::identity::LoginIdentity;
use super::known_hosts::KnownHostKeys;
use super::proxy::Proxy;
use super::quote::quote_shell_word;
use crate::ProvisionerEnvironment;
use crate::config_block::ConfigBlock;

const DEFAULT_CONNECTION_TIMEOUT: Duration = Duration::from_mins(5);
const DEFAULT_PORT: u16 = 22;
const RANDOM_PLACEHOLDER: &str = "%RAND%";

/// A machine to log in to.
#[derive(Debug)]
pub(crate) struct SshTarget {
    pub(super) end: SshHop,
    pub(super) bastion: Option<SshHop>,
    pub(super) proxy: Option<Proxy>,
    /// Whether commands on the machine may use the agent: only where `agent = true` is written.
    pub(super) forwards_agent: bool,
    pub(super) timeout: Duration,
    unix: bool,
    script_path: String,
}

/// One machine, and how to log in to it.
#[derive(Debug)]
pub(super) struct SshHop {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) identity: Option<LoginIdentity>,
    /// Whether a certificate was given, of use or not.
    certificate: bool,
    pub(super) agent: Option<SshAgent>,
    pub(super) host_key: Option<HostKey>,
    /// The keys of the machine that the user has met, if no key is given.
    pub(super) known: KnownHostKeys,
}

/// Credentials of a hop, as written.
struct HopCredentials {
    user: String,
    password: Option<String>,
    private_key: Option<String>,
    certificate: Option<String>,
    host_key: Option<String>,
    port: u16,
}

impl SshTarget {
    /// Reads a block that fits the schema of connections.
    ///
    /// # Errors
    /// When it has no usable address or credentials.
    pub(crate) fn from_connection_block(
        connection: Option<&Plain>,
        environment: &ProvisionerEnvironment,
    ) -> Result<Self, String> {
        let Some(connection) = connection else {
            return Err("Missing connection configuration for provisioner.".to_owned());
        };
        let block = ConfigBlock(connection.value());
        let host = block.string("host").ok_or("host for provisioner cannot be empty")?;
        match block.string("type").as_deref() {
            None | Some("ssh") => {}
            Some("winrm") => return Err(WINRM_UNSUPPORTED.to_owned()),
            Some(other) => return Err(format!("connection type '{other}' not supported")),
        }
        let unix = match block.string("target_platform").as_deref() {
            None | Some("unix") => true,
            Some("windows") => false,
            Some(_) => {
                let why = "target_platform for provisioner has to be either unix or windows";
                return Err(why.to_owned());
            }
        };
        let script_path = block.string("script_path").unwrap_or_else(|| {
            let path = if unix {
                "/tmp/terraform_%RAND%.sh"
            } else {
                "C:/windows/temp/terraform_%RAND%.cmd"
            };
            path.to_owned()
        });
        let agent = agent_from_block(block, environment)?;
        let home = environment.home.as_deref();
        let written = HopCredentials {
            user: block.string("user").unwrap_or_else(|| "root".to_owned()),
            password: block.string("password"),
            private_key: block.string("private_key"),
            certificate: block.string("certificate"),
            host_key: block.string("host_key"),
            port: block.port("port")?.unwrap_or(DEFAULT_PORT),
        };
        let bastion = block.string("bastion_host").map(|host| {
            // Arguments that the bastion lacks are those of the machine behind it, except for its
            // key.
            let written = HopCredentials {
                user: block.string("bastion_user").unwrap_or_else(|| written.user.clone()),
                password: block.string("bastion_password").or_else(|| written.password.clone()),
                private_key: block
                    .string("bastion_private_key")
                    .or_else(|| written.private_key.clone()),
                certificate: block
                    .string("bastion_certificate")
                    .or_else(|| written.certificate.clone()),
                host_key: block.string("bastion_host_key"),
                port: block.port("bastion_port")?.unwrap_or(written.port),
            };
            written.into_hop(host, agent.clone(), home)
        });
        Ok(Self {
            bastion: bastion.transpose()?,
            forwards_agent: agent.is_some() && block.boolean("agent") == Some(true),
            end: written.into_hop(host, agent, home)?,
            proxy: Proxy::from_connection_block(block)?,
            timeout: block
                .string("timeout")
                .and_then(|text| parse_timeout(&text))
                .unwrap_or(DEFAULT_CONNECTION_TIMEOUT),
            unix,
            script_path,
        })
    }

    /// Whether commands are those of Unix.
    pub(crate) fn is_unix(&self) -> bool {
        self.unix
    }

    /// A path as one word of a command there.
    pub(crate) fn quoted_path(&self, path: &str) -> String {
        quote_shell_word(path, self.unix)
    }

    /// Path of the next script; a new one each time, unless one was configured.
    pub(crate) fn script_path(&self) -> String {
        let number = rand::random_range(0..=i32::MAX);
        self.script_path.replace(RANDOM_PLACEHOLDER, &number.to_string())
    }

    /// Line that is printed before an attempt. It names the kinds of secrets, never their values.
    pub(super) fn announcement_line(&self) -> String {
        let mut out = "Connecting to remote host via SSH...\n".to_owned();
        self.end.append_connection_lines(&mut out);
        if self.end.agent.is_some() && !self.forwards_agent {
            out.push_str("\n  SSH Agent Forwarding: false (agent = true forwards it)");
        }
        let platform = if self.unix { "unix" } else { "windows" };
        // Writing into a string does not fail.
        let _ = write!(out, "\n  Target Platform: {platform}");
        if let Some(bastion) = &self.bastion {
            out.push_str("\nUsing configured bastion host...\n");
            bastion.append_connection_lines(&mut out);
        }
        if let Some(proxy) = &self.proxy {
            out.push_str("\nUsing configured proxy host...\n");
            proxy.append_connection_lines(&mut out);
        }
        out
    }
}

const WINRM_UNSUPPORTED: &str = "connection type 'winrm' not supported: Formwork reaches other machines over SSH only. Windows has had an SSH server of its own since 2018; install it there, and use type = \"ssh\" with target_platform = \"windows\". Or let a \"local-exec\" provisioner run a program that speaks WinRM.";

impl HopCredentials {
    fn into_hop(
        self,
        host: String,
        agent: Option<SshAgent>,
        home: Option<&Path>,
    ) -> Result<SshHop, String> {
        let identity = match &self.private_key {
            Some(key) => Some(LoginIdentity::parse(key, self.certificate.as_deref())?),
            None => None,
        };
        let known = match self.host_key {
            Some(_) => KnownHostKeys::default(),
            None => KnownHostKeys::find(host.trim_matches(['[', ']']), self.port, home)?,
        };
        Ok(SshHop {
            known,
            host: bracket_ipv6(host),
            port: self.port,
            user: self.user,
            password: self.password,
            identity,
            certificate: self.certificate.is_some(),
            agent,
            host_key: self.host_key.as_deref().map(HostKey::parse).transpose()?,
        })
    }
}

impl SshHop {
    fn append_connection_lines(&self, out: &mut String) {
        // Writing into a string does not fail.
        let _ = write!(
            out,
            "  Host: {}\n  User: {}\n  Password: {}\n  Private key: {}\n  Certificate: {}\n  SSH Agent: {}\n  Checking Host Key: {}",
            self.host,
            self.user,
            self.password.is_some(),
            self.identity.is_some(),
            self.certificate,
            self.agent.is_some(),
            self.host_key.is_some() || self.known.has_keys()
        );
    }

    /// The name without the brackets between an address and a port.
    pub(super) fn host_without_brackets(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }
}

/// The agent is asked if there is one, unless that is not wanted.
fn agent_from_block(
    block: ConfigBlock<'_>,
    environment: &ProvisionerEnvironment,
) -> Result<Option<SshAgent>, String> {
    let Some(socket) = &environment.agent else {
        return match block.boolean("agent") {
            Some(true) => Err("SSH agent requested but SSH_AUTH_SOCK not-specified".to_owned()),
            _ => Ok(None),
        };
    };
    if block.boolean("agent") == Some(false) {
        return Ok(None);
    }
    let identity = block.string("agent_identity");
    Ok(Some(SshAgent::new(Path::new(socket), identity.as_deref(), environment.home.as_deref())))
}

fn bracket_ipv6(host: String) -> String {
    match host.parse::<std::net::Ipv6Addr>() {
        Ok(_) => format!("[{host}]"),
        Err(_) => host,
    }
}

/// Reads a duration; `None` if it is invalid, and the default applies then, as in Terraform.
fn parse_timeout(text: &str) -> Option<Duration> {
    let nanoseconds = duration::parse_nanoseconds(text).ok()?;
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_time_to_wait_is_distinguished() {
        let check = |text: &str| parse_timeout(text).map(|d| d.as_micros());
        assert_eq!(check("1.5m"), Some(90_000_000));
        assert_eq!(check("0.1s1us"), Some(100_001));
        assert_eq!(check("0"), Some(0));
        assert_eq!((check("soon"), check("-1s")), (None, None));
    }

    #[test]
    fn addresses_of_the_newer_kind_are_put_in_brackets() {
        assert_eq!(bracket_ipv6("::1".to_owned()), "[::1]");
        assert_eq!(bracket_ipv6("127.0.0.1".to_owned()), "127.0.0.1");
        assert_eq!(bracket_ipv6("[::1]".to_owned()), "[::1]");
    }
}
