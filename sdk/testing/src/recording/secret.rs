//! Secrets and their tokens. The same secret has the same token. Tokens are inserted when a record
//! is written, and match any value at their position during a replay. Other files select the secret
//! strings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::value_json::{SECRET_KEY, TYPE_KEY};

/// A shorter secret is replaced only as a whole string, because it may occur in other strings at
/// random.
const MIN_EMBEDDED_SECRET_LENGTH: usize = 4;

const SECRET_TOKEN_START: &str = "«secret ";
const SECRET_TOKEN_END: char = '»';

/// Secret strings.
#[derive(Default)]
pub(super) struct Secrets {
    texts: Vec<String>,
    /// Names of attributes and of the parts of a record, which are not secret.
    names: BTreeSet<String>,
}

impl Secrets {
    pub(super) fn add_secrets(&mut self, more: Vec<String>, names: BTreeSet<String>) {
        for secret in more {
            // An empty text is a part of every other one.
            if !secret.is_empty() && !self.texts.contains(&secret) {
                self.texts.push(secret);
            }
        }
        self.names.extend(names);
    }

    /// Creates a replacer of all secrets by tokens.
    pub(super) fn new_replacer(&self) -> SecretReplacer<'_> {
        let mut secrets: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        // A secret may be a part of another one, so longer ones come first.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        SecretReplacer { secrets, names: &self.names, numbers: BTreeMap::new() }
    }
}

/// Replaces secrets by tokens, which it numbers in the order of their occurrence.
pub(super) struct SecretReplacer<'s> {
    secrets: Vec<&'s str>,
    names: &'s BTreeSet<String>,
    numbers: BTreeMap<String, usize>,
}

impl SecretReplacer<'_> {
    /// Replaces every secret.
    pub(super) fn hide_secrets(&mut self, json: &Json) -> Json {
        match json {
            Json::String(text) => Json::String(self.hide_in_text(text)),
            Json::Array(elements) => {
                elements.iter().map(|element| self.hide_secrets(element)).collect()
            }
            Json::Object(members) => match members.get(SECRET_KEY) {
                // A secret that also occurs in strings has the same token there.
                Some(secret) => json!({SECRET_KEY: self.token_for(&secret.to_string())}),
                None => members
                    .iter()
                    .map(|(name, element)| self.hide_in_member(name, element))
                    .collect(),
            },
            other => other.clone(),
        }
    }

    fn hide_in_member(&mut self, name: &str, json: &Json) -> (String, Json) {
        // A type has names of attributes and no values.
        if name == TYPE_KEY {
            return (name.to_owned(), json.clone());
        }
        let is_name = self.names.contains(name);
        (if is_name { name.to_owned() } else { self.hide_in_text(name) }, self.hide_secrets(json))
    }

    fn token_for(&mut self, secret: &str) -> String {
        // By occurrence, so that equal runs have equal records.
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(secret.to_owned()).or_insert(next);
        format!("{SECRET_TOKEN_START}{number}{SECRET_TOKEN_END}")
    }

    fn hide_in_text(&mut self, text: &str) -> String {
        let mut hidden = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let is_whole_word = |secret: &&&str| {
                rest.starts_with(**secret)
                    && (secret.chars().count() >= MIN_EMBEDDED_SECRET_LENGTH || text == **secret)
            };
            if let Some(secret) = self.secrets.iter().find(is_whole_word).copied() {
                hidden.push_str(&self.token_for(secret));
                rest = &rest[secret.len()..];
            } else {
                // By characters, because a cut inside one would panic.
                hidden.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        hidden
    }
}

/// The number of a token, if the string is only that.
pub(super) fn token_number(token: &str) -> Option<i64> {
    token.strip_prefix(SECRET_TOKEN_START)?.strip_suffix(SECRET_TOKEN_END)?.parse().ok()
}

/// Values of tokens during a replay.
#[derive(Clone, Default)]
pub(super) struct TokenValues {
    texts: BTreeMap<String, String>,
    /// Numbers and booleans.
    bound_values: BTreeMap<String, Json>,
}

impl TokenValues {
    /// Matches a request with a recorded one, and returns the further values of tokens. The error
    /// describes the difference.
    pub(super) fn match_request(&self, recorded: &Json, actual: &Json) -> Result<Self, String> {
        // On a copy: a request that does not match must not add values.
        let mut bound = self.clone();
        bound.match_and_bind_values("", recorded, actual)?;
        Ok(bound)
    }

    /// Replaces tokens with their values. A token without a value remains.
    pub(super) fn restore_secrets(&self, json: &Json) -> Json {
        match json {
            Json::String(text) => Json::String(self.restore_in_text(text)),
            Json::Array(elements) => {
                elements.iter().map(|element| self.restore_secrets(element)).collect()
            }
            Json::Object(members) => match members.get(SECRET_KEY) {
                Some(Json::String(token)) => {
                    json!({SECRET_KEY: self.bound_values.get(token).unwrap_or(&json!(token))})
                }
                Some(_) => json.clone(),
                None => {
                    let members = members.iter();
                    members
                        .map(|(name, element)| {
                            (self.restore_in_text(name), self.restore_secrets(element))
                        })
                        .collect()
                }
            },
            other => other.clone(),
        }
    }

    fn restore_in_text(&self, text: &str) -> String {
        let mut restored = text.to_owned();
        for (token, secret) in &self.texts {
            restored = restored.replace(token, secret);
        }
        restored
    }

    fn match_and_bind_values(
        &mut self,
        path: &str,
        recorded: &Json,
        actual: &Json,
    ) -> Result<(), String> {
        match (recorded, actual) {
            (Json::Object(recorded_object), Json::Object(right))
                if recorded_object.contains_key(SECRET_KEY) =>
            {
                let is_same = match (recorded_object.get(SECRET_KEY), right.get(SECRET_KEY)) {
                    (Some(Json::String(token)), Some(actual)) => {
                        self.bind_or_compare_scalar(token, actual)
                    }
                    (recorded, actual) => recorded == actual,
                };
                let differs = || format!("{} is another secret", path.trim_start_matches('.'));
                is_same.then_some(()).ok_or_else(differs)
            }
            (Json::Object(recorded_object), Json::Object(right)) => {
                let names = recorded_object
                    .keys()
                    .chain(right.keys().filter(|name| !recorded_object.contains_key(*name)));
                for name in names {
                    // A null member is left out of a record, so absent and null are alike.
                    let null = Json::Null;
                    let (recorded_object, right) = (recorded_object.get(name), right.get(name));
                    let (recorded_object, right) =
                        (recorded_object.unwrap_or(&null), right.unwrap_or(&null));
                    self.match_and_bind_values(&format!("{path}.{name}"), recorded_object, right)?;
                }
                Ok(())
            }
            (Json::Array(recorded_object), Json::Array(right))
                if recorded_object.len() == right.len() =>
            {
                for ((recorded_object, right), index) in recorded_object.iter().zip(right).zip(0..)
                {
                    self.match_and_bind_values(
                        &format!("{path}[{index}]"),
                        recorded_object,
                        right,
                    )?;
                }
                Ok(())
            }
            (Json::String(recorded_object), Json::String(right))
                if self.bind_or_compare_text(recorded_object, right) =>
            {
                Ok(())
            }
            _ if recorded == actual => Ok(()),
            _ => Err(format!("{} was {recorded} and is {actual}", path.trim_start_matches('.'))),
        }
    }

    /// Whether a token matches this number or boolean, here and in strings.
    fn bind_or_compare_scalar(&mut self, token: &str, actual: &Json) -> bool {
        let bound_value =
            self.bound_values.entry(token.to_owned()).or_insert_with(|| actual.clone());
        self.texts.entry(token.to_owned()).or_insert_with(|| actual.to_string());
        bound_value == actual
    }

    /// Whether a recorded string matches this one, with the values of its tokens.
    fn bind_or_compare_text(&mut self, recorded: &str, actual: &str) -> bool {
        let recorded = self.restore_in_text(recorded);
        if recorded == actual {
            return true;
        }
        // In one string, only one token without a value can be found.
        let Some((before, rest)) = recorded.split_once(SECRET_TOKEN_START) else { return false };
        let Some((number, after)) = rest.split_once(SECRET_TOKEN_END) else { return false };
        let secret = actual.strip_prefix(before).and_then(|actual| actual.strip_suffix(after));
        match secret {
            Some(secret) if !secret.is_empty() => {
                self.texts.insert(
                    format!("{SECRET_TOKEN_START}{number}{SECRET_TOKEN_END}"),
                    secret.to_owned(),
                );
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hidden(secrets: &[&str], json: &Json) -> Json {
        let mut hidden_secrets = Secrets::default();
        hidden_secrets.add_secrets(
            secrets.iter().map(|secret| (*secret).to_owned()).collect(),
            BTreeSet::new(),
        );
        hidden_secrets.new_replacer().hide_secrets(json)
    }

    #[test]
    fn equal_secrets_have_equal_tokens() {
        let json = json!({"a": "hunter2", "b": ["x", "user:hunter2@host", "hunter22"], "c": "ab"});
        assert_eq!(
            hidden(&["hunter2", "ab", "hunter22"], &json),
            json!({"a": "«secret 1»", "b": ["x", "user:«secret 1»@host", "«secret 2»"], "c": "«secret 3»"})
        );
        // A secret this short is found inside other words by chance.
        assert_eq!(hidden(&["ab"], &json!("cab")), json!("cab"));
    }

    #[test]
    fn a_token_represents_the_same_string_everywhere() {
        let recorded = json!({"password": "«secret 1»", "url": "a:«secret 1»@b"});
        let bound = TokenValues::default();
        let same = json!({"password": "other", "url": "a:other@b"});
        let secrets = bound.match_request(&recorded, &same).ok().unwrap();
        assert_eq!(
            secrets.restore_secrets(&json!(["«secret 1»!", "«secret 2»"])),
            json!(["other!", "«secret 2»"])
        );
        let torn = json!({"password": "other", "url": "a:another@b"});
        let Err(difference) = bound.match_request(&recorded, &torn) else {
            panic!("it is not the same")
        };
        assert_eq!(difference, "url was \"a:«secret 1»@b\" and is \"a:another@b\"");
        assert!(secrets.match_request(&json!("«secret 1»"), &json!("another")).is_err());
    }
}
