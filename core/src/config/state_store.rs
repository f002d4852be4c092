//! `state_store` blocks: a state store of a provider instead of a backend. Terraform has them as an
//! experiment since version 1.14.

use formwork_lang::content::{BodySchema, split_content};
use formwork_lang::syntax::Block;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{ModuleSettings, ProviderAddr, StateBackendBlock, StateStoreProviderBlock, provider};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema =
    BodySchema { attributes: &[], blocks: &[("provider", &["name"])] };

/// Reads a `state_store` block.
///
/// # Errors
/// Returns an error if the `provider` block is missing or invalid.
pub(super) fn read_state_store_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Result<StateBackendBlock, Reported> {
    // A block without its label is left out before this.
    let kind = block.labels.first().unwrap_or(&block.kind).name.clone();
    let end = block.body.missing;
    let (mut content, rest) = split_content(diags, block.body.clone(), &BODY_SCHEMA);
    let mut providers = content.take_blocks("provider").into_iter();
    let Some(first) = providers.next() else {
        return Err(diags.error(missing_provider_block_error(&block).at(end)));
    };
    if let Some(second) = providers.next() {
        let detail = "Only one 'provider' block should be present in a 'state_store' block.";
        let problem = Diagnostic::error(messages::DUPLICATE_STORE_PROVIDER_BLOCK, detail);
        return Err(diags.error(problem.at(second.header)));
    }
    let alias = first.body.find_attribute("alias").map(|alias| alias.span);
    let mut provider_diags = Diagnostics::new();
    let read = provider::read_provider_block(&mut provider_diags, sources, first);
    diags.append(provider_diags)?;
    // Without an error, the block exists.
    let Some(read) = read else { return Err(diags.error(missing_provider_block_error(&block))) };
    if read.local.alias.is_some() {
        let detail = "Aliases are disallowed in the 'provider' block in the 'state_store' block.";
        let problem = Diagnostic::error(messages::UNEXPECTED_PROVIDER_ALIAS, detail);
        return Err(diags.error(problem.at(alias.unwrap_or(read.span))));
    }
    let provider = StateStoreProviderBlock {
        name: read.local.name,
        source: read.provider,
        body: read.body,
        span: read.span,
    };
    Ok(StateBackendBlock { kind, body: rest, span: block.header, provider: Some(provider) })
}

fn missing_provider_block_error(block: &Block) -> Diagnostic {
    let detail = "A 'provider' block is required in 'state_store' blocks.";
    Diagnostic::error(messages::MISSING_PROVIDER_BLOCK, detail).at(block.header)
}

impl ModuleSettings {
    /// Resolves the provider address of a state store. All `required_providers` must have been read.
    ///
    /// # Errors
    /// When the provider has no entry in `required_providers`.
    pub(super) fn resolve_state_store_provider(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let Some(backend) = &mut self.backend else { return Ok(()) };
        let Some(provider) = &mut backend.provider else { return Ok(()) };
        let Some(required) = self.required_providers.get(&provider.name) else {
            let detail = format!(
                "The provider used for state storage must have a matching entry in required_providers. Please add an entry for provider {}.",
                provider.name
            );
            let problem = Diagnostic::error(messages::MISSING_REQUIRED_PROVIDER_ENTRY, detail);
            return Err(diags.error(problem.at(backend.span)));
        };
        provider.source = required.source.clone();
        Ok(())
    }
}

impl StateBackendBlock {
    /// The address of the provider, if this is a `state_store` block.
    #[must_use]
    pub fn provider_of_state_store(&self) -> Option<&ProviderAddr> {
        self.provider.as_ref().map(|provider| &provider.source)
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::schema::{Attribute, Block as Schema, Role};
    use formwork_value::{Type, Value};

    use super::super::config_from_text::{
        format_diagnostics, format_value, load_fixture, load_valid_fixture,
    };
    use super::super::terraform_block::evaluate_constant_body;
    use super::*;

    const REQUIRED: &str = "required_providers {\n    acme = { source = \"corp/acme\" }\n  }\n";

    fn schema(name: &str) -> Schema {
        let attribute = Attribute::new(Type::String, Role::Required);
        Schema { attributes: [(name.into(), attribute)].into(), ..Schema::default() }
    }

    fn arguments(fixture: &str) -> String {
        let (config, _) = load_valid_fixture(fixture);
        let backend = config.backend().expect("there is one");
        let provider = backend.provider.as_ref().expect("it is a state store");
        let mut diags = Diagnostics::new();
        let provider_config: Value =
            evaluate_constant_body(&mut diags, &provider.body, &schema("region")).unwrap();
        let store = backend.evaluate_arguments(&mut diags, &schema("bucket")).unwrap();
        let (kind, source) = (&backend.kind, &provider.source);
        format!("{kind} {source} {} {}", format_value(&provider_config), format_value(&store))
    }

    #[test]
    fn the_provider_block_is_separated_from_the_arguments() {
        let expected =
            "acme_store registry.terraform.io/corp/acme {region = \"north\"} {bucket = \"b\"}";
        let block = "state_store \"acme_store\" {\n    bucket = \"b\"\n    provider \"acme\" {\n      region = \"north\"\n    }\n  }\n";
        // The provider may be listed in another file, and after the block.
        let parts =
            [format!("{block}  {REQUIRED}"), format!("{REQUIRED}}}\nterraform {{\n  {block}")];
        for part in parts {
            assert_eq!(arguments(&format!("terraform {{\n  {part}}}\n")), expected);
        }
        let json = r#"//- main.tf.json
{"terraform": {
  "required_providers": {"acme": {"source": "corp/acme"}},
  "state_store": {"acme_store": {"bucket": "b", "provider": {"acme": {"region": "north"}}}}
}}
"#;
        assert_eq!(arguments(json), expected);
        let overridden = format!(
            "terraform {{\n  backend \"local\" {{}}\n  {REQUIRED}}}\n//- override.tf\nterraform {{\n  {block}}}\n"
        );
        assert_eq!(arguments(&overridden), expected);
    }

    #[test]
    fn a_block_without_a_provider_or_with_another_state_location_is_refused() {
        let check = |blocks: &str, expected: &str| {
            let (_, sources, diags) =
                load_fixture(&format!("terraform {{\n  {REQUIRED}{blocks}\n}}\n"));
            let messages = format_diagnostics(&sources, &diags);
            assert!(messages.contains(expected), "{messages}");
        };
        let store = "state_store \"acme_store\" {\n    provider \"acme\" {}\n  }";
        check(
            &store.replace("acme\" {}", "other\" {}"),
            messages::MISSING_REQUIRED_PROVIDER_ENTRY.summary,
        );
        check(&store.replace("provider \"acme\" {}", ""), messages::MISSING_PROVIDER_BLOCK.summary);
        let twice = store.replace("{}", "{}\n    provider \"acme\" {}");
        check(&twice, "Duplicate provider block");
        check(
            &store.replace("{}", "{\n      alias = \"x\"\n    }"),
            messages::UNEXPECTED_PROVIDER_ALIAS.summary,
        );
        check(&format!("{store}\n  {store}"), "Duplicate 'state_store' configuration block");
        let both = "Conflicting 'state_store' and 'backend' configuration blocks are present";
        check(&format!("{store}\n  backend \"local\" {{}}"), both);
        check(&format!("backend \"local\" {{}}\n  {store}"), both);
        let cloud = "Conflicting 'cloud' and 'state_store' configuration blocks are present";
        check(&format!("cloud {{}}\n  {store}"), cloud);
    }
}
