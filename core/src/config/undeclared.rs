//! Says that a name stands for nothing in a module, and which one may have been meant.

use formwork_lang::syntax::Ident;
use formwork_value::{Diagnostic, Span};

use super::Module;
use crate::addr::{Mode, ResourceName};

/// Names longer than this are not compared with others.
const MAX_COMPARED: usize = 100;

/// The error for `var.NAME` without such a variable.
#[must_use]
pub(crate) fn variable(module: &Module, name: &Ident, span: Span) -> Diagnostic {
    let name = &name.name;
    let hint = match nearest(name, module.variables.keys().map(|name| name.as_str())) {
        Some(other) => format!("Did you mean `var.{other}`?"),
        None => format!("Declare it with a block `variable \"{name}\" {{}}`."),
    };
    Diagnostic::error(
        "Reference to undeclared input variable",
        format!("There is no variable `{name}` in {}. {hint}", place(module)),
    )
    .at(span)
}

/// The error for `local.NAME` without such a value.
#[must_use]
pub(crate) fn local(module: &Module, name: &Ident, span: Span) -> Diagnostic {
    let name = &name.name;
    let hint = match nearest(name, module.locals.keys().map(|name| name.as_str())) {
        Some(other) => format!(" Did you mean `local.{other}`?"),
        None => String::new(),
    };
    Diagnostic::error(
        "Reference to undeclared local value",
        format!("There is no local value `{name}` in {}.{hint}", place(module)),
    )
    .at(span)
}

/// The error for a reference to a resource that is not there.
#[must_use]
pub(crate) fn resource(module: &Module, name: &ResourceName, span: Span) -> Diagnostic {
    let other_mode = match name.mode() {
        Mode::Managed => Mode::Data,
        Mode::Data | Mode::Ephemeral => Mode::Managed,
    };
    let other = ResourceName::new(other_mode, name.kind(), name.name());
    let hint = if module.resources.contains_key(&other) {
        format!(" Did you mean `{other}`?")
    } else {
        let names = module.resources.keys().filter(|other| other.mode() == name.mode());
        let names: Vec<String> = names.map(ToString::to_string).collect();
        match nearest(&name.to_string(), names.iter().map(String::as_str)) {
            Some(other) => format!(" Did you mean `{other}`?"),
            None => String::new(),
        }
    };
    let what = match name.mode() {
        Mode::Managed => "managed resource",
        Mode::Data => "data resource",
        Mode::Ephemeral => "ephemeral resource",
    };
    Diagnostic::error(
        "Reference to undeclared resource",
        format!("There is no {what} `{name}` in {}.{hint}", place(module)),
    )
    .at(span)
}

/// The error for `module.NAME` without such a call.
#[must_use]
pub(crate) fn call(module: &Module, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "Reference to undeclared module",
        format!("There is no module call `{name}` in {}.", place(module)),
    )
    .at(span)
}

fn place(module: &Module) -> String {
    if module.path.is_root() { "the root module".to_owned() } else { format!("`{}`", module.path) }
}

/// The candidate that differs from `name` in at most two letters, if there is one.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 2 * 4)
        .filter(|candidate| candidate.len() <= MAX_COMPARED && name.len() <= MAX_COMPARED)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= 2)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, removed or replaced to make one text of the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_at_most_two_letters_away() {
        let nearest = |name: &str| nearest(name, ["size", "sizes", "name", "x"].into_iter());
        assert_eq!(nearest("siz"), Some("size"));
        assert_eq!(nearest("szies"), Some("sizes"));
        assert_eq!(nearest("nsme"), Some("name"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }
}
