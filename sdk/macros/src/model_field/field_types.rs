//! Names and types of fields, by their tokens.

use syn::{GenericArgument, PathArguments, Type};

/// Checks that the language takes the name of an attribute or block.
pub(crate) fn check_lower_snake_case_name(name: &str) -> Result<(), String> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_word = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    match is_word {
        true => Ok(()),
        false => Err(format!(
            "{name:?} is not a valid name: a name begins with a lower-case letter, and has \
             lower-case letters, digits and `_`; set another name with `name = \"…\"`"
        )),
    }
}

/// Whether the last word of a type's path is `name`.
pub(crate) fn is_type_named(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == name),
        _ => false,
    }
}

/// The type inside `Option` or `Attr`; any other as it is.
pub(super) fn type_in_option_or_attr(ty: &Type) -> &Type {
    match is_type_named(ty, "Option") || is_type_named(ty, "Attr") {
        true => last_type_argument(ty).unwrap_or(ty),
        false => ty,
    }
}

/// The last type argument: the content of an option, list, set or map.
pub(crate) fn last_type_argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    match &path.path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.last() {
            Some(GenericArgument::Type(inner)) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}
