//! Mocks of a test: a layer over a provider that answers the calls about mocked objects itself. `config`
//! reads the test files.

mod fill;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::ephemeral::OpenResponse;
use formwork_plugin_protocol::message::read_data::ReadDataResponse;
use formwork_plugin_protocol::message::resource::{
    ApplyResponse, ImportResponse, ImportedResource, PlanResponse, ReadResponse,
};
use formwork_plugin_protocol::provider::{Request, Response};
use formwork_plugin_protocol::{Failure, Payload, Provider};
use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Type, Value};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::fill::{AbsentAttributes, FillProblem, FillProblemKind, ObjectFiller};
use super::provider_diagnostics::own_provider_error;
use crate::addr::{InstanceAddr, ProviderConfigAddr, ResourceMode};
use crate::config::test_mocks::{
    MockProvider, MockValues, Override, OverrideDuring, add_outer_overrides, override_of_instance,
};
use crate::messages;

/// The mocks and overrides of a run.
#[derive(Clone, Debug, Default)]
pub struct Mocks {
    /// Mocked provider configurations.
    pub providers: BTreeMap<ProviderConfigAddr, MockProvider>,
    /// Resource overrides, those of the run before those of the file.
    pub overrides: Vec<Override>,
    /// The seed of generated values. The same object has the same values in the plan and in the apply.
    pub seed: u64,
}

/// The mocks for one provider configuration.
#[derive(Clone, Debug)]
pub(super) struct ClientMocks {
    overrides: Rc<Vec<Override>>,
    provider: Option<Rc<MockProvider>>,
    seed: u64,
}

impl ClientMocks {
    /// Returns `None` if there is nothing to mock.
    pub(super) fn new(mocks: &Mocks, config: &ProviderConfigAddr) -> Option<Self> {
        let provider = mocks.providers.get(config);
        let mut overrides = mocks.overrides.clone();
        if let Some(provider) = provider {
            add_outer_overrides(&mut overrides, &provider.overrides);
        }
        if provider.is_none() && overrides.is_empty() {
            return None;
        }
        let (overrides, provider) = (Rc::new(overrides), provider.cloned().map(Rc::new));
        Some(Self { overrides, provider, seed: mocks.seed })
    }

    /// Returns the mock of an instance, or the provider itself if it has none. `find_shape` returns the
    /// schema and the type of the objects of a resource type.
    pub(super) fn answering_provider(
        &self,
        about: &dyn Display,
        running: Arc<dyn Provider>,
        find_shape: impl FnOnce(ResourceMode, &str) -> Option<(Block, Type)>,
    ) -> Arc<dyn Provider> {
        let name = about.to_string();
        // Functions and provider configurations have no instance address.
        let Ok(addr) = name.parse::<InstanceAddr>() else { return running };
        let resource = &addr.resource;
        let overriding = override_of_instance(&self.overrides, &addr);
        let values = match (overriding, &self.provider) {
            (Some(values), _) => Some(values.clone()),
            (None, Some(mock)) => {
                let of_type = mock.mock_of_type(resource.mode(), resource.resource_type());
                let nothing = || MockValues {
                    values: Value::object(std::iter::empty::<(formwork_value::Str, Value)>()),
                    // As in Terraform, the `override_during` of a `mock_provider` block applies only to
                    // the blocks in it.
                    during: OverrideDuring::Apply,
                    position: String::new(),
                };
                Some(of_type.cloned().unwrap_or_else(nothing))
            }
            (None, None) => None,
        };
        let Some(mock) = values else { return running };
        let shape = find_shape(resource.mode(), resource.resource_type());
        let Some((block, ty)) = shape else { return running };
        Arc::new(MockedObject {
            running,
            block,
            ty,
            is_overridden: overriding.is_some(),
            is_ephemeral: resource.mode() == ResourceMode::Ephemeral,
            mock,
            seed: format!("{}/{name}", self.seed),
        })
    }
}

/// The private data of an imported object, until it is planned with its configuration.
const IMPORTED_PRIVATE_BYTES: &[u8] = b"imported";

/// A provider for calls about one mocked object.
struct MockedObject {
    running: Arc<dyn Provider>,
    block: Block,
    ty: Type,
    mock: MockValues,
    is_overridden: bool,
    is_ephemeral: bool,
    seed: String,
}

impl Provider for MockedObject {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        match self.answer_if_mocked(&request) {
            Some(answer) => std::future::ready(answer).boxed(),
            // The schema is the real one, so the provider can validate and upgrade.
            None => self.running.call(request),
        }
    }
}

impl MockedObject {
    /// Returns the response to a call, if it is mocked.
    fn answer_if_mocked(&self, request: &Request) -> Option<Result<Response, Failure>> {
        let answer = match request {
            // A mocked object exists only in the state, so the provider could not find it.
            Request::ReadResource(request) => Ok(Response::ReadResource(ReadResponse {
                state: request.current.clone(),
                private: request.private.clone(),
                deferred: None,
                identity: request.identity.clone(),
                diagnostics: Vec::new(),
            })),
            Request::PlanResourceChange(request) => {
                let was_imported = request.prior_private == IMPORTED_PRIVATE_BYTES;
                let planned = self.answer_plan(&request.prior, &request.proposed, was_imported);
                planned.map(|(planned, diagnostics)| {
                    let private = request.prior_private.clone();
                    Response::PlanResourceChange(PlanResponse {
                        planned,
                        requires_replace: Vec::new(),
                        planned_private: if was_imported { Bytes::new() } else { private },
                        legacy_type_system: false,
                        deferred: None,
                        planned_identity: request.prior_identity.clone(),
                        diagnostics,
                    })
                })
            }
            Request::ApplyResourceChange(request) => {
                self.fill_absent_attributes(&request.planned, AbsentAttributes::Unknown).map(
                    |(state, diagnostics)| {
                        // The object is unchanged in this case.
                        let state =
                            if diagnostics.is_empty() { state } else { request.prior.clone() };
                        Response::ApplyResourceChange(ApplyResponse {
                            state,
                            private: request.planned_private.clone(),
                            legacy_type_system: false,
                            identity: request.planned_identity.clone(),
                            diagnostics,
                        })
                    },
                )
            }
            Request::ReadDataSource(request) => self
                .fill_absent_attributes(&request.config, AbsentAttributes::UnknownOrNull)
                .map(|(state, diagnostics)| {
                    Response::ReadDataSource(ReadDataResponse {
                        state,
                        deferred: None,
                        diagnostics,
                    })
                }),
            Request::ImportResourceState(request) => self.answer_import(&request.type_name),
            Request::OpenEphemeralResource(_) if self.is_ephemeral => {
                let detail =
                    "The provider mocking mechanism does not yet support ephemeral resource types.";
                let summary = messages::NO_EPHEMERAL_MOCKS;
                Ok(Response::OpenEphemeralResource(OpenResponse {
                    result: Payload::Value(
                        Value::null(self.ty.clone()).split_marks().0,
                        self.ty.clone(),
                    ),
                    private: Bytes::new(),
                    renew_at: None,
                    deferred: None,
                    diagnostics: vec![own_provider_error(summary, detail.to_owned(), Path::root())],
                }))
            }
            _ => return None,
        };
        Some(answer)
    }

    fn answer_plan(
        &self,
        prior: &Payload,
        proposed: &Payload,
        was_imported: bool,
    ) -> Result<(Payload, Vec<ProviderDiagnostic>), Failure> {
        let prior = self.decode_object(prior)?;
        let absent = match self.mock.during {
            // An import has no configuration, so the object had no blocks to fill.
            _ if was_imported => AbsentAttributes::UnknownOrNull,
            // Only a new object needs values. Existing objects keep theirs, including nulls.
            _ if !prior.value().is_null() => AbsentAttributes::Nothing,
            OverrideDuring::Plan => AbsentAttributes::UnknownOrNull,
            OverrideDuring::Apply => AbsentAttributes::BecomesUnknown,
        };
        self.fill_absent_attributes(proposed, absent)
    }

    fn decode_object(&self, object: &Payload) -> Result<Plain, Failure> {
        object.decode(&self.ty).map_err(|error| Failure::Misbehaved(error.to_string()))
    }

    /// Returns an object with absent values filled in.
    fn fill_absent_attributes(
        &self,
        object: &Payload,
        absent: AbsentAttributes,
    ) -> Result<(Payload, Vec<ProviderDiagnostic>), Failure> {
        let object = self.decode_object(object)?;
        // A destroyed object needs no values.
        if object.value().is_null() {
            return Ok((Payload::Value(object, self.ty.clone()), Vec::new()));
        }
        let mut fill = ObjectFiller::new(&self.seed, absent);
        let filled = fill.fill_block(&self.block, object.value(), &self.mock.values);
        let diagnostics =
            fill.problems.into_iter().map(|problem| self.unfit_value_diagnostic(problem)).collect();
        Ok((Payload::Value(filled.split_marks().0, self.ty.clone()), diagnostics))
    }

    /// Returns the error for a mock value that does not fit the schema.
    fn unfit_value_diagnostic(&self, problem: FillProblem) -> ProviderDiagnostic {
        let FillProblem { path, attribute, kind } = problem;
        let location = &self.mock.position;
        let detail = match kind {
            FillProblemKind::Type { needed, reason } => format!(
                "Terraform could not compute a value for the target type {needed} with the mocked data defined at {location} with the attribute {attribute:?}: {reason}."
            ),
            FillProblemKind::NotAnObject { actual } => format!(
                "Terraform expected an object type for attribute {attribute:?} defined within the mocked data at {location}, but found {actual}."
            ),
        };
        own_provider_error(messages::UNFIT_MOCKED_VALUE, detail, path)
    }

    fn answer_import(&self, type_name: &str) -> Result<Response, Failure> {
        let mut answer =
            ImportResponse { resources: Vec::new(), deferred: None, diagnostics: Vec::new() };
        if self.is_overridden {
            let empty = Payload::Value(self.block.empty_value().split_marks().0, self.ty.clone());
            let (state, diagnostics) =
                self.fill_absent_attributes(&empty, AbsentAttributes::UnknownOrNull)?;
            let (type_name, private) =
                (type_name.to_owned(), Bytes::from_static(IMPORTED_PRIVATE_BYTES));
            answer.resources.push(ImportedResource { type_name, state, private, identity: None });
            answer.diagnostics = diagnostics;
        } else {
            let detail = "Cannot import resources from mock providers. Use an `override_resource` block that targets the resource to be imported instead.";
            let summary = messages::IMPORT_FROM_MOCK_PROVIDER;
            answer.diagnostics = vec![own_provider_error(summary, detail.into(), Path::root())];
        }
        Ok(Response::ImportResourceState(answer))
    }
}
