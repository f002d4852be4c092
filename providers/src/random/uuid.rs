//! `random_uuid`, which is also called `random_uuid4`, and `random_uuid7`.

use formwork_sdk::prelude::*;
use uuid::Uuid as Drawn;

use crate::Strings;
use crate::keepers::keepers_or_triggers_changed;

/// A random UUID.
#[derive(Model)]
pub(super) struct UuidModel {
    /// Arbitrary values that, when changed, generate a new UUID.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    /// The UUID in its usual form.
    #[attr(computed, keep)]
    result: String,
    /// The same as `result`.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct UuidResource;

impl Resource for UuidResource {
    type Model = UuidModel;

    async fn create(&self, _: Create<UuidModel>) -> Answer<UuidModelComputed> {
        Ok(computed_uuid(Drawn::new_v4()))
    }

    async fn import(&self, call: Import<UuidModel>) -> Answer<UuidModelDraft> {
        Ok(computed_uuid(parse_uuid(&call.id)?).into())
    }
}

/// A UUID that begins with the time of its creation, so that later ones sort after earlier ones;
/// the rest is random.
#[derive(Model)]
pub(super) struct Uuid7Model {
    #[attr(flatten, fills)]
    uuid: UuidModel,
}

/// The resource type.
pub(super) struct Uuid7Resource;

impl Resource for Uuid7Resource {
    type Model = Uuid7Model;

    async fn create(&self, _: Create<Uuid7Model>) -> Answer<Uuid7ModelComputed> {
        Ok(Uuid7ModelComputed { uuid: computed_uuid(Drawn::now_v7()) })
    }

    async fn import(&self, call: Import<Uuid7Model>) -> Answer<Uuid7ModelDraft> {
        Ok(Uuid7ModelDraft { uuid: computed_uuid(parse_uuid(&call.id)?).into() })
    }
}

fn parse_uuid(id: &str) -> Answer<Drawn> {
    Drawn::try_parse(id).map_err(|error| {
        let detail = format!("{id:?} is not a UUID: {error}.");
        Problem::new("Import Random UUID Error", detail)
    })
}

fn computed_uuid(drawn: Drawn) -> UuidModelComputed {
    let text = drawn.hyphenated().to_string();
    UuidModelComputed { result: text.clone(), id: text }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};
    use formwork_sdk::value::Value;

    use super::super::provider;

    #[tokio::test]
    async fn is_kept_until_its_keepers_change() {
        for (kind, version) in [("random_uuid", "4"), ("random_uuid4", "4"), ("random_uuid7", "7")]
        {
            let mut object = TestObject::new(provider(), kind).await.unwrap();
            assert_eq!(object.apply([]).await, Ok(PlannedAction::Create));
            let first = object.get("result").clone();
            let Value::String(text) = &first else { panic!("the result is text") };
            assert_eq!(text.as_str().get(14..15), Some(version));
            assert_eq!(object.get("id"), &first);
            object.upgrade_stored().await.unwrap();
            assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
            let keepers = ("keepers", strings([("a", "b")]));
            assert_eq!(object.apply([keepers]).await, Ok(PlannedAction::Replace));
            assert_ne!(object.get("result"), &first);
            object.destroy().await.unwrap();
        }
    }

    #[tokio::test]
    async fn is_imported_by_its_text() {
        for kind in ["random_uuid", "random_uuid7"] {
            let mut object = TestObject::new(provider(), kind).await.unwrap();
            let text = "6b0a6dba-4fcb-4b7f-8d6a-0f1c4d5c0c11";
            object.import(text).await.unwrap();
            assert_eq!(object.get("result"), &Value::string(text));
            assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
            assert!(object.import("nothing of the kind").await.is_err());
        }
    }
}
