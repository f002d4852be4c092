//! The sources of a release: version, commit, time and platform, and the build of the program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Failure;

/// A platform, by its name in each tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Platform {
    /// Rust's name.
    pub(crate) triple: &'static str,
    /// Terraform's name.
    pub(crate) name: &'static str,
    /// Debian's name.
    pub(crate) debian: &'static str,
}

/// The platforms of releases.
const PLATFORMS: [Platform; 2] = [
    Platform { triple: "x86_64-unknown-linux-gnu", name: "linux_amd64", debian: "amd64" },
    Platform { triple: "aarch64-unknown-linux-gnu", name: "linux_arm64", debian: "arm64" },
];

/// The sources of a release.
#[derive(Debug)]
pub(crate) struct Source {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// The directory of built files.
    pub(crate) target: PathBuf,
    pub(crate) version: String,
    /// The commit, if the sources are in a repository.
    pub(crate) commit: Option<String>,
    /// The time that all files have, in seconds: `SOURCE_DATE_EPOCH`, or that of the commit.
    pub(crate) epoch: u64,
    pub(crate) platform: Platform,
    /// The compiler's version.
    pub(crate) rustc: String,
    /// The output of `cargo metadata`, for this platform.
    pub(crate) metadata: Value,
}

impl Source {
    /// Reads the sources that this program was built from.
    pub(crate) fn read() -> Result<Self, Failure> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
        let rustc = run(command("rustc").arg("-vV"))?;
        let field = |name: &str| rustc.lines().find_map(|line| line.strip_prefix(name));
        let host = field("host: ").ok_or("rustc names no host")?;
        let platform = PLATFORMS
            .into_iter()
            .find(|platform| platform.triple == host)
            .ok_or_else(|| format!("no releases are made for {host}"))?;
        let version = field("rustc ").ok_or("rustc names no version")?.to_owned();
        let mut metadata = cargo(&root);
        metadata.args(["metadata", "--locked", "--format-version=1", "--filter-platform", host]);
        let metadata: Value = serde_json::from_str(&run(&mut metadata)?)?;
        let target = metadata["target_directory"].as_str().ok_or("no target directory")?.into();
        let git = |words: &[&str]| run(command("git").args(words).current_dir(&root)).ok();
        let commit = git(&["rev-parse", "HEAD"]);
        let epoch = match env::var("SOURCE_DATE_EPOCH") {
            Ok(text) => text,
            Err(_) => git(&["log", "-1", "--format=%ct"])
                .ok_or("no time for the files: set SOURCE_DATE_EPOCH, there is no git commit")?,
        };
        Ok(Self {
            root,
            target,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
            epoch: epoch.parse().map_err(|_| format!("{epoch:?} is not a time in seconds"))?,
            platform,
            rustc: version,
            metadata,
        })
    }

    /// Builds the program, and returns its file.
    pub(crate) fn build(&self) -> Result<PathBuf, Failure> {
        let mut cargo = cargo(&self.root);
        cargo.args([
            "build",
            "--locked",
            "--profile=packaged",
            "-p",
            "formwork",
            "--bin",
            "formwork",
        ]);
        // No path of this machine is to be in the program.
        let home = env::var("CARGO_HOME").ok().map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(env::var("HOME").ok()?).join(".cargo")));
        let home = home.map(|home| (home.display().to_string(), "/cargo"));
        let paths = [(self.root.display().to_string(), "/formwork")].into_iter().chain(home);
        let (mut rust, mut c) = (env::var("RUSTFLAGS").unwrap_or_default(), String::new());
        for (from, to) in paths {
            rust.push_str(&format!(" --remap-path-prefix={from}={to}"));
            c.push_str(&format!(" -ffile-prefix-map={from}={to}"));
        }
        cargo.env("RUSTFLAGS", rust.trim()).env("CFLAGS", c.trim());
        // As in `.cargo/config.toml`, which is read in the directory of the sources alone.
        cargo.env("AWS_LC_SYS_NO_JITTER_ENTROPY", "1");
        cargo.env("SOURCE_DATE_EPOCH", self.epoch.to_string());
        cargo.stdout(Stdio::inherit());
        run(&mut cargo)?;
        Ok(self.target.join("packaged/formwork"))
    }
}

fn cargo(root: &Path) -> Command {
    let mut cargo = command(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo.current_dir(root);
    cargo
}

/// A command whose messages are shown.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stderr(Stdio::inherit());
    command
}

/// Runs a command, and returns the text that it prints.
pub(crate) fn run(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
