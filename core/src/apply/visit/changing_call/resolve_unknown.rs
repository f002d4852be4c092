//! Finds out the effect of a call without a usable answer: the provider, restarted if it died, is
//! queried for the object. If its answer is inconclusive, the call stays open in the journal.

use formwork_plugin_protocol::contract::conform::compatibility_violations;
use formwork_value::{Diagnostic, Diagnostics, Plain};

use super::ChangeCall;
use super::salvage::{ObjectAfterCall, ReturnedObject, SalvagedResult};
use crate::messages;
use crate::provider::{ObjectToRead, ResourceType};

impl ChangeCall<'_> {
    /// Salvages as much as possible of a call whose effect is unknown.
    pub(super) async fn resolve_unknown_effect(
        self,
        diags: &mut Diagnostics,
        salvaged: SalvagedResult,
    ) -> SalvagedResult {
        // That an answer fails to come a second time is nothing new.
        // Diagnostics of the attempt are dropped. The user has the error of the failed call
        // already, and a second one about the same dead provider would hide it.
        let mut read_diags = Diagnostics::new();
        let Some(seen) = self.read_object_again(&mut read_diags).await else { return salvaged };
        let prior = self.values.prior;
        let is_gone = seen.value.value().is_null();
        let (after_call, observation) = match (prior.value().is_null(), is_gone) {
            // `look` returns a new object only if it is as planned, so it is not null.
            (true, _) => (ObjectAfterCall::FromRead(seen), "the object exists as planned"),
            (false, true) => {
                (ObjectAfterCall::FromRead(seen), "the object does not exist any more")
            }
            // Only equality proves that nothing happened. A partly applied update differs from both
            // the prior and the planned value, and is stored as it was read.
            (false, false) if seen.value == *prior => {
                (ObjectAfterCall::Unchanged, "the object is unchanged")
            }
            (false, false) => (
                ObjectAfterCall::FromRead(seen),
                "the object was changed, and the state has its current value",
            ),
        };
        let addr = self.about.addr;
        let detail = format!(
            "The provider gave no usable answer about {addr}, and was queried for the object again: {observation}."
        );
        let summary = messages::INTERRUPTED_OPERATION_WAS_RESOLVED;
        diags.warn(Diagnostic::warning(summary, detail).about(addr.to_string()));
        SalvagedResult { after_call, ..salvaged }
    }

    async fn read_object_again(self, diags: &mut Diagnostics) -> Option<ReturnedObject> {
        let Self { view, client, ty, about, values, object, predecessor, .. } = self;
        let by = match object {
            Some(_) => None,
            // Before the provider is troubled: most objects cannot be found by what was planned.
            None => {
                let by = ty.predict_import_key(values.proposed.value())?;
                // A key that also finds the old object does not identify the new one.
                Some(by).filter(|by| ty.predict_import_key(predecessor).as_ref() != Some(by))
            }
        };
        // Held until the reads are done: an interrupt stops all providers, and the outcome of a
        // lost change would stay open if it stopped this one.
        let _undisturbed = view.session.pool.revive_for_effect_query(client).await?;
        let read = match (object, by) {
            (Some(object), _) => {
                let (value, identity) = (values.prior.value(), ty.encode_identity(object));
                let current = ObjectToRead { value, private: &object.private, identity };
                client.read_object(diags, ty, current, about).await.ok()?
            }
            (None, Some(import_key)) => {
                let imported =
                    client.import_one_object(diags, ty, &import_key, about).await.ok()?;
                let identity = imported.identity.as_ref();
                let identity = identity.and_then(|identity| ty.identity_payload(identity));
                let current = ObjectToRead {
                    value: imported.value.value(),
                    private: &imported.private,
                    identity,
                };
                // An import may return no more than the id (protocol, ImportResourceState), so a
                // read has to complete the object before it can be compared.
                let read = client.read_object(diags, ty, current, about).await.ok()?;
                // An object that differs from the planned one may belong to another party.
                Some(read).filter(|read| matches_planned(ty, values.proposed, &read.value))?
            }
            (None, None) => return None,
        };
        Some(ReturnedObject { value: read.value, private: read.private, identity: read.identity })
    }
}

fn matches_planned(ty: &ResourceType, planned: &Plain, actual: &Plain) -> bool {
    !actual.value().is_null()
        && compatibility_violations(ty.schema_block(), planned, actual).is_empty()
}
