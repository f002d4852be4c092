//! Ties the language's names to known values: results recorded so far, and the world outside.
//!
//! Visits read a [`Results`] through a [`ModuleScope`]. The record step writes into it, each cell
//! once. The order of evaluation is not decided here.

pub mod call;
pub mod conditions;
pub mod constants;
pub mod expand;
pub mod functions;
pub mod import;
mod promises;
pub mod references;
pub mod results;
pub mod scope;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod verdicts;
pub mod vertex;
pub mod world;

pub use expand::{Expansion, RepetitionData};
pub use functions::ProviderFunctions;
pub use promises::FunctionResultHashes;
pub use results::{ModuleResults, ResourceResults, Results};
pub use scope::{DestroyedScope, ModuleScope};
pub use world::HostValues;
