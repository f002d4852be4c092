//! `random_shuffle`.

use formwork_sdk::prelude::*;

use super::seeded_random::SeededRandom;
use crate::Strings;
use crate::keepers::keepers_or_triggers_changed;

/// The most results; more is an error in the configuration.
const MAX_RESULTS: i64 = 1_000_000;

/// A list of strings in random order.
#[derive(Model)]
pub(super) struct ShuffleModel {
    /// Arbitrary values that, when changed, generate a new order.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    /// A seed. It always generates the same order of the same list, which is also that of the
    /// public provider.
    #[attr(optional, replace)]
    seed: Option<String>,
    /// The list.
    #[attr(required, replace)]
    input: Vec<Option<String>>,
    /// Number of results: the length of the list if not set. Fewer leave some out; more repeat
    /// them, none more often than the others by more than one.
    #[attr(optional, replace)]
    result_count: Option<i64>,
    /// The list in its new order.
    #[attr(computed, keep)]
    result: Vec<Option<String>>,
    /// Always the same.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct ShuffleResource;

impl Resource for ShuffleResource {
    type Model = ShuffleModel;

    fn validate(&self, call: Validate<ShuffleModel>) -> Answer<()> {
        match call.config.result_count.get() {
            Some(count) if !(0..=MAX_RESULTS).contains(count) => {
                let detail =
                    format!("`result_count` is {count}; give a number from 0 to {MAX_RESULTS}.");
                Err(Problem::new("Invalid Attribute Value", detail).at("result_count"))
            }
            _ => Ok(()),
        }
    }

    async fn create(&self, call: Create<ShuffleModel>) -> Answer<ShuffleModelComputed> {
        let ShuffleModelInput { input, seed, result_count, .. } = call.planned;
        let count = match result_count {
            Some(count) => usize::try_from(count).unwrap_or_default(),
            None => input.len(),
        };
        let seed = seed.as_deref().filter(|seed| !seed.is_empty());
        let result = shuffle_to_count(&input, count, &mut SeededRandom::new(seed));
        Ok(ShuffleModelComputed { result, id: "-".to_owned() })
    }
}

/// Permutations of `input`, one after the other, until there are `count` elements.
fn shuffle_to_count<T: Clone>(input: &[T], count: usize, seeded: &mut SeededRandom) -> Vec<T> {
    let mut result = Vec::new();
    while result.len() < count && !input.is_empty() {
        let order = seeded.random_order(input.len()).into_iter().take(count - result.len());
        result.extend(order.map(|index| input[index].clone()));
    }
    result
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::{Type, Value};

    use super::super::provider;
    use super::*;

    fn input(texts: &[&str]) -> (&'static str, Value) {
        let texts = texts.iter().map(|text| Value::string(*text)).collect();
        ("input", Value::list(Type::String, texts))
    }

    #[tokio::test]
    async fn is_kept_until_its_input_changes() {
        let mut object = TestObject::new(provider(), "random_shuffle").await.unwrap();
        assert_eq!(object.apply([input(&["a", "b", "c"])]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("result").children().len(), 3);
        assert_eq!(object.get("id"), &Value::string("-"));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([input(&["a", "b", "c"])]).await, Ok(PlannedAction::Nothing));
        let count = ("result_count", Value::int(5));
        assert_eq!(object.apply([input(&["a", "b"]), count]).await, Ok(PlannedAction::Replace));
        assert_eq!(object.get("result").children().len(), 5);
        assert_eq!(object.apply([input(&[])]).await, Ok(PlannedAction::Replace));
        assert!(object.get("result").children().is_empty());
        object.destroy().await.unwrap();
    }

    #[test]
    fn a_seed_produces_the_order_of_the_public_provider() {
        let input = ["a", "b", "c", "d", "e"];
        let result = shuffle_to_count(&input, 12, &mut SeededRandom::new(Some("-")));
        assert_eq!(result.concat(), "acbedaedcbab");
    }

    #[test]
    fn repeats_are_spread_evenly() {
        let result = shuffle_to_count(&["a", "b", "c"], 7, &mut SeededRandom::new(Some("s")));
        assert_eq!(result.len(), 7);
        for text in ["a", "b", "c"] {
            let count = result.iter().filter(|item| **item == text).count();
            assert!((2..=3).contains(&count), "{text} occurs {count} times");
        }
    }
}
