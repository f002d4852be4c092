//! The real objects: a directory with one file for each object. A file is complete or absent.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// The directory in `CRASH_OBJECTS`.
#[derive(Clone, Debug)]
pub(crate) struct FakeService {
    directory: PathBuf,
    /// Duration of a change.
    pub(crate) delay: Duration,
}

impl FakeService {
    /// The fake service of this process.
    pub(crate) fn from_env() -> Self {
        let directory =
            std::env::var_os("CRASH_OBJECTS").map_or_else(std::env::temp_dir, PathBuf::from);
        let delay = std::env::var("CRASH_DELAY").ok().and_then(|text| text.parse().ok());
        Self { directory, delay: Duration::from_millis(delay.unwrap_or(0)) }
    }

    /// Makes an object, unless one with this id exists. Returns whether it did.
    pub(crate) fn create(&self, id: &str, content: &str) -> bool {
        let temporary = self.temporary_path(id, content);
        // Unlike a rename, this fails if the target exists.
        let linked = fs::hard_link(&temporary, self.object(id));
        fs::remove_file(temporary).expect("it was just written");
        match linked {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => panic!("the object cannot be created: {error}"),
        }
    }

    /// Changes an object.
    pub(crate) fn change(&self, id: &str, content: &str) {
        fs::rename(self.temporary_path(id, content), self.object(id)).expect("it can be replaced");
    }

    /// Returns an object's content, if it exists.
    pub(crate) fn read(&self, id: &str) -> Option<String> {
        fs::read_to_string(self.object(id)).ok()
    }

    /// Returns the content of every object.
    pub(crate) fn all_objects(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let objects = entries.map(|entry| entry.path());
        let objects = objects.filter(|path| path.extension().is_some_and(|end| end == "object"));
        objects.filter_map(|path| fs::read_to_string(path).ok()).collect()
    }

    /// Removes an object. An absent one is not an error.
    pub(crate) fn remove(&self, id: &str) {
        fs::remove_file(self.object(id)).ok();
    }

    /// Connects to the observer, which counts the process as running while the connection is open.
    pub(crate) fn report_process(&self) -> Option<UnixStream> {
        let mut stream = UnixStream::connect(self.directory.join("witness")).ok()?;
        writeln!(stream, "{}", std::process::id()).ok()?;
        Some(stream)
    }

    fn temporary_path(&self, id: &str, content: &str) -> PathBuf {
        let path = self.directory.join(format!("{id}.{}.aside", std::process::id()));
        let mut file = File::create(&path).expect("the directory exists");
        file.write_all(content.as_bytes()).expect("it can be written");
        path
    }

    fn object(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.object"))
    }
}
