//! The `connection` block: address and credentials. It opens no connection, but parses the keys, so
//! that an invalid key is reported before the first attempt.

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

/// A host to connect to, with its bastion and proxy.
#[derive(Debug)]
pub(crate) struct SshTarget {
    pub(super) end: SshHop,
    pub(super) bastion: Option<SshHop>,
    pub(super) proxy: Option<Proxy>,
    /// Whether commands on the host may use the agent: only with an explicit `agent = true`.
    pub(super) forwards_agent: bool,
    pub(super) timeout: Duration,
    unix: bool,
    script_path: String,
}

/// One host and the credentials for it.
#[derive(Debug)]
pub(super) struct SshHop {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) identity: Option<LoginIdentity>,
    /// Whether a certificate is configured, even if it is not used.
    certificate: bool,
    pub(super) agent: Option<SshAgent>,
    pub(super) host_key: Option<HostKey>,
    /// The keys of the host in the `known_hosts` files, used if no key is configured.
    pub(super) known_keys: KnownHostKeys,
}

/// Credentials of a hop, as configured.
struct HopCredentials {
    user: String,
    password: Option<String>,
    private_key: Option<String>,
    certificate: Option<String>,
    host_key: Option<String>,
    port: u16,
}

impl SshTarget {
    /// Reads a `connection` block that conforms to its schema.
    ///
    /// # Errors
    /// The address or the credentials are missing or invalid.
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
            Some(kind) => return Err(format!("connection type '{kind}' not supported")),
        }
        let unix = match block.string("target_platform").as_deref() {
            None | Some("unix") => true,
            Some("windows") => false,
            Some(_) => {
                let reason = "target_platform for provisioner has to be either unix or windows";
                return Err(reason.to_owned());
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
            // The arguments of the bastion default to those of the target host, except for the host
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

    /// Whether the host runs Unix.
    pub(crate) fn is_unix(&self) -> bool {
        self.unix
    }

    /// Quotes a path as one word for the shell of the host.
    pub(crate) fn quoted_path(&self, path: &str) -> String {
        quote_shell_word(path, self.unix)
    }

    /// Returns the path of the next script. The default path is different for each call.
    pub(crate) fn script_path(&self) -> String {
        let number = rand::random_range(0..=i32::MAX);
        self.script_path.replace(RANDOM_PLACEHOLDER, &number.to_string())
    }

    /// Lines that are printed before an attempt. They contain the kinds of secrets, never the values.
    pub(super) fn announcement_line(&self) -> String {
        let mut out = "Connecting to remote host via SSH...\n".to_owned();
        self.end.append_connection_lines(&mut out);
        if self.end.agent.is_some() && !self.forwards_agent {
            out.push_str("\n  SSH Agent Forwarding: false (agent = true forwards it)");
        }
        let platform = if self.unix { "unix" } else { "windows" };
        // Writing to a string does not fail.
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

const WINRM_UNSUPPORTED: &str = "connection type 'winrm' not supported: Formwork connects to remote hosts only over SSH. Windows has included an SSH server since 2018: install it on the host, and use type = \"ssh\" with target_platform = \"windows\". Alternatively, run a program that supports WinRM in a \"local-exec\" provisioner.";

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
        let known_keys = match self.host_key {
            Some(_) => KnownHostKeys::default(),
            None => KnownHostKeys::find(host.trim_matches(['[', ']']), self.port, home)?,
        };
        Ok(SshHop {
            known_keys,
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
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "  Host: {}\n  User: {}\n  Password: {}\n  Private key: {}\n  Certificate: {}\n  SSH Agent: {}\n  Checking Host Key: {}",
            self.host,
            self.user,
            self.password.is_some(),
            self.identity.is_some(),
            self.certificate,
            self.agent.is_some(),
            self.host_key.is_some() || self.known_keys.has_keys()
        );
    }

    /// The host without the brackets of an IPv6 address.
    pub(super) fn host_without_brackets(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }
}

/// Returns the agent to use: the one of the environment, unless the block disables it.
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

/// Parses a duration. Returns `None` if it is invalid: the default applies, as in Terraform.
fn parse_timeout(text: &str) -> Option<Duration> {
    let nanoseconds = duration::parse_nanoseconds(text).ok()?;
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_timeouts_are_distinguished_from_zero() {
        let check = |text: &str| parse_timeout(text).map(|d| d.as_micros());
        assert_eq!(check("1.5m"), Some(90_000_000));
        assert_eq!(check("0.1s1us"), Some(100_001));
        assert_eq!(check("0"), Some(0));
        assert_eq!((check("soon"), check("-1s")), (None, None));
    }

    #[test]
    fn ipv6_addresses_are_put_in_brackets() {
        assert_eq!(bracket_ipv6("::1".to_owned()), "[::1]");
        assert_eq!(bracket_ipv6("127.0.0.1".to_owned()), "127.0.0.1");
        assert_eq!(bracket_ipv6("[::1]".to_owned()), "[::1]");
    }
}
