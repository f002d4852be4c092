//! `formwork state log`: lists the writes of the state, if its backend keeps a history.

use formwork_backend::history::{HistoryPoint, HistoryWrite, ObjectChange, StoredObject};
use formwork_backend::{OpenState, StoreError};
use formwork_core::addr::InstanceAddr;
use formwork_core::state::file::{self, ObjectEntry};
use formwork_core::state::operator::operation_display_name;
use formwork_lang::print_value::print_value;
use formwork_value::codec::json as typed_json;
use formwork_value::{Diagnostic, Diagnostics, Reported};
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::encryption;
use super::super::text_command::{run_data_command, run_text_command};
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::sanitize;
use crate::workspace::Workspace;

/// List the writes of the state, with the objects that each write changed.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-limit=5",
    "List the last five writes of the state, with their users."
))]
pub(crate) struct StateLogArgs {
    /// Print JSON, one line per write.
    #[arg(long)]
    pub(crate) json: bool,
    /// Number of writes to list, starting with the latest.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
}

/// Runs the command.
pub(super) async fn run(args: &StateLogArgs, env: &Env) -> Exit {
    if args.json {
        return run_data_command(env, async |diags, workspace| {
            let writes = latest_writes(diags, workspace, args.limit).await?;
            Ok(writes.iter().map(|write| format!("{}\n", history_write_to_json(write))).collect())
        })
        .await;
    }
    run_text_command(env, async |diags, workspace| {
        let writes = latest_writes(diags, workspace, args.limit).await?;
        Ok(writes.iter().map(history_write_to_text).collect())
    })
    .await
}

/// The state of the selected workspace.
async fn open_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<OpenState, Reported> {
    let backend = encryption::read_backend_and_encryption(diags, workspace)?;
    workspace.open_state(diags, backend.as_ref(), &StatePaths::default()).await
}

/// The latest writes of the state.
async fn latest_writes(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    limit: u32,
) -> Result<Vec<HistoryWrite>, Reported> {
    let mut state = open_state(diags, workspace).await?;
    let read = state.store.history(limit).await;
    let read = read.map_err(|error| diags.error(error.diagnostic()))?;
    read.ok_or_else(|| report_no_history(diags))
}

fn report_no_history(diags: &mut Diagnostics) -> Reported {
    diags.error(Diagnostic::error(
        messages::NO_HISTORY_STATE,
        "The backend of this configuration keeps only the latest state, or the state is encrypted as a whole. The backend \"pg\" keeps a history of states that are not encrypted, or that use the method \"sealed\".",
    ))
}

fn history_write_to_text(write: &HistoryWrite) -> String {
    let HistoryWrite { serial, at: written_at, who: holder, operation, run, changes, .. } = write;
    let written_at = written_at.split('.').next().unwrap_or_default();
    let by = match operation.as_str() {
        "" => holder.clone(),
        operation => format!("{holder} ({}, run {run})", operation_display_name(operation)),
    };
    let mut text = format!("serial {serial}  {written_at}Z  {}\n", sanitize::sanitize_line(&by));
    for ObjectChange { address, deposed, action } in changes {
        let sign = match action.as_str() {
            "add" => '+',
            "remove" => '-',
            _ => '~',
        };
        let deposed = match deposed.as_str() {
            "" => String::new(),
            key => format!(" (deposed object {key})"),
        };
        text.push_str(&format!(
            "  {sign} {}\n",
            sanitize::sanitize_line(&format!("{address}{deposed}"))
        ));
    }
    text
}

fn history_write_to_json(write: &HistoryWrite) -> serde_json::Value {
    let changes = write.changes.iter().map(|change| {
        json!({ "address": change.address, "deposed": change.deposed, "action": change.action })
    });
    json!({
        "serial": write.serial,
        "lineage": write.lineage,
        "at": write.at,
        "who": write.who,
        "operation": operation_display_name(&write.operation),
        "run": write.run,
        "changes": changes.collect::<Vec<_>>(),
    })
}

/// A part of the state at a point of the history.
pub(super) enum PartAtWrite {
    /// An object.
    Object(Box<ObjectEntry>),
    /// An output, as a rendered line.
    Output(String),
}

/// The current object of an instance, or an output of the name `output.NAME`, at a point of the history.
///
/// # Errors
/// Returns an error if the backend keeps no history, the history does not reach back far enough, or the state
/// did not contain the object or output.
pub(super) async fn part_at_write(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    addr: &InstanceAddr,
    point_text: &str,
) -> Result<PartAtWrite, Reported> {
    let point = match (point_text.parse(), OffsetDateTime::parse(point_text, &Rfc3339)) {
        (Ok(serial), _) => HistoryPoint::Serial(serial),
        (_, Ok(_)) => HistoryPoint::Time(point_text.to_owned()),
        _ => {
            let detail = format!(
                "{point_text:?} is neither a serial nor a time as in RFC 3339, such as 2026-03-01T12:00:00Z."
            );
            return Err(diags.error(Diagnostic::error(messages::INVALID_LOG_TIME, detail)));
        }
    };
    encryption::set_up_encryption_warn_sealed(diags, workspace)?;
    let mut state = open_state(diags, workspace).await?;
    let failed = |diags: &mut Diagnostics, error: StoreError| diags.error(error.diagnostic());
    let has_history = state.store.history(1).await.map_err(|error| failed(diags, error))?;
    let Some(latest) = has_history else { return Err(report_no_history(diags)) };
    let latest = latest.first().map_or(0, |write| write.serial);
    let is_ahead = |serial_at_write: u64| matches!(point, HistoryPoint::Serial(serial) if serial > latest.max(serial_at_write));
    let serial_at_write = state.store.object_at(&addr.to_string(), &point).await;
    let problem = match serial_at_write.map_err(|error| failed(diags, error))? {
        Some(StoredObject { serial, .. }) if is_ahead(serial) => {
            format!("The latest write of the state has the serial {latest}.")
        }
        None => {
            format!("The history starts after {point_text}. `formwork state log` lists its writes.")
        }
        Some(StoredObject { serial, entry: None }) => {
            format!("The state with the serial {serial} does not contain {addr}.")
        }
        Some(StoredObject { entry: Some(entry), .. }) => {
            // The history stores outputs under addresses, as it does instances.
            if let Some(line) = output_line(addr, &entry) {
                return Ok(PartAtWrite::Output(line));
            }
            match file::read_object_entry(&entry) {
                Ok(entry) => return Ok(PartAtWrite::Object(Box::new(entry))),
                Err(error) => format!("The history cannot be read: {error}."),
            }
        }
    };
    Err(diags.error(Diagnostic::error(messages::NO_INSTANCE_FOUND, problem)))
}

/// The line that shows an output of the history; `None` for an entry of an object.
fn output_line(addr: &InstanceAddr, entry: &str) -> Option<String> {
    let entry: serde_json::Value = serde_json::from_str(entry).ok()?;
    let (is_sensitive, value) = (entry["sensitive"].as_bool()?, entry["value"].as_str()?);
    let value = match is_sensitive {
        true => "<sensitive>".to_owned(),
        false => print_value(&typed_json::decode_untyped(value.as_bytes()).ok()?),
    };
    Some(format!("{} = {value}\n", addr.resource.name().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_the_history_is_shown_unless_it_is_sensitive() {
        let addr: InstanceAddr = "output.o".parse().unwrap();
        let line = |entry: &str| output_line(&addr, entry);
        let text_shown = |text: &str| Some(text.to_owned());
        assert_eq!(line(r#"{"value":"[1]","sensitive":false}"#), text_shown("o = [\n  1,\n]\n"));
        assert_eq!(line(r#"{"value":"1","sensitive":true}"#), text_shown("o = <sensitive>\n"));
        assert_eq!(line(r#"{"version":4,"resources":[]}"#), None);
    }
}
