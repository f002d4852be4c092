//! Fields of a model: attributes, nested blocks or flattened models, and their schema definitions.

mod field_types;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, LitStr, Result, Type,
    Visibility,
};

use self::field_types::type_in_option_or_attr;
pub(crate) use self::field_types::{
    check_lower_snake_case_name, is_type_named, last_type_argument,
};
use crate::attr_and_block_args::{FieldArgs, IdentityRequirement, Role, doc_comment};

/// A field and its arguments.
pub(crate) struct ModelField<'i> {
    pub(crate) ident: &'i Ident,
    pub(crate) vis: &'i Visibility,
    pub(crate) ty: &'i Type,
    pub(crate) name: String,
    pub(crate) description: String,
    kind: FieldKind,
    args: FieldArgs,
}

/// Kind of a field in the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Attribute(Role),
    Block,
    /// The attributes and blocks of another model, as if they were written here.
    Flat,
}

/// Returns the fields of a struct.
pub(crate) fn model_fields(input: &DeriveInput) -> Result<Vec<ModelField<'_>>> {
    // A schema has one type, and the generated structs would have to repeat the parameters.
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(parameter.span(), "a model has no parameters"));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                fields.named.iter().map(ModelField::from_struct_field).collect()
            }
            Fields::Unit => Ok(Vec::new()),
            Fields::Unnamed(fields) => Err(Error::new(fields.span(), "give the fields names")),
        },
        _ => Err(Error::new(input.ident.span(), "a model is a struct")),
    }
}

impl<'i> ModelField<'i> {
    fn from_struct_field(field: &'i Field) -> Result<Self> {
        let args = FieldArgs::from_attributes(&field.attrs)?;
        let Some(ident) = &field.ident else {
            return Err(Error::new(field.span(), "give the field a name"));
        };
        let span = ident.span();
        let kind = match () {
            () if args.flatten => args.check_words_fit_flattened(span).map(|()| FieldKind::Flat)?,
            () if args.is_block => args.check_words_fit_block(span).map(|()| FieldKind::Block)?,
            () => FieldKind::Attribute(args.role_if_words_fit(span)?),
        };
        let name = match &args.name {
            Some(name) => name.value(),
            // A raw identifier exists only in Rust: `r#type` is the attribute `type`.
            None => ident.unraw().to_string(),
        };
        // The name of a flattened field is in no schema.
        if !args.flatten {
            let span = args.name.as_ref().map_or(span, LitStr::span);
            check_lower_snake_case_name(&name).map_err(|reason| Error::new(span, reason))?;
        }
        let description = doc_comment(&field.attrs);
        let part = Self { ident, vis: &field.vis, ty: &field.ty, name, description, kind, args };
        part.check_nullability()
    }

    /// Checks that the type can be absent where the attribute can, and nowhere else.
    fn check_nullability(self) -> Result<Self> {
        let is_nullable =
            ["Option", "Attr", "Value"].iter().any(|name| is_type_named(self.ty, name));
        let refuse = |reason| Err(Error::new(self.ty.span(), reason));
        match self.kind {
            // `Attr` and `Value` are accepted here: they also hold a value that is not known yet.
            FieldKind::Attribute(Role::Required) if is_type_named(self.ty, "Option") => {
                refuse("a required attribute always has a value; write the type without `Option`")
            }
            FieldKind::Attribute(Role::Optional) if !is_nullable => {
                refuse("an optional attribute may be absent; write Option<…>, or give a default")
            }
            FieldKind::Attribute(Role::OptionalComputed)
                if self.has_default() && is_type_named(self.ty, "Option") =>
            {
                refuse("an attribute with a default is never absent; write it without `Option`")
            }
            FieldKind::Block if is_type_named(self.ty, "Attr") => {
                refuse("blocks are always known; drop the `Attr`")
            }
            FieldKind::Block if self.limits_block_count() && !self.can_limit_block_count() => {
                refuse(
                    "`min` and `max` are for lists and sets of blocks; for others the type sets the number",
                )
            }
            FieldKind::Block if self.args.group && is_type_named(self.ty, "Option") => {
                refuse("a group is always present; write the type without `Option`")
            }
            _ => Ok(self),
        }
    }

    fn limits_block_count(&self) -> bool {
        self.args.min.is_some() || self.args.max.is_some()
    }

    /// Whether a schema can limit the number of these blocks: for maps it cannot.
    fn can_limit_block_count(&self) -> bool {
        ["Vec", "Set", "BTreeSet"].iter().any(|name| is_type_named(self.ty, name))
    }

    fn has_default(&self) -> bool {
        self.args.default.is_some()
    }

    /// Whether the author of a configuration may set it.
    pub(crate) fn is_settable(&self) -> bool {
        match self.kind {
            FieldKind::Attribute(role) => role != Role::Computed,
            FieldKind::Block => true,
            FieldKind::Flat => self.args.role.is_none(),
        }
    }

    /// Whether the provider sets it, or parts of it.
    pub(crate) fn has_computed_part(&self) -> bool {
        let is_ours = match self.kind {
            FieldKind::Attribute(role) => matches!(role, Role::Computed | Role::OptionalComputed),
            FieldKind::Block => false,
            FieldKind::Flat => self.args.role.is_some(),
        };
        // With a default, there is nothing to compute.
        (is_ours && !self.has_default()) || self.args.fills
    }

    pub(crate) fn is_block(&self) -> bool {
        self.kind == FieldKind::Block
    }

    pub(crate) fn is_flattened(&self) -> bool {
        self.kind == FieldKind::Flat
    }

    pub(crate) fn is_write_only(&self) -> bool {
        self.args.write_only
    }

    /// Whether some part is write-only, which only the compiler can determine.
    pub(crate) fn has_write_only_expression(&self) -> TokenStream {
        let ty = self.ty;
        match self.is_flattened() {
            true => quote_spanned! {ty.span()=>
                <<#ty as ::formwork_sdk::Model>::WriteOnly as ::formwork_sdk::model::HasWriteOnly>::HAS_SOME
            },
            false => quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Field>::HAS_WRITE_ONLY),
        }
    }

    /// Whether the foreign struct lacks it.
    pub(crate) fn is_absent_from_client(&self) -> bool {
        self.args.local
    }

    /// Whether the provider's value is kept when the object changes.
    pub(crate) fn keeps_prior_value(&self) -> bool {
        self.args.keep
    }

    /// Whether a change of it updates the real object in place. For parts of another model, only
    /// the compiler can determine this.
    pub(crate) fn needs_update_handler(&self) -> bool {
        self.is_settable() && !self.is_flattened() && !self.args.replace && !self.args.local
    }

    /// The same, as an expression for the compiler.
    pub(crate) fn needs_update_expression(&self) -> TokenStream {
        let (ty, changes) = (self.ty, self.needs_update_handler());
        match self.is_flattened() && self.is_settable() {
            true => quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Model>::CHANGES_IN_PLACE),
            false => quote!(#changes),
        }
    }

    /// Whether it is a part of the identity, or has such parts.
    pub(crate) fn is_in_identity(&self) -> bool {
        self.args.identity.is_some()
    }

    pub(crate) fn is_import_id(&self) -> bool {
        self.args.import
    }

    pub(crate) fn is_sensitive_or_write_only(&self) -> bool {
        self.args.sensitive || self.args.write_only
    }

    /// The entry in the names of the model.
    pub(crate) fn names_const_entry(&self) -> TokenStream {
        let (ty, name) = (self.ty, &self.name);
        match self.is_flattened() {
            true => quote! {
                ::formwork_sdk::model::OwnOrFlattenedNames::Flattened(<#ty as ::formwork_sdk::Model>::NAMES)
            },
            false => quote!(::formwork_sdk::model::OwnOrFlattenedNames::Own(#name)),
        }
    }

    /// The type while planning.
    pub(crate) fn draft_type(&self) -> TokenStream {
        self.associated_type(&quote!(Draft))
    }

    /// The type of the part that the author sets.
    pub(crate) fn input_type(&self) -> TokenStream {
        let input = self.associated_type(&quote!(Input));
        // An author may leave such an attribute to the provider.
        let may_lack =
            self.kind == FieldKind::Attribute(Role::OptionalComputed) && !self.has_default();
        match may_lack
            && !["Option", "Attr", "Value"].iter().any(|name| is_type_named(self.ty, name))
        {
            true => quote!(::core::option::Option<#input>),
            false => input,
        }
    }

    /// The type of the part that the provider sets.
    pub(crate) fn computed_type(&self) -> TokenStream {
        let ty = self.ty;
        if self.is_flattened() { self.associated_type(&quote!(Computed)) } else { quote!(#ty) }
    }

    /// The type as a part of the identity.
    pub(crate) fn identity_type(&self) -> TokenStream {
        let ty = self.ty;
        match self.is_flattened() {
            true => self.associated_type(&quote!(Identity)),
            false if self.needs_option_in_identity() => {
                quote_spanned!(ty.span()=> ::core::option::Option<#ty>)
            }
            false => quote!(#ty),
        }
    }

    /// Whether it may be absent there, and its own type cannot represent that.
    fn needs_option_in_identity(&self) -> bool {
        let is_nullable =
            ["Option", "Attr", "Value"].iter().any(|name| is_type_named(self.ty, name));
        self.args.identity == Some(IdentityRequirement::Optional) && !is_nullable
    }

    /// A value of that type as one of the type while planning.
    pub(crate) fn convert_identity_to_draft(&self, value: &TokenStream) -> TokenStream {
        match self.needs_option_in_identity() {
            true => quote_spanned! {self.ty.span()=>
                #value.map_or_else(::core::default::Default::default, ::formwork_sdk::Field::into_draft)
            },
            false => self.convert_to_draft(value),
        }
    }

    fn associated_type(&self, phase: &TokenStream) -> TokenStream {
        let ty = self.ty;
        match self.is_flattened() {
            true => quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Model>::#phase),
            false => quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Field>::#phase),
        }
    }

    /// A value of the field's type as one of the type while planning.
    pub(crate) fn convert_to_draft(&self, value: &TokenStream) -> TokenStream {
        match self.is_flattened() {
            true => quote!(::core::convert::Into::into(#value)),
            false => quote_spanned!(self.ty.span()=> ::formwork_sdk::Field::into_draft(#value)),
        }
    }

    /// A value of the field's type as the part that the provider sets.
    pub(crate) fn convert_to_computed(&self, value: TokenStream) -> TokenStream {
        if self.is_flattened() { quote!(::core::convert::Into::into(#value)) } else { value }
    }

    /// Assertions about the field's type that only the compiler can check.
    pub(crate) fn type_assertions(&self) -> TokenStream {
        if self.is_flattened() {
            return self.words_fit_flattened_assertions();
        }
        let (ty, fills) = (self.ty, self.args.fills || !self.is_settable());
        let name = &self.name;
        let message =
            format!("the provider sets parts of `{name}`: add `fills`, so that handlers return it");
        let unmeant = format!("the provider sets no part of `{name}`, so `fills` has no effect");
        let blocks = format!("`{name}` has blocks inside, so it must be a block itself: #[block]");
        let lost = format!(
            "the elements of `{name}` have parts that are `write_only`, so the elements of a set \
             cannot be distinguished: use a list or a map"
        );
        let fills_check = if self.args.fills {
            quote_spanned!(ty.span()=> assert!(<#ty as ::formwork_sdk::Field>::HAS_COMPUTED, #unmeant);)
        } else if fills {
            // The provider sets the whole attribute, so that its computed parts need no word.
            quote!()
        } else {
            quote_spanned!(ty.span()=> assert!(!<#ty as ::formwork_sdk::Field>::HAS_COMPUTED, #message);)
        };
        let block_check = (!self.is_block()).then(|| {
            quote_spanned!(ty.span()=> assert!(!<#ty as ::formwork_sdk::Field>::HAS_BLOCKS, #blocks);)
        });
        let checks_fit = self.checks_fit_type_assertions();
        // In a constant, so that the compiler evaluates the assertions although no code calls them.
        quote_spanned! {ty.span()=>
            const _: () = {
                #checks_fit
                #fills_check
                #block_check
                assert!(!<#ty as ::formwork_sdk::Field>::HAS_WRITE_ONLY_IN_SET, #lost);
            };
        }
    }

    /// Assertions that the declared checks fit the type.
    fn checks_fit_type_assertions(&self) -> TokenStream {
        let (ty, name, args) = (self.ty, &self.name, &self.args);
        let holds_none =
            |word, value_kind| format!("`{word}` is for {value_kind}, and `{name}` holds none");
        let checks = [
            (!args.one_of.is_empty(), quote!(MAY_HOLD_STRINGS), holds_none("one_of", "strings")),
            (args.range.is_some(), quote!(MAY_HOLD_NUMBERS), holds_none("range", "numbers")),
            (
                args.length.is_some(),
                quote!(HAS_LENGTH),
                format!("`length` is for strings and collections, and `{name}` is neither"),
            ),
        ];
        let set_checks = checks.into_iter().filter(|(is_set, ..)| *is_set);
        set_checks
            .map(|(_, fits, reason)| {
                // At the type, so that the error about it is shown there.
                quote_spanned!(ty.span()=> assert!(<#ty as ::formwork_sdk::Field>::#fits, #reason);)
            })
            .collect()
    }

    /// Assertions that the words on a flattened model fit it.
    fn words_fit_flattened_assertions(&self) -> TokenStream {
        let (ty, name) = (self.ty, &self.name);
        let model = quote_spanned!(ty.span()=> <#ty as ::formwork_sdk::Model>);
        let message = format!(
            "the provider sets parts of `{name}`: add `fills`, or `computed` if it sets all of it"
        );
        let unmeant = format!("the provider sets no part of `{name}`, so `fills` has no effect");
        let shared =
            format!("the author sets parts of `{name}`: use `fills` instead of `computed`");
        let check = match (self.args.role, self.args.fills) {
            (Some(_), _) => quote_spanned!(ty.span()=> assert!(!#model::HAS_SETTABLE, #shared)),
            (None, true) => quote_spanned!(ty.span()=> assert!(#model::HAS_COMPUTED, #unmeant)),
            (None, false) => quote_spanned!(ty.span()=> assert!(!#model::HAS_COMPUTED, #message)),
        };
        let message = format!("parts of `{name}` are an identity: add `identity` to `flatten`");
        let unmeant = format!("no part of `{name}` is an identity, so `identity` has no effect");
        let identity_check = match self.is_in_identity() {
            true => quote_spanned!(ty.span()=> assert!(#model::HAS_IDENTITY, #unmeant)),
            false => quote_spanned!(ty.span()=> assert!(!#model::HAS_IDENTITY, #message)),
        };
        quote_spanned!(ty.span()=> const _: () = { #check; #identity_check };)
    }

    /// The call that adds this field to the shape.
    pub(crate) fn call_adding_to_shape(&self) -> TokenStream {
        let Self { ty, name, description, .. } = self;
        let role = match self.kind {
            FieldKind::Attribute(role) => role,
            FieldKind::Block => return self.call_adding_block_to_shape(),
            FieldKind::Flat => {
                return quote!(.flatten(<#ty as ::formwork_sdk::Model>::shape()));
            }
        };
        let described = (!description.is_empty()).then(|| quote!(.describe(#description)));
        let deprecated = self.args.deprecated.as_ref().map(|text| quote!(.deprecated(#text)));
        let replace = self.args.replace.then(|| quote!(.force_replacement()));
        let checks = self.calls_adding_checks();
        let role = match role {
            Role::Required => quote!(Required),
            Role::Optional => quote!(Optional),
            Role::Computed => quote!(Computed),
            Role::OptionalComputed => quote!(OptionalComputed),
        };
        let sensitive = self.args.sensitive.then(|| quote!(.sensitive()));
        let write_only = self.args.write_only.then(|| quote!(.write_only()));
        let keep = self.args.keep.then(|| quote!(.keep_prior_value()));
        let draft = self.draft_type();
        let replace_if = self.args.replace_if.as_ref().map(|decide| {
            quote!(.force_replacement_if(|prior, planned| {
                ::formwork_sdk::model::call_replace_condition::<#draft>(prior, planned, #decide)
            }))
        });
        let default = self.call_setting_default();
        let import = self.args.import.then(|| quote!(.set_by_import_id()));
        let identity = self.args.identity.map(|identity| match identity {
            IdentityRequirement::Required => quote!(Required),
            IdentityRequirement::Optional => quote!(Optional),
        });
        let identity = identity
            .map(|requirement| quote!(.identifies(::formwork_sdk::schema::IdentityRequirement::#requirement)));
        quote! {
            .attribute(
                #name,
                ::formwork_sdk::schema::AttributeDefinition::of_field_type::<#ty>(::formwork_sdk::schema::Role::#role)
                #described #deprecated #sensitive #write_only #keep #replace #replace_if #default
                #checks #identity #import
            )
        }
    }

    fn call_adding_block_to_shape(&self) -> TokenStream {
        let Self { ty, name, description, .. } = self;
        let described = (!description.is_empty()).then(|| quote!(.describe(#description)));
        let deprecated = self.args.deprecated.as_ref().map(|text| quote!(.deprecated(#text)));
        let replace = self.args.replace.then(|| quote!(.force_replacement()));
        let group = self.args.group.then(|| quote!(.group()));
        let min = self.args.min.as_ref().map(|minimum| quote!(.min_blocks(#minimum)));
        let max = self.args.max.as_ref().map(|maximum| quote!(.max_blocks(#maximum)));
        let checks = self.calls_adding_checks();
        quote! {
            .nested_block(
                #name,
                ::formwork_sdk::schema::BlockDefinition::of_field_type::<#ty>()
                #group #described #deprecated #replace #min #max #checks
            )
        }
    }

    fn call_setting_default(&self) -> Option<TokenStream> {
        let (ty, value) = (self.ty, self.args.default.as_ref()?);
        let value = match value {
            _ if is_type_named(ty, "Attr") => quote!(<#ty>::new_known(#value)),
            // A string literal is a `&str`, and the field has a type of its own.
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {
                quote!(::core::convert::Into::into(#value))
            }
            _ => quote!(#value),
        };
        // The variable gives the expression the type of the field: a literal needs no suffix.
        Some(quote!(.default_value({
            let default: #ty = #value;
            ::formwork_sdk::Field::to_value(&default)
        })))
    }

    fn calls_adding_checks(&self) -> TokenStream {
        let FieldArgs { one_of, range, length, check, .. } = &self.args;
        let one_of = (!one_of.is_empty()).then(|| quote!(one_of(&[#(#one_of),*])));
        let range = range.as_ref().map(|range| quote!(range(#range)));
        let length = length.as_ref().map(|length| quote!(length(#length)));
        let plain = type_in_option_or_attr(self.ty);
        let check = check.as_ref().map(|ask| {
            // Errors are reported at the name of the function.
            let span = Span::call_site().located_at(ask.span());
            // In a closure, where a `&String` becomes the `&str` that a function may take.
            quote_spanned!(span=> by_function::<#plain>(|value| #ask(value)))
        });
        let all_checks = [one_of, range, length, check].into_iter().flatten();
        quote!(#(.add_check(::formwork_sdk::check::Check::#all_checks))*)
    }
}
