//! The configuration of one instance of a resource: evaluation of its block and its conditions. Each
//! phase handles the consequences itself.

use formwork_lang::decode::evaluate_body;
use formwork_value::diag::Severity;
use formwork_value::schema::Block;
use formwork_value::{Diagnostic, Diagnostics, Marks, Path, Reported, Span, Step, Value};

use super::find_written_span;
use crate::addr::{InstanceAddr, ResourceMode};
use crate::config::{ConditionBlock, IgnoreChanges, Resource, bad_reference};
use crate::eval::ModuleScope;
use crate::eval::condition_results::ConditionSubject;
use crate::eval::conditions::{self, ConditionContext, ConditionKind};
use crate::messages;
use crate::provider::{CallContext, ResourceType};
use crate::session::Session;

/// An instance of a resource of the configuration.
#[derive(Clone, Copy)]
pub(crate) struct InstanceConfig<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) config: &'a Resource,
    pub(crate) addr: &'a InstanceAddr,
    /// Severity of a failed condition.
    pub(crate) failure: Severity,
}

impl<'a> InstanceConfig<'a> {
    /// Returns the context for messages.
    pub(crate) fn call_context(self) -> CallContext<'a> {
        CallContext { addr: self.addr, block: Some(self.config.span) }
    }

    /// Evaluates the block if its preconditions hold.
    ///
    /// # Errors
    /// Returns an error if a precondition fails, or if the block has no value that fits the schema.
    pub(crate) async fn evaluate(
        self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        scope: &ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        let value = |diags: &mut Diagnostics| {
            // Preconditions are checked first, because their messages are the author's own explanation
            // of why the block has no value.
            self.evaluate_preconditions(diags, scope)?;
            check_ignored_changes(diags, &self.config.lifecycle.ignore_changes, ty.schema_block())?;
            evaluate_block(diags, self.config, ty.schema_block(), scope)
        };
        let value = self.session.evaluate_with_functions(diags, value).await?;
        // Before any call with the value: a provider may quote it in a diagnostic, or log it.
        ty.add_secrets(self.session.pool.secrets(), &value);
        Ok(value)
    }

    /// Evaluates only the preconditions.
    ///
    /// # Errors
    /// Returns an error if a condition fails with error severity.
    pub(crate) async fn check_preconditions(
        self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
    ) -> Result<(), Reported> {
        self.session
            .evaluate_with_functions(diags, |diags| self.evaluate_preconditions(diags, scope))
            .await
    }

    /// Evaluates the postconditions, with the object as `self`.
    ///
    /// # Errors
    /// Returns an error if a condition fails with error severity.
    pub(crate) async fn check_postconditions(
        self,
        diags: &mut Diagnostics,
        scope: ModuleScope<'_>,
        object: &Value,
    ) -> Result<(), Reported> {
        let postconditions = &self.config.lifecycle.postconditions;
        if postconditions.is_empty() {
            return Ok(());
        }
        let scope = scope.with_self(object.clone());
        let kind = ConditionKind::ResourcePostcondition;
        let check =
            |diags: &mut Diagnostics| self.evaluate_conditions(diags, &scope, kind, postconditions);
        self.session.evaluate_with_functions(diags, check).await
    }

    fn evaluate_preconditions(
        self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
    ) -> Result<(), Reported> {
        let preconditions = &self.config.lifecycle.preconditions;
        self.evaluate_conditions(diags, scope, ConditionKind::ResourcePrecondition, preconditions)
    }

    fn evaluate_conditions(
        self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
        kind: ConditionKind,
        conditions: &[ConditionBlock],
    ) -> Result<(), Reported> {
        let object = &ConditionSubject::of_instance(self.addr);
        let (verdicts, failure) = (&self.session.results.verdicts, self.failure);
        conditions::check_conditions(
            diags,
            scope,
            kind,
            conditions,
            ConditionContext { object, verdicts, failure },
        )
    }
}

/// Evaluates the block of an instance. Ephemeral values are accepted only in write-only attributes.
pub(crate) fn evaluate_block(
    diags: &mut Diagnostics,
    resource: &Resource,
    block: &Block,
    scope: &ModuleScope<'_>,
) -> Result<Value, Reported> {
    let config = evaluate_body(diags, &resource.body, block, scope)?;
    check_ephemeral_values(diags, resource, block, &config)?;
    Ok(config)
}

/// Checks that ephemeral values are used only in write-only attributes.
///
/// # Errors
/// Returns an error if one is used elsewhere. All are reported.
pub(crate) fn check_ephemeral_values(
    diags: &mut Diagnostics,
    resource: &Resource,
    block: &Block,
    config: &Value,
) -> Result<(), Reported> {
    let is_stored = resource.name.mode() != ResourceMode::Ephemeral;
    if !is_stored || !config.all_marks().contains(Marks::EPHEMERAL) {
        return Ok(());
    }
    let mut result = Ok(());
    let (_, marks) = config.clone().split_marks();
    for path in marks.paths_with(Marks::EPHEMERAL) {
        let attribute = block.attribute_at(path);
        // An ephemeral value may differ between plan and apply and must not reach the state. Only
        // write-only attributes guarantee both.
        if !attribute.is_some_and(|(attribute, _)| attribute.write_only) {
            let name = path.to_string();
            let detail = format!(
                "Ephemeral values are not valid for {:?}, because it is not a write-only attribute and must be persisted to state.",
                name.trim_start_matches('.')
            );
            let span = argument_span(resource, block, path).unwrap_or(resource.span);
            let problem = Diagnostic::error(messages::INVALID_USE_EPHEMERAL_VALUE, detail);
            result = Err(diags.error(problem.at(span)));
        }
    }
    result
}

/// Location of an argument. For an argument in a nested block, Terraform points at the resource.
fn argument_span(resource: &Resource, block: &Block, path: &Path) -> Option<Span> {
    match path.0.first() {
        Some(Step::Attribute(name)) if block.blocks.contains_key(name) => None,
        _ => find_written_span(&resource.body, path),
    }
}

/// Checks that the attributes that `ignore_changes` names exist.
///
/// # Errors
/// Returns an error if it names an attribute that the schema does not declare.
pub(crate) fn check_ignored_changes(
    diags: &mut Diagnostics,
    ignored: &IgnoreChanges,
    block: &Block,
) -> Result<(), Reported> {
    let IgnoreChanges::These(paths) = ignored else { return Ok(()) };
    let mut result = Ok(());
    for path in paths {
        let name = &path.root;
        if block.attributes.contains_key(&name.name) || block.blocks.contains_key(&name.name) {
            continue;
        }
        result =
            Err(diags
                .error(bad_reference::unknown_block_attribute_error(block, &name.name, name.span)));
    }
    result
}
