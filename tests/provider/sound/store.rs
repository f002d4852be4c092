//! The state store `sound_store`: a file for each state, replaced whole, and a file for each lock.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;

use crate::objects;

/// The name of the type.
const NAME: &str = "sound_store";
/// The size of the chunks that states are read in.
const CHUNK: usize = 1 << 20;

/// The locks of this process: state and lock id.
#[derive(Default)]
pub(crate) struct Store(Mutex<Vec<(String, String)>>);

/// The answer to the schema call with the type of the store.
pub(crate) fn with_schema(schema: &Msg) -> Msg {
    let attribute = Msg::new()
        .with_text(1, "directory")
        .with_text(2, "\"string\"")
        .with_text(3, "The directory of the states.")
        .with_nonzero_int(5, 1);
    let block = Msg::new().with_message(2, &attribute).with_text(4, "A directory of states.");
    let entry = Msg::new().with_text(1, NAME).with_message(2, &Msg::new().with_message(2, &block));
    schema.clone().with_message(10, &entry)
}

/// The answer to the metadata call with the type of the store.
pub(crate) fn with_metadata(metadata: &Msg) -> Msg {
    metadata.clone().with_message(8, &Msg::new().with_text(1, NAME))
}

fn hex(name: &str) -> String {
    name.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<String> {
    let pairs = (0..text.len() / 2)
        .map(|index| u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok());
    String::from_utf8(pairs.collect::<Option<Vec<u8>>>()?).ok()
}

fn state_file(state: &str, kind: &str) -> PathBuf {
    let directory = objects::directory().join("store");
    fs::create_dir_all(&directory).expect("the directory can be written");
    directory.join(format!("{}.{kind}", hex(state)))
}

fn error(field: u32, summary: &str, detail: &str) -> Msg {
    let diagnostic = Msg::new().with_nonzero_int(1, 1).with_text(2, summary).with_text(3, detail);
    Msg::new().with_message(field, &diagnostic)
}

impl Store {
    /// Answers a call of a state store; `None` if it is another call.
    pub(crate) fn answer(&self, rpc: Rpc, requests: &[Msg]) -> Option<Vec<Msg>> {
        let request = requests.first().cloned().unwrap_or_default();
        let state = request.get_text(2);
        let is_known = |name: &str, field| match name {
            NAME => None,
            _ => Some(vec![error(field, "Unknown state store", "There is only sound_store.")]),
        };
        let name = request.get_text(1);
        Some(match rpc {
            Rpc::ValidateStateStoreConfig => is_known(&name, 1).unwrap_or_else(|| vec![Msg::new()]),
            Rpc::ConfigureStateStore => is_known(&name, 1).unwrap_or_else(|| {
                let requested = request.get_msg(3).map_or(0, |it| it.get_int(1));
                vec![Msg::new().with_message(
                    2,
                    &Msg::new().with_nonzero_int(1, requested.clamp(1, CHUNK as u64)),
                )]
            }),
            Rpc::ReadStateBytes => is_known(&name, 4).unwrap_or_else(|| read(&state)),
            Rpc::WriteStateBytes => vec![self.write(requests)],
            Rpc::LockState => vec![self.lock(&state)],
            Rpc::UnlockState => vec![self.unlock(&state, &request.get_text(3))],
            Rpc::GetStates => is_known(&name, 2).unwrap_or_else(|| vec![list()]),
            Rpc::DeleteState => {
                // An absent state counts as deleted.
                drop(fs::remove_file(state_file(&state, "state")));
                vec![Msg::new()]
            }
            _ => return None,
        })
    }

    fn locks(&self) -> std::sync::MutexGuard<'_, Vec<(String, String)>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self, requests: &[Msg]) -> Msg {
        let Some(meta) = requests.first().and_then(|it| it.get_msg(1)) else {
            return error(1, "No state named", "The first chunk has no metadata.");
        };
        let state = meta.get_text(2);
        let holds = |(name, id): &(String, String)| {
            *name == state
                && fs::read_to_string(state_file(name, "lock")).is_ok_and(|holder| holder == *id)
        };
        if !self.locks().iter().any(holds) {
            return error(1, "State not locked", "This process does not hold the lock.");
        }
        let bytes: Vec<u8> = requests.iter().flat_map(|it| it.get_bytes(2)).collect();
        let parts = state_file(&state, "part");
        let written =
            fs::write(&parts, bytes).and_then(|()| fs::rename(&parts, state_file(&state, "state")));
        match written {
            Ok(()) => Msg::new(),
            Err(cause) => error(1, "State not written", &cause.to_string()),
        }
    }

    fn lock(&self, state: &str) -> Msg {
        let id = format!("lock-{}-{}", std::process::id(), self.locks().len());
        let created =
            OpenOptions::new().create_new(true).write(true).open(state_file(state, "lock"));
        match created.and_then(|mut file| file.write_all(id.as_bytes())) {
            Ok(()) => {
                self.locks().push((state.to_owned(), id.clone()));
                Msg::new().with_text(1, &id)
            }
            Err(_) => {
                let holder = fs::read_to_string(state_file(state, "lock")).unwrap_or_default();
                error(2, "State locked", &format!("The lock {holder} is held."))
            }
        }
    }

    fn unlock(&self, state: &str, id: &str) -> Msg {
        if fs::read_to_string(state_file(state, "lock")).is_ok_and(|holder| holder == id) {
            self.locks().retain(|(name, _)| name != state);
            drop(fs::remove_file(state_file(state, "lock")));
            return Msg::new();
        }
        error(1, "Wrong lock", &format!("The lock of the state is not {id:?}."))
    }
}

fn read(state: &str) -> Vec<Msg> {
    let bytes = fs::read(state_file(state, "state")).unwrap_or_default();
    let total = bytes.len() as u64;
    let chunks = bytes.chunks(CHUNK).enumerate();
    let chunks = chunks.map(|(index, chunk)| {
        let start = (index * CHUNK) as u64;
        let range = Msg::new()
            .with_nonzero_int(1, start)
            .with_nonzero_int(2, start + chunk.len() as u64 - 1);
        Msg::new().with_bytes(1, chunk.to_vec()).with_nonzero_int(2, total).with_message(3, &range)
    });
    let chunks: Vec<Msg> = chunks.collect();
    if chunks.is_empty() { vec![Msg::new().with_message(3, &Msg::new())] } else { chunks }
}

fn list() -> Msg {
    let directory = state_file("", "state").with_file_name("");
    let names = fs::read_dir(directory).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        unhex(name.strip_suffix(".state")?)
    });
    names.fold(Msg::new(), |answer, name| answer.with_text(1, &name))
}
