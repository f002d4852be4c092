//! Prints the result as Markdown tables.

use std::fmt::Write as _;

use crate::limits::{Verdict, growth};
use crate::sample::Sample;
use crate::suite::Row;

/// All tables.
pub(crate) fn tables(rows: &[Row]) -> String {
    let mut text = String::from(
        "| measurement | N | wall | CPU | peak | Terraform wall | CPU | peak | wall ratio | CPU ratio |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        text.push_str(&line(row));
        text.push('\n');
    }
    let growths = growth(rows);
    if growths.is_empty() {
        return text;
    }
    text.push_str(
        "\n| measurement | CPU grows as N^ | between the two largest | memory for one more |\n|---|--:|--:|--:|\n",
    );
    for growth in growths {
        writeln!(
            text,
            "| {} {} | {:.2} | {:.2} | {:.1} KB |",
            growth.shape,
            growth.step.name(),
            growth.fitted,
            growth.last,
            growth.bytes / 1024.0
        )
        .ok();
    }
    text
}

/// One line of the first table.
pub(crate) fn line(row: &Row) -> String {
    let name = format!("{} {}", row.shape, row.step.name());
    let size = if row.size == 0 { String::new() } else { row.size.to_string() };
    let ours = costs(&row.ours);
    let Some(terraform) = &row.terraform else {
        return format!("| {name} | {size} | {ours} | | | | | |");
    };
    let bound = if terraform.capped { ">= " } else { "" };
    format!(
        "| {name} | {size} | {ours} | {} | {bound}{} | {bound}{} |",
        costs(terraform),
        ratio(terraform.wall / row.ours.wall),
        ratio(terraform.cpu / row.ours.cpu)
    )
}

fn costs(sample: &Sample) -> String {
    let bound = if sample.capped { ">= " } else { "" };
    let peak = sample.peak / 1e6;
    format!("{bound}{} | {bound}{} | {peak:.0} MB", seconds(sample.wall), seconds(sample.cpu))
}

fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

fn ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// Limits that hold and limits that do not.
pub(crate) fn verdicts(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let prefix = if verdict.holds { "holds " } else { "BROKEN" };
        format!("{prefix} {}\n", verdict.claim)
    };
    verdicts.iter().map(line).collect()
}
