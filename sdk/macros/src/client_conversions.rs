//! Conversions from and into foreign structs with fields of the same names, such as those of a
//! client. A field without a matching type in the foreign struct is an error at that field.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Ident, Path, Type};

use crate::attr_and_block_args::StructArgs;
use crate::model_field::{ModelField, is_type_named, last_type_argument};

/// The names of two of the structs generated for a model.
pub(crate) struct InputAndComputedNames<'a> {
    /// The arguments.
    pub(crate) settable: &'a Ident,
    /// The computed attributes.
    pub(crate) computed: &'a Ident,
}

/// The conversions of a model. `input` is the struct of the attributes that the author sets.
pub(crate) fn model_client_conversions(
    input: &DeriveInput,
    args: &StructArgs,
    parts: &[ModelField<'_>],
    structs: &InputAndComputedNames<'_>,
) -> TokenStream {
    let InputAndComputedNames { settable, computed } = *structs;
    let model = &input.ident;
    let client_parts: Vec<_> = parts.iter().filter(|part| !part.is_absent_from_client()).collect();
    let is_whole = client_parts.len() == parts.len();
    let from = args.from.as_ref().map(|other| {
        let vis = &input.vis;
        let (names, values) = fields_from_client(&client_parts);
        // Without a field to fill, `..self` would cause a warning in the author's crate.
        let rest = (!is_whole).then(|| quote!(, ..self));
        let doc = format!("Returns this object with the values of the service for a [`{model}`].");
        // With a field of its own, a model cannot be converted from only the other struct.
        let whole = is_whole.then(|| from_client_impl(other, model, &client_parts));
        let computed_parts: Vec<_> = parts.iter().filter(|part| part.has_computed_part()).collect();
        // Nor can the computed part, if a field of it does not come from the service.
        let has_computed_impl = !computed_parts.is_empty()
            && computed_parts.iter().all(|part| !part.is_absent_from_client());
        let computed_impl =
            has_computed_impl.then(|| from_client_impl(other, computed, &computed_parts));
        quote! {
            impl #model {
                #[doc = #doc]
                #[must_use]
                #vis fn with(self, found: #other) -> Self {
                    let #other { #(#names,)* .. } = found;
                    Self { #(#names: #values),* #rest }
                }
            }
            #whole
            #computed_impl
        }
    });
    let into = args.into.as_ref().map(|other| {
        let given: Vec<_> = client_parts.into_iter().filter(|part| part.is_settable()).collect();
        into_client_impl(other, settable, &given)
    });
    quote!(#from #into)
}

/// The conversions of a nested struct.
pub(crate) fn nested_client_conversions(
    input: &DeriveInput,
    args: &StructArgs,
    parts: &[ModelField<'_>],
    settable: &Ident,
) -> TokenStream {
    let all_parts: Vec<_> = parts.iter().collect();
    let given: Vec<_> = parts.iter().filter(|part| part.is_settable()).collect();
    let from = args.from.as_ref().map(|other| from_client_impl(other, &input.ident, &all_parts));
    let into = args.into.as_ref().map(|other| into_client_impl(other, settable, &given));
    quote!(#from #into)
}

/// `From` a struct of theirs for one of ours.
fn from_client_impl(client: &Path, model: &Ident, parts: &[&ModelField<'_>]) -> TokenStream {
    let (names, values) = fields_from_client(parts);
    quote! {
        impl ::core::convert::From<#client> for #model {
            fn from(found: #client) -> Self {
                let #client { #(#names,)* .. } = found;
                Self { #(#names: #values),* }
            }
        }
    }
}

/// `From` a struct of ours for one of theirs.
fn into_client_impl(client: &Path, model: &Ident, parts: &[&ModelField<'_>]) -> TokenStream {
    let fields = parts.iter().map(|part| {
        let ident = part.ident;
        let value = convert_field(part.ty, &quote!(ours.#ident), ConversionDirection::Out);
        quote!(#ident: #value)
    });
    quote! {
        impl ::core::convert::From<#model> for #client {
            fn from(ours: #model) -> Self {
                Self { #(#fields),* }
            }
        }
    }
}

/// The names of fields, and each as a field of ours.
pub(crate) fn fields_from_client<'p>(
    parts: &[&'p ModelField<'_>],
) -> (Vec<&'p Ident>, Vec<TokenStream>) {
    let names = parts.iter().map(|part| part.ident);
    let values = parts.iter().map(|part| {
        let ident = part.ident;
        convert_field(part.ty, &quote!(#ident), ConversionDirection::In)
    });
    (names.collect(), values.collect())
}

/// Whether a value is converted from the foreign type or into it.
#[derive(Clone, Copy)]
enum ConversionDirection {
    In,
    Out,
}

/// A value converted according to the structure of the field's type. The span is that of the field,
/// but the code is generated by the derive.
fn convert_field(ty: &Type, value: &TokenStream, direction: ConversionDirection) -> TokenStream {
    // An error about a conversion is shown at the type; names resolve as in the author's code.
    let call_site = Span::call_site().located_at(ty.span());
    let inner = format_ident!("inner", span = call_site);
    let each = |inner_ty: &Type| convert_field(inner_ty, &quote!(#inner), direction);
    let Some(last) = last_type_argument(ty) else {
        return quote_spanned!(call_site=> ::core::convert::Into::into(#value));
    };
    if is_type_named(ty, "Option") {
        let each = each(last);
        return quote_spanned!(call_site=> ::core::option::Option::map(#value, |#inner| #each));
    }
    if ["Vec", "Set", "BTreeSet"].iter().any(|name| is_type_named(ty, name)) {
        let each = each(last);
        return quote_spanned! {call_site=>
            ::core::iter::IntoIterator::into_iter(#value).map(|#inner| #each).collect()
        };
    }
    if is_type_named(ty, "BTreeMap") {
        let each = each(last);
        return quote_spanned! {call_site=>
            ::core::iter::IntoIterator::into_iter(#value)
                .map(|(key, #inner)| (::core::convert::Into::into(key), #each))
                .collect()
        };
    }
    match (direction, is_type_named(ty, "Secret")) {
        // A `Secret` is converted by `Into`, like any type. Only the conversion from a `Secret`
        // must expose the value.
        (ConversionDirection::Out, true) => {
            let each = convert_field(last, &quote!(#value.into_exposed()), direction);
            quote_spanned!(call_site=> #each)
        }
        _ => quote_spanned!(call_site=> ::core::convert::Into::into(#value)),
    }
}
