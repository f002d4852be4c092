//! `random_string`.

use formwork_sdk::prelude::*;

use super::text::{Recipe, special_changed};
use crate::Strings;
use crate::replace::values_changed;

/// Random text. For secrets there is `random_password`.
#[derive(Model)]
#[attr(loose)]
pub(super) struct Text {
    /// Arbitrary values that, when changed, make a new text.
    #[attr(optional, replace_if = values_changed)]
    keepers: Strings,
    /// How many characters; at least 1, and at least as many as the `min_` attributes together.
    #[attr(required, replace)]
    length: Attr<i64>,
    /// Whether there may be special characters: `!@#$%&*()-_=+[]{}<>:?`.
    #[attr(optional_computed, default = true, replace)]
    special: Attr<bool>,
    /// Whether there may be upper-case letters.
    #[attr(optional_computed, default = true, replace)]
    upper: Attr<bool>,
    /// Whether there may be lower-case letters.
    #[attr(optional_computed, default = true, replace)]
    lower: Attr<bool>,
    /// The old name of `numeric`.
    #[attr(optional_computed, replace, deprecated = "Use `numeric` instead.")]
    number: Attr<bool>,
    /// Whether there may be digits. True if not set.
    #[attr(optional_computed, replace)]
    numeric: Attr<bool>,
    /// The least number of digits.
    #[attr(optional_computed, default = 0_i64, replace)]
    min_numeric: Attr<i64>,
    /// The least number of upper-case letters.
    #[attr(optional_computed, default = 0_i64, replace)]
    min_upper: Attr<i64>,
    /// The least number of lower-case letters.
    #[attr(optional_computed, default = 0_i64, replace)]
    min_lower: Attr<i64>,
    /// The least number of special characters.
    #[attr(optional_computed, default = 0_i64, replace)]
    min_special: Attr<i64>,
    /// Other special characters than the usual ones.
    #[attr(optional, replace_if = special_changed)]
    override_special: Attr<String>,
    /// The text.
    #[attr(computed, keep)]
    result: Attr<String>,
    /// The text.
    #[attr(computed, keep)]
    id: Attr<String>,
}

/// The resource type.
pub(super) struct RandomString;

#[async_trait]
impl Resource for RandomString {
    type Model = Text;

    const VERSION: u64 = 2;

    fn validate(&self, diags: &mut Diagnostics, config: &Text) -> Answer<()> {
        config.recipe().validate(diags)
    }

    async fn modify_plan(&self, _: &mut Diagnostics, change: &mut Change<Text>) -> Answer<()> {
        let numeric = change.config.recipe().planned_numeric();
        (change.planned.number, change.planned.numeric) = (numeric, numeric);
        Ok(())
    }

    async fn create(&self, diags: &mut Diagnostics, call: Create<Text>) -> Answer<Text> {
        let recipe = call.planned.recipe();
        let text = recipe.draw(diags)?;
        Ok(Text::of(recipe, call.planned.keepers, text))
    }

    async fn import(&self, _: &mut Diagnostics, id: &str) -> Answer<Text> {
        Ok(Text::of(Recipe::default().of_stored(id), Attr::Null, id.to_owned()))
    }

    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Text> {
        let stored: Text = stored.read(diags)?;
        let text = stored.result.or_default();
        Ok(Text::of(stored.recipe().of_stored(&text), stored.keepers, text))
    }
}

impl Text {
    fn recipe(&self) -> Recipe {
        Recipe {
            length: self.length,
            special: self.special,
            upper: self.upper,
            lower: self.lower,
            number: self.number,
            numeric: self.numeric,
            min_numeric: self.min_numeric,
            min_upper: self.min_upper,
            min_lower: self.min_lower,
            min_special: self.min_special,
            override_special: self.override_special.clone(),
        }
    }

    fn of(recipe: Recipe, keepers: Strings, text: String) -> Self {
        Self {
            keepers,
            length: recipe.length,
            special: recipe.special,
            upper: recipe.upper,
            lower: recipe.lower,
            number: recipe.number,
            numeric: recipe.numeric,
            min_numeric: recipe.min_numeric,
            min_upper: recipe.min_upper,
            min_lower: recipe.min_lower,
            min_special: recipe.min_special,
            override_special: recipe.override_special,
            id: text.clone().into(),
            result: text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Action, Life};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn length(length: i64) -> (&'static str, Value) {
        ("length", Value::int(length))
    }

    #[tokio::test]
    async fn stays_until_its_recipe_changes() {
        let mut life = Life::new(provider(), "random_string").await.unwrap();
        assert_eq!(life.apply([length(8)]).await, Ok(Action::Create));
        assert_eq!(life.get("result"), life.get("id"));
        assert_eq!(life.get("number"), &Value::Bool(true));
        life.store().await.unwrap();
        assert_eq!(life.apply([length(8)]).await, Ok(Action::Nothing));
        let no = |name| (name, Value::Bool(false));
        assert_eq!(life.apply([length(8), no("special")]).await, Ok(Action::Replace));
        assert_eq!(
            life.apply([length(8), no("special"), no("numeric")]).await,
            Ok(Action::Replace)
        );
        assert_eq!(life.get("number"), &Value::Bool(false));
        assert_eq!(life.apply([length(8), no("special"), no("number")]).await, Ok(Action::Nothing));
        assert_eq!(life.apply([length(8), no("special")]).await, Ok(Action::Replace));
        life.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn only_an_empty_list_of_characters_is_the_same_as_none() {
        let mut life = Life::new(provider(), "random_string").await.unwrap();
        let own = |letters| ("override_special", Value::string(letters));
        life.apply([length(8), own("")]).await.unwrap();
        assert_eq!(life.apply([length(8)]).await, Ok(Action::Update));
        assert_eq!(life.apply([length(8), own("-")]).await, Ok(Action::Replace));
        assert_eq!(life.apply([length(8)]).await, Ok(Action::Replace));
    }

    #[tokio::test]
    async fn is_imported_by_its_text() {
        let mut life = Life::new(provider(), "random_string").await.unwrap();
        life.import("some text").await.unwrap();
        assert_eq!(life.apply([length(9)]).await, Ok(Action::Nothing));
        assert_eq!(life.get("result"), &Value::string("some text"));
    }

    #[tokio::test]
    async fn older_states_get_what_they_lack() {
        let mut life = Life::new(provider(), "random_string").await.unwrap();
        life.upgrade(1, r#"{"id":"abc","result":"abc","length":3,"number":false}"#).await.unwrap();
        assert_eq!(life.get("numeric"), &Value::Bool(false));
        assert_eq!(life.get("min_upper"), &Value::int(0));
        let no_numbers = ("numeric", Value::Bool(false));
        assert_eq!(life.apply([length(3), no_numbers]).await, Ok(Action::Nothing));
    }
}
