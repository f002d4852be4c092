//! `file`: puts a file, or a folder with everything in it, on another machine.

use std::io;
use std::path::Path;

use formwork_core::provisioner::{Failed, OutputSink, Provisioner, Task};
use formwork_value::schema::{Attribute, Block as Schema, Role};
use formwork_value::{Type, Value};

use crate::ProvisionerEnvironment;
use crate::block::{Block, expanded};
use crate::failure::FailureReason;
use crate::messages;
use crate::ssh::{self, Session, Target};
use crate::stop::Stop;

const KIND: &str = "file";

/// The provisioner.
#[derive(Debug)]
pub(crate) struct File {
    schema: Schema,
    environment: ProvisionerEnvironment,
    stop: Stop,
}

impl File {
    pub(crate) fn new(environment: &ProvisionerEnvironment) -> Self {
        let attributes = [
            ("content", Role::Optional),
            ("destination", Role::Required),
            ("source", Role::Optional),
        ];
        let attributes =
            attributes.map(|(name, role)| (name.into(), Attribute::new(Type::String, role))).into();
        let schema = Schema { attributes, ..Schema::default() };
        Self { schema, environment: environment.clone(), stop: Stop::default() }
    }

    async fn put(&self, session: &Session, config: Block<'_>) -> Result<(), FailureReason> {
        let destination = config.given("destination").unwrap_or_default();
        let uploaded = match config.given("content") {
            Some(content) => session.upload(destination, content.as_bytes().to_vec(), 0o644).await,
            None => {
                let source = config.given("source").unwrap_or_default();
                let path = expanded(source, self.environment.home.as_deref());
                let about = path.metadata().map_err(|error| unseen(&path, &error))?;
                if about.is_dir() {
                    // With a slash at its end the contents are meant, without it the folder.
                    let whole = !source.ends_with('/');
                    session.upload_folder(destination, &path, whole).await
                } else {
                    session.upload_file(destination, &path).await
                }
            }
        };
        uploaded
            .map_err(|why| FailureReason::new(format!("Upload failed: {why}"), "Upload failed."))
    }
}

fn unseen(path: &Path, error: &io::Error) -> FailureReason {
    let why = ssh::reason(error);
    FailureReason::new(
        format!("stat {}: {why}", path.display()),
        format!("The source cannot be read: {why}."),
    )
}

#[async_trait::async_trait(?Send)]
impl Provisioner for File {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn check(&self, config: &Value) -> Result<(), Failed> {
        let (summary, detail) = match ["content", "source"].map(|name| Block(config).has(name)) {
            [true, true] => (
                messages::FILE_SOURCE_AND_CONTENT,
                "The content of the file comes either from another file or from a string.",
            ),
            [false, false] => (
                messages::FILE_SOURCE_OR_CONTENT,
                "Set one of the two: `source` names a file or a folder, `content` is a string.",
            ),
            _ => return Ok(()),
        };
        let (detail, bare) = (detail.to_owned(), detail.to_owned());
        Err(Failed { summary: summary.into(), detail, bare })
    }

    async fn run(&self, task: Task<'_>, _: OutputSink<'_>) -> Result<(), Failed> {
        let target = Target::read(task.connection, &self.environment);
        let target = target.map_err(|why| FailureReason::from(why).of(KIND))?;
        let work = async {
            let session = ssh::connect(&target, None).await?;
            let result = self.put(&session, Block(task.config.value())).await;
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
