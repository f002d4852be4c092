//! The life of a managed resource.

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::diag::{decode_path, encode_path};
use super::payload::{
    encode_absent_as_null, encode_identity, encode_unless_absent, identity_payload_from_wire,
    identity_value_from_wire, payload_from_wire,
};
use super::{InvalidMessage, UnencodableMessage, decode_count, diag, encode_count};
use crate::message::resource::{
    ApplyRequest, ApplyResponse, GenerateConfigRequest, GenerateConfigResponse, ImportRequest,
    ImportResponse, ImportedResource, MoveRequest, MoveResponse, PlanRequest, PlanResponse,
    ReadRequest, ReadResponse, UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest,
    UpgradeResponse,
};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<UpgradeRequest> for v6::upgrade_resource_state::Request {
    type Error = UnencodableMessage;

    fn try_from(request: UpgradeRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            type_name: request.type_name,
            version: encode_count(request.version, "the schema version")?,
            raw_state: Some(request.state.into()),
        })
    }
}

impl TryFrom<v6::upgrade_resource_state::Request> for UpgradeRequest {
    type Error = InvalidMessage;

    fn try_from(wire: v6::upgrade_resource_state::Request) -> Result<Self, InvalidMessage> {
        Ok(Self {
            type_name: wire.type_name,
            version: decode_count(wire.version, "the schema version")?,
            state: wire.raw_state.unwrap_or_default().into(),
        })
    }
}

impl TryFrom<UpgradeResponse> for v6::upgrade_resource_state::Response {
    type Error = UnencodableMessage;

    fn try_from(response: UpgradeResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            upgraded_state: encode_absent_as_null(&response.state, "upgraded_state")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
        })
    }
}

impl From<v6::upgrade_resource_state::Response> for UpgradeResponse {
    fn from(wire: v6::upgrade_resource_state::Response) -> Self {
        Self {
            state: payload_from_wire(wire.upgraded_state),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl TryFrom<ReadRequest> for v6::read_resource::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ReadRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            current_state: encode_absent_as_null(&request.current, "current_state")?,
            private: request.private,
            // Hosts send it only to providers that have a schema for it.
            provider_meta: encode_unless_absent(&request.provider_meta, "provider_meta")?,
            client_capabilities: encode_client_capabilities(request.client),
            current_identity: encode_identity(request.identity.as_ref(), "current_identity")?,
            type_name: request.type_name,
        })
    }
}

impl From<v6::read_resource::Request> for ReadRequest {
    fn from(wire: v6::read_resource::Request) -> Self {
        Self {
            type_name: wire.type_name,
            current: payload_from_wire(wire.current_state),
            private: wire.private,
            provider_meta: payload_from_wire(wire.provider_meta),
            client: decode_client_capabilities(wire.client_capabilities),
            identity: identity_payload_from_wire(wire.current_identity),
        }
    }
}

impl TryFrom<ReadResponse> for v6::read_resource::Response {
    type Error = UnencodableMessage;

    fn try_from(response: ReadResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            new_state: encode_absent_as_null(&response.state, "new_state")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            private: response.private,
            deferred: response.deferred.map(Into::into),
            new_identity: encode_identity(response.identity.as_ref(), "new_identity")?,
        })
    }
}

impl From<v6::read_resource::Response> for ReadResponse {
    fn from(wire: v6::read_resource::Response) -> Self {
        Self {
            state: payload_from_wire(wire.new_state),
            private: wire.private,
            deferred: wire.deferred.map(Into::into),
            identity: identity_payload_from_wire(wire.new_identity),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl TryFrom<PlanRequest> for v6::plan_resource_change::Request {
    type Error = UnencodableMessage;

    fn try_from(request: PlanRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            prior_state: encode_absent_as_null(&request.prior, "prior_state")?,
            proposed_new_state: encode_absent_as_null(&request.proposed, "proposed_new_state")?,
            config: encode_absent_as_null(&request.config, "config")?,
            prior_private: request.prior_private,
            provider_meta: encode_unless_absent(&request.provider_meta, "provider_meta")?,
            client_capabilities: encode_client_capabilities(request.client),
            prior_identity: encode_identity(request.prior_identity.as_ref(), "prior_identity")?,
            planned_private: request.planned_private,
            type_name: request.type_name,
        })
    }
}

impl From<v6::plan_resource_change::Request> for PlanRequest {
    fn from(wire: v6::plan_resource_change::Request) -> Self {
        Self {
            type_name: wire.type_name,
            prior: payload_from_wire(wire.prior_state),
            proposed: payload_from_wire(wire.proposed_new_state),
            config: payload_from_wire(wire.config),
            prior_private: wire.prior_private,
            provider_meta: payload_from_wire(wire.provider_meta),
            client: decode_client_capabilities(wire.client_capabilities),
            prior_identity: identity_payload_from_wire(wire.prior_identity),
            planned_private: wire.planned_private,
        }
    }
}

impl TryFrom<PlanResponse> for v6::plan_resource_change::Response {
    type Error = UnencodableMessage;

    fn try_from(response: PlanResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            planned_state: encode_absent_as_null(&response.planned, "planned_state")?,
            // A step without a form ends the path, which then covers more and not less.
            requires_replace: response.requires_replace.iter().map(encode_path).collect(),
            planned_private: response.planned_private,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            legacy_type_system: response.legacy_type_system,
            deferred: response.deferred.map(Into::into),
            planned_identity: encode_identity(
                response.planned_identity.as_ref(),
                "planned_identity",
            )?,
        })
    }
}

impl TryFrom<v6::plan_resource_change::Response> for PlanResponse {
    type Error = InvalidMessage;

    fn try_from(wire: v6::plan_resource_change::Response) -> Result<Self, InvalidMessage> {
        // A path that cannot be read might hide a replacement, so the whole plan is refused.
        let paths = wire.requires_replace.into_iter().map(decode_path);
        Ok(Self {
            planned: payload_from_wire(wire.planned_state),
            requires_replace: paths
                .collect::<Result<_, _>>()
                .map_err(|misread| misread.prepend_location("requires_replace"))?,
            planned_private: wire.planned_private,
            legacy_type_system: wire.legacy_type_system,
            deferred: wire.deferred.map(Into::into),
            planned_identity: identity_payload_from_wire(wire.planned_identity),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        })
    }
}

impl TryFrom<ApplyRequest> for v6::apply_resource_change::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ApplyRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            prior_state: encode_absent_as_null(&request.prior, "prior_state")?,
            planned_state: encode_absent_as_null(&request.planned, "planned_state")?,
            config: encode_absent_as_null(&request.config, "config")?,
            planned_private: request.planned_private,
            provider_meta: encode_unless_absent(&request.provider_meta, "provider_meta")?,
            planned_identity: encode_identity(
                request.planned_identity.as_ref(),
                "planned_identity",
            )?,
            type_name: request.type_name,
        })
    }
}

impl From<v6::apply_resource_change::Request> for ApplyRequest {
    fn from(wire: v6::apply_resource_change::Request) -> Self {
        Self {
            type_name: wire.type_name,
            prior: payload_from_wire(wire.prior_state),
            planned: payload_from_wire(wire.planned_state),
            config: payload_from_wire(wire.config),
            planned_private: wire.planned_private,
            provider_meta: payload_from_wire(wire.provider_meta),
            planned_identity: identity_payload_from_wire(wire.planned_identity),
        }
    }
}

impl TryFrom<ApplyResponse> for v6::apply_resource_change::Response {
    type Error = UnencodableMessage;

    fn try_from(response: ApplyResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            new_state: encode_absent_as_null(&response.state, "new_state")?,
            private: response.private,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            legacy_type_system: response.legacy_type_system,
            new_identity: encode_identity(response.identity.as_ref(), "new_identity")?,
        })
    }
}

/// Reading never fails: an object may have been created, and the known part of it must reach the
/// state.
impl From<v6::apply_resource_change::Response> for ApplyResponse {
    fn from(wire: v6::apply_resource_change::Response) -> Self {
        Self {
            state: payload_from_wire(wire.new_state),
            private: wire.private,
            legacy_type_system: wire.legacy_type_system,
            identity: identity_payload_from_wire(wire.new_identity),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl TryFrom<ImportRequest> for v6::import_resource_state::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ImportRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            identity: encode_identity(request.identity.as_ref(), "identity")?,
            type_name: request.type_name,
            id: request.id,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::import_resource_state::Request> for ImportRequest {
    fn from(wire: v6::import_resource_state::Request) -> Self {
        Self {
            type_name: wire.type_name,
            id: wire.id,
            client: decode_client_capabilities(wire.client_capabilities),
            identity: identity_payload_from_wire(wire.identity),
        }
    }
}

impl TryFrom<ImportedResource> for v6::import_resource_state::ImportedResource {
    type Error = UnencodableMessage;

    fn try_from(resource: ImportedResource) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            state: encode_absent_as_null(&resource.state, "state")?,
            identity: encode_identity(resource.identity.as_ref(), "identity")?,
            type_name: resource.type_name,
            private: resource.private,
        })
    }
}

impl From<v6::import_resource_state::ImportedResource> for ImportedResource {
    fn from(wire: v6::import_resource_state::ImportedResource) -> Self {
        Self {
            type_name: wire.type_name,
            state: payload_from_wire(wire.state),
            private: wire.private,
            identity: identity_payload_from_wire(wire.identity),
        }
    }
}

impl TryFrom<ImportResponse> for v6::import_resource_state::Response {
    type Error = UnencodableMessage;

    fn try_from(response: ImportResponse) -> Result<Self, UnencodableMessage> {
        let resources = response.resources.into_iter().map(TryInto::try_into);
        Ok(Self {
            imported_resources: resources.collect::<Result<_, _>>()?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            deferred: response.deferred.map(Into::into),
        })
    }
}

impl From<v6::import_resource_state::Response> for ImportResponse {
    fn from(wire: v6::import_resource_state::Response) -> Self {
        Self {
            resources: wire.imported_resources.into_iter().map(Into::into).collect(),
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl TryFrom<MoveRequest> for v6::move_resource_state::Request {
    type Error = UnencodableMessage;

    fn try_from(request: MoveRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            source_provider_address: request.source_provider,
            source_type_name: request.source_type,
            source_schema_version: encode_count(request.source_version, "the schema version")?,
            source_state: Some(request.source_state.into()),
            target_type_name: request.target_type,
            source_private: request.source_private,
            source_identity: request.source_identity.map(Into::into),
            source_identity_schema_version: encode_count(
                request.source_identity_version,
                "the identity schema version",
            )?,
        })
    }
}

impl TryFrom<v6::move_resource_state::Request> for MoveRequest {
    type Error = InvalidMessage;

    fn try_from(wire: v6::move_resource_state::Request) -> Result<Self, InvalidMessage> {
        Ok(Self {
            source_provider: wire.source_provider_address,
            source_type: wire.source_type_name,
            source_version: decode_count(wire.source_schema_version, "the schema version")?,
            source_state: wire.source_state.unwrap_or_default().into(),
            target_type: wire.target_type_name,
            source_private: wire.source_private,
            source_identity: wire.source_identity.map(Into::into),
            source_identity_version: decode_count(
                wire.source_identity_schema_version,
                "the identity schema version",
            )?,
        })
    }
}

impl TryFrom<MoveResponse> for v6::move_resource_state::Response {
    type Error = UnencodableMessage;

    fn try_from(response: MoveResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            target_state: encode_absent_as_null(&response.state, "target_state")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            target_private: response.private,
            target_identity: encode_identity(response.identity.as_ref(), "target_identity")?,
        })
    }
}

impl From<v6::move_resource_state::Response> for MoveResponse {
    fn from(wire: v6::move_resource_state::Response) -> Self {
        Self {
            state: payload_from_wire(wire.target_state),
            private: wire.target_private,
            identity: identity_payload_from_wire(wire.target_identity),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl TryFrom<UpgradeIdentityRequest> for v6::upgrade_resource_identity::Request {
    type Error = UnencodableMessage;

    fn try_from(request: UpgradeIdentityRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            type_name: request.type_name,
            version: encode_count(request.version, "the identity schema version")?,
            raw_identity: Some(request.identity.into()),
        })
    }
}

impl TryFrom<v6::upgrade_resource_identity::Request> for UpgradeIdentityRequest {
    type Error = InvalidMessage;

    fn try_from(wire: v6::upgrade_resource_identity::Request) -> Result<Self, InvalidMessage> {
        Ok(Self {
            type_name: wire.type_name,
            version: decode_count(wire.version, "the identity schema version")?,
            identity: wire.raw_identity.unwrap_or_default().into(),
        })
    }
}

impl TryFrom<UpgradeIdentityResponse> for v6::upgrade_resource_identity::Response {
    type Error = UnencodableMessage;

    fn try_from(response: UpgradeIdentityResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            upgraded_identity: encode_identity(Some(&response.identity), "upgraded_identity")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
        })
    }
}

impl From<v6::upgrade_resource_identity::Response> for UpgradeIdentityResponse {
    fn from(wire: v6::upgrade_resource_identity::Response) -> Self {
        Self {
            identity: identity_value_from_wire(
                wire.upgraded_identity.and_then(|identity| identity.identity_data),
            ),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl TryFrom<GenerateConfigRequest> for v6::generate_resource_config::Request {
    type Error = UnencodableMessage;

    fn try_from(request: GenerateConfigRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            state: encode_absent_as_null(&request.state, "state")?,
            type_name: request.type_name,
        })
    }
}

impl From<v6::generate_resource_config::Request> for GenerateConfigRequest {
    fn from(wire: v6::generate_resource_config::Request) -> Self {
        Self { type_name: wire.type_name, state: payload_from_wire(wire.state) }
    }
}

impl TryFrom<GenerateConfigResponse> for v6::generate_resource_config::Response {
    type Error = UnencodableMessage;

    fn try_from(response: GenerateConfigResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&response.config, "config")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
        })
    }
}

impl From<v6::generate_resource_config::Response> for GenerateConfigResponse {
    fn from(wire: v6::generate_resource_config::Response) -> Self {
        Self {
            config: payload_from_wire(wire.config),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}
