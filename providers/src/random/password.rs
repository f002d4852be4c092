//! `random_password`.

pub(super) mod ephemeral;

use formwork_sdk::prelude::*;

use super::string_rules::StringRules;
use crate::Strings;
use crate::keepers::keepers_or_triggers_changed;

/// Cost of a hash: 2 to the power of this many rounds.
const BCRYPT_COST: u32 = 10;

/// The id of every password: it must not reveal the password.
const CONSTANT_ID: &str = "none";

/// Random text that is not shown. Drawn from a cryptographic source.
#[derive(Model)]
pub(super) struct PasswordModel {
    /// Arbitrary values that, when changed, generate a new string.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    #[attr(flatten, fills)]
    recipe: StringRules,
    /// The old name of `numeric`.
    #[attr(optional_computed, replace, deprecated = "Use `numeric` instead.")]
    number: bool,
    /// The text.
    #[attr(computed, keep, sensitive)]
    result: String,
    /// A bcrypt hash of the password, or of its first 72 bytes.
    #[attr(computed, keep, sensitive)]
    bcrypt_hash: String,
    /// Always the same.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct PasswordResource;

impl Resource for PasswordResource {
    type Model = PasswordModel;

    const VERSION: u64 = 3;

    fn validate(&self, call: Validate<PasswordModel>) -> Answer<()> {
        call.config.recipe.validate(call.config.number)
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<PasswordModel>) -> Answer<()> {
        let numeric = change.config.recipe.planned_numeric(change.config.number);
        (change.planned.number, change.planned.recipe.numeric) = (numeric, numeric);
        Ok(())
    }

    async fn create(&self, call: Create<PasswordModel>) -> Answer<PasswordModelComputed> {
        let result = call.planned.recipe.random_string()?;
        let recipe = call.planned.recipe.computed();
        Ok(PasswordModelComputed {
            number: recipe.numeric,
            recipe,
            bcrypt_hash: bcrypt_hash(result.clone()).await?,
            result,
            id: CONSTANT_ID.to_owned(),
        })
    }

    async fn import(&self, call: Import<PasswordModel>) -> Answer<PasswordModelDraft> {
        let id = call.id.as_str();
        let hash = bcrypt_hash(id.to_owned()).await?;
        Ok(PasswordModelDraft::default().with_unstored_attributes(id.to_owned(), hash))
    }

    async fn upgrade(&self, call: Upgrade) -> Answer<PasswordModelDraft> {
        let stored = call.stored.to_draft::<PasswordModel>()?;
        let (text, stored_hash) = (stored.result.or_default(), stored.bcrypt_hash.or_default());
        // The first versions stored no hash, and some later ones the hash of a different string.
        let hash = match bcrypt::verify(&text, &stored_hash) {
            Ok(true) => stored_hash,
            _ => bcrypt_hash(text.clone()).await?,
        };
        Ok(stored.with_unstored_attributes(text, hash))
    }
}

impl PasswordModelDraft {
    /// The object of a string, with the attributes that older versions have not stored.
    fn with_unstored_attributes(self, text: String, hash: String) -> Self {
        let recipe = self.recipe.with_unstored_attributes(self.number, &text);
        Self {
            keepers: self.keepers,
            number: recipe.numeric,
            recipe,
            result: text.into(),
            bcrypt_hash: hash.into(),
            id: CONSTANT_ID.into(),
        }
    }
}

/// Hashes a string, elsewhere, because it takes long on purpose.
async fn bcrypt_hash(text: String) -> Answer<String> {
    run_blocking(move || {
        let hash = bcrypt::hash_with_result(text, BCRYPT_COST).or_fail("Hash Generation Error")?;
        // The prefix that all programs support; the hash itself is the same.
        Ok(hash.format_for_version(bcrypt::Version::TwoA))
    })
    .await
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn length(length: i64) -> (&'static str, Value) {
        ("length", Value::int(length))
    }

    fn text(object: &TestObject, name: &str) -> String {
        let Value::String(text) = object.get(name) else { panic!("{name} is text") };
        text.as_str().to_owned()
    }

    #[tokio::test]
    async fn has_a_valid_hash_and_is_kept_until_its_rules_change() {
        let mut object = TestObject::new(provider(), "random_password").await.unwrap();
        assert_eq!(object.apply([length(80)]).await, Ok(PlannedAction::Create));
        assert!(bcrypt::verify(text(&object, "result"), &text(&object, "bcrypt_hash")).unwrap());
        assert!(text(&object, "bcrypt_hash").starts_with("$2a$10$"));
        assert_eq!(text(&object, "id"), "none");
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([length(80)]).await, Ok(PlannedAction::Nothing));
        let min = ("min_upper", Value::int(2));
        assert_eq!(object.apply([length(80), min]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn is_imported_by_its_text() {
        let mut object = TestObject::new(provider(), "random_password").await.unwrap();
        object.import("secret").await.unwrap();
        assert_eq!(object.apply([length(6)]).await, Ok(PlannedAction::Nothing));
        assert!(bcrypt::verify("secret", &text(&object, "bcrypt_hash")).unwrap());
    }

    #[tokio::test]
    async fn older_states_receive_missing_attributes() {
        let mut object = TestObject::new(provider(), "random_password").await.unwrap();
        object.upgrade(0, r#"{"id":"none","result":"abc"}"#).await.unwrap();
        assert!(bcrypt::verify("abc", &text(&object, "bcrypt_hash")).unwrap());
        let hash = text(&object, "bcrypt_hash");
        let stored = format!(r#"{{"id":"none","result":"abc","bcrypt_hash":"{hash}"}}"#);
        object.upgrade(2, &stored).await.unwrap();
        assert_eq!(text(&object, "bcrypt_hash"), hash);
        assert_eq!(object.apply([length(3)]).await, Ok(PlannedAction::Nothing));
    }
}
