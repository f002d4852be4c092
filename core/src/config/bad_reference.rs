//! What is said of references that lead nowhere: names that stand for nothing in a module, keys that
//! are missing or too many. Finds none of them itself.

use formwork_lang::suggest::nearest;
use formwork_value::{Diagnostic, Span};

use super::{Module, Output};
use crate::addr::reference::step_span;
use crate::addr::{Mode, Reference, ResourceName};

/// The error for `var.NAME` without such a variable.
#[must_use]
pub(crate) fn variable(module: &Module, name: &str, span: Span) -> Diagnostic {
    let hint = match nearest(name, module.variables.keys().map(|name| name.as_str())) {
        Some(other) => format!("Did you mean {other:?}?"),
        None => format!("Declare it with a `variable {name:?} {{}}` block."),
    };
    Diagnostic::error(
        "Reference to undeclared input variable",
        format!("An input variable with the name {name:?} has not been declared. {hint}"),
    )
    .at(span)
}

/// The error for `local.NAME` without such a value.
#[must_use]
pub(crate) fn local(module: &Module, name: &str, span: Span) -> Diagnostic {
    let hint = match nearest(name, module.locals.keys().map(|name| name.as_str())) {
        Some(other) => format!(" Did you mean {other:?}?"),
        None => String::new(),
    };
    Diagnostic::error(
        "Reference to undeclared local value",
        format!("A local value with the name {name:?} has not been declared.{hint}"),
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
        format!(
            "A {what} {:?} {:?} has not been declared in {}.{hint}",
            name.kind(),
            name.name(),
            place(module)
        ),
    )
    .at(span)
}

/// The error for `module.NAME` without such a call.
#[must_use]
pub(crate) fn call(module: &Module, name: &str, span: Span) -> Diagnostic {
    let hint = match nearest(name, module.calls.keys().map(|name| name.as_str())) {
        Some(other) => format!(" Did you mean `module.{other}`?"),
        None => String::new(),
    };
    Diagnostic::error(
        "Reference to undeclared module",
        format!("No module call named {name:?} is declared in {}.{hint}", place(module)),
    )
    .at(span)
}

/// The error for an attribute taken of all instances at once.
#[must_use]
pub(crate) fn missing_key(name: &str, argument: &str, key: &str) -> Diagnostic {
    Diagnostic::error(
        "Missing resource instance key",
        format!(
            "Because {name} has {argument:?} set, its attributes must be accessed on specific instances, \
             for example `{name}[{key}]`, or on all with `{name}[*]`."
        ),
    )
}

/// The error for an instance taken of something that is not repeated.
#[must_use]
pub(crate) fn unexpected_key(name: &str) -> Diagnostic {
    Diagnostic::error(
        "Unexpected resource instance key",
        format!(
            "Because {name} does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the key in brackets."
        ),
    )
}

/// The error for an attribute that one of the language's own objects does not have.
#[must_use]
pub(crate) fn attribute(object: &str, name: &str, span: Span) -> Diagnostic {
    let detail = match (object, name) {
        ("terraform", "env") => "`terraform.env` is now called `terraform.workspace`.".to_owned(),
        _ => {
            let there: Vec<String> =
                attributes_of(object).iter().map(|name| format!("`{name}`")).collect();
            format!(
                "The {object:?} object does not have an attribute named {name:?}. It has {}.",
                there.join(" and ")
            )
        }
    };
    Diagnostic::error(format!("Invalid \"{object}\" attribute"), detail).at(span)
}

/// The attributes of one of the language's own objects.
pub(crate) fn attributes_of(object: &str) -> &'static [&'static str] {
    match object {
        "path" => &["cwd", "module", "root"],
        "terraform" => &["workspace", "applying"],
        "count" => &["index"],
        "each" => &["key", "value"],
        _ => &[],
    }
}

/// The error for `count.index` where nothing is counted.
#[must_use]
pub(crate) fn count(span: Span) -> Diagnostic {
    Diagnostic::error(
        "Reference to \"count\" in non-counted context",
        "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \"count\" argument is set.",
    )
    .at(span)
}

/// The error for `each.key` and `each.value` where there is no `for_each`.
#[must_use]
pub(crate) fn each(name: &str, span: Span) -> Diagnostic {
    let summary = match name {
        "value" => "each.value cannot be used in this context",
        _ => "Reference to \"each\" in context without for_each",
    };
    let detail = "The \"each\" object can be used only in blocks with a \"for_each\" argument, and has a value \
                  only while its key is among the elements.";
    Diagnostic::error(summary, detail).at(span)
}

/// The error for an entry of `depends_on` that is part of something.
#[must_use]
pub(crate) fn partial(reference: &Reference) -> Option<Diagnostic> {
    let n_keys = usize::from(reference.instance_key().is_some());
    // An output of a module is something of its own.
    let n_whole = n_keys + usize::from(reference.output().is_some());
    if reference.remaining.len() <= n_whole {
        return None;
    }
    let last = reference.remaining[..n_whole].last();
    let start = last.map_or(reference.span, step_span).end;
    let detail = format!(
        "An entry of `depends_on` must be a whole object, such as `{}`, and not a part of one.",
        reference.subject
    );
    // In quotes the parts have no places of their own.
    let has_parts = start < reference.whole.end;
    let place = if has_parts { Span { start, ..reference.whole } } else { reference.whole };
    Some(Diagnostic::error("Invalid depends_on reference", detail).at(place))
}

/// The error for an ephemeral output of the root module.
#[must_use]
pub(crate) fn ephemeral_output(output: &Output) -> Diagnostic {
    let detail = "An output of the root module is stored, so it cannot be ephemeral. Only outputs of called modules can.";
    Diagnostic::error("Ephemeral output not allowed", detail).at(output.span)
}

/// The error for `self` where there is no object it could mean.
#[must_use]
pub(crate) fn self_object(span: Span) -> Diagnostic {
    Diagnostic::error(
        "Invalid \"self\" reference",
        "The \"self\" object is not available in this context. It is available in postconditions, \
         provisioners and connections, where it means the object of that resource.",
    )
    .at(span)
}

fn place(module: &Module) -> String {
    if module.is_root {
        "the root module".to_owned()
    } else {
        format!("the module in `{}`", module.dir.display())
    }
}
