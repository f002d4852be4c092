//! The journals of runs as objects beside a state in a bucket: `KEY.journal/RUN/PART`, each written once.

use std::collections::BTreeMap;

use formwork_core::state::intent_log::StateAccess;

use super::bucket::{Bucket, PutOutcome, WriteCondition};
use super::client::S3Client;
use crate::cause::Cause;
use crate::journals::{AppendOutcome, JournalStore, SharedRun};

/// The journals of the runs that work with the state under a key.
pub(super) struct S3Journals {
    bucket: Bucket,
    key: String,
    state: S3Client,
}

impl S3Journals {
    pub(super) fn new(bucket: Bucket, key: String, state: S3Client) -> Self {
        Self { bucket, key, state }
    }

    fn journal_prefix(&self) -> String {
        format!("{}.journal/", self.key)
    }

    fn part_key(&self, run: &str, number: u64) -> String {
        // With leading zeros a listing of the bucket shows the parts in their order.
        format!("{}{run}/{number:012}", self.journal_prefix())
    }

    /// The parts of each run; nothing if listing is not permitted.
    async fn list_parts(&self) -> Result<BTreeMap<String, Vec<u64>>, Cause> {
        let folder = self.journal_prefix();
        let keys = self.bucket.list(&folder).await?.unwrap_or_default();
        let mut runs: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for key in keys {
            let part = key.strip_prefix(&folder).and_then(|rest| rest.split_once('/'));
            let Some((run, Ok(number))) = part.map(|(run, number)| (run, number.parse())) else {
                continue;
            };
            runs.entry(run.to_owned()).or_default().push(number);
        }
        runs.values_mut().for_each(|parts| parts.sort_unstable());
        Ok(runs)
    }
}

#[async_trait::async_trait]
impl JournalStore for S3Journals {
    fn store_location(&self) -> String {
        format!("s3://{}/{}", self.bucket.name, self.journal_prefix())
    }

    async fn begin_run(&self, run: &str) -> Result<Option<String>, Cause> {
        // Only to learn whether it is permitted, before the run relies on this journal.
        if self.bucket.list(&self.part_key(run, 0)).await?.is_none() {
            return Ok(Some(format!(
                "The credentials lack the permission to list the objects of the bucket {:?} (s3:ListBucket), without which other machines do not find a journal there",
                self.bucket.name
            )));
        }
        Ok(None)
    }

    async fn read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
        let listed = self.list_parts().await?;
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        // A run holds the lock of the state; of a reader it is not known whether that run goes on.
        let is_live = access == StateAccess::ReadOnly && self.state.may_be_locked().await?;
        let mut runs = Vec::new();
        for (id, numbers) in listed {
            let mut parts = Vec::new();
            // A run that goes on is left alone, so its parts are not fetched.
            for number in numbers.iter().filter(|_| !is_live) {
                if let Some(object) = self.bucket.get(&self.part_key(&id, *number)).await? {
                    parts.push((*number, object.content));
                }
            }
            runs.push(SharedRun { id, is_live, parts });
        }
        Ok(runs)
    }

    async fn append_part(
        &self,
        run: &str,
        number: u64,
        bytes: &[u8],
    ) -> Result<AppendOutcome, Cause> {
        let key = self.part_key(run, number);
        match self.bucket.put(&key, bytes.to_vec(), &WriteCondition::Absent).await? {
            PutOutcome::Stored(_) => Ok(AppendOutcome::Stored),
            // An attempt whose answer was lost may have stored it.
            PutOutcome::Refused => match self.bucket.get(&key).await? {
                Some(object) if object.content == bytes => Ok(AppendOutcome::Stored),
                _ => Ok(AppendOutcome::Occupied),
            },
            // Nothing was changed before the first part, so the run can still do with a journal of
            // this machine.
            PutOutcome::Unsupported(cause) | PutOutcome::Denied(cause) if number == 0 => {
                Ok(AppendOutcome::CannotStore(cause.to_string()))
            }
            PutOutcome::Unsupported(cause) | PutOutcome::Denied(cause) => Err(cause),
        }
    }

    async fn remove_parts_below(&self, run: &str, number: u64) -> Result<(), Cause> {
        let listed = self.list_parts().await?.remove(run).unwrap_or_default();
        for part in listed.into_iter().filter(|part| *part < number) {
            self.bucket.delete(&self.part_key(run, part)).await?;
        }
        Ok(())
    }
}
