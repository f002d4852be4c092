//! What planning and applying share: how they evaluate a block, configure a provider, and explain a
//! cycle. What either decides or does is not here.

mod closing;
mod edge;
mod ephemeral;
mod instance;
mod meta;
mod names;
mod nested;
mod place;
mod progress;
mod provider;
mod provisioner;
mod tenancy;

pub(crate) use closing::add_closing;
pub(crate) use edge::{Explaining, InCycle, Why, place as place_of, report_cycles};
pub(crate) use ephemeral::{Openings, Site};
pub(crate) use instance::{
    check_ignored, encode, evaluate, ignored, plain, read_data, sensitive_paths, shown_id,
    stored_data, stored_value,
};
pub(crate) use meta::spoken_from;
pub(crate) use names::Names;
pub(crate) use nested::read_nested;
pub(crate) use place::{place_in, point_at_parts};
pub(crate) use progress::watched;
pub(crate) use provider::{ProviderVertex, visit_provider, written_providers};
pub(crate) use provisioner::check_provisioners;
pub(crate) use tenancy::Tenancy;
