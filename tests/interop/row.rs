//! One line of the table that the comparisons print: the number of cases, and the number with the
//! same results.

use std::ops::AddAssign;

use super::expressions::Difference;

#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    cases: usize,
    same: usize,
    errors: usize,
    same_summary: usize,
    same_position: usize,
}

impl Row {
    /// Counts a case: whether it should fail, and the difference.
    pub(super) fn count(&mut self, should_fail: bool, difference: Option<Difference>) {
        self.cases += 1;
        self.same += usize::from(difference != Some(Difference::Value));
        if should_fail {
            self.errors += 1;
            self.same_position += usize::from(difference.is_none());
            self.same_summary +=
                usize::from(matches!(difference, None | Some(Difference::Position)));
        }
    }

    /// The line, under the name of the group.
    pub(super) fn line(&self, name: &str) -> String {
        let Self { cases, same, errors, same_summary, same_position } = *self;
        format!(
            "{name:<36} {cases:>5} cases: results {:>6}, {errors:>5} that fail: summaries {:>6}, places {:>6}",
            percent(same, cases),
            percent(same_summary, errors),
            percent(same_position, errors),
        )
    }
}

impl AddAssign for Row {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.same += other.same;
        self.errors += other.errors;
        self.same_summary += other.same_summary;
        self.same_position += other.same_position;
    }
}

fn percent(part: usize, total: usize) -> String {
    if total == 0 {
        return "-".to_owned();
    }
    // Rounded down: all is all.
    let tenths = part * 1_000 / total;
    format!("{}.{} %", tenths / 10, tenths % 10)
}
