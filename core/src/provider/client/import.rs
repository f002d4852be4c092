//! Calls that bring an object under management of a resource: a move from another resource type, or an
//! import by ID.

use bytes::Bytes;
use formwork_plugin_protocol::contract::{self, AnswerToCheck, Rule, check_answer};
use formwork_plugin_protocol::message::resource::{
    ImportRequest, ImportedResource, MoveRequest, RawState,
};
use formwork_plugin_protocol::{Payload, Request};
use formwork_value::diag::Summary;
use formwork_value::{Diagnostic, Diagnostics, Plain, Reported, Value};

use super::object_size::ObjectInResponse;
use super::{
    CallContext, ContractViolation, ProviderClient, ResponseContext, add_marks,
    round_numbers_as_stored,
};
use crate::addr::ProviderAddr;
use crate::change::ImportKey;
use crate::messages;
use crate::provider::ResourceType;
use crate::state::{ObjectState, StoredIdentity};

/// The source object of a move to another resource type.
#[derive(Clone, Copy)]
pub struct MoveSource<'a> {
    /// The resource type.
    pub kind: &'a str,
    /// The provider of the source object.
    pub provider: &'a ProviderAddr,
    /// The stored object.
    pub object: &'a ObjectState,
}

/// An object that a provider found by an import ID.
#[derive(Clone, Debug)]
pub struct ImportedObject {
    /// The object, as far as known before its read.
    pub value: Plain,
    /// The private data of the provider.
    pub private: Bytes,
    /// Identity of the object, if the provider returned one.
    pub identity: Option<StoredIdentity>,
}

impl ProviderClient {
    /// Converts an object that was stored as another resource type, with its private data.
    ///
    /// # Errors
    /// Returns an error if the provider does not support the move or the source type, or if the response
    /// violates the contract.
    pub async fn move_resource_state(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        former: MoveSource<'_>,
        about: CallContext<'_>,
    ) -> Result<(Value, Bytes), Reported> {
        // A provider without the capability does not support the call (protocol, ServerCapabilities).
        if !self.loaded.provider_schema().capabilities.move_resource_state {
            let detail = format!(
                "{} was stored as `{}`, and the provider {} does not take over objects of other \
                 resource types.",
                about.addr,
                former.kind,
                self.loaded.provider_addr()
            );
            let problem = Diagnostic::error(messages::UNSUPPORTED_MOVE_ACROSS_TYPES, detail);
            return Err(diags.error(problem.at_opt(about.block).about(about.addr.to_string())));
        }
        let identity = former.object.identity.as_ref();
        let request = Request::move_state(MoveRequest {
            source_provider: former.provider.to_string(),
            source_type: former.kind.to_owned(),
            source_version: former.object.schema_version,
            source_state: former.object.attributes.to_raw_state(),
            target_type: ty.name.clone(),
            source_private: former.object.private.clone(),
            source_identity: identity.map(|stored| RawState::Json(stored.json.clone())),
            source_identity_version: identity.map_or(0, |stored| stored.version),
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        let value = self.decode_object(diags, &answer.state, context)?;
        let exchange = AnswerToCheck::for_call(contract::Call::Move)
            .with_answered_object(&answer.state, &value);
        self.check_response_rules(
            diags,
            messages::PROVIDER_RETURNED_INVALID_VALUE,
            &exchange,
            context,
        )?;
        let value = round_numbers_as_stored(value);
        Ok((add_marks(ty, value, &former.object.sensitive), answer.private))
    }

    /// Requests the single object with an import ID or identity.
    ///
    /// # Errors
    /// Returns an error if the provider finds no object or several, or if the response violates the
    /// contract.
    pub async fn import_one_object(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        import_key: &ImportKey,
        about: CallContext<'_>,
    ) -> Result<ImportedObject, Reported> {
        let (imported, others) = self.import_all_objects(diags, ty, import_key, about).await?;
        if others.is_empty() {
            return Ok(imported);
        }
        let returned = "several objects, of which only one can be meant,";
        let summary = messages::MULTIPLE_IMPORT_STATES_NOT_SUPPORTED;
        Err(diags.error(import_mismatch_error(summary, import_key, returned, about)))
    }

    /// Requests the object with an import ID or identity, and all objects of the same type in the
    /// response.
    ///
    /// # Errors
    /// Returns an error if the provider finds no object or one of another type, or if the response
    /// violates the contract.
    pub async fn import_all_objects(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        import_key: &ImportKey,
        about: CallContext<'_>,
    ) -> Result<(ImportedObject, Vec<ImportedObject>), Reported> {
        let (id, identity) = match import_key {
            ImportKey::Id(id) => (id.to_string(), None),
            ImportKey::Identity(identity) => {
                let form = ty.identity.as_ref().ok_or("the resource type has no identities".into());
                let complete =
                    form.and_then(|form| Ok((form.complete_identity(identity)?, form.ty.clone())));
                let (plain, form) = complete.map_err(|problem: String| {
                    let detail =
                        format!("{} cannot be found by {import_key}: {problem}.", about.addr);
                    let problem =
                        Diagnostic::error(messages::INVALID_IMPORT_IDENTITY_ARGUMENT, detail);
                    diags.error(problem.at_opt(about.block).about(about.addr.to_string()))
                })?;
                // With an identity, the ID is empty (protocol, ImportResourceState).
                (String::new(), Some(Payload::Value(plain, form)))
            }
        };
        let request = Request::import(ImportRequest {
            type_name: ty.name.clone(),
            id,
            client: self.calls.client_capabilities(),
            identity,
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.check_not_deferred(diags, answer.deferred, context)?;
        let mut objects = answer.resources.into_iter();
        let Some(imported) = objects.next() else {
            let summary = messages::IMPORT_RETURNED_NO_RESOURCES;
            return Err(diags.error(import_mismatch_error(summary, import_key, "nothing", about)));
        };
        // Checked before decoding: an object of another type would fail to decode, and that error would
        // hide the reason.
        let exchange = import_answer_to_check(ty, &imported);
        self.check_response_rules(
            diags,
            messages::PROVIDER_PRODUCED_INVALID_OBJECT,
            &exchange,
            context,
        )?;
        let imported = self.decode_imported(diags, imported, import_key, context)?;
        let mut others = Vec::new();
        for object in objects {
            if !check_answer(&import_answer_to_check(ty, &object), &ty.contract_schemas())
                .is_empty()
            {
                let returned = format!(
                    "objects of several types, also {:?}, of which only those of its own can be \
                     imported,",
                    object.type_name
                );
                let summary = messages::MULTIPLE_IMPORT_STATES_NOT_SUPPORTED;
                return Err(
                    diags.error(import_mismatch_error(summary, import_key, &returned, about))
                );
            }
            others.push(self.decode_imported(diags, object, import_key, context)?);
        }
        Ok((imported, others))
    }

    /// Decodes an imported object.
    fn decode_imported(
        &self,
        diags: &mut Diagnostics,
        imported: ImportedResource,
        import_key: &ImportKey,
        context: ResponseContext<'_>,
    ) -> Result<ImportedObject, Reported> {
        let ResponseContext { call, ty, about } = context;
        let value = self.decode_object(diags, &imported.state, context)?;
        let mut result = Ok(());
        let exchange =
            import_answer_to_check(ty, &imported).with_answered_object(&imported.state, &value);
        for violation in check_answer(&exchange, &ty.contract_schemas()) {
            let (rule, problem) = (violation.rule, &violation.to_string());
            let invalid = |summary| ContractViolation { summary, rule, call, problem };
            result = Err(match rule {
                Rule::ObjectNotNull => {
                    let returned = "an object without attributes";
                    let summary = messages::IMPORT_RETURNED_NULL_RESOURCE;
                    diags.error(import_mismatch_error(summary, import_key, returned, about))
                }
                Rule::WriteOnlyNull => {
                    let summary = messages::IMPORT_RETURNED_WRITE_ONLY_VALUE;
                    self.report_violation(diags, invalid(summary), about)
                }
                _ => self.report_violation(
                    diags,
                    invalid(messages::PROVIDER_PRODUCED_INVALID_OBJECT),
                    about,
                ),
            });
        }
        result?;
        let answered = ObjectInResponse {
            payload: &imported.state,
            value: &value,
            private: &imported.private,
        };
        self.check_object_size(diags, answered, context)?;
        let identity = self.decode_identity(diags, imported.identity, context)?;
        Ok(ImportedObject { value, private: imported.private, identity })
    }
}

/// An imported object before its decoding.
fn import_answer_to_check<'a>(
    ty: &'a ResourceType,
    imported: &'a ImportedResource,
) -> AnswerToCheck<'a> {
    AnswerToCheck::for_call(contract::Call::Import { asked: &ty.name, found: &imported.type_name })
}

/// Explains why the imported object is not the requested one.
fn import_mismatch_error(
    summary: impl Into<Summary>,
    import_key: &ImportKey,
    returned: &str,
    about: CallContext<'_>,
) -> Diagnostic {
    let detail = format!("For {import_key} the provider returned {returned} for {}.", about.addr);
    Diagnostic::error(summary, detail).at_opt(about.block).about(about.addr.to_string())
}
