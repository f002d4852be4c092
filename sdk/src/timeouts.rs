//! How long operations may take, as authors of configurations write it in a block, and waiting no
//! longer than that.

use std::time::Duration;

use formwork_value::{Diagnostic, Diagnostics};

use crate::prelude::*;

/// A block in which the author of a configuration says how long operations may take. A model has it as
/// `#[block] timeouts: Option<Timeouts>`.
#[derive(Clone, Debug, Default, PartialEq, Eq, formwork_sdk_macros::Nested)]
pub struct Timeouts {
    /// How long a creation may take, such as `30s`, `90m` or `1h30m`.
    #[attr(optional, check = is_duration)]
    pub create: Option<String>,
    /// How long a read may take.
    #[attr(optional, check = is_duration)]
    pub read: Option<String>,
    /// How long an update may take.
    #[attr(optional, check = is_duration)]
    pub update: Option<String>,
    /// How long a destruction may take.
    #[attr(optional, check = is_duration)]
    pub delete: Option<String>,
}

/// Returns how long an operation may take: what the author wrote, or else what is usual.
///
/// ```
/// use std::time::Duration;
/// use formwork_sdk::timeouts::{Timeouts, at_most};
///
/// let timeouts = Some(Timeouts { create: Some("1h30m".to_owned()), ..Timeouts::default() });
/// let usual = Duration::from_secs(60);
/// let create = at_most(timeouts.as_ref().and_then(|all| all.create.as_deref()), usual);
/// assert_eq!(create, Duration::from_secs(5400));
/// ```
#[must_use]
pub fn at_most(written: Option<&str>, usual: Duration) -> Duration {
    written.and_then(duration).unwrap_or(usual)
}

fn is_duration(text: &str) -> Result<(), String> {
    match duration(text) {
        Some(_) => Ok(()),
        None => {
            Err(format!("must be a length of time such as 30s, 90m or 1h30m, and not {text:?}"))
        }
    }
}

/// Reads numbers with units: `1h30m`, `1.5s`, `250ms`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number * unit).ok()?)?;
        rest = &rest[end..];
    }
    Some(total)
}

/// Waiting for something that takes its time: asks again and again.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'s> {
    /// What is waited for, as a message says it: `the database is ready`.
    pub what: &'s str,
    /// How long to wait before asking again.
    pub every: Duration,
    /// How long to wait in all.
    pub at_most: Duration,
    /// Ends the waiting when the host wants an end.
    pub stop: &'s Stop,
}

impl Wait<'_> {
    /// Asks until there is an answer, and returns it.
    ///
    /// # Errors
    /// When asking fails, when it takes too long, or when the host wants an end.
    pub async fn until<T>(
        &self,
        diags: &mut Diagnostics,
        mut ask: impl AsyncFnMut(&mut Diagnostics) -> Answer<Option<T>>,
    ) -> Answer<T> {
        let begin = tokio::time::Instant::now();
        loop {
            if let Some(answer) = ask(diags).await? {
                return Ok(answer);
            }
            if begin.elapsed() + self.every > self.at_most {
                let detail = format!(
                    "Waited {}s until {}, and it has not come to that.",
                    self.at_most.as_secs_f64(),
                    self.what
                );
                return Err(diags.error(Diagnostic::error("Timed out", detail)));
            }
            tokio::select! {
                () = tokio::time::sleep(self.every) => {}
                () = self.stop.requested() => {
                    let detail = format!("It was not waited for any longer that {}.", self.what);
                    return Err(diags.error(Diagnostic::error("Interrupted", detail)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_as_go_writes_them() {
        let table = [
            ("30s", Some(30_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("250ms", Some(250)),
            ("", None),
            ("30", None),
            ("s", None),
            ("1d", None),
            ("1..5s", None),
        ];
        for (text, expected) in table {
            assert_eq!(duration(text), expected.map(Duration::from_millis), "{text}");
        }
    }

    #[tokio::test]
    async fn waiting_ends_with_an_answer_in_time_or_not() {
        let (switch, stop) = Stop::new();
        let ms = Duration::from_millis;
        let wait = Wait { what: "it is there", every: ms(1), at_most: ms(50), stop: &stop };
        let mut diags = Diagnostics::new();
        let mut n_asked = 0;
        let answer = wait.until(&mut diags, async |_| {
            n_asked += 1;
            Ok((n_asked == 3).then_some(n_asked))
        });
        assert_eq!(answer.await.ok(), Some(3));
        let never = async |_: &mut Diagnostics| Ok(None::<()>);
        assert!(Wait { at_most: ms(3), ..wait }.until(&mut diags, never).await.is_err());
        switch.request();
        assert!(Wait { every: ms(9), ..wait }.until(&mut diags, never).await.is_err());
        let said: Vec<_> = diags.iter().map(|problem| problem.summary.clone()).collect();
        assert_eq!(said, ["Timed out", "Interrupted"]);
    }
}
