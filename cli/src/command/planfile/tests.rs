//! Tests of saved plans that are written and read in different environments.

use std::fs;
use std::path::{Path, PathBuf};

use formwork_core::plan::PlanMode;
use formwork_operation::saved_plan::METADATA_PART;

use super::*;
use crate::command::operation::PrepareOptions;
use crate::command_line::BackupPath;
use crate::data_dir::DataDir;
use crate::install::lockfile;
use crate::settings::Settings;
use crate::view::Screen;

const LOCK: &str = r#"
provider "registry.terraform.io/hashicorp/null" {
  version = "1.0.0"
  hashes  = ["h1:abc="]
}
"#;

fn workspace<'e>(env: &'e Env, root: &Path) -> Workspace<'e> {
    Workspace {
        env,
        root: root.to_owned(),
        config_dir: root.to_owned(),
        data: DataDir::at_path(root.join(".terraform")),
        sources: Default::default(),
        settings: Settings::default(),
        reattached: Default::default(),
        config_sources: Default::default(),
        encryption: None,
        started_stores: Default::default(),
    }
}

async fn prepared<'e>(env: &'e Env, root: &Path) -> PreparedConfig<'e> {
    let state_paths = StatePaths::default();
    let (sources, mode) = (&[], PlanMode::Normal);
    let preparing = PrepareOptions {
        sources,
        state_paths: &state_paths,
        needs_config: mode != PlanMode::Destroy,
        generate: false,
        ask: None,
        fills: None,
    };
    let mut diags = Diagnostics::new();
    let prepared = PreparedConfig::prepare(&mut diags, workspace(env, root), &preparing).await;
    prepared.unwrap_or_else(|_| panic!("{diags:?}"))
}

fn opened(env: &Env, root: &Path, path: &Path) -> (OpenedPlan, Config) {
    let mut diags = Diagnostics::new();
    let opened = open_plan(
        &mut diags,
        &mut workspace(env, root),
        PlanToOpen { path, sources: &[], generated: GeneratedConfigUse::Include },
    );
    opened.unwrap_or_else(|_| panic!("{diags:?}"))
}

fn made_for<'a>(file: &'a StateFile, state_paths: &'a StatePaths) -> PlanBaseState<'a> {
    PlanBaseState { file, state_paths, recovered: None }
}

fn summaries(diags: Diagnostics) -> Vec<String> {
    diags.into_iter().map(|diagnostic| diagnostic.summary).collect()
}

#[tokio::test]
async fn the_saved_configuration_is_the_parsed_one_even_if_files_change() {
    let (env, directory) = (Env::default(), tempfile::tempdir().unwrap());
    let root = directory.path();
    fs::create_dir(root.join("m")).unwrap();
    fs::write(root.join("main.tf"), "output \"reviewed\" {\n  value = 1\n}\n").unwrap();
    let prepared = prepared(&env, root).await;
    fs::write(root.join("main.tf"), "output \"edited\" {\n  value = 2\n}\n").unwrap();
    fs::write(root.join("more.tf"), "output \"added\" {\n  value = 3\n}\n").unwrap();

    let path = root.join("p");
    let state_paths = StatePaths::default();
    write_plan(&path, &prepared, made_for(&StateFile::new_empty(), &state_paths), &Plan::default())
        .await
        .unwrap();
    fs::remove_file(root.join("main.tf")).unwrap();

    let (_, config) = opened(&env, root, &path);
    assert_eq!(config.root.outputs.keys().collect::<Vec<_>>(), ["reviewed"]);
}

#[tokio::test]
async fn other_provider_versions_than_the_planned_ones_are_refused() {
    let (env, directory) = (Env::default(), tempfile::tempdir().unwrap());
    let (root, none) = (directory.path(), BTreeMap::new());
    fs::write(root.join("main.tf"), "output \"o\" {\n  value = 1\n}\n").unwrap();
    fs::write(root.join(lockfile::LOCK_FILE_NAME), LOCK).unwrap();
    let prepared = prepared(&env, root).await;
    // The plan does not use a lock file that is changed while the plan is created.
    fs::write(root.join(lockfile::LOCK_FILE_NAME), LOCK.replace("1.0.0", "1.1.0")).unwrap();
    let path = root.join("p");
    let state_paths = StatePaths::default();
    write_plan(&path, &prepared, made_for(&StateFile::new_empty(), &state_paths), &Plan::default())
        .await
        .unwrap();

    let (saved, _) = opened(&env, root, &path);
    let check = || {
        let mut diags = Diagnostics::new();
        let mut workspace = workspace(&env, root);
        assert!(workspace.make_launcher(&mut diags, &none).is_ok(), "{diags:?}");
        let _ = saved.check_provider_locks(&mut diags, &workspace);
        summaries(diags)
    };
    assert_eq!(check(), ["Inconsistent dependency lock file"]);
    fs::write(root.join(lockfile::LOCK_FILE_NAME), LOCK).unwrap();
    assert!(check().is_empty());
}

#[tokio::test]
async fn a_plan_applies_only_to_the_state_it_was_created_for() {
    let env = Env { workspace: Some("w1".into()), ..Env::default() };
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    fs::write(root.join("main.tf"), "output \"o\" {\n  value = terraform.workspace\n}\n").unwrap();
    let (path, prepared) = (root.join("p"), prepared(&env, root).await);
    let (first, two) = (Some(PathBuf::from("one")), Some(PathBuf::from("two")));
    let planned_paths =
        StatePaths { state: first.clone(), out: two.clone(), backup: BackupPath::Usual };
    let file = StateFile { serial: 3, ..StateFile::new_empty() };
    write_plan(&path, &prepared, made_for(&file, &planned_paths), &Plan::default()).await.unwrap();

    let (saved, _) = opened(&env, root, &path);
    let mut diags = Diagnostics::new();
    assert!(saved.plan.check_errors_and_workspace(&mut diags, "w1").is_ok());
    assert!(saved.plan.check_errors_and_workspace(&mut diags, "default").is_err());
    assert_eq!(summaries(diags), ["Saved plan is for another workspace"]);

    let state_paths = |state: Option<&str>, out: Option<&str>| {
        let (state, out) = (state.map(Into::into), out.map(Into::into));
        let state_paths = saved.state_paths(StatePaths { state, out, backup: BackupPath::Usual });
        (state_paths.state, state_paths.out)
    };
    assert_eq!(state_paths(None, None), (first.clone(), two));
    assert_eq!(state_paths(None, Some("three")), (first, Some("three".into())));
    assert_eq!(state_paths(Some("four"), None), (Some("four".into()), None));

    let check = |file: &StateFile| {
        let mut diags = Diagnostics::new();
        drop(opened(&env, root, &path).0.plan.plan_if_state_unchanged(&mut diags, file, None));
        summaries(diags)
    };
    assert!(check(&file).is_empty());
    assert_eq!(check(&StateFile { serial: 4, ..file.clone() }), ["Saved plan is stale"]);
    let newer_state = StateFile { serial: 3, ..StateFile::new_empty() };
    assert_eq!(check(&newer_state), ["Saved plan does not match the given state"]);
}

/// Plans with some values and applies with others. Returns the diagnostics and the value of the ephemeral
/// variable.
async fn planned_and_applied(
    planned: &[&str],
    applied: &[&str],
    env: &Env,
) -> (Vec<String>, String) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let text = "variable \"e\" {\n  ephemeral = true\n  default   = \"x\"\n}\nvariable \"n\" {\n  default = \"n\"\n}\n";
    fs::write(root.join("main.tf"), text).unwrap();
    let sources = |values: &[&str]| -> Vec<VariableSource> {
        values.iter().map(|value| VariableSource::Value((*value).to_owned())).collect()
    };
    let (state_paths, none) = (StatePaths::default(), Env::default());
    let planned = sources(planned);
    let preparing = PrepareOptions {
        sources: &planned,
        state_paths: &state_paths,
        needs_config: true,
        generate: false,
        ask: None,
        fills: None,
    };
    let mut diags = Diagnostics::new();
    let Ok(prepared) =
        PreparedConfig::prepare(&mut diags, workspace(&none, root), &preparing).await
    else {
        panic!("{diags:?}");
    };
    let mut plan = Plan::default();
    let values = prepared.variables.iter().map(|(name, input)| (name.clone(), input.value.clone()));
    plan.variables = values.collect();
    let path = root.join("p");
    write_plan(&path, &prepared, made_for(&StateFile::new_empty(), &state_paths), &plan)
        .await
        .unwrap();

    drop(opened(env, root, &path));
    let mut diags = Diagnostics::new();
    let sources = sources(applied);
    let to_apply = SavedPlanToApply { path: &path, sources: &sources, allow_foreign: true };
    let report = OperationReport::new(Screen::of(env), false, false);
    let result = read_plan(&mut diags, &mut workspace(env, root), to_apply, &report);
    let result = result.map(|(_, _, result)| result);
    let e = result.map(|mut result| format!("{:?}", result.remove("e").unwrap().raw));
    (summaries(diags), e.unwrap_or_default())
}

#[tokio::test]
async fn an_ephemeral_variable_is_required_again_only_if_it_was_set_for_the_plan() {
    let env = Env::default();
    let text = |text: &str| format!("{:?}", formwork_value::Value::string(text));
    let missing = "No value for required variable";
    let unexpected = "Ephemeral variable was not set during planning";
    for (planned, applied, expected) in [
        (&["e=v"][..], &[][..], Err(missing)),
        (&["e=v"], &["e=w"], Ok(text("w"))),
        (&[], &[], Ok(text("x"))),
        (&[], &["e=w"], Err(unexpected)),
    ] {
        let (summaries, value) = planned_and_applied(planned, applied, &env).await;
        match expected {
            Ok(expected) => assert_eq!((summaries, value), (Vec::new(), expected)),
            Err(summary) => assert_eq!(summaries, [summary]),
        }
    }
}

#[tokio::test]
async fn planned_variable_values_can_be_repeated_but_not_changed() {
    let with = |value: &str| Env {
        variables: vec![("n".to_owned(), value.to_owned())].into_iter().collect(),
        ..Env::default()
    };
    let fixed = "Can't change variable when applying a saved plan";
    let ignored = "Ignoring variable when applying a saved plan";
    for (applied, env, expected) in [
        (&["n=1"][..], Env::default(), &[][..]),
        (&["n=2"], Env::default(), &[fixed]),
        (&[], with("1"), &[]),
        (&[], with("2"), &[ignored]),
    ] {
        let (summaries, _) = planned_and_applied(&["n=1"], applied, &env).await;
        assert_eq!(summaries, expected);
    }
}

#[tokio::test]
async fn a_modified_plan_is_refused_even_if_foreign_plans_are_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let env = Env { plan_key_file: Some(root.join("plan-key")), ..Env::default() };
    fs::write(root.join("main.tf"), "output \"o\" {\n  value = 1\n}\n").unwrap();
    let path = root.join("p");
    let prepared = prepared(&env, root).await;
    let state_paths = StatePaths::default();
    write_plan(&path, &prepared, made_for(&StateFile::new_empty(), &state_paths), &Plan::default())
        .await
        .unwrap();
    let summaries_of = |env: &Env, allow_foreign| {
        let (mut diags, sources) = (Diagnostics::new(), []);
        let to_apply = SavedPlanToApply { path: &path, sources: &sources, allow_foreign };
        let report = OperationReport::new(Screen::of(env), false, false);
        drop(read_plan(&mut diags, &mut workspace(env, root), to_apply, &report));
        summaries(diags)
    };
    assert!(summaries_of(&env, false).is_empty());
    let mut parts = plan_file::read_plan_file(&path).unwrap();
    let metadata = String::from_utf8(parts[METADATA_PART].clone()).unwrap();
    let metadata = metadata.replace("\"state\":null", "\"state\":\"elsewhere\"");
    assert!(metadata.contains("elsewhere"));
    parts.insert(METADATA_PART.to_owned(), metadata.into_bytes());
    let parts: Vec<_> = parts.iter().map(|(name, it)| (name.as_str(), it.as_slice())).collect();
    plan_file::write_plan_file(&path, &parts).unwrap();
    for allow_foreign in [false, true] {
        assert_eq!(summaries_of(&env, allow_foreign), ["Saved plan was changed"]);
    }
    let other_key_env = Env { plan_key: Some("another".to_owned()), ..Env::default() };
    assert_eq!(summaries_of(&other_key_env, false), ["Saved plan was made elsewhere"]);
    assert!(summaries_of(&other_key_env, true).is_empty());
}
