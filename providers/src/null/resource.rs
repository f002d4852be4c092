//! `null_resource`.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

use super::random_number;
use crate::keepers::keepers_or_triggers_changed;

/// An object without any effect, for dependencies and provisioners.
#[derive(Model)]
pub(super) struct NullResourceModel {
    /// Arbitrary values that, when changed, replace the object, so that its provisioners run again.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    triggers: Option<BTreeMap<String, Option<String>>>,
    /// A random number.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct NullResource;

impl Resource for NullResource {
    type Model = NullResourceModel;

    async fn create(&self, _: Create<NullResourceModel>) -> Answer<NullResourceModelComputed> {
        Ok(NullResourceModelComputed { id: random_number() })
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};

    use super::super::provider;

    #[tokio::test]
    async fn is_replaced_when_its_triggers_change() {
        let mut object = TestObject::new(provider(), "null_resource").await.unwrap();
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Create));
        let first = object.get("id").clone();
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
        let triggers = || strings([("version", "1")]);
        assert_eq!(object.apply([("triggers", triggers())]).await, Ok(PlannedAction::Replace));
        assert_ne!(object.get("id"), &first);
        assert_eq!(object.apply([("triggers", triggers())]).await, Ok(PlannedAction::Nothing));
        object.destroy().await.unwrap();
        assert!(object.object().is_null());
    }

    #[tokio::test]
    async fn cannot_be_imported() {
        let mut object = TestObject::new(provider(), "null_resource").await.unwrap();
        let refusal = object.import("5").await.unwrap_err();
        assert!(refusal.0.contains("cannot be imported"), "{refusal:?}");
    }
}
