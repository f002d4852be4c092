//! The `.netrc` file: user names and passwords of servers. They are sent only to servers of module
//! packages, as in Terraform.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::http::host_and_port;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_text_file};

use crate::env::Env;

/// The entries of a `.netrc` file, in order.
#[derive(Debug, Default)]
pub(crate) struct Netrc(Vec<NetrcEntry>);

#[derive(Debug, Default)]
struct NetrcEntry {
    /// The host, with the port if it is not the default one. `None` for the `default` entry.
    name: Option<String>,
    login: String,
    password: String,
}

impl Netrc {
    /// Reads the file that `NETRC` specifies, otherwise the one in the home directory. An unreadable file
    /// is ignored: servers that require credentials return an error.
    pub(crate) fn load(env: &Env) -> Self {
        let configured =
            env.environment.get("NETRC").filter(|path| !path.is_empty()).map(PathBuf::from);
        let path = configured.or_else(|| Some(env.home.as_ref()?.join(".netrc")));
        let text = path.and_then(|path| read_user_text_file(&path, MAX_SMALL_FILE_LEN).ok());
        text.map(|text| Self::parse(&text)).unwrap_or_default()
    }

    /// Parses the contents of the file. Unknown words are skipped.
    pub(crate) fn parse(text: &str) -> Self {
        let mut machines: Vec<NetrcEntry> = Vec::new();
        let mut lines = text.lines();
        let mut next = None;
        while let Some(line) = lines.next() {
            for word in line.split_whitespace().take_while(|word| !word.starts_with('#')) {
                match (next.take(), machines.last_mut()) {
                    (Some("machine"), _) => {
                        let name = Some(word.to_lowercase());
                        machines.push(NetrcEntry { name, ..NetrcEntry::default() });
                    }
                    (Some("login"), Some(machine)) => machine.login = word.to_owned(),
                    (Some("password"), Some(machine)) => machine.password = word.to_owned(),
                    // The value is an account, or the name of a macro.
                    (Some(_), _) => {}
                    (None, _) => match word {
                        "default" => machines.push(NetrcEntry::default()),
                        "machine" => next = Some("machine"),
                        "login" => next = Some("login"),
                        "password" => next = Some("password"),
                        "account" => next = Some("account"),
                        // A macro ends at the next empty line.
                        "macdef" => {
                            lines.find(|line| line.trim().is_empty());
                            break;
                        }
                        _ => {}
                    },
                }
            }
        }
        Self(machines)
    }

    /// Returns the `Authorization` header of a request to a URL, unless the URL contains credentials.
    pub(crate) fn authorization(&self, url: &str) -> Option<String> {
        let host = host_and_port(url);
        if host.contains('@') {
            return None;
        }
        let machine_of_host = self.0.iter().find(|machine| machine.name.as_ref() == Some(&host));
        let default_machine = || self.0.iter().find(|machine| machine.name.is_none());
        let NetrcEntry { login, password, .. } = machine_of_host.or_else(default_machine)?;
        Some(format!("Basic {}", STANDARD.encode(format!("{login}:{password}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_receives_its_credentials_from_the_file() {
        let text = "# machine commented login no\n\
            machine One.example login a password p1 # machine two\n\
            macdef init\nmachine macro login no password no\n\n\
            machine one.example:8080\n  login b\n  account x\n  password p#2\n";
        let check = |text: &str, url: &str| {
            let header = Netrc::parse(text).authorization(url)?;
            let credentials = STANDARD.decode(header.strip_prefix("Basic ").unwrap()).unwrap();
            Some(String::from_utf8(credentials).unwrap())
        };
        for (url, expected) in [
            ("https://ONE.example/x?y", Some("a:p1")),
            ("https://one.example:8080/x", Some("b:p#2")),
            ("https://me@one.example/x", None),
            ("https://two/x", None),
            ("https://macro/x", None),
            ("https://commented/x", None),
        ] {
            assert_eq!(check(text, url).as_deref(), expected, "{url}");
        }
        let text_with_default = format!("{text}default login d password p3");
        assert_eq!(check(&text_with_default, "https://two/x").as_deref(), Some("d:p3"));
        assert_eq!(check(&text_with_default, "https://one.example/x").as_deref(), Some("a:p1"));
        assert_eq!(check("machine", "https://one.example/x"), None);
    }
}
