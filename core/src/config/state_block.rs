//! Blocks that specify the location of the state: `backend`, `cloud` and `state_store`. At most one per module.

use formwork_lang::syntax::Block;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Span};

use super::StateBackendBlock;
use super::arguments::format_span;
use crate::messages;

/// A type of block that specifies the location of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateBlockKind {
    Backend,
    Cloud,
    StateStore,
}

/// A block that specifies the location of the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateBlock {
    pub(super) kind: StateBlockKind,
    header: Span,
}

impl StateBlock {
    /// Whether a block of this type specifies the location of the state.
    pub(super) fn is_state_block(block: &Block) -> bool {
        matches!(block.kind.name.as_str(), "backend" | "cloud" | "state_store")
    }

    pub(super) fn from_block(block: &Block) -> Self {
        let kind = match block.kind.name.as_str() {
            "cloud" => StateBlockKind::Cloud,
            "state_store" => StateBlockKind::StateStore,
            _ => StateBlockKind::Backend,
        };
        Self { kind, header: block.header }
    }

    pub(super) fn from_backend(backend: &StateBackendBlock) -> Self {
        let kind = match &backend.provider {
            Some(_) => StateBlockKind::StateStore,
            None if backend.is_cloud() => StateBlockKind::Cloud,
            None => StateBlockKind::Backend,
        };
        Self { kind, header: backend.span }
    }
}

/// The error for a second block that specifies the location of the state.
pub(super) fn duplicate_state_block_error(
    sources: &Sources,
    first: StateBlock,
    second: StateBlock,
) -> Diagnostic {
    use StateBlockKind as Kind;
    let before = format_span(sources, first.header);
    let (summary, detail) = match (first.kind, second.kind) {
        (Kind::StateStore, Kind::StateStore) => (
            messages::DUPLICATE_STATE_STORE_BLOCK,
            format!(
                "A module may have only one 'state_store' configuration block. The state store was previously configured at {before}."
            ),
        ),
        (Kind::StateStore, Kind::Backend) | (Kind::Backend, Kind::StateStore) => (
            messages::STATE_STORE_AND_BACKEND_BLOCKS,
            "A module may declare either one 'state_store' block or one 'backend' block for its state. Remove one of the two.".to_owned(),
        ),
        (Kind::StateStore, Kind::Cloud) | (Kind::Cloud, Kind::StateStore) => (
            messages::STATE_STORE_AND_CLOUD_BLOCKS,
            "A module may declare either one 'cloud' block or one 'state_store' block for its state. Remove one of the two.".to_owned(),
        ),
        (Kind::Backend, Kind::Backend) => (
            messages::DUPLICATE_BACKEND_CONFIGURATION,
            format!(
                "A module may have only one backend configuration. The backend was previously configured at {before}."
            ),
        ),
        (Kind::Cloud, Kind::Cloud) => (
            messages::DUPLICATE_HCP_TERRAFORM_CONFIGURATIONS,
            format!(
                "A module may have only one 'cloud' block configuring HCP Terraform or Terraform Enterprise. The 'cloud' block was previously configured at {before}."
            ),
        ),
        (Kind::Cloud, Kind::Backend) | (Kind::Backend, Kind::Cloud) => (
            messages::BACKEND_AND_CLOUD_CONFIGURATION,
            "A module may declare either one 'cloud' block or one 'backend' block configuring a state backend. Remove one of the two.".to_owned(),
        ),
    };
    // The backend is reported, whatever the order of the files.
    let is_backend = first.kind == Kind::Backend && second.kind != Kind::Backend;
    let too_many = if is_backend { first } else { second };
    Diagnostic::error(summary, detail).at(too_many.header)
}
