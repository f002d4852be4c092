//! References to attributes that the schema of a resource does not have. They are errors even where
//! `try` or `can` would suppress the error of evaluation, and are found without any value.
//! Evaluates nothing.

use std::rc::Rc;

use formwork_lang::eval::access;
use formwork_lang::refs::{self, TraversalStep};
use formwork_lang::syntax::Expr;
use formwork_value::schema::{Block, NestedBlock, Nesting, Role};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Value};

use super::vertex_kind::AnyPlanVertex;
use crate::addr::{Reference, ReferenceSubject, ResourceName, is_identifier};
use crate::config::{self, Config, IgnoreChanges, ModuleNode, bad_reference};
use crate::eval::check_references::ReferenceLocation;
use crate::messages;
use crate::provider::ResourceType;
use crate::session::Session;
use crate::shared_graph::ModuleReferences;

/// Reports invalid references of an expression in the root module, outside
/// of any resource.
///
/// # Errors
/// Returns an error if a reference is invalid.
pub fn check_expression_references(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<(), Reported> {
    let root = session.config.root_node();
    config::check_expression_references(diags, root, expr)?;
    let mut result = Ok(());
    for traversal in refs::traversals_of_expr(expr) {
        let reference = Reference::from_traversal(diags, &traversal)?;
        let problem = ReferenceContext { session, node: root, self_resource: None }
            .reference_error(&reference);
        result = problem.map_or(result, |problem| Err(diags.error(problem)));
    }
    result
}

/// The references of a vertex, and those needed to find the objects that are imported into it.
fn vertex_references<'c>(
    config: &'c Config,
    vertex: &AnyPlanVertex<'c>,
) -> Vec<ModuleReferences<'c>> {
    let mut references = vertex.references(config);
    references.extend(vertex.import_references(config));
    references
}

/// Whether some reference of a vertex may be wrong, so that all of them must be checked.
pub(super) fn may_have_invalid_reference<'c>(
    session: &'c Session<'c>,
    vertex: &AnyPlanVertex<'c>,
) -> bool {
    if session.config.dangles {
        return true;
    }
    let resource = vertex.as_resource().map(|resource| &resource.addr.resource);
    vertex_references(session.config, vertex).into_iter().any(|(node, references)| {
        let context = ReferenceContext { session, node, self_resource: resource };
        references.iter().any(|reference| context.reference_error(reference).is_some())
    })
}

/// Returns the problems of a reference that show without any value.
pub(super) fn static_reference_errors(
    session: &Session<'_>,
    node: usize,
    site: ReferenceLocation<'_>,
    reference: &Reference,
) -> Vec<Diagnostic> {
    let node = &session.config.nodes[node];
    let mut problems = config::resource_or_call_problems(node, reference, site.check);
    let context = ReferenceContext { session, node, self_resource: site.resource };
    problems.extend(context.reference_error(reference));
    problems
}

/// Checks that the schema has the parts of attributes that `ignore_changes` names.
///
/// # Errors
/// Returns an error if the schema lacks an ignored part.
pub(super) fn check_ignored_parts(
    diags: &mut Diagnostics,
    ignored: &IgnoreChanges,
    block: &Block,
) -> Result<(), Reported> {
    let IgnoreChanges::These(paths) = ignored else { return Ok(()) };
    let mut result = Ok(());
    for path in paths.iter().filter(|path| !path.steps.is_empty()) {
        let root = &path.root;
        // `check_ignored_changes` reports a name that the schema lacks.
        if !block.attributes.contains_key(&root.name) && !block.blocks.contains_key(&root.name) {
            continue;
        }
        let first = TraversalStep::Attribute(root.clone());
        let steps: Vec<_> = [first].into_iter().chain(path.steps.iter().cloned()).collect();
        if let Some(problem) = block_step_error(block, &steps, root.span) {
            result = Err(diags.error(problem));
        }
    }
    result
}

/// Warns of attributes in `ignore_changes` that only the provider decides. Only arguments can be ignored.
pub(super) fn warn_of_redundant_ignores(
    diags: &mut Diagnostics,
    ignored: &IgnoreChanges,
    block: &Block,
    span: Span,
) {
    let IgnoreChanges::These(paths) = ignored else { return };
    for path in paths {
        let Some(path) = path.to_path() else { continue };
        let attribute = block.attribute_at(&path).filter(|(_, rest)| rest.is_empty());
        if attribute.is_none_or(|(attribute, _)| attribute.role != Role::Computed) {
            continue;
        }
        let detail = format!(
            "Adding an attribute name to ignore_changes tells Formwork to ignore future changes to the argument in configuration after the object has been created, retaining the value originally configured.\n\nThe attribute {} is decided by the provider alone and therefore there can be no configured value to compare with. Including this attribute in ignore_changes has no effect. Remove the attribute from ignore_changes to quiet this warning.",
            path.to_string().trim_start_matches('.')
        );
        diags
            .warn(Diagnostic::warning(messages::REDUNDANT_IGNORE_CHANGES_ELEMENT, detail).at(span));
    }
}

/// Warns of deprecated attributes that a vertex refers to.
pub(super) fn deprecation_warnings<'c>(
    session: &'c Session<'c>,
    vertex: &AnyPlanVertex<'c>,
) -> Vec<Diagnostic> {
    let resource = vertex.as_resource().map(|resource| &resource.addr.resource);
    let references = vertex_references(session.config, vertex);
    let of_node = |(node, references): &ModuleReferences<'_>| {
        let context = ReferenceContext { session, node, self_resource: resource };
        let resolved =
            references.iter().filter_map(|reference| context.resolve_to_instance(reference));
        resolved
            .filter_map(|(ty, steps, at)| {
                deprecated_attribute_warning(ty.schema_block(), steps, at)
            })
            .collect::<Vec<_>>()
    };
    references.iter().flat_map(of_node).collect()
}

/// Returns the warning for the attribute that the steps name, if it is deprecated.
fn deprecated_attribute_warning(
    block: &Block,
    steps: &[TraversalStep],
    at: Span,
) -> Option<Diagnostic> {
    // Deprecated attributes within its value are not looked for, as in Terraform: mostly no steps
    // lead there.
    let (TraversalStep::Attribute(name), rest) = steps.split_first()? else { return None };
    if let Some(attribute) = block.attributes.get(&name.name) {
        let instead = match attribute.docs.deprecation.as_str() {
            "" => String::new(),
            instead => format!("\n\nThe provider says: {instead}"),
        };
        let detail = format!(
            "The attribute {:?} is deprecated. Refer to the provider documentation for details.{instead}",
            name.name.as_str()
        );
        let warning = Diagnostic::warning(messages::DEPRECATED_ATTRIBUTE, detail);
        return attribute.docs.deprecated.then(|| warning.at(following_span(at, name.span)));
    }
    let nested = block.blocks.get(&name.name)?;
    match (nested.nesting, rest.split_first()) {
        (Nesting::Single | Nesting::Group, _) => {
            deprecated_attribute_warning(&nested.block, rest, name.span)
        }
        (
            Nesting::List | Nesting::Map,
            Some((TraversalStep::Key(_, at) | TraversalStep::Index(_, at), rest)),
        ) => deprecated_attribute_warning(&nested.block, rest, *at),
        _ => None,
    }
}

/// The location of references.
#[derive(Clone, Copy)]
struct ReferenceContext<'p> {
    session: &'p Session<'p>,
    node: &'p ModuleNode,
    /// The resource that contains them: the meaning of `self`.
    self_resource: Option<&'p ResourceName>,
}

impl ReferenceContext<'_> {
    /// Returns the error in a reference to a resource, if there is one.
    fn reference_error(self, reference: &Reference) -> Option<Diagnostic> {
        let (ty, steps, end) = self.resolve_to_instance(reference)?;
        match steps.first() {
            // Terraform 0.11 had it. No schema has it, but only this error names the replacement.
            Some(TraversalStep::Attribute(name)) if name.name == "count" => {
                let detail = format!(
                    "`{0}` has no attribute `count`. `length({0})` is the number of its instances.",
                    reference.subject
                );
                let problem = Diagnostic::error(messages::INVALID_RESOURCE_COUNT_ATTRIBUTE, detail);
                Some(problem.at(reference.span))
            }
            _ => block_step_error(ty.schema_block(), steps, end),
        }
    }

    /// Resolves a reference to one instance of a resource: the resource type, the steps into the
    /// instance, and the span before them.
    fn resolve_to_instance(
        self,
        reference: &Reference,
    ) -> Option<(Rc<ResourceType>, &[TraversalStep], Span)> {
        let (name, is_one) = match &reference.subject {
            ReferenceSubject::Resource(name) => (name, false),
            ReferenceSubject::SelfObject => (self.self_resource?, true),
            _ => return None,
        };
        let (steps, end) = match (is_one, reference.remaining.split_first()?) {
            (true, _) => (reference.remaining.as_slice(), reference.span),
            // A key that is missing, or too many, is a problem of its own.
            (_, (TraversalStep::Key(_, key) | TraversalStep::Index(_, key), rest)) => (rest, *key),
            (_, (TraversalStep::Attribute(_), _)) => {
                (reference.remaining.as_slice(), reference.span)
            }
            // All instances together.
            (_, (TraversalStep::Splat(_), _)) => return None,
        };
        Some((self.resource_type_of(name)?, steps, end))
    }

    fn resource_type_of(self, name: &ResourceName) -> Option<Rc<ResourceType>> {
        let resource = self.node.module.resources.get(name)?;
        let provider = self.session.config.provider_of_resource(self.node, resource)?.provider;
        self.session
            .pool
            .loaded_provider(&provider)?
            .find_resource_type(name.mode(), name.resource_type())
    }
}

/// Returns the error in steps into an object of a block; `at` is the span before them.
fn block_step_error(block: &Block, steps: &[TraversalStep], at: Span) -> Option<Diagnostic> {
    let (step, rest) = steps.split_first()?;
    let name = match step {
        TraversalStep::Attribute(name) => name,
        TraversalStep::Key(key, span) if is_identifier(key) => {
            let detail = format!("What an object has is taken with a dot: write `.{key}`.");
            return Some(Diagnostic::error(messages::INVALID_INDEX_OPERATION, detail).at(*span));
        }
        TraversalStep::Key(_, span) | TraversalStep::Index(_, span) => {
            let detail = "This is an object: what it has goes by names, which a dot takes.";
            return Some(Diagnostic::error(messages::INVALID_INDEX_OPERATION, detail).at(*span));
        }
        // What follows is taken of each element, which is left to the evaluation.
        TraversalStep::Splat(_) => return None,
    };
    let span = following_span(at, name.span);
    if let Some(attribute) = block.attributes.get(&name.name) {
        // A step into an unknown value of the type fails where it would for every value.
        return value_step_error(Value::unknown(attribute.implied_type()), rest, name.span);
    }
    if let Some(nested) = block.blocks.get(&name.name) {
        return nested_block_step_error(&name.name, nested, rest, name.span);
    }
    Some(bad_reference::unknown_block_attribute_error(block, &name.name, span))
}

/// Returns the error in steps into the blocks of one type.
fn nested_block_step_error(
    name: &str,
    nested: &NestedBlock,
    steps: &[TraversalStep],
    at: Span,
) -> Option<Diagnostic> {
    if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
        return block_step_error(&nested.block, steps, at);
    }
    let (step, rest) = steps.split_first()?;
    let (span, step_text) = match step {
        TraversalStep::Splat(_) => return None,
        TraversalStep::Attribute(attribute) => {
            (following_span(at, attribute.span), format!(".{}", attribute.name))
        }
        TraversalStep::Key(_, span) | TraversalStep::Index(_, span) => (*span, String::new()),
    };
    let by_key = !matches!(step, TraversalStep::Attribute(_));
    let (summary, reason) = match nested.nesting {
        Nesting::Set => {
            let reason = format!("The blocks `{name}` are a set, whose elements have no keys.");
            (messages::CANNOT_INDEX_SET_VALUE, reason)
        }
        Nesting::List if !by_key => {
            let reason = format!("There may be several blocks `{name}`: `{name}[0]` is the first.");
            (messages::INVALID_OPERATION, reason)
        }
        _ => return block_step_error(&nested.block, rest, span),
    };
    let detail = format!("{reason} What all of them have is taken with `{name}[*]{step_text}`.");
    Some(Diagnostic::error(summary, detail).at(span))
}

/// Returns the error in steps into a value of known type.
fn value_step_error(mut value: Value, steps: &[TraversalStep], mut at: Span) -> Option<Diagnostic> {
    for step in steps {
        let (element, span) = match step {
            TraversalStep::Attribute(name) => {
                (access::access_attribute(&value, &name.name), following_span(at, name.span))
            }
            TraversalStep::Key(key, span) => {
                (access::access_index(&value, &Value::string(key.clone())), *span)
            }
            TraversalStep::Index(key, span) => {
                (access::access_index(&value, &Value::Number(key.clone())), *span)
            }
            TraversalStep::Splat(_) => return None,
        };
        match element {
            Ok(part) => (value, at) = (part, span),
            Err(refused) => return Some(Diagnostic::from(refused).at(span)),
        }
    }
    None
}

/// Returns the span of the dot and the name that follow a span.
fn following_span(before: Span, name: Span) -> Span {
    if before.source == name.source {
        Span { start: before.end.clamp(name.start.saturating_sub(1), name.start), ..name }
    } else {
        name
    }
}
