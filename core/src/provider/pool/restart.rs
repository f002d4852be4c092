//! Restarts providers whose process ended during a read-only call, while the caller waits. The queue of
//! requests is elsewhere, because clients have no access to the pool.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use formwork_value::{Diagnostics, Reported};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;

use super::processes::ProviderProcesses;
use super::stopping::StartPurpose;
use super::{ConfiguredProvider, ProviderPool};
use crate::addr::{ProviderAddr, ProviderConfigAddr};
use crate::provider::client::{CallContext, ProviderClient, provider_answers_probe_call};
use crate::provider::provider_slot::ProviderSlot;
use crate::provider::restart_queue::{RestartRequest, RestartWorker};

/// A guard of a task that uses a provider to determine the effect of a change.
pub struct EffectQuery<'p> {
    processes: &'p ProviderProcesses,
    provider: Arc<dyn Provider>,
}

impl Drop for EffectQuery<'_> {
    fn drop(&mut self) {
        self.processes.end_effect_query(&self.provider);
    }
}

impl ProviderPool<'_> {
    /// Serves restart requests in an endless loop and concurrently, so that a slow start of one provider
    /// does not delay callers of another.
    pub(super) async fn serve_restart_requests(
        &self,
        restart_worker: RestartWorker<'_>,
    ) -> Infallible {
        let requests = unfold(restart_worker, |restart_worker| async move {
            Some((restart_worker.next_request().await, restart_worker))
        });
        // Without a limit: each request belongs to a waiting call, and their number is bounded by
        // the parallelism.
        requests.for_each_concurrent(None, |request| self.handle_restart_request(request)).await;
        // The endless task is always pending.
        std::future::pending().await
    }

    async fn handle_restart_request(&self, request: RestartRequest) {
        let RestartRequest { addr, slot, before, done } = request;
        let next = self.find_replacement(&addr, &slot, &before, StartPurpose::Work).await;
        // An interrupted call must not be retried.
        let next = next.filter(|_| !self.stopping.forbids_start(StartPurpose::Work));
        // Before the response is sent, because the last reference to a dismissed process keeps it alive.
        drop((slot, before));
        // The caller may have given up.
        done.send(next).ok();
        self.processes.recheck_dismissed();
    }

    /// Returns a provider for a client after a change through it received no response: the same provider
    /// if it is alive and received no stop request, otherwise a new one with the same configuration, or
    /// `None` if that is not possible. As long as the returned value exists, an interrupt does not stop
    /// that provider.
    pub async fn revive_for_effect_query(
        &self,
        client: &ProviderClient,
    ) -> Option<EffectQuery<'_>> {
        let (slot, before) = (client.provider_slot(), client.current_provider());
        let provider =
            self.find_replacement(client.addr(), slot, &before, StartPurpose::EffectQuery).await?;
        self.processes.begin_effect_query(&provider);
        Some(EffectQuery { processes: &self.processes, provider })
    }

    /// Returns the provider to call instead of one that did not respond.
    async fn find_replacement(
        &self,
        addr: &ProviderAddr,
        slot: &Rc<ProviderSlot>,
        before: &Arc<dyn Provider>,
        purpose: StartPurpose,
    ) -> Option<Arc<dyn Provider>> {
        // The reason for the failed replacement matters less than the original failure. Of several calls
        // that failed with the process, only the first replaces it.
        let turn = self.processes.restart_semaphore(before);
        let _one = match &turn {
            Some(turn) => turn.acquire().await.ok(),
            None => None,
        };
        // Another call has replaced the provider while this one waited for its turn.
        if !Arc::ptr_eq(&slot.current_provider(), before) {
            return Some(slot.current_provider());
        }
        // A provider that received a stop request refuses later calls, in the Go SDKs for the rest of
        // its life. The effect of a change can then only be read through a new process.
        let refuses = purpose == StartPurpose::EffectQuery && self.processes.was_stopped(before);
        if !refuses && provider_answers_probe_call(before).await {
            return Some(slot.current_provider());
        }
        self.processes.dismiss_instance(before);
        if self.config_of_provider(before).is_none() {
            // Its configuration was released, so a new process could not be configured with it.
            if slot.is_configured {
                return None;
            }
            if let Some(another) = self.processes.any_instance_of(addr) {
                slot.replace_provider(&another);
                return Some(another);
            }
        }
        let fresh = self.start_another_process(addr, purpose).await.ok()?;
        match self.configure_replacement(before, &fresh).await {
            Ok(is_configured) if is_configured || !slot.is_configured => {
                slot.replace_provider(&fresh);
                Some(fresh)
            }
            // The configuration was released in the meantime. The process is kept for callers that need
            // none.
            Ok(_) => None,
            Err(_) => {
                self.processes.dismiss_instance(&fresh);
                None
            }
        }
    }

    /// Replaces a provider with a new one. Returns whether it is configured: the configuration may have
    /// been released during its start.
    ///
    /// # Errors
    /// Returns an error if the provider does not accept the configuration.
    async fn configure_replacement(
        &self,
        before: &Arc<dyn Provider>,
        fresh: &Arc<dyn Provider>,
    ) -> Result<bool, Reported> {
        let Some((name, entry)) = self.config_of_provider(before) else {
            self.processes.set_idle(fresh);
            return Ok(false);
        };
        let slot = ProviderSlot::new(fresh.clone(), true);
        let client =
            ProviderClient::new(entry.client.loaded_schemas().clone(), slot, self.calls.clone());
        let about = CallContext { addr: &name, block: None };
        // Its warnings were reported for the first process. A mocked configuration is never sent to a
        // provider.
        if !self.is_mocked(&name) {
            client.configure_provider(&mut Diagnostics::new(), &entry.config, about).await?;
        }
        match self.config_of_provider(before) {
            Some((_, entry)) => entry.client.provider_slot().replace_provider(fresh),
            // No other user will release it, so it ends with its caller.
            None => self.processes.dismiss_instance(fresh),
        }
        Ok(true)
    }

    /// Returns the configuration of a provider.
    fn config_of_provider(
        &self,
        provider: &Arc<dyn Provider>,
    ) -> Option<(ProviderConfigAddr, ConfiguredProvider)> {
        let configured = self.configured.borrow();
        let mut all = configured.iter();
        let owner = all.find(|(_, entry)| Arc::ptr_eq(&entry.client.current_provider(), provider));
        owner.map(|(addr, entry)| (addr.clone(), entry.clone()))
    }
}
