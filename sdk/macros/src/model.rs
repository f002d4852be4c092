//! `#[derive(Model)]`: schema, decoding and encoding of a struct, and the structs of other phases.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Error, Ident, Result};

use crate::attr_and_block_args::{StructArgs, doc_comment};
use crate::client_conversions::{self, InputAndComputedNames};
use crate::companion_struct::{CompanionStruct, from_impl_by_field, object_conversion_impl};
use crate::model_field::{ModelField, is_type_named, model_fields};
use crate::resource;

/// Returns the implementation of `Model` for the struct.
pub(crate) fn expand_model_derive(input: &DeriveInput) -> Result<TokenStream> {
    let args = StructArgs::from_attributes(&input.attrs)?;
    let parts = model_fields(input)?;
    parts.iter().try_for_each(check_name_and_type)?;
    let all_parts: Vec<_> = parts.iter().collect();
    let shape = shape_function(input, &args, &all_parts)?;
    let model = &input.ident;
    let assertions = parts.iter().map(ModelField::type_assertions);
    let own = object_conversion_impl(model, &all_parts, false);
    let (draft, views) = draft_struct(input, &all_parts);
    let (input_name, computed) = (format_ident!("{model}Input"), format_ident!("{model}Computed"));
    let settable = CompanionStruct {
        vis: &input.vis,
        ident: &input_name,
        doc: format!("Attributes of a [`{model}`] that the author of a configuration may set."),
        fields: parts
            .iter()
            .filter(|part| part.is_settable())
            .map(|part| (part, part.input_type()))
            .collect(),
        is_draft: false,
    };
    let computed_parts: Vec<_> = parts.iter().filter(|part| part.has_computed_part()).collect();
    let set = CompanionStruct {
        vis: &input.vis,
        ident: &computed,
        doc: format!("Attributes of a [`{model}`] that the provider sets."),
        fields: computed_parts.iter().map(|part| (*part, part.computed_type())).collect(),
        is_draft: false,
    };
    let (settable, set) = (settable.expand(), set.expand());
    let from_model = from_impl_by_field(model, &computed, &computed_parts, |part, value| {
        part.convert_to_computed(value)
    });
    let structs = InputAndComputedNames { settable: &input_name, computed: &computed };
    let alike = client_conversions::model_client_conversions(input, &args, &parts, &structs);
    // The id of an import is one string, and becomes the value of one attribute.
    let mut imported = parts.iter().filter(|part| part.is_import_id());
    if let (Some(_), Some(second)) = (imported.next(), imported.next()) {
        return Err(Error::new(second.ident.span(), "only one attribute can be the import id"));
    }
    let names = parts.iter().map(ModelField::names_const_entry);
    let has_write_only = parts.iter().any(ModelField::is_write_only);
    // As constant expressions: a macro sees only names of types, and the compiler their content.
    let write_only = parts.iter().map(ModelField::has_write_only_expression);
    let clashes = name_clash_assertions(&parts);
    let from_computed = from_impl_for_partial_draft(&computed, &draft, &parts, |part, value| {
        part.has_computed_part().then(|| part.convert_to_draft(value))
    });
    let is_identified = parts.iter().any(ModelField::is_in_identity);
    let changes = parts.iter().map(ModelField::needs_update_expression);
    let (identity, identity_view) = identity_type_and_conversion(input, &parts, &draft);
    let resource = resource::expand_resource_if_declared(input, &args, &parts)?;
    let (is_settable, is_filled) =
        (parts.iter().any(ModelField::is_settable), !computed_parts.is_empty());
    Ok(quote! {
        #own
        #views
        #settable
        #set
        #from_model
        #identity_view
        #alike

        impl ::formwork_sdk::Model for #model {
            type Draft = #draft;
            type Input = #input_name;
            type Computed = #computed;
            type Identity = #identity;
            type WriteOnly = <::formwork_sdk::model::WriteOnlyIf<{
                #has_write_only #(|| #write_only)*
            }> as ::formwork_sdk::model::ChooseWriteOnly>::Choice;

            const NAMES: &'static [::formwork_sdk::model::OwnOrFlattenedNames] = &[#(#names),*];
            const HAS_SETTABLE: bool = #is_settable;
            const HAS_COMPUTED: bool = #is_filled;
            const HAS_IDENTITY: bool = #is_identified;
            const CHANGES_IN_PLACE: bool = false #(|| #changes)*;

            #shape
        }

        #from_computed
        #(#assertions)*
        #clashes
        #resource
    })
}

/// Names that the language defines in blocks of resources and the like. Source: Terraform refuses
/// providers whose arguments have these names.
const RESERVED_ARGUMENT_NAMES: [&str; 7] =
    ["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];

/// Refuses attributes that no author of a configuration could write, and no host could send.
fn check_name_and_type(part: &ModelField<'_>) -> Result<()> {
    let refuse = |reason: &str| Err(Error::new(part.ident.span(), reason));
    let is_any = |names: &[&str]| names.iter().any(|name| is_type_named(part.ty, name));
    if !part.is_flattened() && RESERVED_ARGUMENT_NAMES.contains(&part.name.as_str()) {
        let reason = format!(
            "`{}` is a reserved name of the language; set another name with `name = \"…\"`",
            part.name
        );
        return refuse(&reason);
    }
    if part.is_import_id() && is_any(&["Vec", "Set", "BTreeSet", "BTreeMap"]) {
        return refuse("an import uses one string, number or boolean");
    }
    // Terraform refuses a schema of an identity with other types.
    if part.is_in_identity() && !part.is_flattened() && is_any(&["BTreeMap", "Set", "BTreeSet"]) {
        return refuse("an identity has strings, numbers, booleans, and lists of them");
    }
    Ok(())
}

/// A conversion into a draft whose known parts are those for which `known` returns an expression.
fn from_impl_for_partial_draft(
    from: &Ident,
    draft: &Ident,
    parts: &[ModelField<'_>],
    known: impl Fn(&ModelField<'_>, &TokenStream) -> Option<TokenStream>,
) -> TokenStream {
    let mut is_any_known = false;
    let fields: Vec<_> = parts
        .iter()
        .map(|part| {
            let ident = part.ident;
            let value = known(part, &quote!(from.#ident));
            is_any_known |= value.is_some();
            // At the type, so that an error about it is shown there.
            let nothing = || quote_spanned!(part.ty.span()=> ::core::default::Default::default());
            let value = value.unwrap_or_else(nothing);
            quote!(#ident: #value)
        })
        .collect();
    // An unused variable would cause a warning in the author's crate.
    let name = if is_any_known { quote!(from) } else { quote!(_) };
    quote! {
        impl ::core::convert::From<#from> for #draft {
            fn from(#name: #from) -> Self {
                Self { #(#fields,)* }
            }
        }
    }
}

/// The type of the identity, and its conversion to an object of which only that is known.
fn identity_type_and_conversion(
    input: &DeriveInput,
    parts: &[ModelField<'_>],
    draft: &Ident,
) -> (TokenStream, TokenStream) {
    let model = &input.ident;
    let identity_parts: Vec<_> = parts.iter().filter(|part| part.is_in_identity()).collect();
    if identity_parts.is_empty() {
        // The trait demands a conversion from every identity, also from one without attributes.
        let conversion = quote! {
            impl ::core::convert::From<()> for #draft {
                fn from((): ()) -> Self {
                    Self::default()
                }
            }
        };
        return (quote!(()), conversion);
    }
    let ident = format_ident!("{model}Identity");
    let view = CompanionStruct {
        vis: &input.vis,
        ident: &ident,
        doc: format!("Identity of a [`{model}`]."),
        fields: identity_parts.iter().map(|part| (*part, part.identity_type())).collect(),
        is_draft: false,
    };
    let view = view.expand();
    let conversion = from_impl_for_partial_draft(&ident, draft, parts, |part, value| {
        part.is_in_identity().then(|| part.convert_identity_to_draft(value))
    });
    (quote!(#ident), quote!(#view #conversion))
}

/// Assertions about names where other models are flattened into this one.
fn name_clash_assertions(parts: &[ModelField<'_>]) -> TokenStream {
    let flat: Vec<_> = parts.iter().filter(|part| part.is_flattened()).collect();
    // As assertions for the compiler, because this macro does not see the fields of other models.
    let mut checks = Vec::new();
    for (index, part) in flat.iter().enumerate() {
        let (ty, ident) = (part.ty, part.ident);
        let names = quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Model>::NAMES);
        for own_part in parts.iter().filter(|part| !part.is_flattened()) {
            let name = &own_part.name;
            let message = format!("`{name}` is already in `{ident}`");
            checks.push(quote_spanned! {own_part.ident.span()=>
                assert!(!::formwork_sdk::model::OwnOrFlattenedNames::list_contains_name(#name, #names), #message);
            });
        }
        // Against the later ones only, so that each pair is reported once.
        for other_part in &flat[index + 1..] {
            let (other_ty, other_part) = (other_part.ty, other_part.ident);
            let message =
                format!("`{ident}` and `{other_part}` have an attribute of the same name");
            checks.push(quote_spanned! {other_part.span()=>
                assert!(
                    !::formwork_sdk::model::OwnOrFlattenedNames::lists_share_name(
                        #names,
                        <#other_ty as ::formwork_sdk::Model>::NAMES,
                    ),
                    #message
                );
            });
        }
    }
    // Each in a constant of its own, so that the compiler reports all of them.
    quote!(#(const _: () = { #checks };)*)
}

/// The struct in which anything may be unknown, and how the model becomes one.
pub(crate) fn draft_struct(input: &DeriveInput, parts: &[&ModelField<'_>]) -> (Ident, TokenStream) {
    let model = &input.ident;
    let draft = format_ident!("{model}Draft");
    let view = CompanionStruct {
        vis: &input.vis,
        ident: &draft,
        doc: format!("A [`{model}`] with attributes that may be null or unknown."),
        fields: parts.iter().map(|part| (*part, part.draft_type())).collect(),
        is_draft: true,
    };
    let view = view.expand();
    let conversion =
        from_impl_by_field(model, &draft, parts, |part, value| part.convert_to_draft(&value));
    (draft, quote!(#view #conversion))
}

/// The function that returns the schema.
pub(crate) fn shape_function(
    input: &DeriveInput,
    args: &StructArgs,
    parts: &[&ModelField<'_>],
) -> Result<TokenStream> {
    let description = doc_comment(&input.attrs);
    let deprecated = args.deprecated.as_ref().map(|text| quote!(.deprecated(#text)));
    let definitions = parts.iter().map(|part| part.call_adding_to_shape());
    let mut relations = Vec::new();
    for relation in &args.relations {
        let mut names = Vec::new();
        for name in &relation.names {
            // A relation of an attribute to itself always holds, or never.
            if relation.names.iter().filter(|other_name| *other_name == name).count() > 1 {
                return Err(Error::new(name.span(), "this one is named twice"));
            }
            let Some(part) = parts.iter().find(|part| part.ident == name) else {
                return Err(Error::new(name.span(), "the struct has no such field"));
            };
            names.push(&part.name);
        }
        let kind = format_ident!("{}", relation.kind);
        relations.push(quote! {
            .relation(::formwork_sdk::check::Relation::new(
                ::formwork_sdk::check::RelationKind::#kind,
                &[#(#names),*],
            ))
        });
    }
    Ok(quote! {
        fn shape() -> ::formwork_sdk::schema::Shape {
            ::formwork_sdk::schema::Shape::new(#description)
                #deprecated
                #(#definitions)*
                #(#relations)*
        }
    })
}

#[cfg(test)]
mod tests {
    use syn::{Field, parse_quote};

    use super::*;

    fn refusal(input: &DeriveInput) -> String {
        expand_model_derive(input).expect_err("it does not fit together").to_string()
    }

    #[test]
    fn contradictory_arguments_are_refused_with_a_remedy() {
        let table: [(Field, &str); 21] = [
            (parse_quote!(#[attr(default = 1, default = 2)] a: i64), "`default` is repeated"),
            (parse_quote!(a: i64), "missing role"),
            (parse_quote!(#[attr(optional, computed)] a: i64), "has one role"),
            (parse_quote!(#[attr(optional, default = 1)] a: i64), "needs the role"),
            (parse_quote!(#[attr(required, keep)] a: i64), "`keep` needs a role"),
            (parse_quote!(#[attr(default = 1, keep)] a: i64), "both set"),
            (parse_quote!(#[attr(computed, write_only)] a: i64), "only the author sets"),
            (
                parse_quote!(#[attr(required, write_only, identity)] a: i64),
                "cannot be part of the identity",
            ),
            (parse_quote!(#[attr(required, replace, replace_if = f)] a: i64), "exclude each other"),
            (parse_quote!(#[attr(optionl)] a: i64), "not a word of `attr`"),
            (parse_quote!(#[attr(optional, name)] a: Option<i64>), "expected `=`"),
            (parse_quote!(#[attr(required)] a: Option<i64>), "without `Option`"),
            (parse_quote!(#[attr(optional)] a: i64), "write Option<"),
            (parse_quote!(#[attr(default = 1)] a: Option<i64>), "never absent"),
            (parse_quote!(#[attr(computed, range = 1..)] a: i64), "set by the provider"),
            (parse_quote!(#[attr(computed, fills)] a: B), "`fills` has no effect"),
            (parse_quote!(#[attr(required, min = 1)] a: Vec<B>), "not a word of `attr`"),
            (parse_quote!(#[block(min = 2, max = 1)] a: Vec<B>), "more than the maximum"),
            (parse_quote!(#[block] #[attr(required)] a: B), "a block has no role"),
            (parse_quote!(#[block(group)] a: Option<B>), "always present"),
            (parse_quote!(#[attr(required, one_of = [])] a: String), "list the valid strings"),
        ];
        for (field, expected) in table {
            let message = refusal(&parse_quote!(struct Model { #field }));
            assert!(message.contains(expected), "{expected}: {message}");
        }
        let message = refusal(&parse_quote!(
            #[attr(conflicts(a, b))]
            struct Model {
                #[attr(required)]
                a: i64,
            }
        ));
        assert_eq!(message, "the struct has no such field");
    }

    #[test]
    fn only_a_struct_with_named_fields_is_a_model() {
        let mistakes = [
            (
                refusal(&parse_quote!(
                    enum E {
                        A,
                    }
                )),
                "a model is a struct",
            ),
            (
                refusal(&parse_quote!(
                    struct S(i64);
                )),
                "give the fields names",
            ),
            (
                refusal(&parse_quote!(
                    struct S<T> {
                        a: T,
                    }
                )),
                "a model has no parameters",
            ),
        ];
        for (mistake, expected) in mistakes {
            assert_eq!(mistake, expected);
        }
        assert!(
            expand_model_derive(&parse_quote!(
                struct Empty;
            ))
            .is_ok()
        );
    }
}
