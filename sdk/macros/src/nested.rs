//! `#[derive(Nested)]`: a struct as blocks or as a nested attribute.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, Ident, Result};

use crate::attr_and_block_args::StructArgs;
use crate::client_conversions;
use crate::companion_struct::{CompanionStruct, object_conversion_impl};
use crate::model::{draft_struct, shape_function};
use crate::model_field::{ModelField, model_fields};

/// Returns the implementations of `Nested` and `Field` for the struct.
pub(crate) fn expand_nested_derive(input: &DeriveInput) -> Result<TokenStream> {
    let args = StructArgs::from_attributes(&input.attrs)?;
    let parts = model_fields(input)?;
    if let Some(flat) = parts.iter().find(|part| part.is_flattened()) {
        let reason =
            "only a model flattens another one; here it can be a nested attribute or a block";
        return Err(Error::new(flat.ident.span(), reason));
    }
    if let Some(part) = parts.iter().find(|part| part.is_in_identity() || part.is_import_id()) {
        let reason = "only attributes of a model can be the identity or the import id";
        return Err(Error::new(part.ident.span(), reason));
    }
    let all_parts: Vec<_> = parts.iter().collect();
    let shape = shape_function(input, &args, &all_parts)?;
    let assertions = parts.iter().map(ModelField::type_assertions);
    let ident_of_struct = &input.ident;
    let own_view = object_conversion_impl(ident_of_struct, &all_parts, false);
    let (draft, draft_view) = draft_struct(input, &all_parts);
    let fills = parts.iter().any(ModelField::has_computed_part);
    // Without computed parts, the author's part is the whole struct.
    let input_name =
        if fills { format_ident!("{ident_of_struct}Input") } else { ident_of_struct.clone() };
    let input_view = fills.then(|| {
        let fields = parts.iter().filter(|part| part.is_settable());
        let view = CompanionStruct {
            vis: &input.vis,
            ident: &input_name,
            doc: format!(
                "Attributes of a [`{ident_of_struct}`] that the author of a configuration may set."
            ),
            fields: fields.map(|part| (part, part.input_type())).collect(),
            is_draft: false,
        };
        let (view, field) =
            (view.expand(), field_impl_for_companion(&input_name, &input_name, false));
        quote!(#view #field)
    });
    let draft_field = field_impl_for_companion(&draft, ident_of_struct, true);
    let field_impl_for_nested = field_impl_for_nested(input, &all_parts, &input_name);
    let alike = client_conversions::nested_client_conversions(input, &args, &parts, &input_name);
    Ok(quote! {
        #own_view
        #draft_view
        #draft_field
        #input_view
        #field_impl_for_nested
        #alike

        impl ::formwork_sdk::field::BlockField for #ident_of_struct {}

        impl ::formwork_sdk::Nested for #ident_of_struct {
            #shape
        }

        #(#assertions)*
    })
}

/// The struct as a field.
fn field_impl_for_nested(
    input: &DeriveInput,
    parts: &[&ModelField<'_>],
    input_name: &Ident,
) -> TokenStream {
    let ident_of_struct = &input.ident;
    let draft = format_ident!("{ident_of_struct}Draft");
    let fills = parts.iter().any(|part| part.has_computed_part());
    let blocks = parts.iter().any(|part| part.is_block());
    let write_only = parts.iter().any(|part| part.is_write_only());
    let types: Vec<_> = parts.iter().map(|part| part.ty).collect();
    let conversions = delegating_value_methods();
    let ty = cached_type_static();
    quote! {
        impl ::formwork_sdk::Field for #ident_of_struct {
            type Draft = ::formwork_sdk::Attr<#draft>;
            type DraftPart = #draft;
            type Input = #input_name;

            const HAS_COMPUTED: bool = #fills;
            const HAS_BLOCKS: bool = #blocks;
            // A struct is neither text nor number and has no length, so that checks of those are
            // refused.
            const MAY_HOLD_STRINGS: bool = false;
            const MAY_HOLD_NUMBERS: bool = false;
            const HAS_LENGTH: bool = false;
            const HAS_WRITE_ONLY: bool =
                #write_only #(|| <#types as ::formwork_sdk::Field>::HAS_WRITE_ONLY)*;

            fn nested_shape() -> ::core::option::Option<::formwork_sdk::field::NestedShape> {
                ::core::option::Option::Some(::formwork_sdk::field::NestedShape {
                    shape: <Self as ::formwork_sdk::Nested>::shape(),
                    nesting: ::formwork_sdk::value::schema::Nesting::Single,
                })
            }

            fn ty() -> ::formwork_sdk::value::Type {
                #ty
                CACHED_TYPE.get_or_init(|| <Self as ::formwork_sdk::Nested>::shape().ty().clone()).clone()
            }

            fn into_draft(self) -> Self::Draft {
                ::formwork_sdk::Attr::Known(self.into())
            }

            fn into_draft_part(self) -> #draft {
                self.into()
            }

            #conversions
        }
    }
}

/// A generated struct as a field, the same in every phase.
fn field_impl_for_companion(view: &Ident, model: &Ident, is_draft: bool) -> TokenStream {
    let conversions = delegating_value_methods();
    let ty = cached_type_static();
    // Only collections use the type of the author's attributes.
    let value = if is_draft {
        quote!(<#model as ::formwork_sdk::Field>::ty())
    } else {
        quote!(::formwork_sdk::value::Type::Dynamic)
    };
    quote! {
        impl ::formwork_sdk::Field for #view {
            type Draft = ::formwork_sdk::Attr<Self>;
            type DraftPart = Self;
            type Input = Self;

            const HOLDS_UNKNOWN: bool = #is_draft;

            fn ty() -> ::formwork_sdk::value::Type {
                #ty
                CACHED_TYPE.get_or_init(|| #value).clone()
            }

            fn into_draft(self) -> Self::Draft {
                ::formwork_sdk::Attr::Known(self)
            }

            fn into_draft_part(self) -> Self {
                self
            }

            #conversions
        }
    }
}

/// Methods of `Field` that call those of `ObjectConversion`.
fn delegating_value_methods() -> TokenStream {
    quote! {
        fn from_value(
            value: &::formwork_sdk::value::Value,
        ) -> ::core::result::Result<Self, ::formwork_sdk::value::convert::ConversionError> {
            ::formwork_sdk::ObjectConversion::from_value(value)
        }

        fn to_value(&self) -> ::formwork_sdk::value::Value {
            ::formwork_sdk::ObjectConversion::to_value(self)
        }

        fn same_as(&self, value: &::formwork_sdk::value::Value) -> bool {
            ::formwork_sdk::ObjectConversion::same_as(self, value)
        }
    }
}

/// The static that keeps the created type.
fn cached_type_static() -> TokenStream {
    quote! {
        // Creating the type traverses the whole shape, and each conversion of a value needs it.
        static CACHED_TYPE: ::std::sync::OnceLock<::formwork_sdk::value::Type> =
            ::std::sync::OnceLock::new();
    }
}
