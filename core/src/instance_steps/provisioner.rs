//! Validation of provisioners: whether they exist, and whether their blocks are valid.

use std::collections::BTreeSet;

use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value};

use crate::config::{Provisioner, Resource};
use crate::eval::check_references::decode_body_checked;
use crate::eval::{ModuleScope, RepetitionData};
use crate::messages;
use crate::provisioner::{ProvisionerError, connection_schema};
use crate::session::Session;

/// Checks that all provisioners of a configuration exist. Each missing one is reported once.
///
/// # Errors
/// Returns an error if a provisioner does not exist.
pub(crate) fn check_provisioner_kinds(
    session: &Session<'_>,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let (mut result, mut seen) = (Ok(()), BTreeSet::new());
    let resources = session.config.all_resources();
    for provisioner in resources.flat_map(|(_, resource)| &resource.provisioners) {
        let kind = &provisioner.kind.name;
        if session.provisioners.find_provisioner(kind).is_none() && seen.insert(kind) {
            result =
                Err(diags.error(missing_provisioner_error(session, kind).at(provisioner.span)));
        }
    }
    result
}

/// A resource that may have provisioners, and the type of its objects.
#[derive(Clone, Copy)]
pub(crate) struct ProvisionedResource<'a> {
    pub(crate) config: &'a Resource,
    pub(crate) ty: &'a Type,
}

/// Checks the provisioners of a resource whose objects have this type. Values may be unknown. As in
/// Terraform, the check stops after the first provisioner with errors.
///
/// # Errors
/// Returns an error if a provisioner block is invalid.
pub(crate) async fn check_provisioners(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    resource: ProvisionedResource<'_>,
    scope: &ModuleScope<'_>,
) -> Result<(), Reported> {
    let ProvisionedResource { config, ty } = resource;
    if config.provisioners.is_empty() {
        return Ok(());
    }
    // Checked once for the block and not for each instance, so `self` and the key are unknown.
    let unknown = RepetitionData::unknown_of_kind(&config.repetition);
    let scope = scope.clone().with_repetition(unknown).with_self(Value::unknown(ty.clone()));
    for provisioner in &config.provisioners {
        let checked =
            |diags: &mut Diagnostics| check_provisioner(session, diags, provisioner, &scope);
        session.evaluate_with_functions(diags, checked).await?;
        diags.fail_if_errors()?;
    }
    Ok(())
}

fn check_provisioner(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provisioner: &Provisioner,
    scope: &ModuleScope<'_>,
) -> Result<(), Reported> {
    let kind = &provisioner.kind;
    let Some(program) = session.provisioners.find_provisioner(&kind.name) else {
        return Err(
            diags.error(missing_provisioner_error(session, &kind.name).at(provisioner.span))
        );
    };
    let fits =
        decode_body_checked(diags, &provisioner.body, program.schema(), scope).and_then(|config| {
            let refuse = |ProvisionerError { summary, detail, .. }| {
                Diagnostic::error(summary, detail).at(provisioner.missing)
            };
            program.check_config(&config).map_err(|reason| diags.error(refuse(reason)))
        });
    // Both blocks are decoded before an error counts, so that one run reports the errors of both.
    let connected = match &provisioner.connection {
        Some(body) => decode_body_checked(diags, body, connection_schema(), scope).map(drop),
        None => Ok(()),
    };
    fits.and(connected)
}

fn missing_provisioner_error(session: &Session<'_>, kind: &str) -> Diagnostic {
    let kinds: Vec<String> = session.provisioners.kinds().map(|kind| format!("{kind:?}")).collect();
    Diagnostic::error(
        messages::MISSING_REQUIRED_PROVISIONER_PLUGIN,
        format!(
            "This configuration requires provisioner plugin {kind:?}, which isn't available. If you're intending to use an external provisioner plugin, you must install it manually into one of the plugin search directories before running Terraform. There are: {}.",
            kinds.join(", ")
        ),
    )
}
