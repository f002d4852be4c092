//! `formwork validate`: checks the configuration, with the schemas of its providers.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use formwork_core::eval::{Results, World};
use formwork_core::plan::validate;
use formwork_core::provider::Pool;
use formwork_core::session::{Ground, Session};
use formwork_core::state::State;
use formwork_lang::syntax::heading_of;
use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use crate::args::ValidateArgs;
use crate::clock;
use crate::env::{self, Env};
use crate::exit::Exit;
use crate::view::json::diagnostic;
use crate::view::json::tree::Json;
use crate::view::{Paint, Screen, out, report::Report};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &ValidateArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = Report::new(screen, false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let workspace = Workspace::open(env, &mut diags);
    let Ok(mut workspace) = workspace else {
        if args.json {
            out(&format!("{}\n", document(&Sources::new(), &diags).pretty()));
            return Exit::Failed;
        }
        return report.failed(None, &diags);
    };
    if workspace.has_config() {
        // Everything there is to know is in `diags`.
        let _ = check(&mut diags, &mut workspace).await;
    }
    if args.json {
        out(&format!("{}\n", document(&workspace.sources, &diags).pretty()));
    } else {
        report.diagnostics(&workspace.sources, &diags);
        if !diags.has_errors() {
            let success = screen.paint(Paint::BoldGreen, "Success!");
            let but = if diags.is_empty() {
                ""
            } else {
                ", but there were some validation warnings as shown above"
            };
            out(&format!("{success} The configuration is valid{but}.\n\n"));
        }
    }
    if diags.has_errors() { Exit::Failed } else { Exit::Done }
}

async fn check(diags: &mut Diagnostics, workspace: &mut Workspace<'_>) -> Result<(), Reported> {
    let (config, dangling) = workspace.config_dangling(diags)?;
    // Files in JSON have no blocks; there the same place is what can be told.
    let block = |sources: &Sources, problem: &Diagnostic| {
        let at = problem.subject?;
        Some(
            heading_of(sources, at)
                .map_or((at, None), |header| (Span { start: 0, end: 0, ..at }, Some(header))),
        )
    };
    let blamed: BTreeSet<_> =
        dangling.iter().filter_map(|problem| block(&workspace.sources, problem)).collect();
    let required = config.requirements();
    // Providers are looked for as if all were well so far.
    let mut before = Diagnostics::new();
    let launcher = workspace.launcher_of_installed(&mut before, &required);
    let dangles = diags.append(dangling);
    let _ = diags.append(before);
    let launcher = launcher?;
    workspace.warn_of_overrides(diags, &required);
    let pool = Pool::new(&launcher);
    let (state, results, stop) = (State::default(), Results::new(&config), Cell::new(false));
    let world = World {
        cwd: workspace.env.cwd.as_str().into(),
        folder: env::folder().into(),
        root: ".".into(),
        home: workspace.env.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
        workspace: workspace.name().as_str().into(),
        applying: false,
        plan_time: None,
        clock: clock::now,
    };
    let variables = BTreeMap::new();
    let provisioners = formwork_provisioners::all(&workspace.env.surroundings());
    let session = Session::new(Ground {
        config: &config,
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

/// Whether a problem is about the type of block that a `dynamic` block stands for. That is likely the
/// reason why a name in it leads nowhere.
fn is_misspelt_dynamic(sources: &Sources, problem: &Diagnostic) -> bool {
    let before = problem
        .subject
        .and_then(|at| sources.text(at.source).get(..at.start as usize))
        .filter(|_| problem.summary == "Unsupported block type");
    before.is_some_and(|text| text.trim_end_matches('"').trim_end().ends_with("dynamic"))
}

fn document(sources: &Sources, diags: &Diagnostics) -> Json {
    let count = |wanted: Severity| {
        let n = diags.iter().filter(|diagnostic| diagnostic.severity == wanted).count();
        Json::Int(i64::try_from(n).unwrap_or(i64::MAX))
    };
    let list = diags.iter().map(|d| diagnostic::one(sources, d));
    Json::object([
        ("format_version", Json::text("1.0")),
        ("valid", Json::Bool(!diags.has_errors())),
        ("error_count", count(Severity::Error)),
        ("warning_count", count(Severity::Warning)),
        ("diagnostics", Json::Array(list.collect())),
    ])
}
