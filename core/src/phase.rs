//! Steps that planning and applying share: they evaluate a block, find and ask a provider, fit
//! objects into the state, and explain a cycle. Decisions and actions of either are not here.

mod ask;
mod closing;
mod count;
mod data;
mod draw;
mod edge;
mod ephemeral;
mod frame;
mod log;
mod meta;
mod names;
mod object;
mod place;
mod progress;
mod provider;
mod provisioner;
mod tenancy;
mod walk;
mod written;

pub(crate) use ask::{ChangeRequest, INVALID_PLAN};
pub(crate) use closing::close_ephemeral;
pub(crate) use count::Counter;
pub(crate) use data::DataRead;
pub(crate) use draw::draw;
pub(crate) use edge::{CycleExplanation, EdgeReason, place as place_of, report_cycles};
pub(crate) use ephemeral::{EphemeralInstance, EphemeralResources};
pub(crate) use frame::{
    Mentions, SharedOutcome, SharedVertex, Vertex, add_calls, add_providers, add_values,
};
pub(crate) use log::PhaseLog;
pub(crate) use names::{Names, connect_modules, connect_providers};
pub(crate) use object::{
    encode, label, label_before, plain, sensitive_paths, stored, stored_value, without_unknowns,
};
pub(crate) use place::{place_in, point_at_parts};
pub(crate) use progress::watched;
pub(crate) use provider::{
    ConfiguredClient, ProviderVertex, find_stored, find_written, visit_provider, written_providers,
};
pub(crate) use provisioner::{check_provisioner_kinds, check_provisioners};
pub(crate) use tenancy::ProviderUsage;
pub(crate) use walk::walk_phase;
pub(crate) use written::{InstanceConfig, check_ephemeral, check_ignored};
