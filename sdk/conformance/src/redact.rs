//! Secrets: canaries that are planted in sensitive attributes, the forms in which they may leak, and
//! their removal from everything that is written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::codec::hex;
use formwork_value::schema::Block;
use formwork_value::{Path, Type, Value};

use crate::generate;

/// The replacement of a secret.
const REDACTED_TEXT: &str = "(secret)";

/// Secrets of a run.
#[derive(Clone, Debug)]
pub(crate) struct Secrets {
    canary: String,
    secrets: Vec<String>,
}

impl Secrets {
    /// Returns the secrets of a run with one canary.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        // From the seed, so that a run can be repeated with the same inputs.
        let canary = format!("cnry{:016x}", generate::Dice::new(seed, "canary").next_number());
        Self { secrets: vec![canary.clone()], canary }
    }

    /// Adds the strings of sensitive attributes of a value.
    pub(crate) fn add_sensitive_strings(&mut self, block: &Block, value: &Value) {
        let mut paths = block.sensitive_paths(value);
        paths.extend(block.write_only_paths(value));
        for path in paths {
            let Some(part) = path.find(value) else { continue };
            part.walk(&mut |_, inner| {
                // A shorter string would be found by chance.
                if let Value::String(text) = inner
                    && text.as_str().len() >= 6
                    && !self.secrets.iter().any(|secret| secret == text.as_str())
                {
                    self.secrets.push(text.as_str().to_owned());
                }
                true
            });
        }
    }

    /// Returns the configuration with the canary in each sensitive or write-only string, and their
    /// paths.
    #[must_use]
    pub(crate) fn plant_canary(&self, block: &Block, config: &Value) -> (Value, Vec<Path>) {
        let mut planted = config.clone();
        let mut paths = Vec::new();
        for (path, attribute) in generate::settable_paths(block, config) {
            let is_secret = attribute.sensitive || attribute.write_only;
            let is_text = attribute.implied_type() == Type::String;
            let is_set = path.find(&planted).is_some_and(|it| matches!(it, Value::String(_)));
            if is_secret && is_text && is_set {
                let canary = Value::string(self.canary.as_str());
                if let Some(next) = planted.replace_at(&path, |_| canary) {
                    planted = next;
                    paths.push(path);
                }
            }
        }
        (planted, paths)
    }

    /// Whether bytes contain the canary, including encoded forms.
    #[must_use]
    pub(crate) fn holds_canary(&self, bytes: &[u8]) -> bool {
        self.canary_forms().iter().any(|form| contains_bytes(bytes, form.as_bytes()))
    }

    /// The canary and its encoded forms.
    fn canary_forms(&self) -> Vec<String> {
        let hex = hex::encode(self.canary.as_bytes());
        // The middle of the base64 form does not depend on the adjacent bytes.
        let shifted = (0..3).map(|shift| {
            let padded = format!("{}{}", "\0".repeat(shift), self.canary);
            let encoded = STANDARD.encode(padded);
            encoded[4..encoded.len() - 4].to_owned()
        });
        [self.canary.clone(), hex].into_iter().chain(shifted).collect()
    }

    /// Returns the string without secrets.
    #[must_use]
    pub(crate) fn redact(&self, text: &str) -> String {
        self.secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED_TEXT))
    }

    /// Whether bytes contain a configured secret other than the canary.
    #[must_use]
    pub(crate) fn holds_configured_secret(&self, bytes: &[u8]) -> bool {
        // The first is the canary.
        self.secrets.iter().skip(1).any(|secret| contains_bytes(bytes, secret.as_bytes()))
    }
}

fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    // `windows` panics at a length of 0.
    !part.is_empty() && bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_found_in_plain_hexadecimal_and_base64_text_at_any_offset() {
        let secrets = Secrets::new(5);
        let canary = secrets.canary.clone();
        let hex = hex::encode(canary.as_bytes());
        for text in [format!("x{canary}y"), hex] {
            assert!(secrets.holds_canary(text.as_bytes()), "{text}");
        }
        // Base64 takes three bytes at a time, so that each offset has another form.
        for before in ["", "a", "ab", "abc"] {
            let encoded = STANDARD.encode(format!("{before}{canary}tail"));
            assert!(secrets.holds_canary(encoded.as_bytes()), "{encoded}");
        }
        assert!(!secrets.holds_canary(b"nothing of the kind"));
    }

    #[test]
    fn redacted_text_contains_no_secret() {
        let secrets = Secrets::new(5);
        let text = format!("password {}", secrets.canary);
        assert_eq!(secrets.redact(&text), "password (secret)");
    }
}
