//! `random_pet`.

use formwork_sdk::prelude::*;

use super::pet_words::{ADJECTIVES, ADVERBS, ANIMALS};
use crate::Strings;
use crate::keepers::keepers_or_triggers_changed;

/// The most words; more is an error in the configuration.
const MAX_WORDS: i64 = 1_000;

/// A random pet name, for names that are easy to distinguish.
#[derive(Model)]
pub(super) struct PetModel {
    /// Arbitrary values that, when changed, generate a new name.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    /// Number of words of the name.
    #[attr(default = 2, replace)]
    length: i64,
    /// Prefix of the name, with a separator between.
    #[attr(optional, replace)]
    prefix: Option<String>,
    /// Separator of the words.
    #[attr(default = "-", replace)]
    separator: String,
    /// The name.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct PetResource;

impl Resource for PetResource {
    type Model = PetModel;

    fn validate(&self, call: Validate<PetModel>) -> Answer<()> {
        match call.config.length.get() {
            Some(length) if *length > MAX_WORDS => {
                let detail = format!("`length` is {length}; give at most {MAX_WORDS} words.");
                Err(Problem::new("Invalid Attribute Value", detail).at("length"))
            }
            _ => Ok(()),
        }
    }

    async fn create(&self, call: Create<PetModel>) -> Answer<PetModelComputed> {
        let PetModelInput { length, prefix, separator, .. } = call.planned;
        let prefix = prefix.as_deref().filter(|prefix| !prefix.is_empty());
        let mut parts: Vec<&str> = prefix.into_iter().collect();
        parts.extend(random_pet_words(length));
        Ok(PetModelComputed { id: parts.join(&separator) })
    }

    async fn import(&self, call: Import<PetModel>) -> Answer<PetModelDraft> {
        let n_words = i64::try_from(call.id.split('-').count()).unwrap_or(MAX_WORDS);
        Ok(PetModelDraft {
            length: n_words.into(),
            separator: "-".into(),
            id: call.id.into(),
            ..PetModelDraft::default()
        })
    }
}

/// A name: an animal; with two words an adjective before it; with more words adverbs before that.
fn random_pet_words(length: i64) -> Vec<&'static str> {
    let adverbs = (2..length).map(|_| random_word(ADVERBS));
    let adjective = (length != 1).then(|| random_word(ADJECTIVES));
    adverbs.chain(adjective).chain([random_word(ANIMALS)]).collect()
}

fn random_word(words: &[&'static str]) -> &'static str {
    words[rand::random_range(0..words.len())]
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn id(object: &TestObject) -> String {
        let Value::String(id) = object.get("id") else { panic!("the id is text") };
        id.as_str().to_owned()
    }

    #[tokio::test]
    async fn has_the_configured_number_of_words() {
        let mut object = TestObject::new(provider(), "random_pet").await.unwrap();
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Create));
        assert_eq!(id(&object).split('-').count(), 2);
        assert_eq!(object.get("length"), &Value::int(2));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
        let config = [
            ("length", Value::int(4)),
            ("separator", Value::string("_")),
            ("prefix", Value::string("my")),
        ];
        assert_eq!(object.apply(config).await, Ok(PlannedAction::Replace));
        assert_eq!(id(&object).split('_').count(), 5);
        assert!(id(&object).starts_with("my_"));
        assert_eq!(object.apply([("length", Value::int(1))]).await, Ok(PlannedAction::Replace));
        assert!(!id(&object).contains('-'));
        assert_eq!(
            object.apply([("length", Value::int(1)), ("keepers", strings([("a", "b")]))]).await,
            Ok(PlannedAction::Replace)
        );
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn is_imported_by_its_name() {
        let mut object = TestObject::new(provider(), "random_pet").await.unwrap();
        object.import("merry-otter").await.unwrap();
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
        assert_eq!(id(&object), "merry-otter");
    }
}
