//! Configurations in one string, for tests: several files under `//- name` lines, including subdirectories, or
//! just `main.tf`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Value};

use super::module_dirs::LocalModuleDirs;
use super::{Config, ConfigFiles, ConfigSource, arguments};

/// Files held in memory.
pub(crate) struct InMemoryFiles(BTreeMap<String, String>);

impl InMemoryFiles {
    pub(crate) fn from_fixture(fixture: &str) -> Self {
        let mut texts = BTreeMap::new();
        let mut name = "main.tf".to_owned();
        for line in fixture.trim_start_matches('\n').split_inclusive('\n') {
            match line.strip_prefix("//- ") {
                Some(header) => {
                    name = header.trim().to_owned();
                    texts.insert(name.clone(), String::new());
                }
                None => texts.entry(name.clone()).or_default().push_str(line),
            }
        }
        Self(texts)
    }
}

impl ConfigFiles for InMemoryFiles {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let names = self.0.keys().rev().map(Path::new);
        let dir = dir.strip_prefix(".").unwrap_or(dir);
        let names = names.filter(|name| name.parent() == Some(dir));
        let names = names.filter_map(|name| name.file_name()?.to_str());
        Ok(names.map(str::to_owned).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.strip_prefix(".").unwrap_or(path).to_str().unwrap_or_default();
        self.0.get(name).map(|text| text.clone().into_bytes()).ok_or(io::ErrorKind::NotFound.into())
    }
}

/// Loads a configuration. The report contains the errors.
pub(crate) fn load_fixture(fixture: &str) -> (Option<Config>, Sources, Diagnostics) {
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let files = InMemoryFiles::from_fixture(fixture);
    let config_source =
        ConfigSource { files: &files, dir: Path::new("."), directories: &LocalModuleDirs };
    let config = Config::load(&mut diags, &mut sources, config_source);
    (config.ok(), sources, diags)
}

/// Loads a configuration that must be valid except for its references. The second report is about these.
pub(crate) fn load_fixture_unvalidated(fixture: &str) -> (Config, Sources, Diagnostics) {
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let files = InMemoryFiles::from_fixture(fixture);
    let config_source =
        ConfigSource { files: &files, dir: Path::new("."), directories: &LocalModuleDirs };
    let loaded = Config::load_unvalidated(&mut diags, &mut sources, config_source);
    assert!(!diags.has_errors(), "{}", format_diagnostics(&sources, &diags));
    let (config, dangling) = loaded.unwrap();
    (config, sources, dangling)
}

/// Loads a configuration that must be right.
pub(crate) fn load_valid_fixture(fixture: &str) -> (Config, Sources) {
    let (config, sources, diags) = load_fixture(fixture);
    assert!(!diags.has_errors(), "{}", format_diagnostics(&sources, &diags));
    (config.unwrap(), sources)
}

/// One line for each problem: its position and message, the values of names, and the cause.
pub(crate) fn format_diagnostics(sources: &Sources, diags: &Diagnostics) -> String {
    let mut out = String::new();
    for diagnostic in diags.iter() {
        let at =
            diagnostic.subject.map_or("-".to_owned(), |span| arguments::format_span(sources, span));
        let severity = if diagnostic.is_error() { "error" } else { "warning" };
        out += &format!("{severity} {at} {}\n", diagnostic.summary);
        for value in &diagnostic.referenced {
            out += &format!("    | {} {}\n", value.traversal, value.statement);
        }
        for line in diagnostic.detail.lines() {
            out += format!("    {line}").trim_end();
            out.push('\n');
        }
    }
    out
}

/// Prints a value on one line.
pub(crate) fn format_value(value: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(format_value).collect::<Vec<_>>().join(", ");
    let pairs = |names: &[formwork_value::Str], items: &[Value]| {
        let pair = |(name, item): (_, _)| format!("{name} = {}", format_value(item));
        names.iter().zip(items).map(pair).collect::<Vec<_>>().join(", ")
    };
    match value {
        Value::Null(_) => "null".into(),
        Value::Unknown(unknown) => format!("unknown {}", unknown.ty()),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::List(items) => format!("list[{}]", list(items.items())),
        Value::Set(items) => format!("set[{}]", list(items.items())),
        Value::Tuple(items) => format!("[{}]", list(items.items())),
        Value::Map(map) => format!("map{{{}}}", pairs(map.keys(), map.values())),
        Value::Object(object) => format!("{{{}}}", pairs(object.names(), object.values())),
        Value::Marked(marked) => format!("{:?}({})", marked.marks(), format_value(marked.value())),
    }
}
