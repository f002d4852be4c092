//! `remote-exec`: runs scripts on a remote host, one after another.

use std::io;
use std::path::Path;

use formwork_core::disk::read_user_file;
use formwork_core::provisioner::{OutputSink, Provisioner, ProvisionerError, ProvisionerTask};
use formwork_value::schema::{Attribute, Block as Schema, Role};
use formwork_value::{Type, Value};

use crate::ProvisionerEnvironment;
use crate::config_block::ConfigBlock;
use crate::failure::FailureReason;
use crate::messages;
use crate::output_lines::OutputLines;
use crate::ssh::{self, Session, SshTarget};
use crate::stop::StopSignal;

const PROVISIONER_KIND: &str = "remote-exec";

const SCRIPT_ARGUMENT_CONFLICT: &str =
    "Only one of \"inline\", \"script\", or \"scripts\" must be set";

/// Maximum size of a script, in bytes.
const MAX_SCRIPT_SIZE: u64 = 64 * 1024 * 1024;

/// The `remote-exec` provisioner.
#[derive(Debug)]
pub(crate) struct RemoteExec {
    schema: Schema,
    environment: ProvisionerEnvironment,
    stop: StopSignal,
}

impl RemoteExec {
    pub(crate) fn new(environment: &ProvisionerEnvironment) -> Self {
        let attributes = [
            ("inline", Type::list(Type::String)),
            ("script", Type::String),
            ("scripts", Type::list(Type::String)),
        ];
        let attributes =
            attributes.map(|(name, ty)| (name.into(), Attribute::new(ty, Role::Optional))).into();
        let schema = Schema { attributes, ..Schema::default() };
        Self { schema, environment: environment.clone(), stop: StopSignal::default() }
    }
}

#[async_trait::async_trait(?Send)]
impl Provisioner for RemoteExec {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn check_config(&self, config: &Value) -> Result<(), ProvisionerError> {
        let is_set = ["inline", "script", "scripts"].map(|name| ConfigBlock(config).is_set(name));
        if is_set.into_iter().filter(|is_set| *is_set).count() == 1 {
            return Ok(());
        }
        Err(ProvisionerError {
            summary: messages::INVALID_REMOTE_EXEC_CONFIGURATION.into(),
            detail: SCRIPT_ARGUMENT_CONFLICT.to_owned(),
            bare: SCRIPT_ARGUMENT_CONFLICT.to_owned(),
        })
    }

    async fn run_task(
        &self,
        task: ProvisionerTask<'_>,
        sink: OutputSink<'_>,
    ) -> Result<(), ProvisionerError> {
        let target = SshTarget::from_connection_block(task.connection, &self.environment);
        let target = target.map_err(|reason| {
            FailureReason::from(reason).into_provisioner_error(PROVISIONER_KIND)
        })?;
        let scripts = read_scripts(ConfigBlock(task.config.value()))
            .map_err(|reason| reason.into_provisioner_error(PROVISIONER_KIND))?;
        let work = async {
            let session = ssh::connect_with_retries(&target, Some(sink)).await?;
            let mut result: Result<(), FailureReason> = Ok(());
            for script in scripts {
                result = execute_script(&session, &target, script, sink)
                    .await
                    .map_err(FailureReason::from);
                if result.is_err() {
                    break;
                }
            }
            session.close().await;
            result
        };
        tokio::select! {
            result = work => result.map_err(|reason: FailureReason| reason.into_provisioner_error(PROVISIONER_KIND)),
            () = self.stop.wait_until_requested() => Err(FailureReason::from("interrupted".to_owned()).into_provisioner_error(PROVISIONER_KIND)),
        }
    }

    fn request_stop(&self) {
        self.stop.request();
    }
}

/// Returns the contents of the scripts, in the order in which they run.
fn read_scripts(config: ConfigBlock<'_>) -> Result<Vec<Vec<u8>>, FailureReason> {
    if let Some(lines) = config.strings("inline") {
        let mut script = String::new();
        for line in lines {
            script.push_str(require_known_string(line, "inline")?);
            script.push('\n');
        }
        return Ok(vec![script.into_bytes()]);
    }
    let paths = match config.string_even_if_empty("script") {
        Some(path) => vec![Some(path)],
        None => config.strings("scripts").unwrap_or_default(),
    };
    paths
        .into_iter()
        .map(|path| read_script_file(Path::new(require_known_string(path, "script")?)))
        .collect()
}

fn require_known_string<'a>(text: Option<&'a str>, of: &str) -> Result<&'a str, String> {
    match text {
        None => Err(format!("invalid null string in '{of}'")),
        Some("") => Err(format!("invalid empty string in '{of}'")),
        Some(text) => Ok(text),
    }
}

fn read_script_file(path: &Path) -> Result<Vec<u8>, FailureReason> {
    let path_text = path.display();
    let unreadable = |reason: String| {
        let bare = format!("A script cannot be opened: {reason}.");
        let detail = format!("Failed to open script '{path_text}': open {path_text}: {reason}");
        FailureReason::new(detail, bare)
    };
    let io_failure = |error: io::Error| unreadable(ssh::describe_io_error(&error));
    let size = path.metadata().map_err(io_failure)?.len();
    if size > MAX_SCRIPT_SIZE {
        return Err(unreadable(format!(
            "its size is {size} bytes, and the limit is {MAX_SCRIPT_SIZE} bytes"
        )));
    }
    read_user_file(path, MAX_SCRIPT_SIZE).map_err(io_failure)
}

/// Uploads a script, runs it and removes it, even after a failure, because it may contain secrets.
async fn execute_script(
    session: &Session,
    target: &SshTarget,
    script: Vec<u8>,
    sink: OutputSink<'_>,
) -> Result<(), String> {
    let path = target.script_path();
    upload_script(session, target, &path, script)
        .await
        .map_err(|reason| format!("Failed to upload script: {reason}"))?;
    let mut lines = OutputLines::new(sink);
    let result =
        session.run_command(&target.quoted_path(&path), &mut |piece| lines.push_bytes(piece)).await;
    lines.finish();
    session.remove_remote_file(&path).await;
    match result? {
        ssh::CommandResult::Success => Ok(()),
        ssh::CommandResult::Failure(reason) => Err(format!("error executing {path:?}: {reason}")),
    }
}

async fn upload_script(
    session: &Session,
    target: &SshTarget,
    path: &str,
    script: Vec<u8>,
) -> Result<(), String> {
    if script.len() < 2 {
        return Err("Error reading script: EOF".to_owned());
    }
    let unix = target.is_unix();
    let shebang: &[u8] = if unix && !script.starts_with(b"#!") { b"#!/bin/sh\n" } else { b"" };
    // The script may contain secrets, and the temporary directory is readable by other users.
    session.upload_content(path, [shebang, &script].concat(), 0o700).await?;
    if !unix {
        return Ok(());
    }
    let mut lines = OutputLines::new(&|_| {});
    let command = format!("chmod 0700 {}", target.quoted_path(path));
    let result = session.run_command(&command, &mut |piece| lines.push_bytes(piece)).await?;
    match result {
        ssh::CommandResult::Success => Ok(()),
        ssh::CommandResult::Failure(reason) => Err(format!(
            "Error chmodding script file to 0700 in remote machine {reason}: {}",
            lines.last_output().trim_end()
        )),
    }
}
