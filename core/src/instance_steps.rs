//! Steps for one instance of a resource that the plan and the apply share: the evaluation of its block,
//! the call to its provider, the check of the response, and its conversion to a state object. Decisions
//! of either phase are elsewhere.

mod change_request;
mod data_read;
mod instance_config;
mod object;
mod provider_meta;
mod provisioner;
mod resource_client;
mod source_span;

pub(crate) use change_request::{
    ChangeRequest, INVALID_PLAN_SUMMARY, PriorObject, ViolationSummary,
};
pub(crate) use data_read::DataReadResult;
pub(crate) use instance_config::{InstanceConfig, check_ephemeral_values, check_ignored_changes};
pub(crate) use object::{
    decode_stored_value, encode_for_state, object_for_state, object_label, prior_object_label,
    sensitive_paths, unknown_to_null, unmark_value,
};
pub(crate) use provisioner::{ProvisionedResource, check_provisioner_kinds, check_provisioners};
pub(crate) use resource_client::{
    ConfiguredClient, ResourceClient, ResourceWithAddress, find_client_of_config,
    find_client_of_state,
};
pub(crate) use source_span::{find_written_span, point_diagnostics_at_parts};
