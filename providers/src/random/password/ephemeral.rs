//! `random_password` as an ephemeral resource: another one each time, stored by nobody.

use formwork_sdk::prelude::*;

use super::hash;
use crate::random::text::Recipe;

/// Random text that is neither shown nor stored. Drawn from a cryptographic source.
#[derive(Model)]
#[attr(loose)]
pub(crate) struct Password {
    /// How many characters; at least 1, and at least as many as the `min_` attributes together.
    #[attr(required)]
    length: Attr<i64>,
    /// Whether there may be special characters: `!@#$%&*()-_=+[]{}<>:?`. True if not set.
    #[attr(optional_computed)]
    special: Attr<bool>,
    /// Whether there may be upper-case letters. True if not set.
    #[attr(optional_computed)]
    upper: Attr<bool>,
    /// Whether there may be lower-case letters. True if not set.
    #[attr(optional_computed)]
    lower: Attr<bool>,
    /// Whether there may be digits. True if not set.
    #[attr(optional_computed)]
    numeric: Attr<bool>,
    /// The least number of digits. 0 if not set.
    #[attr(optional_computed)]
    min_numeric: Attr<i64>,
    /// The least number of upper-case letters. 0 if not set.
    #[attr(optional_computed)]
    min_upper: Attr<i64>,
    /// The least number of lower-case letters. 0 if not set.
    #[attr(optional_computed)]
    min_lower: Attr<i64>,
    /// The least number of special characters. 0 if not set.
    #[attr(optional_computed)]
    min_special: Attr<i64>,
    /// Other special characters than the usual ones.
    #[attr(optional)]
    override_special: Attr<String>,
    /// The text.
    #[attr(computed, sensitive)]
    result: Attr<String>,
    /// A bcrypt hash of the text, or of its first 72 bytes.
    #[attr(computed, sensitive)]
    bcrypt_hash: Attr<String>,
}

/// The ephemeral resource type.
pub(crate) struct PassingPassword;

#[async_trait]
impl Ephemeral for PassingPassword {
    type Model = Password;

    fn validate(&self, diags: &mut Diagnostics, config: &Password) -> Answer<()> {
        config.recipe().validate(diags)
    }

    async fn open(&self, diags: &mut Diagnostics, config: Password) -> Answer<Opened<Password>> {
        let config = config.completed();
        let text = config.recipe().draw(diags)?;
        let hash = hash(diags, text.clone()).await?;
        Ok(Opened::for_good(Password { result: text.into(), bcrypt_hash: hash.into(), ..config }))
    }
}

impl Password {
    /// The same with a value for everything that may be left out.
    fn completed(self) -> Self {
        let or_true = |kind: Attr<bool>| Attr::Known(*kind.get().unwrap_or(&true));
        let or_zero = |least: Attr<i64>| Attr::Known(least.or_default());
        Self {
            special: or_true(self.special),
            upper: or_true(self.upper),
            lower: or_true(self.lower),
            numeric: or_true(self.numeric),
            min_numeric: or_zero(self.min_numeric),
            min_upper: or_zero(self.min_upper),
            min_lower: or_zero(self.min_lower),
            min_special: or_zero(self.min_special),
            ..self
        }
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            length: self.length,
            special: self.special,
            upper: self.upper,
            lower: self.lower,
            number: Attr::Null,
            numeric: self.numeric,
            min_numeric: self.min_numeric,
            min_upper: self.min_upper,
            min_lower: self.min_lower,
            min_special: self.min_special,
            override_special: self.override_special.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Passing, Refusal};
    use formwork_sdk::value::{Path, Value};

    use crate::random::provider;

    async fn opened(config: &[(&str, Value)]) -> Result<Value, Refusal> {
        let mut passing = Passing::new(provider(), "random_password").await?;
        passing.open(config).await
    }

    fn text(object: &Value, name: &str) -> String {
        match Path::root().attribute(name).find(object) {
            Some(Value::String(text)) => text.as_str().to_owned(),
            other => panic!("{name} is {other:?}"),
        }
    }

    #[tokio::test]
    async fn each_is_another_and_has_its_hash() {
        let config = [("length", Value::int(20)), ("special", Value::Bool(false))];
        let (one, other) = (opened(&config).await.unwrap(), opened(&config).await.unwrap());
        assert_ne!(text(&one, "result"), text(&other, "result"));
        assert!(bcrypt::verify(text(&one, "result"), &text(&one, "bcrypt_hash")).unwrap());
        assert!(text(&one, "result").bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(Path::root().attribute("min_upper").find(&one), Some(&Value::int(0)));
    }

    #[tokio::test]
    async fn an_impossible_recipe_is_refused() {
        let config = [("length", Value::int(2)), ("min_upper", Value::int(3))];
        assert!(opened(&config).await.unwrap_err().0.contains("`length` is 2"));
    }
}
