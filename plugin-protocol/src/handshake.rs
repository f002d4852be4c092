//! Handshake between host and plugin: the cookie, the environment, and the one line on stdout.
//!
//! Pure parse and print. Starts no process, opens no socket and reads no environment itself.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The variable that marks a plugin as started by a host (the magic cookie).
pub const COOKIE_VARIABLE: &str = "TF_PLUGIN_MAGIC_COOKIE";
/// Value of the cookie's variable. Not a secret: it only keeps people from running plugins by hand.
pub const COOKIE_VALUE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The longest handshake line that is read, as in go-plugin.
pub(crate) const MAX_HANDSHAKE_LINE_BYTES: usize = 64 * 1024;

const CORE_PROTOCOL_VERSION: &str = "1";
const VERSIONS_VARIABLE: &str = "PLUGIN_PROTOCOL_VERSIONS";
const CLIENT_CERT_VARIABLE: &str = "PLUGIN_CLIENT_CERT";
const MIN_PORT_VARIABLE: &str = "PLUGIN_MIN_PORT";
const MAX_PORT_VARIABLE: &str = "PLUGIN_MAX_PORT";
/// The variable that names the directory for the plugin's socket.
pub(crate) const SOCKET_DIR_VARIABLE: &str = "PLUGIN_UNIX_SOCKET_DIR";
const SOCKET_GROUP_VARIABLE: &str = "PLUGIN_UNIX_SOCKET_GROUP";
const MULTIPLEX_VARIABLE: &str = "PLUGIN_MULTIPLEX_GRPC";

// go-plugin writes certificates without padding and refuses padded ones. We write as it does, and
// read both.
const BASE64_UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A major version of the provider protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// tfplugin5.
    V5,
    /// tfplugin6.
    V6,
}

impl Protocol {
    /// All versions, best first.
    pub const ALL: [Self; 2] = [Self::V6, Self::V5];

    /// The latest version, which providers in the same process are called with.
    pub const LATEST: Self = Self::V6;

    /// Returns the version's number on the wire.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }

    /// Returns the version with this number, if it is supported.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.number() == number)
    }

    /// Picks the version that a plugin that supports `own` answers to a host that offers `offered`,
    /// the text of `PLUGIN_PROTOCOL_VERSIONS`: the highest common version. Without one it is the
    /// plugin's oldest version. The host then refuses it, because only the host can report that to
    /// the user.
    #[must_use]
    pub fn negotiate_or_oldest(offered: &str, supported: &[Self]) -> Self {
        let offered: Vec<u32> =
            // As in go-plugin, entries that are not numbers are skipped.
            offered.split(',').filter_map(|part| part.trim().parse().ok()).collect();
        let best =
            supported.iter().copied().filter(|version| offered.contains(&version.number())).max();
        best.or_else(|| supported.iter().copied().min()).unwrap_or(Self::V5)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// Address of a plugin's socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A unix socket.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String),
}

impl Address {
    /// Returns the name of the network, as the handshake and reattach formats write it.
    #[must_use]
    pub fn network(&self) -> &'static str {
        match self {
            Self::Unix(_) => "unix",
            Self::Tcp(_) => "tcp",
        }
    }

    /// Reads an address from its two parts, or `None` if the network is neither of the two.
    #[must_use]
    pub fn from_parts(network: &str, address: &str) -> Option<Self> {
        match network {
            "unix" => Some(Self::Unix(PathBuf::from(address))),
            "tcp" => Some(Self::Tcp(address.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp(address) => f.write_str(address),
        }
    }
}

/// Handshake line of a plugin, printed on stdout once it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// The protocol version that it will use.
    pub protocol: Protocol,
    /// Address of its socket.
    pub address: Address,
    /// Its certificate (DER), or `None` for a plaintext connection.
    pub certificate: Option<Vec<u8>>,
}

/// The reason why a line is not a usable handshake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// Not the format at all.
    #[error("the first line on its stdout is not a plugin handshake: `{0}`")]
    Unrecognized(String),
    /// Another version of the handshake itself.
    #[error("its handshake has core version `{0}`, and only version 1 is supported")]
    CoreVersion(String),
    /// A protocol version that is not supported.
    #[error("it uses version `{0}` of the provider protocol, and only 5 and 6 are supported")]
    AppVersion(String),
    /// Neither a unix socket nor TCP.
    #[error("it listens on a network of unknown type `{0}`")]
    Network(String),
    /// Not gRPC.
    #[error("it speaks `{0}`, and only gRPC plugins are supported")]
    Transport(String),
    /// The certificate field cannot be read.
    #[error("the certificate in its handshake is not valid base64")]
    Certificate,
}

impl Handshake {
    /// Reads the handshake line, with or without its newline.
    ///
    /// # Errors
    /// When the line is not a handshake, or names a version or transport that is not supported.
    pub fn parse(line: &[u8]) -> Result<Self, HandshakeError> {
        let unrecognized = || HandshakeError::Unrecognized(escape_and_shorten(line));
        let text = std::str::from_utf8(line).map_err(|_| unrecognized())?.trim();
        let fields: Vec<&str> = text.split('|').collect();
        let [core, app, network, address, optional_fields @ ..] = fields.as_slice() else {
            return Err(unrecognized());
        };
        // A number there means a plugin for another version; any other text is not from a plugin.
        if *core != CORE_PROTOCOL_VERSION {
            return Err(match core.parse::<u32>() {
                Ok(_) => HandshakeError::CoreVersion((*core).to_owned()),
                Err(_) => unrecognized(),
            });
        }
        let protocol = app
            .parse()
            .ok()
            .and_then(Protocol::from_number)
            .ok_or_else(|| HandshakeError::AppVersion(escape_and_shorten(app.as_bytes())))?;
        let address = Address::from_parts(network, address)
            .ok_or_else(|| HandshakeError::Network(escape_and_shorten(network.as_bytes())))?;
        // A handshake of four fields is from a plugin older than gRPC.
        let transport = optional_fields.first().copied().unwrap_or("netrpc");
        if transport != "grpc" {
            return Err(HandshakeError::Transport(escape_and_shorten(transport.as_bytes())));
        }
        // A seventh field is about multiplexing of the broker, which is never used.
        let certificate = parse_certificate(optional_fields.get(1).copied().unwrap_or_default())?;
        Ok(Self { protocol, address, certificate })
    }

    /// Returns the handshake line, with its newline. A host that requests multiplexing reads a
    /// seventh field, and older hosts fail on one, so it is written only when `multiplex_requested`.
    #[must_use]
    pub fn to_line(&self, multiplex_requested: bool) -> String {
        let certificate =
            self.certificate.as_deref().map(|der| BASE64_UNPADDED.encode(der)).unwrap_or_default();
        // Always `false`: no connections of the broker exist to multiplex.
        let multiplex = if multiplex_requested { "|false" } else { "" };
        let (protocol, network, address) = (self.protocol, self.address.network(), &self.address);
        format!(
            "{CORE_PROTOCOL_VERSION}|{protocol}|{network}|{address}|grpc|{certificate}{multiplex}\n"
        )
    }
}

fn parse_certificate(field: &str) -> Result<Option<Vec<u8>>, HandshakeError> {
    // go-plugin takes a short field for "none", whatever is in it.
    if field.len() <= 50 {
        return Ok(None);
    }
    BASE64_UNPADDED.decode(field).map(Some).map_err(|_| HandshakeError::Certificate)
}

/// Returns foreign bytes as text that is safe to show: escaped, and cut when long.
#[must_use]
pub(crate) fn escape_and_shorten(bytes: &[u8]) -> String {
    const MAX_SHOWN_LINE_LENGTH: usize = 200;
    let shown = &bytes[..bytes.len().min(MAX_SHOWN_LINE_LENGTH)];
    let text: String = String::from_utf8_lossy(shown)
        .chars()
        // The text comes from a foreign program and goes to a terminal.
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect();
    match bytes.len() - shown.len() {
        0 => text,
        n_more => format!("{text}... ({n_more} more bytes)"),
    }
}

/// Environment that a host sets for a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentForPlugin {
    /// Variables to set.
    pub set: Vec<(&'static str, OsString)>,
    /// Variables that must not be inherited, because the plugin would take them for variables of this host.
    pub remove: Vec<&'static str>,
}

impl EnvironmentForPlugin {
    /// Returns the environment for a plugin that creates its socket in `socket_dir` and, if there
    /// is a `client_certificate` (PEM), serves TLS to its owner only.
    #[must_use]
    pub fn new(socket_dir: &Path, client_certificate: Option<&str>) -> Self {
        let mut set = vec![
            (COOKIE_VARIABLE, OsString::from(COOKIE_VALUE)),
            // go-plugin writes them in random order, so plugins read no preference into it.
            (VERSIONS_VARIABLE, OsString::from("5,6")),
            // Terraform's range. A plugin needs it only where it has no Unix socket.
            (MIN_PORT_VARIABLE, OsString::from("10000")),
            (MAX_PORT_VARIABLE, OsString::from("25000")),
            (SOCKET_DIR_VARIABLE, socket_dir.as_os_str().to_owned()),
        ];
        // This program may itself run below a plugin host, whose variables it would pass on.
        let mut remove = vec![MULTIPLEX_VARIABLE, SOCKET_GROUP_VARIABLE];
        match client_certificate {
            Some(pem) => set.push((CLIENT_CERT_VARIABLE, OsString::from(pem))),
            // An inherited certificate would make the plugin serve TLS to a host that uses
            // plaintext.
            None => remove.push(CLIENT_CERT_VARIABLE),
        }
        Self { set, remove }
    }
}

/// Environment of a plugin, as it finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentFromHost {
    /// Whether a host started this process: the magic cookie is set and correct.
    pub started_by_host: bool,
    /// The versions the host offers, as it wrote them.
    pub offered_versions: String,
    /// The host's certificate (PEM). The host requests TLS by setting it.
    pub client_certificate: Option<String>,
    /// Directory for the socket, if the host sets one.
    pub socket_dir: Option<PathBuf>,
    /// The group, by name or number, that may use the socket.
    pub socket_group: Option<String>,
    /// The TCP ports to try, first and last; zero lets the system pick.
    pub ports: (u16, u16),
    /// Whether the host requests an answer about multiplexing.
    pub multiplex_requested: bool,
}

impl EnvironmentFromHost {
    /// Reads the environment through `lookup`. Ports that cannot be read count as not set.
    pub fn read(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        // go-plugin takes an empty variable for one that is not set.
        let text = |name: &str| {
            lookup(name).and_then(|value| value.into_string().ok()).filter(|v| !v.is_empty())
        };
        let port = |name| text(name).and_then(|value| value.parse().ok()).unwrap_or(0);
        Self {
            started_by_host: text(COOKIE_VARIABLE).as_deref() == Some(COOKIE_VALUE),
            offered_versions: text(VERSIONS_VARIABLE).unwrap_or_default(),
            client_certificate: text(CLIENT_CERT_VARIABLE),
            // Not through `text`: a path need not be UTF-8.
            socket_dir: lookup(SOCKET_DIR_VARIABLE)
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from),
            socket_group: text(SOCKET_GROUP_VARIABLE),
            ports: (port(MIN_PORT_VARIABLE), port(MAX_PORT_VARIABLE)),
            multiplex_requested: text(MULTIPLEX_VARIABLE).is_some(),
        }
    }
}

#[cfg(test)]
mod tests;
