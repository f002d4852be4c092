//! Why one vertex waits for another, and what is said when they wait for each other.

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use crate::graph::Cyclic;

/// Why one vertex waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It mentions it here.
    Mention(Span),
    /// What is imported into it mentions it here.
    Import(Span),
    /// It is done by this provider.
    Provider,
    /// One is the module around the other.
    Module,
    /// Objects must go or come in this order.
    Order(&'static str),
}

/// Reports each cycle with the place of every edge.
pub(crate) fn report_cycles<V: std::fmt::Display>(
    diags: &mut Diagnostics,
    sources: &Sources,
    cyclic: &Cyclic<V, Why>,
) -> Reported {
    let mut reported = None;
    for cycle in &cyclic.cycles {
        let mut lines = String::new();
        let mut first = None;
        for edge in cyclic.edges(cycle) {
            let (dependent, dependency) =
                (&cyclic.draft[edge.dependent], &cyclic.draft[edge.dependency]);
            let because = match edge.why {
                Why::Mention(span) | Why::Import(span) => {
                    first = first.or(Some(span));
                    let (name, at) = (sources.name(span.source), sources.start(span));
                    format!("mentions it at {name}:{},{}", at.line, at.column)
                }
                Why::Provider => "is done by that provider".to_owned(),
                Why::Module => "belongs to that module, or is the end of it".to_owned(),
                Why::Order(order) => order.to_owned(),
            };
            lines.push_str(&format!("\n  - {dependent} needs {dependency}: it {because}"));
        }
        let names: Vec<_> = cycle.0.iter().map(|&id| cyclic.draft[id].to_string()).collect();
        let detail = format!(
            "Each of these needs the next before it can be done:{lines}\n\nTake one of the mentions away to break the cycle."
        );
        let diagnostic = Diagnostic::error(format!("Cycle: {}", names.join(", ")), detail);
        reported = Some(diags.error(diagnostic.at_opt(first)));
    }
    reported.unwrap_or_else(|| {
        diags.error(Diagnostic::error("Cycle", "The graph has a cycle that could not be shown."))
    })
}
