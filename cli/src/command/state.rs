//! `formwork state list` and `formwork state show`.

use formwork_core::addr::{InstanceAddr, Target};
use formwork_core::provider::Pool;
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Type, Value};

use super::output::stored;
use super::show::providers_of;
use crate::args::{StateListArgs, StatePlace, StateShowArgs};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::human::diff::Differ;
use crate::view::json::state::decode;
use crate::view::{Screen, out, report::Report};
use crate::workspace::Workspace;

/// Lists the instances.
pub(super) async fn list(args: &StateListArgs, env: &Env) -> Exit {
    let report = Report::new(Screen::of(env, false), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    let result = list_text(&mut diags, args, &mut workspace).await;
    report.diagnostics(&workspace.sources, &diags);
    match result {
        Ok(text) => {
            out(&text);
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

async fn list_text(
    diags: &mut Diagnostics,
    args: &StateListArgs,
    workspace: &mut Workspace<'_>,
) -> Result<String, Reported> {
    let mut targets: Vec<Target> = Vec::new();
    for text in &args.addresses {
        targets.push(text.parse().map_err(|error| bad_address(diags, text, &error))?);
    }
    let state = stored(diags, workspace, &StatePlace::of(args.state.as_ref())).await?;
    if state.is_empty() {
        return Err(diags.error(Diagnostic::error(
            "No state file was found!",
            "State management commands require a state file. Run this command in a directory where Formwork has been run or use the -state flag to point the command to a specific state location.",
        )));
    }
    let mut text = String::new();
    for (resource, held) in &state.resources {
        for (key, instance) in &held.instances {
            let addr = resource.instance(key.clone());
            let wanted = targets.is_empty() || targets.iter().any(|target| target.contains(&addr));
            let same_id = args.id.as_ref().is_none_or(|id| {
                let object = instance.current.as_ref();
                object.is_some_and(|object| id_of(&object.attributes).as_ref() == Some(id))
            });
            if wanted && same_id && instance.current.is_some() {
                text.push_str(&format!("{addr}\n"));
            }
        }
    }
    Ok(text)
}

/// The `id` of a stored object, read without its schema.
fn id_of(attributes: &[u8]) -> Option<String> {
    let object: serde_json::Value = serde_json::from_slice(attributes).ok()?;
    object.get("id")?.as_str().map(str::to_owned)
}

fn bad_address(diags: &mut Diagnostics, text: &str, error: &dyn std::fmt::Display) -> Reported {
    let detail = format!("{text:?} is not an address: {error}");
    diags.error(Diagnostic::error("Error parsing instance address", detail))
}

/// Shows one instance.
pub(super) async fn show(args: &StateShowArgs, env: &Env) -> Exit {
    let screen = Screen::of(env, args.view.no_color);
    let report = Report::new(screen, false, args.view.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    let result = show_text(&mut diags, args, &mut workspace, &screen).await;
    report.diagnostics(&workspace.sources, &diags);
    match result {
        Ok(text) => {
            out(&text);
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

async fn show_text(
    diags: &mut Diagnostics,
    args: &StateShowArgs,
    workspace: &mut Workspace<'_>,
    screen: &Screen,
) -> Result<String, Reported> {
    let addr: InstanceAddr =
        args.address.parse().map_err(|error| bad_address(diags, &args.address, &error))?;
    let state = stored(diags, workspace, &StatePlace::of(args.state.as_ref())).await?;
    let held = state.resources.get(&addr.of());
    let object = state.current(&addr);
    let (Some(held), Some(object)) = (held, object) else {
        let detail = format!(
            "No instance found for the given address {addr}. This command requires that the address references one specific instance. To view the available instances, use \"formwork state list\"."
        );
        return Err(
            diags.error(Diagnostic::error("No instance found for the given address!", detail))
        );
    };
    let launcher = providers_of(diags, workspace, [&held.provider.provider].into_iter())?;
    let pool = Pool::new(&launcher);
    let loaded = pool.load(diags, [held.provider.provider.clone()]).await;
    let text = match loaded {
        Ok(()) => one(diags, &pool, &held.provider.provider, (&addr, object), screen),
        Err(reported) => Err(reported),
    };
    launcher.shutdown().await;
    text
}

/// One object, as a block of configuration.
pub(super) fn one(
    diags: &mut Diagnostics,
    pool: &Pool<'_>,
    provider: &formwork_core::addr::ProviderAddr,
    (addr, object): (&InstanceAddr, &formwork_core::state::Object),
    screen: &Screen,
) -> Result<String, Reported> {
    let value = decode(diags, pool, provider, addr, object)?;
    let name = &addr.resource;
    let ty = pool.loaded(provider).and_then(|loaded| loaded.find(name.mode(), name.kind()));
    let kind = if name.mode() == formwork_core::addr::Mode::Data { "data" } else { "resource" };
    let tainted =
        if object.status == formwork_core::state::Status::Tainted { " (tainted)" } else { "" };
    let mut text = format!(
        "# {addr}:{tainted}\n{kind} {:?} {:?} {{\n",
        name.kind().as_str(),
        name.name().as_str()
    );
    if let Some(ty) = ty {
        let null = Value::null(Type::Dynamic);
        let differ = Differ { screen, signs: false, forces: &[] };
        text.push_str(&differ.body(ty.block(), (&null, &value), &Path::root(), 2));
    }
    text.push_str("}\n");
    Ok(text)
}
