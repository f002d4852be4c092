//! `random_string`.

use formwork_sdk::prelude::*;

use super::string_rules::StringRules;
use crate::Strings;
use crate::keepers::keepers_or_triggers_changed;

/// Random text. For secrets there is `random_password`.
#[derive(Model)]
pub(super) struct StringModel {
    /// Arbitrary values that, when changed, generate a new string.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    #[attr(flatten, fills)]
    recipe: StringRules,
    /// The old name of `numeric`.
    #[attr(optional_computed, replace, deprecated = "Use `numeric` instead.")]
    number: bool,
    /// The text.
    #[attr(computed, keep)]
    result: String,
    /// The text.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct StringResource;

impl Resource for StringResource {
    type Model = StringModel;

    const VERSION: u64 = 2;

    fn validate(&self, call: Validate<StringModel>) -> Answer<()> {
        call.config.recipe.validate(call.config.number)
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<StringModel>) -> Answer<()> {
        let numeric = change.config.recipe.planned_numeric(change.config.number);
        (change.planned.number, change.planned.recipe.numeric) = (numeric, numeric);
        Ok(())
    }

    async fn create(&self, call: Create<StringModel>) -> Answer<StringModelComputed> {
        let text = call.planned.recipe.random_string()?;
        let recipe = call.planned.recipe.computed();
        Ok(StringModelComputed { number: recipe.numeric, recipe, result: text.clone(), id: text })
    }

    async fn import(&self, call: Import<StringModel>) -> Answer<StringModelDraft> {
        let id = call.id.as_str();
        Ok(StringModelDraft::default().with_unstored_attributes(id.to_owned()))
    }

    async fn upgrade(&self, call: Upgrade) -> Answer<StringModelDraft> {
        let stored = call.stored.to_draft::<StringModel>()?;
        let text = stored.result.or_default();
        Ok(stored.with_unstored_attributes(text))
    }
}

impl StringModelDraft {
    /// The object of a string, with the attributes that older versions have not stored.
    fn with_unstored_attributes(self, text: String) -> Self {
        let recipe = self.recipe.with_unstored_attributes(self.number, &text);
        let (number, keepers) = (recipe.numeric, self.keepers);
        Self { keepers, recipe, number, id: text.clone().into(), result: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn length(length: i64) -> (&'static str, Value) {
        ("length", Value::int(length))
    }

    #[tokio::test]
    async fn is_kept_until_its_rules_change() {
        let mut object = TestObject::new(provider(), "random_string").await.unwrap();
        assert_eq!(object.apply([length(8)]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("result"), object.get("id"));
        assert_eq!(object.get("number"), &Value::Bool(true));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([length(8)]).await, Ok(PlannedAction::Nothing));
        let no = |name| (name, Value::Bool(false));
        assert_eq!(object.apply([length(8), no("special")]).await, Ok(PlannedAction::Replace));
        assert_eq!(
            object.apply([length(8), no("special"), no("numeric")]).await,
            Ok(PlannedAction::Replace)
        );
        assert_eq!(object.get("number"), &Value::Bool(false));
        assert_eq!(
            object.apply([length(8), no("special"), no("number")]).await,
            Ok(PlannedAction::Nothing)
        );
        assert_eq!(object.apply([length(8), no("special")]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn only_an_empty_list_of_characters_equals_an_unset_one() {
        let mut object = TestObject::new(provider(), "random_string").await.unwrap();
        let override_special = |letters| ("override_special", Value::string(letters));
        object.apply([length(8), override_special("")]).await.unwrap();
        assert_eq!(object.apply([length(8)]).await, Ok(PlannedAction::Update));
        assert_eq!(
            object.apply([length(8), override_special("-")]).await,
            Ok(PlannedAction::Replace)
        );
        assert_eq!(object.apply([length(8)]).await, Ok(PlannedAction::Replace));
    }

    #[tokio::test]
    async fn is_imported_by_its_text() {
        let mut object = TestObject::new(provider(), "random_string").await.unwrap();
        object.import("some text").await.unwrap();
        assert_eq!(object.apply([length(9)]).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.get("result"), &Value::string("some text"));
    }

    #[tokio::test]
    async fn older_states_receive_missing_attributes() {
        let mut object = TestObject::new(provider(), "random_string").await.unwrap();
        object
            .upgrade(1, r#"{"id":"abc","result":"abc","length":3,"number":false}"#)
            .await
            .unwrap();
        assert_eq!(object.get("numeric"), &Value::Bool(false));
        assert_eq!(object.get("min_upper"), &Value::int(0));
        let no_numbers = ("numeric", Value::Bool(false));
        assert_eq!(object.apply([length(3), no_numbers]).await, Ok(PlannedAction::Nothing));
    }
}
