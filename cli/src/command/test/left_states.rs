//! States that earlier tests left in the data directory. A checkout may contain such states, or links with
//! their names.

use std::ffi::OsStr;
use std::io;

use formwork_backend::encryption::StateCipher;
use formwork_core::disk::locks::lock;
use formwork_core::disk::{Dir, MAX_STATE_LEN};

use super::STATES_DIR_NAME;
use crate::data_dir::DataDir;

/// The name of a state file in its directory.
const TEST_STATE_FILE: &str = "terraform.tfstate";

/// The paths of states with objects that no running command uses, sorted. States without objects are
/// removed.
///
/// # Errors
/// Returns an error if a directory cannot be opened, or if a path contains a link that the user did not
/// choose: the target of such a link is not a state of a test.
pub(super) fn find_left_states(data: &DataDir, cipher: &StateCipher) -> io::Result<Vec<String>> {
    let Some(data) = data.open_to_change()? else { return Ok(Vec::new()) };
    let Some(states) = data.subdir(STATES_DIR_NAME)? else { return Ok(Vec::new()) };
    let names = states.entry_names()?;
    // All links are checked before the first state is removed.
    for name in &names {
        refuse_links(&states, name)?;
    }
    let left_names = names.iter().filter_map(|name| find_left_state(&states, name, cipher));
    let mut names_in_order: Vec<String> = left_names.collect();
    names_in_order.sort();
    if !names.is_empty() {
        // Fails if the directory is not empty, and then it must not be removed.
        drop(data.remove_empty_subdir(STATES_DIR_NAME));
    }
    Ok(names_in_order)
}

/// Fails if a directory or its state is a link.
fn refuse_links(states: &Dir, name: &OsStr) -> io::Result<()> {
    states.refuse_link(name)?;
    // A directory that cannot be opened is left to its owner.
    let Ok(Some(directory)) = states.subdir(name) else { return Ok(()) };
    directory.refuse_link(TEST_STATE_FILE)
}

/// The path of the state in a directory, if it contains objects and no running command uses it. A state
/// without objects is removed.
fn find_left_state(states: &Dir, name: &OsStr, cipher: &StateCipher) -> Option<String> {
    let directory = states.subdir(name).ok()??;
    let file = directory.open_existing_lock_file(TEST_STATE_FILE).ok()??;
    // A running test holds the lock.
    let _lock = lock(file).ok()?;
    let text = directory.read(TEST_STATE_FILE, MAX_STATE_LEN).ok().flatten();
    let state = text.and_then(|text| cipher.parse_state(&text).ok());
    let is_of_state =
        |name: &OsStr| name.as_encoded_bytes().starts_with(TEST_STATE_FILE.as_bytes());
    // A journal may record objects that the state does not contain.
    let has_no_journal =
        directory.entry_names().is_ok_and(|names| names.iter().all(|name| is_of_state(name)));
    if has_no_journal && state.is_some_and(|it| it.state.is_empty()) {
        // If the removal fails, the next command repeats it.
        drop(states.remove(name));
        return None;
    }
    Some(directory.path().join(TEST_STATE_FILE).display().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const EMPTY: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{},"resources":[]}"#;
    const WITH_OBJECT: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"1"}}]}]}"#;

    fn find(data: &Path) -> io::Result<Vec<String>> {
        find_left_states(&DataDir::at_path(data.to_owned()), &StateCipher::default())
    }

    fn write_state(directory: &Path, text: &str) {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join(TEST_STATE_FILE), text).unwrap();
    }

    #[test]
    fn states_with_objects_are_found_and_empty_ones_are_removed() {
        let data = tempfile::tempdir().unwrap();
        let states = data.path().join(STATES_DIR_NAME);
        assert!(find(&data.path().join("missing")).unwrap().is_empty());
        assert!(find(data.path()).unwrap().is_empty() && !states.exists());
        for (name, text) in [("b", WITH_OBJECT), ("a", "no state"), ("c", EMPTY), ("d", EMPTY)] {
            write_state(&states.join(name), text);
        }
        fs::create_dir(states.join("d/.terraform.tfstate.journal")).unwrap();
        fs::create_dir(states.join("e")).unwrap();
        fs::write(states.join("f"), "").unwrap();
        let path = |name: &str| states.join(name).join(TEST_STATE_FILE).display().to_string();
        assert_eq!(find(data.path()).unwrap(), [path("a"), path("b"), path("d")]);
        assert!(!states.join("c").exists() && states.join("e").exists());
        assert!(!states.join("e").join(TEST_STATE_FILE).exists(), "no state is made");
        fs::remove_dir_all(&states).unwrap();
        write_state(&states.join("c"), EMPTY);
        assert!(find(data.path()).unwrap().is_empty() && !states.exists());
    }

    #[test]
    fn links_that_a_checkout_contains_are_refused_and_nothing_is_removed() {
        for (planted, target) in [
            ("test-states", ""),
            ("test-states/p", "p"),
            ("test-states/p/terraform.tfstate", "p/terraform.tfstate"),
            ("test-states/p/terraform.tfstate", "missing"),
        ] {
            let (data, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            write_state(&victim.path().join("p"), EMPTY);
            let link = data.path().join(planted);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(victim.path().join(target), link).unwrap();
            if planted != "test-states" {
                write_state(&data.path().join("test-states/a"), EMPTY);
            }
            let error = find(data.path()).unwrap_err().to_string();
            assert!(error.contains(planted), "{planted}: {error}");
            assert!(error.contains("is a symbolic link to"), "{planted}: {error}");
            let content = fs::read_to_string(victim.path().join("p").join(TEST_STATE_FILE));
            assert_eq!(content.unwrap(), EMPTY, "{planted}");
            assert_eq!(victim.path().read_dir().unwrap().count(), 1, "{planted}");
            let own_dir = data.path().join("test-states/a");
            assert_eq!(own_dir.exists(), planted != "test-states", "{planted}");
        }
    }
}
