//! Ties the language's names to known values: results recorded so far, and the world outside.
//!
//! Visits read a [`Results`] through a [`ModuleScope`]. The record step writes into it, each cell
//! once. The order of evaluation is not decided here.

pub mod check_references;
pub mod condition_results;
pub mod conditions;
pub mod encryption;
pub mod expand;
mod function_hashes;
pub mod host_values;
pub mod import;
pub mod known_constants;
pub mod module_call;
pub mod provider_functions;
pub mod results;
pub mod scope;
pub mod static_scope;
pub mod test_scope;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod vertex;

pub use expand::{Expansion, RepetitionData};
pub use function_hashes::FunctionResultHashes;
pub use host_values::HostValues;
pub use provider_functions::ProviderFunctions;
pub use results::{ModuleResults, ResourceResults, Results};
pub use scope::{DestroyedObjectScope, ModuleScope};
pub use test_scope::{TestLevel, TestScope, TestValues};
