//! Diagnostics for invalid references: names that are not declared in a module, keys that are
//! missing or superfluous. Finds none of them itself.

use formwork_lang::suggest::nearest_name;
use formwork_value::schema::Block as BlockSchema;
use formwork_value::{Diagnostic, Span};

use super::{Module, Output};
use crate::addr::reference::step_span;
use crate::addr::{ModulePath, Reference, ResourceMode, ResourceName};
use crate::messages;

/// The error for `var.NAME` without such a variable.
#[must_use]
pub(crate) fn undeclared_variable_error(module: &Module, name: &str, span: Span) -> Diagnostic {
    let hint = match nearest_name(name, module.variables.keys().map(|name| name.as_str())) {
        Some(suggestion) => format!("Did you mean {suggestion:?}?"),
        None => format!("This variable can be declared with a variable {name:?} {{}} block."),
    };
    Diagnostic::error(
        messages::REFERENCE_TO_UNDECLARED_INPUT_VARIABLE,
        format!("An input variable with the name {name:?} has not been declared. {hint}"),
    )
    .at(span)
}

/// The error for `local.NAME` without such a value.
#[must_use]
pub(crate) fn undeclared_local_error(module: &Module, name: &str, span: Span) -> Diagnostic {
    let hint = match nearest_name(name, module.locals.keys().map(|name| name.as_str())) {
        Some(suggestion) => format!(" Did you mean {suggestion:?}?"),
        None => String::new(),
    };
    Diagnostic::error(
        messages::REFERENCE_TO_UNDECLARED_LOCAL_VALUE,
        format!("A local value with the name {name:?} has not been declared.{hint}"),
    )
    .at(span)
}

/// The error for a reference to an undeclared resource.
#[must_use]
pub(crate) fn undeclared_resource_error(
    module: &Module,
    path: &ModulePath,
    name: &ResourceName,
    span: Span,
) -> Diagnostic {
    let other_mode = match name.mode() {
        ResourceMode::Managed => ResourceMode::Data,
        ResourceMode::Data | ResourceMode::Ephemeral => ResourceMode::Managed,
    };
    let other_name = ResourceName::new(other_mode, name.resource_type(), name.name());
    let hint = if module.resources.contains_key(&other_name) {
        match other_mode {
            ResourceMode::Data => format!("\n\nDid you mean the data resource {other_name}?"),
            _ => format!(" Did you mean `{other_name}`?"),
        }
    } else {
        let names = module.resources.keys().filter(|candidate| candidate.mode() == name.mode());
        let names: Vec<String> = names.map(ToString::to_string).collect();
        match nearest_name(&name.to_string(), names.iter().map(String::as_str)) {
            Some(suggestion) => format!(" Did you mean `{suggestion}`?"),
            None => String::new(),
        }
    };
    let subject = match name.mode() {
        ResourceMode::Managed => "A managed resource",
        ResourceMode::Data => "A data resource",
        ResourceMode::Ephemeral => "An ephemeral resource",
    };
    Diagnostic::error(
        messages::REFERENCE_TO_UNDECLARED_RESOURCE,
        format!(
            "{subject} {:?} {:?} has not been declared in {}.{hint}",
            name.resource_type(),
            name.name(),
            path.display_name()
        ),
    )
    .at(span)
}

/// The error for `module.NAME` without such a call.
#[must_use]
pub(crate) fn undeclared_module_call_error(
    module: &Module,
    path: &ModulePath,
    name: &str,
    span: Span,
) -> Diagnostic {
    let hint = match nearest_name(name, module.calls.keys().map(|name| name.as_str())) {
        Some(suggestion) => format!(" Did you mean `module.{suggestion}`?"),
        None => String::new(),
    };
    Diagnostic::error(
        messages::REFERENCE_TO_UNDECLARED_MODULE,
        format!("No module call named {name:?} is declared in {}.{hint}", path.display_name()),
    )
    .at(span)
}

/// The error for an attribute of a repeated resource without an instance key.
#[must_use]
pub(crate) fn missing_instance_key_error(name: &str, argument: &str, key: &str) -> Diagnostic {
    Diagnostic::error(
        messages::MISSING_RESOURCE_INSTANCE_KEY,
        format!(
            "Because {name} has {argument:?} set, its attributes must be accessed on specific instances.\n\nFor example, to correlate with indices of a referring resource, use:\n    {name}[{key}]"
        ),
    )
}

/// The error for an instance key of an object that is not repeated.
#[must_use]
pub(crate) fn unexpected_instance_key_error(name: &str) -> Diagnostic {
    Diagnostic::error(
        messages::UNEXPECTED_RESOURCE_INSTANCE_KEY,
        format!(
            "Because {name} does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the bracketed index to refer to the single instance of this resource."
        ),
    )
}

/// The error for an attribute that one of the language's own objects does not have.
#[must_use]
pub(crate) fn unknown_builtin_attribute_error(object: &str, name: &str, span: Span) -> Diagnostic {
    let detail = match (object, name) {
        ("terraform", "env") => "The terraform.env attribute was deprecated in v0.10 and removed in v0.12. The \"state environment\" concept was renamed to \"workspace\" in v0.12, and so the workspace name can now be accessed using the terraform.workspace attribute.".to_owned(),
        _ => format!(
            "The {object:?} object does not have an attribute named {name:?}. {}",
            format_builtin_attributes(object)
        ),
    };
    Diagnostic::error(messages::INVALID_OBJECT_ATTRIBUTE.with(&[&object]), detail).at(span)
}

/// Lists the attributes of one of the language's own objects.
fn format_builtin_attributes(object: &str) -> &'static str {
    match object {
        "path" => "The supported attributes are path.cwd, path.module, and path.root.",
        "terraform" => {
            "The only supported attributes are terraform.workspace, the name of the currently-selected workspace, and terraform.applying, a boolean which is true only during apply."
        }
        "count" => {
            "The only supported attribute is count.index, which is the index of each instance of a resource block that has the \"count\" argument set."
        }
        _ => {
            "The supported attributes are each.key and each.value, the current key and value pair of the \"for_each\" attribute set."
        }
    }
}

/// The attributes of one of the language's own objects.
pub(crate) fn builtin_object_attributes(object: &str) -> &'static [&'static str] {
    match object {
        "path" => &["cwd", "module", "root"],
        "terraform" => &["workspace", "applying"],
        "count" => &["index"],
        "each" => &["key", "value"],
        _ => &[],
    }
}

/// The error for an attribute or block that the schema of a resource does not have.
#[must_use]
pub(crate) fn unknown_block_attribute_error(
    block: &BlockSchema,
    name: &str,
    span: Span,
) -> Diagnostic {
    let names = block.attributes.keys().chain(block.blocks.keys());
    let hint = match nearest_name(name, names.map(|name| name.as_str())) {
        Some(suggestion) => format!(" Did you mean {suggestion:?}?"),
        None => String::new(),
    };
    let detail = format!(
        "This object has no argument, nested block, or exported attribute named {name:?}.{hint}"
    );
    Diagnostic::error(messages::UNSUPPORTED_ATTRIBUTE, detail).at(span)
}

/// The error for `count.index` outside of a block with `count`.
#[must_use]
pub(crate) fn count_without_count_error(span: Span) -> Diagnostic {
    Diagnostic::error(
        messages::COUNT_WITHOUT_COUNT,
        "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \"count\" argument is set.",
    )
    .at(span)
}

/// The error for `each.key` and `each.value` without `for_each`.
#[must_use]
pub(crate) fn each_without_for_each_error(name: &str, span: Span) -> Diagnostic {
    let (summary, detail) = match name {
        "value" => (
            messages::EACH_VALUE_UNAVAILABLE,
            "A reference to \"each.value\" has been used in a context in which it is unavailable, such as when the configuration no longer contains the value in its \"for_each\" expression. Remove this reference to each.value in your configuration to work around this error.",
        ),
        _ => (
            messages::EACH_WITHOUT_FOR_EACH,
            "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \"for_each\" argument is set.",
        ),
    };
    Diagnostic::error(summary, detail).at(span)
}

/// The error for an entry of `depends_on` that refers to a part of an object.
#[must_use]
pub(crate) fn depends_on_part_error(reference: &Reference) -> Option<Diagnostic> {
    let n_keys = usize::from(reference.instance_key().is_some());
    // An output of a module is an object itself.
    let n_whole = n_keys + usize::from(reference.module_output().is_some());
    if reference.remaining.len() <= n_whole {
        return None;
    }
    let last = reference.remaining[..n_whole].last();
    let start = last.map_or(reference.span, step_span).end;
    let detail = format!(
        "References in depends_on must be to a whole object (resource, etc), not to an attribute of an object. The object is `{}`.",
        reference.subject
    );
    // The parts of a quoted reference have no spans.
    let has_parts = start < reference.whole.end;
    let span = if has_parts { Span { start, ..reference.whole } } else { reference.whole };
    Some(Diagnostic::error(messages::INVALID_DEPENDS_ON_REFERENCE, detail).at(span))
}

/// The error for an ephemeral output of the root module.
#[must_use]
pub(crate) fn ephemeral_root_output_error(output: &Output) -> Diagnostic {
    let detail = "Ephemeral outputs are not allowed in context of a root module. Its outputs are stored; only outputs of called modules can be ephemeral.";
    Diagnostic::error(messages::EPHEMERAL_OUTPUT_NOT_ALLOWED, detail).at(output.span)
}

/// The error for `self` outside of the blocks in which it has an object.
#[must_use]
pub(crate) fn self_without_object_error(span: Span) -> Diagnostic {
    Diagnostic::error(
        messages::INVALID_SELF_REFERENCE,
        "The \"self\" object is not available in this context. This object can be used only in \
         resource provisioner, connection, and postcondition blocks.",
    )
    .at(span)
}
