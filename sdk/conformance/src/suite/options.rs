//! Settings of a run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use formwork_plugin_protocol::handshake::{Address, Protocol};
use formwork_value::Value;

use crate::offer::Kind;

/// An example configuration of one type.
#[derive(Clone, Debug)]
pub struct Example {
    /// The kind of block.
    pub kind: Kind,
    /// The type; empty for the provider.
    pub name: String,
    /// The source file.
    pub file: String,
    /// The attributes and blocks as one object.
    pub value: Value,
}

/// The provider to check.
#[derive(Clone, Debug)]
pub enum CheckedProvider {
    /// A program.
    Program(PathBuf),
    /// A provider that runs already.
    Running(Address, Protocol),
}

/// The files of a release, as required by registries.
#[derive(Clone, Debug)]
pub struct Release {
    /// The directory of archives, checksums, signature and manifest.
    pub directory: PathBuf,
    /// The public key of the publisher in its text form; without it the signature must only be there.
    pub key: Option<String>,
    /// Verifies the signature.
    pub verify: VerifySignature,
}

/// Verifies a detached signature, the second argument, over a document by a key in its text form.
pub type VerifySignature = fn(&[u8], &[u8], &str) -> Result<(), String>;

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The provider.
    pub target: CheckedProvider,
    /// The highest level: 0 binary only, 1 configured and planned, 2 examples read, 3 applied.
    pub level: u8,
    /// The rules to check; all if empty.
    pub only: BTreeSet<String>,
    /// The rules to leave out.
    pub skip: BTreeSet<String>,
    /// The seed of generated inputs.
    pub seed: u64,
    /// The limit for the whole run.
    pub time: Duration,
    /// Example configurations.
    pub examples: Vec<Example>,
    /// The provider configuration, converted to its schema later; `None` without one.
    pub config: Option<Value>,
    /// The previous release, to compare schemas with.
    pub previous: Option<PathBuf>,
    /// The files of the release, if they are to be checked.
    pub release: Option<Release>,
    /// Variables for the provider's process.
    pub env: Vec<(OsString, OsString)>,
    /// The file that every created object is written to before it is created; none for a temporary one.
    pub journal: Option<PathBuf>,
    /// The file to resume an interrupted run from.
    pub resume: Option<PathBuf>,
    /// The time at which the run begins.
    pub begun: SystemTime,
    /// Set by the caller to end the run early: no new case begins then, and created objects are
    /// destroyed.
    pub stop: Arc<AtomicBool>,
}

impl Options {
    /// Returns the usual settings for a program, in a run that begins now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a test of a provider has no clock to pass")]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            target: CheckedProvider::Program(program.into()),
            level: 1,
            only: BTreeSet::new(),
            skip: BTreeSet::new(),
            seed: 1,
            time: Duration::from_secs(600),
            examples: Vec::new(),
            config: None,
            previous: None,
            release: None,
            env: Vec::new(),
            journal: None,
            resume: None,
            begun: SystemTime::now(),
            stop: Arc::default(),
        }
    }
}
