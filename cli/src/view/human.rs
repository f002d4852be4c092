//! Human-readable views.

pub(crate) mod diagnostic;
pub(crate) mod diff;
pub(crate) mod drift;
pub(crate) mod import_report;
pub(crate) mod operation;
pub(crate) mod outputs;
pub(crate) mod plan;
pub(crate) mod test;
pub(crate) mod text_diff;
pub(crate) mod value;
pub(crate) mod wrap;
