//! The real objects: a directory with one file for each object, which no engine reads, and a record of
//! the calls. Tests compare it with the state.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The directory in `BAD_OBJECTS`, or the temporary one.
#[derive(Clone, Debug)]
pub(crate) struct FakeService {
    directory: PathBuf,
}

impl FakeService {
    /// The fake service of this process.
    pub(crate) fn from_env() -> Self {
        let directory =
            std::env::var_os("BAD_OBJECTS").map_or_else(std::env::temp_dir, PathBuf::from);
        Self { directory }
    }

    /// Whether this is the first such call in any process.
    pub(crate) fn is_first(&self) -> bool {
        OpenOptions::new().create_new(true).write(true).open(self.directory.join("first")).is_ok()
    }

    /// Writes down that something happened.
    pub(crate) fn log_event(&self, event: &str) {
        let path = self.directory.join("calls.log");
        let mut file =
            OpenOptions::new().create(true).append(true).open(path).expect("the directory exists");
        file.write_all(format!("{event}\n").as_bytes()).expect("it can be written");
    }

    /// Makes an object and returns its id. Two objects of one name get two ids: a duplicate shows.
    pub(crate) fn create(&self, name: &str) -> String {
        let numbers = 1..;
        for number in numbers {
            let id = format!("{name}-{number}");
            let path = self.object(&id);
            match OpenOptions::new().create_new(true).write(true).open(path) {
                Ok(_) => return id,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
                Err(error) => panic!("the object cannot be created: {error}"),
            }
        }
        unreachable!("there is always another number")
    }

    /// Gives an object its content.
    pub(crate) fn write(&self, id: &str, content: &str) {
        // In one step: the process ends with its engine, also in the middle of a write.
        let new = self.object(id).with_extension("new");
        fs::write(&new, content).expect("it can be written");
        fs::rename(new, self.object(id)).expect("it can be renamed");
    }

    /// Returns an object's content, if it exists.
    pub(crate) fn read(&self, id: &str) -> Option<String> {
        match fs::read_to_string(self.object(id)) {
            Ok(content) => Some(content),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => panic!("the object {id} cannot be read: {error}"),
        }
    }

    /// The content of every object, by its id.
    pub(crate) fn all_objects(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "object"));
        paths.sort();
        paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
    }

    /// Removes an object. An absent one is not an error.
    pub(crate) fn remove(&self, id: &str) {
        match fs::remove_file(self.object(id)) {
            Ok(()) => (),
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => panic!("the object {id} cannot be removed: {error}"),
        }
    }

    /// If a test pauses this object at this moment (`BAD_HOLD=before:a,after:b`), reports that the
    /// moment has come, and waits until the test resumes it.
    pub(crate) fn gate(&self, moment: &str, name: &str) {
        let held = std::env::var("BAD_HOLD").unwrap_or_default();
        if !held.split(',').any(|hold| hold == format!("{moment}:{name}")) {
            return;
        }
        let mut test =
            UnixStream::connect(self.directory.join("gate")).expect("a test waits there");
        test.write_all(format!("{moment}:{name}\n").as_bytes()).expect("it listens");
        // The end of the stream resumes it as well as a byte.
        match test.read(&mut [0]) {
            Ok(_) | Err(_) => (),
        }
    }

    /// Returns a connection that closes when the process ends.
    pub(crate) fn process_witness(&self) -> Option<UnixStream> {
        UnixStream::connect(self.directory.join("witness")).ok()
    }

    fn object(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.object"))
    }
}
