//! Results that are computed from the whole graph of a plan.

use std::collections::BTreeSet;

use super::dependencies::DependencyClosures;
use super::excluded_from_destroy::ExcludedFromDestroy;
use super::forgotten_resources::ForgottenResources;
use super::replace_order::ReplaceOrders;
use crate::addr::ResourceAddr;
use crate::moved::Moves;

/// Results computed from the finished graph, before any visit.
pub(crate) struct GraphAnalysis<'m> {
    pub(crate) orders: ReplaceOrders,
    /// The same for the whole configuration, where the plan is limited to a part of it.
    pub(crate) unlimited_orders: Option<ReplaceOrders>,
    pub(crate) closures: DependencyClosures,
    /// Resources that are destroyed with a target, without being one.
    pub(crate) destroyed_dependents: BTreeSet<ResourceAddr>,
    /// Resources that are not changed because of an exclusion.
    pub(crate) excluded_from_destroy: ExcludedFromDestroy,
    /// Objects that have another address than before.
    pub(crate) moves: &'m Moves,
    /// Resources that are forgotten, not destroyed, when they leave the configuration.
    pub(crate) forgotten: ForgottenResources,
}
