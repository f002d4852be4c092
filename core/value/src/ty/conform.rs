//! Conformance of types: whether a value of one type is accepted for another type without conversion.

use super::Type;

impl Type {
    /// Returns whether values of this type are accepted for `wanted`: it is the same type, except where
    /// `wanted` contains [`Type::Dynamic`]. A part of unknown type, such as an untyped null, always
    /// conforms.
    #[must_use]
    pub fn conforms_to(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Dynamic, _) | (_, Self::Dynamic) => true,
            (Self::List(got), Self::List(wanted))
            | (Self::Set(got), Self::Set(wanted))
            | (Self::Map(got), Self::Map(wanted)) => got.conforms_to(wanted),
            (Self::Tuple(got), Self::Tuple(wanted)) => {
                got.len() == wanted.len()
                    && got.iter().zip(wanted.iter()).all(|(got, wanted)| got.conforms_to(wanted))
            }
            (Self::Object(got), Self::Object(wanted)) => {
                got.attributes.len() == wanted.attributes.len()
                    && got
                        .attributes
                        .iter()
                        .zip(&wanted.attributes)
                        .all(|((a, got), (b, wanted))| a == b && got.conforms_to(wanted))
            }
            (got, wanted) => got == wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_parts_accept_any_type_and_others_only_their_own() {
        let object = |ty: Type| Type::object([("a", ty)]);
        let table = [
            (Type::String, Type::Dynamic, true),
            (Type::Dynamic, Type::String, true),
            (Type::String, Type::Number, false),
            (Type::list(Type::String), Type::list(Type::Dynamic), true),
            (Type::list(Type::String), Type::set(Type::String), false),
            (object(Type::Bool), object(Type::Dynamic), true),
            (object(Type::Bool), object(Type::String), false),
            (object(Type::Bool), Type::object([("b", Type::Bool)]), false),
            (Type::tuple(vec![Type::Bool]), Type::tuple(vec![]), false),
        ];
        for (got, wanted, answer) in table {
            assert_eq!(got.conforms_to(&wanted), answer, "{got} {wanted}");
        }
    }
}
