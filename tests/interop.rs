//! The same work done by Terraform and by Formwork, and the results held against each other.
//! Terraform is the oracle; no expected results are stored here.

mod broken;
mod calls;
mod case;
mod compare;
mod concurrent_commands;
mod console;
pub(crate) mod engine;
mod expressions;
mod functions;
mod imports_and_lists;
mod labels;
mod layout;
pub(crate) mod life;
mod mistakes;
mod row;
mod sources;
mod state_commands;
mod terraform_loads_ours;
mod terraform_modules;
mod terraform_plans;
mod terraform_state;
mod test_modules;
mod test_runs;
mod verdicts;
