//! `random_uuid`.

use formwork_sdk::prelude::*;
use uuid::Uuid as Drawn;

use crate::Strings;
use crate::replace::values_changed;

/// A random UUID.
#[derive(Model)]
pub(super) struct Uuid {
    /// Arbitrary values that, when changed, make a new UUID.
    #[attr(optional, replace_if = values_changed)]
    keepers: Option<Strings>,
    /// The UUID in its usual form.
    #[attr(computed, keep)]
    result: String,
    /// The same as `result`.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct RandomUuid;

impl Resource for RandomUuid {
    type Model = Uuid;

    async fn create(&self, _: Create<Uuid>) -> Answer<UuidComputed> {
        Ok(of(Drawn::new_v4()))
    }

    async fn import(&self, call: Import<Uuid>) -> Answer<UuidDraft> {
        let id = call.id.as_str();
        match Drawn::try_parse(id) {
            Ok(drawn) => Ok(of(drawn).into()),
            Err(error) => {
                let detail = format!("{id:?} is not a UUID: {error}.");
                Err(Problem::new("Import Random UUID Error", detail))
            }
        }
    }
}

fn of(drawn: Drawn) -> UuidComputed {
    let text = drawn.hyphenated().to_string();
    UuidComputed { result: text.clone(), id: text }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Action, Life, strings};
    use formwork_sdk::value::Value;

    use super::super::provider;

    #[tokio::test]
    async fn stays_until_its_keepers_change() {
        let mut life = Life::new(provider(), "random_uuid").await.unwrap();
        assert_eq!(life.apply([]).await, Ok(Action::Create));
        let first = life.get("result").clone();
        assert_eq!(life.get("id"), &first);
        life.store().await.unwrap();
        assert_eq!(life.apply([]).await, Ok(Action::Nothing));
        assert_eq!(life.apply([("keepers", strings([("a", "b")]))]).await, Ok(Action::Replace));
        assert_ne!(life.get("result"), &first);
        life.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn is_imported_by_its_text() {
        let mut life = Life::new(provider(), "random_uuid").await.unwrap();
        let text = "6b0a6dba-4fcb-4b7f-8d6a-0f1c4d5c0c11";
        life.import(text).await.unwrap();
        assert_eq!(life.get("result"), &Value::string(text));
        assert_eq!(life.apply([]).await, Ok(Action::Nothing));
        assert!(life.import("nothing of the kind").await.is_err());
    }
}
