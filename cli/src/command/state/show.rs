//! `formwork state show`: shows one instance in the state.

use std::path::PathBuf;
use std::sync::Arc;

use formwork_core::addr::{DeposedKey, InstanceAddr, ProviderAddr, ResourceMode};
use formwork_core::provider::ProviderPool;
use formwork_core::state::{ObjectState, ObjectStatus};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::encryption;
use super::super::operation::launcher_for_providers;
use super::super::text_command::run_text_command;
use super::log::{PartAtWrite, part_at_write};
use super::{read_existing_state, report_bad_address};
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::human::diff::DiffRenderer;
use crate::view::json::state::decode_object;
use crate::view::{Screen, sanitize};
use crate::workspace::Workspace;

/// Show one instance in the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example("aws_instance.web", "Show the attributes of an instance."))]
pub(crate) struct StateShowArgs {
    /// Address of the instance.
    pub(crate) address: String,
    /// Show the instance as it was after the write with this serial, or at this time (RFC 3339).
    #[arg(long, value_name = "SERIAL|TIME")]
    pub(crate) at: Option<String>,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Runs the command.
pub(super) async fn run(args: &StateShowArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    run_text_command(env, async |diags, workspace| {
        object_text(diags, args, workspace, &screen).await
    })
    .await
}

async fn object_text(
    diags: &mut Diagnostics,
    args: &StateShowArgs,
    workspace: &mut Workspace<'_>,
    screen: &Screen,
) -> Result<String, Reported> {
    let addr: InstanceAddr =
        args.address.parse().map_err(|error| report_bad_address(diags, &args.address, &error))?;
    let (provider, object) = match &args.at {
        Some(at) => match part_at_write(diags, workspace, &addr, at).await? {
            PartAtWrite::Output(line) => return Ok(line),
            PartAtWrite::Object(entry) => (entry.provider.provider, entry.object),
        },
        None => stored_object(diags, args, workspace, &addr).await?,
    };
    let launcher = launcher_for_providers(diags, workspace, [&provider].into_iter())?;
    let pool = ProviderPool::new(&launcher);
    let loaded = pool.load_providers(diags, [provider.clone()]).await;
    pool.report_warnings(diags);
    let text = match loaded {
        Ok(()) => {
            let object =
                ProvidedObject { provider: &provider, addr: &addr, deposed: None, object: &object };
            render_object(diags, &pool, object, screen)
        }
        Err(reported) => Err(reported),
    };
    launcher.shutdown(diags).await;
    text
}

/// The object in the state, with its provider.
async fn stored_object(
    diags: &mut Diagnostics,
    args: &StateShowArgs,
    workspace: &mut Workspace<'_>,
    addr: &InstanceAddr,
) -> Result<(ProviderAddr, Arc<ObjectState>), Reported> {
    encryption::set_up_encryption_warn_sealed(diags, workspace)?;
    let state =
        read_existing_state(diags, workspace, &StatePaths::from_state_path(args.state.as_ref()))
            .await?;
    if let (Some(resource), Some(object)) =
        (state.resources.get(&addr.resource_addr()), state.current_object(addr))
    {
        return Ok((resource.provider.provider.clone(), object.clone()));
    }
    let detail = format!(
        "The state does not contain {addr}. This command requires that the address references one specific instance. To view the available instances, use \"formwork state list\". Please modify the address to reference a specific instance."
    );
    Err(diags.error(Diagnostic::error(messages::NO_INSTANCE_FOUND, detail)))
}

/// An object of a state, with its provider.
#[derive(Clone, Copy)]
pub(in crate::command) struct ProvidedObject<'a> {
    pub(in crate::command) provider: &'a ProviderAddr,
    pub(in crate::command) addr: &'a InstanceAddr,
    pub(in crate::command) deposed: Option<&'a DeposedKey>,
    pub(in crate::command) object: &'a ObjectState,
}

/// Renders an object as a configuration block.
pub(in crate::command) fn render_object(
    diags: &mut Diagnostics,
    pool: &ProviderPool<'_>,
    provided: ProvidedObject<'_>,
    screen: &Screen,
) -> Result<String, Reported> {
    let ProvidedObject { provider, addr, deposed, object } = provided;
    let value = decode_object(diags, pool, provider, addr, object)?;
    let name = &addr.resource;
    let ty = pool
        .loaded_provider(provider)
        .and_then(|loaded| loaded.find_resource_type(name.mode(), name.resource_type()));
    let kind = if name.mode() == ResourceMode::Data { "data" } else { "resource" };
    let tainted = if object.status == ObjectStatus::Tainted { " (tainted)" } else { "" };
    let deposed = deposed.map_or_else(String::new, |key| {
        format!(" (deposed object {})", sanitize::sanitize_line(&key.0))
    });
    let mut text = format!(
        "# {addr}:{tainted}{deposed}\n{kind} {:?} {:?} ",
        name.resource_type().as_str(),
        name.name().as_str()
    );
    match ty {
        Some(ty) => {
            let differ = DiffRenderer { screen, signs: false, keeps: true, forces: &[] };
            text.push_str(&differ.render_object(ty.schema_block(), &value, &value, 0));
        }
        None => text.push_str("{\n}"),
    }
    text.push('\n');
    Ok(text)
}
