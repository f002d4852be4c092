//! Checks the references of an expression before it is evaluated. Only validation does this; its
//! evaluation stops at an invalid reference, and the rest of the expression is not checked.

use formwork_lang::decode;
use formwork_lang::eval;
use formwork_lang::refs::{self, Traversal};
use formwork_lang::syntax::{Body, Expr};
use formwork_value::schema::Block;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Value};

use super::ModuleScope;
use crate::addr::{Reference, ReferenceSubject, ResourceName};
use crate::config::bad_reference;
use crate::messages;

/// The context of a reference in a configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceLocation<'s> {
    /// The resource that `self` means.
    pub resource: Option<&'s ResourceName>,
    /// The `check` block around it.
    pub check: Option<&'s Str>,
}

/// Returns the problems of a reference that show without any value. The number is that of the module's
/// node.
pub type StaticReferenceCheck<'c> =
    dyn Fn(usize, ReferenceLocation<'_>, &Reference) -> Vec<Diagnostic> + 'c;

impl ModuleScope<'_> {
    /// Returns the problems of references: those that are found without values, otherwise those of names that
    /// are undefined in this scope.
    fn traversal_problems(&self, traversals: &[Traversal]) -> Vec<Diagnostic> {
        if self.check.is_none() {
            return Vec::new();
        }
        let mut problems = Diagnostics::new();
        let references = traversals
            .iter()
            .filter_map(|traversal| Reference::from_traversal(&mut problems, traversal).ok());
        let references: Vec<Reference> = references.collect();
        problems.into_iter().chain(self.reference_problems(&references)).collect()
    }

    fn reference_problems(&self, references: &[Reference]) -> Vec<Diagnostic> {
        let Some(check) = self.check else { return Vec::new() };
        let node = self.module_results().node_index();
        let in_static = |reference: &Reference| match reference.subject {
            ReferenceSubject::SelfObject if !self.has_self() => {
                vec![bad_reference::self_without_object_error(reference.span)]
            }
            _ => check(node, self.site, reference),
        };
        let problems: Vec<Diagnostic> = references.iter().flat_map(in_static).collect();
        if !problems.is_empty() {
            return problems;
        }
        references
            .iter()
            .filter_map(|reference| self.meaningless_reference_problem(reference))
            .collect()
    }

    /// Checks references that are not part of an expression, as in `depends_on`: each must be a whole object
    /// that exists. Existence is checked up to the first problem.
    ///
    /// # Errors
    /// When a reference is not to a whole existing object.
    pub fn check_whole_object_references(
        &self,
        diags: &mut Diagnostics,
        references: &[Reference],
    ) -> Result<(), Reported> {
        if self.check.is_none() {
            return Ok(());
        }
        let mut reference_diags = Diagnostics::new();
        for reference in references {
            if let Some(problem) = bad_reference::depends_on_part_error(reference) {
                let _ = reference_diags.error(problem);
            }
            if !reference_diags.has_errors() {
                for problem in self.reference_problems(std::slice::from_ref(reference)) {
                    let _ = reference_diags.push(problem);
                }
            }
        }
        diags.append(reference_diags)
    }

    /// Checks the references in expressions.
    ///
    /// # Errors
    /// When a reference is invalid.
    pub fn check_references<'e>(
        &self,
        diags: &mut Diagnostics,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), Reported> {
        if self.check.is_none() {
            return Ok(());
        }
        let traversals: Vec<Traversal> =
            exprs.into_iter().flat_map(refs::traversals_of_expr).collect();
        report_problems(diags, self.traversal_problems(&traversals))
    }
}

/// Evaluates an expression if its references are valid.
///
/// # Errors
/// When a reference is invalid, or the evaluation fails.
pub fn evaluate_checked(
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<Value, Reported> {
    scope.check_references(diags, [expr])?;
    eval::evaluate(diags, expr, scope)
}

/// Evaluates an expression, even with invalid references, and reports both. A problem of a
/// reference is reported once.
///
/// # Errors
/// When a reference is invalid, or the evaluation fails.
pub fn evaluate_despite_problems(
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<Value, Reported> {
    let traversals =
        if scope.check.is_some() { refs::traversals_of_expr(expr) } else { Vec::new() };
    let problems = scope.traversal_problems(&traversals);
    let mut eval_diags = Diagnostics::new();
    let value = eval::evaluate(&mut eval_diags, expr, scope);
    let mut rest = Diagnostics::new();
    for mut problem in remove_repeated_diagnostics(eval_diags, &traversals, &problems) {
        // As in Terraform, conditions do not distinguish the kinds of unknown functions.
        if problem.is_about_message(messages::UNKNOWN_PROVIDER_FUNCTION) {
            problem = problem.with_summary(messages::CALL_TO_UNKNOWN_FUNCTION);
        }
        let _ = rest.push(problem);
    }
    // An error that was left out repeats a problem.
    let _ = diags.append(rest);
    report_problems(diags, problems).and(value)
}

/// Leaves out diagnostics within references that have a problem: they repeat it.
fn remove_repeated_diagnostics(
    eval_diags: Diagnostics,
    traversals: &[Traversal],
    problems: &[Diagnostic],
) -> Vec<Diagnostic> {
    let is_wrong = |traversal: &&Traversal| {
        let mut spans = problems.iter().filter_map(|problem| problem.subject);
        spans.any(|span| traversal.span.covers(span))
    };
    let wrong: Vec<Span> =
        traversals.iter().filter(is_wrong).map(|traversal| traversal.span).collect();
    let repeats = |problem: &Diagnostic| {
        let at = problem.subject;
        wrong.iter().any(|span| at.is_some_and(|at| span.covers(at)))
    };
    eval_diags.into_iter().filter(|problem| !repeats(problem)).collect()
}

/// Decodes a body if the references in the parts that the schema declares are valid. References
/// that determine the number of blocks do not prevent the check of the others.
///
/// # Errors
/// When a reference is invalid, or the body does not fit the schema.
pub fn decode_body_checked(
    diags: &mut Diagnostics,
    body: &Body,
    schema: &Block,
    scope: &ModuleScope<'_>,
) -> Result<Value, Reported> {
    if scope.check.is_none() {
        return decode::evaluate_body(diags, body, schema, scope);
    }
    let references = refs::references_of_content(body, schema);
    let problems = scope.traversal_problems(&references.repetitions);
    let values = scope.traversal_problems(&references.values);
    if !values.is_empty() {
        // The value is never used: the second report is an error.
        return report_problems(diags, problems)
            .and(report_problems(diags, values))
            .map(|()| Value::dynamic());
    }
    let mut eval_diags = Diagnostics::new();
    let value = decode::evaluate_body(&mut eval_diags, body, schema, scope);
    let mut rest = Diagnostics::new();
    for problem in remove_repeated_diagnostics(eval_diags, &references.repetitions, &problems) {
        let _ = rest.push(problem);
    }
    let _ = diags.append(rest);
    report_problems(diags, problems).and(value)
}

fn report_problems(diags: &mut Diagnostics, problems: Vec<Diagnostic>) -> Result<(), Reported> {
    let mut result = Ok(());
    for problem in problems {
        result = Err(diags.error(problem));
    }
    result
}
