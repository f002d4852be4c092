//! Selects open operations: by address, by pattern, or all of them.

use std::collections::BTreeSet;

use formwork_core::addr::{InstanceAddr, Target};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::import::parse_managed_instance_addr;
use crate::messages;
use crate::state_session::StateSession;

/// The open operations that a command settles.
///
/// ```
/// use formwork_operation::recover::OperationSelection;
///
/// let patterns = ["module.a.*".to_owned()];
/// assert_ne!(OperationSelection::Matching(&patterns), OperationSelection::All);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationSelection<'a> {
    /// All open operations.
    All,
    /// The operations with these addresses or patterns, such as `module.a.*`. Each has to match
    /// something.
    Matching(&'a [String]),
}

/// Selects the addresses of open operations. The address of an instance is returned as given, even
/// if it is the instance's current address.
///
/// # Errors
/// Returns an error if an address or pattern matches nothing, or if the selection is empty.
pub(super) fn select_unresolved_addresses(
    diags: &mut Diagnostics,
    locked: &StateSession,
    selection: OperationSelection<'_>,
) -> Result<Vec<InstanceAddr>, Reported> {
    let open: BTreeSet<&InstanceAddr> =
        locked.unresolved_needing_decision().map(|operation| &operation.addr).collect();
    let patterns = match selection {
        OperationSelection::All => return Ok(open.into_iter().cloned().collect()),
        OperationSelection::Matching(patterns) => patterns,
    };
    // An empty list must not select all operations: a script may have lost its arguments.
    if patterns.is_empty() {
        let detail =
            "Specify the instance, or use -all for everything that `formwork recover list` shows.";
        return Err(diags.error(Diagnostic::error(messages::NO_OPERATION_SELECTED, detail)));
    }
    let mut selected = Vec::new();
    for pattern in patterns {
        let matching = unresolved_addresses_matching(diags, locked, pattern)?;
        selected.extend(
            matching.into_iter().filter(|addr| !selected.contains(addr)).collect::<Vec<_>>(),
        );
    }
    Ok(selected)
}

fn unresolved_addresses_matching(
    diags: &mut Diagnostics,
    locked: &StateSession,
    pattern: &str,
) -> Result<Vec<InstanceAddr>, Reported> {
    let exact: Option<InstanceAddr> = pattern.parse().ok();
    let is_open = |addr: &InstanceAddr| {
        locked
            .unresolved_needing_decision()
            .any(|operation| operation.addr == *addr || operation.current_addr() == addr)
    };
    // An exact address takes precedence: as a target it would also select all instances of the
    // resource.
    if let Some(addr) = exact.filter(is_open) {
        return Ok(vec![addr]);
    }
    let target: Option<Target> = pattern.parse().ok();
    let matches = |addr: &InstanceAddr| match &target {
        Some(target) => target.contains(addr),
        None => matches_pattern(pattern, &addr.to_string()),
    };
    let open: BTreeSet<&InstanceAddr> =
        locked.unresolved_needing_decision().map(|operation| &operation.addr).collect();
    let matching: Vec<_> = open.into_iter().filter(|addr| matches(addr)).cloned().collect();
    if !matching.is_empty() {
        return Ok(matching);
    }
    if target.is_none() && pattern.contains('*') {
        let detail = format!(
            "No open operation has an address like {pattern:?}. `formwork recover list` lists the open operations."
        );
        return Err(diags.error(Diagnostic::error(messages::NOTHING_TO_SETTLE, detail)));
    }
    // Checked last, because a pattern is not necessarily an address.
    let addr = parse_managed_instance_addr(diags, pattern)?;
    Err(diags.error(locked.no_single_open_operation_error(&addr)))
}

/// Whether a string matches a pattern in which `*` matches any string.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut remaining) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        // The first match is sufficient: it leaves the most text for the following parts.
        let Some(position) = remaining.find(part) else { return false };
        remaining = &remaining[position + part.len()..];
    }
    remaining.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_matches_any_string() {
        for (pattern, text) in [
            ("a.b", "a.b"),
            ("a.*", "a.b"),
            ("*", "a.b"),
            ("*.b", "a.b"),
            ("module.*.b[*]", "module.m.b[0]"),
            ("a*b*c", "abbc"),
        ] {
            assert!(matches_pattern(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a.*", "b.a"), ("a.b", "a.bc"), ("*.b", "a.bc"), ("a*c*b", "ab")] {
            assert!(!matches_pattern(pattern, text), "{pattern} {text}");
        }
    }
}
