//! The configurations that are measured.

use std::fmt;

/// How the resources of a configuration hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// N resources that know nothing of each other.
    Flat,
    /// One resource with N instances.
    Count,
    /// N resources, each of which mentions the tenth before it.
    Chain,
    /// N resources of a plugin that answers at once.
    Plugin,
}

impl Shape {
    /// The configuration with so many resources.
    pub(crate) fn config(self, size: usize) -> String {
        let mut text = String::new();
        match self {
            Self::Count => {
                text = format!(
                    "resource \"terraform_data\" \"r\" {{\n  count = {size}\n  input = \"value ${{count.index}}\"\n}}\n"
                );
            }
            Self::Plugin => {
                text.push_str("terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n");
                for at in 0..size {
                    add(
                        &mut text,
                        "null_resource",
                        at,
                        &format!("triggers = {{ n = \"value {at}\" }}"),
                    );
                }
            }
            Self::Flat => {
                for at in 0..size {
                    add(&mut text, "terraform_data", at, &format!("input = \"value {at}\""));
                }
            }
            Self::Chain => {
                for at in 0..size {
                    let input = match at.checked_sub(10) {
                        Some(on) => format!("input = terraform_data.r{on}.output"),
                        None => format!("input = \"value {at}\""),
                    };
                    add(&mut text, "terraform_data", at, &input);
                }
            }
        }
        text
    }
}

fn add(text: &mut String, kind: &str, at: usize, argument: &str) {
    let block = format!("resource \"{kind}\" \"r{at}\" {{\n  {argument}\n}}\n");
    text.push_str(&block);
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flat => "flat",
            Self::Count => "count",
            Self::Chain => "chain",
            Self::Plugin => "plugin",
        })
    }
}
