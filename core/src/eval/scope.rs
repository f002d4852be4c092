//! What names mean within one instance of a module: [`Scope`] over [`ModuleResults`].

mod resource;

use formwork_lang::functions::Function;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::Ident;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Value};

use super::{ModuleResults, RepetitionData, World};
use crate::addr::Mode;
use crate::config::undeclared;

/// What names mean within one instance of a module, or of a resource in it.
#[derive(Clone)]
pub struct ModuleScope<'a> {
    module: &'a ModuleResults,
    world: &'a World,
    repetition: RepetitionData,
    self_object: Option<Value>,
}

impl<'a> ModuleScope<'a> {
    /// The scope of a module instance: without `count`, `each` and `self`.
    #[must_use]
    pub fn new(module: &'a ModuleResults, world: &'a World) -> Self {
        Self { module, world, repetition: RepetitionData::default(), self_object: None }
    }

    /// The same scope within one instance of something repeated.
    #[must_use]
    pub fn repeated(self, repetition: RepetitionData) -> Self {
        Self { repetition, ..self }
    }

    /// The same scope with an object that `self` means.
    #[must_use]
    pub fn with_self(self, object: Value) -> Self {
        Self { self_object: Some(object), ..self }
    }

    /// The module instance.
    #[must_use]
    pub fn module(&self) -> &'a ModuleResults {
        self.module
    }

    fn variable(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        if !self.module.config().variables.contains_key(&name.name) {
            return Err(diags.error(undeclared::variable(self.module.config(), name, span)));
        }
        let value = self.module.variables.get(&name.name);
        value.cloned().ok_or_else(|| unrecorded(diags, &format!("var.{}", name.name), span))
    }

    fn local(&self, diags: &mut Diagnostics, name: &Ident, span: Span) -> Result<Value, Reported> {
        if !self.module.config().locals.contains_key(&name.name) {
            return Err(diags.error(undeclared::local(self.module.config(), name, span)));
        }
        let value = self.module.locals.get(&name.name);
        value.cloned().ok_or_else(|| unrecorded(diags, &format!("local.{}", name.name), span))
    }

    fn path(&self, diags: &mut Diagnostics, name: &Ident, span: Span) -> Result<Value, Reported> {
        match name.name.as_str() {
            "cwd" => Ok(Value::String(self.world.cwd.clone())),
            "root" => Ok(Value::String(self.world.root.clone())),
            "module" if self.module.addr().is_root() => Ok(Value::String(self.world.root.clone())),
            "module" => Ok(Value::string(self.module.config().dir.to_string_lossy().into_owned())),
            _ => Err(diags.error(
                Diagnostic::error(
                    "Invalid \"path\" attribute",
                    format!("`path` has no `{}`; it has `cwd`, `module` and `root`.", name.name),
                )
                .at(span),
            )),
        }
    }

    fn terraform(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        let detail = match name.name.as_str() {
            "workspace" => return Ok(Value::String(self.world.workspace.clone())),
            "applying" => return Ok(Value::Bool(self.world.applying).mark(Marks::EPHEMERAL)),
            "env" => "`terraform.env` is now called `terraform.workspace`.".to_owned(),
            other => {
                format!("`terraform` has no `{other}`; it has `workspace` and `applying`.")
            }
        };
        Err(diags.error(Diagnostic::error("Invalid \"terraform\" attribute", detail).at(span)))
    }

    fn count(&self, diags: &mut Diagnostics, name: &Ident, span: Span) -> Result<Value, Reported> {
        if name.name != "index" {
            return Err(diags.error(
                Diagnostic::error(
                    "Invalid \"count\" attribute",
                    format!("`count` has no `{}`; it has `index`.", name.name),
                )
                .at(span),
            ));
        }
        self.repetition.count_index.clone().ok_or_else(|| {
            diags.error(
                Diagnostic::error(
                    "Reference to \"count\" in non-counted context",
                    "`count.index` is there only within blocks that have a `count` argument.",
                )
                .at(span),
            )
        })
    }

    fn each(&self, diags: &mut Diagnostics, name: &Ident, span: Span) -> Result<Value, Reported> {
        let value = match name.name.as_str() {
            "key" => &self.repetition.each_key,
            "value" => &self.repetition.each_value,
            other => {
                return Err(diags.error(
                    Diagnostic::error(
                        "Invalid \"each\" attribute",
                        format!("`each` has no `{other}`; it has `key` and `value`."),
                    )
                    .at(span),
                ));
            }
        };
        value.clone().ok_or_else(|| {
            // A key without a value is what an instance has whose element is gone.
            let (summary, detail) = if name.name == "value" && self.repetition.each_key.is_some() {
                (
                    "each.value cannot be used in this context",
                    "The element that this instance was made for is no longer in `for_each`.",
                )
            } else {
                (
                    "Reference to \"each\" in context without for_each",
                    "`each` is there only within blocks that have a `for_each` argument.",
                )
            };
            diags.error(Diagnostic::error(summary, detail).at(span))
        })
    }

    fn self_object(&self, diags: &mut Diagnostics, root: &Ident) -> Result<Value, Reported> {
        self.self_object.clone().ok_or_else(|| {
            diags.error(
                Diagnostic::error(
                    "Invalid \"self\" reference",
                    "`self` is there only within postconditions, provisioners and connections, where \
                     it means the object of that resource.",
                )
                .at(root.span),
            )
        })
    }
}

/// Reports that something was read before it was recorded.
fn unrecorded(diags: &mut Diagnostics, name: &str, span: Span) -> Reported {
    diags.error(
        Diagnostic::error(
            "Value read too early",
            format!(
                "`{name}` was needed before it was known. This is a mistake in Formwork, not in the \
                 configuration; please report it."
            ),
        )
        .blame(Blame::Internal)
        .at(span),
    )
}

/// The attribute that must follow a name.
fn attribute<'s>(
    diags: &mut Diagnostics,
    root: &Ident,
    step: Option<&'s ScopeStep>,
) -> Result<&'s Ident, Reported> {
    let (span, detail) = match step {
        Some(ScopeStep::Attribute(name)) => return Ok(name),
        Some(ScopeStep::Index(_, span)) => {
            (*span, format!("`{0}` takes no key here; a name must follow: `{0}.NAME`.", root.name))
        }
        None => (root.span, format!("`{0}` is no value by itself; a name must follow.", root.name)),
    };
    Err(diags.error(Diagnostic::error("Invalid reference", detail).at(span)))
}

/// Answers for `root.NAME`; the span covers both.
type Named<S> = fn(&S, &mut Diagnostics, &Ident, Span) -> Result<Value, Reported>;

impl Scope for ModuleScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let simple = |value: Named<Self>, diags: &mut Diagnostics| {
            let name = attribute(diags, root, steps.first())?;
            Ok((value(self, diags, name, root.span.to(name.span))?, 1))
        };
        match root.name.as_str() {
            "var" => simple(Self::variable, diags),
            "local" => simple(Self::local, diags),
            "path" => simple(Self::path, diags),
            "terraform" => simple(Self::terraform, diags),
            "count" => simple(Self::count, diags),
            "each" => simple(Self::each, diags),
            "self" => Ok((self.self_object(diags, root)?, 0)),
            "module" => self.call(diags, root, steps),
            "data" => self.prefixed_resource(diags, Mode::Data, root, steps),
            "ephemeral" => self.prefixed_resource(diags, Mode::Ephemeral, root, steps),
            "resource" => self.prefixed_resource(diags, Mode::Managed, root, steps),
            _ => self.bare_resource(diags, root, steps),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        let _ = name;
        None
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}
