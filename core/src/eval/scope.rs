//! The scope of names within one instance of a module: [`Scope`] over [`ModuleResults`].

mod destroyed;
mod function;
mod resource;

pub use self::destroyed::DestroyedObjectScope;

use std::path::Path;

use formwork_lang::functions::{Function, FunctionHost, builtin_names, find_builtin};
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::Ident;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Str, Value};

use super::check_references::{ReferenceLocation, StaticReferenceCheck};
use super::{HostValues, ModuleResults, RepetitionData, TestValues};
use crate::addr::{Reference, ReferenceSubject, ResourceMode};
use crate::config::bad_reference;
use crate::messages;

/// The scope of names within one instance of a module, or of a resource in it.
#[derive(Clone)]
pub struct ModuleScope<'a> {
    module: &'a ModuleResults,
    world: &'a HostValues,
    repetition: RepetitionData,
    self_object: Option<Value>,
    /// A variable whose value is validated before it is recorded.
    validated: Option<(Str, Value)>,
    /// Checks references before anything is evaluated.
    pub(super) check: Option<&'a StaticReferenceCheck<'a>>,
    pub(super) site: ReferenceLocation<'a>,
    /// Names that only test files have.
    test: Option<&'a TestValues>,
}

impl<'a> ModuleScope<'a> {
    /// The scope of a module instance: without `count`, `each` and `self`.
    #[must_use]
    pub fn new(module: &'a ModuleResults, world: &'a HostValues) -> Self {
        let repetition = RepetitionData::default();
        let site = ReferenceLocation::default();
        let (self_object, validated, check, test) = (None, None, None, None);
        Self { module, world, repetition, self_object, validated, check, site, test }
    }

    /// The same scope within an instance of a repeated object.
    #[must_use]
    pub fn with_repetition(self, repetition: RepetitionData) -> Self {
        Self { repetition, ..self }
    }

    /// The same scope with an object that `self` means.
    #[must_use]
    pub fn with_self(self, object: Value) -> Self {
        Self { self_object: Some(object), ..self }
    }

    /// The same scope with a value for a variable that takes precedence over the recorded one.
    #[must_use]
    pub fn with_variable(self, name: Str, value: Value) -> Self {
        Self { validated: Some((name, value)), ..self }
    }

    /// The same scope, in which references are checked before an expression is evaluated.
    #[must_use]
    pub fn with_reference_check(self, check: Option<&'a StaticReferenceCheck<'a>>) -> Self {
        Self { check, ..self }
    }

    /// The same scope, in which the names of a test file have a meaning, too.
    #[must_use]
    pub fn with_test_values(self, test: &'a TestValues) -> Self {
        Self { test: Some(test), ..self }
    }

    /// The same scope in another context.
    #[must_use]
    pub fn at_location(self, site: ReferenceLocation<'a>) -> Self {
        Self { site, ..self }
    }

    /// The module instance.
    #[must_use]
    pub fn module_results(&self) -> &'a ModuleResults {
        self.module
    }

    pub(super) fn has_self(&self) -> bool {
        self.self_object.is_some()
    }

    /// The problem of a reference whose name means nothing in this scope.
    pub(super) fn meaningless_reference_problem(
        &self,
        reference: &Reference,
    ) -> Option<Diagnostic> {
        let (config, span) = (self.module.module_config(), reference.span);
        let of_object = |object, name: &Str| {
            let is_known =
                bad_reference::builtin_object_attributes(object).contains(&name.as_str());
            (!is_known).then(|| bad_reference::unknown_builtin_attribute_error(object, name, span))
        };
        let repetition = &self.repetition;
        match &reference.subject {
            ReferenceSubject::Variable(name) => (!config.variables.contains_key(name))
                .then(|| bad_reference::undeclared_variable_error(config, name, span)),
            ReferenceSubject::Local(name) => (!config.locals.contains_key(name))
                .then(|| bad_reference::undeclared_local_error(config, name, span)),
            ReferenceSubject::Count(name) => of_object("count", name).or_else(|| {
                repetition
                    .count_index
                    .is_none()
                    .then(|| bad_reference::count_without_count_error(span))
            }),
            ReferenceSubject::Each(name) => of_object("each", name).or_else(|| {
                repetition
                    .each_key
                    .is_none()
                    .then(|| bad_reference::each_without_for_each_error(name, span))
            }),
            ReferenceSubject::Path(name) => of_object("path", name),
            ReferenceSubject::Terraform(name) => of_object("terraform", name),
            ReferenceSubject::Resource(_)
            | ReferenceSubject::Module(_)
            | ReferenceSubject::SelfObject => None,
        }
    }

    fn resolve_variable(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        // First check the declaration: a wrong name is an error of the author, a missing value
        // an error of this program.
        if !self.module.module_config().variables.contains_key(&name.name) {
            if let Some(value) = self.test.and_then(|test| test.variables.get(&name.name)) {
                return Ok(value.clone());
            }
            return Err(diags.error(bad_reference::undeclared_variable_error(
                self.module.module_config(),
                &name.name,
                span,
            )));
        }
        if let Some((validated, value)) = &self.validated
            && *validated == name.name
        {
            return Ok(value.clone());
        }
        // A value that its validations refuse is not recorded, but a test may expect that.
        let of_test = self.test.and_then(|test| test.variables.get(&name.name));
        let value = self.module.variables.get(&name.name).or(of_test);
        value.cloned().map_or_else(
            || self.report_unrecorded_value(diags, &format!("var.{}", name.name), span),
            Ok,
        )
    }

    /// Reports that a value was read before it was recorded. In a test it is unknown: a failure that
    /// the test expects may have prevented its evaluation.
    fn report_unrecorded_value(
        &self,
        diags: &mut Diagnostics,
        name: &str,
        span: Span,
    ) -> Result<Value, Reported> {
        if self.test.is_some() {
            return Ok(Value::dynamic());
        }
        let detail = format!(
            "`{name}` was needed before it was known. This is a bug in Formwork, not an error in the configuration; please report it."
        );
        let problem = Diagnostic::error(messages::VALUE_READ_TOO_EARLY, detail);
        Err(diags.error(problem.blamed_on(Blame::Internal).at(span)))
    }

    fn resolve_local(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        if !self.module.module_config().locals.contains_key(&name.name) {
            return Err(diags.error(bad_reference::undeclared_local_error(
                self.module.module_config(),
                &name.name,
                span,
            )));
        }
        let value = self.module.locals.get(&name.name);
        value.cloned().map_or_else(
            || self.report_unrecorded_value(diags, &format!("local.{}", name.name), span),
            Ok,
        )
    }

    fn resolve_output(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        if !self.module.module_config().outputs.contains_key(&name.name) {
            let detail = format!(
                "An output value with the name {:?} has not been declared.",
                name.name.as_str()
            );
            let problem = Diagnostic::error(messages::REFERENCE_TO_UNDECLARED_OUTPUT, detail);
            return Err(diags.error(problem.at(span)));
        }
        let value = self.module.outputs.get(&name.name);
        Ok(value.cloned().unwrap_or_else(Value::dynamic))
    }

    fn resolve_run(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        self.test.map_or_else(|| Ok(Value::dynamic()), |test| test.run_outputs(diags, name, span))
    }

    fn resolve_path(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        let directory = self.module.module_config().dir.as_path();
        // In the root module it is the value of `path.root`, not the directory that was opened.
        let directory = (!self.module.module_addr().is_root()).then_some(directory);
        self.world.resolve_path_attribute(diags, directory, name, span)
    }

    fn resolve_terraform(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        resolve_terraform_attribute(diags, self.world, name, span)
    }

    fn resolve_count(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        if name.name != "index" {
            return Err(diags
                .error(bad_reference::unknown_builtin_attribute_error("count", &name.name, span)));
        }
        let index = self.repetition.count_index.clone();
        index.ok_or_else(|| diags.error(bad_reference::count_without_count_error(span)))
    }

    fn resolve_each(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        let value = match name.name.as_str() {
            "key" => &self.repetition.each_key,
            "value" => &self.repetition.each_value,
            other => {
                return Err(diags
                    .error(bad_reference::unknown_builtin_attribute_error("each", other, span)));
            }
        };
        value.clone().ok_or_else(|| {
            diags.error(bad_reference::each_without_for_each_error(&name.name, span))
        })
    }

    fn resolve_self(&self, diags: &mut Diagnostics, root: &Ident) -> Result<Value, Reported> {
        let object = self.self_object.clone();
        object.ok_or_else(|| diags.error(bad_reference::self_without_object_error(root.span)))
    }
}

impl HostValues {
    /// Resolves `path.NAME` in the root module, or in the module in this directory.
    pub(super) fn resolve_path_attribute(
        &self,
        diags: &mut Diagnostics,
        directory: Option<&Path>,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        match (name.name.as_str(), directory) {
            ("cwd", _) => Ok(Value::String(self.cwd.clone())),
            ("root", _) | ("module", None) => Ok(Value::String(self.root.clone())),
            ("module", Some(directory)) => {
                Ok(Value::string(directory.to_string_lossy().into_owned()))
            }
            (other, _) => {
                Err(diags
                    .error(bad_reference::unknown_builtin_attribute_error("path", other, span)))
            }
        }
    }
}

/// `terraform.NAME`.
pub(super) fn resolve_terraform_attribute(
    diags: &mut Diagnostics,
    world: &HostValues,
    name: &Ident,
    span: Span,
) -> Result<Value, Reported> {
    match name.name.as_str() {
        "workspace" => Ok(Value::String(world.workspace.clone())),
        // Ephemeral, as in Terraform, because it differs between plan and apply.
        "applying" => Ok(Value::Bool(world.applying).mark(Marks::EPHEMERAL)),
        other => Err(diags.error(bad_reference::unknown_builtin_attribute_error(
            "terraform",
            other,
            span,
        ))),
    }
}

/// The attribute that must follow a name.
pub(super) fn expect_attribute<'s>(
    diags: &mut Diagnostics,
    root: &Ident,
    step: Option<&'s ScopeStep>,
) -> Result<&'s Ident, Reported> {
    let (span, detail) = match step {
        Some(ScopeStep::Attribute(name)) => return Ok(name),
        Some(ScopeStep::Index(_, span)) => {
            (*span, format!("`{0}` does not accept a key here. Add a name: `{0}.NAME`.", root.name))
        }
        None => {
            (root.span, format!("`{0}` is not a value by itself: a name must follow.", root.name))
        }
    };
    Err(diags.error(Diagnostic::error(messages::INVALID_REFERENCE, detail).at(span)))
}

/// Answers for `root.NAME`; the span covers both.
type AttributeResolver<S> = fn(&S, &mut Diagnostics, &Ident, Span) -> Result<Value, Reported>;

impl Scope for ModuleScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let simple = |value: AttributeResolver<Self>, diags: &mut Diagnostics| {
            let name = expect_attribute(diags, root, steps.first())?;
            Ok((value(self, diags, name, root.span.to(name.span))?, 1))
        };
        match root.name.as_str() {
            "var" => simple(Self::resolve_variable, diags),
            "local" => simple(Self::resolve_local, diags),
            "path" => simple(Self::resolve_path, diags),
            "terraform" => simple(Self::resolve_terraform, diags),
            "count" => simple(Self::resolve_count, diags),
            "each" => simple(Self::resolve_each, diags),
            "self" => Ok((self.resolve_self(diags, root)?, 0)),
            "module" => self.resolve_module_call(diags, root, steps),
            "output" if self.test.is_some() => simple(Self::resolve_output, diags),
            "run" if self.test.is_some() => simple(Self::resolve_run, diags),
            "data" => self.resolve_prefixed_resource(diags, ResourceMode::Data, root, steps),
            "ephemeral" => {
                self.resolve_prefixed_resource(diags, ResourceMode::Ephemeral, root, steps)
            }
            "resource" => self.resolve_prefixed_resource(diags, ResourceMode::Managed, root, steps),
            _ => self.resolve_bare_resource(diags, root, steps),
        }
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        match name.strip_prefix("provider::") {
            Some(rest) => self.find_provider_function(rest),
            None => find_builtin(name).map(|function| function as &dyn Function),
        }
    }

    fn missing_function_reason(&self, name: &str) -> String {
        self.explain_missing_provider_function(name)
    }

    fn function_names(&self) -> Vec<String> {
        builtin_names().into_iter().chain(self.provider_function_names()).collect()
    }

    fn host(&self) -> FunctionHost<'_> {
        self.world.function_host()
    }
}
