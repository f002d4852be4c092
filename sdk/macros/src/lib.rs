//! Derives of the provider SDK. The generated code calls `formwork_sdk`, which has the logic of
//! plans and values.

mod attr_and_block_args;
mod client_conversions;
mod companion_struct;
mod function_arguments;
mod model;
mod model_field;
mod nested;
mod resource;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Turns a struct into a model: each field is an attribute of the schema, or a type of nested
/// blocks.
///
/// The doc comment of a field is its description. `#[attr(…)]` has its properties:
///
/// - one role: `required`, `optional` (an `Option`), `computed`, `optional_computed`;
/// - `default = EXPR`: the value when the author sets none; a bare `default` is that of the type;
/// - `keep`: the prior value is kept when the author sets none (needs a computed role);
/// - `replace`: a change forces replacement; `replace_if = FUNCTION` calls a
///   `fn(&Attr<T>, &Attr<T>) -> bool` with the prior and the planned value;
/// - checks of the author's values: `one_of = ["a", "b"]`, `range = 1..=10_i64`, `length = 1..=64`;
///   `check = FUNCTION` calls a `fn(&T) -> Result<(), String>`, whose error is the end of a
///   sentence that begins with the attribute: `must not have spaces`;
/// - `identity`, `identity(optional)`: a part of the identity of an object;
/// - `import`: the id by which users import an object;
/// - `fills`: the provider sets parts of the value;
/// - `sensitive`, `write_only`, `deprecated = "the replacement"`, `name = "…"`.
///
/// `#[attr(flatten)]` adds the attributes and blocks of another model to this one, as if they were
/// written here, for attributes that several models have in common. With `flatten, fills` the
/// provider sets some of them, with `flatten, computed` all of them. With `flatten, identity` some
/// of them identify an object.
///
/// `#[block]` turns a field of nested structs into a block type. The type of the field is their
/// number: `Option<T>` at most one, `T` exactly one, `Vec<T>`, `Set<T>` and `BTreeMap<String, T>`
/// any number. `#[block(min = 1, max = 3)]` limits the number in a collection; `group`, `fills`,
/// `replace`, `length`, `check`, `deprecated` and `name` are possible as well.
///
/// On the struct, `#[attr(deprecated = "…")]` deprecates the whole, and `conflicts(a, b)`,
/// `exactly_one_of(a, b)`, `at_least_one_of(a, b)` and `together(a, b)` are relations of fields.
///
/// `#[attr(from = client::Thing)]` on the struct converts from the struct of a client, which has
/// fields of the same names: `thing.with(found)` is the object with all of these;
/// `From<client::Thing>` is implemented for `Thing`, and for `ThingComputed`, if they have no other
/// fields. `#[attr(into = client::Thing)]` converts the author's attributes into the client's
/// struct. Fields convert by `Into`, and so do those inside `Option`, lists, sets and maps. A field
/// that the client's struct lacks is `local`; other fields of the client's struct are ignored when
/// it is read.
///
/// `#[resource(Things(service: Service), create = …, read = …, update = …, delete = …)]` on the
/// struct generates the resource type `Things(Service)`, whose handlers are these expressions:
///
/// - their variables are the service by its name (`service`), the values of attributes (of the plan
///   where authors set them, otherwise of the object), `call` as a reference to the request, and
///   the values as
///   a whole: `planned` in `create` and `update`, `config` there, `prior` in `update` and `delete`,
///   `current` in `read`. The last two and `config` are references, the others copies;
/// - they are futures of a `Result` with any error that can be a `Problem`: calls of an `async fn`, mostly;
/// - `create` returns `ThingComputed`, or the client's struct if it has all of these, or the value of the
///   computed attribute with the word `import` (without one, `()`): that is kept, and `read` is
///   called for the rest, for up to a minute;
/// - `read` returns the client's struct in an `Option`, or a `Thing` in one;
/// - `update` returns the same as `create`; or `()`, if the other computed attributes have the word
///   `keep` or are read;
/// - `delete` may return any value: the object counts as deleted;
/// - `ready(CONDITION, every = …, at_most = …, doubling_to = …)` calls `read` after `create` and `update`
///   until the condition on `found` holds, which may end the wait with `?`; `gone(every = …, …)`
///   calls it after `delete` until it returns `None`. `every` and the others are methods of
///   `formwork_sdk::timeouts::Wait`;
/// - `validate`, `modify_plan`, `import`, `import_by_identity`, `upgrade` and `take_over` are the handlers of
///   that name, with `call`; `version`, `upgrades`, `identity_version` and `identity_upgrades` are the items
///   of `formwork_sdk::Resource` with those names.
///
/// `create` is required; so are `read` and `delete`, if the resource type has a service; and
/// `update`, if an attribute is neither `replace` nor `local`.
///
/// For a model `Thing` the structs `ThingDraft`, `ThingInput` and `ThingComputed` are generated,
/// and `ThingIdentity`, if attributes have the word `identity`: see `formwork_sdk::Model`.
#[proc_macro_derive(Model, attributes(attr, block, resource))]
pub fn derive_model(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    model::expand_model_derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Turns a struct into a field type of models: a nested attribute or blocks. Its fields are
/// described as those of a model; `from` and `into` are possible as well.
///
/// For a struct `Part` the struct `PartDraft` is generated; and `PartInput`, if the provider sets
/// some of its attributes.
#[proc_macro_derive(Nested, attributes(attr, block))]
pub fn derive_nested(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    nested::expand_nested_derive(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Turns a struct into the parameters of a function: each field is a parameter, its doc comment the
/// description. Those of an `Option` may be null. `#[attr(variadic)]` on a last field `Vec<T>`
/// takes any number of further arguments. See `formwork_sdk::Function`.
#[proc_macro_derive(Arguments, attributes(attr))]
pub fn derive_arguments(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    function_arguments::expand_arguments_derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
