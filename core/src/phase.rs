//! Steps that planning and applying share: they evaluate a block, find and ask a provider, fit
//! objects into the state, and explain a cycle. Decisions and actions of either are not here.

mod change_request;
mod close_ephemeral;
mod count;
mod data;
mod edge;
mod ephemeral;
mod instance_config;
mod log;
mod meta;
mod names;
mod object;
mod place;
mod progress;
mod provider;
mod provider_usage;
mod provisioner;
mod render;
mod shared_vertex;
mod walk;

pub(crate) use change_request::{ChangeRequest, INVALID_PLAN, PriorObject, ViolationSummary};
pub(crate) use close_ephemeral::close_ephemeral;
pub(crate) use count::Counter;
pub(crate) use data::DataRead;
pub(crate) use edge::{CycleExplanation, EdgeReason, place as place_of, report_cycles};
pub(crate) use ephemeral::{EphemeralInstance, EphemeralResources};
pub(crate) use instance_config::{InstanceConfig, check_ephemeral, check_ignored};
pub(crate) use log::PhaseLog;
pub(crate) use names::{Names, connect_modules, connect_providers};
pub(crate) use object::{
    encode, label, label_before, plain, sensitive_paths, stored, stored_value, without_unknowns,
};
pub(crate) use place::{place_in, point_at_parts};
pub(crate) use progress::{ProgressSubject, watched};
pub(crate) use provider::{
    ConfiguredClient, ConfiguredResource, ProviderVertex, ResourceClient, find_stored,
    find_written, visit_provider, written_providers,
};
pub(crate) use provider_usage::ProviderUsage;
pub(crate) use provisioner::{ProvisionedResource, check_provisioner_kinds, check_provisioners};
pub(crate) use render::draw;
pub(crate) use shared_vertex::{
    Mentions, SharedOutcome, SharedVertex, Vertex, add_calls, add_providers, add_values,
};
pub(crate) use walk::{PhaseWalk, walk_phase};
