//! Settles operations that an interrupted run left open.

/// The commands by which a user settles the operation that is open about an address.
#[must_use]
pub fn choices(addr: &str) -> String {
    let rows = [
        (format!("adopt {addr} ID"), "the object exists: take it into the state"),
        (format!("forget {addr}"), "it does not exist, or is not ours any more"),
        (format!("retry {addr}"), "nothing was done: do it again with the next apply"),
    ];
    let width = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let rows = rows.map(|(command, what)| format!("  formwork recover {command:width$}    {what}"));
    rows.join("\n")
}
