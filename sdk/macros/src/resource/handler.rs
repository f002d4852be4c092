//! The four handlers around an author's expressions: partial results, reading the remaining
//! attributes, and waiting.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprAwait, Ident, Token};

use super::args::WaitArgs;
use super::scope::{ExpressionVariables, ReferencedNames, unreserved_fields};
use super::{ResourceGenerator, hidden_variable, hidden_variable_at};
use crate::model_field::ModelField;

/// Kind of the call.
#[derive(Clone, Copy)]
enum HandlerKind {
    Create,
    Read,
    Update,
    Delete,
}

/// A wait until an object is in a state.
struct ObjectStateWait<'a> {
    /// The state, as messages name it.
    state: &'a str,
    /// The author's condition.
    condition: Option<&'a Expr>,
    /// The limits.
    options: &'a TokenStream,
    /// The awaited value, if it exists.
    found: &'a TokenStream,
}

impl ResourceGenerator<'_> {
    pub(super) fn create_handler(&self) -> TokenStream {
        let Some(expression) = self.args.find_expression("create") else {
            return TokenStream::new();
        };
        let (model, computed, draft) = (&self.input.ident, &self.computed, &self.draft);
        let made = self.checked_answer_expression(expression, HandlerKind::Create);
        let body = if self.reads_after_create() {
            let known = hidden_variable("known");
            let copy = quote!(::core::clone::Clone::clone(&#known));
            let kept = self.id.map(|id| {
                let (ident, value) = (id.ident, id.convert_to_draft(&copy));
                quote!(#ident: #value,)
            });
            let given = self.id.map_or_else(
                || quote!(()),
                |id| {
                    let ident = id.ident;
                    quote!(all.#ident)
                },
            );
            // Kept before the wait: the object exists, and a timeout must not lose it.
            let all = match self.args.ready {
                Some(_) => quote! {
                    call.keep(::core::clone::Clone::clone(&all));
                    #given
                },
                None => quote!(return ::core::result::Result::Ok(all)),
            };
            let found = self.read_after_change_expression(HandlerKind::Create);
            quote! {
                let #known = match #made {
                    ::core::result::Result::Ok(all) => { #all }
                    ::core::result::Result::Err(#known) => {
                        call.keep(#draft { #kept ..::core::default::Default::default() });
                        #known
                    }
                };
                let found = #found;
                ::core::result::Result::Ok(__ReadObject::computed(found, #known))
            }
        } else {
            quote!(::core::result::Result::Ok(#made))
        };
        quote! {
            async fn create(
                &self,
                call: ::formwork_sdk::resource::Create<#model>,
            ) -> ::formwork_sdk::Answer<#computed> {
                #body
            }
        }
    }

    pub(super) fn read_handler(&self) -> TokenStream {
        let Some(expression) = self.args.find_expression("read") else { return TokenStream::new() };
        let (model, found) =
            (&self.input.ident, self.checked_answer_expression(expression, HandlerKind::Read));
        quote! {
            async fn read(
                &self,
                call: ::formwork_sdk::resource::Read<#model>,
            ) -> ::formwork_sdk::Answer<::core::option::Option<#model>> {
                let found = #found;
                ::core::result::Result::Ok(found.map(|found| __ReadObject::into_model(found, call.current)))
            }
        }
    }

    pub(super) fn update_handler(&self) -> TokenStream {
        let Some(expression) = self.args.find_expression("update") else {
            return TokenStream::new();
        };
        let (model, computed) = (&self.input.ident, &self.computed);
        let changed = self.checked_answer_expression(expression, HandlerKind::Update);
        let body = if self.reads_after_update() {
            // With `ready`, even a whole answer is not enough: the object may not be usable yet.
            let is_all = self.args.ready.is_none().then(|| {
                quote! {
                    if let ::core::option::Option::Some(computed) = __UpdateAnswer::computed(changed, &call.prior) {
                        return ::core::result::Result::Ok(computed);
                    }
                }
            });
            let found = self.read_after_change_expression(HandlerKind::Update);
            let id = self.prior_id_expression(&quote!(call.prior));
            quote! {
                let changed = #changed;
                // Without a use, it would cause a warning in the author's crate.
                let _ = &changed;
                #is_all
                let found = #found;
                ::core::result::Result::Ok(__ReadObject::computed(found, #id))
            }
        } else {
            quote! {
                let changed = #changed;
                ::core::result::Result::Ok(__UpdateAnswer::computed(changed, call.prior))
            }
        };
        quote! {
            async fn update(
                &self,
                call: ::formwork_sdk::resource::Update<#model>,
            ) -> ::formwork_sdk::Answer<#computed> {
                #body
            }
        }
    }

    pub(super) fn delete_handler(&self) -> TokenStream {
        let Some(expression) = self.args.find_expression("delete") else {
            return TokenStream::new();
        };
        let (model, deleted) =
            (&self.input.ident, self.checked_answer_expression(expression, HandlerKind::Delete));
        let gone = self.args.gone.as_ref().map(|gone| {
            let is_gone = quote!(found.is_none().then_some(()));
            let wait = ObjectStateWait {
                state: "gone",
                condition: None,
                options: &wait_option_calls(gone),
                found: &is_gone,
            };
            let waited = self.wait_for_read_expression(HandlerKind::Delete, &wait);
            quote!(#waited;)
        });
        quote! {
            async fn delete(
                &self,
                call: ::formwork_sdk::resource::Delete<#model>,
            ) -> ::formwork_sdk::Answer<()> {
                #deleted;
                #gone
                ::core::result::Result::Ok(())
            }
        }
    }

    /// Result of an expression, with the type that it must have.
    fn checked_answer_expression(&self, expression: &Expr, phase: HandlerKind) -> TokenStream {
        let bound = self
            .scope_of_handler_expression(phase)
            .referenced_bindings(&ReferencedNames::in_expressions([expression]));
        let span = called_function_span(expression);
        let answer = hidden_variable_at("answer", span);
        let awaited = await_expression(expression, span);
        let check = match phase {
            HandlerKind::Create => quote_spanned!(span=> __CreateAnswer::create_answer),
            HandlerKind::Read => quote_spanned!(span=> __ReadAnswer::require_read_answer),
            HandlerKind::Update => quote_spanned!(span=> __UpdateAnswer::require_update_answer),
            HandlerKind::Delete => quote_spanned!(span=> ::core::mem::drop),
        };
        let checked = quote_spanned!(span=> #check(#answer?));
        quote! {{
            #bound
            let #answer = #awaited;
            #checked
        }}
    }

    /// The service's object after a creation or change.
    fn read_after_change_expression(&self, phase: HandlerKind) -> TokenStream {
        match &self.args.ready {
            Some(ready) => {
                let until = &ready.until;
                let one = hidden_variable("one");
                // Not in a closure, so that a condition may end the waiting with a `?`.
                let is_ready = quote! {
                    match found {
                        ::core::option::Option::Some(#one) => {
                            let found = &#one;
                            if #until { ::core::option::Option::Some(#one) } else { ::core::option::Option::None }
                        }
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                };
                let (condition, options) = (until.as_ref(), &wait_option_calls(ready));
                self.wait_for_read_expression(
                    phase,
                    &ObjectStateWait { state: "ready", condition, options, found: &is_ready },
                )
            }
            // An existing object may not be visible immediately.
            None => {
                let soon = quote!(.at_most(::core::time::Duration::from_secs(60)));
                let found = &quote!(found);
                self.wait_for_read_expression(
                    phase,
                    &ObjectStateWait { state: "there", condition: None, options: &soon, found },
                )
            }
        }
    }

    /// Asks `read` until `found` meets the condition.
    fn wait_for_read_expression(
        &self,
        phase: HandlerKind,
        wait: &ObjectStateWait<'_>,
    ) -> TokenStream {
        let ObjectStateWait { state, condition, options, found } = *wait;
        let Some(read) = self.args.find_expression("read") else { return TokenStream::new() };
        let scope = self.scope_of_struct_fields();
        let scope = match phase {
            HandlerKind::Create => {
                let scope = scope
                    .with_attributes_of(self.settable_unreserved_fields(), &quote!(call.planned));
                let known = hidden_variable("known");
                self.id.into_iter().fold(scope, |scope, id| {
                    scope.with_variable(id.ident, quote!(::core::clone::Clone::clone(&#known)))
                })
            }
            _ => self.scope_with_attributes(phase, scope),
        };
        let bound = scope.referenced_bindings(&ReferencedNames::in_expressions(
            std::iter::once(read).chain(condition),
        ));
        let span = called_function_span(read);
        let answer = hidden_variable_at("answer", span);
        let awaited = await_expression(read, span);
        let checked = quote_spanned!(span=> __ReadAnswer::require_read_answer(#answer?));
        let condition_text = format!("the {} is {state}", self.model_name_in_words());
        quote! {
            call.wait(#condition_text)
                #options
                .until(|| async {
                    #bound
                    let #answer = #awaited;
                    let found = #checked;
                    ::core::result::Result::Ok(#found)
                })
                .await?
        }
    }

    fn settable_unreserved_fields(&self) -> impl Iterator<Item = &ModelField<'_>> {
        unreserved_fields(self.parts).filter(|part| part.is_settable())
    }

    /// The names that an expression has.
    fn scope_of_handler_expression(&self, phase: HandlerKind) -> ExpressionVariables {
        let scope = self.scope_with_attributes(phase, self.scope_of_struct_fields());
        // Visible in the author's expressions, unlike hidden names.
        let reserved_name = |name| Ident::new(name, Span::call_site());
        let planned = quote!(::core::clone::Clone::clone(&call.planned));
        let wholes = match phase {
            HandlerKind::Create => vec![("planned", planned), ("config", quote!(&call.config))],
            HandlerKind::Update => vec![
                ("planned", planned),
                ("config", quote!(&call.config)),
                ("prior", quote!(&call.prior)),
            ],
            HandlerKind::Read => vec![("current", quote!(&call.current))],
            HandlerKind::Delete => vec![("prior", quote!(&call.prior))],
        };
        let scope = wholes
            .into_iter()
            .fold(scope, |scope, (name, value)| scope.with_variable(&reserved_name(name), value));
        // The last, because what it hides is where the others come from.
        scope.with_variable(&reserved_name("call"), quote!(&call))
    }

    fn scope_with_attributes(
        &self,
        phase: HandlerKind,
        scope: ExpressionVariables,
    ) -> ExpressionVariables {
        match phase {
            HandlerKind::Create => {
                scope.with_attributes_of(self.settable_unreserved_fields(), &quote!(call.planned))
            }
            HandlerKind::Read => {
                scope.with_attributes_of(unreserved_fields(self.parts), &quote!(call.current))
            }
            HandlerKind::Update => {
                let computed_parts =
                    unreserved_fields(self.parts).filter(|part| !part.is_settable());
                let scope = scope
                    .with_attributes_of(self.settable_unreserved_fields(), &quote!(call.planned));
                scope.with_attributes_of(computed_parts, &quote!(call.prior))
            }
            HandlerKind::Delete => {
                scope.with_attributes_of(unreserved_fields(self.parts), &quote!(call.prior))
            }
        }
    }
}

/// The words about waiting, as those of a `Wait`.
fn wait_option_calls(waiting: &WaitArgs) -> TokenStream {
    let calls = waiting.options.iter().map(|(option, value)| quote!(.#option(#value)));
    calls.collect()
}

/// An expression whose value is waited for.
fn await_expression(expression: &Expr, span: Span) -> ExprAwait {
    ExprAwait {
        attrs: Vec::new(),
        base: Box::new(expression.clone()),
        dot_token: Token![.](span),
        await_token: Token![await](span),
    }
}

/// Span for errors about an expression: the name of the called function.
fn called_function_span(expression: &Expr) -> Span {
    let span = match expression {
        Expr::MethodCall(call) => call.method.span(),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().map_or(path.span(), Spanned::span),
            other => other.span(),
        },
        other => other.span(),
    };
    // The span is the author's, the code is generated.
    Span::call_site().located_at(span)
}
