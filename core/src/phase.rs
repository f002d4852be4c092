//! What planning and applying share: how they evaluate a block, find and ask a provider, fit objects
//! into the state, and explain a cycle. What either decides or does is not here.

mod ask;
mod closing;
mod data;
mod edge;
mod ephemeral;
mod meta;
mod names;
mod object;
mod place;
mod progress;
mod provider;
mod provisioner;
mod tenancy;
mod written;

pub(crate) use ask::{Asking, INVALID_PLAN};
pub(crate) use closing::add_closing;
pub(crate) use data::DataRead;
pub(crate) use edge::{Explaining, InCycle, Why, place as place_of, report_cycles};
pub(crate) use ephemeral::{Openings, Site};
pub(crate) use names::Names;
pub(crate) use object::{
    encode, plain, sensitive_paths, shown_id, stored, stored_value, without_unknowns,
};
pub(crate) use place::{place_in, point_at_parts};
pub(crate) use progress::watched;
pub(crate) use provider::{
    ProviderVertex, Speaking, find_stored, find_written, visit_provider, written_providers,
};
pub(crate) use provisioner::check_provisioners;
pub(crate) use tenancy::Tenancy;
pub(crate) use written::{Written, check_ignored, evaluate};
