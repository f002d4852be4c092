//! The version constraints of each module on a provider, to explain a conflict.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::addr::ProviderAddr;
use formwork_core::config::{Config, ModuleNode};
use formwork_core::version::{Version, VersionConstraints};

/// The constraints of each module, by its display name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModuleConstraints(Vec<(String, BTreeMap<ProviderAddr, VersionConstraints>)>);

/// Maximum number of versions in a message.
const MAX_LISTED_VERSIONS: usize = 12;

impl ModuleConstraints {
    /// Collects the constraints of the modules of a configuration.
    pub(crate) fn of_config(config: &Config) -> Self {
        let mut module_constraints = Self::default();
        module_constraints.add(config, config.root_node(), "");
        module_constraints
    }

    fn add(&mut self, config: &Config, node: &ModuleNode, path: &str) {
        let name = if path.is_empty() { "the root module".to_owned() } else { path.to_owned() };
        self.0.push((name, node.module.provider_requirements()));
        for (call, child) in &node.children {
            let dot = if path.is_empty() { "" } else { "." };
            self.add(config, &config.nodes[*child], &format!("{path}{dot}module.{call}"));
        }
    }

    /// Explains why no version meets all constraints: lists the constraints of each module, the available
    /// versions, and the constraints whose removal would resolve the conflict.
    pub(crate) fn explain_conflict(
        &self,
        addr: &ProviderAddr,
        versions: &BTreeSet<Version>,
    ) -> String {
        let constraints_of_modules: Vec<(&str, &VersionConstraints)> = self
            .0
            .iter()
            .filter_map(|(name, required)| Some((name.as_str(), required.get(addr)?)))
            .filter(|(_, constraints)| !constraints.is_empty())
            .collect();
        let mut text = String::new();
        if !constraints_of_modules.is_empty() {
            text.push_str("\n\nThe constraints are those of:");
            for (name, constraints) in &constraints_of_modules {
                text.push_str(&format!("\n  - {name}: {constraints}"));
            }
        }
        text.push_str(&format!("\n\n{}", format_newest_versions(versions)));
        let alternatives: Vec<String> = constraints_of_modules
            .iter()
            .enumerate()
            .filter_map(|(index, (name, constraints))| {
                let constraints_of_others = constraints_of_modules
                    .iter()
                    .enumerate()
                    .filter(|(other_index, _)| *other_index != index);
                let constraints_of_others: Vec<_> =
                    constraints_of_others.map(|(_, (_, constraints))| *constraints).collect();
                let satisfies_others = |version: &&Version| {
                    constraints_of_others.iter().all(|it| it.allows_version(version))
                };
                let newest = versions
                    .iter()
                    .rev()
                    .filter(|version| version.pre.is_empty())
                    .find(satisfies_others)?;
                Some(format!("\n  - {newest}, if {name} did not require {constraints}"))
            })
            .collect();
        if !alternatives.is_empty() {
            text.push_str("\n\nThese versions would meet all constraints:");
            text.push_str(&alternatives.concat());
        }
        text
    }
}

/// Lists the newest versions for a message.
fn format_newest_versions(versions: &BTreeSet<Version>) -> String {
    let newest: Vec<_> =
        versions.iter().rev().take(MAX_LISTED_VERSIONS).map(ToString::to_string).collect();
    match versions.len() {
        0 => "No version is available.".to_owned(),
        n if n > MAX_LISTED_VERSIONS => {
            format!("The newest of {n} available versions are {}.", newest.join(", "))
        }
        _ => format!("The available versions are {}.", newest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_names_modules_versions_and_remedies() {
        let addr: ProviderAddr = "acme/thing".parse().unwrap();
        let module = |name: &str, constraints: &str| {
            let required = [(addr.clone(), constraints.parse().unwrap())].into();
            (name.to_owned(), required)
        };
        let module_constraints = ModuleConstraints(vec![
            module("the root module", ">= 2.0"),
            module("module.a", "~> 1.0"),
            module("module.b", ""),
        ]);
        let versions = ["1.0.0", "1.4.0", "2.1.0", "3.0.0-beta1"];
        let versions = versions.iter().map(|text| Version::parse(text).unwrap()).collect();
        let expected = "\n\nThe constraints are those of:\n  - the root module: >= 2.0.0\n  - module.a: ~> 1.0\n\nThe available versions are 3.0.0-beta1, 2.1.0, 1.4.0, 1.0.0.\n\nThese versions would meet all constraints:\n  - 1.4.0, if the root module did not require >= 2.0.0\n  - 2.1.0, if module.a did not require ~> 1.0";
        assert_eq!(module_constraints.explain_conflict(&addr, &versions), expected);
        assert!(
            module_constraints
                .explain_conflict(&addr, &BTreeSet::new())
                .ends_with("No version is available.")
        );
    }
}
