//! Password authentication, with a server in this process, because a real server would require the
//! password of a local account. All other methods are tested with a real server, in
//! `tests/scenario/ssh`.

use std::borrow::Cow;
use std::sync::Arc;

use formwork_value::{Plain, Value};
use russh::keys::{Algorithm, PrivateKey};
use russh::server::{self, Auth, ChannelOpenHandle, Config, Msg, Response};
use russh::{Channel, ChannelId, MethodKind, MethodSet};
use tokio::net::{TcpListener, TcpStream};

use super::session::{CommandResult, Session};
use super::target::SshTarget;
use crate::ProvisionerEnvironment;

const USER: &str = "somebody";
const PASSWORD: &str = "open sesame";
/// Password of the bastion, if it differs.
const OTHER: &str = "swordfish";

/// A server that accepts the right password.
#[derive(Clone)]
struct PasswordServer {
    password: &'static str,
    /// Number of rounds of questions.
    n_rounds: usize,
}

impl PasswordServer {
    fn question(&self) -> Auth {
        let prompts = vec![(Cow::Borrowed("Password: "), false); 2];
        let (name, instructions) = (Cow::Borrowed(""), Cow::Borrowed(""));
        Auth::Partial { name, instructions, prompts: prompts.into() }
    }
}

impl server::Handler for PasswordServer {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        let right = user == USER && password == self.password;
        Ok(if right { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        let Some(response) = response else { return Ok(self.question()) };
        let answers: Vec<_> = response.collect();
        let right = |answer: &bytes::Bytes| *answer == self.password;
        if user != USER || answers.len() != 2 || !answers.iter().all(right) {
            return Ok(Auth::reject());
        }
        self.n_rounds -= 1;
        Ok(if self.n_rounds == 0 { Auth::Accept } else { self.question() })
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut server::Session,
    ) -> Result<(), Self::Error> {
        reply.accept().await;
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut server::Session,
    ) -> Result<(), Self::Error> {
        let port = u16::try_from(port).expect("a port");
        let mut end = TcpStream::connect((host, port)).await?;
        reply.accept().await;
        tokio::spawn(async move {
            tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut end).await
        });
        Ok(())
    }

    async fn exec_request(
        &mut self,
        channel: ChannelId,
        command: &[u8],
        session: &mut server::Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(channel)?;
        session.data(channel, command.to_vec())?;
        session.exit_status_request(channel, 0)?;
        session.eof(channel)?;
        session.close(channel)
    }
}

/// Starts a server that lets people in by this method, and returns its port.
async fn server(method: MethodKind, password: &'static str, n_rounds: usize) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = listener.local_addr().expect("the listener has an address").port();
    let key = PrivateKey::random(&mut rand::rng(), Algorithm::Ed25519).expect("a key");
    let config = Config {
        methods: MethodSet::from(&[method][..]),
        auth_rejection_time: std::time::Duration::ZERO,
        keys: vec![key],
        ..Config::default()
    };
    let config = Arc::new(config);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let handler = PasswordServer { password, n_rounds };
            let running = server::run_stream(Arc::clone(&config), stream, handler).await;
            // A client that disconnects ends its own session only.
            tokio::spawn(async move {
                if let Ok(running) = running {
                    drop(running.await);
                }
            });
        }
    });
    port
}

fn target(port: u16, arguments: &[(&str, &str)]) -> SshTarget {
    let port = port.to_string();
    let default_arguments =
        [("host", "127.0.0.1"), ("port", &*port), ("user", USER), ("timeout", "20s")];
    let all_arguments = default_arguments.iter().chain(arguments);
    let value = Value::object(all_arguments.map(|(name, text)| match text.parse() {
        Ok(port) if name.ends_with("port") => (*name, Value::int(port)),
        _ => (*name, Value::string(*text)),
    }));
    let plain = Plain::try_from(value).expect("the value has no marks");
    SshTarget::from_connection_block(Some(&plain), &ProvisionerEnvironment::default())
        .expect("the connection block is valid")
}

/// Output of a command run on the machine.
async fn hello(target: &SshTarget) -> Result<String, String> {
    let session = Session::open(target).await?;
    let mut output = Vec::new();
    let result = session.run_command("hello", &mut |text| output.extend_from_slice(text)).await?;
    assert_eq!(result, CommandResult::Success);
    session.close().await;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

#[tokio::test]
async fn the_right_password_is_accepted_by_both_methods() {
    for (method, n_rounds) in [
        (MethodKind::Password, 1),
        (MethodKind::KeyboardInteractive, 1),
        (MethodKind::KeyboardInteractive, 3),
    ] {
        let port = server(method, PASSWORD, n_rounds).await;
        let output = hello(&target(port, &[("password", PASSWORD)])).await;
        assert_eq!(output.as_deref(), Ok("hello"), "{method:?}");
        let reason = hello(&target(port, &[("password", "guess")])).await.expect_err("it is wrong");
        assert!(
            reason.contains("ssh: unable to authenticate, attempted methods [none "),
            "{reason}"
        );
        let reason = hello(&target(port, &[])).await.expect_err("there is none");
        assert!(reason.contains("attempted methods [none], no supported"), "{reason}");
    }
}

#[tokio::test]
async fn a_bastion_uses_its_own_password_or_that_of_the_target_host() {
    for method in [MethodKind::Password, MethodKind::KeyboardInteractive] {
        let end = server(method, PASSWORD, 1).await;
        for (password, more) in [(PASSWORD, None), (OTHER, Some(("bastion_password", OTHER)))] {
            let bastion = server(method, password, 1).await.to_string();
            let arguments = [
                ("password", PASSWORD),
                ("bastion_host", "127.0.0.1"),
                ("bastion_port", &*bastion),
            ];
            let arguments: Vec<_> = arguments.into_iter().chain(more).collect();
            assert_eq!(hello(&target(end, &arguments)).await.as_deref(), Ok("hello"), "{method:?}");
        }
        let bastion = server(method, OTHER, 1).await.to_string();
        let arguments =
            [("password", PASSWORD), ("bastion_host", "127.0.0.1"), ("bastion_port", &*bastion)];
        let reason = hello(&target(end, &arguments)).await.expect_err("the bastion wants another");
        assert!(reason.contains("Error connecting to bastion"), "{reason}");
    }
}
