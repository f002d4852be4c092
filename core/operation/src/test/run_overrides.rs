//! Overrides of test files for one run. `formwork_core::config::test_mocks` reads them, and
//! `formwork_core::provider` responds to calls with them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use formwork_core::addr::Target;
use formwork_core::config::Config;
use formwork_core::config::test_mocks::{Override, add_outer_overrides};
use formwork_core::provider::Mocks;
use formwork_value::{Diagnostic, Diagnostics, Str};
use time::OffsetDateTime;

use super::RunOfTestFile;
use crate::messages;

/// Adds the overrides of a run and of its file to the configuration and the mocks of the run.
pub(super) fn add_overrides(config: &mut Config, mocks: &mut Mocks, run: RunOfTestFile<'_>) {
    let mut overrides = run.run.overrides.clone();
    add_outer_overrides(&mut overrides, &run.test_file.overrides);
    config.module_overrides =
        overrides.extract_if(.., |candidate| is_module_override(candidate)).collect();
    mocks.overrides = overrides;
}

fn is_module_override(candidate: &Override) -> bool {
    matches!(candidate.target, Target::Module(_))
}

/// A seed for the generated values of a run. It differs in each execution.
pub(super) fn fresh_seed_for_generated_values(now: OffsetDateTime, run: &Str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (now.unix_timestamp_nanos(), run).hash(&mut hasher);
    hasher.finish()
}

/// Warns about overrides of objects that exist in none of the given configurations. Mock files are shared by
/// tests of different modules, so their overrides may match nothing.
pub(super) fn warn_of_unmatched_overrides(
    diags: &mut Diagnostics,
    configs: &[&Config],
    overrides: &[Override],
) {
    let is_unmatched = |candidate: &&Override| {
        !candidate.is_of_mock_file
            && !configs.iter().any(|config| config_has_target(config, &candidate.target))
    };
    for candidate in overrides.iter().filter(is_unmatched) {
        let detail = format!(
            "The override target {} does not exist within the configuration under test. This could indicate a typo in the target address or an unnecessary override.",
            candidate.target
        );
        let summary = messages::OVERRIDE_TARGET_DOES_NOT_EXIST;
        diags.warn(Diagnostic::warning(summary, detail).at(candidate.target_span));
    }
}

/// Whether a configuration has an object, ignoring instance keys.
fn config_has_target(config: &Config, target: &Target) -> bool {
    let (module, resource) = match target {
        Target::Module(module) => (module, None),
        Target::Resource(addr) => (&addr.module, Some(&addr.resource)),
        Target::Instance(addr) => (&addr.module, Some(&addr.resource)),
    };
    let path = module.path();
    let node = config.nodes.iter().find(|node| node.path == path);
    node.is_some_and(|node| {
        resource.is_none_or(|resource| node.module.resources.contains_key(resource))
    })
}
