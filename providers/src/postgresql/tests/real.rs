//! A real server, and the provider configured for it.

use std::path::Path;
use std::process::Command;

use formwork_sdk::prelude::Stop;
use formwork_sdk::testing::TestObject;
use tokio_postgres::SimpleQueryMessage;

use super::super::provider_of_server;
use super::super::server::{PostgresqlConfigModelDraft, PostgresqlServer};
use super::installed::Installed;

/// A running server.
pub(super) struct Real {
    pub(super) server: PostgresqlServer,
    installed: Installed,
}

/// The server, with the provider configuration.
fn server(port: u16, role: &str) -> PostgresqlServer {
    let mut settings = PostgresqlConfigModelDraft::default();
    settings.host = "127.0.0.1".into();
    settings.port = i64::from(port).into();
    settings.username = role.into();
    settings.sslmode = "disable".into();
    settings.connect_timeout = 60_i64.into();
    let server = PostgresqlServer::default();
    server.configure(&settings).unwrap();
    server
}

impl Real {
    /// Starts a server. `None`, with a prominent message, where PostgreSQL is not installed.
    pub(super) async fn start() -> Option<Self> {
        let installed = Installed::start(program, &[], &[])?;
        let server = server(installed.port, "postgres");
        // The server may still be starting; the provider has to wait for it.
        let (_switch, stop) = Stop::new();
        server.connect(None, &stop).await.unwrap();
        Some(Self { server, installed })
    }

    /// The same for a provider that connects as another user.
    pub(super) fn known_as(self, role: &str) -> Self {
        Self { server: server(self.installed.port, role), ..self }
    }

    /// A test object of a resource type of this server.
    pub(super) async fn test_object(&self, kind: &str) -> TestObject {
        TestObject::new(provider_of_server(&self.server), kind).await.unwrap()
    }

    /// Runs statements outside of the provider.
    pub(super) async fn run(&self, statements: &str) {
        self.ask(statements).await;
    }

    /// The same in a database.
    pub(super) async fn run_in(&self, database: &str, statements: &str) {
        self.ask_in(database, statements).await;
    }

    /// The first value that a query gives.
    pub(super) async fn ask(&self, query: &str) -> String {
        self.ask_in("postgres", query).await
    }

    /// The same in a database.
    pub(super) async fn ask_in(&self, database: &str, query: &str) -> String {
        let mut config = tokio_postgres::Config::new();
        config.host("127.0.0.1").port(self.installed.port).user("postgres").dbname(database);
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        let answers = client.simple_query(query).await.unwrap();
        let first = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        match first.unwrap_or_default() {
            "t" => "true".to_owned(),
            "f" => "false".to_owned(),
            other => other.to_owned(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server that the tests are about")]
pub(super) fn program(path: &Path) -> Command {
    Command::new(path)
}
