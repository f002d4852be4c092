//! Reads `lifecycle` blocks: the treatment of a resource beyond its provider's decisions.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::refs;
use formwork_lang::syntax::{Attribute, Block, Expr};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::arguments::{format_span, take_bool_argument};
use super::{IgnoreChanges, Lifecycle, condition, traversal};
use crate::addr::{Reference, ReferenceSubject, ResourceMode};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("create_before_destroy", false),
        ("prevent_destroy", false),
        ("ignore_changes", false),
        ("replace_triggered_by", false),
    ],
    blocks: &[("precondition", &[]), ("postcondition", &[])],
};

impl Lifecycle {
    /// Whether a reference is written in `replace_triggered_by`.
    pub(crate) fn has_replace_trigger(&self, reference: &Reference) -> bool {
        let inner = reference.whole;
        self.replace_triggered_by.iter().any(|trigger| {
            let outer = trigger.span;
            outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
        })
    }
}

/// Reads the `lifecycle` blocks of a resource, of which there may be one. Invalid parts are
/// reported and left out.
pub(super) fn read_lifecycle(
    diags: &mut Diagnostics,
    sources: &Sources,
    mode: ResourceMode,
    blocks: Vec<Block>,
) -> Lifecycle {
    let mut blocks = blocks.into_iter();
    let Some(block) = blocks.next() else { return Lifecycle::default() };
    for duplicate in blocks {
        let first = format_span(sources, block.header);
        let _ = diags.error(
            Diagnostic::error(
                messages::DUPLICATE_LIFECYCLE_BLOCK,
                format!("This resource already has a lifecycle block at {first}."),
            )
            .at(duplicate.header),
        );
    }
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    content.attributes.retain(|_, attribute| check_allowed_in_mode(diags, mode, attribute));
    let first = content.attributes.get("create_before_destroy");
    let create_before_destroy_span = first.map(|attribute| attribute.name.span);
    Lifecycle {
        create_before_destroy_span,
        preconditions: condition::read_conditions(
            diags,
            sources,
            content.take_blocks("precondition"),
        ),
        postconditions: condition::read_conditions(
            diags,
            sources,
            content.take_blocks("postcondition"),
        ),
        create_before_destroy: take_bool_argument(diags, &mut content, "create_before_destroy"),
        prevent_destroy: take_bool_argument(diags, &mut content, "prevent_destroy")
            .unwrap_or(false),
        ignore_changes: content
            .take_attribute("ignore_changes")
            .and_then(|attribute| read_ignore_changes(diags, attribute.expr).ok())
            .unwrap_or_default(),
        replace_triggered_by: content
            .take_attribute("replace_triggered_by")
            .and_then(|attribute| read_replace_triggered_by(diags, attribute.expr).ok())
            .unwrap_or_default(),
    }
}

/// Reports an argument that is defined only for managed resources.
fn check_allowed_in_mode(
    diags: &mut Diagnostics,
    mode: ResourceMode,
    attribute: &Attribute,
) -> bool {
    let block_type = match mode {
        ResourceMode::Managed => return true,
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    };
    let _ = diags.error(
        Diagnostic::error(
            messages::INVALID_RESOURCE_LIFECYCLE_ARGUMENT.with(&[&block_type]),
            format!(
                "The lifecycle argument {:?} is defined only for managed resources (\"resource\" blocks), and is not valid for {block_type} resources.",
                attribute.name.name
            ),
        )
        .at(attribute.name.span),
    );
    false
}

fn read_ignore_changes(diags: &mut Diagnostics, expr: Expr) -> Result<IgnoreChanges, Reported> {
    if expr.as_keyword() == Some("all") {
        return Ok(IgnoreChanges::All);
    }
    let list = expr.span;
    let items = traversal::expect_list_entries(diags, expr)?;
    let is_wildcard = |item: &Expr| item.as_string_literal().is_some_and(|text| text == "*");
    if let Some(wildcard) = items.iter().find(|item| is_wildcard(item))
        && items.len() > 1
    {
        let detail = "The string \"*\" cannot be combined with references.";
        let problem = Diagnostic::error(messages::INVALID_IGNORE_CHANGES_RULESET, detail);
        let _ = diags.error(problem.at(wildcard.span));
    }
    let mut these = Vec::with_capacity(items.len());
    for item in &items {
        if is_wildcard(item) {
            let _ = diags.error(
                Diagnostic::error(
                    messages::INVALID_IGNORE_CHANGES_WILDCARD,
                    "The [\"*\"] form of ignore_changes wildcard is was deprecated and is now invalid. Use \"ignore_changes = all\" to ignore changes to all attributes.",
                )
                .at(list),
            );
        } else if let Ok(traversal) = traversal::parse_traversal_expr(diags, item) {
            these.push(traversal);
        }
    }
    Ok(IgnoreChanges::These(these))
}

fn read_replace_triggered_by(diags: &mut Diagnostics, expr: Expr) -> Result<Vec<Expr>, Reported> {
    let items = traversal::expect_list_entries(diags, expr)?;
    let items: Vec<Expr> =
        items.into_iter().map(|item| item.into_native_expr(diags)).collect::<Result<_, _>>()?;
    let mut trigger_diags = Diagnostics::new();
    for item in &items {
        check_replace_trigger(&mut trigger_diags, item);
        if trigger_diags.has_errors() {
            break;
        }
    }
    // Invalid entries are reported; the others are used.
    let _ = diags.append(trigger_diags);
    Ok(items)
}

/// Reports an entry that does not pick a managed resource or a part of one.
fn check_replace_trigger(diags: &mut Diagnostics, expr: &Expr) {
    let mut n_resources = 0;
    let mut reference_diags = Diagnostics::new();
    let traversals = refs::traversals_of_expr(expr);
    let references = traversals
        .iter()
        .filter_map(|traversal| Reference::from_traversal(&mut reference_diags, traversal).ok());
    let references: Vec<Reference> = references.collect();
    if reference_diags.has_errors() {
        for problem in reference_diags {
            let _ = diags.push(problem.at(expr.span));
        }
        return;
    }
    for reference in references {
        match &reference.subject {
            ReferenceSubject::Resource(name) if name.mode() == ResourceMode::Managed => {
                n_resources += 1;
            }
            ReferenceSubject::Each(part) if part != "key" => {
                let detail = format!(
                    "`each.{part}` cannot be used here. Only `each.key` is known before the objects are."
                );
                let summary = messages::INVALID_EACH_IN_REPLACE_TRIGGERED_BY;
                let _ = diags.error(Diagnostic::error(summary, detail).at(expr.span));
                return;
            }
            ReferenceSubject::Count(_) | ReferenceSubject::Each(_) => {}
            other => {
                let _ = diags.error(
                    Diagnostic::error(
                        messages::INVALID_REFERENCE_IN_REPLACE_TRIGGERED_BY,
                        format!(
                            "Only resources, count.index, and each.key may be used in replace_triggered_by. `{other}` was found."
                        ),
                    )
                    .at(expr.span),
                );
                return;
            }
        }
    }
    if n_resources != 1 {
        let _ = diags.error(
            Diagnostic::error(
                messages::INVALID_REPLACE_TRIGGERED_BY_EXPRESSION,
                if n_resources == 0 {
                    "Missing resource reference in replace_triggered_by expression."
                } else {
                    "Multiple resource references in replace_triggered_by expression."
                },
            )
            .at(expr.span),
        );
    }
}
