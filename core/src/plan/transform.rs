//! The steps that build the plan graph, one per file.

pub(super) mod add_orphans;
pub(super) mod add_providers;
pub(super) mod add_resources;
pub(super) mod connect_references;
pub(super) mod prune_excluded;
pub(super) mod prune_for_destroy;
pub(super) mod prune_targets;
pub(super) mod read_ahead;
