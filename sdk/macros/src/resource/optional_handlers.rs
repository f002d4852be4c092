//! Further behaviour of a resource type: each word is a method of `Resource` or one of its
//! constants, and its expression the body.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::ResourceGenerator;
use super::scope::ReferencedNames;

impl ResourceGenerator<'_> {
    pub(super) fn optional_handlers(&self) -> TokenStream {
        let (model, draft) = (&self.input.ident, &self.draft);
        let call = |name: &str| {
            let name = format_ident!("{name}");
            quote!(::formwork_sdk::resource::#name)
        };
        let of_model = |name: &str| {
            let call = call(name);
            quote!(#call<#model>)
        };
        let change = of_model("ModifyPlan");
        let done = quote!({
            let () = answer?;
        });
        let validate = self.optional_handler("validate", &of_model("Validate"), &quote!(()), &done);
        let modify =
            self.optional_handler("modify_plan", &quote!(&mut #change), &quote!(()), &done);
        let object = quote!(::core::convert::Into::into(answer?));
        let (result, found) = (quote!(#draft), quote!(answer?.map(::core::convert::Into::into)));
        let import = self.optional_handler("import", &of_model("Import"), &result, &object);
        let by_identity = of_model("ImportByIdentity");
        let by_identity =
            self.optional_handler("import_by_identity", &by_identity, &result, &object);
        let upgrade = self.optional_handler("upgrade", &call("Upgrade"), &result, &object);
        let result = quote!(::core::option::Option<#draft>);
        let take_over = self.optional_handler("take_over", &call("ForeignObject"), &result, &found);
        quote!(#validate #modify #import #by_identity #upgrade #take_over)
    }

    fn optional_handler(
        &self,
        word: &str,
        call: &TokenStream,
        result: &TokenStream,
        end: &TokenStream,
    ) -> Option<TokenStream> {
        let expression = self.args.find_expression(word)?;
        let (name, bound) = (
            format_ident!("{word}"),
            self.scope_of_struct_fields()
                .referenced_bindings(&ReferencedNames::in_expressions([expression])),
        );
        // All other handlers may await.
        let is_async = word != "validate";
        let (keyword, wait) = (is_async.then(|| quote!(async)), is_async.then(|| quote!(.await)));
        // This one gets a mutable reference already.
        let by_reference = (word != "modify_plan").then(|| quote!(let call = &call; let _ = call;));
        Some(quote! {
            #keyword fn #name(&self, call: #call) -> ::formwork_sdk::Answer<#result> {
                #by_reference
                #bound
                let answer = #expression #wait;
                ::core::result::Result::Ok(#end)
            }
        })
    }

    /// The versions of stored objects, and the ways between them.
    pub(super) fn versions_and_upgrades(&self) -> TokenStream {
        let constant = |word: &str| {
            let value = self.args.find_expression(word)?;
            let name = format_ident!("{}", word.to_uppercase());
            Some(quote!(const #name: u64 = #value;))
        };
        let ways = |word: &str, ty: &str| {
            let (value, name) = (self.args.find_expression(word)?, format_ident!("{word}"));
            let ty = format_ident!("{ty}");
            Some(quote!(fn #name() -> ::formwork_sdk::#ty<Self> { #value }))
        };
        let (version, identity_version) = (constant("version"), constant("identity_version"));
        let upgrades = ways("upgrades", "Upgrades");
        let identity_upgrades = ways("identity_upgrades", "IdentityUpgrades");
        quote!(#version #upgrades #identity_version #identity_upgrades)
    }
}
