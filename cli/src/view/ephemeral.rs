//! Messages about ephemeral resources, shared by human-readable and JSON output.

use formwork_core::event::{EphemeralStage, EphemeralStep};

use super::elapsed::format_seconds;

/// The sentence after the address.
pub(crate) fn ephemeral_step_sentence(step: EphemeralStep, stage: EphemeralStage) -> String {
    let noun = match step {
        EphemeralStep::Open => "Opening",
        EphemeralStep::Renew => "Renewal",
        EphemeralStep::Close => "Closing",
    };
    match (stage, step) {
        (EphemeralStage::Progress(elapsed), _) => {
            let verb_phrase = match step {
                EphemeralStep::Open => "opening",
                EphemeralStep::Renew => "renewing",
                EphemeralStep::Close => "closing",
            };
            format!("Still {verb_phrase}... [{} elapsed]", format_seconds(elapsed))
        }
        (EphemeralStage::Start, EphemeralStep::Renew) => "Renewing...".to_owned(),
        (EphemeralStage::Start, _) => format!("{noun}..."),
        (EphemeralStage::Deferred, _) => "Configuration unknown, deferring...".to_owned(),
        (EphemeralStage::Done(elapsed), _) => {
            format!("{noun} complete after {}", format_seconds(elapsed))
        }
        (EphemeralStage::Failed(elapsed), _) => {
            format!("{noun} errored after {}", format_seconds(elapsed))
        }
    }
}
