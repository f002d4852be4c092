//! The derives of the provider SDK. What they make is in terms of `formwork_sdk`; they decide nothing
//! about plans or values themselves.

mod attribute;
mod model;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct a model: each field is an attribute of the schema.
///
/// The doc comment of a field is its description; `#[attr(…)]` says the rest:
///
/// - one role: `required`, `optional`, `computed`, `optional_computed`;
/// - `default = EXPR`: the value when the author sets none (needs `optional_computed`);
/// - `keep`: the prior value stays when the author sets none (needs a computed role);
/// - `replace`: a change makes a new object; `replace_if = FUNCTION` asks
///   `fn(&FieldType, &FieldType) -> bool` with the prior and the planned value;
/// - `sensitive`, `write_only`, `deprecated = "what to use instead"`, `name = "…"`.
///
/// On the struct, `#[attr(deprecated = "…")]` deprecates the whole.
#[proc_macro_derive(Model, attributes(attr))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    model::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
