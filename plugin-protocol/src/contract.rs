//! The rules of the contract as pure functions: what a host sends, and what it holds a provider's
//! answers to. Nothing here calls anybody, and nothing here decides what a broken rule costs.
//!
//! A host, an SDK and a conformance suite can all ask the same question and get the same answer.

pub mod conform;
#[cfg(test)]
mod fixtures;
pub mod ignore;
pub mod legacy;
mod parts;
pub mod propose;
pub mod replace;
mod sets;

use formwork_value::Path;

/// One thing in an answer that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(path))]
pub struct Finding {
    /// Where inside the value; empty for all of it.
    pub path: Path,
    /// What is wrong there. Values of sensitive attributes are left out.
    pub message: String,
}

fn place(path: &Path) -> String {
    if path.0.is_empty() { String::new() } else { format!("{path}: ") }
}

impl Finding {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.clone(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_about_the_whole_value_names_no_place() {
        let root = Path::default();
        assert_eq!(Finding::new(&root, "it is gone").to_string(), "it is gone");
        let inside = Path(vec![formwork_value::Step::Attribute("size".into())]);
        assert_eq!(Finding::new(&inside, "it is gone").to_string(), ".size: it is gone");
    }
}
