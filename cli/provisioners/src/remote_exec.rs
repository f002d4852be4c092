//! `remote-exec`: runs scripts on another machine, one after the other.

use std::io;
use std::path::Path;

use formwork_core::disk::read_named;
use formwork_core::provisioner::{Failed, OutputSink, Provisioner, Task};
use formwork_value::schema::{Attribute, Block as Schema, Role};
use formwork_value::{Type, Value};

use crate::ProvisionerEnvironment;
use crate::block::Block;
use crate::failure::FailureReason;
use crate::lines::Lines;
use crate::messages;
use crate::ssh::{self, Session, Target};
use crate::stop::Stop;

const KIND: &str = "remote-exec";

const ONE_OF: &str = "Only one of \"inline\", \"script\", or \"scripts\" must be set";

/// Greatest size of a script.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The provisioner.
#[derive(Debug)]
pub(crate) struct RemoteExec {
    schema: Schema,
    environment: ProvisionerEnvironment,
    stop: Stop,
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
        Self { schema, environment: environment.clone(), stop: Stop::default() }
    }
}

#[async_trait::async_trait(?Send)]
impl Provisioner for RemoteExec {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn check(&self, config: &Value) -> Result<(), Failed> {
        let given = ["inline", "script", "scripts"].map(|name| Block(config).has(name));
        if given.into_iter().filter(|given| *given).count() == 1 {
            return Ok(());
        }
        Err(Failed {
            summary: messages::INVALID_REMOTE_EXEC_CONFIGURATION.into(),
            detail: ONE_OF.to_owned(),
            bare: ONE_OF.to_owned(),
        })
    }

    async fn run(&self, task: Task<'_>, tell: OutputSink<'_>) -> Result<(), Failed> {
        let target = Target::read(task.connection, &self.environment);
        let target = target.map_err(|why| FailureReason::from(why).of(KIND))?;
        let scripts = scripts(Block(task.config.value())).map_err(|why| why.of(KIND))?;
        let work = async {
            let session = ssh::connect(&target, Some(tell)).await?;
            let mut result: Result<(), FailureReason> = Ok(());
            for script in scripts {
                result =
                    execute(&session, &target, script, tell).await.map_err(FailureReason::from);
                if result.is_err() {
                    break;
                }
            }
            session.close().await;
            result
        };
        tokio::select! {
            done = work => done.map_err(|why: FailureReason| why.of(KIND)),
            () = self.stop.asked() => Err(FailureReason::from("interrupted".to_owned()).of(KIND)),
        }
    }

    fn stop(&self) {
        self.stop.ask();
    }
}

/// The strings of the scripts.
fn scripts(config: Block<'_>) -> Result<Vec<Vec<u8>>, FailureReason> {
    if let Some(lines) = config.texts("inline") {
        let mut script = String::new();
        for line in lines {
            script.push_str(there(line, "inline")?);
            script.push('\n');
        }
        return Ok(vec![script.into_bytes()]);
    }
    let paths = match config.given("script") {
        Some(path) => vec![Some(path)],
        None => config.texts("scripts").unwrap_or_default(),
    };
    paths.into_iter().map(|path| read(Path::new(there(path, "script")?))).collect()
}

fn there<'a>(text: Option<&'a str>, of: &str) -> Result<&'a str, String> {
    match text {
        None => Err(format!("invalid null string in '{of}'")),
        Some("") => Err(format!("invalid empty string in '{of}'")),
        Some(text) => Ok(text),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, FailureReason> {
    let shown = path.display();
    let why = |why: String| {
        let bare = format!("A script cannot be opened: {why}.");
        FailureReason::new(format!("Failed to open script '{shown}': open {shown}: {why}"), bare)
    };
    let failed = |error: io::Error| why(ssh::reason(&error));
    let size = path.metadata().map_err(failed)?.len();
    if size > LARGEST {
        return Err(why(format!("it has {size} bytes, and a script may have {LARGEST}")));
    }
    read_named(path, LARGEST).map_err(failed)
}

/// Uploads a script, runs it, and takes it away, whatever came of it: it may hold secrets.
async fn execute(
    session: &Session,
    target: &Target,
    script: Vec<u8>,
    tell: OutputSink<'_>,
) -> Result<(), String> {
    let path = target.script_path();
    upload(session, target, &path, script)
        .await
        .map_err(|why| format!("Failed to upload script: {why}"))?;
    let mut lines = Lines::new(tell);
    let ended = session.run(&target.command(&path), &mut |piece| lines.take(piece)).await;
    lines.end();
    session.remove(&path).await;
    match ended? {
        ssh::CommandResult::Well => Ok(()),
        ssh::CommandResult::Badly(why) => Err(format!("error executing {path:?}: {why}")),
    }
}

async fn upload(
    session: &Session,
    target: &Target,
    path: &str,
    script: Vec<u8>,
) -> Result<(), String> {
    if script.len() < 2 {
        return Err("Error reading script: EOF".to_owned());
    }
    let unix = target.is_unix();
    let shebang: &[u8] = if unix && !script.starts_with(b"#!") { b"#!/bin/sh\n" } else { b"" };
    // It may hold secrets, and the folder is open to all.
    session.upload(path, [shebang, &script].concat(), 0o700).await?;
    if !unix {
        return Ok(());
    }
    let mut lines = Lines::new(&|_| {});
    let command = format!("chmod 0700 {}", target.command(path));
    let ended = session.run(&command, &mut |piece| lines.take(piece)).await?;
    match ended {
        ssh::CommandResult::Well => Ok(()),
        ssh::CommandResult::Badly(why) => Err(format!(
            "Error chmodding script file to 0700 in remote machine {why}: {}",
            lines.last().trim_end()
        )),
    }
}
