//! The subject of a reference in an expression, determined only by its form.
//!
//! Only a caller that has the configuration can determine whether the subject exists.

use std::fmt::{Display, Formatter};

use formwork_lang::refs::{Traversal, TraversalStep};
use formwork_lang::syntax::Ident;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::{InstanceKey, ResourceMode, ResourceName};
use crate::messages;

/// A reference to an object, with the steps into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The subject.
    pub subject: ReferenceSubject,
    /// The constant steps after the subject, including instance keys.
    pub remaining: Vec<TraversalStep>,
    /// The span of the names that identify the subject.
    pub span: Span,
    /// The span of the whole reference, as far as it is constant.
    pub whole: Span,
}

/// The subject of a reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceSubject {
    /// `var.NAME`
    Variable(Str),
    /// `local.NAME`
    Local(Str),
    /// `TYPE.NAME`, `data.TYPE.NAME`: all instances, or those the remaining steps pick.
    Resource(ResourceName),
    /// `module.NAME`: all instances and outputs, or those the remaining steps pick.
    Module(Str),
    /// `count.NAME`
    Count(Str),
    /// `each.NAME`
    Each(Str),
    /// `path.NAME`
    Path(Str),
    /// `terraform.NAME`
    Terraform(Str),
    /// `self`
    SelfObject,
}

impl Reference {
    /// Parses a reference.
    ///
    /// # Errors
    /// When the traversal is not a valid reference. The error is reported at the traversal.
    pub fn from_traversal(
        diags: &mut Diagnostics,
        traversal: &Traversal,
    ) -> Result<Self, Reported> {
        let reference = Self::from_traversal_root(diags, traversal)?;
        let repeats = matches!(
            reference.subject,
            ReferenceSubject::Resource(_) | ReferenceSubject::Module(_)
        );
        match reference.remaining.first() {
            Some(TraversalStep::Index(at, span)) if repeats && at.to_i64().is_none() => {
                let detail = format!(
                    "The instances of `{}` are numbered from 0, so none of them can be number {at}.",
                    reference.subject
                );
                Err(diags.error(Diagnostic::error(messages::INVALID_INDEX_KEY, detail).at(*span)))
            }
            _ => Ok(reference),
        }
    }

    fn from_traversal_root(
        diags: &mut Diagnostics,
        traversal: &Traversal,
    ) -> Result<Self, Reported> {
        let root = &traversal.root;
        let named_subject = |subject: fn(Str) -> ReferenceSubject, diags: &mut Diagnostics| {
            let name = expect_attribute_after_root(diags, traversal)?;
            Ok(Self::new(traversal, subject(name.name.clone()), 1, name.span))
        };
        match root.name.as_str() {
            "var" => named_subject(ReferenceSubject::Variable, diags),
            "local" => named_subject(ReferenceSubject::Local, diags),
            "module" => named_subject(ReferenceSubject::Module, diags),
            "count" => named_subject(ReferenceSubject::Count, diags),
            "each" => named_subject(ReferenceSubject::Each, diags),
            "path" => named_subject(ReferenceSubject::Path, diags),
            "terraform" => named_subject(ReferenceSubject::Terraform, diags),
            "self" => Ok(Self::new(traversal, ReferenceSubject::SelfObject, 0, root.span)),
            "data" => parse_resource_reference(diags, traversal, ResourceMode::Data, true),
            "ephemeral" => parse_resource_reference(diags, traversal, ResourceMode::Ephemeral, true),
            "resource" => parse_resource_reference(diags, traversal, ResourceMode::Managed, true),
            "arg" | "lazy" | "template" => Err(diags.error(
                Diagnostic::error(
                    messages::RESERVED_SYMBOL_NAME,
                    format!(
                        "The symbol name \"{name}\" is reserved for use in a future Formwork version. If you are using a provider that already uses this as a resource type name, add the prefix \"resource.\" to force interpretation as a resource type name.",
                        name = root.name
                    ),
                )
                .at(root.span),
            )),
            _ => parse_resource_reference(diags, traversal, ResourceMode::Managed, false),
        }
    }

    fn new(traversal: &Traversal, subject: ReferenceSubject, n_taken: usize, last: Span) -> Self {
        Self {
            subject,
            remaining: traversal.steps.get(n_taken..).unwrap_or_default().to_vec(),
            span: traversal.root.span.to(last),
            whole: traversal.span,
        }
    }

    /// The instance that the first remaining step picks, if it is a constant key.
    #[must_use]
    pub fn instance_key(&self) -> Option<InstanceKey> {
        match self.remaining.first()? {
            TraversalStep::Key(key, _) => Some(InstanceKey::Str(key.clone())),
            TraversalStep::Index(at, _) => {
                at.to_i64().and_then(|at| u64::try_from(at).ok()).map(InstanceKey::Int)
            }
            TraversalStep::Attribute(_) | TraversalStep::Splat(_) => None,
        }
    }

    /// The output that a reference to a module picks, if it picks one.
    #[must_use]
    pub fn module_output(&self) -> Option<&Ident> {
        if !matches!(self.subject, ReferenceSubject::Module(_)) {
            return None;
        }
        match self.remaining.as_slice() {
            [TraversalStep::Attribute(name), ..] => Some(name),
            [
                TraversalStep::Key(..) | TraversalStep::Index(..),
                TraversalStep::Attribute(name),
                ..,
            ] => Some(name),
            _ => None,
        }
    }

    /// The resource, if the subject is one.
    #[must_use]
    pub fn resource_name(&self) -> Option<&ResourceName> {
        match &self.subject {
            ReferenceSubject::Resource(name) => Some(name),
            _ => None,
        }
    }
}

fn invalid_reference_error(span: Span, detail: String) -> Diagnostic {
    Diagnostic::error(messages::INVALID_REFERENCE, detail).at(span)
}

/// The one attribute that must follow the root.
fn expect_attribute_after_root<'t>(
    diags: &mut Diagnostics,
    traversal: &'t Traversal,
) -> Result<&'t Ident, Reported> {
    let root = &traversal.root;
    match traversal.steps.first() {
        Some(TraversalStep::Attribute(name)) => Ok(name),
        Some(step) => Err(diags.error(invalid_reference_error(
            step_span(step),
            format!(
                "The \"{0}\" object does not support this operation. Name one of its attributes: `{0}.NAME`.",
                root.name
            ),
        ))),
        None => Err(diags.error(invalid_reference_error(
            traversal.span,
            format!(
                "The \"{0}\" object cannot be accessed directly. Instead, access one of its attributes.",
                root.name
            ),
        ))),
    }
}

fn parse_resource_reference(
    diags: &mut Diagnostics,
    traversal: &Traversal,
    mode: ResourceMode,
    prefixed: bool,
) -> Result<Reference, Reported> {
    let root = &traversal.root;
    let steps = &traversal.steps;
    let name_at = |at: usize| match steps.get(at) {
        Some(TraversalStep::Attribute(name)) => Some(name),
        _ => None,
    };
    let (kind, name, n_taken) =
        if prefixed { (name_at(0), name_at(1), 2) } else { (Some(root), name_at(0), 1) };
    if let (Some(kind), Some(name)) = (kind, name) {
        let subject = ReferenceSubject::Resource(ResourceName::new(mode, &kind.name, &name.name));
        return Ok(Reference::new(traversal, subject, n_taken, name.span));
    }
    let detail = if prefixed {
        let first = match mode {
            ResourceMode::Data => "data source type",
            ResourceMode::Managed | ResourceMode::Ephemeral => "resource type",
        };
        format!(
            "The {0:?} object must be followed by two attribute names: the {first} and the resource name.",
            root.name.as_str()
        )
    } else {
        format!(
            "A reference to a resource type must be followed by at least one attribute access, specifying the resource name. Write `{0}.NAME`, or {0:?} for a string.",
            root.name
        )
    };
    // The error is at the first step that is not a name; without one, at the whole reference.
    let bad = steps.iter().find(|step| !matches!(step, TraversalStep::Attribute(_)));
    Err(diags.error(invalid_reference_error(bad.map_or(traversal.span, step_span), detail)))
}

/// The span of a step.
#[must_use]
pub fn step_span(step: &TraversalStep) -> Span {
    match step {
        TraversalStep::Attribute(name) => name.span,
        TraversalStep::Key(_, span)
        | TraversalStep::Index(_, span)
        | TraversalStep::Splat(span) => *span,
    }
}

impl Display for ReferenceSubject {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "var.{name}"),
            Self::Local(name) => write!(f, "local.{name}"),
            Self::Resource(name) => name.fmt(f),
            Self::Module(name) => write!(f, "module.{name}"),
            Self::Count(name) => write!(f, "count.{name}"),
            Self::Each(name) => write!(f, "each.{name}"),
            Self::Path(name) => write!(f, "path.{name}"),
            Self::Terraform(name) => write!(f, "terraform.{name}"),
            Self::SelfObject => f.write_str("self"),
        }
    }
}
