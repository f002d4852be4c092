//! Providers that a configuration needs, with version constraints. Chooses and installs none.

use std::collections::BTreeMap;

use super::{Config, Module, ProviderAddr};
use crate::version::VersionConstraints;

impl Config {
    /// Every provider that some module lists, configures, or has resources of, with all constraints
    /// on its version together. Providers that are part of the engine are among them.
    #[must_use]
    pub fn provider_requirements(&self) -> BTreeMap<ProviderAddr, VersionConstraints> {
        let mut all = BTreeMap::new();
        for module in self.distinct_modules() {
            add_module_requirements(&mut all, module);
        }
        all
    }
}

impl Module {
    /// Every provider that this module lists, configures, or has resources of, with all constraints
    /// on its version together.
    #[must_use]
    pub fn provider_requirements(&self) -> BTreeMap<ProviderAddr, VersionConstraints> {
        let mut all = BTreeMap::new();
        add_module_requirements(&mut all, self);
        all
    }
}

fn add_module_requirements(all: &mut BTreeMap<ProviderAddr, VersionConstraints>, module: &Module) {
    let listed = module.settings.required_providers.values();
    let listed = listed.map(|required| (&required.source, required.constraint.as_str()));
    let configured = module.providers.values().map(|block| {
        (&block.provider, block.version.as_ref().map_or("", |(version, _)| version.as_str()))
    });
    let used = module.resources.values().map(|resource| (&resource.provider, ""));
    let imported: Vec<_> =
        module.imports.iter().map(|import| import.provider_in_module(module)).collect();
    let imported = imported.iter().map(|provider| (provider, ""));
    for (provider, constraint) in listed.chain(configured).chain(used).chain(imported) {
        let known = all.entry(provider.clone()).or_default();
        // Constraints were checked when they were read.
        if let Ok(constraint) = constraint.parse::<VersionConstraints>()
            && !constraint.is_empty()
        {
            *known = std::mem::take(known).union(constraint);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::config_from_text::load_valid_fixture;
    use expect_test::expect;

    #[test]
    fn every_referenced_provider_is_required() {
        let (config, _) = load_valid_fixture(
            r#"
terraform {
  required_providers {
    listed = { source = "acme/listed", version = ">= 1" }
    both   = "~> 2.1"
  }
}
provider "both" {
  version = "< 2.9"
}
resource "implied_x" "a" {}
resource "terraform_data" "b" {}
resource "other" "c" {
  provider = listed
}
"#,
        );
        let mut out = String::new();
        for (provider, constraints) in config.provider_requirements() {
            out += &format!("{} {constraints}\n", provider.display_string());
        }
        expect![[r#"
            acme/listed >= 1.0.0
            hashicorp/both ~> 2.1, < 2.9.0
            hashicorp/implied 
            terraform.io/builtin/terraform 
        "#]]
        .assert_eq(&out);
    }
}
