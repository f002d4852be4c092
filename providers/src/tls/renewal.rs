//! Validity of certificates, and their renewal.

use std::time::Duration;

use formwork_sdk::prelude::*;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// From when to when a certificate is valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValidityPeriod {
    pub(super) from: OffsetDateTime,
    pub(super) until: OffsetDateTime,
}

impl ValidityPeriod {
    /// So many hours from now on.
    pub(super) fn from_now_for_hours(hours: i64) -> Answer<Self> {
        let from = now().replace_nanosecond(0).unwrap_or_else(|_| now());
        match hours
            .checked_mul(3600)
            .and_then(|seconds| from.checked_add(time::Duration::seconds(seconds)))
        {
            Some(until) => Ok(Self { from, until }),
            None => {
                let detail = format!(
                    "`validity_period_hours` is {hours}, which leads beyond the year 9999."
                );
                Err(Problem::new("Failed to create certificate", detail))
            }
        }
    }

    /// Since 1970, as certificates count.
    pub(super) fn since_1970(self) -> (Duration, Duration) {
        let since = |time: OffsetDateTime| {
            Duration::from_secs(u64::try_from(time.unix_timestamp()).unwrap_or_default())
        };
        (since(self.from), since(self.until))
    }
}

/// A moment as attributes have it.
pub(super) fn format_time(moment: OffsetDateTime) -> String {
    moment.format(&Rfc3339).unwrap_or_default()
}

/// Whether a certificate is to be replaced at the latest the given number of hours before its end.
pub(super) fn is_renewal_due(end: &str, early_hours: i64) -> bool {
    let Ok(end) = OffsetDateTime::parse(end, &Rfc3339) else { return false };
    // A period so long that it cannot be counted began long ago.
    let early = time::Duration::seconds(early_hours.saturating_mul(3600));
    end.checked_sub(early).is_none_or(|due| due <= now())
}

/// Whether a certificate is to be replaced from the beginning.
pub(super) fn is_renewal_due_at_creation(validity_hours: i64, early_hours: i64) -> bool {
    validity_hours <= early_hours
}

/// The values from which a plan decides about a renewal.
pub(super) struct RenewalInputs<'p> {
    /// The end of the certificate that there is.
    pub(super) end: Option<&'p str>,
    pub(super) validity_hours: &'p Attr<i64>,
    pub(super) early_hours: &'p Attr<i64>,
}

impl RenewalInputs<'_> {
    /// Says in a plan whether the certificate will be due; one that is due already is replaced.
    pub(super) fn plan_renewal(self, ready_for_renewal: &mut Attr<bool>, replace: &mut Vec<Path>) {
        *ready_for_renewal = self.planned_ready_for_renewal();
        if self.end.is_some() && ready_for_renewal.is_unknown() {
            replace.push(Path::root().attribute("ready_for_renewal"));
        }
    }

    /// Planned value of `ready_for_renewal`. An unknown value means that the certificate is
    /// replaced.
    fn planned_ready_for_renewal(&self) -> Attr<bool> {
        let (Some(validity), Some(early)) = (self.validity_hours.get(), self.early_hours.get())
        else {
            return if self.end.is_none() { Attr::Unknown } else { Attr::Known(false) };
        };
        if self.end.is_some_and(|end| is_renewal_due(end, *early)) {
            return Attr::Unknown;
        }
        Attr::Known(is_renewal_due_at_creation(*validity, *early))
    }
}

/// Whether a change of a PEM document needs a new object: old states have a digest instead, and
/// replacing it with the document is not a change.
pub(super) fn is_pem_change_replacing(prior: &Attr<String>, _: &Attr<String>) -> bool {
    prior.get().is_some_and(|text| text.starts_with("-----BEGIN "))
}

#[expect(clippy::disallowed_methods, reason = "certificates begin when they are issued")]
fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_due_before_its_end() {
        let end = |hours| format_time(now() + time::Duration::hours(hours));
        let table = [(end(2), 0, false), (end(2), 1, false), (end(2), 3, true), (end(-1), 0, true)];
        for (end, early, expected) in table {
            assert_eq!(is_renewal_due(&end, early), expected, "{end} {early}");
        }
        assert!(is_renewal_due(&end(1), i64::MAX));
        assert!(!is_renewal_due("soon", 0));
    }

    #[test]
    fn a_plan_shows_whether_a_renewal_is_due() {
        let ready = |end: Option<String>, validity_hours, early_hours| {
            let (validity_hours, early_hours) = (&validity_hours, &early_hours);
            RenewalInputs { end: end.as_deref(), validity_hours, early_hours }
                .planned_ready_for_renewal()
        };
        let later = || Some(format_time(now() + time::Duration::hours(5)));
        let hours = Attr::Known;
        assert_eq!(ready(None, hours(5), hours(1)), Attr::Known(false));
        assert_eq!(ready(None, hours(5), hours(5)), Attr::Known(true));
        assert_eq!(ready(None, Attr::Unknown, hours(5)), Attr::Unknown);
        assert_eq!(ready(later(), hours(5), hours(1)), Attr::Known(false));
        assert_eq!(ready(later(), hours(5), hours(6)), Attr::Unknown);
    }
}
