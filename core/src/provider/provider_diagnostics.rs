//! Converts messages and failures of providers to diagnostics that name the provider, the address and
//! the call.

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_value::diag::{Blame, Severity, Span, Summary};
use formwork_value::{Diagnostic, Diagnostics, Path, Reported};

use super::loaded_provider::LoadedProvider;
use crate::addr::{ProviderAddr, ResourceAddr, ResourceMode, ResourceName};
use crate::messages;

/// Maximum number of errors, and of warnings, shown of one response.
const MAX_SHOWN_DIAGNOSTICS: usize = 500;
/// Maximum number of bytes shown of a provider summary.
const MAX_SHOWN_SUMMARY_LEN: usize = 4 << 10;
/// Maximum number of bytes shown of a provider detail.
const MAX_SHOWN_DETAIL_LEN: usize = 64 << 10;

/// Describes the failure of a call to a provider. `about` is the address of its subject.
#[must_use]
pub fn call_failure_diagnostic(
    provider: &ProviderAddr,
    call: &str,
    about: Option<&str>,
    failure: &Failure,
) -> Diagnostic {
    let subject = about.map_or_else(String::new, |addr| format!(" for {addr}"));
    let diagnostic = match failure {
        Failure::Launch(reason) => {
            Diagnostic::error(messages::FAILED_TO_START_PROVIDER.with(&[&provider]), reason.clone())
                .blamed_on(Blame::Environment)
        }
        Failure::Incompatible(reason) => {
            Diagnostic::error(messages::INCOMPATIBLE_PROVIDER.with(&[&provider]), reason.clone())
                .blamed_on(Blame::Provider)
        }
        Failure::UnencodableMessage(reason) => Diagnostic::error(
            messages::REQUEST_CANNOT_BE_SENT,
            format!("The request {call}{subject} cannot be sent to provider {provider}: {reason}."),
        )
        .blamed_on(Blame::Internal),
        Failure::Misbehaved(reason) => Diagnostic::error(
            messages::PROVIDER_BROKE_PLUGIN_PROTOCOL,
            format!("The response of provider {provider} to {call}{subject} cannot be used: {reason}.\n\nThis is a bug in the provider; please report it to its authors."),
        )
        .blamed_on(Blame::Provider),
        Failure::Lost { reason, exit, output } => {
            // The exit status explains the failure. The error of the connection adds nothing to it.
            let what_happened = match exit {
                Some(exit) => format!("its process ended: {exit}."),
                None => format!("{reason}."),
            };
            let output = last_output_text(output);
            Diagnostic::error(
                messages::PLUGIN_DID_NOT_RESPOND,
                format!("The provider {provider} exited or disconnected during {call}{subject}: {what_happened}{output}"),
            )
            .blamed_on(Blame::Provider)
        }
        Failure::GivenUp(reason) => Diagnostic::error(
            messages::PROVIDER_CALL_WAS_GIVEN_UP,
            format!("The provider {provider} has not answered {call}{subject} in time: {reason}."),
        )
        .blamed_on(Blame::Provider),
        Failure::Unimplemented(method) => Diagnostic::error(
            messages::PROVIDER_DOES_NOT_SUPPORT_THIS_OPERATION,
            format!("The provider {provider} does not implement {method}, which is required{subject}."),
        )
        .blamed_on(Blame::Provider),
        Failure::Status { code, message } => Diagnostic::error(
            messages::PLUGIN_ERROR,
            format!("The provider {provider} responded to {call}{subject} with the gRPC error {code}: {message}"),
        )
        .blamed_on(Blame::Provider),
    };
    match about {
        Some(addr) => diagnostic.about(addr),
        None => diagnostic,
    }
}

/// Creates an error of the built-in provider or of a mock.
pub(super) fn own_provider_error(
    summary: impl Into<Summary>,
    detail: String,
    path: Path,
) -> ProviderDiagnostic {
    let Summary { code, text } = summary.into();
    ProviderDiagnostic { severity: Severity::Error, summary: text, detail, path, code: Some(code) }
}

fn last_output_text(output: &str) -> String {
    if output.trim().is_empty() {
        " It printed no output.".to_owned()
    } else {
        format!("\n\nIts last output was:\n\n{}", output.trim_end())
    }
}

/// Reports that a read-only call was retried. `failure` is the result of the first attempt.
#[must_use]
pub(super) fn retried_call_warning(
    provider: &ProviderAddr,
    call: &str,
    about: Option<&str>,
    failure: &Failure,
) -> Diagnostic {
    let Diagnostic { detail, subject, .. } =
        call_failure_diagnostic(provider, call, about, failure);
    let detail = format!(
        "{detail}\n\n{call} does not change anything, so it was retried, and the retry succeeded."
    );
    Diagnostic { subject, ..Diagnostic::warning(messages::PROVIDER_WAS_ASKED_SECOND_TIME, detail) }
}

/// Reports diagnostics of a provider, with the address and the block of their subject.
///
/// # Errors
/// Returns an error if the diagnostics contain one.
pub fn report_provider_diagnostics(
    diags: &mut Diagnostics,
    diagnostics: Vec<ProviderDiagnostic>,
    about: &str,
    block: Option<Span>,
) -> Result<(), Reported> {
    let mut result = Ok(());
    let mut left_out = [0_usize; 2];
    let mut shown = [0_usize; 2];
    for diagnostic in diagnostics {
        let severity = diagnostic.severity;
        let kind = usize::from(severity == Severity::Warning);
        // Counted by severity, because many warnings must not suppress the error after them.
        if shown[kind] == MAX_SHOWN_DIAGNOSTICS {
            left_out[kind] += 1;
            continue;
        }
        shown[kind] += 1;
        let summary = if diagnostic.summary.is_empty() {
            "The provider gave no summary".into()
        } else {
            truncate_text(diagnostic.summary, MAX_SHOWN_SUMMARY_LEN)
        };
        // Messages of a provider are not changed.
        let detail = truncate_text(diagnostic.detail, MAX_SHOWN_DETAIL_LEN);
        let mut converted =
            Diagnostic::foreign(severity, summary, detail).about(about).at_opt(block);
        // The built-in provider and mocks are parts of this program, so the user finds their messages in
        // its catalogue.
        converted.code = diagnostic.code;
        // An empty path refers to the whole block.
        if block.is_some() || !diagnostic.path.0.is_empty() {
            converted = converted.at_path(diagnostic.path);
        }
        match severity {
            Severity::Error => result = Err(diags.error(converted)),
            Severity::Warning => diags.warn(converted),
        }
    }
    for (n, severity) in left_out.into_iter().zip(["errors", "warnings"]).filter(|(n, _)| *n > 0) {
        let detail = format!(
            "The provider reported {n} more {severity} in the same response. The first {MAX_SHOWN_DIAGNOSTICS} of each severity are shown."
        );
        let summary = messages::DIAGNOSTICS_NOT_SHOWN.with(&[&n, &severity]);
        diags.warn(Diagnostic::warning(summary, detail).about(about).at_opt(block));
    }
    result
}

/// Truncates a string to a length in bytes, and appends the number of omitted bytes.
pub(crate) fn truncate_text(mut text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    // `truncate` panics within a character.
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let rest = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("… ({rest} more bytes)"));
    text
}

/// Returns the error for a resource type or data source of the configuration that the provider does not
/// have.
#[must_use]
pub fn unsupported_type_error(
    loaded: &LoadedProvider,
    name: &ResourceName,
    span: Span,
) -> Diagnostic {
    let (summary, construct, schemas) = match name.mode() {
        ResourceMode::Data => {
            (messages::INVALID_DATA_SOURCE, "data source", &loaded.provider_schema().data_sources)
        }
        ResourceMode::Ephemeral => (
            messages::INVALID_EPHEMERAL_RESOURCE,
            "ephemeral resource",
            &loaded.provider_schema().ephemeral_resources,
        ),
        ResourceMode::Managed => {
            (messages::INVALID_RESOURCE_TYPE, "resource type", &loaded.provider_schema().resources)
        }
    };
    let known = schemas.keys().map(String::as_str);
    let hint = formwork_lang::suggest::nearest_name(name.resource_type(), known)
        .map_or_else(String::new, |nearest| format!(" Did you mean {nearest:?}?"));
    let detail = format!(
        "The provider {} does not support {construct} {:?}.{hint}",
        loaded.provider_addr().display_string(),
        name.resource_type().as_str(),
    );
    Diagnostic::error(summary, detail).at(span)
}

/// Returns the error for objects in the state with a resource type that the provider no longer has.
#[must_use]
pub fn removed_type_error(loaded: &LoadedProvider, resource: &ResourceAddr) -> Diagnostic {
    let detail = format!(
        "The state contains {resource}, but the provider {} no longer supports its type. Use a version of the provider that supports it, or remove the resource from the state.",
        loaded.provider_addr().display_string(),
    );
    Diagnostic::error(messages::NO_SCHEMA_FOR_RESOURCE, detail)
        .blamed_on(Blame::Environment)
        .about(resource.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider_diagnostic(severity: Severity, detail: &str) -> ProviderDiagnostic {
        let (summary, detail) = ("said".to_owned(), detail.to_owned());
        ProviderDiagnostic { severity, summary, detail, path: Path::root(), code: None }
    }

    #[test]
    fn excess_provider_diagnostics_are_only_counted() {
        let mut diagnostics =
            vec![provider_diagnostic(Severity::Warning, ""); MAX_SHOWN_DIAGNOSTICS + 7];
        // An error counts independent of the number of warnings before it.
        diagnostics.push(provider_diagnostic(Severity::Error, ""));
        let mut diags = Diagnostics::new();
        assert!(report_provider_diagnostics(&mut diags, diagnostics, "t.a", None).is_err());
        assert_eq!(diags.len(), MAX_SHOWN_DIAGNOSTICS + 2);
        let last = diags.iter().last().unwrap();
        assert_eq!(last.summary, "7 more warnings are not shown");
    }

    #[test]
    fn builtin_provider_errors_have_codes_and_foreign_ones_do_not() {
        let own_error = own_provider_error(messages::NO_BACKENDS, String::new(), Path::root());
        let mut diags = Diagnostics::new();
        let both = vec![own_error, provider_diagnostic(Severity::Error, "")];
        assert!(report_provider_diagnostics(&mut diags, both, "t.a", None).is_err());
        let codes: Vec<_> = diags.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, [Some(messages::NO_BACKENDS.code), None]);
    }

    #[test]
    fn a_truncated_string_ends_with_the_length_of_the_rest() {
        assert_eq!(truncate_text("short".to_owned(), 5), "short");
        // Not within a character: `ö` has two bytes.
        assert_eq!(truncate_text("sööö".to_owned(), 4), "sö… (4 more bytes)");
        let long = provider_diagnostic(Severity::Warning, &"x".repeat(MAX_SHOWN_DETAIL_LEN + 3));
        let mut diags = Diagnostics::new();
        report_provider_diagnostics(&mut diags, vec![long], "t.a", None).unwrap();
        assert!(diags.iter().all(|one| one.detail.ends_with("… (3 more bytes)")));
    }
}
