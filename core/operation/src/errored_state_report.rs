//! Reports an `errored.tfstate` in the working directory to every command that works with the
//! state. A user may mistake the file for the newest state, or overlook it when it is the newest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use formwork_backend::encryption::StateCipher;
use formwork_backend::local::{ERRORED_FILE, ErroredStateFile, ErroredStateRelation};
use formwork_core::addr::InstanceAddr;
use formwork_core::change::Action;
use formwork_core::plan::Plan;
use formwork_core::state::file::StateFile;
use formwork_value::diag::Blame;
use formwork_value::quote::shell_quoted;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;

/// Maximum number of addresses in a message.
const MAX_LISTED_ADDRESSES: usize = 20;

/// An `errored.tfstate`, compared with the state.
///
/// ```
/// use formwork_backend::encryption::StateCipher;
/// use formwork_operation::{ErroredState, messages};
///
/// let directory = tempfile::tempdir().unwrap();
/// let read = || ErroredState::read_and_compare(directory.path(), &StateCipher::default(), None);
/// assert!(read().is_none());
/// std::fs::write(directory.path().join("errored.tfstate"), "cut off").unwrap();
/// let warning = read().unwrap().warning();
/// assert!(warning.is_about_message(messages::ERRORED_STATE_UNREADABLE));
/// ```
pub struct ErroredState {
    errored: ErroredStateFile,
    relation: ErroredStateRelation,
    /// The ids of the state's objects at addresses where the file has another object.
    stored_ids: BTreeMap<InstanceAddr, String>,
}

impl ErroredState {
    /// Compares the file in a directory with the state, if the file exists.
    pub fn read_and_compare(
        directory: &Path,
        cipher: &StateCipher,
        stored: Option<&StateFile>,
    ) -> Option<Self> {
        let errored = ErroredStateFile::read(directory, cipher)?;
        let relation = errored.compare_with_state(stored);
        let mut stored_ids = BTreeMap::new();
        if let (ErroredStateRelation::Diverged { missing, lacking, .. }, Some(stored)) =
            (&relation, stored)
        {
            let both = missing.intersection(lacking);
            let ids =
                both.filter_map(|addr| Some((addr.clone(), stored.shown_object_id_of(addr)?)));
            stored_ids.extend(ids);
        }
        Some(Self { errored, relation, stored_ids })
    }

    /// The warning for commands that work with the state.
    pub fn warning(&self) -> Diagnostic {
        let (summary, detail) = match &self.relation {
            ErroredStateRelation::Unreadable => (
                messages::ERRORED_STATE_UNREADABLE,
                "A run that could not store its state wrote it, and it was truncated or changed since then. Compare the real objects with the state, then delete it.".to_owned(),
            ),
            ErroredStateRelation::OtherLineage => (
                messages::ERRORED_STATE_OF_OTHER_LINEAGE,
                format!(
                    "A run that could not store its state wrote it, perhaps in another workspace: {}. Do not replace this state with it.",
                    self.lineage_serial_and_n_resources()
                ),
            ),
            ErroredStateRelation::Superseded => (
                messages::ERRORED_STATE_OUTDATED,
                "A run that could not store its state wrote it, and the state already has every object in it. Delete it, so that it cannot replace the state by mistake.".to_owned(),
            ),
            ErroredStateRelation::Newer { missing } => (
                messages::ERRORED_STATE_HAS_MORE,
                format!(
                    "A run that could not store its state wrote it: {}. It contains everything that the state contains, and also:{}\n\nTo store it, run:\n  formwork state push {ERRORED_FILE}",
                    self.lineage_serial_and_n_resources(),
                    format_address_lines(missing)
                ),
            ),
            ErroredStateRelation::Diverged { missing, lacking, .. } => (
                messages::ERRORED_STATE_DIVERGED,
                self.diverged_warning_detail(missing, lacking),
            ),
        };
        Diagnostic::warning(summary, detail).blamed_on(Blame::Environment)
    }

    /// Refuses a plan that creates objects that the file has and the state lacks.
    ///
    /// # Errors
    /// Returns an error if the plan creates such an object.
    pub(crate) fn refuse_plan_that_recreates(
        &self,
        diags: &mut Diagnostics,
        plan: &Plan,
    ) -> Result<(), Reported> {
        let Some(likely_existing) = self.relation.likely_existing_instances() else {
            return Ok(());
        };
        let is_created = |addr: &&InstanceAddr| {
            let mut changes = plan.changes.values();
            changes.any(|change| change.addr == **addr && change.action == Action::Create)
        };
        let created: BTreeSet<InstanceAddr> =
            likely_existing.iter().filter(is_created).cloned().collect();
        if created.is_empty() {
            return Ok(());
        }
        let detail = format!(
            "The plan creates objects that {ERRORED_FILE} has and the state does not, so a run that could not store its state has created them:{}\n\nNothing was changed. The warning about {ERRORED_FILE} describes how to add them to the state. If they do not exist any more, delete the file.",
            format_address_lines(&created)
        );
        let diagnostic = Diagnostic::error(messages::OBJECTS_MAY_EXIST, detail);
        Err(diags.error(diagnostic.blamed_on(Blame::Environment)))
    }

    /// Describes a file whose objects differ from those of the state. An address may have one in
    /// each.
    fn diverged_warning_detail(
        &self,
        missing: &BTreeSet<InstanceAddr>,
        lacking: &BTreeSet<InstanceAddr>,
    ) -> String {
        let both: BTreeSet<InstanceAddr> = missing.intersection(lacking).cloned().collect();
        let missing: BTreeSet<InstanceAddr> = missing.difference(&both).cloned().collect();
        let lacking: BTreeSet<InstanceAddr> = lacking.difference(&both).cloned().collect();
        let mut text = format!(
            "A run that could not store its state wrote it: {}. Do not replace the state with it.",
            self.lineage_serial_and_n_resources()
        );
        let (listed_missing, listed_lacking) =
            (format_address_lines(&missing), format_address_lines(&lacking));
        if let Some(addr) = missing.first() {
            text.push_str(&format!(
                "\n\nOnly the file has:{listed_missing}\n\nImport those that exist, with their ids from the file, for example:\n  formwork import {} {}",
                shell_quoted(&addr.to_string()),
                shell_quoted(&self.id_in_file_or_placeholder(addr))
            ));
        }
        if let Some(addr) = both.first() {
            text.push_str(&format!(
                "\n\nAt these addresses the state has another object, and keeps it:{}\n\nDestroy those of the file by hand, or write a `resource` block with a name of its own for each and import it there, for example:\n  formwork import {}.NAME {}",
                self.format_addresses_with_both_ids(&both),
                addr.resource.resource_type(),
                shell_quoted(&self.id_in_file_or_placeholder(addr))
            ));
        }
        if !lacking.is_empty() {
            text.push_str(&format!("\n\nOnly the state has:{listed_lacking}"));
        }
        text + "\n\nThen delete the file."
    }

    /// Lists addresses with the ids of both objects.
    fn format_addresses_with_both_ids(&self, addrs: &BTreeSet<InstanceAddr>) -> String {
        let describe = |addr: &InstanceAddr| {
            let stored = self.stored_ids.get(addr).map_or("unknown", String::as_str);
            format!(
                "\n  {addr}: {:?} in the file, {stored:?} in the state",
                self.id_in_file_or_placeholder(addr)
            )
        };
        let mut text: String = addrs.iter().take(MAX_LISTED_ADDRESSES).map(describe).collect();
        if addrs.len() > MAX_LISTED_ADDRESSES {
            text.push_str(&format!("\n  and {} more", addrs.len() - MAX_LISTED_ADDRESSES));
        }
        text
    }

    fn lineage_serial_and_n_resources(&self) -> String {
        let Some(file) = &self.errored.file else { return String::new() };
        format!(
            "lineage {:?}, serial {}, {} resources",
            file.lineage,
            file.serial,
            file.state.resources.len()
        )
    }

    /// The id of an object of the file, or a placeholder if it has none.
    fn id_in_file_or_placeholder(&self, addr: &InstanceAddr) -> String {
        let file = self.errored.file.as_ref();
        file.and_then(|file| file.shown_object_id_of(addr)).unwrap_or_else(|| "ID".to_owned())
    }
}

/// A hint about the file, for when the state cannot be read.
pub(crate) fn hint_for_unusable_state(
    directory: &Path,
    cipher: &StateCipher,
) -> Option<Diagnostic> {
    let errored = ErroredStateFile::read(directory, cipher)?;
    let file = errored.file.as_ref()?;
    let detail = format!(
        "A run that could not store its state wrote {ERRORED_FILE}: lineage {:?}, serial {}, {} resources. It may be newer than any backup. Compare lineage and serial before you replace the state with it.",
        file.lineage,
        file.serial,
        file.state.resources.len()
    );
    Some(Diagnostic::warning(messages::ERRORED_STATE_EXISTS, detail).blamed_on(Blame::Environment))
}

fn format_address_lines(addrs: &BTreeSet<InstanceAddr>) -> String {
    let mut text: String =
        addrs.iter().take(MAX_LISTED_ADDRESSES).map(|addr| format!("\n  {addr}")).collect();
    if addrs.len() > MAX_LISTED_ADDRESSES {
        text.push_str(&format!("\n  and {} more", addrs.len() - MAX_LISTED_ADDRESSES));
    }
    text
}
