//! A real SSH server for one test: its own keys and settings in a directory of its own, a port that the
//! system chose, nothing of this machine changed. It needs the program `sshd`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use nix::unistd::{User, getuid};
use tempfile::TempDir;

const PROGRAM: &str = "/usr/sbin/sshd";
const KEYGEN: &str = "/usr/bin/ssh-keygen";

/// Directory that the server requires if it runs as root.
const ROOTS_DIR: &str = "/run/sshd";

/// A server that runs as long as the test program and leaves no files.
pub(crate) struct Sshd {
    directory: TempDir,
    pub(crate) port: u16,
    pub(crate) user: String,
}

/// An SSH agent; it ends when this is dropped.
pub(crate) struct Agent {
    process: Child,
    socket: PathBuf,
}

impl Agent {
    /// Address on which it listens.
    pub(crate) fn socket(&self) -> String {
        self.socket.display().to_string()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("this test owns it");
    }
}

impl Sshd {
    /// Starts a server. Reports it if the program is not installed, because then nothing is tested.
    pub(crate) fn start() -> Option<Self> {
        let missing = [PROGRAM, KEYGEN, "/usr/bin/scp", "/usr/bin/ssh-agent", "/usr/bin/ssh-add"]
            .into_iter()
            .chain(getuid().is_root().then_some(ROOTS_DIR))
            .find(|path| !Path::new(path).exists());
        if let Some(missing) = missing {
            let warning = format!(
                "\n!!! {missing} is missing (openssh-server): provisioners over SSH have NOT been tested !!!\n\n"
            );
            // Not by a macro: its output is hidden when the test passes.
            let _written = std::io::stderr().write_all(warning.as_bytes());
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        for key in ["host_ed25519", "host_ecdsa", "id", "other", "certified", "authority"] {
            let kind = if key == "host_ecdsa" { "ecdsa" } else { "ed25519" };
            keygen(&directory.path().join(key), kind);
        }
        fs::copy(directory.path().join("id.pub"), directory.path().join("authorized"))
            .expect("a copy");
        let user = User::from_uid(getuid()).expect("users can be asked for").expect("one of them");
        let (listener, port) = listener();
        let server = Self { directory, port, user: user.name };
        server.certify("certified");
        fs::write(server.path("config"), server.config()).expect("it can be written");
        server.serve(listener);
        Some(server)
    }

    /// Certifies a key of the user by the authority.
    fn certify(&self, key: &str) {
        let mut sign = Command::new(KEYGEN);
        sign.args(["-q", "-s"]).arg(self.path("authority")).args(["-I", "test", "-n", &self.user]);
        sign.arg(self.path(&format!("{key}.pub")));
        assert!(sign.status().expect("ssh-keygen runs").success());
    }

    /// Starts an agent that has these keys.
    pub(crate) fn agent(&self, keys: &[&str]) -> Agent {
        let socket = self.path(&format!("agent-of-{}", keys.join("-")));
        let mut agent = Command::new("/usr/bin/ssh-agent");
        agent.arg("-D").arg("-a").arg(&socket).stdout(Stdio::piped());
        let mut process = agent.spawn().expect("ssh-agent runs");
        // Its first output is the address on which it listens, so it listens then.
        let mut output = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut output).expect("it says where it is");
        let mut add = Command::new("/usr/bin/ssh-add");
        add.arg("-q").args(keys.iter().map(|key| self.path(key))).env("SSH_AUTH_SOCK", &socket);
        assert!(add.status().expect("ssh-add runs").success());
        Agent { process, socket }
    }

    /// A file of the server's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The public half of a key, without its comment.
    pub(crate) fn public(&self, key: &str) -> String {
        let text = fs::read_to_string(self.path(&format!("{key}.pub"))).expect("a key");
        text.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }

    /// The arguments of a `connection` block that logs in with the key.
    pub(crate) fn connection(&self) -> String {
        format!(
            "host = \"127.0.0.1\"\nport = {}\nuser = \"{}\"\nagent = false\ntimeout = \"20s\"\nprivate_key = file(\"{}\")\n",
            self.port,
            self.user,
            self.path("id").display()
        )
    }

    fn config(&self) -> String {
        let directory = self.directory.path().display();
        // The profile of the user of this machine, which may print anything, is not read: it is below
        // another home.
        format!(
            "SetEnv HOME={directory}\nHostKey {directory}/host_ecdsa\nHostKey {directory}/host_ed25519\nAuthorizedKeysFile {directory}/authorized\nTrustedUserCAKeys {directory}/authority.pub\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nAllowTcpForwarding yes\nMaxStartups 100\n"
        )
    }

    /// Starts a server for each connection, which is all that it hears of.
    fn serve(&self, listener: TcpListener) {
        let (config, log) = (self.path("config"), self.path("log"));
        thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { return };
                serve_one(&config, &log, connection);
            }
        });
    }
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("it has an address").port();
    (listener, port)
}

fn serve_one(config: &Path, log: &Path, connection: TcpStream) {
    // The test may be over, and its directory removed.
    let Ok(log) = File::options().append(true).create(true).open(log) else { return };
    let output = connection.try_clone().expect("a socket can be shared");
    let mut server = Command::new(PROGRAM);
    server.arg("-i").arg("-e").arg("-f").arg(config);
    server.stdin(OwnedFd::from(connection)).stdout(OwnedFd::from(output)).stderr(log);
    let mut child = server.spawn().expect("sshd runs");
    thread::spawn(move || child.wait());
}

fn keygen(path: &Path, kind: &str) {
    let mut command = Command::new(KEYGEN);
    command.args(["-q", "-t", kind, "-N", "", "-C", "test", "-f"]).arg(path);
    assert!(command.status().expect("ssh-keygen runs").success());
}
