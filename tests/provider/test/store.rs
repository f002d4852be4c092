//! `test_store`: a state store in a directory. Each state is a file that is replaced whole, and each
//! lock a file that only one process can create. `TEST_STORE=die` kills the process in the middle of a
//! write.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use formwork_sdk::prelude::*;

/// Arguments of the state store.
#[derive(Model)]
pub(crate) struct Directory {
    /// The directory of the states.
    #[attr(required)]
    directory: String,
    /// A password, which is not needed.
    #[attr(optional, sensitive)]
    password: Option<String>,
}

/// The state store.
pub(crate) struct Store;

/// The part of a file's name that a state has.
const STATE: &str = "state";
const LOCK: &str = "lock";

/// A file of a state. Its name has no characters that a file name cannot have.
fn state_file(directory: &str, state: &str, kind: &str) -> PathBuf {
    let name: String = state.bytes().map(|byte| format!("{byte:02x}")).collect();
    Path::new(directory).join(format!("{name}.{kind}"))
}

/// The name of the state in a file.
fn state_of(file: &Path) -> Option<String> {
    if file.extension()? != STATE {
        return None;
    }
    let name = file.file_stem()?.to_str()?;
    let bytes = name.as_bytes().chunks(2).map(|pair| {
        let digits = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(digits, 16).ok()
    });
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

fn lock_of(directory: &str, state: &str) -> Option<String> {
    fs::read_to_string(state_file(directory, state, LOCK)).ok()
}

impl StateStore for Store {
    type Model = Directory;

    fn validate(&self, call: Validate<Directory>) -> Answer<()> {
        match call.config.directory.get().map(String::as_str) {
            Some("") => Err(Problem::new("No directory", "The name is empty.").at("directory")),
            _ => Ok(()),
        }
    }

    async fn configure(&self, call: ConfigureStore<Directory>) -> Answer<()> {
        Ok(fs::create_dir_all(&call.config.directory)?)
    }

    async fn read(&self, call: ReadState<Directory>) -> Answer<Option<Vec<u8>>> {
        match fs::read(state_file(&call.config.directory, &call.state, STATE)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn write(&self, call: WriteState<Directory>) -> Answer<()> {
        let WriteState { config: DirectoryInput { directory, .. }, state, bytes, lock_id, .. } =
            &call;
        if lock_of(directory, state).as_ref() != Some(lock_id) {
            let detail = format!("The lock {lock_id} was released by another process.");
            return Err(Problem::new("Lock lost", detail));
        }
        let part = state_file(directory, state, "part");
        if std::env::var_os("TEST_STORE").is_some_and(|fault| fault == "die") {
            fs::write(&part, &bytes[..bytes.len() / 2])?;
            std::process::abort();
        }
        fs::write(&part, bytes)?;
        Ok(fs::rename(&part, state_file(directory, state, STATE))?)
    }

    async fn lock(&self, call: LockState<Directory>) -> Answer<String> {
        let (directory, state) = (&call.config.directory, &call.state);
        let id = format!("{}-{}", std::process::id(), call.operation);
        let created = OpenOptions::new()
            .create_new(true)
            .write(true)
            .open(state_file(directory, state, LOCK));
        match created {
            Ok(mut file) => {
                file.write_all(id.as_bytes())?;
                Ok(id)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let holder = lock_of(directory, state).unwrap_or_default();
                Err(Problem::new("State is locked", format!("The ID of the lock is {holder}.")))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn unlock(&self, call: UnlockState<Directory>) -> Answer<()> {
        let (directory, state) = (&call.config.directory, &call.state);
        match lock_of(directory, state) {
            Some(id) if id == call.lock_id => {
                Ok(fs::remove_file(state_file(directory, state, LOCK))?)
            }
            held => {
                let held = held.map_or("The state is not locked.".to_owned(), |id| {
                    format!("The ID of the lock is {id}.")
                });
                Err(Problem::new("Lock has another ID", held))
            }
        }
    }

    async fn list(&self, call: ListStates<Directory>) -> Answer<Vec<String>> {
        let entries = fs::read_dir(&call.config.directory)?;
        Ok(entries.flatten().filter_map(|entry| state_of(&entry.path())).collect())
    }

    async fn delete(&self, call: DeleteState<Directory>) -> Answer<()> {
        match fs::remove_file(state_file(&call.config.directory, &call.state, STATE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
