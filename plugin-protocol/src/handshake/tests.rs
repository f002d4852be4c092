//! The one line of the handshake, printed and read.

use expect_test::expect;

use super::*;

fn certificate() -> Vec<u8> {
    // Every byte, and a length with which base64 would have padding.
    (0..=255).collect()
}

fn problem(line: &str) -> String {
    Handshake::parse(line.as_bytes()).expect_err("the line is bad").to_string()
}

#[test]
fn a_printed_handshake_line_is_parsed_back() {
    let tls = Handshake {
        protocol: Protocol::V6,
        address: Address::Unix("/tmp/plugin3141592".into()),
        certificate: Some(certificate()),
    };
    let plain = Handshake {
        protocol: Protocol::V5,
        address: Address::Tcp("127.0.0.1:10000".to_owned()),
        certificate: None,
    };
    for handshake in [tls, plain] {
        for multiplex in [false, true] {
            let line = handshake.to_line(multiplex);
            // go-plugin reads base64 without padding.
            assert!(!line.contains('='), "padding: {line}");
            assert_eq!(Handshake::parse(line.as_bytes()), Ok(handshake.clone()));
        }
    }
}

#[test]
fn the_line_has_the_fields_go_plugin_expects() {
    let handshake = Handshake {
        protocol: Protocol::V6,
        address: Address::Unix("/tmp/s".into()),
        certificate: None,
    };
    assert_eq!(handshake.to_line(false), "1|6|unix|/tmp/s|grpc|\n");
    // The seventh field is for hosts that asked for multiplexing.
    assert_eq!(handshake.to_line(true), "1|6|unix|/tmp/s|grpc||false\n");
}

#[test]
fn parsing_is_as_lenient_as_go_plugin() {
    let expected = Handshake {
        protocol: Protocol::V6,
        address: Address::Tcp("127.0.0.1:1234".to_owned()),
        certificate: None,
    };
    for line in [
        "1|6|tcp|127.0.0.1:1234|grpc",
        "1|6|tcp|127.0.0.1:1234|grpc|",
        // Some old plugins have other text in this field, so go-plugin sees a certificate only
        // beyond 50 bytes.
        "  1|6|tcp|127.0.0.1:1234|grpc|short \r\n",
        "1|6|tcp|127.0.0.1:1234|grpc||true|and|more",
    ] {
        assert_eq!(Handshake::parse(line.as_bytes()), Ok(expected.clone()), "{line}");
    }
    let padded = base64::engine::general_purpose::STANDARD.encode(certificate());
    let line = format!("1|6|unix|/s|grpc|{padded}");
    assert_eq!(
        Handshake::parse(line.as_bytes()).expect("padding is fine").certificate,
        Some(certificate())
    );
}

#[test]
fn an_invalid_line_is_reported_with_the_reason() {
    let lines = [
        "",
        "INFO starting up\n",
        "1|6|unix",
        "x|6|unix|/s|grpc",
        "2|6|unix|/s|grpc",
        "1|4|unix|/s|grpc",
        "1|six|unix|/s|grpc",
        "1|6|vsock|2:1234|grpc",
        // Without the field, go-plugin assumes net/rpc.
        "1|5|unix|/s",
        "1|5|unix|/s|netrpc|",
        // Control characters must not reach a terminal.
        "\x1b[31mred\x07",
    ];
    let mut problems = String::new();
    for line in lines {
        problems.push_str(&problem(line));
        problems.push('\n');
    }
    problems.push_str(&problem(&format!("1|6|unix|/s|grpc|{}", "*".repeat(60))));
    expect![[r#"
        the first line on its stdout is not a plugin handshake: ``
        the first line on its stdout is not a plugin handshake: `INFO starting up\n`
        the first line on its stdout is not a plugin handshake: `1|6|unix`
        the first line on its stdout is not a plugin handshake: `x|6|unix|/s|grpc`
        its handshake has core version `2`, and only version 1 is supported
        it uses version `4` of the provider protocol, and only 5 and 6 are supported
        it uses version `six` of the provider protocol, and only 5 and 6 are supported
        it listens on a network of unknown type `vsock`
        it speaks `netrpc`, and only gRPC plugins are supported
        it speaks `netrpc`, and only gRPC plugins are supported
        the first line on its stdout is not a plugin handshake: `\u{1b}[31mred\u{7}`
        the certificate in its handshake is not valid base64"#]]
    .assert_eq(&problems);
}

#[test]
fn a_long_line_is_shortened_in_errors() {
    let text = escape_and_shorten(&[b'x'; 5000]);
    assert!(text.len() < 300, "{}", text.len());
    assert!(text.ends_with("(4800 more bytes)"), "{text}");
}

#[test]
fn the_highest_common_version_is_chosen() {
    let both = Protocol::ALL.as_slice();
    for (offered, host_versions, expected) in [
        ("5,6", both, Protocol::V6),
        ("6,5", both, Protocol::V6),
        (" 5 ,junk,", both, Protocol::V5),
        ("5,6", &[Protocol::V5], Protocol::V5),
        // Without a common version the plugin answers with its lowest, as in go-plugin. The host
        // then reports the error.
        ("7", both, Protocol::V5),
        ("", both, Protocol::V5),
        ("5", &[Protocol::V6], Protocol::V6),
    ] {
        assert_eq!(
            Protocol::negotiate_or_oldest(offered, host_versions),
            expected,
            "{offered:?} {host_versions:?}"
        );
    }
}

#[test]
fn a_plugin_reads_the_environment_of_its_host() {
    let host = EnvironmentForPlugin::new(Path::new("/run/x"), Some("-----BEGIN"));
    let plugin = EnvironmentFromHost::read(|name| {
        host.set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
    });
    assert_eq!(
        plugin,
        EnvironmentFromHost {
            started_by_host: true,
            offered_versions: "5,6".to_owned(),
            client_certificate: Some("-----BEGIN".to_owned()),
            socket_dir: Some("/run/x".into()),
            socket_group: None,
            // The range that go-plugin gives to plugins.
            ports: (10000, 25000),
            multiplex_requested: false,
        }
    );
    // An inherited certificate would make the plugin use TLS.
    assert!(
        EnvironmentForPlugin::new(Path::new("/x"), None).remove.contains(&CLIENT_CERT_VARIABLE)
    );
}

#[test]
fn without_the_cookie_a_plugin_was_not_started_by_a_host() {
    let with_cookie = |cookie: Option<&str>| {
        EnvironmentFromHost::read(|name| {
            cookie.filter(|_| name == COOKIE_VARIABLE).map(OsString::from)
        })
        .started_by_host
    };
    assert!(with_cookie(Some(COOKIE_VALUE)));
    assert!(!with_cookie(Some("wrong")));
    assert!(!with_cookie(None));
}
