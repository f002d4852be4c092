//! Resolves references to resources and module calls: to one instance if a key follows the name, to
//! all of them if nothing follows it.

use formwork_lang::scope::ScopeStep;
use formwork_lang::syntax::Ident;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Value};

use super::{ModuleScope, expect_attribute};
use crate::addr::{InstanceKey, ResourceMode, ResourceName};
use crate::config::bad_reference;
use crate::eval::Expansion;
use crate::messages;

/// A reference to a resource, and the steps after the first name.
struct ResourceReference<'r> {
    name: &'r ResourceName,
    span: Span,
    steps: &'r [ScopeStep],
    /// The number of steps that the name took.
    n_taken: usize,
}

/// A reference to an object that may be repeated: its name, and the steps after the name.
struct RepeatedReference<'r> {
    name: String,
    span: Span,
    steps: &'r [ScopeStep],
    /// The number of steps that the name took.
    n_taken: usize,
}

/// The instances that the step after the name of a repeated object selects.
enum PickedInstances {
    One(InstanceKey),
    All,
}

impl ModuleScope<'_> {
    /// `data.TYPE.NAME…` and the like.
    pub(super) fn resolve_prefixed_resource(
        &self,
        diags: &mut Diagnostics,
        mode: ResourceMode,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let kind = expect_attribute(diags, root, steps.first())?;
        let name = expect_attribute(diags, kind, steps.get(1))?;
        let resource = ResourceName::new(mode, &kind.name, &name.name);
        let (span, n_taken) = (root.span.to(name.span), 2);
        self.resolve_resource(diags, ResourceReference { name: &resource, span, steps, n_taken })
    }

    /// `TYPE.NAME…`
    pub(super) fn resolve_bare_resource(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let name = expect_attribute(diags, root, steps.first())?;
        let resource = ResourceName::new(ResourceMode::Managed, &root.name, &name.name);
        let (span, n_taken) = (root.span.to(name.span), 1);
        self.resolve_resource(diags, ResourceReference { name: &resource, span, steps, n_taken })
    }

    fn resolve_resource(
        &self,
        diags: &mut Diagnostics,
        reference: ResourceReference<'_>,
    ) -> Result<(Value, usize), Reported> {
        let ResourceReference { name, span, steps, n_taken } = reference;
        let Some(results) = self.module.resource_results(name) else {
            return Err(diags.error(bad_reference::undeclared_resource_error(
                self.module.module_config(),
                &self.module.module_addr().path(),
                name,
                span,
            )));
        };
        let Some(expansion) = results.expansion() else {
            return match results.placeholder() {
                Some(value) => Ok((value.clone(), n_taken)),
                None => {
                    Ok((self.report_unrecorded_value(diags, &name.to_string(), span)?, n_taken))
                }
            };
        };
        let reference = RepeatedReference { name: name.to_string(), span, steps, n_taken };
        match reference.pick_instances(diags, expansion)? {
            PickedInstances::One(key) => {
                // An instance that is not planned yet may have any value.
                let value = results.get_instance(&key).cloned().unwrap_or_else(Value::dynamic);
                Ok((value, n_taken + usize::from(key != InstanceKey::None)))
            }
            PickedInstances::All => {
                Ok((results.combined_value().unwrap_or_else(Value::dynamic), n_taken))
            }
        }
    }

    /// `module.NAME…`
    pub(super) fn resolve_module_call(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let name = expect_attribute(diags, root, steps.first())?;
        let span = root.span.to(name.span);
        let Some(results) = self.module.call_results(&name.name) else {
            return Err(diags.error(bad_reference::undeclared_module_call_error(
                self.module.module_config(),
                &self.module.module_addr().path(),
                &name.name,
                span,
            )));
        };
        if let Some(placeholder) = results.placeholder() {
            return Ok((placeholder.clone(), 1));
        }
        let Some(expansion) = results.expansion() else {
            return Ok((
                self.report_unrecorded_value(diags, &format!("module.{}", name.name), span)?,
                1,
            ));
        };
        let key = match (expansion, steps.get(1)) {
            (Expansion::Single, _) => Some(InstanceKey::None),
            (_, Some(ScopeStep::Index(key, _))) => find_instance_key(expansion, key),
            _ => None,
        };
        // An error in a key is reported for the value of all instances.
        let Some((key, child)) =
            key.and_then(|key| Some((key.clone(), results.instance_results(&key)?)))
        else {
            return Ok((results.combined_value().unwrap_or_else(Value::dynamic), 1));
        };
        let n_taken = 1 + usize::from(key != InstanceKey::None);
        // A single output is read without building the object of all outputs.
        if let Some(ScopeStep::Attribute(output)) = steps.get(n_taken)
            && let Some(value) = child.outputs.get(&output.name)
        {
            return Ok((value.clone(), n_taken + 1));
        }
        Ok((child.output_object(), n_taken))
    }
}

/// The instance that a key selects, if it exists.
fn find_instance_key(expansion: &Expansion, key: &Value) -> Option<InstanceKey> {
    let key = match (expansion, key) {
        (Expansion::Count(_), Value::Number(at)) => {
            at.to_i64().and_then(|at| u64::try_from(at).ok()).map(InstanceKey::Int)
        }
        (Expansion::ForEach(_), Value::String(key)) => Some(InstanceKey::Str(key.clone())),
        // Unknown and marked keys, and keys to be converted, are for the evaluator.
        _ => None,
    };
    key.filter(|key| expansion.contains(key))
}

impl RepeatedReference<'_> {
    fn pick_instances(
        &self,
        diags: &mut Diagnostics,
        expansion: &Expansion,
    ) -> Result<PickedInstances, Reported> {
        let (key, span) = match (expansion, self.steps.get(self.n_taken)) {
            (Expansion::Single, Some(ScopeStep::Index(_, span))) => {
                return Err(self.report_unexpected_key(diags, *span));
            }
            (Expansion::Single, _) => return Ok(PickedInstances::One(InstanceKey::None)),
            (_, Some(ScopeStep::Attribute(_))) => {
                return Err(self.report_missing_key(diags, expansion));
            }
            (_, Some(ScopeStep::Index(key, span))) => (key, *span),
            (_, None) => return Ok(PickedInstances::All),
        };
        let key = match (expansion, key) {
            (Expansion::Count(_), Value::Number(at)) => {
                at.to_i64().and_then(|at| u64::try_from(at).ok()).map(InstanceKey::Int)
            }
            (Expansion::ForEach(_), Value::String(key)) => Some(InstanceKey::Str(key.clone())),
            // Unknown and marked keys, and keys to be converted, are for the evaluator.
            _ => return Ok(PickedInstances::All),
        };
        match key.filter(|key| expansion.contains(key)) {
            Some(key) => Ok(PickedInstances::One(key)),
            None => Err(self.report_missing_instance(diags, expansion, span)),
        }
    }

    fn report_missing_key(&self, diags: &mut Diagnostics, expansion: &Expansion) -> Reported {
        let (argument, key) = match expansion {
            Expansion::ForEach(_) => ("for_each", "each.key"),
            Expansion::Single | Expansion::Count(_) => ("count", "count.index"),
        };
        diags.error(
            bad_reference::missing_instance_key_error(&self.name, argument, key).at(self.span),
        )
    }

    fn report_unexpected_key(&self, diags: &mut Diagnostics, key: Span) -> Reported {
        diags.error(bad_reference::unexpected_instance_key_error(&self.name).at(self.span.to(key)))
    }

    fn report_missing_instance(
        &self,
        diags: &mut Diagnostics,
        expansion: &Expansion,
        span: Span,
    ) -> Reported {
        let existing = match expansion {
            Expansion::Count(0) => "it has no instances".to_owned(),
            Expansion::Count(n) => format!("its instances are numbered from 0 to {}", n - 1),
            _ if expansion.is_empty() => "it has no instances".to_owned(),
            _ => "its `for_each` has no such key".to_owned(),
        };
        diags.error(
            Diagnostic::error(
                messages::INVALID_INDEX,
                format!("`{}` has no instance with the given key: {existing}.", self.name),
            )
            .at(span),
        )
    }
}
