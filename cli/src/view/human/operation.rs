//! Events of planning and applying, one line for each.

use std::cell::RefCell;

use formwork_core::addr::{DeposedKey, InstanceAddr};
use formwork_core::change::{Action, ImportKey};
use formwork_core::event::{Event, EventObserver, ObjectLabel};

use crate::view::elapsed::format_seconds;
use crate::view::phase_counter::PhaseCounter;
use crate::view::{Paint, Screen, ephemeral, print_out, sanitize};

/// Prints events as they happen.
pub(crate) struct OperationPrinter {
    screen: Screen,
    /// Set on a terminal that can erase its last line.
    counter: Option<RefCell<PhaseCounter>>,
}

impl OperationPrinter {
    /// Prints to this screen.
    pub(crate) fn new(screen: Screen) -> Self {
        let counter = screen.erases.then(|| RefCell::new(PhaseCounter::new(screen.width)));
        Self { screen, counter }
    }

    fn print_line(&self, addr: &InstanceAddr, deposed: Option<&DeposedKey>, text: &str) {
        let deposed = deposed.map_or_else(String::new, |key| {
            format!(" (deposed object {})", sanitize::sanitize_line(&key.0))
        });
        print_out(&format!(
            "{}\n",
            self.screen.paint(Paint::Bold, &format!("{addr}{deposed}: {text}"))
        ));
    }
}

fn label_suffix(label: Option<&ObjectLabel>) -> String {
    shown_label(label).map_or_else(String::new, |text| format!(" [{text}]"))
}

/// An empty label is not shown.
fn shown_label(label: Option<&ObjectLabel>) -> Option<String> {
    let ObjectLabel { key, value } = label.filter(|label| !label.value.is_empty())?;
    Some(format!("{key}={}", sanitize::sanitize_line(value)))
}

/// A label with a long value shortened in the middle, for repeated lines.
fn shorten_label(ObjectLabel { key, value }: &ObjectLabel) -> ObjectLabel {
    const MAX_LABEL_LENGTH: usize = 80;
    let n_characters = value.chars().count();
    if n_characters <= MAX_LABEL_LENGTH {
        return ObjectLabel { key, value: value.clone() };
    }
    let (n_first, n_last) = (MAX_LABEL_LENGTH / 2 - 1, MAX_LABEL_LENGTH / 2 - 2);
    let first: String = value.chars().take(n_first).collect();
    let last: String = value.chars().skip(n_characters - n_last).collect();
    ObjectLabel { key, value: format!("{first}...{last}") }
}

fn import_key_in_brackets(import_key: &ImportKey) -> String {
    match import_key {
        ImportKey::Id(id) => format!("[id={}]", sanitize::sanitize_line(id)),
        ImportKey::Identity(_) => format!("[{}]", sanitize::sanitize_line(&import_key.to_string())),
    }
}

/// The words for a change by a provider.
struct ChangeWords {
    start: &'static str,
    progress: &'static str,
    noun: &'static str,
}

/// The words for an action; `None` for an action without a provider call.
fn change_words(action: Action) -> Option<ChangeWords> {
    let (start, progress, noun) = match action {
        Action::Create | Action::Replace(_) => ("Creating...", "Still creating...", "Creation"),
        Action::Update => ("Modifying...", "Still modifying...", "Modifications"),
        Action::Delete => ("Destroying...", "Still destroying...", "Destruction"),
        Action::Read => ("Reading...", "Still reading...", "Read"),
        Action::NoOp | Action::Forget => return None,
    };
    Some(ChangeWords { start, progress, noun })
}

impl EventObserver for OperationPrinter {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::RefreshStart { addr, deposed, label } => {
                self.print_line(
                    addr,
                    *deposed,
                    &format!("Refreshing state...{}", label_suffix(label.as_ref())),
                );
            }
            Event::InstanceCount { phase, done, total } => {
                if let Some(counter) = &self.counter {
                    counter.borrow_mut().show_progress(*phase, *done, *total);
                }
            }
            Event::RefreshDone { .. } | Event::Planned(_) | Event::ImportFound { .. } => {}
            Event::ImportStart { addr, import_key, applying } => {
                let phrase = if *applying { "Importing..." } else { "Preparing import..." };
                self.print_line(
                    addr,
                    None,
                    &format!("{phrase} {}", import_key_in_brackets(import_key)),
                );
            }
            Event::ImportDone { addr, import_key } => {
                self.print_line(
                    addr,
                    None,
                    &format!("Import complete {}", import_key_in_brackets(import_key)),
                );
            }
            Event::ChangeStart { addr, deposed, action, label } => {
                let Some(words) = change_words(*action) else { return };
                self.print_line(
                    addr,
                    *deposed,
                    &format!("{}{}", words.start, label_suffix(label.as_ref())),
                );
            }
            Event::ChangeProgress { addr, action, label, elapsed } => {
                let Some(ChangeWords { progress, .. }) = change_words(*action) else { return };
                let label = label.as_ref().map(shorten_label);
                let label = shown_label(label.as_ref());
                let label = label.map_or_else(String::new, |text| format!("{text}, "));
                self.print_line(
                    addr,
                    None,
                    &format!("{progress} [{label}{} elapsed]", format_seconds(*elapsed)),
                );
            }
            Event::ChangeDone { addr, action, label, elapsed, .. } => {
                let Some(ChangeWords { noun, .. }) = change_words(*action) else { return };
                let label = label.as_ref().filter(|_| *action != Action::Delete);
                self.print_line(
                    addr,
                    None,
                    &format!(
                        "{noun} complete after {}{}",
                        format_seconds(*elapsed),
                        label_suffix(label)
                    ),
                );
            }
            Event::ProvisionStart { addr, kind } => {
                self.print_line(addr, None, &format!("Provisioning with '{kind}'..."));
            }
            Event::ProvisionOutput { addr, kind, text } => {
                print_out(&provisioner_output_text(&self.screen, addr, kind, text));
            }
            Event::ProvisionDone { .. } | Event::ProvisionFailed { .. } => {}
            Event::Ephemeral { addr, step, stage } => {
                self.print_line(addr, None, &ephemeral::ephemeral_step_sentence(*step, *stage));
            }
            Event::ChangeFailed { addr, action, elapsed } => {
                let Some(ChangeWords { noun, .. }) = change_words(*action) else { return };
                self.print_line(
                    addr,
                    None,
                    &format!("{noun} errored after {}", format_seconds(*elapsed)),
                );
            }
        }
    }
}

/// Output of a provisioner, each line with its source as prefix and without trailing white space. Colours are
/// kept.
fn provisioner_output_text(screen: &Screen, addr: &InstanceAddr, kind: &str, text: &str) -> String {
    let prefix = screen.paint(Paint::Bold, &format!("{addr} ({kind}):"));
    let lines = text.split(['\n', '\r']).map(str::trim_end).filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| format!("{prefix} {line}")).collect();
    format!("{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_control_the_terminal() {
        let id = "x\u{1b}]0;pwned\u{7}\u{202e}\ny".to_owned();
        let escaped = "x\\u001b]0;pwned\\u0007\\u202e\\ny";
        let label = ObjectLabel { key: "id", value: id.clone() };
        assert_eq!(label_suffix(Some(&label)), format!(" [id={escaped}]"));
        assert_eq!(
            import_key_in_brackets(&ImportKey::Id(id.as_str().into())),
            format!("[id={escaped}]")
        );
    }

    #[test]
    fn a_long_id_is_shortened_in_repeated_lines() {
        let shortened =
            |value: &str| shorten_label(&ObjectLabel { key: "id", value: value.to_owned() }).value;
        let id = "0123456789".repeat(8);
        assert_eq!(shortened(&id), id);
        let shorter = format!("{}...{}", &id[..39], &id[2..40]);
        assert_eq!(shortened(&"0123456789".repeat(10)), shorter);
        assert_eq!(shortened(&"ö".repeat(81)).chars().count(), 80);
    }

    #[test]
    fn every_line_of_a_provisioner_names_its_source() {
        let screen = Screen { color: false, width: 80, erases: false };
        let addr = "a.b[0]".parse().unwrap();
        let output = |text: &str| provisioner_output_text(&screen, &addr, "local-exec", text);
        assert_eq!(output("hi \r"), "a.b[0] (local-exec): hi\n");
        assert_eq!(output(" a\n\nb"), "a.b[0] (local-exec):  a\na.b[0] (local-exec): b\n");
        assert_eq!(output("a\rb"), "a.b[0] (local-exec): a\na.b[0] (local-exec): b\n");
        assert_eq!(output(""), "\n");
    }
}
