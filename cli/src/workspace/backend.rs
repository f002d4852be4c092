//! The backend that keeps the state: the `backend` block compared with what `init` settled and
//! wrote into `terraform.tfstate` in the data folder. Both programs read and write that file, so
//! either continues where the other one was set up. Moves no state.

mod hash;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use formwork_backend::Backend;
use formwork_backend::encryption::{PlanCipher, StateCipher, encrypted};
use formwork_backend::kind::{Arguments, BackendEnvironment, BackendKind, find};
use formwork_backend::unsupported::unsupported;
use formwork_core::config::Backend as Block;
use formwork_core::disk::MAX_RECORD;
use formwork_core::version::LANGUAGE_VERSION;
use formwork_value::codec::json;
use formwork_value::convert::convert;
use formwork_value::diag::{Blame, Span, Summary};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Value};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Workspace;
use crate::data_dir::DataDir;
use crate::messages;

/// The name of the file in the data directory.
const REMEMBERED: &str = "terraform.tfstate";

/// The version of the file, which is that of states of long ago.
const FORMAT: u64 = 3;

/// The type of a backend and the values of its arguments.
#[derive(Clone)]
pub(crate) struct BackendConfig {
    kind: &'static dyn BackendKind,
    /// An object of the type that the schema implies.
    values: Value,
    /// The block, if the configuration has one.
    block: Option<Span>,
}

impl PartialEq for BackendConfig {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.values == other.values
    }
}

impl std::fmt::Debug for BackendConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may be secrets.
        f.debug_struct("BackendConfig").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

/// The file as a whole.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u64,
    /// OpenTofu writes none.
    #[serde(default)]
    terraform_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<InitializedBackend>,
}

/// The backend that `init` settled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InitializedBackend {
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    config: Box<RawValue>,
    /// Tells whether the block has changed: options of `init` may have set more than the block.
    hash: u64,
}

impl BackendConfig {
    /// The backend of a folder without a `backend` block.
    pub(crate) fn local() -> Self {
        let kind = find("local").expect("the list of backends has the local one");
        Self::without_arguments(kind)
    }

    fn without_arguments(kind: &'static dyn BackendKind) -> Self {
        let schema = kind.schema();
        let nothing = schema
            .attributes
            .iter()
            .map(|(name, attribute)| (name.clone(), Value::null(attribute.implied_type())));
        Self { kind, values: Value::object(nothing), block: None }
    }

    /// Reads a block.
    ///
    /// # Errors
    /// When the backend is not supported, or an argument is not valid.
    pub(crate) fn read(diags: &mut Diagnostics, block: &Block) -> Result<Self, Reported> {
        let Some(kind) = find(&block.kind) else {
            return Err(diags.error(unknown_kind(messages::UNSUPPORTED_BACKEND_TYPE, block)));
        };
        let values = block.arguments(diags, &kind.schema())?;
        Ok(Self { kind, values, block: Some(block.span) })
    }

    /// The type.
    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// The schema of the arguments.
    pub(crate) fn schema(&self) -> formwork_value::schema::Block {
        self.kind.schema()
    }

    /// Sets an argument to a string, which is converted to the type of the argument.
    ///
    /// # Errors
    /// When there is no argument of that name (`None`), or the string does not convert.
    pub(crate) fn set(&mut self, name: &str, text: &str) -> Result<(), Option<String>> {
        let schema = self.kind.schema();
        let attribute = schema.attributes.get(name).ok_or(None)?;
        let value = convert(&Value::string(text), &attribute.implied_type());
        self.put(name, value.map_err(|refused| Some(refused.reason))?);
        Ok(())
    }

    /// Sets the arguments that have a value in an object of the schema's type.
    pub(crate) fn merge(&mut self, values: &Value) {
        let Value::Object(values) = values else { return };
        for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            self.put(name, value.clone());
        }
    }

    fn put(&mut self, name: &str, value: Value) {
        let Value::Object(values) = &self.values else { return };
        let pairs = values.iter().map(|(other, old)| {
            (other.clone(), if other == name { value.clone() } else { old.clone() })
        });
        let pairs: Vec<(Str, Value)> = pairs.collect();
        self.values = Value::object(pairs);
    }

    /// The string that an argument is set to.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let Value::Object(values) = &self.values else { return None };
        match values.get(name)? {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Makes the backend. Asks nothing of its place yet.
    ///
    /// # Errors
    /// When an argument is missing or invalid.
    pub(crate) fn configure(
        &self,
        diags: &mut Diagnostics,
        environment: &BackendEnvironment,
    ) -> Result<Arc<dyn Backend>, Reported> {
        let arguments = Arguments { values: &self.values, environment };
        let configured = self.kind.configure(&arguments);
        let cipher = &environment.encryption.state;
        let configured = configured.map(|backend| encrypted(backend, cipher.clone()));
        configured.map_err(|error| {
            let detail = format!(
                "The backend {:?} cannot be configured: {error}. Correct the `backend` block, the options -backend-config or the environment, and run \"formwork init -reconfigure\" if it was set up before. Nothing was changed.",
                self.kind()
            );
            let diagnostic = Diagnostic::error(messages::INVALID_BACKEND_CONFIGURATION, detail);
            diags.error(match self.block {
                Some(block) => diagnostic.at(block),
                None => diagnostic,
            })
        })
    }

    /// Reports arguments and environment variables that are deprecated.
    fn warn(&self, diags: &mut Diagnostics, environment: &BackendEnvironment) {
        let arguments = Arguments { values: &self.values, environment };
        self.kind.warnings(&arguments).into_iter().for_each(|warning| diags.warn(warning));
    }

    /// The number by which Terraform recognizes a block.
    fn hash(&self) -> u64 {
        hash::of(self.kind(), &self.values)
    }
}

impl InitializedBackend {
    fn path(data: &DataDir) -> PathBuf {
        data.path().join(REMEMBERED)
    }

    /// Reads what was settled in a data folder.
    fn load(data: &DataDir) -> io::Result<Option<Self>> {
        let text =
            data.open()?.map(|data| data.read(REMEMBERED, MAX_RECORD)).transpose()?.flatten();
        text.map_or(Ok(None), |text| Self::parse(&text))
    }

    /// Reads the text of the file; an empty one is as if there were none.
    ///
    /// # Errors
    /// When it is not such a file.
    pub(crate) fn parse(text: &[u8]) -> io::Result<Option<Self>> {
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        Ok(serde_json::from_slice::<Document>(text)?.backend)
    }

    /// The record of a backend with its arguments.
    ///
    /// # Errors
    /// When an argument has no form in JSON.
    pub(crate) fn of(config: &BackendConfig) -> io::Result<Self> {
        let text = json::encode_simple(&config.values).map_err(io::Error::other)?;
        let config_json = RawValue::from_string(text)?;
        Ok(Self { kind: config.kind().to_owned(), config: config_json, hash: config.hash() })
    }

    /// The backend with its arguments; `None` if it is not supported, or has other arguments than
    /// this program knows.
    pub(crate) fn config(&self) -> Option<BackendConfig> {
        let kind = find(&self.kind)?;
        let schema = kind.schema();
        let plain = json::decode_simple(self.config.get().as_bytes()).ok()?;
        // Written by a version that has fewer or more arguments: those that are not known must not count.
        let Value::Object(found) = &plain else { return None };
        let others =
            found.iter().filter(|(name, _)| !schema.attributes.contains_key(name.as_str()));
        if others.into_iter().any(|(_, value)| !value.is_null()) {
            return None;
        }
        let known = found.iter().filter(|(name, _)| schema.attributes.contains_key(name.as_str()));
        let known: Vec<(Str, Value)> =
            known.map(|(name, value)| (name.clone(), value.clone())).collect();
        let values = schema.coerce(&Value::object(known)).ok()?;
        Some(BackendConfig { kind, values, block: None })
    }

    /// The configuration that was settled for a block, if it still holds for it.
    fn holds_for(&self, block: &BackendConfig) -> Option<BackendConfig> {
        let config = self.config().filter(|config| config.kind() == block.kind())?;
        (self.hash == block.hash() || config == *block).then_some(config)
    }
}

impl Workspace<'_> {
    /// The inputs of backends besides their arguments. Relative paths start from `root`.
    pub(crate) fn backend_environment(&self, root: impl Into<PathBuf>) -> BackendEnvironment {
        let encryption = self.encryption.clone().unwrap_or_default();
        BackendEnvironment { root: root.into(), variables: self.env.all.clone(), encryption }
    }

    /// The cipher of saved plans.
    pub(crate) fn plan_cipher(&self) -> PlanCipher {
        self.encryption.as_ref().map(|encryption| encryption.plan.clone()).unwrap_or_default()
    }

    /// The cipher of states.
    pub(crate) fn state_cipher(&self) -> StateCipher {
        self.encryption.as_ref().map(|encryption| encryption.state.clone()).unwrap_or_default()
    }

    /// The backend configuration that `init` settled.
    ///
    /// # Errors
    /// When that cannot be read.
    pub(crate) fn remembered(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<Option<InitializedBackend>, Reported> {
        InitializedBackend::load(&self.data).map_err(|error| {
            let path = InitializedBackend::path(&self.data);
            let detail = format!(
                "{}: {error}. It records the backend of the state; run \"formwork init -reconfigure\" to write it again.",
                path.display()
            );
            let diagnostic = Diagnostic::error(messages::INITIALIZED_BACKEND_UNREADABLE, detail);
            diags.error(diagnostic.blame(Blame::Environment))
        })
    }

    /// The backend that keeps the state, with its arguments.
    ///
    /// # Errors
    /// When the `backend` block is not supported, or not the one that `init` settled.
    pub(crate) fn backend_config(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Block>,
    ) -> Result<BackendConfig, Reported> {
        if let Some(block) = backend.filter(|block| find(&block.kind).is_none()) {
            return Err(diags.error(unknown_kind(messages::INVALID_BACKEND_TYPE, block)));
        }
        let remembered = self.remembered(diags)?;
        // Arguments of a block that was never set up are judged by `init`.
        let found = match (backend, &remembered) {
            (Some(block), None) => Err(never_set_up(&block.kind)),
            (Some(block), Some(_)) => {
                settled(Some(BackendConfig::read(diags, block)?), remembered.as_ref())
            }
            (None, _) => settled(None, remembered.as_ref()),
        };
        found.map_err(|reason| {
            let supported = remembered.as_ref().is_none_or(|old| find(&old.kind).is_some());
            let detail = if supported {
                format!(
                    "Reason: {reason}\n\nThe state is kept where \"formwork init\" settled it, so that a change of the configuration alone does not make another, empty state. Run \"formwork init\", with -migrate-state to take the state along, or with -reconfigure to leave it where it is.\n\nNothing was changed."
                )
            } else {
                let kind = remembered.map(|old| old.kind).unwrap_or_default();
                format!("Reason: {reason}\n\n{}\n\nNothing was changed.", unsupported(&kind))
            };
            let summary = messages::BACKEND_INITIALIZATION_REQUIRED;
            diags.error(Diagnostic::error(summary, detail))
        })
    }

    /// Reports what is deprecated in the backend that is set up. As in Terraform, commands that print the
    /// state or a part of it report none of it.
    pub(crate) fn warn_of_backend(&self, diags: &mut Diagnostics, backend: Option<&Block>) {
        if let Ok(config) = self.backend_config(&mut Diagnostics::new(), backend) {
            config.warn(diags, &self.backend_environment(&self.root));
        }
    }

    /// The backend that keeps the states of all workspaces.
    ///
    /// # Errors
    /// As [`Workspace::backend_config`], and when an argument is missing or invalid.
    pub(crate) fn open_backend(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Block>,
    ) -> Result<Arc<dyn Backend>, Reported> {
        let config = self.backend_config(diags, backend)?;
        config.configure(diags, &self.backend_environment(&self.root))
    }

    /// Writes down what is settled for a block; nothing, to forget it.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(crate) fn remember(
        &self,
        diags: &mut Diagnostics,
        settled: Option<(&BackendConfig, &BackendConfig)>,
    ) -> Result<(), Reported> {
        let path = InitializedBackend::path(&self.data);
        let written = match settled {
            Some((block, config)) => write(&self.data, block, config),
            None => self.data.open().and_then(|data| {
                // A link to another data directory is read only.
                if data.is_some_and(|data| data.holds(REMEMBERED)) {
                    self.data.create()?.remove(REMEMBERED)?;
                }
                Ok(())
            }),
        };
        written.map_err(|error| {
            let detail = format!("{} cannot be written: {error}.", path.display());
            let diagnostic = Diagnostic::error(messages::FAILED_TO_SET_UP_BACKEND, detail);
            diags.error(diagnostic.blame(Blame::Environment))
        })
    }
}

/// The error of a block whose type is not known.
fn unknown_kind(summary: impl Into<Summary>, block: &Block) -> Diagnostic {
    let detail = format!(
        "{}\n\nCommands that need no state work: `init -backend=false`, `validate`, `get`, `fmt`.",
        unsupported(&block.kind)
    );
    Diagnostic::error(summary, detail).at(block.span)
}

/// The reason why a new block has to be initialized.
fn never_set_up(kind: &str) -> String {
    format!("Initial configuration of the requested backend {kind:?}")
}

/// The backend and its arguments, or why that is not settled.
fn settled(
    block: Option<BackendConfig>,
    remembered: Option<&InitializedBackend>,
) -> Result<BackendConfig, String> {
    match (block, remembered) {
        (None, None) => Ok(BackendConfig::local()),
        (None, Some(old)) => Err(format!("Unsetting the previously set backend {:?}", old.kind)),
        (Some(block), None) => Err(never_set_up(block.kind())),
        (Some(block), Some(old)) => old.holds_for(&block).ok_or_else(|| {
            if old.kind == block.kind() {
                "Backend configuration block has changed".to_owned()
            } else {
                format!("Backend type changed from {:?} to {:?}", old.kind, block.kind())
            }
        }),
    }
}

fn write(data: &DataDir, block: &BackendConfig, config: &BackendConfig) -> io::Result<()> {
    let backend = InitializedBackend { hash: block.hash(), ..InitializedBackend::of(config)? };
    let document = Document {
        version: FORMAT,
        terraform_version: LANGUAGE_VERSION.to_string(),
        backend: Some(backend),
    };
    // Through a value, so that the arguments are laid out like the rest.
    let document = serde_json::to_value(&document)?;
    data.create()?.replace(REMEMBERED, &serde_json::to_vec_pretty(&document)?, 0o600)
}

/// Work that `init` has to do about the backend.
#[derive(Debug, PartialEq)]
pub(crate) enum BackendSetup {
    /// Nothing: there is no block, and there was none.
    Nothing,
    /// The settled configuration stays in force.
    Kept,
    /// The settled configuration is to change.
    Changed {
        /// The configuration in force so far, if it is supported.
        from: Option<BackendConfig>,
        /// The configuration to be in force.
        to: Option<BackendConfig>,
        /// Whether something was settled before.
        again: bool,
    },
}

impl BackendSetup {
    /// Finds out what has to be done about a block, if options set more than it (`more`) or not.
    pub(crate) fn of(
        block: Option<&BackendConfig>,
        more: bool,
        to: Option<BackendConfig>,
        old: Option<&InitializedBackend>,
    ) -> Self {
        match (block, old) {
            (None, None) => Self::Nothing,
            (Some(block), Some(old)) if !more && old.holds_for(block).is_some() => Self::Kept,
            (_, Some(old)) => Self::Changed { from: old.config(), to, again: true },
            (Some(_), None) => {
                Self::Changed { from: Some(BackendConfig::local()), to, again: false }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(path: Option<&str>) -> BackendConfig {
        let mut config = BackendConfig::local();
        path.into_iter().for_each(|path| config.set("path", path).unwrap());
        config
    }

    /// The file that Terraform writes for the block `backend "local" {}`.
    fn remembered() -> InitializedBackend {
        load(
            r#"{
            "version": 3, "terraform_version": "1.11.4", "serial": 1,
            "backend": {
                "type": "local", "hash": 666019178,
                "config": { "path": "prod.tfstate", "workspace_dir": null }
            }
        }"#,
        )
    }

    fn load(text: &str) -> InitializedBackend {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::chosen(folder.path().to_owned());
        std::fs::write(InitializedBackend::path(&data), text).unwrap();
        InitializedBackend::load(&data).unwrap().unwrap()
    }

    #[test]
    fn the_file_that_opentofu_writes_names_no_version() {
        let found = load(
            r#"{ "version": 3, "backend": { "type": "http", "config": {}, "hash": 1455540142 } }"#,
        );
        assert_eq!((found.kind.as_str(), found.hash), ("http", 1_455_540_142));
    }

    #[test]
    fn a_block_has_the_number_that_terraform_knows_it_by() {
        assert_eq!(local(None).hash(), 666_019_178);
        assert_eq!(local(Some("q")).hash(), 354_002_009);
    }

    #[test]
    fn the_state_is_where_init_settled_it_and_nothing_else_is_guessed() {
        let old = remembered();
        let check =
            |block: Option<BackendConfig>, old: Option<&InitializedBackend>| settled(block, old);
        assert_eq!(check(None, None), Ok(local(None)));
        // The block says less than the options of init.
        assert_eq!(check(Some(local(None)), Some(&old)), Ok(local(Some("prod.tfstate"))));
        // Another block that comes to the same.
        let same = local(Some("prod.tfstate"));
        assert_eq!(check(Some(same.clone()), Some(&old)), Ok(same));
        let remote = InitializedBackend { kind: "remote".to_owned(), ..old.clone() };
        for (block, old, reason) in [
            (Some(local(None)), None, "Initial configuration of the requested backend \"local\""),
            (None, Some(&old), "Unsetting the previously set backend \"local\""),
            (Some(local(Some("q"))), Some(&old), "Backend configuration block has changed"),
            (Some(local(None)), Some(&remote), "Backend type changed from \"remote\" to \"local\""),
            (None, Some(&remote), "Unsetting the previously set backend \"remote\""),
        ] {
            assert_eq!(check(block, old), Err(reason.to_owned()));
        }
    }

    #[test]
    fn init_keeps_what_holds_and_says_what_would_change() {
        let (old, block) = (remembered(), local(None));
        let of = |block: Option<&BackendConfig>, to: Option<BackendConfig>, old| {
            BackendSetup::of(block, to.as_ref() != block, to, old)
        };
        assert_eq!(of(None, None, None), BackendSetup::Nothing);
        assert_eq!(of(Some(&block), Some(block.clone()), Some(&old)), BackendSetup::Kept);
        let changed = |from, to, again| BackendSetup::Changed { from: Some(from), to, again };
        let (prod, other) = (local(Some("prod.tfstate")), Some(local(Some("other"))));
        assert_eq!(
            of(Some(&block), other.clone(), Some(&old)),
            changed(prod.clone(), other.clone(), true)
        );
        assert_eq!(of(Some(&block), other.clone(), None), changed(local(None), other, false));
        assert_eq!(of(None, None, Some(&old)), changed(prod, None, true));
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let (data, block) = (DataDir::chosen(folder.path().join("data")), local(None));
        write(&data, &block, &local(Some("prod.tfstate"))).unwrap();
        let read = InitializedBackend::load(&data).unwrap().unwrap();
        assert_eq!((read.kind.as_str(), read.hash), ("local", 666_019_178));
        assert_eq!(read.config(), remembered().config());
    }
}
