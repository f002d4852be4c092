//! Which backend keeps the state: what the `backend` block says, held against what `init` settled and
//! wrote down in `terraform.tfstate` in the data folder. Both programs read and write that file, so
//! either goes on where the other one was set up. Moves no state.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::config::Backend;
use formwork_core::disk::MAX_RECORD;
use formwork_core::state::local::Workspaces;
use formwork_core::version::LANGUAGE_VERSION;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};
use serde::{Deserialize, Serialize};

use super::Workspace;
use crate::data_dir::DataDir;

/// The one kind of backend there is.
const LOCAL: &str = "local";

/// The name of the file in the data directory.
const REMEMBERED: &str = "terraform.tfstate";

/// The version of the file, which is that of states of long ago.
const FORMAT: u64 = 3;

/// What the local backend is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    path: Option<String>,
    workspace_dir: Option<String>,
}

/// The file as a whole.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u64,
    terraform_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<Remembered>,
}

/// The backend that `init` settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    config: BTreeMap<String, serde_json::Value>,
    /// Tells whether the block has changed: options of `init` may have said more than the block.
    hash: u64,
}

impl Local {
    /// Reads a block.
    ///
    /// # Errors
    /// When it is one we cannot work with.
    pub(crate) fn read(diags: &mut Diagnostics, backend: &Backend) -> Result<Self, Reported> {
        if backend.kind != LOCAL {
            let detail = format!(
                "States are kept on the local disk only, not by {:?}. What needs no state works: `init -backend=false`, `validate`, `get`, `fmt`.\n\n{}",
                backend.kind.as_str(),
                take_along()
            );
            let diagnostic = Diagnostic::error("Unsupported backend type", detail);
            return Err(diags.error(diagnostic.at(backend.span)));
        }
        let mut local = Self::default();
        for attribute in backend.body.set() {
            let name = attribute.name.name.as_str();
            let text = attribute.expr.as_literal();
            if !text.is_some_and(|text| local.set(name, text.as_str())) {
                let detail = format!(
                    "The local backend takes \"path\" and \"workspace_dir\", each a text in quotes without anything to evaluate; {name:?} is not one of these."
                );
                let diagnostic = Diagnostic::error("Invalid backend configuration", detail);
                return Err(diags.error(diagnostic.at(attribute.span)));
            }
        }
        Ok(local)
    }

    /// Sets one of its arguments; says whether there is one of that name.
    pub(crate) fn set(&mut self, name: &str, text: &str) -> bool {
        let place = match name {
            "path" => &mut self.path,
            "workspace_dir" => &mut self.workspace_dir,
            _ => return false,
        };
        *place = Some(text.to_owned());
        true
    }

    /// Where the states of all workspaces are.
    pub(crate) fn workspaces(&self, root: &Path) -> Workspaces {
        // An empty text is as good as none, as in the reference.
        let path = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (path, dir) = (path(&self.path), path(&self.workspace_dir));
        Workspaces::of(root, path.as_deref().map(Path::new), dir.as_deref().map(Path::new))
    }

    /// The number by which the reference knows a block again: of the text that its sets are ordered by.
    fn hash(&self) -> u64 {
        let text = |value: &Option<String>| match value {
            None => "~".to_owned(),
            Some(text) => formwork_lang::print::quoted(text),
        };
        let whole = format!("<\"{LOCAL}\";<{};{};>;>", text(&self.path), text(&self.workspace_dir));
        u64::from(crc32(whole.as_bytes()))
    }
}

/// The checksum of IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    };
    !bytes.iter().fold(!0, step)
}

/// The steps that take a state along from a backend that we cannot work with. An empty state in its
/// place would have everything created a second time.
pub(crate) fn take_along() -> &'static str {
    "For the rest, take the state along before anything else, or everything in it is created a second time:\n  1. With the block as it is, run \"terraform init\" and \"terraform state pull > terraform.tfstate\". Of another workspace NAME than the default one, the state belongs into terraform.tfstate.d/NAME/terraform.tfstate.\n  2. Replace the block by backend \"local\" {}, and run \"formwork init -reconfigure\".\n  3. Run \"formwork plan\": it must not create what exists."
}

impl Remembered {
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

    /// Whether it is one that we can work with.
    pub(crate) fn is_local(&self) -> bool {
        self.kind == LOCAL
    }

    /// What the local backend was told.
    fn local(&self) -> Local {
        let text = |name: &str| self.config.get(name)?.as_str().map(str::to_owned);
        Local { path: text("path"), workspace_dir: text("workspace_dir") }
    }

    /// What was settled for a block, if it still holds for it.
    fn holds_for(&self, block: &Local) -> Option<Local> {
        let local = self.local();
        (self.kind == LOCAL && (self.hash == block.hash() || local == *block)).then_some(local)
    }
}

impl Workspace<'_> {
    /// What `init` settled.
    ///
    /// # Errors
    /// When that cannot be read.
    pub(crate) fn remembered(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<Option<Remembered>, Reported> {
        Remembered::load(&self.data).map_err(|error| {
            let path = Remembered::path(&self.data);
            let detail = format!(
                "{}: {error}. It says which backend keeps the state; run \"formwork init -reconfigure\" to write it anew.",
                path.display()
            );
            let diagnostic = Diagnostic::error("Failed to read the backend that is set up", detail);
            diags.error(diagnostic.blame(Blame::Environment))
        })
    }

    /// Where the states of all workspaces are.
    ///
    /// # Errors
    /// When the `backend` block is one we cannot work with, or not the one that `init` settled.
    pub(crate) fn workspaces(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Backend>,
    ) -> Result<Workspaces, Reported> {
        let block = backend.map(|backend| Local::read(diags, backend)).transpose()?;
        let remembered = self.remembered(diags)?;
        let local = settled(block, remembered.as_ref()).map_err(|reason| {
            let is_local = remembered.as_ref().is_none_or(Remembered::is_local);
            let detail = if is_local { format!(
                "Reason: {reason}\n\nThe state is kept where \"formwork init\" settled it, so that a change of the configuration alone does not make another, empty state. Run \"formwork init\", with -migrate-state to take the state along, or with -reconfigure to leave it where it is.\n\nNothing was changed."
            ) } else { format!("Reason: {reason}\n\nThe state is kept by a backend that Formwork cannot work with. {}\n\nNothing was changed.", take_along()) };
            let summary = "Backend initialization required, please run \"formwork init\"";
            diags.error(Diagnostic::error(summary, detail))
        })?;
        Ok(local.workspaces(&self.root))
    }

    /// Writes down what is settled for a block; nothing, to forget it.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(crate) fn remember(
        &self,
        diags: &mut Diagnostics,
        settled: Option<(&Local, &Local)>,
    ) -> Result<(), Reported> {
        let path = Remembered::path(&self.data);
        let written = match settled {
            Some((block, local)) => write(&self.data, block, local),
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
            let diagnostic = Diagnostic::error("Failed to set up the backend", detail);
            diags.error(diagnostic.blame(Blame::Environment))
        })
    }
}

/// What the backend is told, or why that is not settled.
fn settled(block: Option<Local>, remembered: Option<&Remembered>) -> Result<Local, String> {
    match (block, remembered) {
        (None, None) => Ok(Local::default()),
        (None, Some(old)) => Err(format!("Unsetting the previously set backend {:?}", old.kind)),
        (Some(_), None) => Err(format!("Initial configuration of the requested backend {LOCAL:?}")),
        (Some(block), Some(old)) => old.holds_for(&block).ok_or_else(|| match old.kind.as_str() {
            LOCAL => "Backend configuration block has changed".to_owned(),
            kind => format!("Backend type changed from {kind:?} to {LOCAL:?}"),
        }),
    }
}

fn write(data: &DataDir, block: &Local, local: &Local) -> io::Result<()> {
    let json = |text: &Option<String>| serde_json::json!(text);
    let config = [("path", json(&local.path)), ("workspace_dir", json(&local.workspace_dir))];
    let backend = Remembered {
        kind: LOCAL.to_owned(),
        config: config.map(|(name, value)| (name.to_owned(), value)).into(),
        hash: block.hash(),
    };
    let document = Document {
        version: FORMAT,
        terraform_version: LANGUAGE_VERSION.to_string(),
        backend: Some(backend),
    };
    data.create()?.replace(REMEMBERED, &serde_json::to_vec_pretty(&document)?, 0o600)
}

/// What `init` has to do about the backend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    /// Nothing: there is no block, and there was none.
    Nothing,
    /// What was settled goes on to hold.
    Kept,
    /// Something else is to be settled than what holds so far.
    Changed {
        /// What holds so far, if we can work with it.
        from: Option<Local>,
        /// What is to hold.
        to: Option<Local>,
        /// Whether something was settled before.
        again: bool,
    },
}

impl Setup {
    /// Finds out what has to be done about a block, if options say more than it (`more`) or not.
    pub(crate) fn of(
        (block, more): (Option<&Local>, bool),
        to: Option<Local>,
        old: Option<&Remembered>,
    ) -> Self {
        match (block, old) {
            (None, None) => Self::Nothing,
            (Some(block), Some(old)) if !more && old.holds_for(block).is_some() => Self::Kept,
            (_, Some(old)) => {
                let from = (old.kind == LOCAL).then(|| old.local());
                Self::Changed { from, to, again: true }
            }
            (Some(_), None) => Self::Changed { from: Some(Local::default()), to, again: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(path: Option<&str>) -> Local {
        Local { path: path.map(str::to_owned), workspace_dir: None }
    }

    /// What a file says that the reference wrote for the block `backend "local" {}`.
    fn remembered() -> Remembered {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{
            "version": 3, "terraform_version": "1.11.4", "serial": 1,
            "backend": {
                "type": "local", "hash": 666019178,
                "config": { "path": "prod.tfstate", "workspace_dir": null }
            }
        }"#;
        let data = DataDir::chosen(folder.path().to_owned());
        std::fs::write(Remembered::path(&data), text).unwrap();
        Remembered::load(&data).unwrap().unwrap()
    }

    #[test]
    fn a_block_has_the_number_that_the_reference_knows_it_by() {
        assert_eq!(local(None).hash(), 666_019_178);
        assert_eq!(local(Some("q")).hash(), 354_002_009);
    }

    #[test]
    fn the_state_is_where_init_settled_it_and_nothing_else_is_guessed() {
        let old = remembered();
        let check = |block: Option<Local>, old: Option<&Remembered>| settled(block, old);
        assert_eq!(check(None, None), Ok(local(None)));
        // The block says less than init was told.
        assert_eq!(check(Some(local(None)), Some(&old)), Ok(local(Some("prod.tfstate"))));
        // Another block that comes to the same.
        let same = local(Some("prod.tfstate"));
        assert_eq!(check(Some(same.clone()), Some(&old)), Ok(same));
        let remote = Remembered { kind: "s3".to_owned(), ..old.clone() };
        for (block, old, reason) in [
            (Some(local(None)), None, "Initial configuration of the requested backend \"local\""),
            (None, Some(&old), "Unsetting the previously set backend \"local\""),
            (Some(local(Some("q"))), Some(&old), "Backend configuration block has changed"),
            (Some(local(None)), Some(&remote), "Backend type changed from \"s3\" to \"local\""),
            (None, Some(&remote), "Unsetting the previously set backend \"s3\""),
        ] {
            assert_eq!(check(block, old), Err(reason.to_owned()));
        }
    }

    #[test]
    fn init_keeps_what_holds_and_says_what_would_change() {
        let (old, block) = (remembered(), local(None));
        let of = |block: Option<&Local>, to: Option<Local>, old: Option<&Remembered>| {
            Setup::of((block, to.as_ref() != block), to, old)
        };
        assert_eq!(of(None, None, None), Setup::Nothing);
        assert_eq!(of(Some(&block), Some(block.clone()), Some(&old)), Setup::Kept);
        let changed = |from, to, again| Setup::Changed { from: Some(from), to, again };
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
        let said = local(Some("prod.tfstate"));
        write(&data, &block, &said).unwrap();
        let read = Remembered::load(&data).unwrap();
        assert_eq!(read, Some(remembered()));
    }
}
