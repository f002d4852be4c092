//! Fuzz targets: each reader of files gets hostile input. No target may panic, hang or grow without
//! bound, and the result can be written and read again. The fuzzer and `core/tests/hostile.rs` use
//! them. The targets of the language are in `core/lang/fuzz`.

use std::fmt::{Debug, Display};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use formwork_core::addr::{
    ConfigResourceAddr, InstanceAddr, ModuleAddr, ModulePath, ModuleSource, ProviderAddr,
    ProviderConfigAddr, ResourceAddr, Target as AddrTarget,
};
use formwork_core::config::{
    Config, ConfigFiles, ConfigSource, ModuleCallSource, ModuleDirs, ModuleNotInstalled,
    inputs::read_values_file,
};
use formwork_core::plan::{Plan, plan_file};
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::recover::recover_journals_in_dir;
use formwork_value::codec::{json, msgpack, type_json};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Type};

/// A target and its name, which is that of its directory of examples too.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// Every target.
pub(crate) const TARGETS: [Target; 9] = [
    ("state", state),
    ("address", address),
    ("plan", plan),
    ("msgpack", msgpack),
    ("json", json),
    ("type", ty),
    ("values", values),
    ("configuration", configuration),
    ("journal", journal),
];

fn state(data: &[u8]) {
    let Ok(state) = StateFile::parse(data) else { return };
    let reparsed = StateFile::parse(&state.to_bytes()).expect("what is written can be read");
    assert!(
        reparsed.has_same_content(&state),
        "a state is not what it was: {state:?}, {reparsed:?}"
    );
}

fn address(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    same::<AddrTarget>(text);
    same::<ModuleAddr>(text);
    same::<InstanceAddr>(text);
    same::<ResourceAddr>(text);
    same::<ConfigResourceAddr>(text);
    same::<ProviderConfigAddr>(text);
    same::<ProviderAddr>(text);
    for versioned in [false, true] {
        drop(ModuleSource::parse(text, versioned));
    }
}

/// An address prints as the text that it is read from.
fn same<A: FromStr + Display + Debug + PartialEq>(text: &str) {
    let Ok(addr) = text.parse::<A>() else { return };
    let reparsed = addr.to_string().parse::<A>().ok();
    assert_eq!(reparsed.as_ref(), Some(&addr), "{addr} is not read as it is written");
}

/// A plan file, or the plan in one.
fn plan(data: &[u8]) {
    if let Ok(parts) = plan_file::read_plan_file_bytes(Path::new("plan"), data) {
        for bytes in parts.values() {
            drop(Plan::from_bytes(bytes, State::default()));
        }
    }
    let Ok(plan) = Plan::from_bytes(data, State::default()) else { return };
    let Ok(bytes) = plan.to_bytes() else { return };
    let reparsed = Plan::from_bytes(&bytes, State::default()).expect("what is written can be read");
    assert_eq!(reparsed, plan);
}

/// The type that the first byte picks, and the rest.
fn typed(data: &[u8]) -> Option<(Type, &[u8])> {
    let (pick, rest) = data.split_first()?;
    let attributes = |of: &dyn Fn(Type) -> Type| {
        Type::object([("a", Type::Number), ("b", of(Type::String)), ("c", Type::Dynamic)])
    };
    let ty = match pick % 12 {
        0 => Type::Dynamic,
        1 => Type::Bool,
        2 => Type::Number,
        3 => Type::String,
        4 => Type::list(Type::Dynamic),
        5 => Type::list(Type::Number),
        6 => Type::set(Type::String),
        7 => Type::map(Type::Number),
        8 => Type::tuple(vec![Type::String, Type::Dynamic]),
        9 => attributes(&Type::list),
        10 => Type::set(attributes(&Type::set)),
        _ => Type::list(attributes(&Type::map)),
    };
    Some((ty, rest))
}

fn msgpack(data: &[u8]) {
    let Some((ty, data)) = typed(data) else { return };
    drop(msgpack::salvage_attributes(data, &ty));
    let Ok(value) = msgpack::decode(data, &ty) else { return };
    let round_trip = |value| {
        let bytes = msgpack::encode(value, &ty).expect("what was read can be written");
        msgpack::decode(&bytes, &ty).expect("what is written can be read")
    };
    // A large whole float is encoded as a string, as in Terraform, and is decoded with the
    // precision of a string.
    let value = round_trip(&value);
    assert_eq!(round_trip(&value), value);
}

fn json(data: &[u8]) {
    drop(json::decode_untyped(data));
    let Some((ty, data)) = typed(data) else { return };
    let Ok(value) = json::decode(data, &ty) else { return };
    let text = json::encode(&value, &ty).expect("what was read can be written");
    assert_eq!(json::decode(text.as_bytes(), &ty).expect("what is written can be read"), value);
}

fn ty(data: &[u8]) {
    let Ok(ty) = type_json::decode(data) else { return };
    let text = type_json::encode(&ty);
    assert_eq!(type_json::decode(text.as_bytes()).expect("what is written can be read"), ty);
}

/// The journal of an interrupted run, unchanged, and with each of its lines as a complete record.
/// Its content is taken into a state, and reported.
fn journal(data: &[u8]) {
    // A disk would make each try slow.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let directory = directory.expect("a test that has no directory for temporary files cannot run");
    // No change at random keeps a checksum right, so readers would not get past it.
    let framed: Vec<u8> = data
        .split(|byte| *byte == b'\n')
        .zip(1..)
        .flat_map(|(line, number)| framed(line, number))
        .collect();
    for bytes in [data, &framed] {
        std::fs::write(directory.path().join("run.wal"), bytes).expect("a new directory has room");
        let of_run = StateFile { lineage: "l".to_owned(), serial: 1, ..StateFile::new_empty() };
        for stored in [None, Some(of_run)] {
            let Ok(recovery) = recover_journals_in_dir(directory.path(), stored) else { continue };
            drop(recovery.diagnostics());
            for operation in &recovery.unresolved {
                drop((
                    operation.diagnostic(),
                    operation.planned_attributes(),
                    operation.guess_object_id(),
                ));
            }
        }
    }
}

/// A record of a journal: length, checksum and number, and the text.
fn framed(text: &[u8], number: u64) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a fuzzer's input is short").to_le_bytes();
    let rest = [&number.to_le_bytes(), text].concat();
    let sum = crc32c::crc32c_append(crc32c::crc32c(&length), &rest).to_le_bytes();
    [&length[..], &sum, &rest].concat()
}

/// Files of values for variables, in both syntaxes.
fn values(data: &[u8]) {
    for name in ["terraform.tfvars", "terraform.tfvars.json"] {
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        drop(read_values_file(&mut diags, &mut sources, name, data.to_vec()));
    }
}

/// A configuration of one file, which is read and checked as far as that goes without providers.
fn configuration(data: &[u8]) {
    for name in ["main.tf", "main.tf.json"] {
        let files = One { name, content: data };
        let config_source =
            ConfigSource { files: &files, dir: Path::new("."), directories: &Nowhere };
        drop(Config::load(&mut Diagnostics::new(), &mut Sources::new(), config_source));
    }
}

/// A directory with one file in it.
struct One<'d> {
    name: &'static str,
    content: &'d [u8],
}

impl ConfigFiles for One<'_> {
    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(vec![self.name.to_owned()])
    }

    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.content.to_vec())
    }
}

/// No module is anywhere.
struct Nowhere;

impl ModuleDirs for Nowhere {
    fn dir_of_call(
        &self,
        _: &ModulePath,
        call: &ModuleCallSource,
        _: &Path,
    ) -> Result<PathBuf, ModuleNotInstalled> {
        let summary = formwork_core::messages::MODULE_NOT_INSTALLED;
        Err(ModuleNotInstalled { summary, detail: String::new(), span: call.span })
    }
}
