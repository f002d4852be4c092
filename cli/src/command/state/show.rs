//! `formwork state show`: shows one instance in the state.

use std::path::PathBuf;
use std::sync::Arc;

use formwork_core::addr::{DeposedKey, InstanceAddr, Mode, ProviderAddr};
use formwork_core::provider::Pool;
use formwork_core::state::{Object, Status};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::encryption;
use super::super::operation::providers_of;
use super::super::text_command::run_text_command;
use super::log::object_at;
use super::{bad_address, present};
use crate::args::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::human::diff::Differ;
use crate::view::json::state::decode;
use crate::view::{Screen, sanitize};
use crate::workspace::Workspace;

/// Show one instance in the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example("aws_instance.web", "Show the attributes of an instance."))]
pub(crate) struct StateShowArgs {
    /// The instance.
    pub(crate) address: String,
    /// Show the instance as it was: after the write with this serial, or at this time (RFC 3339).
    #[arg(long, value_name = "SERIAL|TIME")]
    pub(crate) at: Option<String>,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Runs the command.
pub(super) async fn run(args: &StateShowArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    run_text_command(env, async |diags, workspace| text(diags, args, workspace, &screen).await)
        .await
}

async fn text(
    diags: &mut Diagnostics,
    args: &StateShowArgs,
    workspace: &mut Workspace<'_>,
    screen: &Screen,
) -> Result<String, Reported> {
    let addr: InstanceAddr =
        args.address.parse().map_err(|error| bad_address(diags, &args.address, &error))?;
    let (provider, object) = match &args.at {
        Some(at) => {
            let entry = object_at(diags, workspace, &addr, at).await?;
            (entry.provider.provider, entry.object)
        }
        None => stored(diags, args, workspace, &addr).await?,
    };
    let launcher = providers_of(diags, workspace, [&provider].into_iter())?;
    let pool = Pool::new(&launcher);
    let loaded = pool.load(diags, [provider.clone()]).await;
    pool.tell(diags);
    let text = match loaded {
        Ok(()) => {
            let object =
                ProvidedObject { provider: &provider, addr: &addr, deposed: None, object: &object };
            one(diags, &pool, object, screen)
        }
        Err(reported) => Err(reported),
    };
    launcher.shutdown(diags).await;
    text
}

/// The object in the state, with its provider.
async fn stored(
    diags: &mut Diagnostics,
    args: &StateShowArgs,
    workspace: &mut Workspace<'_>,
    addr: &InstanceAddr,
) -> Result<(ProviderAddr, Arc<Object>), Reported> {
    encryption::warn_of_sealed_values(diags, workspace)?;
    let state =
        present(diags, workspace, &StatePaths::from_state_path(args.state.as_ref())).await?;
    if let (Some(held), Some(object)) = (state.resources.get(&addr.of()), state.current(addr)) {
        return Ok((held.provider.provider.clone(), object.clone()));
    }
    let detail = format!(
        "There is none at {addr}. This command requires that the address references one specific instance. To view the available instances, use \"formwork state list\". Please modify the address to reference a specific instance."
    );
    Err(diags.error(Diagnostic::error(messages::NO_INSTANCE_FOUND, detail)))
}

/// An object of a state, with its provider.
#[derive(Clone, Copy)]
pub(in crate::command) struct ProvidedObject<'a> {
    pub(in crate::command) provider: &'a ProviderAddr,
    pub(in crate::command) addr: &'a InstanceAddr,
    pub(in crate::command) deposed: Option<&'a DeposedKey>,
    pub(in crate::command) object: &'a Object,
}

/// One object, as a block of configuration.
pub(in crate::command) fn one(
    diags: &mut Diagnostics,
    pool: &Pool<'_>,
    shown: ProvidedObject<'_>,
    screen: &Screen,
) -> Result<String, Reported> {
    let ProvidedObject { provider, addr, deposed, object } = shown;
    let value = decode(diags, pool, provider, addr, object)?;
    let name = &addr.resource;
    let ty = pool.loaded(provider).and_then(|loaded| loaded.find(name.mode(), name.kind()));
    let kind = if name.mode() == Mode::Data { "data" } else { "resource" };
    let tainted = if object.status == Status::Tainted { " (tainted)" } else { "" };
    let deposed = deposed
        .map_or_else(String::new, |key| format!(" (deposed object {})", sanitize::line(&key.0)));
    let mut text = format!(
        "# {addr}:{tainted}{deposed}\n{kind} {:?} {:?} ",
        name.kind().as_str(),
        name.name().as_str()
    );
    match ty {
        Some(ty) => {
            let differ = Differ { screen, signs: false, keeps: true, forces: &[] };
            text.push_str(&differ.object(ty.block(), &value, &value, 0));
        }
        None => text.push_str("{\n}"),
    }
    text.push('\n');
    Ok(text)
}
