//! Reports all errors of a configuration together: unresolved references, and errors found by checking it
//! against the provider schemas.

use std::cell::Cell;
use std::collections::BTreeMap;

use formwork_core::addr::{InstanceAddr, ModulePath, ProviderConfigAddr};
use formwork_core::config::{Config, Resource};
use formwork_core::eval::Results;
use formwork_core::moved;
use formwork_core::plan::validate_config;
use formwork_core::provider::ProviderPool;
use formwork_core::session::{Session, SessionInputs};
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::workspace::Workspace;

/// Errors and context of an invalid configuration.
pub(super) struct ConfigErrorContext<'a> {
    /// Unresolved references.
    pub(super) dangling: Diagnostics,
    /// Import target, whose block may still be empty.
    pub(super) fills: Option<&'a InstanceAddr>,
}

/// Checks a configuration whose unresolved references are known. Any installed version of a provider is used.
///
/// # Errors
/// Returns an error if the configuration has errors. All errors that can be found in one pass are reported.
pub(super) async fn report_config_errors(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    config: &Config,
    context: ConfigErrorContext<'_>,
) -> Result<(), Reported> {
    let ConfigErrorContext { dangling, fills } = context;
    let launcher = workspace.launcher_of_installed(diags, &config.provider_requirements())?;
    let pool = ProviderPool::new(&launcher);
    let (state, results, stop) = (State::default(), Results::new(config), Cell::new(false));
    let host_values = workspace.host_values();
    let variables = BTreeMap::new();
    let provisioners =
        formwork_provisioners::provisioners(&workspace.env.provisioner_environment());
    let session = Session::new(SessionInputs {
        config,
        sources: &workspace.sources,
        state: &state,
        pool: &pool,
        provisioners: &provisioners,
        results: &results,
        world: &host_values,
        variables: &variables,
        stop: &stop,
    });
    let mut config_diags = Diagnostics::new();
    let result = validate_config(&session, &mut config_diags).await;
    launcher.shutdown(diags).await;
    let unfilled = fills.and_then(|addr| block_of_imported_object(config, addr));
    for problem in config_diags {
        if !unfilled.is_some_and(|unfilled| is_missing_content(unfilled, &problem)) {
            let _ = diags.push(problem);
        }
    }
    result?;
    // Terraform reports the other errors only during planning.
    diags.append(dangling)
}

/// The resource block of an import target, by its previous or current address.
fn block_of_imported_object<'c>(config: &'c Config, addr: &InstanceAddr) -> Option<&'c Resource> {
    config.find_resource(&addr.resource_addr().config_addr()).or_else(|| {
        // The destination does not depend on the provider.
        let (_, any) = config.all_resources().next()?;
        let (module, provider) = (ModulePath::root(), any.provider.clone());
        let provider = ProviderConfigAddr { module, provider, alias: None };
        config.find_resource(
            &moved::current_address(config, addr, &provider).resource_addr().config_addr(),
        )
    })
}

/// Whether a diagnostic reports missing content of a block.
fn is_missing_content(block: &Resource, problem: &Diagnostic) -> bool {
    let is_empty = block.body.is_empty();
    problem.subject.is_some_and(|span| span == block.body.missing || is_empty && span == block.span)
}
