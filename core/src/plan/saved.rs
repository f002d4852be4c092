//! A plan as bytes and back, for a saved plan file. Values bring their own types, so that no schema
//! is needed to read them. The prior state is not part of it: it is stored beside it, in the form of
//! a state file.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use formwork_value::codec::msgpack;
use formwork_value::{MarkPaths, Marks, Path, Step, Str, Type, Value};
use serde::{Deserialize, Serialize};

use super::{ChangeKey, Mode, Plan, Search};
use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceAddr, Target};
use crate::change::{Action, Change, ImportKey, Importing, OutputChange, Reason, ReplaceOrder};
use crate::eval::FunctionResultHashes;
use crate::state::State;
use crate::state::checks::CheckResults;

/// Why bytes are not a plan.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlanFormatError {
    /// They are not in the form at all, or damaged.
    #[error("the plan cannot be read: {0}")]
    Damaged(String),
    /// They were written by another version.
    #[error(
        "the plan was written in format {0}, but this version reads only format {FORMAT}; create the plan again"
    )]
    OtherFormat(u32),
}

/// Raised whenever anything below changes.
const FORMAT: u32 = 6;

#[derive(Serialize, Deserialize)]
struct SavedPlan {
    format: u32,
    mode: String,
    targets: Vec<String>,
    excludes: Vec<String>,
    open: Vec<String>,
    variables: BTreeMap<String, SavedValue>,
    /// Each list of dependencies once; changes name them by position.
    dependencies: Vec<Vec<String>>,
    changes: Vec<SavedChange>,
    drift: Vec<SavedChange>,
    relevant: Vec<(String, Vec<SavedStep>)>,
    outputs: BTreeMap<String, SavedOutput>,
    /// As a state file has them.
    checks: Option<String>,
    /// Each address, and whether something was found there.
    searches: Vec<(String, bool)>,
    /// Digests of calls, and of their results.
    functions: Vec<(String, String)>,
    #[serde(default)]
    reread_numbers: bool,
    errored: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedValue {
    // Not JSON, in which numbers, unknown values and types would be lost.
    msgpack: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(Vec<SavedStep>, u8)>,
}

#[derive(Serialize, Deserialize)]
enum SavedStep {
    Attribute(String),
    Key(String),
    // As text, which holds every number as it is.
    Index(String),
}

#[derive(Serialize, Deserialize)]
struct SavedChange {
    addr: String,
    deposed: Option<String>,
    moved_from: Option<String>,
    importing: Option<SavedImporting>,
    provider: String,
    action: String,
    reason: Option<String>,
    before: SavedValue,
    after: SavedValue,
    replace_paths: Vec<Vec<SavedStep>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config_secrets: Option<Vec<Vec<SavedStep>>>,
    private: String,
    config_known: bool,
    identity: Option<String>,
    dependencies: usize,
    prior_dependencies: usize,
    create_before_destroy: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedImporting {
    id: Option<String>,
    identity: Option<SavedValue>,
    generated_config: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct SavedOutput {
    action: String,
    before: SavedValue,
    after: SavedValue,
    sensitive: bool,
}

const MODES: [(Mode, &str); 3] =
    [(Mode::Normal, "normal"), (Mode::Destroy, "destroy"), (Mode::RefreshOnly, "refresh-only")];

const ACTIONS: [(Action, &str); 8] = [
    (Action::NoOp, "no-op"),
    (Action::Create, "create"),
    (Action::Read, "read"),
    (Action::Update, "update"),
    (Action::Delete, "delete"),
    (Action::Forget, "forget"),
    (Action::Replace(ReplaceOrder::DestroyFirst), "delete-create"),
    (Action::Replace(ReplaceOrder::CreateFirst), "create-delete"),
];

const REASONS: [Reason; 13] = [
    Reason::ReplaceBecauseTainted,
    Reason::ReplaceByRequest,
    Reason::ReplaceBecauseCannotUpdate,
    Reason::ReplaceByTriggers,
    Reason::DeleteBecauseNoResourceConfig,
    Reason::DeleteBecauseWrongRepetition,
    Reason::DeleteBecauseCountIndex,
    Reason::DeleteBecauseEachKey,
    Reason::DeleteBecauseNoModule,
    Reason::DeleteBecauseNoMoveTarget,
    Reason::ReadBecauseConfigUnknown,
    Reason::ReadBecauseDependencyPending,
    Reason::ReadBecauseCheckNested,
];

fn name_of<T: PartialEq>(table: &[(T, &str)], wanted: &T) -> String {
    let found = table.iter().find(|(value, _)| value == wanted);
    found.map_or_else(String::new, |(_, name)| (*name).to_owned())
}

fn named<T: Copy>(table: &[(T, &str)], wanted: &str) -> Result<T, PlanFormatError> {
    let found = table.iter().find(|(_, name)| *name == wanted);
    found.map(|(value, _)| *value).ok_or_else(|| damaged(&format!("{wanted:?} means nothing")))
}

fn damaged(why: &dyn std::fmt::Display) -> PlanFormatError {
    PlanFormatError::Damaged(why.to_string())
}

impl Plan {
    /// Writes the plan, without its prior state.
    ///
    /// # Errors
    /// When a value cannot be written, which only an error of this program can cause.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PlanFormatError> {
        let mut lists = Lists::default();
        let variables = self.variables.iter();
        let outputs = self.outputs.iter();
        let saved = SavedPlan {
            format: FORMAT,
            mode: name_of(&MODES, &self.mode),
            targets: self.targets.iter().map(ToString::to_string).collect(),
            excludes: self.excludes.iter().map(ToString::to_string).collect(),
            open: self.open.iter().map(ToString::to_string).collect(),
            variables: variables
                .map(|(name, value)| Ok((name.to_string(), SavedValue::of(value)?)))
                .collect::<Result<_, PlanFormatError>>()?,
            changes: save_changes(&self.changes, &mut lists)?,
            drift: save_changes(&self.drift, &mut lists)?,
            relevant: self
                .relevant
                .iter()
                .map(|(addr, path)| (addr.to_string(), save_path(path)))
                .collect(),
            outputs: outputs
                .map(|(name, change)| Ok((name.to_string(), SavedOutput::of(change)?)))
                .collect::<Result<_, PlanFormatError>>()?,
            checks: self.checks.to_json().map(|json| String::from_utf8_lossy(&json).into_owned()),
            searches: self
                .searches
                .iter()
                .map(|(addr, search)| (addr.to_string(), *search == Search::Found))
                .collect(),
            functions: self.functions.as_strings().collect(),
            reread_numbers: self.reread_numbers,
            errored: self.errored,
            // Last, because saving the changes fills the lists.
            dependencies: lists.texts,
        };
        serde_json::to_vec(&saved).map_err(|error| damaged(&error))
    }

    /// Reads a plan that [`Plan::to_bytes`] wrote, and puts the prior state to it.
    ///
    /// # Errors
    /// When the bytes are no plan, or one of another format.
    pub fn from_bytes(bytes: &[u8], prior: State) -> Result<Self, PlanFormatError> {
        // The format is read alone first, because nothing else is sure to have the same form in
        // another one.
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let format: Format = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
        if format.format != FORMAT {
            return Err(PlanFormatError::OtherFormat(format.format));
        }
        let saved: SavedPlan = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
        let lists = read_lists(&saved.dependencies)?;
        let changes = |changes: Vec<SavedChange>| {
            let changes = changes.into_iter().map(|change| {
                let change = change.read(&lists)?;
                Ok(((change.addr.clone(), change.deposed.clone()), Box::new(change)))
            });
            changes.collect::<Result<BTreeMap<_, _>, PlanFormatError>>()
        };
        let parts = |texts: &[String]| -> Result<Vec<Target>, PlanFormatError> {
            texts.iter().map(|text| text.parse().map_err(|error| damaged(&error))).collect()
        };
        let variables = saved.variables.into_iter();
        let outputs = saved.outputs.into_iter();
        Ok(Self {
            mode: named(&MODES, &saved.mode)?,
            targets: parts(&saved.targets)?,
            excludes: parts(&saved.excludes)?,
            open: saved
                .open
                .iter()
                .map(|text| text.parse().map_err(|error| damaged(&error)))
                .collect::<Result<_, _>>()?,
            variables: variables
                .map(|(name, value)| Ok((Str::from(name), value.read()?)))
                .collect::<Result<_, PlanFormatError>>()?,
            changes: changes(saved.changes)?,
            drift: changes(saved.drift)?,
            relevant: saved
                .relevant
                .into_iter()
                .map(|(addr, steps)| {
                    Ok((addr.parse().map_err(|error| damaged(&error))?, read_path(steps)?))
                })
                .collect::<Result<_, PlanFormatError>>()?,
            outputs: outputs
                .map(|(name, output)| Ok((Str::from(name), output.read()?)))
                .collect::<Result<_, PlanFormatError>>()?,
            checks: saved
                .checks
                .map(|json| CheckResults::from_json(json.as_bytes()))
                .unwrap_or_default(),
            prior,
            searches: saved
                .searches
                .into_iter()
                .map(|(addr, found)| {
                    let search = if found { Search::Found } else { Search::NeverMade };
                    Ok((addr.parse().map_err(|error| damaged(&error))?, search))
                })
                .collect::<Result<_, PlanFormatError>>()?,
            functions: FunctionResultHashes::of_texts(&saved.functions)
                .ok_or_else(|| damaged(&"an answer of a function is no digest"))?,
            reread_numbers: saved.reread_numbers,
            errored: saved.errored,
        })
    }
}

type Dependencies = Arc<Vec<ConfigResourceAddr>>;

/// The lists of dependencies seen so far. Many changes share one.
#[derive(Default)]
struct Lists {
    positions: BTreeMap<Vec<ConfigResourceAddr>, usize>,
    texts: Vec<Vec<String>>,
}

impl Lists {
    fn position(&mut self, list: &Dependencies) -> usize {
        if let Some(&at) = self.positions.get(list.as_slice()) {
            return at;
        }
        self.positions.insert(list.to_vec(), self.texts.len());
        self.texts.push(list.iter().map(ToString::to_string).collect());
        self.texts.len() - 1
    }
}

fn read_lists(lists: &[Vec<String>]) -> Result<Vec<Dependencies>, PlanFormatError> {
    let read = |list: &Vec<String>| {
        let addrs = list.iter().map(|text| text.parse().map_err(|error| damaged(&error)));
        addrs.collect::<Result<Vec<ConfigResourceAddr>, PlanFormatError>>().map(Arc::new)
    };
    lists.iter().map(read).collect()
}

fn save_changes(
    changes: &BTreeMap<ChangeKey, Box<Change>>,
    lists: &mut Lists,
) -> Result<Vec<SavedChange>, PlanFormatError> {
    changes.values().map(|change| SavedChange::of(change, lists)).collect()
}

impl SavedValue {
    fn of(value: &Value) -> Result<Self, PlanFormatError> {
        let (plain, marks) = value.clone().split_marks();
        let bytes =
            msgpack::encode(plain.value(), &Type::Dynamic).map_err(|error| damaged(&error))?;
        let marks = marks.0.iter().map(|(path, marks)| (save_path(path), marks.bits()));
        Ok(Self { msgpack: STANDARD.encode(bytes), marks: marks.collect() })
    }

    fn read(self) -> Result<Value, PlanFormatError> {
        let bytes = STANDARD.decode(self.msgpack).map_err(|error| damaged(&error))?;
        let value = msgpack::decode(&bytes, &Type::Dynamic).map_err(|error| damaged(&error))?;
        if self.marks.is_empty() {
            return Ok(value);
        }
        let marks = self.marks.into_iter().map(|(path, bits)| {
            let marks = Marks::from_bits(bits).ok_or_else(|| damaged(&"unknown marks"))?;
            Ok((read_path(path)?, marks))
        });
        let marks = MarkPaths(marks.collect::<Result<_, PlanFormatError>>()?);
        Ok(value.split_marks().0.with_marks(&marks))
    }
}

fn save_path(path: &Path) -> Vec<SavedStep> {
    let steps = path.0.iter().map(|step| match step {
        Step::Attribute(name) => SavedStep::Attribute(name.to_string()),
        Step::Key(key) => SavedStep::Key(key.to_string()),
        Step::Index(index) => SavedStep::Index(index.to_string()),
    });
    steps.collect()
}

fn read_path(steps: Vec<SavedStep>) -> Result<Path, PlanFormatError> {
    let steps = steps.into_iter().map(|step| match step {
        SavedStep::Attribute(name) => Ok(Step::Attribute(name.into())),
        SavedStep::Key(key) => Ok(Step::Key(key.into())),
        SavedStep::Index(index) => formwork_value::Number::parse(&index)
            .map(Step::Index)
            .ok_or_else(|| damaged(&"an index is not a number")),
    });
    steps.collect::<Result<_, _>>().map(Path)
}

fn read_paths(paths: Vec<Vec<SavedStep>>) -> Result<Vec<Path>, PlanFormatError> {
    paths.into_iter().map(read_path).collect()
}

impl SavedChange {
    fn of(change: &Change, lists: &mut Lists) -> Result<Self, PlanFormatError> {
        Ok(Self {
            addr: change.addr.to_string(),
            deposed: change.deposed.as_ref().map(|key| key.0.to_string()),
            moved_from: change.moved_from.as_ref().map(ToString::to_string),
            importing: change.importing.as_ref().map(SavedImporting::of).transpose()?,
            provider: change.provider.to_string(),
            action: name_of(&ACTIONS, &change.action),
            // The name in the code serves: only the same version of the program reads the plan.
            reason: change.reason.map(|reason| format!("{reason:?}")),
            before: SavedValue::of(&change.before)?,
            after: SavedValue::of(&change.after)?,
            replace_paths: change.replace_paths.iter().map(save_path).collect(),
            config_secrets: change
                .config_secrets
                .as_ref()
                .map(|paths| paths.iter().map(save_path).collect()),
            private: STANDARD.encode(&change.private),
            config_known: change.config_known,
            identity: change.identity.as_ref().map(|identity| STANDARD.encode(identity)),
            dependencies: lists.position(&change.dependencies),
            prior_dependencies: lists.position(&change.prior_dependencies),
            create_before_destroy: change.create_before_destroy,
        })
    }

    fn read(self, lists: &[Dependencies]) -> Result<Change, PlanFormatError> {
        let list = |at: usize| {
            lists.get(at).cloned().ok_or_else(|| damaged(&"a list of dependencies is missing"))
        };
        let bytes =
            |text: String| STANDARD.decode(text).map(Bytes::from).map_err(|error| damaged(&error));
        let addr: InstanceAddr = self.addr.parse().map_err(|error| damaged(&error))?;
        let reason = match self.reason {
            Some(name) => Some(
                REASONS
                    .into_iter()
                    .find(|reason| format!("{reason:?}") == name)
                    .ok_or_else(|| damaged(&format!("{name:?} is no reason")))?,
            ),
            None => None,
        };
        Ok(Change {
            addr,
            deposed: self.deposed.map(|key| DeposedKey(key.into())),
            moved_from: self
                .moved_from
                .map(|addr| addr.parse().map_err(|error| damaged(&error)))
                .transpose()?,
            importing: self.importing.map(SavedImporting::read).transpose()?,
            provider: self.provider.parse().map_err(|error| damaged(&error))?,
            action: named(&ACTIONS, &self.action)?,
            reason,
            before: self.before.read()?,
            after: self.after.read()?,
            replace_paths: read_paths(self.replace_paths)?,
            config_secrets: self.config_secrets.map(read_paths).transpose()?,
            private: bytes(self.private)?,
            config_known: self.config_known,
            identity: self.identity.map(bytes).transpose()?,
            dependencies: list(self.dependencies)?,
            prior_dependencies: list(self.prior_dependencies)?,
            create_before_destroy: self.create_before_destroy,
        })
    }
}

impl SavedImporting {
    fn of(importing: &Importing) -> Result<Self, PlanFormatError> {
        let (id, identity) = match &importing.import_key {
            ImportKey::Id(id) => (Some(id.to_string()), None),
            ImportKey::Identity(identity) => (None, Some(SavedValue::of(identity)?)),
        };
        Ok(Self { id, identity, generated_config: importing.generated_config.clone() })
    }

    fn read(self) -> Result<Importing, PlanFormatError> {
        let import_key = match (self.id, self.identity) {
            (Some(id), _) => ImportKey::Id(id.into()),
            (None, Some(identity)) => ImportKey::Identity(identity.read()?),
            (None, None) => return Err(damaged(&"the import names no object")),
        };
        Ok(Importing { import_key, generated_config: self.generated_config })
    }
}

impl SavedOutput {
    fn of(change: &OutputChange) -> Result<Self, PlanFormatError> {
        Ok(Self {
            action: name_of(&ACTIONS, &change.action),
            before: SavedValue::of(&change.before)?,
            after: SavedValue::of(&change.after)?,
            sensitive: change.sensitive,
        })
    }

    fn read(self) -> Result<OutputChange, PlanFormatError> {
        Ok(OutputChange {
            action: named(&ACTIONS, &self.action)?,
            before: self.before.read()?,
            after: self.after.read()?,
            sensitive: self.sensitive,
        })
    }
}
