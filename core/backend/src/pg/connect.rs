//! The server to connect to: a connection string and the `PG*` variables, with the rules of the client
//! library that Terraform uses.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_text_file};
use percent_encoding::percent_decode_str;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::call_error::call_error;
use super::connection::Connection;
use super::idle_connections;
use super::tls::{TlsMode, tls_connector};
use crate::cause::Cause;
use crate::config_error::ConfigError;

/// Default timeout of a connection, unless `connect_timeout` sets another.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Default timeout of a statement, unless [`STATEMENT_TIMEOUT_VARIABLE`] sets another. A large state on a slow
/// connection takes time.
const DEFAULT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

/// The variable with the timeout of a statement, in seconds.
pub(super) const STATEMENT_TIMEOUT_VARIABLE: &str = "FORMWORK_PG_STATEMENT_TIMEOUT";

/// The parameters of a connection string that environment variables can set, too.
const PARAMETER_VARIABLES: [(&str, &str); 12] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("sslmode", "PGSSLMODE"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
];

/// A server, a database and a user.
#[derive(Clone, PartialEq)]
pub(super) struct ConnectTarget {
    config: Config,
    mode: TlsMode,
    /// Files of certificates and keys, in PEM.
    files: TlsFiles,
    location: String,
    /// Timeout of a connection.
    connect_timeout: Duration,
    /// Timeout of a statement.
    statement_timeout: Duration,
}

/// Files for encrypted connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TlsFiles {
    /// The certificates of trusted authorities.
    pub(super) authorities: Option<PathBuf>,
    /// The certificate chain that is presented to the server.
    pub(super) certificate: Option<PathBuf>,
    /// The private key of the certificate.
    pub(super) key: Option<PathBuf>,
}

impl ConnectTarget {
    /// Parses a connection string: a URL or a list of `name=value`.
    ///
    /// # Errors
    /// Returns an error if the string is malformed, or if a parameter has an invalid value.
    pub(super) fn parse_conn_str(
        conn_str: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut given = if conn_str.contains("://") {
            parse_url(conn_str)?
        } else {
            parse_key_values(conn_str)?
        };
        for (name, variable_name) in PARAMETER_VARIABLES {
            if let Some(value) = variable(variable_name) {
                // As in libpq, the connection string takes precedence over the environment.
                given.entry(name.to_owned()).or_insert(value);
            }
        }
        let mut take = |name: &str| given.remove(name).filter(|value| !value.is_empty());
        let host = take("host").unwrap_or_else(|| "localhost".to_owned());
        let port = take("port").unwrap_or_else(|| "5432".to_owned());
        let port: u16 = port
            .parse()
            .map_err(|_| ConfigError::new(format!("{port:?} in conn_str is not a port")))?;
        // As in libpq, the default is the user of the operating system, and the default database
        // has the name of the user.
        let user = take("user").or_else(|| variable("USER")).unwrap_or_else(|| "root".to_owned());
        let dbname = take("dbname").unwrap_or_else(|| user.clone());
        // As in libpq, a host that begins with a slash is the directory of a socket.
        let is_socket = host.starts_with('/');
        let mode = match take("sslmode") {
            // The client library of Terraform does not encrypt sockets.
            _ if is_socket => TlsMode::Disable,
            // The default mode of that library, unlike the `prefer` of libpq.
            None => TlsMode::Require,
            Some(text) => TlsMode::parse(&text)?,
        };
        let path = |text: Option<String>| text.map(PathBuf::from);
        let files = TlsFiles {
            authorities: path(take("sslrootcert")),
            certificate: path(take("sslcert")),
            key: path(take("sslkey")),
        };
        let mut config = Config::new();
        config.host(&host).port(port).user(&user).dbname(&dbname);
        // The connector verifies certificates. To the library, all these modes mean encryption.
        config.ssl_mode(if mode == TlsMode::Disable { SslMode::Disable } else { SslMode::Require });
        let connect_timeout =
            parse_timeout(take("connect_timeout"), "conn_str", DEFAULT_CONNECT_TIMEOUT)?;
        let statement_timeout = parse_timeout(
            variable(STATEMENT_TIMEOUT_VARIABLE),
            STATEMENT_TIMEOUT_VARIABLE,
            DEFAULT_STATEMENT_TIMEOUT,
        )?;
        // The connection of the lock may be idle for hours, and firewalls would drop it without
        // keep-alive packets.
        config.connect_timeout(connect_timeout).keepalives_idle(Duration::from_secs(60));
        let password = take("password")
            .or_else(|| password_from_file(&variable, [&host, &port.to_string(), &dbname, &user]));
        if let Some(password) = password {
            config.password(password);
        }
        config.application_name(take("application_name").unwrap_or_else(|| "formwork".to_owned()));
        let mut options = take("options").unwrap_or_default();
        // These parameters are for the client only. The server would refuse them as settings.
        for name in ["fallback_application_name", "binary_parameters", "sslinline", "sslsni"] {
            drop(take(name));
        }
        // Other parameters are settings of the session.
        for (name, value) in given {
            // The server splits options at spaces, unless they are preceded by a backslash.
            let value = value.replace('\\', "\\\\").replace(' ', "\\ ");
            options.push_str(&format!(" -c {name}={value}"));
        }
        if !options.is_empty() {
            config.options(options.trim());
        }
        let location = match is_socket {
            true => format!("postgres:{host}:{port}/{dbname}"),
            false => format!("postgres://{host}:{port}/{dbname}"),
        };
        Ok(Self { config, mode, files, location, connect_timeout, statement_timeout })
    }

    /// The location of the database, for messages. Contains no secrets.
    pub(super) fn location(&self) -> String {
        self.location.clone()
    }

    /// Connects, or returns an idle connection.
    ///
    /// # Errors
    /// Returns an error if the server refuses the connection, or does not respond in time.
    pub(super) async fn connect(&self) -> Result<Connection, Cause> {
        if let Some(client) = idle_connections::take_idle_connection(self) {
            return Ok(client);
        }
        // A server that accepts a connection may still not respond.
        let connected = tokio::time::timeout(self.connect_timeout, self.connect_new()).await;
        connected.unwrap_or_else(|_| {
            let seconds = self.connect_timeout.as_secs();
            Err(format!("connecting: the server did not respond within {seconds} seconds. Check that host and port are those of a PostgreSQL server; `connect_timeout` in conn_str sets another limit").into())
        })
    }

    async fn connect_new(&self) -> Result<Connection, Cause> {
        let connect_error = |error| call_error("connecting", &error);
        if self.mode == TlsMode::Disable {
            let (client, connection) = self.config.connect(NoTls).await.map_err(connect_error)?;
            // The library sends nothing unless the other half of the connection is polled.
            tokio::spawn(connection);
            return Ok(Connection::new(client, self.statement_timeout));
        }
        let tls = tls_connector(self.mode, &self.files)?;
        let (client, connection) = self.config.connect(tls).await.map_err(connect_error)?;
        tokio::spawn(connection);
        Ok(Connection::new(client, self.statement_timeout))
    }
}

/// Returns a timeout from the number of seconds in a parameter, or the default. 0 means the
/// default.
fn parse_timeout(
    seconds: Option<String>,
    parameter: &str,
    default: Duration,
) -> Result<Duration, ConfigError> {
    let Some(text) = seconds else { return Ok(default) };
    match text.parse() {
        Ok(0) => Ok(default),
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => {
            let message = format!("{text:?} in {parameter} is not a number of seconds");
            Err(ConfigError::new(message))
        }
    }
}

/// Parses the parameters of a URL: `postgres://user:password@host:port/dbname?name=value`.
fn parse_url(text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let invalid = |reason: &str| ConfigError::new(format!("conn_str is not a valid URL: {reason}"));
    let (scheme, rest) = text.split_once("://").ok_or_else(|| invalid("there is no scheme"))?;
    if scheme != "postgres" && scheme != "postgresql" {
        return Err(invalid(&format!("the scheme is {scheme:?}, not postgres")));
    }
    let decode = |text: &str| {
        percent_decode(text).ok_or_else(|| invalid("a % is not followed by two digits"))
    };
    let mut settings = BTreeMap::new();
    let mut insert_setting = |name: &str, value: String| {
        if !value.is_empty() {
            settings.insert(name.to_owned(), value);
        }
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    // The last one, because a password may contain the character itself.
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    insert_setting("user", decode(user)?);
    insert_setting("password", decode(password)?);
    // An IPv6 address contains colons, so it is enclosed in brackets.
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or_default()),
        None => host.rsplit_once(':').unwrap_or((host, "")),
    };
    insert_setting("host", decode(host)?);
    insert_setting("port", decode(port)?);
    insert_setting("dbname", decode(path)?);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // In a query, unlike in the other parts of a URL, a plus sign is a space.
        insert_setting(&decode(name)?, decode(&value.replace('+', " "))?);
    }
    Ok(settings)
}

/// Decodes percent escapes in a string. Returns `None` if they are malformed.
fn percent_decode(text: &str) -> Option<String> {
    // The crate does not change malformed escapes.
    let is_escape = |text_after_percent: &str| {
        text_after_percent
            .as_bytes()
            .get(..2)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let is_well_formed = text.split('%').skip(1).all(is_escape);
    let decoded = is_well_formed.then(|| percent_decode_str(text).decode_utf8())?;
    decoded.ok().map(Cow::into_owned)
}

/// Parses the parameters of a list: `host=localhost password='with \' space'`.
fn parse_key_values(text: &str) -> Result<BTreeMap<String, String>, ConfigError> {
    let invalid = |reason: String| ConfigError::new(format!("conn_str is malformed: {reason}"));
    let mut settings = BTreeMap::new();
    let mut chars = text.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let mut name = String::new();
        while let Some(c) = chars.next_if(|c| *c != '=' && !c.is_whitespace()) {
            name.push(c);
        }
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        if name.is_empty() && chars.peek().is_none() {
            return Ok(settings);
        }
        if chars.next() != Some('=') || name.is_empty() {
            return Err(invalid(format!("{name:?} is not followed by =")));
        }
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let is_quoted = chars.next_if_eq(&'\'').is_some();
        let mut value = String::new();
        loop {
            match chars.next() {
                Some('\'') if is_quoted => break,
                Some('\\') => value.extend(chars.next()),
                Some(c) if !is_quoted && c.is_whitespace() => break,
                Some(c) => value.push(c),
                None if is_quoted => return Err(invalid("a quote is not closed".to_owned())),
                None => break,
            }
        }
        settings.insert(name, value);
    }
}

/// Returns the password for a host, port, database and user from the password file, if there is
/// one.
fn password_from_file(
    variable: &impl Fn(&str) -> Option<String>,
    connection_fields: [&str; 4],
) -> Option<String> {
    let path = variable("PGPASSFILE").map(PathBuf::from);
    let path = path.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".pgpass")))?;
    // As in libpq, an unreadable file is ignored.
    find_password(&read_user_text_file(&path, MAX_SMALL_FILE_LEN).ok()?, connection_fields)
}

/// Returns the password from the content of a password file.
fn find_password(text: &str, connection_fields: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = split_password_line(line);
        let (password, fields) = fields.split_last()?;
        let is_match = fields.len() == connection_fields.len()
            && fields
                .iter()
                .zip(connection_fields)
                .all(|(field, expected)| field == "*" || field == expected);
        is_match.then(|| password.clone())
    })
}

/// Returns the fields of a line in a password file. They are separated by colons that are not
/// preceded by a backslash.
fn split_password_line(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        // There is a field from the start, so the subtraction cannot underflow.
        let last_index = fields.len() - 1;
        match c {
            '\\' => fields[last_index].extend(chars.next()),
            ':' => fields.push(String::new()),
            c => fields[last_index].push(c),
        }
    }
    fields
}

/// Parses a connection string and a password file, as a fuzz target.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_connection(text: &str) {
    drop(ConnectTarget::parse_conn_str(text, |_| None));
    drop(find_password(text, ["h", "5432", "d", "u"]));
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    fn parse_with_variables(
        conn_str: &str,
        variables: &[(&str, &str)],
    ) -> Result<ConnectTarget, ConfigError> {
        ConnectTarget::parse_conn_str(conn_str, |name| {
            let entry = variables.iter().find(|(variable, _)| *variable == name);
            entry.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_connection_string_is_a_url_or_a_list_and_the_environment_fills_it() {
        let url = parse_with_variables(
            "postgres://u%40x:p%2Fw@h:5433/d?sslmode=disable&connect_timeout=3",
            &[],
        );
        let url = url.unwrap();
        assert_eq!(url.location(), "postgres://h:5433/d");
        assert_eq!(url.config.get_user(), Some("u@x"));
        assert_eq!(url.config.get_password(), Some(b"p/w".as_slice()));
        assert_eq!(url.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        let list = parse_with_variables(
            "host=/run/sock dbname = 'my db' password='it\\'s' search_path=a",
            &[],
        );
        let list = list.unwrap();
        assert_eq!(list.location(), "postgres:/run/sock:5432/my db");
        assert_eq!(list.config.get_password(), Some(b"it's".as_slice()));
        assert_eq!(list.config.get_options(), Some("-c search_path=a"));
        assert!(matches!(list.config.get_hosts(), [Host::Unix(_)]));
        let filled = parse_with_variables(
            "",
            &[("PGHOST", "h"), ("PGUSER", "u"), ("PGSSLMODE", "verify-full")],
        );
        let filled = filled.unwrap();
        assert_eq!(filled.location(), "postgres://h:5432/u");
        assert_eq!(filled.mode, TlsMode::VerifyFull);
    }

    #[test]
    fn a_malformed_connection_string_is_refused() {
        let refusal = |text: &str| parse_with_variables(text, &[]).map(|_| ()).unwrap_err().message;
        assert!(refusal("mysql://h/d").contains("not postgres"));
        assert!(refusal("host").contains("not followed by ="));
        assert!(refusal("password='x").contains("not closed"));
        assert!(refusal("port=x").contains("not a port"));
        assert!(refusal("sslmode=prefer").contains("sslmode"));
    }

    #[test]
    fn a_password_comes_from_the_file_of_passwords() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pass");
        std::fs::write(&file, "# none\nother:*:*:*:no\nh:*:d:u:a\\:b\n").unwrap();
        let file = file.to_str().unwrap();
        let target = parse_with_variables("postgres://u@h/d", &[("PGPASSFILE", file)]).unwrap();
        assert_eq!(target.config.get_password(), Some(b"a:b".as_slice()));
    }
}
