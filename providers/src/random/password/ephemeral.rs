//! `random_password` as an ephemeral resource: another value each time, never stored.

use formwork_sdk::prelude::*;

use super::bcrypt_hash;
use crate::random::string_rules::StringRules;

/// Random text that is neither shown nor stored. Drawn from a cryptographic source.
#[derive(Model)]
pub(crate) struct EphemeralPasswordModel {
    #[attr(flatten, fills)]
    recipe: StringRules,
    /// The text.
    #[attr(computed, sensitive)]
    result: String,
    /// A bcrypt hash of the password, or of its first 72 bytes.
    #[attr(computed, sensitive)]
    bcrypt_hash: String,
}

/// The ephemeral resource type.
pub(crate) struct EphemeralPassword;

impl Ephemeral for EphemeralPassword {
    type Model = EphemeralPasswordModel;

    fn validate(&self, call: Validate<EphemeralPasswordModel>) -> Answer<()> {
        call.config.recipe.validate(Attr::Null)
    }

    async fn open(
        &self,
        call: Open<EphemeralPasswordModel>,
    ) -> Answer<EphemeralPasswordModelComputed> {
        let result = call.config.recipe.random_string()?;
        Ok(EphemeralPasswordModelComputed {
            recipe: call.config.recipe.computed(),
            bcrypt_hash: bcrypt_hash(result.clone()).await?,
            result,
        })
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Refusal, TestEphemeral};
    use formwork_sdk::value::{Path, Value};

    use crate::random::provider;

    async fn opened(config: &[(&str, Value)]) -> Result<Value, Refusal> {
        let mut passing = TestEphemeral::new(provider(), "random_password").await?;
        passing.open(config).await
    }

    fn text(object: &Value, name: &str) -> String {
        match Path::root().attribute(name).find(object) {
            Some(Value::String(text)) => text.as_str().to_owned(),
            other => panic!("{name} is {other:?}"),
        }
    }

    #[tokio::test]
    async fn each_password_is_different_and_has_its_hash() {
        let config = [("length", Value::int(20)), ("special", Value::Bool(false))];
        let (first, second) = (opened(&config).await.unwrap(), opened(&config).await.unwrap());
        assert_ne!(text(&first, "result"), text(&second, "result"));
        assert!(bcrypt::verify(text(&first, "result"), &text(&first, "bcrypt_hash")).unwrap());
        assert!(text(&first, "result").bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(Path::root().attribute("min_upper").find(&first), Some(&Value::int(0)));
    }

    #[tokio::test]
    async fn impossible_rules_are_refused_for_ephemeral_passwords() {
        let config = [("length", Value::int(2)), ("min_upper", Value::int(3))];
        assert!(opened(&config).await.unwrap_err().0.contains("`length` is 2"));
    }
}
