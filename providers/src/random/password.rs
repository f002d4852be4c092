//! `random_password`.

pub(super) mod ephemeral;

use formwork_sdk::prelude::*;

use super::text::{Recipe, special_changed};
use crate::Strings;
use crate::replace::values_changed;

/// What a hash costs: 2 to the power of this many rounds.
const COST: u32 = 10;

/// Random text that is not shown. Drawn from a cryptographic source.
#[derive(Model)]
#[attr(loose)]
pub(super) struct Password {
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
    #[attr(computed, keep, sensitive)]
    result: Attr<String>,
    /// A bcrypt hash of the text, or of its first 72 bytes.
    #[attr(computed, keep, sensitive)]
    bcrypt_hash: Attr<String>,
    /// Always the same.
    #[attr(computed, keep)]
    id: Attr<String>,
}

/// The resource type.
pub(super) struct RandomPassword;

#[async_trait]
impl Resource for RandomPassword {
    type Model = Password;

    const VERSION: u64 = 3;

    fn validate(&self, diags: &mut Diagnostics, config: &Password) -> Answer<()> {
        config.recipe().validate(diags)
    }

    async fn modify_plan(&self, _: &mut Diagnostics, change: &mut Change<Password>) -> Answer<()> {
        let numeric = change.config.recipe().planned_numeric();
        (change.planned.number, change.planned.numeric) = (numeric, numeric);
        Ok(())
    }

    async fn create(&self, diags: &mut Diagnostics, call: Create<Password>) -> Answer<Password> {
        let recipe = call.planned.recipe();
        let text = recipe.draw(diags)?;
        let hash = hash(diags, text.clone()).await?;
        Ok(Password::of(recipe, call.planned.keepers, text, hash))
    }

    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Password> {
        let hash = hash(diags, id.to_owned()).await?;
        Ok(Password::of(Recipe::default().of_stored(id), Attr::Null, id.to_owned(), hash))
    }

    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Password> {
        let stored: Password = stored.read(diags)?;
        let text = stored.result.or_default();
        let kept = stored.bcrypt_hash.or_default();
        // The first versions stored no hash, and some later ones that of another text.
        let hash = match bcrypt::verify(&text, &kept) {
            Ok(true) => kept,
            _ => hash(diags, text.clone()).await?,
        };
        Ok(Password::of(stored.recipe().of_stored(&text), stored.keepers, text, hash))
    }
}

impl Password {
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

    fn of(recipe: Recipe, keepers: Strings, text: String, hash: String) -> Self {
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
            id: "none".into(),
            bcrypt_hash: hash.into(),
            result: text.into(),
        }
    }
}

/// Hashes a text, elsewhere, because it takes long on purpose.
async fn hash(diags: &mut Diagnostics, text: String) -> Answer<String> {
    let problem = match tokio::task::spawn_blocking(move || bcrypt::hash(text, COST)).await {
        Ok(Ok(hash)) => return Ok(hash),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    let detail = format!("The bcrypt hash could not be made: {problem}.");
    Err(diags.error(Diagnostic::error("Hash Generation Error", detail)))
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Action, Life};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn length(length: i64) -> (&'static str, Value) {
        ("length", Value::int(length))
    }

    fn text(life: &Life, name: &str) -> String {
        let Value::String(text) = life.get(name) else { panic!("{name} is text") };
        text.as_str().to_owned()
    }

    #[tokio::test]
    async fn has_a_hash_that_verifies_and_stays_until_its_recipe_changes() {
        let mut life = Life::new(provider(), "random_password").await.unwrap();
        assert_eq!(life.apply([length(80)]).await, Ok(Action::Create));
        assert!(bcrypt::verify(text(&life, "result"), &text(&life, "bcrypt_hash")).unwrap());
        assert_eq!(text(&life, "id"), "none");
        life.store().await.unwrap();
        assert_eq!(life.apply([length(80)]).await, Ok(Action::Nothing));
        let min = ("min_upper", Value::int(2));
        assert_eq!(life.apply([length(80), min]).await, Ok(Action::Replace));
        life.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn is_imported_by_its_text() {
        let mut life = Life::new(provider(), "random_password").await.unwrap();
        life.import("secret").await.unwrap();
        assert_eq!(life.apply([length(6)]).await, Ok(Action::Nothing));
        assert!(bcrypt::verify("secret", &text(&life, "bcrypt_hash")).unwrap());
    }

    #[tokio::test]
    async fn older_states_get_what_they_lack() {
        let mut life = Life::new(provider(), "random_password").await.unwrap();
        life.upgrade(0, r#"{"id":"none","result":"abc"}"#).await.unwrap();
        assert!(bcrypt::verify("abc", &text(&life, "bcrypt_hash")).unwrap());
        let hash = text(&life, "bcrypt_hash");
        let stored = format!(r#"{{"id":"none","result":"abc","bcrypt_hash":"{hash}"}}"#);
        life.upgrade(2, &stored).await.unwrap();
        assert_eq!(text(&life, "bcrypt_hash"), hash);
        assert_eq!(life.apply([length(3)]).await, Ok(Action::Nothing));
    }
}
