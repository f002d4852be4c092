//! The counter of a long phase, in the last line of a terminal. It is erased before anything else is
//! printed.

use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use formwork_core::event::CountedPhase;

/// Duration of a phase after which its counter is shown.
const COUNTER_DELAY: Duration = Duration::from_secs(1);
/// Minimum time between two updates of the counter.
const MIN_COUNTER_INTERVAL: Duration = Duration::from_millis(100);
/// Returns to the beginning of the line and erases it.
const ERASE_SEQUENCE: &str = "\r\u{1b}[K";

/// Whether the last line of the terminal is a counter.
static IS_COUNTER_SHOWN: Mutex<bool> = Mutex::new(false);

/// The counter of one command.
#[derive(Debug)]
pub(crate) struct PhaseCounter {
    width: usize,
    phase: Option<CountedPhase>,
    began: Instant,
    changed: Option<Instant>,
}

impl PhaseCounter {
    /// Creates a counter for a terminal of this width. It does not print anything yet.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, phase: None, began: Instant::now(), changed: None }
    }

    /// Shows the progress of a phase, if the phase is long and the last update is not recent.
    pub(crate) fn show_progress(&mut self, phase: CountedPhase, done: usize, total: usize) {
        if let Some(text) = self.counter_text(phase, done, total, Instant::now()) {
            show_counter(&text);
        }
    }

    fn counter_text(
        &mut self,
        phase: CountedPhase,
        done: usize,
        total: usize,
        now: Instant,
    ) -> Option<String> {
        if self.phase != Some(phase) {
            (self.phase, self.began, self.changed) = (Some(phase), now, None);
        }
        let is_due = self
            .changed
            .is_none_or(|changed_at| now.duration_since(changed_at) >= MIN_COUNTER_INTERVAL);
        if now.duration_since(self.began) < COUNTER_DELAY || !is_due || done >= total {
            return None;
        }
        self.changed = Some(now);
        let phase_text = match phase {
            CountedPhase::Plan => "planned",
            CountedPhase::Apply => "applied",
        };
        let text = format!("{phase_text} {} of {}", group_digits(done), group_digits(total));
        // A wrapped line could not be erased.
        Some(text.chars().take(self.width.saturating_sub(1)).collect())
    }
}

fn show_counter(text: &str) {
    let mut is_shown = IS_COUNTER_SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stdout = std::io::stdout().lock();
    *is_shown = write!(stdout, "{ERASE_SEQUENCE}{text}").and_then(|()| stdout.flush()).is_ok();
}

/// Erases the counter, if one is shown.
pub(crate) fn erase_counter() {
    let mut is_shown = IS_COUNTER_SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *is_shown) {
        let mut stdout = std::io::stdout().lock();
        drop(stdout.write_all(ERASE_SEQUENCE.as_bytes()).and_then(|()| stdout.flush()));
    }
}

/// A number with commas between groups of three digits.
fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_phase_is_counted_and_a_short_one_is_not() {
        let mut counter = PhaseCounter::new(80);
        let start = Instant::now();
        let mut text_at = |ms: u64, phase, done| {
            counter.counter_text(phase, done, 1_234_567, start + Duration::from_millis(ms))
        };
        assert_eq!(text_at(0, CountedPhase::Plan, 1), None);
        assert_eq!(text_at(999, CountedPhase::Plan, 2), None);
        assert_eq!(
            text_at(1000, CountedPhase::Plan, 120).as_deref(),
            Some("planned 120 of 1,234,567")
        );
        assert_eq!(
            text_at(1050, CountedPhase::Plan, 121),
            None,
            "not more often than every 100 ms"
        );
        assert_eq!(
            text_at(1100, CountedPhase::Plan, 5000).as_deref(),
            Some("planned 5,000 of 1,234,567")
        );
        assert_eq!(text_at(1300, CountedPhase::Apply, 1), None, "another phase has just begun");
        assert_eq!(
            text_at(2300, CountedPhase::Apply, 3).as_deref(),
            Some("applied 3 of 1,234,567")
        );
        assert_eq!(text_at(2500, CountedPhase::Apply, 1_234_567), None, "it is over");
    }

    #[test]
    fn the_counter_is_cut_to_a_narrow_terminal() {
        let mut counter = PhaseCounter::new(20);
        let start = Instant::now();
        counter.counter_text(CountedPhase::Plan, 1, 1000, start);
        let text =
            counter.counter_text(CountedPhase::Plan, 999_999, 1_000_000, start + COUNTER_DELAY);
        assert_eq!(text.as_deref(), Some("planned 999,999 of "));
    }
}
