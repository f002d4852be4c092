//! Turns what providers say, and what happens to them, into diagnostics that name provider, address
//! and call.

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_value::diag::{Blame, Severity, Span};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::loaded::Loaded;
use crate::addr::{Mode, ProviderAddr, ResourceAddr, ResourceName};

/// Describes why a call to a provider brought no answer. `about` is the address the call was for.
#[must_use]
pub fn about_failure(
    provider: &ProviderAddr,
    call: &str,
    about: Option<&str>,
    failure: &Failure,
) -> Diagnostic {
    let what = about.map_or_else(String::new, |addr| format!(" for {addr}"));
    let diagnostic = match failure {
        Failure::Launch(reason) => {
            Diagnostic::error(format!("Failed to start provider {provider}"), reason.clone())
                .blame(Blame::Environment)
        }
        Failure::Incompatible(reason) => {
            Diagnostic::error(format!("Incompatible provider {provider}"), reason.clone())
                .blame(Blame::Provider)
        }
        Failure::Unsendable(reason) => Diagnostic::error(
            "Request cannot be sent",
            format!("{call}{what} cannot be put to provider {provider}: {reason}."),
        )
        .blame(Blame::Internal),
        Failure::Misbehaved(reason) => Diagnostic::error(
            "Provider broke the plugin protocol",
            format!("The answer of provider {provider} to {call}{what} cannot be used: {reason}.\n\nThis is a bug in the provider; please report it to its authors."),
        )
        .blame(Blame::Provider),
        Failure::Lost { reason, exit, output } => {
            // Next to how the process ended, what the connection noticed of it explains nothing.
            let what_happened = match exit {
                Some(exit) => format!("its process ended: {exit}."),
                None => format!("{reason}."),
            };
            let output = if output.trim().is_empty() {
                " It left no message.".to_owned()
            } else {
                format!("\n\nIts last output was:\n\n{}", output.trim_end())
            };
            Diagnostic::error(
                "Plugin did not respond",
                format!("The provider {provider} went away during {call}{what}: {what_happened}{output}"),
            )
            .blame(Blame::Provider)
        }
        Failure::Unimplemented(method) => Diagnostic::error(
            "Provider does not support this operation",
            format!("The provider {provider} does not implement {method}, which is needed{what}."),
        )
        .blame(Blame::Provider),
        Failure::Status { code, message } => Diagnostic::error(
            "Plugin error",
            format!("The provider {provider} answered {call}{what} with the gRPC error {code}: {message}"),
        )
        .blame(Blame::Provider),
    };
    match about {
        Some(addr) => diagnostic.about(addr),
        None => diagnostic,
    }
}

/// Says that a question had to be asked twice. `failure` is what came of the first time.
#[must_use]
pub(super) fn about_second_try(
    provider: &ProviderAddr,
    call: &str,
    about: Option<&str>,
    failure: &Failure,
) -> Diagnostic {
    let Diagnostic { detail, subject, .. } = about_failure(provider, call, about, failure);
    let detail = format!(
        "{detail}\n\nNothing is changed by {call}, so it was asked once more, and answered."
    );
    Diagnostic { subject, ..Diagnostic::warning("Provider was asked a second time", detail) }
}

/// Reports what a provider said, with the address it said it about and the block in question.
///
/// # Errors
/// When an error was among it.
pub fn about_provider_diagnostics(
    diags: &mut Diagnostics,
    said: Vec<ProviderDiagnostic>,
    about: &str,
    block: Option<Span>,
) -> Result<(), Reported> {
    let mut result = Ok(());
    for diagnostic in said {
        let severity = diagnostic.severity;
        let summary = if diagnostic.summary.is_empty() {
            "The provider gave no summary".into()
        } else {
            diagnostic.summary
        };
        let mut converted =
            Diagnostic { severity, ..Diagnostic::error(summary, diagnostic.detail) }
                .about(about)
                .at_opt(block);
        if !diagnostic.path.0.is_empty() {
            converted = converted.path(diagnostic.path);
        }
        match severity {
            Severity::Error => result = Err(diags.error(converted)),
            Severity::Warning => diags.warn(converted),
        }
    }
    result
}

/// Says that a provider has no such resource type or data source, which the configuration names.
#[must_use]
pub fn unsupported_type(loaded: &Loaded, name: &ResourceName, place: Span) -> Diagnostic {
    let (summary, what, schemas) = match name.mode() {
        Mode::Data => ("Invalid data source", "data source", &loaded.schema().data_sources),
        Mode::Ephemeral => (
            "Invalid ephemeral resource",
            "ephemeral resource",
            &loaded.schema().ephemeral_resources,
        ),
        Mode::Managed => ("Invalid resource type", "resource type", &loaded.schema().resources),
    };
    let known = schemas.keys().map(String::as_str);
    let hint = formwork_lang::suggest::nearest(name.kind(), known)
        .map_or_else(String::new, |nearest| format!(" Did you mean {nearest:?}?"));
    let detail = format!(
        "The provider {} does not support {what} {:?}.{hint}",
        loaded.addr().display(),
        name.kind().as_str(),
    );
    Diagnostic::error(summary, detail).at(place)
}

/// Says that a provider no longer has a resource type, of which the state holds objects.
#[must_use]
pub fn lost_type(loaded: &Loaded, resource: &ResourceAddr) -> Diagnostic {
    let detail = format!(
        "The state holds {resource}, but the provider {} no longer supports its type. Use a version of the provider that does, or remove the resource from the state.",
        loaded.addr().display(),
    );
    Diagnostic::error("No schema available for a resource in the state", detail)
        .blame(Blame::Environment)
        .about(resource.to_string())
}
