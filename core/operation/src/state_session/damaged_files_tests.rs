//! State, journal, backup and `errored.tfstate` in every condition, in pairs: no combination loses an
//! object silently.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use formwork_backend::local::StateFilePaths;
use formwork_core::addr::ProviderConfigAddr;
use formwork_core::state::journal::{self, Intent, Journal, RunHeader};
use formwork_value::Value;

use super::*;

/// The condition of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileCondition {
    Present,
    Absent,
    Empty,
    Cut,
    Flipped,
    Older,
    OtherLineage,
}

const TESTED_FILE_CONDITIONS: [FileCondition; 7] = [
    FileCondition::Present,
    FileCondition::Absent,
    FileCondition::Empty,
    FileCondition::Cut,
    FileCondition::Flipped,
    FileCondition::Older,
    FileCondition::OtherLineage,
];

/// The four files, by their position in a row of conditions.
const FILE_NAMES: [&str; 4] = ["state", "journal", "backup", "errored"];

/// A state with these objects, each with an id after its name.
fn state_with_objects(lineage: &str, serial: u64, names: &str) -> Vec<u8> {
    let resources: Vec<String> = names
        .split_whitespace()
        .map(|name| {
            format!(
                r#"{{"mode":"managed","type":"t","name":"{name}","provider":"provider[\"example.com/acme/t\"]","instances":[{{"schema_version":0,"attributes":{{"id":"{name}-1"}}}}]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"{lineage}","outputs":{{}},"resources":[{}],"check_results":null}}"#,
        resources.join(",")
    )
    .into_bytes()
}

/// The journal of a run that found a state and created an object.
async fn journal_with_creation(base: &[u8], name: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let base = StateFile::parse(base).unwrap();
    let begin = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
    let journal = Journal::begin_run(directory.path(), begin).unwrap();
    let addr: InstanceAddr = format!("t.{name}").parse().unwrap();
    let provider: ProviderConfigAddr = "provider[\"example.com/acme/t\"]".parse().unwrap();
    let planned = Value::string(name);
    let intent = Intent {
        addr: &addr,
        provider: &provider,
        deposed: None,
        deposes: None,
        action: journal::CallAction::Create,
        prior: None,
        planned: &planned,
    };
    let op = journal.announce_operation(intent).await.unwrap();
    let file = StateFile::parse(&state_with_objects("one", 1, name)).unwrap();
    journal
        .settle_operation(op, file.state.find_object(&addr, None).map(|object| &**object))
        .unwrap();
    std::fs::read(journal.location()).unwrap()
}

/// Damages the content of a file, unless the condition is about the content itself.
fn damage_content(content: Vec<u8>, condition: FileCondition, is_journal: bool) -> Option<Vec<u8>> {
    match condition {
        FileCondition::Absent => None,
        FileCondition::Empty => Some(Vec::new()),
        // A journal without its first record, because a journal that only lacks its end is the
        // result of a crash.
        FileCondition::Cut if is_journal => Some(content[..40].to_vec()),
        FileCondition::Cut => Some(content[..content.len() / 2].to_vec()),
        FileCondition::Flipped => {
            let mut content = content;
            // The quote at the end of a name. A change within a string could not be detected in a
            // state.
            let index = content.windows(6).rposition(|window| window == b"\"t\",\"n").unwrap() + 2;
            content[index] ^= 0x04;
            Some(content)
        }
        FileCondition::Present | FileCondition::Older | FileCondition::OtherLineage => {
            Some(content)
        }
    }
}

/// A directory with the four files.
struct DamagedDir {
    directory: tempfile::TempDir,
}

impl DamagedDir {
    async fn new(conditions: [FileCondition; 4]) -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        let [state, journal, backup, errored] = conditions;
        let pick = |condition, [present, older]: [(u64, &str); 2]| match condition {
            FileCondition::Older => state_with_objects("one", older.0, older.1),
            FileCondition::OtherLineage => state_with_objects("two", present.0, "stranger"),
            _ => state_with_objects("one", present.0, present.1),
        };
        let journaled_state = pick(journal, [(3, "old b"), (2, "old")]);
        let new_name = if journal == FileCondition::Older { "b" } else { "c" };
        let journal_text = journal_with_creation(&journaled_state, new_name).await;
        std::fs::create_dir(world.path(".terraform.tfstate.journal")).unwrap();
        for (name, content, condition) in [
            ("terraform.tfstate", pick(state, [(3, "old b"), (2, "old")]), state),
            (".terraform.tfstate.journal/run.wal", journal_text, journal),
            ("terraform.tfstate.backup", pick(backup, [(2, "old"), (1, "")]), backup),
            ("errored.tfstate", pick(errored, [(4, "old b c"), (3, "old b")]), errored),
        ] {
            // A state without objects has nothing to be flipped, and this condition is not used.
            if let Some(text) = damage_content(content, condition, name.ends_with(".wal")) {
                std::fs::write(world.path(name), text).unwrap();
            }
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The objects that are known after reading, or the summary of the error, and all messages.
    async fn recovered_objects(&self) -> (Result<BTreeSet<String>, ()>, Vec<String>) {
        let mut diags = Diagnostics::new();
        let state = StateFilePaths::from_state_path(self.path("terraform.tfstate")).into();
        let outcome =
            StateSession::read_and_recover(&mut diags, state, self.directory.path(), None).await;
        let object_names = outcome.map_err(drop).map(|locked| {
            let addrs = locked.file.state.resources.keys();
            addrs.map(|addr| addr.resource.name().to_string()).collect()
        });
        (object_names, diags.into_iter().map(|diagnostic| diagnostic.summary).collect())
    }
}

/// The pairs of files, each with the condition that the other files are in.
fn file_pairs() -> impl Iterator<Item = [usize; 2]> {
    (0..FILE_NAMES.len())
        .flat_map(|first| (first + 1..FILE_NAMES.len()).map(move |second| [first, second]))
}

/// The results of all conditions of two files, with no other file but an empty state, since other
/// files are not consulted if the state is intact.
async fn outcome_table_cell(pair: [usize; 2], conditions: [FileCondition; 2]) -> String {
    let mut file_conditions =
        [FileCondition::Empty, FileCondition::Absent, FileCondition::Absent, FileCondition::Absent];
    for (file, condition) in pair.into_iter().zip(conditions) {
        file_conditions[file] = condition;
    }
    let (object_names, messages) = DamagedDir::new(file_conditions).await.recovered_objects().await;
    let names = match &object_names {
        Ok(names) if names.is_empty() => "nothing".to_owned(),
        Ok(names) => names.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        Err(()) => "refused".to_owned(),
    };
    let is_quiet = messages.is_empty();
    let is_complete = object_names
        .as_ref()
        .is_ok_and(|object_names| object_names.is_superset(&expected_objects(file_conditions)));
    assert!(!is_quiet || is_complete, "{file_conditions:?} forgets objects silently: {names}");
    format!("{names}; {}", messages.join(", "))
}

/// The existing objects: those that any of the files had before it was damaged. A backup is not
/// consulted if the state is readable.
fn expected_objects(file_conditions: [FileCondition; 4]) -> BTreeSet<String> {
    use FileCondition::{Absent, Older, OtherLineage, Present};
    let [state, journal, backup, errored] = file_conditions;
    let has_state = matches!(state, Present | Older | OtherLineage);
    let names = [
        (state, "old b", "old"),
        (journal, "c", "b"),
        (if has_state { Absent } else { backup }, "old", ""),
        (errored, "old b c", "old b"),
    ];
    let names = names.map(|(condition, present, older)| match condition {
        Absent => "",
        Older => older,
        _ if condition == OtherLineage && present != "c" => "stranger",
        _ => present,
    });
    names.iter().flat_map(|names| names.split_whitespace()).map(str::to_owned).collect()
}

#[tokio::test]
async fn no_pair_of_damaged_files_loses_an_object_silently() {
    let mut table = String::new();
    for pair in file_pairs() {
        table.push_str(&format!("{} and {}\n", FILE_NAMES[pair[0]], FILE_NAMES[pair[1]]));
        for first in TESTED_FILE_CONDITIONS {
            for second in TESTED_FILE_CONDITIONS {
                let cell = outcome_table_cell(pair, [first, second]).await;
                table.push_str(&format!("  {first:?}, {second:?}: {cell}\n"));
            }
        }
    }
    expect_test::expect_file![
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/state_session/damaged_files_tests.txt")
    ]
    .assert_eq(&table);
}

#[tokio::test]
async fn no_combination_of_four_damaged_files_loses_an_object_silently() {
    // All 2401 combinations of all conditions hold too, but take a minute.
    let damaged_conditions =
        [FileCondition::Absent, FileCondition::Empty, FileCondition::Flipped, FileCondition::Older];
    for n in 0..damaged_conditions.len().pow(4) {
        let file_conditions = [0, 1, 2, 3].map(|index| {
            damaged_conditions[n / damaged_conditions.len().pow(index) % damaged_conditions.len()]
        });
        let (object_names, messages) =
            DamagedDir::new(file_conditions).await.recovered_objects().await;
        let is_complete = object_names
            .as_ref()
            .is_ok_and(|object_names| object_names.is_superset(&expected_objects(file_conditions)));
        assert!(
            !messages.is_empty() || is_complete,
            "{file_conditions:?} forgets objects silently"
        );
    }
}
