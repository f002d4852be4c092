//! `TF_REATTACH_PROVIDERS`: the addresses of plugins that another process started.
//!
//! Pure parse and print, for both roles. Opens no connections, and does not parse the source
//! addresses of providers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::handshake::{Address, Protocol};

/// The variable's name.
pub const REATTACH_VARIABLE: &str = "TF_REATTACH_PROVIDERS";

/// A plugin that is running already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reattach {
    /// The protocol version that it uses.
    pub protocol: Protocol,
    /// Address of its socket, in plaintext.
    pub address: Address,
    /// The process id, for messages.
    pub pid: u32,
}

/// Why the variable cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReattachError {
    /// Not the JSON it should be.
    #[error("{REATTACH_VARIABLE} is not a JSON object of plugins: {0}")]
    Malformed(String),
    /// One entry has a protocol or network that is not supported.
    #[error("{REATTACH_VARIABLE} says that {provider} {feature}")]
    Unsupported {
        /// The provider, as written.
        provider: String,
        /// Unsupported feature.
        feature: String,
    },
}

// The order of the fields is part of the format: tools compare the string.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    // Go leaves absent fields at their zero value, so none of these is required.
    #[serde(default)]
    protocol: String,
    #[serde(default)]
    protocol_version: u32,
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    test: bool,
    addr: Addr,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Addr {
    network: String,
    string: String,
}

/// Reads the variable's value: plugins by provider source address, as written. An empty value names
/// none.
///
/// # Errors
/// When it is malformed or names a version or network that is not supported.
pub fn parse_reattach_variable(value: &str) -> Result<BTreeMap<String, Reattach>, ReattachError> {
    if value.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    // Go reads null as a map without entries.
    let entries: Option<BTreeMap<String, Entry>> =
        serde_json::from_str(value).map_err(|error| ReattachError::Malformed(error.to_string()))?;
    entries
        .unwrap_or_default()
        .into_iter()
        .map(|(provider, entry)| Ok((provider.clone(), reattach_from_entry(provider, entry)?)))
        .collect()
}

fn reattach_from_entry(provider: String, entry: Entry) -> Result<Reattach, ReattachError> {
    let unsupported = |feature| ReattachError::Unsupported { provider: provider.clone(), feature };
    if !matches!(entry.protocol.as_str(), "" | "grpc") {
        return Err(unsupported(format!("speaks {}, and only grpc is supported", entry.protocol)));
    }
    // The version is younger than the variable; without one it is the one there was then.
    let protocol = match entry.protocol_version {
        0 => Protocol::V5,
        number => Protocol::from_number(number).ok_or_else(|| {
            unsupported(format!("speaks protocol {number}, and only 5 and 6 are supported"))
        })?,
    };
    let Addr { network, string } = entry.addr;
    let address = Address::from_parts(&network, &string).ok_or_else(|| {
        unsupported(format!("listens on `{network}`, and only unix and tcp are supported"))
    })?;
    Ok(Reattach { protocol, address, pid: entry.pid })
}

/// Returns the value that leads hosts to the plugin that serves the provider under each of the
/// addresses `providers`.
#[must_use]
pub fn format_reattach_variable(providers: &[String], reattach: &Reattach) -> String {
    let entry = || Entry {
        protocol: "grpc".to_owned(),
        protocol_version: reattach.protocol.number(),
        pid: reattach.pid,
        // Means: not the host's to end.
        test: true,
        addr: Addr {
            network: reattach.address.network().to_owned(),
            string: reattach.address.to_string(),
        },
    };
    // Strings and numbers always have a JSON form, so the fallback is never seen.
    let entries: BTreeMap<&String, Entry> =
        providers.iter().map(|provider| (provider, entry())).collect();
    serde_json::to_string(&entries).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn sample() -> Reattach {
        let address = Address::Unix("/tmp/plugin12345".into());
        Reattach { protocol: Protocol::V6, address, pid: 12345 }
    }

    #[test]
    fn a_formatted_variable_is_parsed_back() {
        let text =
            format_reattach_variable(&["registry.terraform.io/acme/exp".to_owned()], &sample());
        expect![[r#"{"registry.terraform.io/acme/exp":{"Protocol":"grpc","ProtocolVersion":6,"Pid":12345,"Test":true,"Addr":{"Network":"unix","String":"/tmp/plugin12345"}}}"#]]
            .assert_eq(&text);
        let plugins = parse_reattach_variable(&text).expect("it is well-formed");
        assert_eq!(
            plugins.into_iter().collect::<Vec<_>>(),
            [("registry.terraform.io/acme/exp".to_owned(), sample())]
        );
    }

    #[test]
    fn an_entry_without_version_is_of_protocol_5() {
        let text = r#"{"random":{"Addr":{"Network":"tcp","String":"127.0.0.1:9"}}}"#;
        let plugins = parse_reattach_variable(text).expect("it is well-formed");
        assert_eq!(plugins["random"].protocol, Protocol::V5);
        assert_eq!(plugins["random"].address, Address::Tcp("127.0.0.1:9".to_owned()));
    }

    #[test]
    fn an_empty_variable_has_no_plugins() {
        assert_eq!(parse_reattach_variable(""), Ok(BTreeMap::new()));
        assert_eq!(parse_reattach_variable(" {} "), Ok(BTreeMap::new()));
        assert_eq!(parse_reattach_variable("null"), Ok(BTreeMap::new()));
    }

    #[test]
    fn invalid_values_are_reported_with_the_reason() {
        let mut problems = String::new();
        for text in [
            "[]",
            "{",
            r#"{"a":{}}"#,
            r#"{"a":{"ProtocolVersion":4,"Addr":{"Network":"unix","String":"/s"}}}"#,
            r#"{"a":{"Protocol":"netrpc","Addr":{"Network":"unix","String":"/s"}}}"#,
            r#"{"a":{"Addr":{"Network":"vsock","String":"/s"}}}"#,
        ] {
            problems.push_str(
                &parse_reattach_variable(text).expect_err("the value is bad").to_string(),
            );
            problems.push('\n');
        }
        expect![[r#"
            TF_REATTACH_PROVIDERS is not a JSON object of plugins: invalid type: sequence, expected a map at line 1 column 0
            TF_REATTACH_PROVIDERS is not a JSON object of plugins: EOF while parsing an object at line 1 column 1
            TF_REATTACH_PROVIDERS is not a JSON object of plugins: missing field `Addr` at line 1 column 7
            TF_REATTACH_PROVIDERS says that a speaks protocol 4, and only 5 and 6 are supported
            TF_REATTACH_PROVIDERS says that a speaks netrpc, and only grpc is supported
            TF_REATTACH_PROVIDERS says that a listens on `vsock`, and only unix and tcp are supported
        "#]]
        .assert_eq(&problems);
    }
}
