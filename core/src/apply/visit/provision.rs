//! Runs the provisioners of an object, one after the other. The visits of instances decide which
//! meaning a failure has for the object.

use formwork_lang::decode::evaluate_body;
use formwork_lang::scope::Scope;
use formwork_value::diag::Blame;
use formwork_value::schema::Block;
use formwork_value::{Diagnostic, Diagnostics, Marks, Plain, Reported, Value};

use super::ApplyContext;
use crate::addr::InstanceAddr;
use crate::config::{OnFailure, Provisioner, ProvisionerTiming};
use crate::event::Event;
use crate::messages;
use crate::provisioner::{ProvisionerError, ProvisionerTask, connection_schema};

/// Whether anything runs at that time.
pub(in crate::apply) fn has_provisioner_at(
    provisioners: &[Provisioner],
    when: ProvisionerTiming,
) -> bool {
    provisioners.iter().any(|provisioner| provisioner.when == when)
}

/// The provisioners of an instance that run at one time.
#[derive(Clone, Copy)]
pub(in crate::apply) struct ProvisionerRun<'a> {
    pub(in crate::apply) addr: &'a InstanceAddr,
    pub(in crate::apply) provisioners: &'a [Provisioner],
    pub(in crate::apply) when: ProvisionerTiming,
}

/// Runs the provisioners of that time.
///
/// # Errors
/// Returns an error if a provisioner failed without `on_failure = continue`. The following ones are
/// not run.
pub(in crate::apply) async fn run_provisioners(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    run: ProvisionerRun<'_>,
    scope: &dyn Scope,
) -> Result<(), Reported> {
    let ProvisionerRun { addr, provisioners, when } = run;
    debug_assert!(
        when == ProvisionerTiming::Destroy || view.journal.may_run_provisioner(addr),
        "something runs beside an object that the journal has as whole"
    );
    // In the order of the blocks and never concurrently, as in Terraform: one often prepares the
    // next.
    for provisioner in provisioners.iter().filter(|provisioner| provisioner.when == when) {
        run_provisioner(view, diags, addr, provisioner, scope).await?;
    }
    Ok(())
}

async fn run_provisioner(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    addr: &InstanceAddr,
    provisioner: &Provisioner,
    scope: &dyn Scope,
) -> Result<(), Reported> {
    let about = |problem: Diagnostic| problem.at(provisioner.missing).about(addr.to_string());
    let kind = provisioner.kind.name.as_str();
    let Some(program) = view.session.provisioners.find_provisioner(kind) else {
        // Plans are checked for missing kinds.
        let problem =
            Diagnostic::error(messages::PROVISIONER_NOT_READY, format!("There is no {kind:?}."));
        return Err(diags.error(about(problem).blamed_on(Blame::Internal)));
    };
    let decoded = |diags: &mut Diagnostics| {
        let connected = match &provisioner.connection {
            Some(body) => Some(evaluate_body(diags, body, connection_schema(), scope)?),
            None => None,
        };
        Ok((evaluate_body(diags, &provisioner.body, program.schema(), scope)?, connected))
    };
    let (config, connected) = view.session.evaluate_with_functions(diags, decoded).await?;
    let secrets = view.session.pool.secrets();
    secrets.add_marked_values(connected.as_ref().unwrap_or(&config));
    let (config, hidden) = unmark_config(diags, program.schema(), config)?;
    let connected = match connected {
        Some(value) => Some(unmark_config(diags, connection_schema(), value)?.0),
        None => None,
    };
    // A provisioner can run for hours and has no undo, so an interrupted run starts none. A new
    // object stays tainted and is replaced by the next apply.
    if view.session.is_stopped() {
        return Err(diags.error(about(interrupted_error(kind))));
    }
    let watch = view.session.watch;
    watch.on_event(&Event::ProvisionStart { addr, kind });
    // Output of a provisioner may hold its input.
    let print_output = |text: &str| {
        // Commands usually echo their arguments, so Terraform suppresses the whole output if an
        // argument is marked.
        let text = hidden.clone().unwrap_or_else(|| secrets.mask(text.to_owned()));
        watch.on_event(&Event::ProvisionOutput { addr, kind, text: &text });
    };
    let task = ProvisionerTask { config: &config, connection: connected.as_ref() };
    match program.run_task(task, &print_output).await {
        Ok(()) => watch.on_event(&Event::ProvisionDone { addr, kind }),
        Err(ProvisionerError { summary, detail, bare }) => {
            watch.on_event(&Event::ProvisionFailed { addr, kind });
            if provisioner.on_failure == OnFailure::Fail {
                let detail = match hidden {
                    Some(hidden) => format!("{bare} {hidden}"),
                    None => secrets.mask(detail),
                };
                return Err(diags.error(about(Diagnostic::error(summary, detail))));
            }
        }
    }
    Ok(())
}

fn interrupted_error(kind: &str) -> Diagnostic {
    let detail = format!("The run was interrupted before the provisioner {kind:?} began.");
    Diagnostic::error(messages::PROVISIONING_INTERRUPTED, detail)
}

/// A configuration without its marks, and the text that is shown instead of output if it had any.
fn unmark_config(
    diags: &mut Diagnostics,
    schema: &Block,
    config: Value,
) -> Result<(Plain, Option<String>), Reported> {
    if !config.is_wholly_known() {
        let detail = format!(
            "An argument of a provisioner, of {}, is still not known while applying.",
            schema.attributes.keys().map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
        );
        let problem = Diagnostic::error(messages::CONFIGURATION_CONTAINS_UNKNOWN_VALUE, detail);
        return Err(diags.error(problem.blamed_on(Blame::Internal)));
    }
    let marks = config.all_marks();
    let kinds = [(Marks::SENSITIVE, "sensitive"), (Marks::EPHEMERAL, "ephemeral")];
    let kinds: Vec<&str> =
        kinds.iter().filter(|(mark, _)| marks.contains(*mark)).map(|(_, word)| *word).collect();
    let hidden = (!kinds.is_empty())
        .then(|| format!("(output suppressed due to {} value in config)", kinds.join(", ")));
    Ok((config.split_marks().0, hidden))
}
