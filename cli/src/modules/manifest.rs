//! The `modules.json` file: installed modules and their directories.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use formwork_core::addr::ModuleSource;
use formwork_core::disk::{Dir, MAX_SMALL_FILE_LEN, parse_json_object};
use formwork_core::version::LooseVersion;
use serde::{Deserialize, Serialize};

/// The name of the file.
const MANIFEST_FILE_NAME: &str = "modules.json";

/// Installed modules, by the dot-separated names of the calls from the root module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleManifest(pub(crate) BTreeMap<String, ModuleRecord>);

/// One installed module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleRecord {
    /// The normalized source.
    pub(crate) source: String,
    /// The version, if the module is from a registry.
    pub(crate) version: Option<LooseVersion>,
    /// The directory, relative to the root module's directory.
    pub(crate) dir: PathBuf,
}

/// The document of the file.
#[derive(Serialize, Deserialize)]
struct ManifestDocument {
    #[serde(rename = "Modules")]
    modules: Vec<ManifestEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ManifestEntry {
    key: String,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    dir: String,
}

impl ModuleManifest {
    /// Returns the path of the file in the module directory, for messages.
    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join(MANIFEST_FILE_NAME)
    }

    /// Reads the installed modules. A missing file means no modules.
    ///
    /// # Errors
    /// The file cannot be read, or is not a module manifest.
    pub(crate) fn load(directory: &Dir) -> io::Result<Self> {
        match directory.read_text(MANIFEST_FILE_NAME, MAX_SMALL_FILE_LEN)? {
            Some(text) => Self::parse(&text),
            None => Ok(Self::default()),
        }
    }

    /// Parses a manifest.
    ///
    /// # Errors
    /// The document is not a module manifest.
    pub(crate) fn parse(text: &str) -> io::Result<Self> {
        let document: ManifestDocument = parse_json_object(text.as_bytes())?;
        let mut manifest = Self::default();
        for ManifestEntry { key, source, version, dir } in document.modules {
            let version = match version.as_deref().filter(|version| !version.is_empty()) {
                Some(text) => Some(text.parse::<LooseVersion>().map_err(|error| {
                    let reason = format!("the version {text:?} of {key:?}: {error}");
                    io::Error::new(ErrorKind::InvalidData, reason)
                })?),
                None => None,
            };
            // Terraform before 1.1 wrote sources as written in the calls.
            let canonical = |source: &str| {
                let address = ModuleSource::parse(source, version.is_some()).ok()?;
                Some(address.to_string())
            };
            // An address that changes with each normalization is not normalized.
            let source = canonical(&source)
                .filter(|address| canonical(address).as_ref() == Some(address))
                .unwrap_or(source);
            manifest.0.insert(key, ModuleRecord { source, version, dir: dir.into() });
        }
        Ok(manifest)
    }

    /// Replaces the file atomically.
    ///
    /// # Errors
    /// The file cannot be written. Its contents are then unchanged.
    pub(crate) fn save(&self, directory: &Dir) -> io::Result<()> {
        let text = self.render();
        if directory
            .read(MANIFEST_FILE_NAME, MAX_SMALL_FILE_LEN)
            .is_ok_and(|existing| existing == Some(text.clone().into()))
        {
            return Ok(());
        }
        directory.replace(MANIFEST_FILE_NAME, text.as_bytes(), 0o644)
    }

    /// Renders the contents of the file.
    pub(crate) fn render(&self) -> String {
        let entry = |(key, record): (&String, &ModuleRecord)| ManifestEntry {
            key: key.clone(),
            source: record.source.clone(),
            version: record.version.as_ref().map(ToString::to_string),
            dir: record.dir.display().to_string(),
        };
        let document = ManifestDocument { modules: self.0.iter().map(entry).collect() };
        let text = serde_json::to_string(&document).expect("strings can always be encoded as JSON");
        // Terraform escapes these characters, which can only occur within strings.
        let escapes = [
            ('&', "\\u0026"),
            ('<', "\\u003c"),
            ('>', "\\u003e"),
            ('\u{2028}', "\\u2028"),
            ('\u{2029}', "\\u2029"),
        ];
        escapes.into_iter().fold(text, |text, (c, escape)| text.replace(c, escape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_same_byte_for_byte_after_reading_and_writing() {
        // As Terraform 1.11.4 wrote it.
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"f","Source":"git::file:///repo?depth=1\u0026ref=feat","Dir":".terraform/modules/f"},{"Key":"g","Source":"./loc","Dir":"loc"},{"Key":"g.n","Source":"git::file:///repo//other","Dir":".terraform/modules/g.n/other"},{"Key":"r","Source":"registry.terraform.io/a/b/c","Version":"1.10.0","Dir":".terraform/modules/r"}]}"#;
        let manifest = ModuleManifest::parse(text).unwrap();
        assert_eq!(manifest.0["f"].source, "git::file:///repo?depth=1&ref=feat");
        assert_eq!(manifest.0["r"].version, Some("1.10.0".parse().unwrap()));
        assert_eq!(manifest.render(), text);
    }

    #[test]
    fn sources_of_older_versions_of_terraform_are_normalised() {
        let text = r#"{"Modules":[{"Key":"r","Source":"a/b/c","Version":"1.10.0","Dir":"r"},{"Key":"g","Source":"github.com/a/b","Dir":"g"},{"Key":"","Source":"","Dir":"."}]}"#;
        let manifest = ModuleManifest::parse(text).unwrap();
        assert_eq!(manifest.0["r"].source, "registry.terraform.io/a/b/c");
        assert_eq!(manifest.0["g"].source, "git::https://github.com/a/b.git");
        assert_eq!(manifest.0[""].source, "");
    }

    #[test]
    fn a_source_with_many_slashes_is_the_same_each_time_it_is_read() {
        for source in ["git::///a//////////", "x::///&///?//s0/j?b", "github.com/a/b://///c?d+e"] {
            let text = format!(
                r#"{{"Modules":[{{"Key":"g","Source":{source:?},"Dir":"g"}},{{"Key":"v","Source":"a/b/c","Version":"1","Dir":"v"}}]}}"#
            );
            let manifest = ModuleManifest::parse(&text).unwrap();
            assert_eq!(ModuleManifest::parse(&manifest.render()).unwrap(), manifest, "{source}");
        }
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        for text in
            ["", "{", "[]", r#"{"Modules":[{"Key":"a","Source":"x","Version":"new","Dir":"."}]}"#]
        {
            assert!(ModuleManifest::parse(text).is_err(), "{text}");
        }
    }
}
