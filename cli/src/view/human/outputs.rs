//! Output values.

use formwork_core::change::{Action, OutputChange};
use formwork_core::state::State;
use formwork_lang::print_value::print_value;
use formwork_value::{Marks, Str};

use super::diff::{AlignedName, DiffRenderer};
use super::value::SENSITIVE_PLACEHOLDER;
use crate::view::Screen;

/// All outputs of a state in the format of the console. Sensitive values are hidden.
pub(crate) fn render_outputs(state: &State) -> String {
    let mut text = String::new();
    for (name, output) in &state.outputs {
        let value = if output.sensitive {
            "<sensitive>".to_owned()
        } else {
            print_value(output.value.value())
        };
        text.push_str(&format!("{name} = {value}\n"));
    }
    text
}

/// All outputs of a state in the format of objects.
pub(crate) fn render_state_outputs(screen: &Screen, state: &State) -> String {
    let differ = DiffRenderer { screen, signs: false, keeps: true, forces: &[] };
    let lines = state.outputs.iter().map(|(name, output)| match output.sensitive {
        true => format!("{name} = {SENSITIVE_PLACEHOLDER}\n"),
        false => format!("{name} = {}\n", differ.render_value(output.value.value())),
    });
    lines.collect()
}

/// Renders the output changes; empty without changes.
pub(crate) fn render_output_changes<'c>(
    screen: &Screen,
    outputs: impl Iterator<Item = (&'c Str, &'c OutputChange)>,
) -> String {
    let differ = DiffRenderer { screen, signs: true, keeps: false, forces: &[] };
    let outputs: Vec<_> = outputs.collect();
    // As in Terraform, unchanged outputs count too.
    let width = outputs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, change) in outputs.into_iter().filter(|(_, it)| it.action != Action::NoOp) {
        let mark = if change.sensitive { Marks::SENSITIVE } else { Marks::NONE };
        let (before, after) = (change.before.clone().mark(mark), change.after.clone().mark(mark));
        text.push_str(&differ.render_changed(
            AlignedName { text: name, width },
            &before,
            &after,
            4,
        ));
    }
    text
}
