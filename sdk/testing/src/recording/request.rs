//! Requests of the host in a record. Data about the host itself is omitted, because it changes no
//! recorded answer.

use formwork_plugin_protocol::message::action::ActionRequest;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest};
use formwork_plugin_protocol::message::data::ReadDataRequest;
use formwork_plugin_protocol::message::ephemeral::{LeaseRequest, OpenRequest};
use formwork_plugin_protocol::message::function::CallRequest;
use formwork_plugin_protocol::message::list::{ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ImportRequest, MoveRequest, PlanRequest, RawState, ReadRequest,
    UpgradeIdentityRequest, UpgradeRequest,
};
use formwork_plugin_protocol::{Payload, Request};
use formwork_value::codec::json::{self, ExtraAttributes};
use formwork_value::schema::Block;
use serde_json::{Value as Json, json};

use super::form::{Kind, RecordedHalf, hide_all_values, shown_bytes};

impl RecordedHalf<'_> {
    /// Encodes a request; `None` for a call that is not recorded.
    pub(super) fn with_request(self, request: &Request) -> Option<Self> {
        let of = request.subject();
        Some(match request {
            Request::ValidateProviderConfig(it) => self.validate(Kind::Provider, it),
            Request::ConfigureProvider(it) => self.configure(it),
            Request::ValidateResourceConfig(it) => self.validate(Kind::Resource(of), it),
            Request::ValidateDataResourceConfig(it) => self.validate(Kind::Data(of), it),
            Request::ValidateEphemeralResourceConfig(it) => self.validate(Kind::Ephemeral(of), it),
            Request::ValidateActionConfig(it) => self.validate(Kind::Action(of), it),
            Request::ValidateListResourceConfig(it) => self.validate_list(it),
            Request::UpgradeResourceState(it) => self.with_upgrade_request(it),
            Request::UpgradeResourceIdentity(it) => self.upgrade_identity(it),
            Request::ReadResource(it) => self.read(it),
            Request::PlanResourceChange(it) => self.plan(it),
            Request::ApplyResourceChange(it) => self.apply(it),
            Request::ImportResourceState(it) => self.import(it),
            Request::MoveResourceState(it) => self.take_over(it),
            Request::ReadDataSource(it) => self.read_data(it),
            Request::OpenEphemeralResource(it) => self.open(it),
            Request::RenewEphemeralResource(it) | Request::CloseEphemeralResource(it) => {
                self.with_lease_request(it)
            }
            Request::ListResource(it) => self.list(it),
            Request::CallFunction(it) => self.call_function(it),
            Request::PlanAction(it) | Request::InvokeAction(it) => self.with_action_request(it),
            // Calls about the provider as a whole are made again each time. Generated configuration
            // is for people, and states have their own files.
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

    fn validate(mut self, kind: Kind<'_>, request: &ValidateRequest) -> Self {
        self.payload("config", kind, &request.config);
        self
    }

    fn configure(mut self, request: &ConfigureRequest) -> Self {
        // Without the version of the host, because a record outlives it.
        self.payload("config", Kind::Provider, &request.config);
        self
    }

    fn with_upgrade_request(mut self, request: &UpgradeRequest) -> Self {
        self.add_member("version", json!(request.version));
        self.add_raw_state("state", Some(&request.type_name), &request.state);
        self
    }

    fn read(mut self, request: &ReadRequest) -> Self {
        let name = &request.type_name;
        self.payload("current", Kind::Resource(name), &request.current);
        self.add_member("private", shown_bytes(&request.private));
        self.payload("provider_meta", Kind::Meta, &request.provider_meta);
        self.add_identity("identity", name, request.identity.as_ref());
        self
    }

    fn plan(mut self, request: &PlanRequest) -> Self {
        let name = &request.type_name;
        self.payload("prior", Kind::Resource(name), &request.prior);
        self.payload("proposed", Kind::Resource(name), &request.proposed);
        self.payload("config", Kind::Resource(name), &request.config);
        self.add_member("prior_private", shown_bytes(&request.prior_private));
        self.payload("provider_meta", Kind::Meta, &request.provider_meta);
        self.add_identity("prior_identity", name, request.prior_identity.as_ref());
        self.add_member("planned_private", shown_bytes(&request.planned_private));
        self
    }

    fn apply(mut self, request: &ApplyRequest) -> Self {
        let name = &request.type_name;
        self.payload("prior", Kind::Resource(name), &request.prior);
        self.payload("planned", Kind::Resource(name), &request.planned);
        self.payload("config", Kind::Resource(name), &request.config);
        self.add_member("planned_private", shown_bytes(&request.planned_private));
        self.payload("provider_meta", Kind::Meta, &request.provider_meta);
        self.add_identity("planned_identity", name, request.planned_identity.as_ref());
        self
    }

    fn import(mut self, request: &ImportRequest) -> Self {
        self.add_member("id", json!(request.id));
        self.add_identity("identity", &request.type_name, request.identity.as_ref());
        self
    }

    fn take_over(mut self, request: &MoveRequest) -> Self {
        self.add_member("source_provider", json!(request.source_provider));
        self.add_member("source_type", json!(request.source_type));
        self.add_member("source_version", json!(request.source_version));
        // Without a schema: the source may be a type of another provider.
        self.add_raw_state("source_state", None, &request.source_state);
        self.add_member("source_private", shown_bytes(&request.source_private));
        if let Some(identity) = &request.source_identity {
            self.add_raw_state("source_identity", None, identity);
        }
        self.add_member("source_identity_version", json!(request.source_identity_version));
        self
    }

    fn upgrade_identity(mut self, request: &UpgradeIdentityRequest) -> Self {
        self.add_member("version", json!(request.version));
        self.add_raw_state("identity", None, &request.identity);
        self
    }

    fn read_data(mut self, request: &ReadDataRequest) -> Self {
        self.payload("config", Kind::Data(&request.type_name), &request.config);
        self.payload("provider_meta", Kind::Meta, &request.provider_meta);
        self
    }

    fn call_function(mut self, request: &CallRequest) -> Self {
        let arguments = request.arguments.iter().enumerate();
        let shown =
            arguments.map(|(at, one)| self.encode_payload(Kind::Argument(&request.name, at), one));
        let arguments: Vec<Json> = shown.collect();
        self.add_member("arguments", Json::Array(arguments));
        self
    }

    fn open(mut self, request: &OpenRequest) -> Self {
        self.payload("config", Kind::Ephemeral(&request.type_name), &request.config);
        self
    }

    fn list(mut self, request: &ListRequest) -> Self {
        self.payload("config", Kind::List(&request.type_name), &request.config);
        self.add_member("limit", json!(request.limit));
        self.add_member("include_object", json!(request.include_object));
        self
    }

    fn validate_list(mut self, request: &ValidateListRequest) -> Self {
        self.payload("config", Kind::List(&request.type_name), &request.config);
        self
    }

    fn with_action_request(mut self, request: &ActionRequest) -> Self {
        self.payload("config", Kind::Action(&request.type_name), &request.config);
        self
    }

    fn with_lease_request(mut self, request: &LeaseRequest) -> Self {
        self.add_member("private", shown_bytes(&request.private));
        self
    }

    /// Encodes an identity, if it exists.
    pub(super) fn add_identity(&mut self, name: &str, of: &str, identity: Option<&Payload>) {
        if let Some(identity) = identity {
            self.payload(name, Kind::Identity(of), identity);
        }
    }

    /// Encodes a stored object. Attributes that are sensitive in the current schema are secret.
    fn add_raw_state(&mut self, name: &str, of: Option<&str>, state: &RawState) {
        let mut json = match state {
            // What is no JSON becomes null: to refuse it is up to the provider.
            RawState::Json(text) => serde_json::from_slice(text).unwrap_or_default(),
            RawState::Flat(members) => json!(members),
        };
        let schema = of.and_then(|of| self.offer.schema.resources.get(of));
        if let Some(block) = schema.map(|schema| &schema.block) {
            let ty = block.implied_type();
            self.collect_names(&ty);
            let written = json.to_string();
            match json::decode_with_extra_attributes(written.as_bytes(), &ty, ExtraAttributes::Drop)
            {
                Ok(object) => self.mark_sensitive_parts(block, &object, &mut json),
                // Stored by another version: its top-level attributes are recognised by name.
                Err(_) => self.hide_named(block, &mut json),
            }
        }
        self.add_member(name, json);
    }

    fn hide_named(&mut self, block: &Block, json: &mut Json) {
        for (name, _) in block.attributes.iter().filter(|(_, attribute)| attribute.sensitive) {
            if let Some(part) = json.get_mut(name.as_str()) {
                collect_texts(part, &mut self.secrets);
                hide_all_values(part);
            }
        }
    }
}

fn collect_texts(json: &Json, found: &mut Vec<String>) {
    match json {
        Json::String(text) => found.push(text.clone()),
        Json::Number(number) => found.push(number.to_string()),
        Json::Array(elements) => elements.iter().for_each(|one| collect_texts(one, found)),
        Json::Object(members) => members.values().for_each(|one| collect_texts(one, found)),
        _ => {}
    }
}
