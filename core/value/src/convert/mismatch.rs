//! Explains why no value of one type converts to another, in the terms of the language.

use crate::Type;
use crate::ty::ObjectType;
use crate::ty::conversion::{ConversionSafety, can_convert};

/// Explains why no value of type `got` converts to `want`, in the terms of the language. It must not be
/// called if some values convert.
#[must_use]
pub fn explain_mismatch(got: &Type, want: &Type) -> String {
    let required = || format!("{} required", want.friendly_constraint());
    match (got, want) {
        (Type::Object(got), Type::Object(want)) => explain_object_mismatch(got, want),
        (Type::Tuple(_), Type::List(element)) if **element == Type::Dynamic => {
            "all list elements must have the same type".into()
        }
        (Type::Tuple(_), Type::Set(element)) if **element == Type::Dynamic => {
            "all set elements must have the same type".into()
        }
        (Type::Object(_), Type::Map(element)) if **element == Type::Dynamic => {
            "all map elements must have the same type".into()
        }
        (Type::Tuple(elements), Type::List(want) | Type::Set(want)) => {
            let bad = elements.iter().enumerate().find(|(_, got)| !is_convertible(got, want));
            match bad {
                Some((at, got)) => format!("element {at}: {}", explain_mismatch(got, want)),
                None => format!("all elements must be {}", want.friendly_constraint()),
            }
        }
        (Type::Object(object), Type::Map(want)) => {
            let bad = object.attributes.iter().find(|(_, got)| !is_convertible(got, want));
            match bad {
                Some((name, got)) => {
                    format!("element {:?}: {}", name.as_str(), explain_mismatch(got, want))
                }
                None => format!("all elements must be {}", want.friendly_constraint()),
            }
        }
        (Type::List(got) | Type::Set(got), Type::List(want)) => {
            format!("incorrect list element type: {}", explain_mismatch(got, want))
        }
        (Type::List(got) | Type::Set(got), Type::Set(want)) => {
            format!("incorrect set element type: {}", explain_mismatch(got, want))
        }
        (Type::Map(got), Type::Map(want)) => {
            format!("incorrect map element type: {}", explain_mismatch(got, want))
        }
        _ => required(),
    }
}

fn is_convertible(got: &Type, want: &Type) -> bool {
    can_convert(got, want, ConversionSafety::Unsafe)
}

fn explain_object_mismatch(got: &ObjectType, want: &ObjectType) -> String {
    let missing: Vec<String> = want
        .attributes
        .keys()
        .filter(|name| !got.attributes.contains_key(*name) && !want.optional.contains(*name))
        .map(|name| format!("{:?}", name.as_str()))
        .collect();
    match missing.as_slice() {
        [] => {}
        [name] => return format!("attribute {name} is required"),
        [first, second] => return format!("attributes {first} and {second} are required"),
        [most @ .., last] => {
            return format!("attributes {}, and {last} are required", most.join(", "));
        }
    }
    let shared = || {
        want.attributes
            .iter()
            .filter_map(|(name, want)| Some((name, got.attributes.get(name)?, want)))
    };
    // A type that no value converts to is a worse mismatch than one that only some values do not
    // convert to.
    let worst = shared().find(|(_, got, want)| !is_convertible(got, want)).or_else(|| {
        shared().find(|(_, got, want)| !can_convert(got, want, ConversionSafety::Safe))
    });
    match worst {
        Some((name, got, want)) => {
            format!("attribute {:?}: {}", name.as_str(), explain_mismatch(got, want))
        }
        None => "incorrect object attributes".into(),
    }
}
