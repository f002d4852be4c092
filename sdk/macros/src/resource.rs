//! `#[resource(…)]`: a resource type whose handlers are expressions, mostly one call of a service
//! each. The compiler checks the expressions at their spans.

mod args;
mod expression_answer_traits;
mod handler;
mod optional_handlers;
mod scope;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Error, Ident, Path, Result};

use crate::attr_and_block_args::StructArgs;
use crate::model_field::ModelField;
use args::{ResourceArgs, WaitArgs};
use scope::{ExpressionVariables, ReferencedNames};

/// Generator of a resource type, from the model and its arguments.
struct ResourceGenerator<'i> {
    input: &'i DeriveInput,
    parts: &'i [ModelField<'i>],
    args: ResourceArgs,
    /// The struct of the service that the model is converted from.
    from: Option<&'i Path>,
    /// The attribute that the provider sets and that names an object.
    id: Option<&'i ModelField<'i>>,
    computed: Ident,
    draft: Ident,
}

/// Returns the resource type declared on a model, if any.
pub(crate) fn expand_resource_if_declared(
    input: &DeriveInput,
    of_model: &StructArgs,
    parts: &[ModelField<'_>],
) -> Result<TokenStream> {
    let Some(args) = ResourceArgs::from_attributes_if_any(&input.attrs)? else {
        return Ok(TokenStream::new());
    };
    let model = &input.ident;
    let resource = ResourceGenerator {
        input,
        parts,
        args,
        from: of_model.from.as_ref(),
        // An id that the author sets is known before the object exists, so no answer needs to
        // return it.
        id: parts.iter().find(|part| part.is_import_id() && !part.is_settable()),
        computed: format_ident!("{model}Computed"),
        draft: format_ident!("{model}Draft"),
    };
    resource.check_definition()?;
    Ok(resource.expand())
}

impl ResourceGenerator<'_> {
    fn expand(&self) -> TokenStream {
        let (model, vis, name) = (&self.input.ident, &self.input.vis, &self.args.name);
        let doc = format!("The resource type whose objects are each a [`{model}`].");
        let types = self.args.fields.iter().map(|field| &field.ty);
        let fields = (!self.args.fields.is_empty()).then(|| quote!((#(#vis #types),*)));
        let handlers = [
            self.create_handler(),
            self.read_handler(),
            self.update_handler(),
            self.delete_handler(),
            self.optional_handlers(),
            self.versions_and_upgrades(),
        ];
        let (traits, unchanging) =
            (self.expression_answer_traits(), self.missing_update_assertions());
        // The traits are in a scope of their own: two resource types of one module have the same
        // names for them.
        quote! {
            #[doc = #doc]
            #vis struct #name #fields;

            const _: () = {
                #traits
                #unchanging

                impl ::formwork_sdk::Resource for #name {
                    type Model = #model;

                    #(#handlers)*
                }
            };
        }
    }

    fn is_computed_import_id(&self, part: &ModelField<'_>) -> bool {
        self.id.is_some_and(|id| id.ident == part.ident)
    }

    /// The fields that the provider sets, or parts of them.
    fn wholly_or_partly_computed_fields(&self) -> impl Iterator<Item = &ModelField<'_>> {
        self.parts.iter().filter(|part| part.has_computed_part())
    }

    /// Whether the service returns all attributes that the provider sets, given the id.
    fn client_has_all_computed_but_id(&self) -> bool {
        self.wholly_or_partly_computed_fields()
            .all(|part| self.is_computed_import_id(part) || !part.is_absent_from_client())
    }

    /// Whether `read` can be called with only the id and the author's values, and then returns all
    /// attributes that the provider sets.
    fn read_suffices_after_change(&self) -> bool {
        let Some(read) = self.args.find_expression("read") else { return false };
        let names = ReferencedNames::in_expressions([read]);
        let unknown = self
            .parts
            .iter()
            .filter(|part| !part.is_settable() && !self.is_computed_import_id(part));
        (self.from.is_none() || self.client_has_all_computed_but_id())
            && !unknown.into_iter().any(|part| names.contains(part.ident))
            // These contain the whole object, and only a part of it is known then.
            && !["call", "current"].iter().any(|reserved_name| names.contains_name(reserved_name))
    }

    /// Whether `create` leaves attributes to `read`.
    fn reads_after_create(&self) -> bool {
        let is_more = self.args.ready.is_some()
            || self
                .wholly_or_partly_computed_fields()
                .any(|part| !self.is_computed_import_id(part));
        is_more && self.read_suffices_after_change()
    }

    /// Whether `update` leaves attributes to `read`.
    fn reads_after_update(&self) -> bool {
        let is_more = self.args.ready.is_some()
            || self.wholly_or_partly_computed_fields().any(|part| !part.keeps_prior_value());
        is_more && self.read_suffices_after_change()
    }

    /// Checks that all required expressions are present.
    fn check_definition(&self) -> Result<()> {
        scope::check_field_names_do_not_collide(&self.args.fields, self.parts)?;
        let lacks = |word: &str| self.args.find_expression(word).is_none();
        let refuse = |reason: String| Err(Error::new(self.args.name.span(), reason));
        if lacks("create") {
            return refuse("define how an object is created: `create = …`".to_owned());
        }
        // Without a client no object exists to read or destroy.
        for (word, purpose) in [("read", "found again"), ("delete", "destroyed")] {
            if lacks(word) && !self.args.fields.is_empty() {
                return refuse(format!("define how an object is {purpose}: `{word} = …`"));
            }
        }
        let changed = self.parts.iter().find(|part| part.needs_update_handler());
        if let Some(part) = changed.filter(|_| lacks("update")) {
            return Err(Error::new(part.ident.span(), missing_update_message(part)));
        }
        let waitings = [&self.args.ready, &self.args.gone];
        waitings.into_iter().flatten().try_for_each(|waiting| self.check_wait_args(waiting))
    }

    /// Assertions about flattened models.
    fn missing_update_assertions(&self) -> Option<TokenStream> {
        let flat = self.parts.iter().filter(|part| part.is_flattened() && part.is_settable());
        // Whether a flattened model has such parts, only the compiler sees.
        let checks = flat.map(|part| {
            let (ty, reason) = (part.ty, missing_update_message(part));
            quote_spanned!(ty.span()=> assert!(!<#ty as ::formwork_sdk::Model>::CHANGES_IN_PLACE, #reason);)
        });
        let lacks_update = self.args.find_expression("update").is_none();
        lacks_update.then(|| quote!(const _: () = { #(#checks)* };))
    }

    fn check_wait_args(&self, waiting: &WaitArgs) -> Result<()> {
        let word = &waiting.word;
        let refuse = |reason: String| Err(Error::new(word.span(), reason));
        let Some(read) = self.args.find_expression("read") else {
            return refuse(format!("`{word}` calls `read`, which is not defined"));
        };
        let names = ReferencedNames::in_expressions([read]);
        match (word == "ready", &waiting.until) {
            (true, None) => refuse("write the condition: `ready(found.is_ready)`".to_owned()),
            (false, Some(_)) => {
                refuse("`gone` has no condition; it waits until `read` finds no object".to_owned())
            }
            (true, Some(_)) if self.read_suffices_after_change() => Ok(()),
            (true, Some(_)) => refuse(
                "`ready` calls `read` after `create`, when only values of the author and the \
                 computed attribute with `import` are known: `read` can use only these, and must \
                 return all others"
                    .to_owned(),
            ),
            (false, None)
                if ["call", "current"]
                    .iter()
                    .any(|reserved_name| names.contains_name(reserved_name)) =>
            {
                refuse(
                    "`gone` calls `read` after `delete`: name the attributes that it uses"
                        .to_owned(),
                )
            }
            (false, None) => Ok(()),
        }
    }

    /// The id's type; `()` if there is none.
    fn id_type_or_unit(&self) -> TokenStream {
        self.id.map_or_else(
            || quote!(()),
            |id| {
                let ty = id.ty;
                quote!(#ty)
            },
        )
    }

    /// Name of the model as words of a sentence: `load balancer`.
    fn model_name_in_words(&self) -> String {
        let name = self.input.ident.to_string();
        let words = name.char_indices().flat_map(|(index, c)| {
            let gap = (index > 0 && c.is_uppercase()).then_some(' ');
            gap.into_iter().chain(c.to_lowercase())
        });
        words.collect()
    }

    /// The names that all expressions have.
    fn scope_of_struct_fields(&self) -> ExpressionVariables {
        ExpressionVariables::of_struct_fields(&self.args.fields)
    }
}

fn missing_update_message(part: &ModelField<'_>) -> String {
    let name = part.ident;
    format!(
        "`{name}` can be changed in place: add `update = …` to `resource`, or `replace` to the attribute"
    )
}

/// A variable that no expression of an author can see.
fn hidden_variable(name: &str) -> Ident {
    // Names with this span are looked up where the macro is defined, so an author can neither use
    // nor shadow them.
    Ident::new(name, Span::mixed_site())
}

/// The token for error positions.
fn hidden_variable_at(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(span))
}
