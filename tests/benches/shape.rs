//! Configurations of the benchmark.

mod expressions;
mod modules;

use std::fmt::{self, Write as _};

use crate::suite::Step;
use expressions::Work;

/// Dependencies between the parts of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// N independent resources.
    Flat,
    /// One resource with N instances.
    Count,
    /// N resources, each of which refers to the tenth before it.
    Chain,
    /// N resources of a plugin that responds immediately.
    Plugin,
    /// N resources of that plugin, each of which refers to the one before it: objects can be read
    /// ahead.
    PluginChain,
    /// N calls of one small module.
    Modules,
    /// One call of that module with N instances.
    ModuleCount,
    /// N / 10 calls of a module that calls the small one ten times.
    Nested,
    /// N calls of a module that has 60 variables and nothing else.
    ModuleVariables,
    /// N instances by key, each of which refers to its counterpart among N others.
    EachReference,
    /// One resource that refers to N others by name.
    Wide,
    /// One resource that refers to the N instances of another by a splat.
    Splat,
    /// Layers of 50 resources, each of which depends on the whole layer before; N in all.
    Dense,
    /// One expression over N elements.
    Expression(Work),
}

/// Steps that each start with the state of the one before.
const LIFE: &[Step] = &[Step::Plan, Step::Apply, Step::NoOpPlan, Step::Destroy];

impl Shape {
    /// All shapes that are measured separately.
    pub(crate) const ALL: [Self; 16] = [
        Self::Flat,
        Self::Count,
        Self::Chain,
        Self::Modules,
        Self::ModuleCount,
        Self::Nested,
        Self::ModuleVariables,
        Self::EachReference,
        Self::Wide,
        Self::Splat,
        Self::Dense,
        Self::Expression(Work::ALL[0]),
        Self::Expression(Work::ALL[1]),
        Self::Expression(Work::ALL[2]),
        Self::Expression(Work::ALL[3]),
        Self::Expression(Work::ALL[4]),
    ];

    /// Measured commands.
    pub(crate) fn steps(self) -> &'static [Step] {
        match self {
            Self::Flat | Self::Count | Self::Chain | Self::Plugin | Self::PluginChain => LIFE,
            _ => &LIFE[..1],
        }
    }

    /// Cost of one more of this shape, as a multiple of the usual one. Sizes are divided by it.
    pub(crate) fn weight(self) -> usize {
        match self {
            Self::Flat | Self::Count | Self::Chain | Self::Expression(_) => 1,
            Self::Plugin | Self::PluginChain => 1,
            Self::Wide | Self::Splat | Self::EachReference => 2,
            Self::Dense => 5,
            Self::Modules | Self::ModuleCount | Self::Nested => 10,
            Self::ModuleVariables => 20,
        }
    }

    /// The largest size that is measured with Terraform.
    pub(crate) fn terraform_at_most(self) -> usize {
        match self {
            Self::Expression(_) => 100_000,
            Self::Flat | Self::Count | Self::Chain | Self::Plugin | Self::PluginChain => 10_000,
            Self::Wide | Self::Splat => 5_000,
            Self::Modules | Self::ModuleCount | Self::Nested => 1_000,
            Self::ModuleVariables | Self::EachReference => 500,
            Self::Dense => 200,
        }
    }

    /// The configuration of this size: files with their content.
    pub(crate) fn files(self, size: usize) -> Vec<(String, String)> {
        let mut text = String::new();
        match self {
            Self::Flat => resources(&mut text, size, |index| format!("input = \"value {index}\"")),
            Self::Count => text.push_str(&counted("r", size)),
            Self::Chain => resources(&mut text, size, |index| match index.checked_sub(10) {
                Some(previous) => format!("input = terraform_data.r{previous}.output"),
                None => format!("input = \"value {index}\""),
            }),
            Self::Plugin => of_plugin(&mut text, size, |index| format!("\"value {index}\"")),
            Self::PluginChain => of_plugin(&mut text, size, |index| match index.checked_sub(1) {
                Some(previous) => format!("null_resource.r{previous}.triggers.n"),
                None => "\"value\"".to_owned(),
            }),
            Self::EachReference => text.push_str(&by_key(size)),
            Self::Wide => {
                resources(&mut text, size, |index| format!("input = \"value {index}\""));
                text.push_str("resource \"terraform_data\" \"all\" {\n  input = [\n");
                for index in 0..size {
                    writeln!(text, "    terraform_data.r{index}.output,").ok();
                }
                text.push_str("  ]\n}\n");
            }
            Self::Splat => {
                text.push_str(&counted("r", size));
                text.push_str(
                    "resource \"terraform_data\" \"all\" {\n  input = terraform_data.r[*].output\n}\n",
                );
            }
            Self::Dense => resources(&mut text, size, |index| {
                let before = (index / LAYER).checked_sub(1).map(|layer| layer * LAYER);
                let previous = before.into_iter().flat_map(|first| first..first + LAYER);
                let previous: Vec<String> =
                    previous.map(|previous| format!("terraform_data.r{previous}")).collect();
                format!("input = \"value {index}\"\n  depends_on = [{}]", previous.join(", "))
            }),
            Self::Modules | Self::ModuleCount | Self::Nested | Self::ModuleVariables => {
                return modules::files(self, size);
            }
            Self::Expression(work) => return expressions::files(work, size),
        }
        vec![("main.tf".to_owned(), text)]
    }
}

/// Number of resources in one layer of a dense configuration.
const LAYER: usize = 50;

fn resources(text: &mut String, size: usize, argument: impl Fn(usize) -> String) {
    (0..size).for_each(|index| add(text, "terraform_data", index, &argument(index)));
}

fn of_plugin(text: &mut String, size: usize, value: impl Fn(usize) -> String) {
    text.push_str("terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n");
    for index in 0..size {
        add(text, "null_resource", index, &format!("triggers = {{ n = {} }}", value(index)));
    }
}

fn add(text: &mut String, kind: &str, index: usize, argument: &str) {
    let block = format!("resource \"{kind}\" \"r{index}\" {{\n  {argument}\n}}\n");
    text.push_str(&block);
}

/// Two resources with the same keys. A range has at most 1,024 numbers, so the keys combine two.
fn by_key(size: usize) -> String {
    let numbers = format!(
        "flatten([for a in range({}) : [for b in range(100) : a * 100 + b]])",
        size.div_ceil(100)
    );
    format!(
        "locals {{\n  keys = {{ for n in {numbers} : \"k${{n}}\" => \"value ${{n}}\" }}\n}}\nresource \"terraform_data\" \"first\" {{\n  for_each = local.keys\n  input    = each.value\n}}\nresource \"terraform_data\" \"second\" {{\n  for_each = local.keys\n  input    = terraform_data.first[each.key].output\n}}\n"
    )
}

fn counted(name: &str, size: usize) -> String {
    format!(
        "resource \"terraform_data\" \"{name}\" {{\n  count = {size}\n  input = \"value ${{count.index}}\"\n}}\n"
    )
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flat => "flat",
            Self::Count => "count",
            Self::Chain => "chain",
            Self::Plugin => "plugin",
            Self::PluginChain => "plugin-chain",
            Self::Modules => "modules",
            Self::ModuleCount => "module-count",
            Self::Nested => "nested",
            Self::ModuleVariables => "modvars",
            Self::EachReference => "foreach-ref",
            Self::Wide => "wide",
            Self::Splat => "splat",
            Self::Dense => "dense",
            Self::Expression(work) => return work.fmt(f),
        })
    }
}
