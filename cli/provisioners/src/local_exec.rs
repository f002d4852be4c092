//! `local-exec`: runs a command on the local machine.

mod child;
mod command;
#[cfg(test)]
mod tests;

use formwork_core::provisioner::{OutputSink, Provisioner, ProvisionerError, ProvisionerTask};
use formwork_value::Type;
use formwork_value::schema::{Attribute, Block, Role};

use self::command::Command;
use crate::messages;
use crate::output_lines::OutputLines;
use crate::stop::StopSignal;

/// The `local-exec` provisioner.
#[derive(Debug)]
pub(crate) struct LocalExec {
    schema: Block,
    stop: StopSignal,
}

impl Default for LocalExec {
    fn default() -> Self {
        let attributes = [
            ("command", Type::String, Role::Required),
            ("environment", Type::map(Type::String), Role::Optional),
            ("interpreter", Type::list(Type::String), Role::Optional),
            ("quiet", Type::Bool, Role::Optional),
            ("working_dir", Type::String, Role::Optional),
        ];
        let attributes =
            attributes.map(|(name, ty, role)| (name.into(), Attribute::new(ty, role))).into();
        let schema = Block { attributes, ..Block::default() };
        Self { schema, stop: StopSignal::default() }
    }
}

#[async_trait::async_trait(?Send)]
impl Provisioner for LocalExec {
    fn schema(&self) -> &Block {
        &self.schema
    }

    async fn run_task(
        &self,
        task: ProvisionerTask<'_>,
        sink: OutputSink<'_>,
    ) -> Result<(), ProvisionerError> {
        let command = Command::from_config(task.config.value())?;
        sink(&command.announcement());
        let mut output = OutputLines::new(sink);
        let outcome = child::run_command(&command, &mut output, &self.stop).await;
        let reason = match outcome {
            Ok(()) => return Ok(()),
            Err(reason) => reason,
        };
        let last_output = output.last_output();
        Err(ProvisionerError {
            summary: messages::PROVISIONER_ERROR.with(&[&"local-exec"]),
            detail: format!(
                "Error running command '{}': {}. Output: {last_output}",
                command.text, reason.detail
            ),
            bare: format!("Error running the command: {}.", reason.bare),
        })
    }

    fn request_stop(&self) {
        self.stop.request();
    }
}
