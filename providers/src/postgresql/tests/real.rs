//! A server of the test's own: on a free port, in a folder that goes with it.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use formwork_sdk::prelude::*;
use formwork_sdk::testing::Life;
use nix::unistd::{Gid, Uid, User};
use tempfile::TempDir;
use tokio_postgres::SimpleQueryMessage;

use super::super::provider_of;
use super::super::server::{Server, SettingsDraft};

/// A running server.
pub(super) struct Real {
    server: Server,
    port: u16,
    process: Child,
    _folder: TempDir,
}

impl Real {
    /// Starts a server. `None`, said loudly, where PostgreSQL is not installed.
    pub(super) async fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            println!(
                "NOT TESTED: PostgreSQL is not on this machine; Debian has it as postgresql-15"
            );
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let owner = owner();
        if let Some((user, group)) = owner {
            chown(folder.path(), Some(user.as_raw()), Some(group.as_raw())).unwrap();
        }
        let data = folder.path().join("data");
        let mut init = command(&programs.join("initdb"), folder.path(), owner);
        init.args(["-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "-E", "UTF8", "-D"]);
        let done = init.arg(&data).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let port = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut serve = command(&programs.join("postgres"), folder.path(), owner);
        serve.arg("-D").arg(&data).args(["-p", &port.to_string(), "-F", "-h", "127.0.0.1"]);
        serve.arg("-k").arg(folder.path()).stdout(Stdio::null()).stderr(log);
        let process = serve.spawn().unwrap();
        let server = Server::default();
        let mut settings = SettingsDraft::default();
        settings.host = "127.0.0.1".into();
        settings.port = i64::from(port).into();
        settings.connect_timeout = 60_i64.into();
        server.configure(&mut Diagnostics::new(), settings).await.unwrap();
        Some(Self { server, port, process, _folder: folder })
    }

    /// The life of an object on it. That the server is still starting is nobody's concern.
    pub(super) async fn life(&self, kind: &str) -> Life {
        Life::new(provider_of(&self.server), kind).await.unwrap()
    }

    /// Runs statements behind the provider's back.
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
        config.host("127.0.0.1").port(self.port).user("postgres").dbname(database);
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

impl Drop for Real {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// The folder of the server's programs, which distributions keep out of the way.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.extend(["/usr/bin", "/usr/local/bin", "/usr/local/pgsql/bin"].map(PathBuf::from));
    let has_all = |folder: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    folders.into_iter().rev().find(has_all)
}

/// As whom to run the server if we are root, which it refuses to run as.
fn owner() -> Option<(Uid, Gid)> {
    if !Uid::effective().is_root() {
        return None;
    }
    let users = ["postgres", "nobody"].into_iter();
    let user = users.filter_map(|name| User::from_name(name).ok().flatten()).next();
    user.map(|user| (user.uid, user.gid))
}

#[expect(clippy::disallowed_methods, reason = "the server that the tests are about")]
fn command(program: &Path, folder: &Path, owner: Option<(Uid, Gid)>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    if let Some((user, group)) = owner {
        command.uid(user.as_raw()).gid(group.as_raw());
    }
    command
}
