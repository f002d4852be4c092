//! Legal configurations of a type, found through validation: a refused one is repaired according to
//! its diagnostics, as long as that makes progress.

use formwork_value::schema::Attribute;
use formwork_value::{Path, Step, Type, Value};

use crate::generate::{self, ALTERNATIVE_NUMBERS, ALTERNATIVE_STRINGS, ConfigExtent, Dice};
use crate::message::Msg;
use crate::offer::OfferedType;
use crate::plugin::Call;
use crate::rpc::Diag;
use crate::suite::Suite;

/// The most configurations that are kept.
const MAX_LEGAL_CONFIGS: usize = 4;
/// The most repairs of one configuration.
const MAX_REPAIRS: usize = 24;

impl Suite {
    /// Legal configurations of a type: examples first, then those that validation accepts.
    pub async fn legal_configs(&mut self, offered: &OfferedType) -> Vec<Value> {
        let key = (offered.kind, offered.name.clone());
        // Finding them takes many calls.
        if let Some(configs) = self.legal.get(&key) {
            return configs.clone();
        }
        let configs = find_legal_configs(self, offered).await;
        self.legal.insert(key, configs.clone());
        configs
    }
}

/// Finds legal configurations: examples, then required attributes only, everything, and at random.
async fn find_legal_configs(suite: &mut Suite, offered: &OfferedType) -> Vec<Value> {
    let mut configs: Vec<Value> = Vec::new();
    // The service accepts the values of examples.
    for (_, example) in suite.examples_of(offered) {
        if let Ok(value) = example
            && suite.call_validate(offered, &value).await.is_success()
        {
            configs.push(value);
        }
    }
    let random = (0..6).map(|number| (ConfigExtent::Random, number));
    // Only required attributes first, because fewer values can be wrong.
    let extents = [(ConfigExtent::Required, 0), (ConfigExtent::All, 0), (ConfigExtent::Nothing, 0)];
    for (extent, number) in extents.into_iter().chain(random) {
        if configs.len() >= MAX_LEGAL_CONFIGS || suite.is_run_over() {
            break;
        }
        let config = suite.generate_config(offered, extent, number);
        if let Some(legal) = repair_until_legal(suite, offered, config).await
            && !configs.contains(&legal)
        {
            configs.push(legal);
        }
    }
    configs
}

/// Validates and repairs until the configuration is legal.
async fn repair_until_legal(
    suite: &mut Suite,
    offered: &OfferedType,
    mut value: Value,
) -> Option<Value> {
    let mut dice = suite.seeded_dice(&format!("repair {}", offered.display_name()));
    for attempt in 0..MAX_REPAIRS {
        let call = suite.call_validate(offered, &value).await;
        if call.is_success() {
            return Some(value);
        }
        // Without diagnostics, it is unknown what to repair.
        if call.is_crash_or_hang() {
            return None;
        }
        value = repair_config(offered, &value, &call, attempt, &mut dice)?;
    }
    None
}

fn repair_config(
    offered: &OfferedType,
    value: &Value,
    call: &Call,
    attempt: usize,
    dice: &mut Dice,
) -> Option<Value> {
    let error = call.diagnostics().into_iter().find(Diag::is_error)?;
    let path = error.path.as_ref().map(diagnostic_path).filter(|path| !path.0.is_empty());
    let paths = generate::settable_paths(offered.block(), value);
    // An error may be at the block around an attribute, or at a part inside it.
    let is_at = |error_path: &Path, attribute_path: &Path| {
        error_path.starts_with(attribute_path) || attribute_path.starts_with(error_path)
    };
    let attribute_path = path.and_then(|attribute_path| {
        paths.iter().find(|(error_path, _)| is_at(error_path, &attribute_path))
    });
    // An error without a path may still name the attribute in its text.
    let attributes_in_text = || {
        let named_paths: Vec<_> = paths
            .iter()
            .filter(|(path, _)| match path.0.last() {
                Some(Step::Attribute(name)) => mentions_attribute(&error, name.as_str()),
                _ => false,
            })
            .collect();
        (!named_paths.is_empty()).then(|| *dice.clone().pick_one(&named_paths))
    };
    let (path, attribute) = attribute_path.or_else(attributes_in_text)?;
    // A little chance, so that two repairs do not undo each other in turn.
    change_attribute(value, path, attribute, &error, attempt + dice.number_below(2))
}

fn mentions_attribute(error: &Diag, name: &str) -> bool {
    let text = format!("{} {}", error.summary, error.detail);
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// Sets, clears or replaces one attribute.
fn change_attribute(
    value: &Value,
    path: &Path,
    attribute: &Attribute,
    error: &Diag,
    attempt: usize,
) -> Option<Value> {
    let ty = attribute.implied_type();
    let current = path.find(value)?;
    let is_required = attribute.role == formwork_value::schema::Role::Required;
    let text = format!("{} {}", error.summary, error.detail).to_lowercase();
    // The words of the Go SDKs about attributes that exclude each other.
    let excludes = ["conflict", "cannot be specified when", "only one", "mutually"];
    let part = if current.is_null() {
        let name = match path.0.last() {
            Some(Step::Attribute(name)) => name.as_str().to_owned(),
            _ => String::new(),
        };
        generate::generate_value(
            &name,
            &ty,
            ConfigExtent::Required,
            &mut Dice::new(attempt as u64, "change"),
        )
    } else if !is_required && excludes.iter().any(|word| text.contains(word)) {
        Value::null(ty)
    } else {
        alternative_value(current, &ty, error, attempt)
    };
    generate::replace_part(value, path, part)
}

/// Another value of the type: quoted words of the message first, then usual strings and numbers.
fn alternative_value(current: &Value, ty: &Type, error: &Diag, attempt: usize) -> Value {
    match ty {
        Type::String => {
            let candidates = quoted_words(&error.detail);
            let choices: Vec<&str> =
                candidates.iter().map(String::as_str).chain(ALTERNATIVE_STRINGS).collect();
            // In turn, so that each attempt tries another one.
            Value::string(choices[attempt % choices.len()])
        }
        Type::Number => {
            let numbers = error
                .detail
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|word| word.parse::<i64>().ok());
            let choices: Vec<i64> = numbers.chain(ALTERNATIVE_NUMBERS).collect();
            Value::int(choices[attempt % choices.len()])
        }
        Type::Bool => Value::Bool(attempt.is_multiple_of(2)),
        Type::List(element) => {
            let part =
                current.children().first().map(|it| alternative_value(it, element, error, attempt));
            Value::list((**element).clone(), part.into_iter().collect())
        }
        Type::Set(element) => {
            let part =
                current.children().first().map(|it| alternative_value(it, element, error, attempt));
            Value::set((**element).clone(), part.into_iter().collect())
        }
        Type::Map(element) => {
            let part =
                current.children().first().map(|it| alternative_value(it, element, error, attempt));
            Value::map((**element).clone(), part.map(|it| ("key0", it)))
        }
        _ => Value::null(ty.clone()),
    }
}

/// The words in quotes, backticks or brackets of a message.
fn quoted_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (open, close) in [('"', '"'), ('`', '`'), ('[', ']')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((quoted, next)) = after.split_once(close) else { break };
            let parts = quoted.split([' ', ',', '"']).filter(|word| !word.is_empty());
            words.extend(parts.map(str::to_owned));
            rest = next;
        }
    }
    // Longer words are not values, and a message may list hundreds of them.
    words.retain(|word| word.len() < 100);
    words.truncate(40);
    words
}

/// Reads the path of a diagnostic; steps without a selector are left out.
#[must_use]
pub(crate) fn diagnostic_path(raw: &Msg) -> Path {
    let steps = raw.repeated_messages(1);
    Path(
        steps
            .iter()
            .filter_map(|step| {
                if step.has_field(1) {
                    Some(Step::Attribute(step.get_text(1).as_str().into()))
                } else if step.has_field(2) {
                    Some(Step::Key(step.get_text(2).as_str().into()))
                } else if step.has_field(3) {
                    formwork_value::Number::parse(&step.get_int(3).to_string()).map(Step::Index)
                } else {
                    None
                }
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_quotes_and_brackets_are_candidates() {
        let words = quoted_words("must be one of: [\"RSA\" \"ECDSA\"], got \"a\", see `x`");
        for expected in ["RSA", "ECDSA", "a", "x"] {
            assert!(words.iter().any(|word| word == expected), "{words:?}");
        }
    }
}
