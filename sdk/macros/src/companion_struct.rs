//! Structs generated for a model: some of its fields, in the types of another phase.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Ident, Visibility};

use crate::model_field::ModelField;

/// A struct to generate.
pub(crate) struct CompanionStruct<'v, 'i> {
    pub(crate) vis: &'v Visibility,
    pub(crate) ident: &'v Ident,
    pub(crate) doc: String,
    pub(crate) fields: Vec<(&'v ModelField<'i>, TokenStream)>,
    /// Whether it can represent unknown and null values.
    pub(crate) is_draft: bool,
}

impl CompanionStruct<'_, '_> {
    /// The struct and its implementations.
    pub(crate) fn expand(&self) -> TokenStream {
        let Self { vis, ident, doc, fields, is_draft } = self;
        let definitions = fields.iter().map(|(part, ty)| {
            let (vis, ident) = (part.vis, part.ident);
            let doc = match part.description.as_str() {
                "" => format!("`{}`", part.name),
                description => description.to_owned(),
            };
            quote!(#[doc = #doc] #vis #ident: #ty)
        });
        // Handlers create drafts with a few known parts, and compare them.
        let derives = is_draft.then(|| quote!(Default, PartialEq,));
        let parts: Vec<_> = fields.iter().map(|(part, _)| *part).collect();
        let view = object_conversion_impl(ident, &parts, *is_draft);
        let debug = debug_impl(ident, &parts);
        quote! {
            #[doc = #doc]
            #[derive(#derives Clone)]
            #vis struct #ident {
                #(#definitions,)*
            }

            #view
            #debug
        }
    }
}

/// Conversions of a struct from and to values.
pub(crate) fn object_conversion_impl(
    ident: &Ident,
    parts: &[&ModelField<'_>],
    is_draft: bool,
) -> TokenStream {
    let reads = parts.iter().map(|part| field_read(part));
    let mut plain_parts: Vec<_> = parts.iter().filter(|part| !part.is_flattened()).collect();
    // Objects have their attributes in the order of names, so that the values can be compared in
    // pairs.
    plain_parts.sort_by(|first, second| first.name.cmp(&second.name));
    let flat = parts.iter().filter(|part| part.is_flattened());
    let (n_own, flat): (_, Vec<_>) = (plain_parts.len(), flat.map(|part| part.ident).collect());
    let names: Vec<_> = plain_parts.iter().map(|part| &part.name).collect();
    let idents: Vec<_> = plain_parts.iter().map(|part| part.ident).collect();
    // The names of a flattened model are not known here, so such objects are compared as values.
    let same = flat.is_empty().then(|| fields_equal_expression(&idents));
    let values = plain_parts.iter().map(|part| {
        let ident = part.ident;
        quote_spanned!(part.ty.span()=> ::formwork_sdk::Field::to_value(&self.#ident))
    });
    let names = quote! {
        static SORTED_NAMES: ::formwork_sdk::model::SortedNames<#n_own> =
            ::formwork_sdk::model::SortedNames::from_sorted([#(#names),*]);
    };
    let same = same.map(|same| {
        quote! {
            fn same_as(&self, value: &::formwork_sdk::value::Value) -> bool {
                #names
                #same
            }
        }
    });
    let build_own = quote! {
        #names
        let own = SORTED_NAMES.build_object([#(#values),*]);
    };
    let object = object_expression(&flat);
    quote! {
        impl ::formwork_sdk::ObjectConversion for #ident {
            const HOLDS_UNKNOWN: bool = #is_draft;

            fn from_value(
                value: &::formwork_sdk::value::Value,
            ) -> ::core::result::Result<Self, ::formwork_sdk::value::convert::ConversionError> {
                ::formwork_sdk::model::require_object(value)?;
                ::core::result::Result::Ok(Self { #(#reads,)* })
            }

            fn to_value(&self) -> ::formwork_sdk::value::Value {
                #build_own
                #object
            }

            #same
        }
    }
}

/// The initialization of a field from a value.
fn field_read(part: &ModelField<'_>) -> TokenStream {
    let (ident, name, span) = (part.ident, &part.name, part.ty.span());
    // At the type, so that an error about a type that is not a field is shown there.
    match part.is_flattened() {
        true => {
            quote_spanned!(span=> #ident: ::formwork_sdk::ObjectConversion::from_value(value)?)
        }
        false => {
            quote_spanned!(span=> #ident: ::formwork_sdk::model::read_attribute(value, #name)?)
        }
    }
}

/// The object of the attributes `own` and of the flattened models.
fn object_expression(flat: &[&Ident]) -> TokenStream {
    match flat.is_empty() {
        true => quote!(own),
        false => quote! {
            ::formwork_sdk::model::merge_objects([
                own,
                #(::formwork_sdk::ObjectConversion::to_value(&self.#flat)),*
            ])
        },
    }
}

/// Whether every field equals the value of its name; the names are sorted.
fn fields_equal_expression(idents: &[&Ident]) -> TokenStream {
    let values: Vec<_> =
        (0..idents.len()).map(|index| quote::format_ident!("value_{index}")).collect();
    quote! {
        match SORTED_NAMES.values_of_object(value) {
            ::core::option::Option::Some([#(#values),*]) => {
                true #(&& ::formwork_sdk::Field::same_as(&self.#idents, #values))*
            }
            ::core::option::Option::None => false,
        }
    }
}

/// A printed form, without sensitive values.
fn debug_impl(ident: &Ident, parts: &[&ModelField<'_>]) -> TokenStream {
    let text = ident.to_string();
    let fields = parts.iter().map(|part| {
        let (ident, name) = (part.ident, part.ident.to_string());
        // Without this, an attribute that is sensitive and of a plain type would be printed.
        match part.is_sensitive_or_write_only() {
            true => quote!(.field(#name, &::core::format_args!("(sensitive)"))),
            false => quote!(.field(#name, &self.#ident)),
        }
    });
    quote! {
        impl ::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#text) #(#fields)* .finish()
            }
        }
    }
}

/// A conversion that takes some fields over, each changed by `change`.
pub(crate) fn from_impl_by_field(
    from: &Ident,
    into: &Ident,
    parts: &[&ModelField<'_>],
    change: impl Fn(&ModelField<'_>, TokenStream) -> TokenStream,
) -> TokenStream {
    let fields = parts.iter().map(|part| {
        let ident = part.ident;
        let value = change(part, quote!(from.#ident));
        quote!(#ident: #value)
    });
    // An unused parameter would cause a warning in the author's crate.
    let from_name = match parts.is_empty() {
        true => quote!(_),
        false => quote!(from),
    };
    quote! {
        impl ::core::convert::From<#from> for #into {
            fn from(#from_name: #from) -> Self {
                Self { #(#fields,)* }
            }
        }
    }
}
