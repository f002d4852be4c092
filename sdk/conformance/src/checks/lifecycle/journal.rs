//! The journal of created objects: a line before each create, a line with the object after it, and
//! a line when it is destroyed, so that no object is left without a record.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use bytes::Bytes;
use formwork_value::Value;

use crate::checks::display_value;
use crate::offer::OfferedType;

/// An object that may still exist.
#[derive(Clone, Debug)]
pub(super) struct LeftoverObject {
    /// The resource type.
    pub(super) name: String,
    /// The object; `None` if no answer described it.
    pub(super) value: Option<Value>,
    /// The private data.
    pub(super) private: Bytes,
    /// The configuration as a finding shows it.
    pub(super) config: String,
}

/// The journal of one run.
pub(super) struct Journal {
    file: Option<File>,
    leftovers: Vec<Option<LeftoverObject>>,
}

impl Journal {
    /// Opens the journal, in a file if one is given.
    pub(super) fn open(path: Option<&Path>) -> io::Result<Self> {
        // Never emptied: objects of an earlier run may still exist.
        let file =
            path.map(|path| File::options().create(true).append(true).open(path)).transpose()?;
        Ok(Self { file, leftovers: Vec::new() })
    }

    fn write_line(&mut self, event: &str, name: &str, content: &str) {
        let Some(file) = &mut self.file else { return };
        let line = serde_json::json!({ "event": event, "type": name, "content": content });
        // A journal that cannot be written any more must not keep the sweep from its work.
        // Synced, because the machine may go down while an object exists that costs money.
        let _written = writeln!(file, "{line}").and_then(|()| file.sync_data());
    }

    /// Notes that an object is about to be created.
    pub(super) fn record_create_intent(&mut self, offered: &OfferedType, config: &Value) -> usize {
        self.write_line("create", &offered.name, &display_value(config));
        self.leftovers.push(Some(LeftoverObject {
            name: offered.name.clone(),
            value: None,
            private: Bytes::new(),
            config: display_value(config),
        }));
        self.leftovers.len() - 1
    }

    /// Records the created object; `None` if the answer reports that no object exists.
    pub(super) fn record_created(
        &mut self,
        entry: usize,
        offered: &OfferedType,
        created: Option<(&Value, &Bytes)>,
    ) {
        match created {
            Some((value, private)) => {
                self.write_line("created", &offered.name, &display_value(value));
                if let Some(Some(leftover)) = self.leftovers.get_mut(entry) {
                    leftover.value = Some(value.clone());
                    leftover.private = private.clone();
                }
            }
            // The entry stays without an object, and the sweep reports it.
            None => {
                self.write_line("unknown", &offered.name, "");
            }
        }
    }

    /// Forgets an entry whose create was refused.
    pub(super) fn forget_refused_create(&mut self, entry: usize) {
        if let Some(leftover) = self.leftovers.get_mut(entry) {
            *leftover = None;
        }
    }

    /// Replaces an object by its changed form.
    pub(super) fn record_changed(
        &mut self,
        offered: &OfferedType,
        from: &Value,
        to: &Value,
        private: &Bytes,
    ) {
        self.write_line("changed", &offered.name, &display_value(to));
        let leftovers = self.leftovers.iter_mut().flatten();
        if let Some(leftover) = leftovers.into_iter().find(|it| it.value.as_ref() == Some(from)) {
            leftover.value = Some(to.clone());
            leftover.private = private.clone();
        }
    }

    /// Notes that an object was destroyed.
    pub(super) fn record_destroyed(&mut self, offered: &OfferedType, value: &Value) {
        self.write_line("destroyed", &offered.name, &display_value(value));
        // Any of several equal ones: they are destroyed one by one.
        let entry = self.leftovers.iter_mut().find(|it| {
            it.as_ref()
                .is_some_and(|it| it.name == offered.name && it.value.as_ref() == Some(value))
        });
        if let Some(entry) = entry {
            *entry = None;
        }
    }

    /// Whether no objects are left.
    pub(super) fn has_no_leftovers(&self) -> bool {
        self.leftovers.iter().all(Option::is_none)
    }

    /// Objects that may still exist.
    pub(super) fn leftover_objects(&self) -> Vec<LeftoverObject> {
        self.leftovers.iter().flatten().cloned().collect()
    }

    /// Records the end of the run.
    pub(super) fn record_run_end(&mut self) {
        let n_leftovers = self.leftover_objects().len().to_string();
        self.write_line("end", "", &n_leftovers);
    }
}
