//! Every authentication method and every route to the host, with success: the client offers what the
//! host requires.
//!
//! A real server accepts passwords only of the accounts of this machine, which tests do not
//! change, so an own server accepts them.

use super::*;
use crate::harness::proxy::{PASSWORD, Proxy, Scheme, USER};

const HELLO: &str = "provisioner \"file\" {\ncontent = \"a text\"\ndestination = \"%/text\"\n}\nprovisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";

/// The server's own words for a connection, without those on how to log in.
fn connection(sshd: &Sshd) -> String {
    let text = sshd.connection();
    let lines = text
        .lines()
        .filter(|line| !["agent", "private_key"].iter().any(|name| line.starts_with(name)));
    lines.map(|line| format!("{line}\n")).collect()
}

fn key(sshd: &Sshd, prefix: &str, name: &str) -> String {
    format!("{prefix}private_key = file(\"{}\")\n", sshd.path(name).display())
}

fn certificate(sshd: &Sshd, prefix: &str, name: &str) -> String {
    format!(
        "{prefix}certificate = file(\"{}\")\n",
        sshd.path(&format!("{name}-cert.pub")).display()
    )
}

/// Description, the arguments of the connection for it, and the variables.
type Connection<'a> = (&'a str, String, &'a [(&'a str, String)]);

#[test]
fn a_key_a_certificate_and_an_agent_each_authenticate() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = sshd.agent(&["id"]);
    let certified_agent = sshd.agent(&["certified"]);
    let with_agent = [("SSH_AUTH_SOCK", agent.socket())];
    let with_certified = [("SSH_AUTH_SOCK", certified_agent.socket())];
    let certified = key(&sshd, "", "certified") + &certificate(&sshd, "", "certified");
    let bastion = "bastion_host = \"127.0.0.1\"\n".to_owned();
    let without_agent = "agent = false\n";
    let connections: [Connection<'_>; 8] = [
        ("a key", key(&sshd, "", "id") + without_agent, &[]),
        ("a certificate", certified.clone() + without_agent, &[]),
        ("an agent", String::new(), &with_agent),
        ("an agent with a certificate", String::new(), &with_certified),
        ("a bastion with a key", bastion.clone() + &key(&sshd, "", "id") + without_agent, &[]),
        ("a bastion with a certificate", bastion.clone() + &certified + without_agent, &[]),
        (
            "a bastion with a certificate before a key",
            bastion.clone()
                + &key(&sshd, "", "id")
                + &key(&sshd, "bastion_", "certified")
                + &certificate(&sshd, "bastion_", "certified")
                + without_agent,
            &[],
        ),
        ("a bastion with an agent", bastion, &with_agent),
    ];
    for (name, words, env) in connections {
        let (workdir, result) = check_with(&resource(&(connection(&sshd) + &words), HELLO), env);
        assert_eq!(result.code, Some(0), "{name}: {}", result.text());
        result.says("(remote-exec): hello").says("Connected!");
        assert_eq!(workdir.read("there/text"), "a text", "{name}");
    }
}

#[test]
fn a_proxy_of_either_kind_connects_to_the_host() {
    let Some(sshd) = Sshd::start() else { return };
    let with_key = connection(&sshd) + &key(&sshd, "", "id") + "agent = false\n";
    for (scheme, name) in [(Scheme::Http, "http"), (Scheme::Socks, "socks5")] {
        for guarded in [false, true] {
            let proxy = Proxy::start(scheme, guarded);
            let mut words = format!(
                "proxy_scheme = \"{name}\"\nproxy_host = \"127.0.0.1\"\nproxy_port = {}\n",
                proxy.port
            );
            if guarded {
                words += &format!(
                    "proxy_user_name = \"{USER}\"\nproxy_user_password = \"{PASSWORD}\"\n"
                );
            }
            let (workdir, result) = check(&resource(&(with_key.clone() + &words), HELLO));
            assert_eq!(result.code, Some(0), "{name}, {guarded}: {}", result.text());
            assert_eq!(workdir.read("there/text"), "a text");
            assert!(proxy.connected() > 0, "{name} was gone around");
            // Behind the proxy there may be a bastion.
            let hello = "provisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";
            let words = words + "bastion_host = \"127.0.0.1\"\n";
            let before = proxy.connected();
            ours(&resource(&(with_key.clone() + &words), hello)).code(0).says("hello");
            assert_eq!(proxy.connected(), before + 1, "only the bastion is called through it");
        }
    }
}

#[test]
fn a_proxy_that_requires_authentication_is_distinguished_from_a_missing_one() {
    let Some(sshd) = Sshd::start() else { return };
    let with_key = connection(&sshd).replace("20s", "2s") + &key(&sshd, "", "id");
    for (scheme, name, words) in [
        (Scheme::Http, "http", "407 Proxy Authentication Required"),
        (Scheme::Socks, "socks5", "the proxy supports none of the authentication methods"),
    ] {
        let proxy = Proxy::start(scheme, true);
        let words_of = format!(
            "agent = false\nproxy_scheme = \"{name}\"\nproxy_host = \"127.0.0.1\"\nproxy_port = {}\n",
            proxy.port
        );
        let hello = "provisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";
        ours(&resource(&(with_key.clone() + &words_of), hello)).code(1).says(words);
        assert_eq!(proxy.connected(), 0);
    }
}
