//! Resolves names of functions with a namespace: functions of the providers that a module lists.

use formwork_lang::functions::Function;
use formwork_lang::suggest::nearest_name;

use super::ModuleScope;
use crate::config::RequiredProvider;

impl ModuleScope<'_> {
    /// Finds a provider function by `NAME::FUNCTION`, as written after `provider::`.
    pub(super) fn find_provider_function(&self, name: &str) -> Option<&dyn Function> {
        let (local, function) = name.split_once("::")?;
        let required = self.required_provider(local)?;
        self.module.provider_functions().find_function(&required.source, function)
    }

    pub(super) fn provider_function_names(&self) -> impl Iterator<Item = String> {
        self.module.module_config().settings.required_providers.iter().flat_map(
            |(local, required)| {
                let names = self.module.provider_functions().function_names(&required.source);
                names.map(move |name| format!("provider::{local}::{name}"))
            },
        )
    }

    pub(super) fn explain_missing_provider_function(&self, name: &str) -> String {
        let (namespace, rest) = name.split_once("::").unwrap_or((name, ""));
        if namespace != "provider" {
            return format!(
                "The function namespace {namespace:?} is not valid. Provider function calls must use the \"provider::\" namespace prefix."
            );
        }
        let Some((local, function)) = rest.split_once("::") else {
            return format!(
                "The name of a provider and that of its function must follow `provider::`, as in `provider::{rest}::FUNCTION`."
            );
        };
        let Some(required) = self.required_provider(local) else {
            let listed = self.module.module_config().settings.required_providers.keys();
            let hint = nearest_name(local, listed.map(|name| name.as_str()))
                .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
            return format!(
                "There is no function named {name:?}. Ensure that provider name {local:?} is declared in this module's required_providers block, and that this provider offers a function named {function:?}.{hint}"
            );
        };
        let names = self.module.provider_functions().function_names(&required.source);
        let hint = nearest_name(function, names)
            .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
        format!("The function {function:?} is not available from the provider {local:?}.{hint}")
    }

    fn required_provider(&self, local: &str) -> Option<&RequiredProvider> {
        self.module.module_config().settings.required_providers.get(local)
    }
}
