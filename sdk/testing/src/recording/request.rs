//! Requests of the host in a record. Data about the host itself is omitted, because it changes no
//! recorded answer.

use formwork_plugin_protocol::message::action::ActionRequest;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest};
use formwork_plugin_protocol::message::ephemeral::{OpenRequest, RenewOrCloseRequest};
use formwork_plugin_protocol::message::function::CallRequest;
use formwork_plugin_protocol::message::list::{ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::read_data::ReadDataRequest;
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ImportRequest, MoveRequest, PlanRequest, RawState, ReadRequest,
    UpgradeIdentityRequest, UpgradeRequest,
};
use formwork_plugin_protocol::{Payload, Request};
use formwork_value::codec::json::{self, ExtraAttributes};
use formwork_value::schema::Block;
use serde_json::{Value as Json, json};

use super::value_json::{
    PayloadSchema, RecordedRequestOrAnswer, encode_bytes_as_text_or_hex,
    mark_numbers_and_bools_secret,
};

impl RecordedRequestOrAnswer<'_> {
    /// Encodes a request; `None` for a call that is not recorded.
    pub(super) fn encode_request(self, request: &Request) -> Option<Self> {
        let of = request.type_or_function_name();
        Some(match request {
            Request::ValidateProviderConfig(it) => {
                self.encode_validate_request(PayloadSchema::Provider, it)
            }
            Request::ConfigureProvider(it) => self.encode_configure_request(it),
            Request::ValidateResourceConfig(it) => {
                self.encode_validate_request(PayloadSchema::Resource(of), it)
            }
            Request::ValidateDataResourceConfig(it) => {
                self.encode_validate_request(PayloadSchema::Data(of), it)
            }
            Request::ValidateEphemeralResourceConfig(it) => {
                self.encode_validate_request(PayloadSchema::Ephemeral(of), it)
            }
            Request::ValidateActionConfig(it) => {
                self.encode_validate_request(PayloadSchema::Action(of), it)
            }
            Request::ValidateListResourceConfig(it) => self.encode_validate_list_request(it),
            Request::UpgradeResourceState(it) => self.encode_upgrade_request(it),
            Request::UpgradeResourceIdentity(it) => self.encode_upgrade_identity_request(it),
            Request::ReadResource(it) => self.encode_read_request(it),
            Request::PlanResourceChange(it) => self.encode_plan_request(it),
            Request::ApplyResourceChange(it) => self.encode_apply_request(it),
            Request::ImportResourceState(it) => self.encode_import_request(it),
            Request::MoveResourceState(it) => self.encode_move_request(it),
            Request::ReadDataSource(it) => self.encode_read_data_request(it),
            Request::OpenEphemeralResource(it) => self.encode_open_request(it),
            Request::RenewEphemeralResource(it) | Request::CloseEphemeralResource(it) => {
                self.encode_renew_or_close_request(it)
            }
            Request::ListResource(it) => self.encode_list_request(it),
            Request::CallFunction(it) => self.encode_call_function_request(it),
            Request::PlanAction(it) | Request::InvokeAction(it) => self.encode_action_request(it),
            // Calls of the provider as a whole are repeated each time. Generated configuration is
            // for users, and states have their own files.
            Request::GetMetadata
            | Request::GetProviderSchema
            | Request::GetResourceIdentitySchemas
            | Request::GetFunctions
            | Request::StopProvider
            | Request::GenerateResourceConfig(_)
            | Request::ValidateStateStoreConfig(_)
            | Request::ConfigureStateStore(_)
            | Request::ReadStateBytes(_)
            | Request::WriteStateBytes(..)
            | Request::LockState(..)
            | Request::UnlockState(..)
            | Request::GetStates(_)
            | Request::DeleteState(_) => return None,
        })
    }

    fn encode_validate_request(
        mut self,
        kind: PayloadSchema<'_>,
        request: &ValidateRequest,
    ) -> Self {
        self.add_payload("config", kind, &request.config);
        self
    }

    fn encode_configure_request(mut self, request: &ConfigureRequest) -> Self {
        // Without the version of the host, because a record outlives it.
        self.add_payload("config", PayloadSchema::Provider, &request.config);
        self
    }

    fn encode_upgrade_request(mut self, request: &UpgradeRequest) -> Self {
        self.add_nonempty_member("version", json!(request.version));
        self.add_raw_state("state", Some(&request.type_name), &request.state);
        self
    }

    fn encode_read_request(mut self, request: &ReadRequest) -> Self {
        let name = &request.type_name;
        self.add_payload("current", PayloadSchema::Resource(name), &request.current);
        self.add_nonempty_member("private", encode_bytes_as_text_or_hex(&request.private));
        self.add_payload("provider_meta", PayloadSchema::Meta, &request.provider_meta);
        self.add_identity("identity", name, request.identity.as_ref());
        self
    }

    fn encode_plan_request(mut self, request: &PlanRequest) -> Self {
        let name = &request.type_name;
        self.add_payload("prior", PayloadSchema::Resource(name), &request.prior);
        self.add_payload("proposed", PayloadSchema::Resource(name), &request.proposed);
        self.add_payload("config", PayloadSchema::Resource(name), &request.config);
        self.add_nonempty_member(
            "prior_private",
            encode_bytes_as_text_or_hex(&request.prior_private),
        );
        self.add_payload("provider_meta", PayloadSchema::Meta, &request.provider_meta);
        self.add_identity("prior_identity", name, request.prior_identity.as_ref());
        self.add_nonempty_member(
            "planned_private",
            encode_bytes_as_text_or_hex(&request.planned_private),
        );
        self
    }

    fn encode_apply_request(mut self, request: &ApplyRequest) -> Self {
        let name = &request.type_name;
        self.add_payload("prior", PayloadSchema::Resource(name), &request.prior);
        self.add_payload("planned", PayloadSchema::Resource(name), &request.planned);
        self.add_payload("config", PayloadSchema::Resource(name), &request.config);
        self.add_nonempty_member(
            "planned_private",
            encode_bytes_as_text_or_hex(&request.planned_private),
        );
        self.add_payload("provider_meta", PayloadSchema::Meta, &request.provider_meta);
        self.add_identity("planned_identity", name, request.planned_identity.as_ref());
        self
    }

    fn encode_import_request(mut self, request: &ImportRequest) -> Self {
        self.add_nonempty_member("id", json!(request.id));
        self.add_identity("identity", &request.type_name, request.identity.as_ref());
        self
    }

    fn encode_move_request(mut self, request: &MoveRequest) -> Self {
        self.add_nonempty_member("source_provider", json!(request.source_provider));
        self.add_nonempty_member("source_type", json!(request.source_type));
        self.add_nonempty_member("source_version", json!(request.source_version));
        // Without a schema: the source may be a type of another provider.
        self.add_raw_state("source_state", None, &request.source_state);
        self.add_nonempty_member(
            "source_private",
            encode_bytes_as_text_or_hex(&request.source_private),
        );
        if let Some(identity) = &request.source_identity {
            self.add_raw_state("source_identity", None, identity);
        }
        self.add_nonempty_member("source_identity_version", json!(request.source_identity_version));
        self
    }

    fn encode_upgrade_identity_request(mut self, request: &UpgradeIdentityRequest) -> Self {
        self.add_nonempty_member("version", json!(request.version));
        self.add_raw_state("identity", None, &request.identity);
        self
    }

    fn encode_read_data_request(mut self, request: &ReadDataRequest) -> Self {
        self.add_payload("config", PayloadSchema::Data(&request.type_name), &request.config);
        self.add_payload("provider_meta", PayloadSchema::Meta, &request.provider_meta);
        self
    }

    fn encode_call_function_request(mut self, request: &CallRequest) -> Self {
        let arguments = request.arguments.iter().enumerate();
        let encoded = arguments.map(|(index, argument)| {
            self.encode_payload(PayloadSchema::Argument(&request.name, index), argument)
        });
        let arguments: Vec<Json> = encoded.collect();
        self.add_nonempty_member("arguments", Json::Array(arguments));
        self
    }

    fn encode_open_request(mut self, request: &OpenRequest) -> Self {
        self.add_payload("config", PayloadSchema::Ephemeral(&request.type_name), &request.config);
        self
    }

    fn encode_list_request(mut self, request: &ListRequest) -> Self {
        self.add_payload("config", PayloadSchema::List(&request.type_name), &request.config);
        self.add_nonempty_member("limit", json!(request.limit));
        self.add_nonempty_member("include_object", json!(request.include_object));
        self
    }

    fn encode_validate_list_request(mut self, request: &ValidateListRequest) -> Self {
        self.add_payload("config", PayloadSchema::List(&request.type_name), &request.config);
        self
    }

    fn encode_action_request(mut self, request: &ActionRequest) -> Self {
        self.add_payload("config", PayloadSchema::Action(&request.type_name), &request.config);
        self
    }

    fn encode_renew_or_close_request(mut self, request: &RenewOrCloseRequest) -> Self {
        self.add_nonempty_member("private", encode_bytes_as_text_or_hex(&request.private));
        self
    }

    /// Encodes an identity, if it exists.
    pub(super) fn add_identity(&mut self, name: &str, of: &str, identity: Option<&Payload>) {
        if let Some(identity) = identity {
            self.add_payload(name, PayloadSchema::Identity(of), identity);
        }
    }

    /// Encodes a stored object. Attributes that are sensitive in the current schema are secret.
    fn add_raw_state(&mut self, name: &str, of: Option<&str>, state: &RawState) {
        let mut json = match state {
            // Data that is not JSON becomes null: the provider decides whether to refuse it.
            RawState::Json(text) => serde_json::from_slice(text).unwrap_or_default(),
            RawState::Flat(members) => json!(members),
        };
        let schema = of.and_then(|of| self.offer.schema.resources.get(of));
        if let Some(block) = schema.map(|schema| &schema.block) {
            let ty = block.implied_type();
            self.collect_attribute_names(&ty);
            let written = json.to_string();
            match json::decode_with_extra_attributes(written.as_bytes(), &ty, ExtraAttributes::Drop)
            {
                Ok(object) => self.mark_sensitive_parts(block, &object, &mut json),
                // Stored by another version: its top-level attributes are recognised by name.
                Err(_) => self.mark_sensitive_by_name(block, &mut json),
            }
        }
        self.add_nonempty_member(name, json);
    }

    fn mark_sensitive_by_name(&mut self, block: &Block, json: &mut Json) {
        for (name, _) in block.attributes.iter().filter(|(_, attribute)| attribute.sensitive) {
            if let Some(part) = json.get_mut(name.as_str()) {
                collect_secret_texts(part, &mut self.secrets);
                mark_numbers_and_bools_secret(part);
            }
        }
    }
}

fn collect_secret_texts(json: &Json, texts: &mut Vec<String>) {
    match json {
        Json::String(text) => texts.push(text.clone()),
        Json::Number(number) => texts.push(number.to_string()),
        Json::Array(elements) => {
            elements.iter().for_each(|element| collect_secret_texts(element, texts));
        }
        Json::Object(members) => {
            members.values().for_each(|element| collect_secret_texts(element, texts));
        }
        _ => {}
    }
}
