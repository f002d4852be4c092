//! Possible results of the expressions, as generated traits: a type implements one if it has all
//! required values, and the compiler refuses all others with the message of the trait.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, Path};

use super::{ResourceGenerator, hidden_variable};
use crate::client_conversions;
use crate::model_field::ModelField;

/// A type that an expression may answer, and its items of the trait.
struct PossibleAnswer {
    ty: TokenStream,
    items: TokenStream,
}

/// A trait of possible answers.
struct AnswerTrait<'w> {
    word: &'w str,
    name: TokenStream,
    items: TokenStream,
    cases: &'w [PossibleAnswer],
    /// Whether all computed attributes are required.
    is_whole: bool,
}

impl ResourceGenerator<'_> {
    pub(super) fn expression_answer_traits(&self) -> TokenStream {
        let is_defined = |word| self.args.find_expression(word).is_some();
        let create_trait = is_defined("create").then(|| self.trait_of_create_answers());
        let changed = is_defined("update").then(|| self.trait_of_update_answers());
        let read_trait = is_defined("read").then(|| self.trait_of_read_answers());
        quote!(#create_trait #changed #read_trait)
    }

    /// Results of `create`: all computed attributes, or enough to read the rest.
    fn trait_of_create_answers(&self) -> TokenStream {
        let (computed, id) = (&self.computed, self.id_type_or_unit());
        let is_open = self.reads_after_create();
        let answer = match is_open {
            true => quote!(::core::result::Result<#computed, #id>),
            false => quote!(#computed),
        };
        let case = |ty: &TokenStream, body: TokenStream| PossibleAnswer {
            ty: ty.clone(),
            items: quote!(fn create_answer(self) -> #answer { #body }),
        };
        let all = |value: TokenStream| match is_open {
            true => quote!(::core::result::Result::Ok(#value)),
            false => value,
        };
        let mut cases = vec![case(&quote!(#computed), all(quote!(self)))];
        if is_open {
            cases.push(case(&id, quote!(::core::result::Result::Err(self))));
        } else if self
            .wholly_or_partly_computed_fields()
            .all(|part| self.is_computed_import_id(part))
        {
            let id_part = self.id.map(|part| {
                let ident = part.ident;
                quote!(#ident: self)
            });
            cases.push(case(&id, quote!(#computed { #id_part })));
        }
        // The foreign struct lacks local attributes, so it would not be a whole answer.
        if let Some(from) = self.from.filter(|_| {
            self.wholly_or_partly_computed_fields().all(|part| !part.is_absent_from_client())
        }) {
            let value = match self.wholly_or_partly_computed_fields().next() {
                Some(_) => quote!(<#computed as ::core::convert::From<#from>>::from(self)),
                None => quote!(#computed {}),
            };
            cases.push(case(&quote!(#from), all(value)));
        }
        AnswerTrait {
            word: "create",
            name: quote!(__CreateAnswer),
            items: quote!(fn create_answer(self) -> #answer;),
            cases: &cases,
            is_whole: cases.len() == 1,
        }
        .expand(&self.input.ident)
    }

    /// Results of `update`: all computed attributes, or `()`.
    fn trait_of_update_answers(&self) -> TokenStream {
        let (model, computed) = (&self.input.ident, &self.computed);
        let (prior, is_open) = (hidden_variable("prior"), self.reads_after_update());
        let method = match is_open {
            true => {
                quote!(fn computed(self, #prior: &#model) -> ::core::option::Option<#computed>)
            }
            false => quote!(fn computed(self, #prior: #model) -> #computed),
        };
        // Every body uses the parameter, because an unused one would cause a warning in the
        // author's crate.
        let case = |ty: &TokenStream, body: TokenStream| PossibleAnswer {
            ty: ty.clone(),
            items: quote! {
                type CheckedAnswer = Self;

                fn require_update_answer(self) -> Self {
                    self
                }

                #method {
                    let _ = &#prior;
                    #body
                }
            },
        };
        let all = |value: TokenStream| match is_open {
            true => quote!(::core::option::Option::Some(#value)),
            false => value,
        };
        let mut cases = vec![case(&quote!(#computed), all(quote!(self)))];
        // `()` has no values, which is enough only if a read returns the rest or no other attribute
        // changes.
        let is_done_enough =
            is_open || self.wholly_or_partly_computed_fields().all(ModelField::keeps_prior_value);
        if is_done_enough {
            let body = match is_open {
                true => quote!(::core::option::Option::None),
                false => quote!(::core::convert::Into::into(#prior)),
            };
            cases.push(case(&quote!(()), body));
        }
        if let Some(from) = self.from.filter(|_| self.client_has_all_computed_but_id()) {
            let from_client = self
                .computed_from_client_expression(from, &self.prior_id_expression(&quote!(#prior)));
            cases.push(case(&quote!(#from), all(from_client)));
        }
        // Other types have no such `CheckedAnswer` either, and no further error is reported.
        let items = quote! {
            type CheckedAnswer: __UpdateAnswer;
            fn require_update_answer(self) -> Self::CheckedAnswer;
            #method;
        };
        let (word, name, is_whole) = ("update", quote!(__UpdateAnswer), !is_done_enough);
        AnswerTrait { word, name, items, cases: &cases, is_whole }.expand(model)
    }

    /// Results of `read`: an object, as the service's struct or as the model, or none.
    fn trait_of_read_answers(&self) -> TokenStream {
        let (model, computed, id) = (&self.input.ident, &self.computed, self.id_type_or_unit());
        let known = hidden_variable("known");
        let is_open = self.reads_after_create() || self.reads_after_update();
        let method = is_open.then(|| quote!(fn computed(self, #known: #id) -> #computed));
        let mut objects =
            vec![(quote!(#model), quote!(self), quote!(::core::convert::Into::into(self)))];
        if let Some(from) = self.from {
            let from_client = self.computed_from_client_expression(from, &quote!(#known));
            objects.push((quote!(#from), quote!(current.with(self)), from_client));
        }
        let ones = objects.iter().map(|(ty, with, from_client)| {
            let computed =
                method.as_ref().map(|method| quote!(#method { let _ = &#known; #from_client }));
            quote! {
                impl __ReadObject for #ty {
                    fn into_model(self, current: #model) -> #model {
                        let _ = &current;
                        #with
                    }

                    #computed
                }
            }
        });
        let ones: TokenStream = ones.collect();
        let cases: Vec<_> = objects
            .into_iter()
            .map(|(ty, ..)| PossibleAnswer {
                items: quote! {
                    type ReadObject = #ty;

                    fn require_read_answer(self) -> Self {
                        self
                    }
                },
                ty: quote!(::core::option::Option<#ty>),
            })
            .collect();
        let items = quote! {
            type ReadObject: __ReadObject;
            fn require_read_answer(self) -> ::core::option::Option<Self::ReadObject>;
        };
        let (word, name, is_whole) = ("read", quote!(__ReadAnswer), false);
        let answers = AnswerTrait { word, name, items, cases: &cases, is_whole }.expand(model);
        let method = method.map(|method| quote!(#method;));
        quote! {
            #answers

            trait __ReadObject {
                fn into_model(self, current: #model) -> #model;
                #method
            }

            #ones
        }
    }

    /// The id of an object as it was, or that there is none.
    pub(super) fn prior_id_expression(&self, prior: &TokenStream) -> TokenStream {
        self.id.map_or_else(
            || quote!(()),
            |id| {
                let ident = id.ident;
                quote!(::core::clone::Clone::clone(&#prior.#ident))
            },
        )
    }

    /// The computed attributes, from the service's struct and the id.
    fn computed_from_client_expression(&self, from: &Path, id: &TokenStream) -> TokenStream {
        let computed = &self.computed;
        let client_parts: Vec<_> = self
            .wholly_or_partly_computed_fields()
            .filter(|part| !part.is_absent_from_client())
            .collect();
        let (names, values) = client_conversions::fields_from_client(&client_parts);
        let id_part = self.id.filter(|id| id.is_absent_from_client()).map(|part| {
            let ident = part.ident;
            quote!(#ident: #id)
        });
        // With `..`, because the foreign struct may have more fields.
        quote! {{
            let #from { #(#names,)* .. } = self;
            #computed { #(#names: #values,)* #id_part }
        }}
    }
}

impl AnswerTrait<'_> {
    fn expand(&self, model: &Ident) -> TokenStream {
        let Self { word, name, items, cases, is_whole } = self;
        let all: Vec<_> =
            cases.iter().map(|case| format!("`{}`", display_type(&case.ty))).collect();
        let message = format!("`{word}` of `{model}` cannot return `{{Self}}`");
        let mut note = format!("expected {}", all.join(" or "));
        if *is_whole {
            note.push_str(
                "; less is enough if `read` can return the rest by the attribute with `import` \
                 and the values of the author",
            );
        }
        let impls =
            cases.iter().map(|PossibleAnswer { ty, items }| quote!(impl #name for #ty { #items }));
        quote! {
            #[diagnostic::on_unimplemented(
                message = #message,
                label = "this is a `{Self}`",
                note = #note,
            )]
            trait #name: ::core::marker::Sized {
                #items
            }

            #(#impls)*
        }
    }
}

/// A type as people write it.
fn display_type(ty: &TokenStream) -> String {
    // Tokens are printed with spaces between them.
    let text = ty.to_string().replace(":: core :: option :: ", "");
    [(" :: ", "::"), (" < ", "<"), (" >", ">")]
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}
