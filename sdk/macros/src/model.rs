//! `#[derive(Model)]`: schema, decoding and encoding of a struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Result, Type};

use crate::attribute::{Role, Said, doc_comment};

/// Returns the implementation of `Model` for the struct.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let attributes = attributes(input)?;
    let said = Said::read(&input.attrs)?;
    let description = doc_comment(&input.attrs);
    let deprecated = said.deprecated.map(|text| quote!(.deprecated(#text)));
    let definitions = attributes.iter().map(AttributeOf::definition);
    let names: Vec<_> = attributes.iter().map(|attribute| &attribute.name).collect();
    let fields: Vec<_> = attributes.iter().map(|attribute| attribute.field).collect();
    let model = &input.ident;
    let (impls, generics, wheres) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impls ::formwork_sdk::Model for #model #generics #wheres {
            fn shape() -> ::formwork_sdk::schema::Shape {
                ::formwork_sdk::schema::Shape::new(#description) #deprecated #(#definitions)*
            }

            fn from_value(
                value: &::formwork_sdk::value::Value,
            ) -> ::core::result::Result<Self, ::formwork_sdk::value::convert::Refused> {
                ::core::result::Result::Ok(Self {
                    #(#fields: ::formwork_sdk::model::part(value, #names)?,)*
                })
            }

            fn to_value(&self) -> ::formwork_sdk::value::Value {
                ::formwork_sdk::value::Value::object([
                    #((#names, ::formwork_sdk::Field::to_value(&self.#fields)),)*
                ])
            }
        }
    })
}

/// A field and what is said about it.
struct AttributeOf<'i> {
    field: &'i Ident,
    ty: &'i Type,
    name: String,
    role: Role,
    said: Said,
    description: String,
}

fn attributes(input: &DeriveInput) -> Result<Vec<AttributeOf<'_>>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().map(AttributeOf::read).collect(),
            Fields::Unit => Ok(Vec::new()),
            Fields::Unnamed(fields) => Err(Error::new(fields.span(), "give the fields names")),
        },
        _ => Err(Error::new(input.ident.span(), "a model is a struct")),
    }
}

impl<'i> AttributeOf<'i> {
    fn read(field: &'i Field) -> Result<Self> {
        let said = Said::read(&field.attrs)?;
        let Some(ident) = &field.ident else {
            return Err(Error::new(field.span(), "give the field a name"));
        };
        let role = said.checked_role(ident.span())?;
        let name = match &said.name {
            Some(name) => name.value(),
            None => ident.unraw().to_string(),
        };
        let description = doc_comment(&field.attrs);
        Ok(Self { field: ident, ty: &field.ty, name, role, said, description })
    }

    /// The call that adds this attribute to the shape.
    fn definition(&self) -> TokenStream {
        let Self { ty, name, said, description, .. } = self;
        let role = match self.role {
            Role::Required => quote!(Required),
            Role::Optional => quote!(Optional),
            Role::Computed => quote!(Computed),
            Role::OptionalComputed => quote!(OptionalComputed),
        };
        let sensitive = said.sensitive.then(|| quote!(.sensitive()));
        let write_only = said.write_only.then(|| quote!(.write_only()));
        let keep = said.keep.then(|| quote!(.keep()));
        let replace = said.replace.then(|| quote!(.replace()));
        let replace_if = said.replace_if.as_ref().map(|decide| {
            quote!(.replace_if(|prior, planned| {
                ::formwork_sdk::model::decide::<#ty>(prior, planned, #decide)
            }))
        });
        let default = said
            .default
            .as_ref()
            .map(|value| quote!(.default(::formwork_sdk::Field::to_value(&<#ty>::known(#value)))));
        let deprecated = said.deprecated.as_ref().map(|text| quote!(.deprecated(#text)));
        quote! {
            .attribute(
                #name,
                ::formwork_sdk::schema::Definition::new(
                    <#ty as ::formwork_sdk::Field>::ty(),
                    ::formwork_sdk::schema::Role::#role,
                )
                .describe(#description)
                #sensitive #write_only #keep #replace #replace_if #default #deprecated
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn refusal(input: &DeriveInput) -> String {
        expand(input).expect_err("it does not fit together").to_string()
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_way_out() {
        let table: [(Field, &str); 9] = [
            (parse_quote!(a: Attr<i64>), "say who sets it"),
            (parse_quote!(#[attr(optional, computed)] a: Attr<i64>), "has one role"),
            (parse_quote!(#[attr(optional, default = 1)] a: Attr<i64>), "needs the role"),
            (parse_quote!(#[attr(required, keep)] a: Attr<i64>), "`keep` needs a role"),
            (parse_quote!(#[attr(optional_computed, keep, default = 1)] a: Attr<i64>), "both say"),
            (parse_quote!(#[attr(computed, write_only)] a: Attr<i64>), "only the author sets"),
            (parse_quote!(#[attr(optional, replace, replace_if = f)] a: Attr<i64>), "to decide"),
            (parse_quote!(#[attr(optionl)] a: Attr<i64>), "not a word that `attr` knows"),
            (parse_quote!(#[attr(optional, name)] a: Attr<i64>), "expected `=`"),
        ];
        for (field, expected) in table {
            let found = refusal(&parse_quote!(struct Model { #field }));
            assert!(found.contains(expected), "{expected}: {found}");
        }
    }

    #[test]
    fn only_a_struct_with_names_is_a_model() {
        assert_eq!(
            refusal(&parse_quote!(
                enum E {
                    A,
                }
            )),
            "a model is a struct"
        );
        assert_eq!(
            refusal(&parse_quote!(
                struct S(i64);
            )),
            "give the fields names"
        );
        assert!(
            expand(&parse_quote!(
                struct Empty;
            ))
            .is_ok()
        );
    }
}
