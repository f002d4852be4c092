//! Names in expressions, and the variables that are bound for them.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::{Error, Expr, Ident, Result};

use super::args::ResourceStructField;
use crate::model_field::ModelField;

/// The words for a call and for its whole content.
const CALL_AND_OBJECT_VARIABLES: [&str; 5] = ["call", "planned", "config", "prior", "current"];

/// The free names in expressions, not after a dot.
#[derive(Default)]
pub(crate) struct ReferencedNames {
    names: BTreeSet<String>,
    /// Strings, in which `{name}` may be one.
    texts: Vec<String>,
}

impl ReferencedNames {
    /// The names of several expressions.
    pub(crate) fn in_expressions<'e>(expressions: impl IntoIterator<Item = &'e Expr>) -> Self {
        let mut names = Self::default();
        for expression in expressions {
            names.collect_names_and_literals(expression.to_token_stream());
        }
        names
    }

    fn collect_names_and_literals(&mut self, tokens: TokenStream) {
        // After one dot comes a field or method. After the two dots of a range, a name is free
        // again.
        let mut n_dots = 0;
        for token in tokens {
            let follows_dot = std::mem::take(&mut n_dots) == 1;
            match token {
                TokenTree::Group(group) => self.collect_names_and_literals(group.stream()),
                TokenTree::Punct(punct) if punct.as_char() == '.' => {
                    n_dots = if follows_dot { 2 } else { 1 };
                }
                TokenTree::Ident(ident) if !follows_dot => {
                    // `r#type` and `type` are one name.
                    self.names.insert(ident.unraw().to_string());
                }
                TokenTree::Literal(literal) => self.texts.push(literal.to_string()),
                _ => {}
            }
        }
    }

    /// Whether the expressions use a name.
    pub(crate) fn contains(&self, name: &Ident) -> bool {
        self.contains_name(&name.unraw().to_string())
    }

    pub(crate) fn contains_name(&self, name: &str) -> bool {
        // `{name}` and `{name:?}` in a format string use a variable too.
        let captures = ["}", ":"].map(|end| format!("{{{name}{end}"));
        let is_shown =
            |text: &String| captures.iter().any(|capture| text.contains(capture.as_str()));
        self.names.contains(name) || self.texts.iter().any(is_shown)
    }
}

/// The variables that an expression of an author can use, with their values.
pub(crate) struct ExpressionVariables {
    variables: Vec<(Ident, TokenStream)>,
}

impl ExpressionVariables {
    /// Fields that the handlers hold.
    pub(crate) fn of_struct_fields(fields: &[ResourceStructField]) -> Self {
        let variables = fields.iter().enumerate().map(|(index, field)| {
            let index = syn::Index::from(index);
            (field.ident.clone(), quote!(&self.#index))
        });
        Self { variables: variables.collect() }
    }

    /// A copy of each attribute's value, taken from a struct expression.
    pub(crate) fn with_attributes_of<'p>(
        mut self,
        parts: impl IntoIterator<Item = &'p ModelField<'p>>,
        place: &TokenStream,
    ) -> Self {
        self.variables.extend(parts.into_iter().map(|part| {
            let ident = part.ident;
            // A handler may move it, and a wait uses it in each attempt.
            (ident.clone(), quote!(::core::clone::Clone::clone(&#place.#ident)))
        }));
        self
    }

    /// One more.
    pub(crate) fn with_variable(mut self, ident: &Ident, value: TokenStream) -> Self {
        self.variables.push((ident.clone(), value));
        self
    }

    /// The variables that are referenced. An unused one causes no warning.
    pub(crate) fn referenced_bindings(&self, names: &ReferencedNames) -> TokenStream {
        let needed = self.variables.iter().filter(|(ident, _)| names.contains(ident));
        // A name may occur without a use of the variable, which would cause a warning.
        needed.map(|(ident, value)| quote!(let #ident = #value; let _ = &#ident;)).collect()
    }
}

/// Checks that each name has one meaning.
pub(crate) fn check_field_names_do_not_collide(
    fields: &[ResourceStructField],
    parts: &[ModelField<'_>],
) -> Result<()> {
    for field in fields {
        let is_taken = parts.iter().any(|part| *part.ident == field.ident)
            || CALL_AND_OBJECT_VARIABLES.iter().any(|reserved_name| field.ident == reserved_name);
        if is_taken {
            let name = &field.ident;
            let reason = format!("`{name}` has another meaning here; choose another name");
            return Err(Error::new(name.span(), reason));
        }
    }
    Ok(())
}

/// The attributes whose names have no other meaning.
pub(crate) fn unreserved_fields<'p>(
    parts: &'p [ModelField<'p>],
) -> impl Iterator<Item = &'p ModelField<'p>> {
    let is_whole = |part: &ModelField<'_>| {
        CALL_AND_OBJECT_VARIABLES.iter().any(|reserved_name| part.ident == reserved_name)
    };
    parts.iter().filter(move |part| !is_whole(part))
}

#[cfg(test)]
mod tests {
    use syn::parse_str;

    use super::*;

    #[test]
    fn a_name_after_a_dot_is_not_a_reference() {
        let table = [
            ("service.read(&id)", "id", true),
            ("service.id()", "id", false),
            ("service.find(a.id)", "id", false),
            ("(0..id)", "id", true),
            ("(0..=id)", "id", true),
            ("format!(\"{id}\")", "id", true),
            ("format!(\"{id:?} {other}\")", "id", true),
            ("format!(\"id {ids}\")", "id", false),
            ("service.read(r#type)", "type", true),
            ("{ let a = || async { id }; a() }", "id", true),
        ];
        for (text, name, expected) in table {
            let names = ReferencedNames::in_expressions([&parse_str(text).unwrap()]);
            assert_eq!(names.contains_name(name), expected, "{text}");
        }
    }
}
