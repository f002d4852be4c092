//! `file`: uploads a file, or a directory and its contents, to a remote host.

use std::io;
use std::path::Path;

use formwork_core::provisioner::{OutputSink, Provisioner, ProvisionerError, ProvisionerTask};
use formwork_value::schema::{Attribute, Block as Schema, Role};
use formwork_value::{Type, Value};

use crate::ProvisionerEnvironment;
use crate::config_block::{ConfigBlock, expand_home};
use crate::failure::FailureReason;
use crate::messages;
use crate::ssh::{self, Session, SshTarget};
use crate::stop::StopSignal;

const PROVISIONER_KIND: &str = "file";

/// The `file` provisioner.
#[derive(Debug)]
pub(crate) struct FileProvisioner {
    schema: Schema,
    environment: ProvisionerEnvironment,
    stop: StopSignal,
}

impl FileProvisioner {
    pub(crate) fn new(environment: &ProvisionerEnvironment) -> Self {
        let attributes = [
            ("content", Role::Optional),
            ("destination", Role::Required),
            ("source", Role::Optional),
        ];
        let attributes =
            attributes.map(|(name, role)| (name.into(), Attribute::new(Type::String, role))).into();
        let schema = Schema { attributes, ..Schema::default() };
        Self { schema, environment: environment.clone(), stop: StopSignal::default() }
    }

    async fn upload(
        &self,
        session: &Session,
        config: ConfigBlock<'_>,
    ) -> Result<(), FailureReason> {
        let destination = config.string_even_if_empty("destination").unwrap_or_default();
        let uploaded = match config.string_even_if_empty("content") {
            Some(content) => {
                session.upload_content(destination, content.as_bytes().to_vec(), 0o644).await
            }
            None => {
                let source = config.string_even_if_empty("source").unwrap_or_default();
                let path = expand_home(source, self.environment.home.as_deref());
                let metadata =
                    path.metadata().map_err(|error| unreadable_source_error(&path, &error))?;
                if metadata.is_dir() {
                    // A trailing slash means the contents of the directory, not the directory itself.
                    let with_directory = !source.ends_with('/');
                    session.upload_dir(destination, &path, with_directory).await
                } else {
                    session.upload_file(destination, &path).await
                }
            }
        };
        uploaded.map_err(|reason| {
            FailureReason::new(format!("Upload failed: {reason}"), "Upload failed.")
        })
    }
}

fn unreadable_source_error(path: &Path, error: &io::Error) -> FailureReason {
    let reason = ssh::describe_io_error(error);
    FailureReason::new(
        format!("stat {}: {reason}", path.display()),
        format!("The source cannot be read: {reason}."),
    )
}

#[async_trait::async_trait(?Send)]
impl Provisioner for FileProvisioner {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn check_config(&self, config: &Value) -> Result<(), ProvisionerError> {
        let (summary, detail) = match ["content", "source"]
            .map(|name| ConfigBlock(config).is_set(name))
        {
            [true, true] => (
                messages::FILE_SOURCE_AND_CONTENT,
                "The content of the file is either a local file or a string.",
            ),
            [false, false] => (
                messages::FILE_SOURCE_OR_CONTENT,
                "Set one of the two: `source` is the path of a file or directory, `content` is a string.",
            ),
            _ => return Ok(()),
        };
        let (detail, bare) = (detail.to_owned(), detail.to_owned());
        Err(ProvisionerError { summary: summary.into(), detail, bare })
    }

    async fn run_task(
        &self,
        task: ProvisionerTask<'_>,
        _: OutputSink<'_>,
    ) -> Result<(), ProvisionerError> {
        let target = SshTarget::from_connection_block(task.connection, &self.environment);
        let target = target.map_err(|reason| {
            FailureReason::from(reason).into_provisioner_error(PROVISIONER_KIND)
        })?;
        let work = async {
            let session = ssh::connect_with_retries(&target, None).await?;
            let result = self.upload(&session, ConfigBlock(task.config.value())).await;
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
