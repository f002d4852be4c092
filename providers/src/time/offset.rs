//! `time_offset`.

use formwork_sdk::prelude::*;
use time::OffsetDateTime;

use super::moment::{self, Clock, MomentParts, TimeUnit, add_to_time};
use crate::Strings;

/// A moment some time before or after another one, which is kept.
#[derive(Model)]
pub(super) struct OffsetModel {
    /// Arbitrary values that, when changed, replace the object.
    #[attr(optional, replace)]
    triggers: Option<Strings>,
    /// The base timestamp, in RFC 3339 format. Default: the time of creation.
    #[attr(optional_computed)]
    base_rfc3339: String,
    #[attr(flatten)]
    offsets: OffsetAmounts,
    /// The moment that comes out.
    #[attr(computed)]
    rfc3339: String,
    #[attr(flatten, computed)]
    parts: MomentParts,
    /// The same as `base_rfc3339`.
    #[attr(computed)]
    id: String,
}

/// Offset of the moment.
#[derive(Model)]
pub(super) struct OffsetAmounts {
    /// Number of years to add. At least one of the `offset_` attributes must be set.
    #[attr(optional)]
    offset_years: Option<i64>,
    /// Number of months to add. At least one of the `offset_` attributes must be set.
    #[attr(optional)]
    offset_months: Option<i64>,
    /// Number of days to add. At least one of the `offset_` attributes must be set.
    #[attr(optional)]
    offset_days: Option<i64>,
    /// Number of hours to add. At least one of the `offset_` attributes must be set.
    #[attr(optional)]
    offset_hours: Option<i64>,
    /// Number of minutes to add. At least one of the `offset_` attributes must be set.
    #[attr(optional)]
    offset_minutes: Option<i64>,
    /// Number of seconds to add. At least one of the `offset_` attributes must be set.
    #[attr(optional)]
    offset_seconds: Option<i64>,
}

/// The resource type.
pub(super) struct OffsetResource {
    pub(super) clock: Clock,
}

impl Resource for OffsetResource {
    type Model = OffsetModel;

    fn validate(&self, call: Validate<OffsetModel>) -> Answer<()> {
        if let Err(problem) = moment::check_rfc3339("base_rfc3339", &call.config.base_rfc3339) {
            call.report(problem);
        }
        if call.config.offsets.in_addition_order().iter().any(|(by, _)| !by.is_null()) {
            return Ok(());
        }
        Err(Problem::new(
            "Missing Attribute Configuration",
            "At least one of `offset_years`, `offset_months`, `offset_days`, `offset_hours`, \
             `offset_minutes` and `offset_seconds` must be set.",
        ))
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<OffsetModel>) -> Answer<()> {
        let Some(prior) = &change.prior else { return Ok(()) };
        let planned = &change.planned;
        let is_open = planned.offsets.in_addition_order().iter().any(|(by, _)| by.is_unknown())
            || change.config.base_rfc3339.is_unknown();
        if planned.parts.unix.is_unknown() && !is_open {
            let base = planned.base_rfc3339.get().unwrap_or(&prior.base_rfc3339).clone();
            let computed = computed_offset(&planned.offsets, base)?;
            change.fill_early_values(computed);
        }
        Ok(())
    }

    async fn create(&self, call: Create<OffsetModel>) -> Answer<OffsetModelComputed> {
        let now = || moment::to_rfc3339((self.clock)());
        let base = call.planned.base_rfc3339.unwrap_or_else(now);
        computed_offset(&call.config.offsets, base)
    }

    async fn update(&self, call: Update<OffsetModel>) -> Answer<OffsetModelComputed> {
        let base = call.planned.base_rfc3339.unwrap_or(call.prior.base_rfc3339);
        computed_offset(&call.config.offsets, base)
    }

    async fn import(&self, call: Import<OffsetModel>) -> Answer<OffsetModelDraft> {
        let id = call.id.as_str();
        let parts = <[&str; 7]>::try_from(id.split(',').collect::<Vec<_>>()).ok();
        let any_set = |parts: &[&str; 7]| parts[1..].iter().any(|part| !part.is_empty());
        let Some([base, offsets @ ..]) = parts.filter(any_set) else {
            let detail = format!(
                "{id:?} is not `BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES,SECONDS`, with absent parts \
                 left empty and at least one part set."
            );
            return Err(Problem::new("Unexpected Format of ID", detail));
        };
        let mut numbers = [Attr::Null; 6];
        for (number, text) in numbers.iter_mut().zip(offsets) {
            *number = moment::parse_id_part(text)?;
        }
        let [years, months, days, hours, minutes, seconds] = numbers;
        let offsets = OffsetAmountsDraft {
            offset_years: years,
            offset_months: months,
            offset_days: days,
            offset_hours: hours,
            offset_minutes: minutes,
            offset_seconds: seconds,
        };
        let computed = computed_offset(&offsets, base.to_owned())?;
        Ok(OffsetModelDraft { offsets, ..computed.into() })
    }
}

impl OffsetAmountsDraft {
    /// The offsets, in the order in which they are added.
    fn in_addition_order(&self) -> [(Attr<i64>, TimeUnit); 6] {
        [
            (self.offset_days, TimeUnit::Days),
            (self.offset_hours, TimeUnit::Hours),
            (self.offset_minutes, TimeUnit::Minutes),
            (self.offset_months, TimeUnit::Months),
            (self.offset_seconds, TimeUnit::Seconds),
            (self.offset_years, TimeUnit::Years),
        ]
    }
}

/// Works out the moment from its base.
fn computed_offset(offsets: &OffsetAmountsDraft, base: String) -> Answer<OffsetModelComputed> {
    let mut moment: OffsetDateTime = moment::parse_rfc3339("base_rfc3339", &base)?;
    for (by, unit) in offsets.in_addition_order() {
        moment = add_to_time(moment, by.or_default(), unit)?;
    }
    let (rfc3339, parts) = (moment::to_rfc3339(moment), moment.into());
    Ok(OffsetModelComputed { base_rfc3339: base.clone(), rfc3339, parts, id: base })
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};
    use formwork_sdk::value::{Path, Type, Value};
    use time::macros::datetime;

    use super::super::provider_with_clock;

    async fn test_object() -> TestObject {
        let provider = provider_with_clock(|| datetime!(2020-02-12 06:36:13.5 UTC));
        TestObject::new(provider, "time_offset").await.unwrap()
    }

    fn days(days: i64) -> (&'static str, Value) {
        ("offset_days", Value::int(days))
    }

    #[tokio::test]
    async fn an_offset_changes_in_place_and_keeps_its_base() {
        let mut object = test_object().await;
        assert_eq!(object.apply([days(7)]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("rfc3339"), &Value::string("2020-02-19T06:36:13Z"));
        assert_eq!(object.get("id"), &Value::string("2020-02-12T06:36:13Z"));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([days(7)]).await, Ok(PlannedAction::Nothing));
        assert!(object.plan([days(-12)]).await.unwrap().object.is_wholly_known());
        assert_eq!(object.apply([days(-12)]).await, Ok(PlannedAction::Update));
        assert_eq!(object.get("rfc3339"), &Value::string("2020-01-31T06:36:13Z"));
        let base = ("base_rfc3339", Value::string("2021-01-01T00:00:00Z"));
        assert_eq!(object.apply([days(-12), base]).await, Ok(PlannedAction::Update));
        assert_eq!(object.get("year"), &Value::int(2020));
        assert_eq!(object.get("month"), &Value::int(12));
        let triggers = ("triggers", strings([("a", "b")]));
        assert_eq!(object.apply([days(1), triggers]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn an_unknown_offset_makes_the_timestamp_unknown() {
        let mut object = test_object().await;
        object.apply([days(1)]).await.unwrap();
        let unknown = ("offset_days", Value::unknown(Type::Number));
        let planned = object.plan([unknown]).await.unwrap().object;
        let moment = Path::root().attribute("rfc3339");
        assert!(moment.find(&planned).is_some_and(Value::is_unknown));
    }

    #[tokio::test]
    async fn is_imported_with_base_and_offsets() {
        let mut object = test_object().await;
        object.import("2020-02-12T06:36:13Z,,,7,,,").await.unwrap();
        assert_eq!(object.get("rfc3339"), &Value::string("2020-02-19T06:36:13Z"));
        assert_eq!(object.apply([days(7)]).await, Ok(PlannedAction::Nothing));
        for id in [
            "",
            "2020-02-12T06:36:13Z",
            "2020-02-12T06:36:13Z,,,,,,",
            "x,,,1,,,",
            "2020-02-12T06:36:13Z,,,x,,,",
        ] {
            assert!(object.import(id).await.is_err(), "{id}");
        }
    }

    #[tokio::test]
    async fn a_missing_offset_is_refused() {
        let refusal = test_object().await.apply([]).await.unwrap_err();
        assert!(refusal.0.contains("At least one of `offset_years`"), "{refusal:?}");
    }
}
