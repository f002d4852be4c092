//! The real objects: a file for each object in the directory that `TEST_OBJECTS` names, and the faults.
//! Without a directory only the state exists, and no call fails.
//!
//! To change an object outside of the engine, a test writes `ATTRIBUTE=TEXT` into the object's
//! file, a line for each attribute that differs from the state, or removes the file.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::time::Duration;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_value::diag::Severity;
use formwork_value::value::Object;
use formwork_value::{Path, Type, Value};

/// Duration of a change. Independent changes overlap in the log.
const PACE: Duration = Duration::from_millis(25);

/// The directory of real objects, if there is one.
pub(crate) struct FakeService(Option<PathBuf>);

/// The time of a fault.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before any work.
    Before,
    /// After all work.
    After,
}

impl FakeService {
    pub(crate) fn from_env() -> Self {
        Self(std::env::var_os("TEST_OBJECTS").map(PathBuf::from))
    }

    /// Waits for the duration of a change.
    pub(crate) async fn wait_for_change(&self) {
        if self.0.is_some() {
            tokio::time::sleep(PACE).await;
        }
    }

    /// The time of the fault of this call: the file `faults` has a line `CALL`, or `CALL late`.
    pub(crate) fn fault(&self, call: &str) -> Option<Moment> {
        let faults = fs::read_to_string(self.0.as_ref()?.join("faults")).unwrap_or_default();
        faults.lines().find_map(|line| match line.strip_prefix(call) {
            Some("") => Some(Moment::Before),
            Some(" late") => Some(Moment::After),
            _ => None,
        })
    }

    /// Creates an object with a new id.
    pub(crate) fn create(&self, name: &str, created: Payload, ty: &Type) -> Payload {
        let Some(directory) = &self.0 else { return created };
        let ids = (1_u32..).map(|number| format!("{name}-{number}"));
        let free = |id: &String| {
            let path = directory.join(id);
            !directory.join(format!("{id} gone")).exists()
                && OpenOptions::new().write(true).create_new(true).open(path).is_ok()
        };
        let id = ids.take(1_000).find(free).expect("there is another id");
        with_attributes(&created, ty, |attribute, value| match attribute {
            "id" => Value::string(&id),
            _ => value.clone(),
        })
    }

    /// Sets an object to its value in the state.
    pub(crate) fn write_object(&self, id: &str) {
        if let Some(directory) = &self.0 {
            fs::write(directory.join(id), "").expect("the directory can be written");
        }
    }

    /// Removes an object. An absent one is not an error.
    pub(crate) fn remove(&self, id: &str) {
        if let Some(directory) = &self.0 {
            match fs::rename(directory.join(id), directory.join(format!("{id} gone"))) {
                Ok(()) | Err(_) => (),
            }
        }
    }

    /// The real object, for the object in the state.
    pub(crate) fn read(&self, id: &str, believed: Payload, ty: &Type) -> Payload {
        let Some(directory) = &self.0 else { return believed };
        let Ok(text) = fs::read_to_string(directory.join(id)) else { return Payload::Absent };
        let lines: Vec<(&str, &str)> = text.lines().filter_map(|it| it.split_once('=')).collect();
        with_attributes(&believed, ty, |attribute, value| {
            let line = lines.iter().find(|(name, _)| *name == attribute);
            line.map_or_else(|| value.clone(), |(_, text)| Value::string(*text))
        })
    }
}

/// The object with each attribute changed by `change`.
fn with_attributes(object: &Payload, ty: &Type, change: impl Fn(&str, &Value) -> Value) -> Payload {
    let Ok(plain) = object.decode(ty) else { return object.clone() };
    let Value::Object(object) = plain.value() else { return object.clone() };
    let items = object.iter().map(|(name, value)| change(name, value)).collect();
    let changed = Value::Object(Object::with_names(object.names().clone(), items));
    Payload::Value(changed.split_marks().0, ty.clone())
}

/// The error that a test requested.
pub(crate) fn requested_failure(call: &str) -> ProviderDiagnostic {
    ProviderDiagnostic {
        severity: Severity::Error,
        summary: format!("Fails to {call}"),
        detail: "It was asked to.".to_owned(),
        path: Path::root(),
        code: None,
    }
}
