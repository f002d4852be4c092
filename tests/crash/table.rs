//! The results as a table.

use std::fmt::Write as _;

use crate::cycle::Tally;
use crate::options::Program;

/// The rows in Markdown.
pub(crate) fn markdown(rows: &[(&Program, Tally)]) -> String {
    let mut text = "\
| program | kills | at a write | of a provider | cuts of the network | others in between | lost | duplicated | torn | stuck | wrong | cycles | in flight, named | found again by the engine | decided by a person | decisions per kill | most at once | commands | most per kill |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"
    .to_owned();
    for (program, tally) in rows {
        let numbers = [
            tally.kills,
            tally.kills_at_writes,
            tally.kills_of_providers,
            tally.cuts,
            tally.between,
            tally.lost,
            tally.duplicated,
            tally.torn,
            tally.stuck,
            tally.mismatched,
            tally.turned,
            tally.named,
            tally.resolved,
            tally.decided,
        ];
        let mut cells: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let hundredths = 100 * tally.decided / tally.kills.max(1);
        cells.push(format!("{}.{:02}", hundredths / 100, hundredths % 100));
        let counts = [tally.max_decided, tally.commands, tally.max_commands];
        cells.extend(counts.iter().map(ToString::to_string));
        // A `String` never refuses to be written to.
        writeln!(text, "| {} | {} |", program.name(), cells.join(" | ")).ok();
    }
    text
}
