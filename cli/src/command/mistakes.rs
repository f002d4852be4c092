//! Everything that is wrong with a configuration at once: names in it that lead nowhere, and what
//! shows when it is checked with the schemas of its providers.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use formwork_core::config::Config;
use formwork_core::eval::Results;
use formwork_core::plan::validate;
use formwork_core::provider::Pool;
use formwork_core::session::{Ground, Session};
use formwork_core::state::State;
use formwork_lang::syntax::heading_of;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use crate::workspace::Workspace;

/// Looks for mistakes in a configuration of which it is known what dangles. Any version of a provider
/// will do that is installed.
///
/// # Errors
/// When there are mistakes. All that can be found at once are reported.
pub(super) async fn find(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    config: &Config,
    dangling: Diagnostics,
) -> Result<(), Reported> {
    let blamed: BTreeSet<_> =
        dangling.iter().filter_map(|problem| block(&workspace.sources, problem)).collect();
    let required = config.requirements();
    // Providers are looked for as if all were well so far.
    let mut before = Diagnostics::new();
    let launcher = workspace.launcher_of_installed(&mut before, &required);
    let dangles = diags.append(dangling);
    let _ = diags.append(before);
    let launcher = launcher?;
    let pool = Pool::new(&launcher);
    let (state, results, stop) = (State::default(), Results::new(config), Cell::new(false));
    let world = workspace.world();
    let variables = BTreeMap::new();
    let provisioners = formwork_provisioners::all(&workspace.env.surroundings());
    let session = Session::new(Ground {
        config,
        sources: &workspace.sources,
        state: &state,
        pool: &pool,
        provisioners: &provisioners,
        results: &results,
        world: &world,
        variables: &variables,
        stop: &stop,
    });
    let mut found = Diagnostics::new();
    let result = validate(&session, &mut found).await;
    launcher.shutdown(diags).await;
    // A block that mentions something in vain cannot be evaluated, so what else is said about it says
    // little.
    for problem in found {
        let place = block(&workspace.sources, &problem);
        let is_told = place.is_none_or(|place| !blamed.contains(&place));
        if is_told || is_misspelt_dynamic(&workspace.sources, &problem) {
            let _ = diags.push(problem);
        }
    }
    dangles.and(result)
}

/// The block in which a problem is. Files in JSON have none; there the same place is what can be told.
fn block(sources: &Sources, problem: &Diagnostic) -> Option<(Span, Option<String>)> {
    let at = problem.subject?;
    let header = heading_of(sources, at);
    Some(header.map_or((at, None), |header| (Span { start: 0, end: 0, ..at }, Some(header))))
}

/// Whether a problem is about the type of block that a `dynamic` block stands for. That is likely the
/// reason why a name in it leads nowhere.
fn is_misspelt_dynamic(sources: &Sources, problem: &Diagnostic) -> bool {
    let before = problem
        .subject
        .and_then(|at| sources.text(at.source).get(..at.start as usize))
        .filter(|_| problem.summary == "Unsupported block type");
    before.is_some_and(|text| text.trim_end_matches('"').trim_end().ends_with("dynamic"))
}
