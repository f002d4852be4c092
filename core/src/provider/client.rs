//! The client of one running provider: caches its schema, removes marks before a call and restores them
//! after it, and converts failures and provider diagnostics. The callers decide which calls to make and
//! when.

mod contract_violation;
mod data;
pub(super) mod ephemeral;
mod function;
mod identity;
pub(crate) mod import;
mod layered_calls;
pub(super) mod list;
mod marks;
pub(super) mod object_size;
mod validate;

use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call, Rule, legacy_null_blocks};
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, PlanRequest, ReadRequest, UpgradeRequest,
};
use formwork_plugin_protocol::{Failure, Payload, Provider, ProviderExt as _, Request};
use formwork_value::codec::json;
use formwork_value::diag::{Blame, Message, Span};
use formwork_value::{Diagnostic, Diagnostics, Path, Plain, Reported, Type, Value};

pub(crate) use self::contract_violation::ResponseContext;
pub use self::marks::add_marks;
use self::object_size::ObjectInResponse;
use super::loaded_provider::{LoadedProvider, ResourceType};
use super::mock::{ClientMocks, Mocks};
use super::pending_calls::ProviderCalls;
use super::provider_slot::ProviderSlot;
use crate::addr::{ProviderAddr, ProviderConfigAddr};
use crate::messages;
use crate::state::{ObjectState, StoredIdentity};
use crate::version::LANGUAGE_VERSION;

/// Timeout of the probe call, which needs no work. Many old providers traverse their whole schema for
/// it.
const LIVENESS_TIMEOUT: Duration = Duration::from_secs(30);

/// Subject of a call, for messages: an address and its block.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The address.
    pub addr: &'a dyn Display,
    /// The header of the block, if it exists.
    pub block: Option<Span>,
}

/// A violation of the contract by a provider.
#[derive(Clone, Copy)]
pub struct ContractViolation<'a> {
    /// The summary of the diagnostic.
    pub summary: &'static Message,
    /// The violated rule.
    pub rule: Rule,
    /// The call of the response.
    pub call: &'a str,
    /// The exact problem.
    pub problem: &'a str,
}

/// A planned object.
#[derive(Clone, Debug)]
pub struct PlannedObject {
    /// The object, without marks.
    pub value: Plain,
    /// Changes at these paths cannot be made in place.
    pub requires_replace: Vec<Path>,
    /// The private data of the provider.
    pub private: Bytes,
    /// Whether the inconsistencies of the legacy type system are tolerated.
    pub legacy: bool,
    /// The planned identity, as received.
    pub identity: Option<Payload>,
}

/// An object as returned by a read.
#[derive(Clone, Debug)]
pub struct RefreshedObject {
    /// The object, without marks, or null if it was deleted.
    pub value: Plain,
    /// The private data of the provider.
    pub private: Bytes,
    /// Identity of the object, if the provider returned one.
    pub identity: Option<StoredIdentity>,
}

/// An object to read.
#[derive(Clone, Debug)]
pub struct ObjectToRead<'a> {
    /// The stored object.
    pub value: &'a Value,
    /// The private data of the provider.
    pub private: &'a Bytes,
    /// Identity of the object, if known.
    pub identity: Option<Payload>,
}

/// One running provider, configured or not.
pub struct ProviderClient {
    loaded: Rc<LoadedProvider>,
    slot: Rc<ProviderSlot>,
    calls: Rc<ProviderCalls>,
    /// Metadata that the module sends to the provider.
    meta: Payload,
    /// The mocks of a test for this provider configuration.
    mocks: Option<ClientMocks>,
}

impl ProviderClient {
    pub(super) fn new(
        loaded: Rc<LoadedProvider>,
        slot: Rc<ProviderSlot>,
        calls: Rc<ProviderCalls>,
    ) -> Self {
        let mut client = Self { loaded, slot, calls, meta: Payload::Absent, mocks: None };
        // From a module without metadata, Terraform sends a typed null instead of an absent value.
        if let Some(ty) = client.provider_meta_type() {
            client.meta = encode_unmarked(&Value::null(ty.clone()), &ty);
        }
        client
    }

    /// Returns a client of the same provider for a module with metadata: `meta` has the type of the
    /// metadata schema of the provider.
    #[must_use]
    pub fn with_provider_meta(&self, meta: &Value) -> Self {
        let meta =
            self.provider_meta_type().map_or(Payload::Absent, |ty| encode_unmarked(meta, &ty));
        let Self { loaded, slot, calls, mocks, .. } = self;
        let (loaded, slot, calls) = (loaded.clone(), slot.clone(), calls.clone());
        Self { meta, loaded, slot, calls, mocks: mocks.clone() }
    }

    /// Returns a client that answers calls with the mocks of a test, where they exist.
    pub(super) fn set_mocks(&mut self, mocks: &Rc<Mocks>, config: &ProviderConfigAddr) {
        self.mocks = ClientMocks::new(mocks, config);
    }

    /// Returns the provider that answers a call: the running one, or a mock of it.
    fn answering_provider(
        &self,
        about: &dyn Display,
        running: Arc<dyn Provider>,
    ) -> Arc<dyn Provider> {
        let Some(mocks) = &self.mocks else { return running };
        mocks.answering_provider(about, running, |mode, name| {
            let ty = self.loaded.find_resource_type(mode, name)?;
            Some((ty.schema_block().clone(), ty.ty.clone()))
        })
    }

    /// Returns a message of the provider without sensitive values.
    pub(crate) fn mask_secrets(&self, text: String) -> String {
        self.calls.secrets.mask(text)
    }

    /// Encodes a value for a request, and records its sensitive parts.
    fn encode_for_request(&self, value: &Value, ty: &ResourceType) -> Payload {
        ty.add_secrets(&self.calls.secrets, value);
        encode_unmarked(value, &ty.ty)
    }

    fn provider_meta_type(&self) -> Option<Type> {
        self.loaded
            .provider_schema()
            .provider_meta
            .as_ref()
            .map(|schema| schema.block.implied_type())
    }

    /// Returns the running provider itself.
    pub(super) fn current_provider(&self) -> Arc<dyn Provider> {
        self.slot.current_provider()
    }

    /// Returns the slot of the provider. A restart replaces the provider in it.
    pub(super) fn provider_slot(&self) -> &Rc<ProviderSlot> {
        &self.slot
    }

    /// Returns the schemas and capabilities of the provider.
    #[must_use]
    pub fn loaded_schemas(&self) -> &Rc<LoadedProvider> {
        &self.loaded
    }

    /// Returns the provider address.
    #[must_use]
    pub fn addr(&self) -> &ProviderAddr {
        self.loaded.provider_addr()
    }

    /// Returns whether the provider still responds.
    pub(super) async fn answers_probe_call(&self) -> bool {
        provider_answers_probe_call(&self.current_provider()).await
    }

    pub(super) async fn configure_provider(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let config = self.encode_for_request(config, self.loaded.config_type());
        // Both calls go to this process, even if the slot gets another one between them. Terraform also
        // validates before each ConfigureProvider.
        let process = self.current_provider();
        let request = Request::validate_provider_config(ValidateRequest {
            type_name: String::new(),
            config: config.clone(),
            client: self.calls.client_capabilities(),
        });
        let call = request.method().name();
        let verdict = self.call_process(&process, request, about.addr).await;
        self.report_errors_of_response(diags, call, verdict, about)?;
        let request = Request::configure(ConfigureRequest {
            // Some providers compare the version.
            terraform_version: LANGUAGE_VERSION.to_string(),
            config,
            client: self.calls.client_capabilities(),
        });
        let call = request.method().name();
        let verdict = self.call_process(&process, request, about.addr).await;
        self.report_errors_of_response(diags, call, verdict, about)
    }

    fn report_errors_of_response(
        &self,
        diags: &mut Diagnostics,
        call: &str,
        verdict: Result<DiagnosticsResponse, Failure>,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let verdict =
            verdict.map_err(|failure| self.report_failure(diags, call, &failure, about))?;
        self.report_provider_diagnostics(diags, verdict.diagnostics, about)
    }

    /// Decodes a stored object, which the provider upgrades to the current schema. The result has the
    /// marks of the state and of the schema.
    ///
    /// # Errors
    /// Returns an error if the object was stored by a newer provider version, or if the response
    /// violates the contract.
    pub async fn upgrade_object(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        object: &ObjectState,
        about: CallContext<'_>,
    ) -> Result<Value, Reported> {
        if object.schema_version > ty.schema.version {
            return Err(diags.error(
                Diagnostic::error(
                    messages::MANAGED_BY_NEWER_PROVIDER,
                    format!(
                        "The state contains {} with schema version {}, but provider {} supports versions only up to {}. Use a newer version of the provider.",
                        about.addr, object.schema_version, self.addr(), ty.schema.version
                    ),
                )
                .blamed_on(Blame::Environment)
                .about(about.addr.to_string()),
            ));
        }
        // As in Terraform: with an equal version the host drops attributes that were removed from the
        // schema. With an older version they are kept, because the provider may need them for the
        // upgrade.
        let state = if object.schema_version == ty.schema.version {
            object.attributes.without_undeclared(&ty.ty)
        } else {
            object.attributes.clone()
        };
        // Sent for equal versions too, as in Terraform, because a provider may rewrite its stored form
        // without a new version.
        let request = Request::upgrade_state(UpgradeRequest {
            type_name: ty.name.clone(),
            version: object.schema_version,
            state: state.to_raw_state(),
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        let value = self.decode_object(diags, &answer.state, context)?;
        let exchange =
            AnswerToCheck::for_call(Call::Upgrade).with_answered_object(&answer.state, &value);
        self.check_response_rules(
            diags,
            messages::INVALID_RESOURCE_STATE_UPGRADE,
            &exchange,
            context,
        )?;
        let value = add_marks(ty, round_numbers_as_stored(value), &object.sensitive);
        self.calls.secrets.add_marked_values(&value);
        Ok(value)
    }

    /// Reads the real object of a stored one.
    ///
    /// # Errors
    /// Returns an error if the provider reports errors, if the call fails, or if the response violates
    /// the contract.
    pub async fn read_object(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        current: ObjectToRead<'_>,
        about: CallContext<'_>,
    ) -> Result<RefreshedObject, Reported> {
        let request = Request::read(ReadRequest {
            type_name: ty.name.clone(),
            current: self.encode_for_request(current.value, ty),
            private: current.private.clone(),
            provider_meta: self.meta.clone(),
            client: self.calls.client_capabilities(),
            identity: current.identity,
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.check_not_deferred(diags, answer.deferred, context)?;
        let value = self.decode_object(diags, &answer.state, context)?;
        let exchange =
            AnswerToCheck::for_call(Call::Read).with_answered_object(&answer.state, &value);
        self.check_response_rules(
            diags,
            messages::PROVIDER_PRODUCED_INVALID_OBJECT,
            &exchange,
            context,
        )?;
        let answered =
            ObjectInResponse { payload: &answer.state, value: &value, private: &answer.private };
        self.check_object_size(diags, answered, context)?;
        // Terraform does this for every read, independent of the SDK of the provider
        // (NormalizeObjectFromLegacySDK).
        let value = legacy_null_blocks::replace_null_blocks(ty.schema_block(), value);
        let identity = self.decode_identity(diags, answer.identity, context)?;
        Ok(RefreshedObject { value, private: answer.private, identity })
    }

    /// Requests a plan from the provider. Only the form of the response is checked here: the caller
    /// checks the contract.
    ///
    /// # Errors
    /// Returns an error if the provider reports errors, if the call fails, or if the response cannot be
    /// decoded.
    pub async fn plan_object(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        values: ChangeValues<'_>,
        about: CallContext<'_>,
    ) -> Result<PlannedObject, Reported> {
        let request = Request::plan(PlanRequest {
            type_name: ty.name.clone(),
            prior: encode_plain_value(values.prior, ty),
            proposed: encode_plain_value(values.proposed, ty),
            config: self.encode_for_request(values.config.value(), ty),
            prior_private: values.private.clone(),
            provider_meta: self.meta.clone(),
            client: self.calls.client_capabilities(),
            prior_identity: values.identity.cloned(),
            planned_private: Bytes::new(),
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.check_not_deferred(diags, answer.deferred, context)?;
        let value = self.decode_object(diags, &answer.planned, context)?;
        let answered = ObjectInResponse {
            payload: &answer.planned,
            value: &value,
            private: &answer.planned_private,
        };
        self.check_object_size(diags, answered, context)?;
        Ok(PlannedObject {
            value,
            requires_replace: answer.requires_replace,
            private: answer.planned_private,
            legacy: answer.legacy_type_system,
            identity: answer.planned_identity,
        })
    }

    /// Sends the call that changes the real object. The response is returned undecoded and unchecked:
    /// the caller first makes it durable, and then decodes and checks it.
    ///
    /// # Errors
    /// Returns an error if the call fails.
    pub async fn apply_change(
        &self,
        ty: &ResourceType,
        values: ChangeValues<'_>,
        addr: &dyn Display,
    ) -> Result<ApplyResponse, Failure> {
        let request = Request::apply(ApplyRequest {
            type_name: ty.name.clone(),
            prior: encode_plain_value(values.prior, ty),
            planned: encode_plain_value(values.proposed, ty),
            config: self.encode_for_request(values.config.value(), ty),
            planned_private: values.private.clone(),
            provider_meta: self.meta.clone(),
            planned_identity: values.identity.cloned(),
        });
        self.call(request, addr).await
    }
}

/// Returns whether a provider still responds.
pub(super) async fn provider_answers_probe_call(provider: &Arc<dyn Provider>) -> bool {
    // The call is cheap and has no effect, and a refusal is also a response.
    let answer = tokio::time::timeout(LIVENESS_TIMEOUT, provider.metadata()).await;
    let Ok(answer) = answer else { return false };
    !matches!(answer, Err(Failure::Lost { .. } | Failure::Launch(_)))
}

/// The values of a plan or apply call. For apply, `proposed` is the planned object.
#[derive(Clone, Copy)]
pub struct ChangeValues<'a> {
    /// The prior object, or null to create one.
    pub prior: &'a Plain,
    /// The merge of prior object and configuration, or the planned object. Null to destroy.
    pub proposed: &'a Plain,
    /// The configuration, or null to destroy.
    pub config: &'a Plain,
    /// The private data of the provider.
    pub private: &'a Bytes,
    /// The stored or planned identity, if the object has one.
    pub identity: Option<&'a Payload>,
}

fn encode_plain_value(value: &Plain, ty: &ResourceType) -> Payload {
    Payload::Value(value.clone(), ty.ty.clone())
}

/// Returns an object with numbers in the precision of the state, which may be lower than that of the
/// provider.
pub fn round_numbers_as_stored(value: Plain) -> Plain {
    json::with_stored_number_precision(value.value()).map_or(value, |stored| stored.split_marks().0)
}

/// Removes the marks, because a provider receives only plain values.
fn encode_unmarked(value: &Value, ty: &Type) -> Payload {
    Payload::Value(value.clone().split_marks().0, ty.clone())
}

impl PlannedObject {
    /// Returns the planned identity as bytes, for a saved plan.
    #[must_use]
    pub fn encoded_identity(&self) -> Option<Bytes> {
        match self.identity.as_ref()?.encode().ok()? {
            Payload::Msgpack(bytes) => Some(bytes),
            _ => None,
        }
    }
}
