//! Intents in the memory of this process: for states that end with it, and for programs without a disk.

use std::sync::Arc;

use super::{IntentLog, StateAccess, UnfinishedRun};
use crate::state::file::StateFile;
use crate::state::journal::{
    Journal, JournalError, MemoryJournals, RecordSeal, RunHeader, new_run_id,
};
use crate::state::recover::{JournalContent, Recovery, recover_journals};

/// Intents in the memory of this process. A run is interrupted when its journal is dropped before its
/// end. Copies have the same intents.
#[derive(Clone, Default)]
pub struct MemoryIntentLog {
    journals: MemoryJournals,
    /// Seals the values in journals.
    seal: Option<Arc<dyn RecordSeal>>,
}

#[async_trait::async_trait(?Send)]
impl IntentLog for MemoryIntentLog {
    async fn begin_run(&self, begin: RunHeader<'_>) -> Result<Journal, JournalError> {
        let run = new_run_id();
        let sink = self.journals.begin_run(&run);
        let mut journal = Journal::begin_in_sink(sink, run, begin).await?;
        if let Some(seal) = &self.seal {
            journal.set_seal(Arc::clone(seal));
        }
        Ok(journal)
    }

    async fn recover_runs(
        &self,
        stored: Option<StateFile>,
        _access: StateAccess,
    ) -> Result<Recovery, JournalError> {
        // The access is irrelevant here: a run in progress holds its own journal.
        let mut journals = Vec::new();
        for journal in self.journals.interrupted_journals() {
            let bytes = journal.read_bytes()?;
            journals.push(JournalContent { journal, bytes, seal: self.seal.clone() });
        }
        recover_journals(journals, stored)
    }

    fn set_seal(&mut self, seal: Arc<dyn RecordSeal>) {
        self.seal = Some(seal);
    }

    async fn finish_recovery(&self, recovery: &Recovery) -> Result<(), JournalError> {
        recovery.archive_journals()
    }

    async fn has_unfinished_run(&self) -> bool {
        self.journals.has_some()
    }

    fn unfinished_runs(&self) -> Vec<UnfinishedRun> {
        let traces = self.journals.all_journals().into_iter().map(|journal| {
            UnfinishedRun::from_journal(journal.location(), journal.read_bytes().ok().as_deref())
        });
        traces.collect()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use formwork_value::{Type, Value};

    use super::*;
    use crate::addr::{InstanceAddr, ProviderConfigAddr};
    use crate::state::journal::{CallAction, Intent, OperationId, ProviderAnswer};
    use crate::state::{ObjectAttributes, ObjectState, ObjectStatus};

    async fn begin_run(intents: &MemoryIntentLog, base: &StateFile) -> Journal {
        let begin = RunHeader { operation: "OperationTypeApply", base, read_from: None };
        intents.begin_run(begin).await.unwrap()
    }

    async fn announce_creation(journal: &Journal, addr: &str) -> OperationId {
        const NULL: &Value = &Value::Null(Type::Dynamic);
        let addr: InstanceAddr = addr.parse().unwrap();
        let provider: ProviderConfigAddr = "provider[\"example.com/acme/t\"]".parse().unwrap();
        let (action, prior) = (CallAction::Create, None);
        let (deposed, deposes, planned) = (None, None, NULL);
        let call =
            Intent { addr: &addr, provider: &provider, deposed, deposes, action, prior, planned };
        journal.announce_operation(call).await.unwrap()
    }

    fn object_with_id(id: &str) -> ObjectState {
        ObjectState {
            status: ObjectStatus::Ready,
            schema_version: 0,
            attributes: ObjectAttributes::Json(format!("{{\"id\":\"{id}\"}}").into()),
            sensitive: Arc::default(),
            private: Bytes::new(),
            dependencies: Arc::default(),
            create_before_destroy: false,
            identity: None,
        }
    }

    #[tokio::test]
    async fn an_interrupted_run_leaves_its_results_and_open_calls() {
        let (intents, base) = (MemoryIntentLog::default(), StateFile::new_empty());
        let journal = begin_run(&intents, &base).await;
        let operation = announce_creation(&journal, "t.a").await;
        journal.record_answer(operation, ProviderAnswer::default()).unwrap();
        journal.settle_operation(operation, Some(&object_with_id("a-1"))).unwrap();
        announce_creation(&journal, "t.b").await;
        let going_on = intents.recover_runs(None, StateAccess::Locked).await.unwrap();
        assert!(going_on.is_empty() && intents.has_unfinished_run().await);
        drop(journal);

        let recovery = intents.recover_runs(None, StateAccess::Locked).await.unwrap();
        let state = recovery.file.as_ref().unwrap();
        assert!(state.state.find_object(&"t.a".parse().unwrap(), None).is_some());
        let open: Vec<_> =
            recovery.unresolved.iter().map(|operation| operation.addr.to_string()).collect();
        assert_eq!(open, ["t.b"]);
        intents.finish_recovery(&recovery).await.unwrap();

        // The open call waits for a decision, and the result is not put in a second time.
        let mut next =
            intents.recover_runs(recovery.file.clone(), StateAccess::Locked).await.unwrap();
        assert_eq!((next.runs[0].n_replayed, next.unresolved.len()), (0, 1));
        assert_eq!(next.mark_decided(&"t.b".parse().unwrap(), "looked").len(), 1);
        intents.finish_recovery(&next).await.unwrap();
        assert!(!intents.has_unfinished_run().await && intents.unfinished_runs().is_empty());
    }

    #[tokio::test]
    async fn reading_a_journal_that_was_removed_does_not_bring_it_back() {
        let intents = MemoryIntentLog::default();
        drop(begin_run(&intents, &StateFile::new_empty()).await);
        let journals = intents.journals.interrupted_journals();
        let [journal] = &journals[..] else { panic!("{journals:?}") };
        journal.remove_journal().unwrap();
        assert_eq!(journal.read_bytes().unwrap(), Vec::<u8>::new());
        journal.append_bytes(0, b"x").unwrap();
        assert!(!intents.has_unfinished_run().await);
    }

    #[tokio::test]
    async fn an_ended_run_leaves_no_journal() {
        let (intents, base) = (MemoryIntentLog::default(), StateFile::new_empty());
        let journal = begin_run(&intents, &base).await;
        let run = begin_run(&intents.clone(), &base).await;
        assert_eq!(intents.unfinished_runs().len(), 2);
        assert_eq!(journal.location(), format!("{} in memory", journal.run_id()));
        journal.end_run().await.unwrap();
        run.abandon_journal();
        assert!(!intents.has_unfinished_run().await);
    }
}
