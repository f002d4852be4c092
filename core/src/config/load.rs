//! Files become a [`Config`]. Nothing is evaluated beyond constants.
//!
//! Errors come in stages, and a later stage is not entered with errors of an earlier one: what cannot
//! be parsed, what blocks cannot hold, names that stand for nothing.

use std::path::Path;
use std::sync::Arc;

use formwork_lang::syntax::{Body, add_source, parse_file};
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::arguments::not_supported;
use super::draft::Draft;
use super::{Config, Files, references, settings, validate};
use crate::addr::ModulePath;

impl Config {
    /// Reads the configuration in a folder. The sources keep the texts, also when it fails, so that
    /// messages can show them.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, a block is malformed, or a name stands for nothing.
    pub fn load(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        files: &dyn Files,
        dir: &Path,
    ) -> Result<Self, Reported> {
        let mut found = Diagnostics::new();
        let config = load_root(&mut found, sources, files, dir);
        diags.append(by_place(found))?;
        config
    }
}

/// Sorts messages as a reader goes through the files.
fn by_place(found: Diagnostics) -> Diagnostics {
    let mut list: Vec<Diagnostic> = found.into_iter().collect();
    list.sort_by_key(|diagnostic| diagnostic.subject);
    let mut sorted = Diagnostics::new();
    for diagnostic in list {
        let _ = sorted.push(diagnostic);
    }
    sorted
}

fn load_root(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn Files,
    dir: &Path,
) -> Result<Config, Reported> {
    let bodies = parse_folder(diags, sources, files, dir)?;
    settings::check_version(diags, &bodies)?;
    diags.check()?;
    let n_files = bodies.len();
    let mut draft = Draft::new(ModulePath::root(), dir);
    for body in bodies {
        draft.read(diags, sources, body);
    }
    let mut module = draft.finish();
    diags.check()?;
    references::fill(diags, &mut module);
    validate::references(diags, &module);
    diags.check()?;
    Ok(Config { root: Arc::new(module), n_files })
}

/// Parses every configuration file of a folder, in the order of names.
pub(super) fn parse_folder(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn Files,
    dir: &Path,
) -> Result<Vec<Body>, Reported> {
    let mut names = files.list(dir).map_err(|error| {
        diags.error(
            Diagnostic::error(
                "Failed to read module directory",
                format!("The folder `{}` cannot be read: {error}.", dir.display()),
            )
            .blame(Blame::Environment),
        )
    })?;
    names.sort();
    let names = names.iter().filter(|name| is_configuration(name));
    Ok(names.filter_map(|name| parse(diags, sources, files, &dir.join(name))).collect())
}

/// Whether a file belongs to the configuration. What editors leave behind does not.
fn is_configuration(name: &str) -> bool {
    let left_behind = name.starts_with('.')
        || name.ends_with('~')
        || (name.starts_with('#') && name.ends_with('#'));
    !left_behind && (name.ends_with(".tf") || name.ends_with(".tf.json"))
}

fn is_override(name: &str) -> bool {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let stem = stem.strip_suffix(".tf").unwrap_or(stem);
    stem == "override" || stem.ends_with("_override")
}

fn parse(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn Files,
    path: &Path,
) -> Option<Body> {
    let name = shown(path);
    let unsupported = if name.ends_with(".json") {
        Some("A file in JSON syntax")
    } else if is_override(path.file_name().and_then(|name| name.to_str()).unwrap_or_default()) {
        Some("An override file")
    } else {
        None
    };
    if let Some(what) = unsupported {
        // There is no text to point into, so the name stands in the message.
        let _ = diags.error(not_supported(&format!("{what} (`{name}`)"), None));
        return None;
    }
    let content = match files.read(path) {
        Ok(content) => content,
        Err(error) => {
            let _ = diags.error(
                Diagnostic::error(
                    "Failed to read file",
                    format!("`{name}` cannot be read: {error}."),
                )
                .blame(Blame::Environment),
            );
            return None;
        }
    };
    let source = add_source(diags, sources, name, content);
    Some(parse_file(diags, sources, source))
}

/// The name of a file as people see it: relative to the folder the command works in.
fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}
