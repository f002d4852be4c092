//! `time_rotating`.

use formwork_sdk::prelude::*;
use time::OffsetDateTime;

use super::moment::{self, Clock, MomentParts, TimeUnit, add_to_time};
use crate::Strings;

/// A moment that is kept until another one has passed; then the object is replaced.
#[derive(Model)]
pub(super) struct RotatingModel {
    /// Arbitrary values that, when changed, replace the object.
    #[attr(optional, replace)]
    triggers: Option<Strings>,
    /// The base timestamp, in RFC 3339 format. Default: the time of creation.
    #[attr(optional_computed, replace)]
    rfc3339: String,
    #[attr(flatten)]
    rotations: RotationIntervals,
    /// When to rotate, as RFC 3339 writes it; worked out from the other attributes if not set.
    #[attr(optional_computed)]
    rotation_rfc3339: String,
    #[attr(flatten, computed)]
    parts: MomentParts,
    /// The same as `rfc3339`.
    #[attr(computed)]
    id: String,
}

/// Time until rotation.
#[derive(Model)]
pub(super) struct RotationIntervals {
    /// Number of years until rotation. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_years: Option<i64>,
    /// Number of months until rotation. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_months: Option<i64>,
    /// Number of days until rotation. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_days: Option<i64>,
    /// Number of hours until rotation. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_hours: Option<i64>,
    /// Number of minutes until rotation. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_minutes: Option<i64>,
}

/// The resource type.
pub(super) struct RotatingResource {
    pub(super) clock: Clock,
}

impl Resource for RotatingResource {
    type Model = RotatingModel;

    fn validate(&self, call: Validate<RotatingModel>) -> Answer<()> {
        let config = &call.config;
        let moments =
            [("rfc3339", &config.rfc3339), ("rotation_rfc3339", &config.rotation_rfc3339)];
        let invalid_moments =
            moments.into_iter().map(|(name, text)| moment::check_rfc3339(name, text));
        invalid_moments.filter_map(Result::err).for_each(|problem| call.report(problem));
        let rotations = config.rotations.intervals_by_precedence();
        for (by, unit) in rotations.iter().filter(|(by, _)| by.get().is_some_and(|by| *by < 1)) {
            let name = format!("rotation_{unit:?}").to_lowercase();
            let detail = format!("`{name}` is {}; give at least 1.", by.or_default());
            call.report(Problem::new("Invalid Attribute Value", detail).at(&name));
        }
        if !call.config.rotation_rfc3339.is_null() || rotations.iter().any(|(by, _)| !by.is_null())
        {
            return Ok(());
        }
        Err(Problem::new(
            "Missing Attribute Configuration",
            "At least one of `rotation_years`, `rotation_months`, `rotation_days`, `rotation_hours`, \
             `rotation_minutes` and `rotation_rfc3339` must be set.",
        ))
    }

    async fn modify_plan(&self, change: &mut ModifyPlan<RotatingModel>) -> Answer<()> {
        let Some(prior) = &change.prior else { return Ok(()) };
        let planned = &change.planned;
        let is_open =
            planned.rotations.intervals_by_precedence().iter().any(|(by, _)| by.is_unknown())
                || change.config.rfc3339.is_unknown()
                || change.config.rotation_rfc3339.is_unknown();
        let rotation = prior.rotation_rfc3339.clone();
        if planned.parts.unix.is_unknown() && !is_open {
            let base = planned.rfc3339.get().unwrap_or(&prior.rfc3339).clone();
            let computed =
                computed_rotation(&planned.rotations, planned.rotation_rfc3339.get(), base)?;
            change.fill_early_values(computed);
        }
        // Without a refresh the object is still there when its time has passed.
        if self.is_past(&rotation)? && change.planned.rotation_rfc3339.get() != Some(&rotation) {
            change.replace.push(Path::root().attribute("rotation_rfc3339"));
        }
        Ok(())
    }

    async fn create(&self, call: Create<RotatingModel>) -> Answer<RotatingModelComputed> {
        let RotatingModelInput { rfc3339, rotation_rfc3339, .. } = call.planned;
        let base = rfc3339.unwrap_or_else(|| moment::to_rfc3339((self.clock)()));
        computed_rotation(&call.config.rotations, rotation_rfc3339.as_ref(), base)
    }

    async fn read(&self, call: Read<RotatingModel>) -> Answer<Option<RotatingModel>> {
        let is_past = self.is_past(&call.current.rotation_rfc3339)?;
        Ok((!is_past).then_some(call.current))
    }

    async fn update(&self, call: Update<RotatingModel>) -> Answer<RotatingModelComputed> {
        let RotatingModelInput { rfc3339, rotation_rfc3339, .. } = call.planned;
        let base = rfc3339.unwrap_or(call.prior.rfc3339);
        computed_rotation(&call.config.rotations, rotation_rfc3339.as_ref(), base)
    }

    async fn import(&self, call: Import<RotatingModel>) -> Answer<RotatingModelDraft> {
        let id = call.id.as_str();
        let parts: Vec<&str> = id.split(',').collect();
        match parts[..] {
            [base, rotation] if !base.is_empty() && !rotation.is_empty() => {
                let rotations = RotationIntervalsDraft::default();
                Ok(computed_rotation(&rotations, Some(&rotation.to_owned()), base.to_owned())?
                    .into())
            }
            [base, years, months, days, hours, minutes] if !id.ends_with(",,,,,") => {
                let rotations = RotationIntervalsDraft {
                    rotation_years: moment::parse_id_part(years)?,
                    rotation_months: moment::parse_id_part(months)?,
                    rotation_days: moment::parse_id_part(days)?,
                    rotation_hours: moment::parse_id_part(hours)?,
                    rotation_minutes: moment::parse_id_part(minutes)?,
                };
                let computed = computed_rotation(&rotations, None, base.to_owned())?;
                Ok(RotatingModelDraft { rotations, ..computed.into() })
            }
            _ => {
                let detail = format!(
                    "{id:?} is neither `BASE,ROTATION`, both moments, nor \
                     `BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES`, with absent parts left empty and at \
                     least one part set."
                );
                Err(Problem::new("Unexpected Format of ID", detail))
            }
        }
    }
}

impl RotatingResource {
    fn is_past(&self, rotation: &str) -> Answer<bool> {
        Ok(!rotation.is_empty()
            && (self.clock)() > moment::parse_rfc3339("rotation_rfc3339", rotation)?)
    }
}

impl RotationIntervalsDraft {
    /// The rotations; the last one that is set counts.
    fn intervals_by_precedence(&self) -> [(Attr<i64>, TimeUnit); 5] {
        [
            (self.rotation_days, TimeUnit::Days),
            (self.rotation_hours, TimeUnit::Hours),
            (self.rotation_minutes, TimeUnit::Minutes),
            (self.rotation_months, TimeUnit::Months),
            (self.rotation_years, TimeUnit::Years),
        ]
    }
}

/// Works out when to rotate, given after how long, or at which moment.
fn computed_rotation(
    rotations: &RotationIntervalsDraft,
    rotation: Option<&String>,
    base: String,
) -> Answer<RotatingModelComputed> {
    let start: OffsetDateTime = moment::parse_rfc3339("rfc3339", &base)?;
    let set = rotations.intervals_by_precedence().into_iter().rev();
    let last = set.filter_map(|(by, unit)| Some((*by.get()?, unit))).next();
    let (text, moment) = match (rotation, last) {
        // Years count before a given moment, and that before all other units.
        (_, Some((by, unit @ TimeUnit::Years))) | (None, Some((by, unit))) => {
            let moment = add_to_time(start, by, unit)?;
            (moment::to_rfc3339(moment), moment)
        }
        (Some(text), _) => (text.clone(), moment::parse_rfc3339("rotation_rfc3339", text)?),
        (None, None) => (base.clone(), start),
    };
    let parts = moment.into();
    Ok(RotatingModelComputed { rfc3339: base.clone(), rotation_rfc3339: text, parts, id: base })
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject, strings};
    use formwork_sdk::value::Value;
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::super::provider_with_clock;

    async fn test_object() -> TestObject {
        object_with_clock(|| datetime!(2020-02-12 06:36:13.5 UTC)).await
    }

    async fn object_with_clock(clock: fn() -> OffsetDateTime) -> TestObject {
        TestObject::new(provider_with_clock(clock), "time_rotating").await.unwrap()
    }

    fn days(days: i64) -> (&'static str, Value) {
        ("rotation_days", Value::int(days))
    }

    #[tokio::test]
    async fn rotation_changes_in_place_and_keeps_its_base() {
        let mut object = test_object().await;
        assert_eq!(object.apply([days(7)]).await, Ok(PlannedAction::Create));
        assert_eq!(object.get("rotation_rfc3339"), &Value::string("2020-02-19T06:36:13Z"));
        assert_eq!(object.get("id"), &Value::string("2020-02-12T06:36:13Z"));
        assert_eq!(object.get("day"), &Value::int(19));
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([days(7)]).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.apply([days(8)]).await, Ok(PlannedAction::Update));
        assert_eq!(object.get("rotation_rfc3339"), &Value::string("2020-02-20T06:36:13Z"));
        assert_eq!(object.get("rfc3339"), &Value::string("2020-02-12T06:36:13Z"));
        let triggers = ("triggers", strings([("a", "b")]));
        assert_eq!(object.apply([days(8), triggers]).await, Ok(PlannedAction::Replace));
        let base = ("rfc3339", Value::string("2020-02-11T00:00:00Z"));
        assert_eq!(object.apply([days(8), base]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn an_object_whose_rotation_has_passed_is_deleted_from_the_state() {
        let mut object = object_with_clock(|| datetime!(2020-03-01 00:00:00 UTC)).await;
        let refusal = object.import("2020-02-12T06:36:13Z,,,7,,").await.unwrap_err();
        assert!(refusal.0.contains("no such object"), "{refusal:?}");
        object.import("2020-02-12T06:36:13Z,,1,,,").await.unwrap();
    }

    #[tokio::test]
    async fn is_imported_by_units_or_by_its_rotation() {
        let mut object = test_object().await;
        object.import("2020-02-12T06:36:13Z,,,7,,").await.unwrap();
        assert_eq!(object.apply([days(7)]).await, Ok(PlannedAction::Nothing));
        object.import("2020-02-12T06:36:13Z,2020-02-19T06:36:13Z").await.unwrap();
        let rotation = ("rotation_rfc3339", Value::string("2020-02-19T06:36:13Z"));
        assert_eq!(object.apply([rotation]).await, Ok(PlannedAction::Nothing));
        for id in ["", "2020-02-12T06:36:13Z", "2020-02-12T06:36:13Z,", "2020-02-12T06:36:13Z,,,,,"]
        {
            assert!(object.import(id).await.is_err(), "{id}");
        }
    }

    #[tokio::test]
    async fn the_largest_unit_takes_precedence() {
        let mut object = test_object().await;
        let years = ("rotation_years", Value::int(1));
        object.apply([days(1), years]).await.unwrap();
        assert_eq!(object.get("rotation_rfc3339"), &Value::string("2021-02-12T06:36:13Z"));
    }

    #[tokio::test]
    async fn missing_and_nonpositive_rotations_are_refused() {
        assert!(test_object().await.apply([]).await.unwrap_err().0.contains("At least one of"));
        assert!(test_object().await.apply([days(0)]).await.unwrap_err().0.contains("at least 1"));
    }
}
