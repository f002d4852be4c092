//! `local-exec`: runs a command on this machine.

mod child;
mod command;
mod lines;
#[cfg(test)]
mod tests;

use formwork_core::provisioner::{Failed, Provisioner, Tell};
use formwork_value::schema::{Attribute, Block, Role};
use formwork_value::{Plain, Type};
use tokio::sync::watch;

use self::command::Command;

/// The provisioner.
#[derive(Debug)]
pub(crate) struct LocalExec {
    schema: Block,
    stop: watch::Sender<bool>,
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
        Self { schema, stop: watch::Sender::new(false) }
    }
}

#[async_trait::async_trait(?Send)]
impl Provisioner for LocalExec {
    fn schema(&self) -> &Block {
        &self.schema
    }

    async fn run(&self, config: &Plain, tell: Tell<'_>) -> Result<(), Failed> {
        let command = Command::read(config.value())?;
        tell(&command.announcement());
        let mut output = lines::Lines::new(tell);
        let ended = child::run(&command, &mut output, self.stop.subscribe()).await;
        let why = match ended {
            Ok(()) => return Ok(()),
            Err(why) => why,
        };
        Err(Failed {
            summary: "local-exec provisioner error".to_owned(),
            detail: format!(
                "Error running command '{}': {why}. Output: {}",
                command.text,
                output.last()
            ),
        })
    }

    fn stop(&self) {
        self.stop.send_replace(true);
    }
}
