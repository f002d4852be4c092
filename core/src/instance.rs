//! Steps for one instance of a resource that planning and applying share: its block is evaluated, its
//! provider found and asked, the answer checked and fitted into the state. Decisions and actions of
//! either are not here.

mod change_request;
mod client;
mod data_read;
mod instance_config;
mod object;
mod place;
mod provider_meta;
mod provisioner;

pub(crate) use change_request::{ChangeRequest, INVALID_PLAN, PriorObject, ViolationSummary};
pub(crate) use client::{
    ConfiguredClient, ConfiguredResource, ResourceClient, find_stored, find_written,
};
pub(crate) use data_read::DataRead;
pub(crate) use instance_config::{InstanceConfig, check_ephemeral, check_ignored};
pub(crate) use object::{
    encode, label, label_before, plain, sensitive_paths, stored, stored_value, without_unknowns,
};
pub(crate) use place::{place_in, point_at_parts};
pub(crate) use provisioner::{ProvisionedResource, check_provisioner_kinds, check_provisioners};
