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

use super::{ChangeKey, InterruptedSearchResult, Plan, PlanMode};
use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceAddr, Target};
use crate::change::{
    Action, ActionReason, Change, ImportKey, OutputChange, PlannedImport, ReplaceOrder,
};
use crate::disk::parse_json_object;
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
        "the plan was written in format {0}, but this version reads only format {PLAN_FORMAT_VERSION}; create the plan again"
    )]
    OtherFormat(u32),
}

/// Raised whenever anything below changes.
const PLAN_FORMAT_VERSION: u32 = 6;

#[derive(Serialize, Deserialize)]
struct PlanJson {
    format: u32,
    mode: String,
    targets: Vec<String>,
    excludes: Vec<String>,
    open: Vec<String>,
    variables: BTreeMap<String, ValueJson>,
    /// Each list of dependencies once; changes name them by position.
    dependencies: Vec<Vec<String>>,
    changes: Vec<ChangeJson>,
    drift: Vec<ChangeJson>,
    relevant: Vec<(String, Vec<StepJson>)>,
    outputs: BTreeMap<String, OutputJson>,
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
struct ValueJson {
    // Not JSON, in which numbers, unknown values and types would be lost.
    msgpack: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(Vec<StepJson>, u8)>,
}

#[derive(Serialize, Deserialize)]
enum StepJson {
    Attribute(String),
    Key(String),
    // As text, which holds every number as it is.
    Index(String),
}

#[derive(Serialize, Deserialize)]
struct ChangeJson {
    addr: String,
    deposed: Option<String>,
    moved_from: Option<String>,
    importing: Option<ImportJson>,
    provider: String,
    action: String,
    reason: Option<String>,
    before: ValueJson,
    after: ValueJson,
    replace_paths: Vec<Vec<StepJson>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config_secrets: Option<Vec<Vec<StepJson>>>,
    private: String,
    config_known: bool,
    identity: Option<String>,
    dependencies: usize,
    prior_dependencies: usize,
    create_before_destroy: bool,
}

#[derive(Serialize, Deserialize)]
struct ImportJson {
    id: Option<String>,
    identity: Option<ValueJson>,
    generated_config: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OutputJson {
    action: String,
    before: ValueJson,
    after: ValueJson,
    sensitive: bool,
}

const MODE_NAMES: [(PlanMode, &str); 3] = [
    (PlanMode::Normal, "normal"),
    (PlanMode::Destroy, "destroy"),
    (PlanMode::RefreshOnly, "refresh-only"),
];

const ACTION_NAMES: [(Action, &str); 8] = [
    (Action::NoOp, "no-op"),
    (Action::Create, "create"),
    (Action::Read, "read"),
    (Action::Update, "update"),
    (Action::Delete, "delete"),
    (Action::Forget, "forget"),
    (Action::Replace(ReplaceOrder::DestroyFirst), "delete-create"),
    (Action::Replace(ReplaceOrder::CreateFirst), "create-delete"),
];

const ACTION_REASONS: [ActionReason; 13] = [
    ActionReason::ReplaceBecauseTainted,
    ActionReason::ReplaceByRequest,
    ActionReason::ReplaceBecauseCannotUpdate,
    ActionReason::ReplaceByTriggers,
    ActionReason::DeleteBecauseNoResourceConfig,
    ActionReason::DeleteBecauseWrongRepetition,
    ActionReason::DeleteBecauseCountIndex,
    ActionReason::DeleteBecauseEachKey,
    ActionReason::DeleteBecauseNoModule,
    ActionReason::DeleteBecauseNoMoveTarget,
    ActionReason::ReadBecauseConfigUnknown,
    ActionReason::ReadBecauseDependencyPending,
    ActionReason::ReadBecauseCheckNested,
];

fn name_in_table<T: PartialEq>(table: &[(T, &str)], wanted: &T) -> String {
    let row = table.iter().find(|(value, _)| value == wanted);
    row.map_or_else(String::new, |(_, name)| (*name).to_owned())
}

fn value_in_table<T: Copy>(table: &[(T, &str)], wanted: &str) -> Result<T, PlanFormatError> {
    let row = table.iter().find(|(_, name)| *name == wanted);
    row.map(|(value, _)| *value)
        .ok_or_else(|| damaged_plan_error(&format!("{wanted:?} means nothing")))
}

fn damaged_plan_error(reason: &dyn std::fmt::Display) -> PlanFormatError {
    PlanFormatError::Damaged(reason.to_string())
}

impl Plan {
    /// Writes the plan, without its prior state.
    ///
    /// # Errors
    /// When a value cannot be written, which only an error of this program can cause.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PlanFormatError> {
        let mut lists = DependencyLists::default();
        let variables = self.variables.iter();
        let outputs = self.outputs.iter();
        let saved = PlanJson {
            format: PLAN_FORMAT_VERSION,
            mode: name_in_table(&MODE_NAMES, &self.mode),
            targets: self.targets.iter().map(ToString::to_string).collect(),
            excludes: self.excludes.iter().map(ToString::to_string).collect(),
            open: self.open.iter().map(ToString::to_string).collect(),
            variables: variables
                .map(|(name, value)| Ok((name.to_string(), ValueJson::from_value(value)?)))
                .collect::<Result<_, PlanFormatError>>()?,
            changes: changes_to_json(&self.changes, &mut lists)?,
            drift: changes_to_json(&self.drift, &mut lists)?,
            relevant: self
                .relevant
                .iter()
                .map(|(addr, path)| (addr.to_string(), path_to_json(path)))
                .collect(),
            outputs: outputs
                .map(|(name, change)| Ok((name.to_string(), OutputJson::from_change(change)?)))
                .collect::<Result<_, PlanFormatError>>()?,
            checks: self.checks.to_json().map(|json| String::from_utf8_lossy(&json).into_owned()),
            searches: self
                .searches
                .iter()
                .map(|(addr, search)| (addr.to_string(), *search == InterruptedSearchResult::Found))
                .collect(),
            functions: self.functions.to_strings().collect(),
            reread_numbers: self.reread_numbers,
            errored: self.errored,
            // Last, because saving the changes fills the lists.
            dependencies: lists.texts,
        };
        serde_json::to_vec(&saved).map_err(|error| damaged_plan_error(&error))
    }

    /// Reads a plan that [`Plan::to_bytes`] wrote, and puts the prior state to it.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a plan, or one of another format.
    pub fn from_bytes(bytes: &[u8], prior: State) -> Result<Self, PlanFormatError> {
        // Only the format is read first, because nothing else is sure to have the same form in
        // another one.
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let format: Format =
            parse_json_object(bytes).map_err(|error| damaged_plan_error(&error))?;
        if format.format != PLAN_FORMAT_VERSION {
            return Err(PlanFormatError::OtherFormat(format.format));
        }
        let saved: PlanJson =
            parse_json_object(bytes).map_err(|error| damaged_plan_error(&error))?;
        let lists = read_dependency_lists(&saved.dependencies)?;
        let changes = |changes: Vec<ChangeJson>| {
            let changes = changes.into_iter().map(|change| {
                let change = change.into_change(&lists)?;
                Ok(((change.addr.clone(), change.deposed.clone()), Box::new(change)))
            });
            changes.collect::<Result<BTreeMap<_, _>, PlanFormatError>>()
        };
        let parts = |texts: &[String]| -> Result<Vec<Target>, PlanFormatError> {
            texts
                .iter()
                .map(|text| text.parse().map_err(|error| damaged_plan_error(&error)))
                .collect()
        };
        let variables = saved.variables.into_iter();
        let outputs = saved.outputs.into_iter();
        Ok(Self {
            mode: value_in_table(&MODE_NAMES, &saved.mode)?,
            targets: parts(&saved.targets)?,
            excludes: parts(&saved.excludes)?,
            open: saved
                .open
                .iter()
                .map(|text| text.parse().map_err(|error| damaged_plan_error(&error)))
                .collect::<Result<_, _>>()?,
            variables: variables
                .map(|(name, value)| Ok((Str::from(name), value.into_value()?)))
                .collect::<Result<_, PlanFormatError>>()?,
            changes: changes(saved.changes)?,
            drift: changes(saved.drift)?,
            relevant: saved
                .relevant
                .into_iter()
                .map(|(addr, steps)| {
                    Ok((
                        addr.parse().map_err(|error| damaged_plan_error(&error))?,
                        path_from_json(steps)?,
                    ))
                })
                .collect::<Result<_, PlanFormatError>>()?,
            outputs: outputs
                .map(|(name, output)| Ok((Str::from(name), output.into_change()?)))
                .collect::<Result<_, PlanFormatError>>()?,
            checks: saved
                .checks
                .map(|json| CheckResults::from_json(json.as_bytes()))
                .unwrap_or_default(),
            prior,
            searches: saved
                .searches
                .into_iter()
                .map(|(addr, exists)| {
                    let search = if exists {
                        InterruptedSearchResult::Found
                    } else {
                        InterruptedSearchResult::NotCreated
                    };
                    Ok((addr.parse().map_err(|error| damaged_plan_error(&error))?, search))
                })
                .collect::<Result<_, PlanFormatError>>()?,
            functions: FunctionResultHashes::from_strings(&saved.functions)
                .ok_or_else(|| damaged_plan_error(&"an answer of a function is no digest"))?,
            reread_numbers: saved.reread_numbers,
            errored: saved.errored,
        })
    }
}

type DependencyList = Arc<Vec<ConfigResourceAddr>>;

/// The lists of dependencies seen so far. Many changes share one.
#[derive(Default)]
struct DependencyLists {
    positions: BTreeMap<Vec<ConfigResourceAddr>, usize>,
    texts: Vec<Vec<String>>,
}

impl DependencyLists {
    fn position_of(&mut self, list: &DependencyList) -> usize {
        if let Some(&at) = self.positions.get(list.as_slice()) {
            return at;
        }
        self.positions.insert(list.to_vec(), self.texts.len());
        self.texts.push(list.iter().map(ToString::to_string).collect());
        self.texts.len() - 1
    }
}

fn read_dependency_lists(lists: &[Vec<String>]) -> Result<Vec<DependencyList>, PlanFormatError> {
    let read = |list: &Vec<String>| {
        let addrs =
            list.iter().map(|text| text.parse().map_err(|error| damaged_plan_error(&error)));
        addrs.collect::<Result<Vec<ConfigResourceAddr>, PlanFormatError>>().map(Arc::new)
    };
    lists.iter().map(read).collect()
}

fn changes_to_json(
    changes: &BTreeMap<ChangeKey, Box<Change>>,
    lists: &mut DependencyLists,
) -> Result<Vec<ChangeJson>, PlanFormatError> {
    changes.values().map(|change| ChangeJson::from_change(change, lists)).collect()
}

impl ValueJson {
    fn from_value(value: &Value) -> Result<Self, PlanFormatError> {
        let (plain, marks) = value.clone().split_marks();
        let bytes = msgpack::encode(plain.value(), &Type::Dynamic)
            .map_err(|error| damaged_plan_error(&error))?;
        let marks = marks.0.iter().map(|(path, marks)| (path_to_json(path), marks.bits()));
        Ok(Self { msgpack: STANDARD.encode(bytes), marks: marks.collect() })
    }

    fn into_value(self) -> Result<Value, PlanFormatError> {
        let bytes = STANDARD.decode(self.msgpack).map_err(|error| damaged_plan_error(&error))?;
        let value =
            msgpack::decode(&bytes, &Type::Dynamic).map_err(|error| damaged_plan_error(&error))?;
        if self.marks.is_empty() {
            return Ok(value);
        }
        let marks = self.marks.into_iter().map(|(path, bits)| {
            let marks =
                Marks::from_bits(bits).ok_or_else(|| damaged_plan_error(&"unknown marks"))?;
            Ok((path_from_json(path)?, marks))
        });
        let marks = MarkPaths(marks.collect::<Result<_, PlanFormatError>>()?);
        Ok(value.split_marks().0.with_marks(&marks))
    }
}

fn path_to_json(path: &Path) -> Vec<StepJson> {
    let steps = path.0.iter().map(|step| match step {
        Step::Attribute(name) => StepJson::Attribute(name.to_string()),
        Step::Key(key) => StepJson::Key(key.to_string()),
        Step::Index(index) => StepJson::Index(index.to_string()),
    });
    steps.collect()
}

fn path_from_json(steps: Vec<StepJson>) -> Result<Path, PlanFormatError> {
    let steps = steps.into_iter().map(|step| match step {
        StepJson::Attribute(name) => Ok(Step::Attribute(name.into())),
        StepJson::Key(key) => Ok(Step::Key(key.into())),
        StepJson::Index(index) => formwork_value::Number::parse(&index)
            .map(Step::Index)
            .ok_or_else(|| damaged_plan_error(&"an index is not a number")),
    });
    steps.collect::<Result<_, _>>().map(Path)
}

fn paths_from_json(paths: Vec<Vec<StepJson>>) -> Result<Vec<Path>, PlanFormatError> {
    paths.into_iter().map(path_from_json).collect()
}

impl ChangeJson {
    fn from_change(change: &Change, lists: &mut DependencyLists) -> Result<Self, PlanFormatError> {
        Ok(Self {
            addr: change.addr.to_string(),
            deposed: change.deposed.as_ref().map(|key| key.0.to_string()),
            moved_from: change.moved_from.as_ref().map(ToString::to_string),
            importing: change.importing.as_ref().map(ImportJson::from_import).transpose()?,
            provider: change.provider.to_string(),
            action: name_in_table(&ACTION_NAMES, &change.action),
            // The name in the code serves: only the same version of the program reads the plan.
            reason: change.reason.map(|reason| format!("{reason:?}")),
            before: ValueJson::from_value(&change.before)?,
            after: ValueJson::from_value(&change.after)?,
            replace_paths: change.replace_paths.iter().map(path_to_json).collect(),
            config_secrets: change
                .config_secrets
                .as_ref()
                .map(|paths| paths.iter().map(path_to_json).collect()),
            private: STANDARD.encode(&change.private),
            config_known: change.config_known,
            identity: change.identity.as_ref().map(|identity| STANDARD.encode(identity)),
            dependencies: lists.position_of(&change.dependencies),
            prior_dependencies: lists.position_of(&change.prior_dependencies),
            create_before_destroy: change.create_before_destroy,
        })
    }

    fn into_change(self, lists: &[DependencyList]) -> Result<Change, PlanFormatError> {
        let list = |at: usize| {
            lists
                .get(at)
                .cloned()
                .ok_or_else(|| damaged_plan_error(&"a list of dependencies is missing"))
        };
        let bytes = |text: String| {
            STANDARD.decode(text).map(Bytes::from).map_err(|error| damaged_plan_error(&error))
        };
        let addr: InstanceAddr = self.addr.parse().map_err(|error| damaged_plan_error(&error))?;
        let reason = match self.reason {
            Some(name) => Some(
                ACTION_REASONS
                    .into_iter()
                    .find(|reason| format!("{reason:?}") == name)
                    .ok_or_else(|| damaged_plan_error(&format!("{name:?} is no reason")))?,
            ),
            None => None,
        };
        Ok(Change {
            addr,
            deposed: self.deposed.map(|key| DeposedKey(key.into())),
            moved_from: self
                .moved_from
                .map(|addr| addr.parse().map_err(|error| damaged_plan_error(&error)))
                .transpose()?,
            importing: self.importing.map(ImportJson::into_import).transpose()?,
            provider: self.provider.parse().map_err(|error| damaged_plan_error(&error))?,
            action: value_in_table(&ACTION_NAMES, &self.action)?,
            reason,
            before: self.before.into_value()?,
            after: self.after.into_value()?,
            replace_paths: paths_from_json(self.replace_paths)?,
            config_secrets: self.config_secrets.map(paths_from_json).transpose()?,
            private: bytes(self.private)?,
            config_known: self.config_known,
            identity: self.identity.map(bytes).transpose()?,
            dependencies: list(self.dependencies)?,
            prior_dependencies: list(self.prior_dependencies)?,
            create_before_destroy: self.create_before_destroy,
        })
    }
}

impl ImportJson {
    fn from_import(importing: &PlannedImport) -> Result<Self, PlanFormatError> {
        let (id, identity) = match &importing.import_key {
            ImportKey::Id(id) => (Some(id.to_string()), None),
            ImportKey::Identity(identity) => (None, Some(ValueJson::from_value(identity)?)),
        };
        Ok(Self { id, identity, generated_config: importing.generated_config.clone() })
    }

    fn into_import(self) -> Result<PlannedImport, PlanFormatError> {
        let import_key = match (self.id, self.identity) {
            (Some(id), _) => ImportKey::Id(id.into()),
            (None, Some(identity)) => ImportKey::Identity(identity.into_value()?),
            (None, None) => return Err(damaged_plan_error(&"the import names no object")),
        };
        Ok(PlannedImport { import_key, generated_config: self.generated_config })
    }
}

impl OutputJson {
    fn from_change(change: &OutputChange) -> Result<Self, PlanFormatError> {
        Ok(Self {
            action: name_in_table(&ACTION_NAMES, &change.action),
            before: ValueJson::from_value(&change.before)?,
            after: ValueJson::from_value(&change.after)?,
            sensitive: change.sensitive,
        })
    }

    fn into_change(self) -> Result<OutputChange, PlanFormatError> {
        Ok(OutputChange {
            action: value_in_table(&ACTION_NAMES, &self.action)?,
            before: self.before.into_value()?,
            after: self.after.into_value()?,
            sensitive: self.sensitive,
        })
    }
}
