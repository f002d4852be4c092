//! The module lock file, an optional file next to the provider lock file. It records the hash of every module
//! from a registry, a repository or an archive, so that every checkout uses the same modules.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::Path;

use formwork_core::disk::{Dir, MAX_SMALL_FILE_LEN};
use serde_json::Value;

use super::manifest::ModuleRecord;
use crate::view::json::json_builder::Json;

/// The name of the file in the root module's directory.
pub(crate) const MODULE_LOCK_FILE_NAME: &str = ".formwork.modules.lock.json";

/// The format version of the file.
const FORMAT_VERSION: &str = "1.0";

/// Locked modules, by the dot-separated names of the calls from the root module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleLock(pub(crate) BTreeMap<String, LockedModule>);

/// A locked module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockedModule {
    /// The normalized source.
    pub(crate) source: String,
    /// The version, if the module is from a registry.
    pub(crate) version: Option<String>,
    /// The hash of the contents of the package.
    pub(crate) hash: String,
}

impl LockedModule {
    /// Creates the lock of an installed module.
    pub(crate) fn for_record(record: &ModuleRecord, hash: String) -> Self {
        let version = record.version.as_ref().map(ToString::to_string);
        Self { source: record.source.clone(), version, hash }
    }

    /// Whether another lock is for the same release of a module.
    pub(crate) fn is_same_release(&self, other: &Self) -> bool {
        self.source == other.source && self.version == other.version
    }
}

impl ModuleLock {
    /// Reads the file in a root module's directory. `None` if it does not exist.
    ///
    /// # Errors
    /// The file cannot be read, or is not a module lock file.
    pub(crate) fn load(root: &Path) -> io::Result<Option<Self>> {
        let text = Dir::open(root)?.read_text(MODULE_LOCK_FILE_NAME, MAX_SMALL_FILE_LEN)?;
        text.map(|text| Self::parse(&text)).transpose()
    }

    /// Replaces the file atomically.
    ///
    /// # Errors
    /// The file cannot be written. Its contents are then unchanged.
    pub(crate) fn save(&self, root: &Path) -> io::Result<()> {
        Dir::open(root)?.replace(MODULE_LOCK_FILE_NAME, self.render().as_bytes(), 0o644)
    }

    fn parse(text: &str) -> io::Result<Self> {
        let broken = |reason: String| io::Error::new(ErrorKind::InvalidData, reason);
        let json: Value = serde_json::from_str(text)?;
        match json["format_version"].as_str() {
            Some(form) if form.split('.').next() == FORMAT_VERSION.split('.').next() => {}
            Some(form) => {
                return Err(broken(format!("its format_version {form:?} is not {FORMAT_VERSION}")));
            }
            None => return Err(broken("it has no format_version".to_owned())),
        }
        let modules = json["modules"].as_object();
        let modules = modules.ok_or_else(|| broken("it has no modules".to_owned()))?;
        let mut lock = Self::default();
        for (key, module) in modules {
            let field = |name: &str| module[name].as_str().map(str::to_owned);
            let (Some(source), Some(hash)) = (field("source"), field("hash")) else {
                return Err(broken(format!("its module {key:?} has no source or no hash")));
            };
            let version = field("version");
            lock.0.insert(key.clone(), LockedModule { source, version, hash });
        }
        Ok(lock)
    }

    fn render(&self) -> String {
        let modules = self.0.iter().map(|(key, module)| {
            let json = Json::object_of_some([
                ("source", Some(Json::text(module.source.clone()))),
                ("version", module.version.clone().map(Json::text)),
                ("hash", Some(Json::text(module.hash.clone()))),
            ]);
            (key.clone(), json)
        });
        let file = Json::object([
            ("format_version", Json::text(FORMAT_VERSION)),
            ("modules", Json::Object(modules.collect())),
        ]);
        format!("{}\n", file.to_pretty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_same_after_reading_and_writing() {
        let module = |version: Option<&str>| LockedModule {
            source: "git::https://example.com/net.git".to_owned(),
            version: version.map(str::to_owned),
            hash: "h1:x".to_owned(),
        };
        let lock = [("a".to_owned(), module(None)), ("a.b".to_owned(), module(Some("1.0.0")))];
        let lock = ModuleLock(lock.into());
        assert_eq!(ModuleLock::parse(&lock.render()).unwrap(), lock);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let damaged = [
            "",
            "{}",
            r#"{"format_version":"2.0","modules":{}}"#,
            r#"{"format_version":"1.0"}"#,
            r#"{"format_version":"1.0","modules":{"a":{"source":"x"}}}"#,
        ];
        for text in damaged {
            assert!(ModuleLock::parse(text).is_err(), "{text}");
        }
    }
}
