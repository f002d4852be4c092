//! A PostgreSQL server for one test, on a free port and in a directory that is removed with it. The
//! tests of the whole workspace use this file too; it is independent of the provider.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::unistd::{Gid, Uid, User};
use tempfile::TempDir;

/// A server that runs until it is dropped. It may still be starting.
pub(crate) struct Installed {
    pub(crate) port: u16,
    process: Child,
    _dir: TempDir,
}

/// Prepares programs to run. Each package has its own module where that is allowed.
pub(crate) type Programs = fn(&Path) -> Command;

impl Installed {
    /// Starts a server with additional settings, and files that these may name by paths relative to
    /// the directory. `None`, with a prominent message, where PostgreSQL is not installed.
    pub(crate) fn start(
        program: Programs,
        settings: &[&str],
        files: &[(&str, &str)],
    ) -> Option<Self> {
        let Some(programs) = programs() else {
            let warning = "\n!!! PostgreSQL is missing (Debian: postgresql-15): its provider has NOT been tested !!!\n\n";
            // Not by a macro: its output is hidden when the test passes.
            let _written = std::io::stderr().write_all(warning.as_bytes());
            return None;
        };
        let directory = tempfile::tempdir().expect("a directory");
        let owner = owner();
        give(directory.path(), owner);
        let data = directory.path().join("data");
        let mut init = command(program(&programs.join("initdb")), directory.path(), owner);
        init.args(["-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "-E", "UTF8", "-D"]);
        let output = init.arg(&data).output().expect("initdb runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for (name, text) in files {
            let path = data.join(name);
            fs::write(&path, text).expect("it can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
                .expect("it belongs to this process");
            give(&path, owner);
        }
        // The server cannot choose a port, and another program may take the free one first.
        let started = (0..20).find_map(|_| {
            let port = free_port();
            let mut serve = command(program(&programs.join("postgres")), directory.path(), owner);
            serve.arg("-D").arg(&data).args(["-p", &port.to_string(), "-F", "-h", "127.0.0.1"]);
            serve.args(settings.iter().flat_map(|setting| ["-c", setting]));
            serve.arg("-k").arg(directory.path()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut process = serve.spawn().expect("postgres runs");
            let log = BufReader::new(process.stderr.take().expect("its log is a pipe"));
            let mut lines = log.lines().map_while(Result::ok);
            if !lines.any(|line| line.contains("listening on")) {
                process.wait().expect("it belongs to this process");
                return None;
            }
            // The server would block if its output were not read.
            std::thread::spawn(move || lines.for_each(drop));
            Some((port, process))
        });
        let (port, process) = started.expect("postgres did not start");
        Some(Self { port, process, _dir: directory })
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("the listener has an address").port()
}

/// The directory of the server programs, which distributions keep out of `PATH`.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut directories: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    directories.sort();
    directories.extend(["/usr/bin", "/usr/local/bin", "/usr/local/pgsql/bin"].map(PathBuf::from));
    let has_all = |directory: &PathBuf| {
        ["initdb", "postgres"].iter().all(|program| directory.join(program).is_file())
    };
    directories.into_iter().rev().find(has_all)
}

/// The user that runs the server if the test runs as root, because the server refuses root.
fn owner() -> Option<(Uid, Gid)> {
    if !Uid::effective().is_root() {
        return None;
    }
    let users = ["postgres", "nobody"].into_iter();
    let user = users.filter_map(|name| User::from_name(name).ok().flatten()).next();
    user.map(|user| (user.uid, user.gid))
}

fn give(path: &Path, owner: Option<(Uid, Gid)>) {
    if let Some((user, group)) = owner {
        chown(path, Some(user.as_raw()), Some(group.as_raw())).expect("root has the permission");
    }
}

fn command(mut command: Command, directory: &Path, owner: Option<(Uid, Gid)>) -> Command {
    command.current_dir(directory).stdin(Stdio::null());
    if let Some((user, group)) = owner {
        command.uid(user.as_raw()).gid(group.as_raw());
    }
    command
}
