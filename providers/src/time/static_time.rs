//! `time_static`.

use formwork_sdk::prelude::*;

use super::moment::{self, Clock, MomentParts};
use crate::Strings;

/// A stored timestamp: the time of creation, or a given one.
#[derive(Model)]
pub(super) struct StaticTimeModel {
    /// Arbitrary values that, when changed, replace the object.
    #[attr(optional, replace)]
    triggers: Option<Strings>,
    /// The timestamp, in RFC 3339 format. Default: the time of creation.
    #[attr(optional_computed, replace)]
    rfc3339: String,
    #[attr(flatten, computed)]
    parts: MomentParts,
    /// The same as `rfc3339`.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct StaticTimeResource {
    pub(super) clock: Clock,
}

impl Resource for StaticTimeResource {
    type Model = StaticTimeModel;

    fn validate(&self, call: Validate<StaticTimeModel>) -> Answer<()> {
        moment::check_rfc3339("rfc3339", &call.config.rfc3339)
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<StaticTimeModel>) -> Answer<()> {
        // A given timestamp is known before the creation; the time of creation is not.
        if let (None, Some(text)) = (&change.prior, change.planned.rfc3339.get()) {
            let computed = computed_static("rfc3339", text.clone())?;
            change.fill_early_values(computed);
        }
        Ok(())
    }

    async fn create(&self, call: Create<StaticTimeModel>) -> Answer<StaticTimeModelComputed> {
        let now = || moment::to_rfc3339((self.clock)());
        computed_static("rfc3339", call.planned.rfc3339.unwrap_or_else(now))
    }

    async fn import(&self, call: Import<StaticTimeModel>) -> Answer<StaticTimeModelDraft> {
        let id = call.id.as_str();
        Ok(computed_static("id", id.to_owned())?.into())
    }
}

fn computed_static(name: &str, text: String) -> Answer<StaticTimeModelComputed> {
    let parts = moment::parse_rfc3339(name, &text)?.into();
    Ok(StaticTimeModelComputed { rfc3339: text.clone(), parts, id: text })
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};
    use formwork_sdk::value::Value;
    use time::macros::datetime;

    use super::super::provider_with_clock;

    async fn test_object() -> TestObject {
        let provider = provider_with_clock(|| datetime!(2020-02-12 06:36:13.5 UTC));
        TestObject::new(provider, "time_static").await.unwrap()
    }

    #[tokio::test]
    async fn keeps_the_time_of_creation_until_its_triggers_change() {
        let mut object = test_object().await;
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("rfc3339"), &Value::string("2020-02-12T06:36:13Z"));
        assert_eq!(object.get("id"), object.get("rfc3339"));
        assert_eq!(object.get("unix"), &Value::int(1_581_489_373));
        assert_eq!(object.get("day"), &Value::int(12));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
        assert_eq!(
            object.apply([("triggers", strings([("a", "b")]))]).await,
            Ok(PlannedAction::Replace)
        );
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn a_configured_timestamp_is_planned_with_all_its_parts() {
        let config = || [("rfc3339", Value::string("2021-03-04T05:06:07+01:00"))];
        let mut object = test_object().await;
        assert!(object.plan(config()).await.unwrap().object.is_wholly_known());
        object.apply(config()).await.unwrap();
        assert_eq!(object.get("hour"), &Value::int(5));
        assert_eq!(object.apply(config()).await, Ok(PlannedAction::Nothing));
        assert_eq!(
            object.apply([("rfc3339", Value::string("2021-03-04T05:06:07Z"))]).await,
            Ok(PlannedAction::Replace)
        );
        let refusal = object.apply([("rfc3339", Value::string("yesterday"))]).await.unwrap_err();
        assert!(refusal.0.contains("RFC 3339"), "{refusal:?}");
    }

    #[tokio::test]
    async fn is_imported_by_its_timestamp() {
        let mut object = test_object().await;
        object.import("2020-02-12T06:36:13Z").await.unwrap();
        assert_eq!(object.get("month"), &Value::int(2));
        assert_eq!(object.apply([]).await, Ok(PlannedAction::Nothing));
        assert!(object.import("x").await.is_err());
    }
}
