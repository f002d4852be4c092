//! Reasons for edges between vertices, and the message printed for a cycle. The flags behind an
//! order are each phase's own business.

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::{PhaseVertex, VertexKind as _};
use crate::config::Resource;
use crate::graph::{CyclicDraft, Edge};
use crate::messages;

/// Why one vertex waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeReason {
    /// The dependent refers to the dependency at this span.
    Reference(Span),
    /// The import id refers to the dependency at this span.
    ImportReference(Span),
    /// It is done by this provider.
    Provider,
    /// One is the module around the other.
    Module,
    /// Objects must go or come in this order.
    DestroyOrder(&'static str),
    /// The object is destroyed last, because its replacement is created first.
    CreateBeforeDestroy,
}

impl EdgeReason {
    /// Whether it is only about the order, and not about a need.
    pub(crate) fn is_order_only(self) -> bool {
        matches!(self, Self::DestroyOrder(_) | Self::CreateBeforeDestroy)
    }
}

/// Data needed to explain a cycle.
pub(crate) struct CycleExplanation<'a, V> {
    pub(crate) sources: &'a Sources,
    /// Returns the flag that has a vertex go last, and its location.
    pub(crate) flag: &'a dyn Fn(&V) -> Option<String>,
}

/// Reports each cycle with the span of every edge.
pub(crate) fn report_cycles<'c, V: PhaseVertex<'c>>(
    diags: &mut Diagnostics,
    sources: &Sources,
    cyclic: &CyclicDraft<V, EdgeReason>,
) -> Reported {
    CycleExplanation { sources, flag: &|_| None }.report_cycles(diags, cyclic)
}

impl<'c, V: PhaseVertex<'c>> CycleExplanation<'_, V> {
    /// Reports each cycle with the span of every edge, and the flags that forced it.
    pub(crate) fn report_cycles(
        &self,
        diags: &mut Diagnostics,
        cyclic: &CyclicDraft<V, EdgeReason>,
    ) -> Reported {
        let mut reported = None;
        for cycle in &cyclic.cycles {
            let edges: Vec<_> = cyclic.edges_of_cycle(cycle).collect();
            let lines: String = edges.iter().map(|edge| self.describe_edge(cyclic, edge)).collect();
            let first = edges.iter().find_map(|edge| match edge.reason {
                EdgeReason::Reference(span) | EdgeReason::ImportReference(span) => Some(span),
                _ => None,
            });
            let is_forced = edges.iter().any(|edge| edge.reason == EdgeReason::CreateBeforeDestroy);
            let advice = match first {
                _ if is_forced => {
                    "Set create_before_destroy for all of them or for none, or make the changes one after the other."
                }
                Some(_) => "Take one of the mentions away to break the cycle.",
                None => {
                    "The configuration contains none of this. It comes from the state. Destroy or remove some of them first, with the option -target or `formwork state rm`."
                }
            };
            let detail =
                format!("Each of these needs the next before it can be done:{lines}\n\n{advice}");
            let names: Vec<_> = cycle.0.iter().map(|&id| cyclic.draft[id].to_string()).collect();
            let diagnostic =
                Diagnostic::error(messages::CYCLE_OF_VALUES.with(&[&names.join(", ")]), detail);
            reported = Some(diags.error(diagnostic.at_opt(first)));
        }
        // Not reached, because a draft that cannot be frozen has a cycle. `Reported` needs a report
        // all the same.
        reported.unwrap_or_else(|| {
            let detail = "The graph has a cycle that could not be shown.";
            diags.error(Diagnostic::error(messages::CYCLE, detail))
        })
    }

    fn describe_edge(
        &self,
        cyclic: &CyclicDraft<V, EdgeReason>,
        edge: &Edge<EdgeReason>,
    ) -> String {
        let (dependent, dependency) =
            (&cyclic.draft[edge.dependent], &cyclic.draft[edge.dependency]);
        let because = match edge.reason {
            EdgeReason::Reference(span) => {
                let argument =
                    dependent.resource_block().and_then(|block| argument_of_reference(block, span));
                let dependent = argument.map_or("it".to_owned(), |name| format!("its {name}"));
                format!("{dependent} mentions it at {}", format_span(self.sources, span))
            }
            EdgeReason::ImportReference(span) => {
                let at = format_span(self.sources, span);
                format!("the import block for it mentions it at {at}")
            }
            EdgeReason::Provider => "it is done by that provider".to_owned(),
            EdgeReason::Module => "it belongs to that module, or is the end of it".to_owned(),
            EdgeReason::DestroyOrder(order) => format!("it {order}"),
            EdgeReason::CreateBeforeDestroy => {
                let flag = (self.flag)(dependent).map(|flag| format!(": {flag}"));
                format!(
                    "it is destroyed only when its successor and its users are there{}",
                    flag.unwrap_or_default()
                )
            }
        };
        format!("\n  - {dependent} needs {dependency}: {because}")
    }
}

/// Formats a span for messages: file, line and columns.
pub(crate) fn format_span(sources: &Sources, span: Span) -> String {
    let at = sources.start_position(span);
    format!("{}:{},{}", sources.name(span.source), at.line, at.column)
}

/// The argument of a resource that contains a reference, if the kind of the argument matters.
fn argument_of_reference(block: &Resource, span: Span) -> Option<&'static str> {
    if block.depends_on.iter().any(|it| it.whole == span) {
        return Some("depends_on");
    }
    let triggers = &block.lifecycle.replace_triggered_by;
    triggers.iter().any(|it| it.span.covers(span)).then_some("replace_triggered_by")
}
