//! `random_integer`.

use formwork_sdk::prelude::*;

use super::seeded_random::SeededRandom;
use crate::Strings;
use crate::keepers::keepers_or_triggers_changed;

/// A random whole number from a range.
#[derive(Model)]
pub(super) struct IntegerModel {
    /// Arbitrary values that, when changed, generate a new number.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    /// The least number that can come out.
    #[attr(required, replace)]
    min: i64,
    /// The greatest number that can come out.
    #[attr(required, replace)]
    max: i64,
    /// A seed. It always generates the same number in the same range, which is also that of the
    /// public provider.
    #[attr(optional, replace)]
    seed: Option<String>,
    /// The number.
    #[attr(computed, keep)]
    result: i64,
    /// The number as text.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct IntegerResource;

impl Resource for IntegerResource {
    type Model = IntegerModel;

    fn validate(&self, call: Validate<IntegerModel>) -> Answer<()> {
        let (Some(min), Some(max)) = (call.config.min.get(), call.config.max.get()) else {
            return Ok(());
        };
        check_range(*min, *max)
    }

    async fn create(&self, call: Create<IntegerModel>) -> Answer<IntegerModelComputed> {
        let IntegerModelInput { min, max, seed, .. } = call.planned;
        check_range(min, max)?;
        let seed = seed.as_deref().filter(|seed| !seed.is_empty());
        let drawn = SeededRandom::new(seed).random_up_to(max.abs_diff(min));
        let result = min.wrapping_add_unsigned(drawn);
        Ok(IntegerModelComputed { result, id: result.to_string() })
    }

    async fn import(&self, call: Import<IntegerModel>) -> Answer<IntegerModelDraft> {
        let id = call.id.as_str();
        let parts: Vec<&str> = id.split(',').collect();
        let (result, min, max, seed) = match parts[..] {
            [result, min, max] => (result, min, max, None),
            [result, min, max, seed] => (result, min, max, Some(seed.to_owned())),
            _ => {
                let detail = format!("{id:?} is not `RESULT,MIN,MAX` or `RESULT,MIN,MAX,SEED`.");
                return Err(Problem::new("Import Random Integer Error", detail));
            }
        };
        Ok(IntegerModelDraft {
            keepers: Attr::Null,
            result: parse_number_attribute("result", result)?.into(),
            min: parse_number_attribute("min", min)?.into(),
            max: parse_number_attribute("max", max)?.into(),
            seed: seed.into(),
            id: result.into(),
        })
    }
}

fn check_range(min: i64, max: i64) -> Answer<()> {
    if min <= max {
        return Ok(());
    }
    let detail = format!("`min` is {min} and `max` is {max}; no number is in that range.");
    Err(Problem::new("Create Random Integer Error", detail).at("min"))
}

fn parse_number_attribute(name: &str, text: &str) -> Answer<i64> {
    text.parse().map_err(|error| {
        let detail = format!("The {name} {text:?} is not a whole number: {error}.");
        Problem::new("Import Random Integer Error", detail)
    })
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn range(min: i64, max: i64) -> [(&'static str, Value); 2] {
        [("min", Value::int(min)), ("max", Value::int(max))]
    }

    #[tokio::test]
    async fn is_kept_until_its_range_changes() {
        let mut object = TestObject::new(provider(), "random_integer").await.unwrap();
        assert_eq!(object.apply(range(7, 7)).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("result"), &Value::int(7));
        assert_eq!(object.get("id"), &Value::string("7"));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply(range(7, 7)).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.apply(range(-3, -3)).await, Ok(PlannedAction::Replace));
        assert_eq!(object.get("result"), &Value::int(-3));
        assert_eq!(object.apply(range(i64::MIN, i64::MAX)).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn a_seed_produces_the_number_of_the_public_provider() {
        for (seed, expected) in [("12345", 3), ("123456", 2)] {
            let mut object = TestObject::new(provider(), "random_integer").await.unwrap();
            let [min, max] = range(1, 3);
            object.apply([min, max, ("seed", Value::string(seed))]).await.unwrap();
            assert_eq!(object.get("result"), &Value::int(expected));
        }
    }

    #[tokio::test]
    async fn is_imported_with_its_range() {
        let mut object = TestObject::new(provider(), "random_integer").await.unwrap();
        object.import("5,1,10").await.unwrap();
        assert_eq!(object.apply(range(1, 10)).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.get("result"), &Value::int(5));
        object.import("5,1,10,s").await.unwrap();
        assert_eq!(object.get("seed"), &Value::string("s"));
        for id in ["5", "5,1", "x,1,10", "5,1,10,s,t"] {
            assert!(object.import(id).await.is_err(), "{id}");
        }
    }

    #[tokio::test]
    async fn empty_ranges_and_fractions_are_refused() {
        let mut object = TestObject::new(provider(), "random_integer").await.unwrap();
        let refusal = object.apply(range(2, 1)).await.unwrap_err();
        assert!(refusal.0.contains("no number is in that range"), "{refusal:?}");
        let half = Value::Number(formwork_sdk::value::Number::parse("0.5").unwrap());
        let refusal = object.apply([("min", half), ("max", Value::int(1))]).await.unwrap_err();
        assert!(refusal.0.contains("a whole number is required"), "{refusal:?}");
    }
}
