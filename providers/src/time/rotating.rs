//! `time_rotating`.

use formwork_sdk::prelude::*;
use time::OffsetDateTime;

use super::moment::{self, Clock, Parts, Unit, moved};
use crate::Strings;

/// A moment that is kept until another one has passed; then the object is made anew.
#[derive(Clone, Default, Model)]
#[attr(loose)]
pub(super) struct Rotating {
    /// Arbitrary values that, when changed, make a new object.
    #[attr(optional, replace)]
    triggers: Strings,
    /// The moment to start from, as RFC 3339 writes it; that of creation if not set.
    #[attr(optional_computed, replace)]
    rfc3339: Attr<String>,
    /// After how many years to rotate. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_years: Attr<i64>,
    /// After how many months to rotate. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_months: Attr<i64>,
    /// After how many days to rotate. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_days: Attr<i64>,
    /// After how many hours to rotate. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_hours: Attr<i64>,
    /// After how many minutes to rotate. At least one of the `rotation_` attributes must be set.
    #[attr(optional)]
    rotation_minutes: Attr<i64>,
    /// When to rotate, as RFC 3339 writes it; worked out from the other attributes if not set.
    #[attr(optional_computed)]
    rotation_rfc3339: Attr<String>,
    /// The year of the rotation.
    #[attr(computed)]
    year: Attr<i64>,
    /// The month of the rotation.
    #[attr(computed)]
    month: Attr<i64>,
    /// The day of the month of the rotation.
    #[attr(computed)]
    day: Attr<i64>,
    /// The hour of the rotation.
    #[attr(computed)]
    hour: Attr<i64>,
    /// The minute of the rotation.
    #[attr(computed)]
    minute: Attr<i64>,
    /// The second of the rotation.
    #[attr(computed)]
    second: Attr<i64>,
    /// The seconds from 1970 on to the rotation.
    #[attr(computed)]
    unix: Attr<i64>,
    /// The same as `rfc3339`.
    #[attr(computed)]
    id: Attr<String>,
}

/// The resource type.
pub(super) struct TimeRotating {
    pub(super) clock: Clock,
}

#[async_trait]
impl Resource for TimeRotating {
    type Model = Rotating;

    fn validate(&self, diags: &mut Diagnostics, config: &Rotating) -> Answer<()> {
        moment::validate(diags, "rfc3339", &config.rfc3339)?;
        moment::validate(diags, "rotation_rfc3339", &config.rotation_rfc3339)?;
        let rotations = config.rotations();
        if let Some((by, unit)) =
            rotations.iter().find(|(by, _)| by.get().is_some_and(|by| *by < 1))
        {
            let name = format!("rotation_{unit:?}").to_lowercase();
            let detail = format!("`{name}` is {}; give at least 1.", by.or_default());
            let path = Path::root().attribute(&name);
            return Err(
                diags.error(Diagnostic::error("Invalid Attribute Value", detail).path(path))
            );
        }
        if !config.rotation_rfc3339.is_null() || rotations.iter().any(|(by, _)| !by.is_null()) {
            return Ok(());
        }
        Err(diags.error(Diagnostic::error(
            "Missing Attribute Configuration",
            "At least one of `rotation_years`, `rotation_months`, `rotation_days`, `rotation_hours`, \
             `rotation_minutes` and `rotation_rfc3339` must be set.",
        )))
    }

    async fn modify_plan(
        &self,
        diags: &mut Diagnostics,
        change: &mut Change<Rotating>,
    ) -> Answer<()> {
        let Some(prior) = &change.prior else { return Ok(()) };
        let planned = &change.planned;
        let is_open = planned.rotations().iter().any(|(by, _)| by.is_unknown())
            || change.config.rfc3339.is_unknown()
            || change.config.rotation_rfc3339.is_unknown();
        let at = prior.rotation_rfc3339.or_default();
        if planned.unix.is_unknown() && !is_open {
            let base = planned.rfc3339.get().or(prior.rfc3339.get()).cloned();
            change.planned = of(diags, planned.clone(), base.unwrap_or_default())?;
        }
        // Without a refresh the object is still there when its time has passed.
        if self.is_past(diags, &at)? && change.planned.rotation_rfc3339.get() != Some(&at) {
            change.replace.push(Path::root().attribute("rotation_rfc3339"));
        }
        Ok(())
    }

    async fn create(&self, diags: &mut Diagnostics, call: Create<Rotating>) -> Answer<Rotating> {
        let given = call.planned.rfc3339.get().cloned();
        let base = given.unwrap_or_else(|| moment::text((self.clock)()));
        of(diags, call.planned, base)
    }

    async fn read(
        &self,
        diags: &mut Diagnostics,
        call: Read<Rotating>,
    ) -> Answer<Option<Rotating>> {
        let at = call.current.rotation_rfc3339.or_default();
        Ok(if self.is_past(diags, &at)? { None } else { Some(call.current) })
    }

    async fn update(&self, diags: &mut Diagnostics, call: Update<Rotating>) -> Answer<Rotating> {
        let base = call.planned.rfc3339.get().or(call.prior.rfc3339.get()).cloned();
        of(diags, call.planned, base.unwrap_or_default())
    }

    async fn import(&self, diags: &mut Diagnostics, id: &str) -> Answer<Rotating> {
        let parts: Vec<&str> = id.split(',').collect();
        match parts[..] {
            [base, at] if !base.is_empty() && !at.is_empty() => {
                let imported = Rotating { rotation_rfc3339: at.into(), ..Rotating::default() };
                of(diags, imported, base.to_owned())
            }
            [base, years, months, days, hours, minutes] if !id.ends_with(",,,,,") => {
                let imported = Rotating {
                    rotation_years: moment::number(diags, years)?,
                    rotation_months: moment::number(diags, months)?,
                    rotation_days: moment::number(diags, days)?,
                    rotation_hours: moment::number(diags, hours)?,
                    rotation_minutes: moment::number(diags, minutes)?,
                    ..Rotating::default()
                };
                of(diags, imported, base.to_owned())
            }
            _ => {
                let detail = format!(
                    "{id:?} is neither `BASE,ROTATION`, both moments, nor \
                     `BASE,YEARS,MONTHS,DAYS,HOURS,MINUTES`, where what is not set is left empty and \
                     something is set."
                );
                Err(diags.error(Diagnostic::error("Unexpected Format of ID", detail)))
            }
        }
    }
}

impl TimeRotating {
    fn is_past(&self, diags: &mut Diagnostics, at: &str) -> Answer<bool> {
        Ok(!at.is_empty() && (self.clock)() > moment::parse(diags, "rotation_rfc3339", at)?)
    }
}

impl Rotating {
    /// The rotations; the last one that is set counts.
    fn rotations(&self) -> [(Attr<i64>, Unit); 5] {
        [
            (self.rotation_days, Unit::Days),
            (self.rotation_hours, Unit::Hours),
            (self.rotation_minutes, Unit::Minutes),
            (self.rotation_months, Unit::Months),
            (self.rotation_years, Unit::Years),
        ]
    }
}

/// Works out when to rotate.
fn of(diags: &mut Diagnostics, rotating: Rotating, base: String) -> Answer<Rotating> {
    let start: OffsetDateTime = moment::parse(diags, "rfc3339", &base)?;
    let set = rotating.rotations().into_iter().rev();
    let last = set.filter_map(|(by, unit)| Some((*by.get()?, unit))).next();
    let (text, moment) = match (rotating.rotation_rfc3339.get(), last) {
        // Years count before a given moment, and that before all other units.
        (_, Some((by, unit @ Unit::Years))) | (None, Some((by, unit))) => {
            let moment = moved(diags, start, by, unit)?;
            (moment::text(moment), moment)
        }
        (Some(text), _) => (text.clone(), moment::parse(diags, "rotation_rfc3339", text)?),
        (None, None) => (base.clone(), start),
    };
    let Parts { year, month, day, hour, minute, second, unix } = moment.into();
    Ok(Rotating {
        rfc3339: base.clone().into(),
        rotation_rfc3339: text.into(),
        year,
        month,
        day,
        hour,
        minute,
        second,
        unix,
        id: base.into(),
        ..rotating
    })
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Action, Life, strings};
    use formwork_sdk::value::Value;
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::super::provider_with;

    async fn life() -> Life {
        at(|| datetime!(2020-02-12 06:36:13.5 UTC)).await
    }

    async fn at(clock: fn() -> OffsetDateTime) -> Life {
        Life::new(provider_with(clock), "time_rotating").await.unwrap()
    }

    fn days(days: i64) -> (&'static str, Value) {
        ("rotation_days", Value::int(days))
    }

    #[tokio::test]
    async fn rotation_changes_in_place_and_the_base_stays() {
        let mut life = life().await;
        assert_eq!(life.apply([days(7)]).await, Ok(Action::Create));
        assert_eq!(life.get("rotation_rfc3339"), &Value::string("2020-02-19T06:36:13Z"));
        assert_eq!(life.get("id"), &Value::string("2020-02-12T06:36:13Z"));
        assert_eq!(life.get("day"), &Value::int(19));
        life.store().await.unwrap();
        assert_eq!(life.apply([days(7)]).await, Ok(Action::Nothing));
        assert_eq!(life.apply([days(8)]).await, Ok(Action::Update));
        assert_eq!(life.get("rotation_rfc3339"), &Value::string("2020-02-20T06:36:13Z"));
        assert_eq!(life.get("rfc3339"), &Value::string("2020-02-12T06:36:13Z"));
        let triggers = ("triggers", strings([("a", "b")]));
        assert_eq!(life.apply([days(8), triggers]).await, Ok(Action::Replace));
        let base = ("rfc3339", Value::string("2020-02-11T00:00:00Z"));
        assert_eq!(life.apply([days(8), base]).await, Ok(Action::Replace));
        life.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn an_object_whose_time_has_passed_is_gone() {
        let mut life = at(|| datetime!(2020-03-01 00:00:00 UTC)).await;
        let refusal = life.import("2020-02-12T06:36:13Z,,,7,,").await.unwrap_err();
        assert!(refusal.0.contains("no such object"), "{refusal:?}");
        life.import("2020-02-12T06:36:13Z,,1,,,").await.unwrap();
    }

    #[tokio::test]
    async fn is_imported_by_units_or_by_its_rotation() {
        let mut life = life().await;
        life.import("2020-02-12T06:36:13Z,,,7,,").await.unwrap();
        assert_eq!(life.apply([days(7)]).await, Ok(Action::Nothing));
        life.import("2020-02-12T06:36:13Z,2020-02-19T06:36:13Z").await.unwrap();
        let rotation = ("rotation_rfc3339", Value::string("2020-02-19T06:36:13Z"));
        assert_eq!(life.apply([rotation]).await, Ok(Action::Nothing));
        for id in ["", "2020-02-12T06:36:13Z", "2020-02-12T06:36:13Z,", "2020-02-12T06:36:13Z,,,,,"]
        {
            assert!(life.import(id).await.is_err(), "{id}");
        }
    }

    #[tokio::test]
    async fn the_greatest_unit_counts() {
        let mut life = life().await;
        let years = ("rotation_years", Value::int(1));
        life.apply([days(1), years]).await.unwrap();
        assert_eq!(life.get("rotation_rfc3339"), &Value::string("2021-02-12T06:36:13Z"));
    }

    #[tokio::test]
    async fn no_rotation_or_one_below_one_is_refused() {
        assert!(life().await.apply([]).await.unwrap_err().0.contains("At least one of"));
        assert!(life().await.apply([days(0)]).await.unwrap_err().0.contains("at least 1"));
    }
}
