//! The results as a table.

use std::fmt::Write as _;

use crate::cycle::Tally;
use crate::options::Program;

/// The rows in Markdown.
pub(crate) fn markdown(rows: &[(&Program, Tally)]) -> String {
    let mut text = "\
| program | kills | at a write | of a provider | others in between | lost | duplicated | torn | stuck | wrong | cycles | in flight, named | found again by the engine | decided by a person |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"
    .to_owned();
    for (program, tally) in rows {
        let numbers = [
            tally.kills,
            tally.kills_at_writes,
            tally.kills_of_providers,
            tally.between,
            tally.lost,
            tally.duplicated,
            tally.torn,
            tally.stuck,
            tally.wrong,
            tally.turned,
            tally.named,
            tally.found,
            tally.decided,
        ];
        let cells: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        // A `String` never refuses to be written to.
        writeln!(text, "| {} | {} |", program.name(), cells.join(" | ")).ok();
    }
    text
}
