//! Diagnostics and the paths in them. Reading one never fails: a provider's message is shown as
//! well as possible.

use formwork_value::diag::Severity;
use formwork_value::{Number, Path, Step};

use super::InvalidMessage;
use crate::message::ProviderDiagnostic;
use crate::wire::generated::tfplugin6 as v6;
use v6::attribute_path::step::Selector;
use v6::diagnostic::Severity as WireSeverity;

/// Writes diagnostics.
pub(super) fn encode_diagnostics(diagnostics: Vec<ProviderDiagnostic>) -> Vec<v6::Diagnostic> {
    diagnostics.into_iter().map(Into::into).collect()
}

/// Reads diagnostics.
pub(super) fn decode_diagnostics(wire: Vec<v6::Diagnostic>) -> Vec<ProviderDiagnostic> {
    wire.into_iter().map(Into::into).collect()
}

impl From<ProviderDiagnostic> for v6::Diagnostic {
    fn from(diagnostic: ProviderDiagnostic) -> Self {
        let severity = match diagnostic.severity {
            Severity::Error => WireSeverity::Error,
            Severity::Warning => WireSeverity::Warning,
        };
        // The root and no path mean the same: the whole configuration.
        let attribute = (!diagnostic.path.0.is_empty()).then(|| encode_path(&diagnostic.path));
        Self {
            severity: severity.into(),
            summary: diagnostic.summary,
            detail: diagnostic.detail,
            attribute,
        }
    }
}

impl From<v6::Diagnostic> for ProviderDiagnostic {
    fn from(wire: v6::Diagnostic) -> Self {
        let mut detail = wire.detail;
        let severity = match WireSeverity::try_from(wire.severity) {
            Ok(WireSeverity::Error) => Severity::Error,
            Ok(WireSeverity::Warning) => Severity::Warning,
            // Terraform treats it as neither of the two and continues, which could hide an error.
            Ok(WireSeverity::Invalid) | Err(_) => {
                let note = "The provider did not say whether this is an error or a warning; it is \
                            taken for an error.";
                detail =
                    if detail.is_empty() { note.into() } else { format!("{detail}\n\n{note}") };
                Severity::Error
            }
        };
        let steps = wire.attribute.unwrap_or_default().steps.into_iter();
        // A step without a selector ends the path: the enclosing value is the best position to
        // show.
        let path = Path(steps.map_while(|step| step.selector.map(decode_step)).collect());
        Self { severity, summary: wire.summary, detail, path, code: None }
    }
}

fn decode_step(selector: Selector) -> Step {
    match selector {
        Selector::AttributeName(name) => Step::Attribute(name.into()),
        Selector::ElementKeyString(key) => Step::Key(key.into()),
        Selector::ElementKeyInt(index) => Step::Index(Number::from(index)),
    }
}

/// Reads a path that the host acts on.
pub(super) fn decode_path(wire: v6::AttributePath) -> Result<Path, InvalidMessage> {
    let steps = wire.steps.into_iter().map(|step| {
        step.selector
            .map(decode_step)
            .ok_or_else(|| InvalidMessage::new("a path has a step without content"))
    });
    Ok(Path(steps.collect::<Result<_, _>>()?))
}

/// Writes a path, up to the first step that the wire has no form for.
pub(super) fn encode_path(path: &Path) -> v6::AttributePath {
    let selector = |step: &Step| {
        Some(match step {
            Step::Attribute(name) => Selector::AttributeName(name.to_string()),
            Step::Key(key) => Selector::ElementKeyString(key.to_string()),
            Step::Index(index) => Selector::ElementKeyInt(index.to_i64()?),
        })
    };
    let steps = path.0.iter().map_while(selector);
    let steps = steps.map(|selector| v6::attribute_path::Step { selector: Some(selector) });
    v6::AttributePath { steps: steps.collect() }
}
