//! A field of a model: an attribute or nested blocks, and how it is told to the schema.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, GenericArgument, Ident, Lit,
    PathArguments, Result, Type, Visibility,
};

use crate::words::{Identity, Role, Said, doc_comment};

/// A field and what is said about it.
pub(crate) struct Part<'i> {
    pub(crate) ident: &'i Ident,
    pub(crate) vis: &'i Visibility,
    pub(crate) ty: &'i Type,
    pub(crate) name: String,
    pub(crate) description: String,
    /// `None` of a block.
    role: Option<Role>,
    said: Said,
}

/// Returns the fields of a struct. `loose` ones may be absent or unknown at any time.
pub(crate) fn parts(input: &DeriveInput, loose: bool) -> Result<Vec<Part<'_>>> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(parameter.span(), "a model has no parameters"));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                fields.named.iter().map(|field| Part::read(field, loose)).collect()
            }
            Fields::Unit => Ok(Vec::new()),
            Fields::Unnamed(fields) => Err(Error::new(fields.span(), "give the fields names")),
        },
        _ => Err(Error::new(input.ident.span(), "a model is a struct")),
    }
}

impl<'i> Part<'i> {
    fn read(field: &'i Field, loose: bool) -> Result<Self> {
        let said = Said::read(&field.attrs)?;
        let Some(ident) = &field.ident else {
            return Err(Error::new(field.span(), "give the field a name"));
        };
        let role = match said.is_block {
            true => said.checked_block(ident.span()).map(|()| None)?,
            false => Some(said.checked_role(ident.span())?),
        };
        let name = match &said.name {
            Some(name) => name.value(),
            None => ident.unraw().to_string(),
        };
        let description = doc_comment(&field.attrs);
        let part = Self { ident, vis: &field.vis, ty: &field.ty, name, description, role, said };
        match loose {
            true => Ok(part),
            false => part.with_fitting_type(),
        }
    }

    /// Checks that the type can be absent where the attribute can, and nowhere else.
    fn with_fitting_type(self) -> Result<Self> {
        let is_nullable = ["Option", "Attr", "Value"].iter().any(|name| is_a(self.ty, name));
        let refuse = |why| Err(Error::new(self.ty.span(), why));
        match self.role {
            Some(Role::Required) if is_a(self.ty, "Option") => {
                refuse("a required attribute always has a value; write the type without `Option`")
            }
            Some(Role::Optional) if !is_nullable => {
                refuse("an optional attribute may be absent; write Option<…>, or give a default")
            }
            Some(Role::OptionalComputed) if self.has_default() && is_a(self.ty, "Option") => {
                refuse("an attribute with a default is never absent; write it without `Option`")
            }
            None if is_a(self.ty, "Attr") => refuse("blocks are always known; drop the `Attr`"),
            None if self.said.group && is_a(self.ty, "Option") => {
                refuse("a group is always there; write the type without `Option`")
            }
            _ => Ok(self),
        }
    }

    fn has_default(&self) -> bool {
        self.said.default.is_some()
    }

    /// Whether the author of a configuration has a say in it.
    pub(crate) fn is_settable(&self) -> bool {
        self.role != Some(Role::Computed)
    }

    /// Whether the provider sets it, or parts of it.
    pub(crate) fn is_computed(&self) -> bool {
        let is_ours = matches!(self.role, Some(Role::Computed | Role::OptionalComputed));
        (is_ours && !self.has_default()) || self.said.fills
    }

    pub(crate) fn is_block(&self) -> bool {
        self.role.is_none()
    }

    pub(crate) fn is_write_only(&self) -> bool {
        self.said.write_only
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.said.sensitive || self.said.write_only
    }

    /// The type while planning.
    pub(crate) fn draft(&self) -> TokenStream {
        let ty = self.ty;
        quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Field>::Draft)
    }

    /// The type of what the author has a say in.
    pub(crate) fn input(&self) -> TokenStream {
        let ty = self.ty;
        let input = quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Field>::Input);
        let may_lack = self.role == Some(Role::OptionalComputed) && !self.has_default();
        match may_lack && !["Option", "Attr", "Value"].iter().any(|name| is_a(ty, name)) {
            true => quote!(::core::option::Option<#input>),
            false => input,
        }
    }

    /// What must hold of the field's type and only the compiler can tell.
    pub(crate) fn assertions(&self) -> TokenStream {
        let (ty, fills) = (self.ty, self.said.fills || !self.is_settable());
        let name = &self.name;
        let unsaid = format!(
            "the provider sets parts of `{name}`: say `fills`, so that it is among what handlers return"
        );
        let unmeant = format!("the provider sets no part of `{name}`, so `fills` says nothing");
        let blocks = format!("`{name}` has blocks inside, so it must be a block itself: #[block]");
        let lost = format!(
            "the elements of `{name}` have parts that are `write_only`, and in a set nothing tells them \
             apart: use a list or a map"
        );
        let fills_check = if self.said.fills {
            quote_spanned!(ty.span()=> assert!(<#ty as ::formwork_sdk::Field>::FILLS, #unmeant);)
        } else if fills {
            quote!()
        } else {
            quote_spanned!(ty.span()=> assert!(!<#ty as ::formwork_sdk::Field>::FILLS, #unsaid);)
        };
        let block_check = (!self.is_block()).then(|| {
            quote_spanned!(ty.span()=> assert!(!<#ty as ::formwork_sdk::Field>::HAS_BLOCKS, #blocks);)
        });
        quote_spanned! {ty.span()=>
            const _: () = {
                #fills_check
                #block_check
                assert!(!<#ty as ::formwork_sdk::Field>::WRITE_ONLY_IN_SET, #lost);
            };
        }
    }

    /// The call that adds this field to the shape.
    pub(crate) fn definition(&self) -> TokenStream {
        let Self { ty, name, description, .. } = self;
        let described = (!description.is_empty()).then(|| quote!(.describe(#description)));
        let deprecated = self.said.deprecated.as_ref().map(|text| quote!(.deprecated(#text)));
        let replace = self.said.replace.then(|| quote!(.replace()));
        let checks = self.checks();
        let Some(role) = self.role else {
            let group = self.said.group.then(|| quote!(.group()));
            let min = self.said.min.as_ref().map(|least| quote!(.min(#least)));
            let max = self.said.max.as_ref().map(|most| quote!(.max(#most)));
            return quote! {
                .nested(
                    #name,
                    ::formwork_sdk::schema::BlockDefinition::of::<#ty>()
                    #group #described #deprecated #replace #min #max #checks
                )
            };
        };
        let role = match role {
            Role::Required => quote!(Required),
            Role::Optional => quote!(Optional),
            Role::Computed => quote!(Computed),
            Role::OptionalComputed => quote!(OptionalComputed),
        };
        let sensitive = self.said.sensitive.then(|| quote!(.sensitive()));
        let write_only = self.said.write_only.then(|| quote!(.write_only()));
        let keep = self.said.keep.then(|| quote!(.keep()));
        let draft = self.draft();
        let replace_if = self.said.replace_if.as_ref().map(|decide| {
            quote!(.replace_if(|prior, planned| {
                ::formwork_sdk::model::decide::<#draft>(prior, planned, #decide)
            }))
        });
        let default = self.default();
        let identity = self.said.identity.map(|identity| match identity {
            Identity::Required => quote!(Required),
            Identity::Optional => quote!(Optional),
        });
        let identity =
            identity.map(|which| quote!(.identifies(::formwork_sdk::schema::Identifies::#which)));
        quote! {
            .attribute(
                #name,
                ::formwork_sdk::schema::Definition::of::<#ty>(::formwork_sdk::schema::Role::#role)
                #described #deprecated #sensitive #write_only #keep #replace #replace_if #default
                #checks #identity
            )
        }
    }

    fn default(&self) -> Option<TokenStream> {
        let (ty, value) = (self.ty, self.said.default.as_ref()?);
        let value = match value {
            _ if is_a(ty, "Attr") => quote!(<#ty>::known(#value)),
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {
                quote!(::core::convert::Into::into(#value))
            }
            _ => quote!(#value),
        };
        Some(quote!(.default({
            let default: #ty = #value;
            ::formwork_sdk::Field::to_value(&default)
        })))
    }

    fn checks(&self) -> TokenStream {
        let Said { one_of, range, length, check, .. } = &self.said;
        let one_of = (!one_of.is_empty()).then(|| quote!(one_of(&[#(#one_of),*])));
        let range = range.as_ref().map(|range| quote!(range(#range)));
        let length = length.as_ref().map(|length| quote!(length(#length)));
        let plain = inside(self.ty);
        let check = check.as_ref().map(|ask| quote!(by::<#plain>(|value| #ask(value))));
        let all = [one_of, range, length, check].into_iter().flatten();
        quote!(#(.check(::formwork_sdk::check::Check::#all))*)
    }
}

/// Whether the last word of a type's path is `name`.
pub(crate) fn is_a(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == name),
        _ => false,
    }
}

/// The type inside `Option` or `Attr`; any other as it is.
fn inside(ty: &Type) -> &Type {
    let Type::Path(path) = ty else { return ty };
    let Some(last) = path.path.segments.last() else { return ty };
    match &last.arguments {
        PathArguments::AngleBracketed(arguments)
            if last.ident == "Option" || last.ident == "Attr" =>
        {
            match arguments.args.first() {
                Some(GenericArgument::Type(inner)) => inner,
                _ => ty,
            }
        }
        _ => ty,
    }
}
