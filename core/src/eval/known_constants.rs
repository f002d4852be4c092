//! Values that are the same in every evaluation: those of expressions that depend only on
//! other such values. A run evaluates a configuration more than once, to validate it, to plan it
//! and to apply the plan. Such values are evaluated once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use formwork_lang::eval::evaluate;
use formwork_lang::functions::{
    ClockAndRandom, FileFailure, FileKind, Function, FunctionHost, HostFiles,
};
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Expr, Ident};
use formwork_value::{Diagnostics, Reported, Str, Value};
use time::OffsetDateTime;

use super::ModuleScope;

/// The constants of a configuration that were found so far.
#[derive(Debug, Default)]
pub struct KnownConstants(RefCell<BTreeMap<usize, ModuleConstants>>);

/// The constants of a module.
#[derive(Debug, Default)]
struct ModuleConstants {
    locals: BTreeMap<Str, Value>,
    outputs: BTreeMap<Str, Value>,
}

/// A value that may be a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConstantCandidate<'c> {
    Local(&'c Str),
    Output(&'c Str),
}

impl ConstantCandidate<'_> {
    fn known_value(self, constants: &ModuleConstants) -> Option<&Value> {
        match self {
            Self::Local(name) => constants.locals.get(name),
            Self::Output(name) => constants.outputs.get(name),
        }
    }

    fn remember_value(self, constants: &mut ModuleConstants, value: Value) {
        match self {
            Self::Local(name) => constants.locals.insert(name.clone(), value),
            Self::Output(name) => constants.outputs.insert(name.clone(), value),
        };
    }
}

impl KnownConstants {
    /// Evaluates the expression of a name in a module, unless it is known to be a constant.
    ///
    /// # Errors
    /// When the evaluation of the expression fails.
    pub(super) fn evaluate_or_recall(
        &self,
        diags: &mut Diagnostics,
        candidate: ConstantCandidate<'_>,
        expr: &Expr,
        scope: &ModuleScope<'_>,
    ) -> Result<Value, Reported> {
        let node = scope.module_results().node_index();
        if let Some(value) =
            self.0.borrow().get(&node).and_then(|constants| candidate.known_value(constants))
        {
            return Ok(value.clone());
        }
        scope.check_references(diags, [expr])?;
        let witness =
            DependencyTrackingScope { scope, constants: self, node, has_asked: Cell::new(false) };
        let mut eval_diags = Diagnostics::new();
        let value = evaluate(&mut eval_diags, expr, &witness);
        // A value with diagnostics is not stored, so that they are reported each time.
        if let (Ok(value), false) = (&value, witness.has_asked.get() || !eval_diags.is_empty()) {
            candidate.remember_value(self.0.borrow_mut().entry(node).or_default(), value.clone());
        }
        // With errors, `value` is already an error.
        let _ = diags.append(eval_diags);
        value
    }

    fn is_constant_local(&self, node: usize, local: &Str) -> bool {
        self.0.borrow().get(&node).is_some_and(|constants| constants.locals.contains_key(local))
    }
}

/// A scope that records whether the evaluation used anything that can change between evaluations.
struct DependencyTrackingScope<'w> {
    scope: &'w ModuleScope<'w>,
    constants: &'w KnownConstants,
    node: usize,
    has_asked: Cell<bool>,
}

impl DependencyTrackingScope<'_> {
    fn tracked_scope(&self) -> &ModuleScope<'_> {
        self.has_asked.set(true);
        self.scope
    }
}

impl Scope for DependencyTrackingScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let is_constant = match (root.name.as_str(), steps.first()) {
            ("path", _) => true,
            ("local", Some(ScopeStep::Attribute(local))) => {
                self.constants.is_constant_local(self.node, &local.name)
            }
            _ => false,
        };
        let scope = if is_constant { self.scope } else { self.tracked_scope() };
        scope.resolve(diags, root, steps)
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        // The result of a provider's function, and even its existence, may not be known yet.
        let scope = if name.starts_with("provider::") { self.tracked_scope() } else { self.scope };
        scope.lookup_function(name)
    }

    fn calls_forbidden_reason(&self) -> Option<&str> {
        self.scope.calls_forbidden_reason()
    }

    fn missing_function_reason(&self, name: &str) -> String {
        self.scope.missing_function_reason(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.scope.function_names()
    }

    fn has_no_names(&self) -> bool {
        self.scope.has_no_names()
    }

    fn host(&self) -> FunctionHost<'_> {
        FunctionHost { files: self, clock_and_random: self }
    }
}

impl HostFiles for DependencyTrackingScope<'_> {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileFailure> {
        self.tracked_scope().host().files.read_file(path)
    }

    fn file_kind(&self, path: &str) -> Result<FileKind, FileFailure> {
        self.tracked_scope().host().files.file_kind(path)
    }

    fn list_dir(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        self.tracked_scope().host().files.list_dir(path)
    }

    fn current_dir(&self) -> Option<String> {
        self.tracked_scope().host().files.current_dir()
    }

    fn home_dir(&self) -> Option<String> {
        self.tracked_scope().host().files.home_dir()
    }
}

impl ClockAndRandom for DependencyTrackingScope<'_> {
    fn current_time(&self) -> Option<OffsetDateTime> {
        self.tracked_scope().host().clock_and_random.current_time()
    }

    fn plan_time(&self) -> Option<OffsetDateTime> {
        self.tracked_scope().host().clock_and_random.plan_time()
    }

    fn random_bytes(&self) -> Option<[u8; 16]> {
        self.tracked_scope().host().clock_and_random.random_bytes()
    }
}

#[cfg(test)]
mod tests;
