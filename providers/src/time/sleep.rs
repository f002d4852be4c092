//! `time_sleep`.

use formwork_sdk::prelude::*;

use super::moment::{self, Clock, parse_duration_attribute};
use crate::Strings;

/// A pause before what depends on it is created, or after it is destroyed.
#[derive(Model)]
pub(super) struct SleepModel {
    /// Arbitrary values that, when changed, replace the object.
    #[attr(optional, replace)]
    triggers: Option<Strings>,
    /// Duration of the creation: a number and `ms`, `s`, `m` or `h`. Changing only this value does
    /// not wait.
    #[attr(optional)]
    create_duration: Option<String>,
    /// Duration of the destruction: a number and `ms`, `s`, `m` or `h`. It must have been applied
    /// before the destruction.
    #[attr(optional)]
    destroy_duration: Option<String>,
    /// When the object was created.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct SleepResource {
    pub(super) clock: Clock,
}

impl Resource for SleepResource {
    type Model = SleepModel;

    fn validate(&self, call: Validate<SleepModel>) -> Answer<()> {
        let SleepModelDraft { create_duration, destroy_duration, .. } = call.config;
        if create_duration.is_null() && destroy_duration.is_null() {
            return Err(Problem::new(
                "Invalid Attribute Combination",
                "At least one of `create_duration` and `destroy_duration` must be set.",
            ));
        }
        for (name, text) in
            [("create_duration", create_duration), ("destroy_duration", destroy_duration)]
        {
            if let Some(text) = text.get() {
                parse_duration_attribute(name, text)?;
            }
        }
        Ok(())
    }

    async fn create(&self, call: Create<SleepModel>) -> Answer<SleepModelComputed> {
        let time = call.planned.create_duration.as_deref();
        sleep_for_duration("create_duration", time, &call.stop).await?;
        Ok(SleepModelComputed { id: moment::to_rfc3339((self.clock)()) })
    }

    async fn delete(&self, call: Delete<SleepModel>) -> Answer<()> {
        let time = call.prior.destroy_duration.as_deref();
        sleep_for_duration("destroy_duration", time, &call.stop).await
    }

    async fn import(&self, call: Import<SleepModel>) -> Answer<SleepModelDraft> {
        let id = call.id.as_str();
        let parts = id.split_once(',').filter(|parts| *parts != ("", "") && !parts.1.contains(','));
        let Some((create, destroy)) = parts else {
            let detail = format!(
                "{id:?} is not `CREATE_DURATION,DESTROY_DURATION`, where one of both may be empty."
            );
            return Err(Problem::new("Unexpected Format of ID", detail));
        };
        let read = |name, text: &str| {
            if text.is_empty() {
                return Ok(Attr::Null);
            }
            parse_duration_attribute(name, text).map(|_| Attr::from(text))
        };
        Ok(SleepModelDraft {
            triggers: Attr::Null,
            create_duration: read("create_duration", create)?,
            destroy_duration: read("destroy_duration", destroy)?,
            id: moment::to_rfc3339((self.clock)()).into(),
        })
    }
}

/// Waits, unless the host requests a stop.
async fn sleep_for_duration(name: &str, text: Option<&str>, stop: &Stop) -> Answer<()> {
    let Some(text) = text else { return Ok(()) };
    let time = parse_duration_attribute(name, text)?;
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        () = stop.wait_until_requested() => {
            let detail = format!("The wait of {text} was interrupted, because the run is stopping.");
            Err(Problem::new("Wait interrupted", detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};
    use formwork_sdk::value::Value;
    use time::macros::datetime;

    use super::super::provider_with_clock;

    async fn test_object() -> TestObject {
        let provider = provider_with_clock(|| datetime!(2020-02-12 06:36:13.5 UTC));
        TestObject::new(provider, "time_sleep").await.unwrap()
    }

    fn create(time: &str) -> (&'static str, Value) {
        ("create_duration", Value::string(time))
    }

    #[tokio::test]
    async fn durations_change_in_place_and_triggers_cause_another_pause() {
        let mut object = test_object().await;
        assert_eq!(object.apply([create("1ms")]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("id"), &Value::string("2020-02-12T06:36:13Z"));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([create("1ms")]).await, Ok(PlannedAction::Nothing));
        // Were it waited for, the test would not end.
        assert_eq!(object.apply([create("9000h")]).await, Ok(PlannedAction::Update));
        let triggers = ("triggers", strings([("a", "b")]));
        assert_eq!(object.apply([create("1ms"), triggers]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn a_stop_interrupts_every_wait() {
        let mut object = test_object().await;
        let destroy = ("destroy_duration", Value::string("9000h"));
        object.apply([destroy]).await.unwrap();
        object.stop().await.unwrap();
        let refusal = object.destroy().await.unwrap_err();
        assert!(refusal.0.contains("was interrupted"), "{refusal:?}");
        assert!(!object.object().is_null(), "an object that was not destroyed still exists");
    }

    #[tokio::test]
    async fn a_stop_during_creation_leaves_no_object() {
        let mut object = test_object().await;
        object.stop().await.unwrap();
        assert!(object.apply([create("9000h")]).await.is_err());
        assert!(object.object().is_null());
    }

    #[tokio::test]
    async fn is_imported_with_its_durations() {
        let mut object = test_object().await;
        object.import("1s,").await.unwrap();
        assert_eq!(object.apply([create("1s")]).await, Ok(PlannedAction::Nothing));
        for id in ["", ",", "1s", "1s,2s,3s", "x,"] {
            assert!(object.import(id).await.is_err(), "{id}");
        }
    }

    #[tokio::test]
    async fn a_pause_without_a_valid_duration_is_refused() {
        assert!(test_object().await.apply([]).await.unwrap_err().0.contains("At least one of"));
        assert!(test_object().await.apply([create("soon")]).await.unwrap_err().0.contains("30s"));
    }
}
