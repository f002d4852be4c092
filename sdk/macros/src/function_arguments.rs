//! `#[derive(Arguments)]`: a struct as the parameters of a function.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Fields, FieldsNamed, Result};

use crate::attr_and_block_args::{StructArgs, doc_comment};
use crate::model_field::{check_lower_snake_case_name, is_type_named, last_type_argument};

/// Returns the implementation of `Arguments` for the struct.
pub(crate) fn expand_arguments_derive(input: &DeriveInput) -> Result<TokenStream> {
    let struct_args = StructArgs::from_attributes(&input.attrs)?;
    let fields = named_fields(input)?;
    let (mut described, mut read) = (Vec::new(), Vec::new());
    let last = fields.named.len().saturating_sub(1);
    for (index, field) in fields.named.iter().enumerate() {
        let Some(ident) = &field.ident else { continue };
        let (ty, description, name) =
            // A raw identifier exists only in Rust: `r#type` is the parameter `type`.
            (&field.ty, doc_comment(&field.attrs), ident.unraw().to_string());
        check_lower_snake_case_name(&name).map_err(|reason| Error::new(ident.span(), reason))?;
        let parameter = |ty| {
            // With the span of the type, so that an error about it appears there.
            quote_spanned!(field.ty.span()=>
                ::formwork_sdk::function::Parameter::of_field_type::<#ty>(#name, #description)
            )
        };
        if is_variadic(field)? {
            let inner =
                last_type_argument(ty).filter(|_| is_type_named(ty, "Vec") && index == last);
            let Some(inner) = inner else {
                let reason =
                    "the last argument is the one that may be variadic; its type is Vec<…>";
                return Err(Error::new(ident.span(), reason));
            };
            let parameter = parameter(inner);
            described.push(quote!(.variadic(#parameter)));
            read.push(quote!(#ident: given.get_all_from(#index)?));
        } else {
            let parameter = parameter(ty);
            described.push(quote!(.parameter(#parameter)));
            read.push(quote!(#ident: given.get(#index)?));
        }
    }
    let comment = doc_comment(&input.attrs);
    // As in Rust, the first paragraph is the summary.
    let (summary, description) = comment.split_once("\n\n").unwrap_or((&comment, ""));
    let (summary, description) = (summary.replace('\n', " "), description.trim());
    let deprecated = struct_args.deprecated.as_ref().map(|text| quote!(.deprecated(#text)));
    let ident_of_struct = &input.ident;
    // Full paths, because the author's module may use these names for other items.
    Ok(quote! {
        impl ::formwork_sdk::function::Arguments for #ident_of_struct {
            fn add_to_signature(
                signature: ::formwork_sdk::function::Signature,
            ) -> ::formwork_sdk::function::Signature {
                signature.summarize(#summary).describe(#description) #deprecated #(#described)*
            }

            fn from_given_arguments(
                given: &::formwork_sdk::function::GivenArguments,
            ) -> ::formwork_sdk::Answer<Self> {
                ::core::result::Result::Ok(Self { #(#read,)* })
            }
        }
    })
}

/// Returns the fields of a struct without generic parameters.
fn named_fields(input: &DeriveInput) -> Result<&FieldsNamed> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(parameter.span(), "arguments have no parameters"));
    }
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "arguments are a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(data.fields.span(), "give the arguments names"));
    };
    Ok(fields)
}

fn is_variadic(field: &syn::Field) -> Result<bool> {
    let mut is_variadic = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("attr")) {
        attribute.parse_nested_meta(|meta| match meta.path.is_ident("variadic") {
            true => {
                is_variadic = true;
                Ok(())
            }
            false => Err(meta.error("the only word for an argument is `variadic`")),
        })?;
    }
    Ok(is_variadic)
}
