//! Resolves references to resources and module calls: to one instance if a key follows the name, to
//! all of them if nothing follows it.

use formwork_lang::scope::ScopeStep;
use formwork_lang::syntax::Ident;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Value};

use super::{ModuleScope, attribute, unrecorded};
use crate::addr::{InstanceKey, Mode, ResourceName};
use crate::config::bad_reference;
use crate::eval::Expansion;
use crate::messages;

/// A reference to a resource, and the steps behind the first name.
struct ResourceReference<'r> {
    name: &'r ResourceName,
    span: Span,
    steps: &'r [ScopeStep],
    /// The number of steps that the name took.
    n_taken: usize,
}

/// A reference to something that may be repeated: its name, and the steps behind the name.
struct Repeated<'r> {
    name: String,
    span: Span,
    steps: &'r [ScopeStep],
    /// The number of steps that the name took.
    n_taken: usize,
}

/// The instances that the step behind the name of a repeated object picks.
enum Pick {
    One(InstanceKey),
    All,
}

impl ModuleScope<'_> {
    /// `data.TYPE.NAME…` and the like.
    pub(super) fn prefixed_resource(
        &self,
        diags: &mut Diagnostics,
        mode: Mode,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let kind = attribute(diags, root, steps.first())?;
        let name = attribute(diags, kind, steps.get(1))?;
        let resource = ResourceName::new(mode, &kind.name, &name.name);
        let (span, n_taken) = (root.span.to(name.span), 2);
        self.resource(diags, ResourceReference { name: &resource, span, steps, n_taken })
    }

    /// `TYPE.NAME…`
    pub(super) fn bare_resource(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let name = attribute(diags, root, steps.first())?;
        let resource = ResourceName::new(Mode::Managed, &root.name, &name.name);
        let (span, n_taken) = (root.span.to(name.span), 1);
        self.resource(diags, ResourceReference { name: &resource, span, steps, n_taken })
    }

    fn resource(
        &self,
        diags: &mut Diagnostics,
        reference: ResourceReference<'_>,
    ) -> Result<(Value, usize), Reported> {
        let ResourceReference { name, span, steps, n_taken } = reference;
        let Some(results) = self.module.resource(name) else {
            return Err(diags.error(bad_reference::resource(
                self.module.config(),
                &self.module.addr().path(),
                name,
                span,
            )));
        };
        let Some(expansion) = results.expansion() else {
            return match results.placeholder() {
                Some(value) => Ok((value.clone(), n_taken)),
                None => Err(unrecorded(diags, &name.to_string(), span)),
            };
        };
        let reference = Repeated { name: name.to_string(), span, steps, n_taken };
        match reference.pick(diags, expansion)? {
            Pick::One(key) => {
                // An instance that is not planned yet may turn out to be anything.
                let value = results.get(&key).cloned().unwrap_or_else(Value::dynamic);
                Ok((value, n_taken + usize::from(key != InstanceKey::None)))
            }
            Pick::All => Ok((results.whole().unwrap_or_else(Value::dynamic), n_taken)),
        }
    }

    /// `module.NAME…`
    pub(super) fn call(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let name = attribute(diags, root, steps.first())?;
        let span = root.span.to(name.span);
        let Some(results) = self.module.call(&name.name) else {
            return Err(diags.error(bad_reference::call(
                self.module.config(),
                &self.module.addr().path(),
                &name.name,
                span,
            )));
        };
        if let Some(placeholder) = results.placeholder() {
            return Ok((placeholder.clone(), 1));
        }
        let Some(expansion) = results.expansion() else {
            return Err(unrecorded(diags, &format!("module.{}", name.name), span));
        };
        let key = match (expansion, steps.get(1)) {
            (Expansion::Single, _) => Some(InstanceKey::None),
            (_, Some(ScopeStep::Index(key, _))) => instance_key(expansion, key),
            _ => None,
        };
        // Whatever is wrong with a key is said of the value of all instances.
        let Some((key, child)) = key.and_then(|key| Some((key.clone(), results.get(&key)?))) else {
            return Ok((results.whole().unwrap_or_else(Value::dynamic), 1));
        };
        let n_taken = 1 + usize::from(key != InstanceKey::None);
        // One output is read without building the object of all.
        if let Some(ScopeStep::Attribute(output)) = steps.get(n_taken)
            && let Some(value) = child.outputs.get(&output.name)
        {
            return Ok((value.clone(), n_taken + 1));
        }
        Ok((child.output_object(), n_taken))
    }
}

/// The instance that a key picks, if there is one.
fn instance_key(expansion: &Expansion, key: &Value) -> Option<InstanceKey> {
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

impl Repeated<'_> {
    fn pick(&self, diags: &mut Diagnostics, expansion: &Expansion) -> Result<Pick, Reported> {
        let (key, span) = match (expansion, self.steps.get(self.n_taken)) {
            (Expansion::Single, Some(ScopeStep::Index(_, span))) => {
                return Err(self.unexpected_key(diags, *span));
            }
            (Expansion::Single, _) => return Ok(Pick::One(InstanceKey::None)),
            (_, Some(ScopeStep::Attribute(_))) => return Err(self.missing_key(diags, expansion)),
            (_, Some(ScopeStep::Index(key, span))) => (key, *span),
            (_, None) => return Ok(Pick::All),
        };
        let key = match (expansion, key) {
            (Expansion::Count(_), Value::Number(at)) => {
                at.to_i64().and_then(|at| u64::try_from(at).ok()).map(InstanceKey::Int)
            }
            (Expansion::ForEach(_), Value::String(key)) => Some(InstanceKey::Str(key.clone())),
            // Unknown and marked keys, and keys to be converted, are for the evaluator.
            _ => return Ok(Pick::All),
        };
        match key.filter(|key| expansion.contains(key)) {
            Some(key) => Ok(Pick::One(key)),
            None => Err(self.no_such_instance(diags, expansion, span)),
        }
    }

    fn missing_key(&self, diags: &mut Diagnostics, expansion: &Expansion) -> Reported {
        let (argument, key) = match expansion {
            Expansion::ForEach(_) => ("for_each", "each.key"),
            Expansion::Single | Expansion::Count(_) => ("count", "count.index"),
        };
        diags.error(bad_reference::missing_key(&self.name, argument, key).at(self.span))
    }

    fn unexpected_key(&self, diags: &mut Diagnostics, key: Span) -> Reported {
        diags.error(bad_reference::unexpected_key(&self.name).at(self.span.to(key)))
    }

    fn no_such_instance(
        &self,
        diags: &mut Diagnostics,
        expansion: &Expansion,
        span: Span,
    ) -> Reported {
        let there = match expansion {
            Expansion::Count(0) => "it has no instances".to_owned(),
            Expansion::Count(n) => format!("its instances are numbered from 0 to {}", n - 1),
            _ if expansion.is_empty() => "it has no instances".to_owned(),
            _ => "its `for_each` has no such key".to_owned(),
        };
        diags.error(
            Diagnostic::error(
                messages::INVALID_INDEX,
                format!("`{}` has no instance with the given key: {there}.", self.name),
            )
            .at(span),
        )
    }
}
