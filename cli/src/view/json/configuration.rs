//! A configuration as plans contain it: expressions reduced to constants, or to their references.

mod providers;

use formwork_core::addr::{InstanceKey, Reference, ReferenceSubject, ResourceMode};
use formwork_core::config::{Config, ModuleCall, ModuleNode, Repetition, Resource};
use formwork_core::provider::ProviderPool;
use formwork_lang::attributes_as_blocks::{AttributesAsBlocks, LegacySchemaCheck};
use formwork_lang::content::read_content;
use formwork_lang::decode::evaluate_body;
use formwork_lang::eval::evaluate;
use formwork_lang::functions::Function;
use formwork_lang::refs::{self, Traversal, TraversalStep};
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Body, Expr, Ident};
use formwork_value::schema::{Block, Nesting};
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use self::providers::ProviderConfigs;
use super::json_builder::Json;
use super::value;
use crate::messages;

/// A whole configuration.
pub(crate) fn config_document(config: &Config, pool: &ProviderPool<'_>) -> Json {
    let providers = ProviderConfigs::of(config, pool);
    let view = ConfigView { config, pool, providers: &providers };
    Json::object_of_some([
        ("provider_config", providers.to_json().none_if_empty()),
        ("root_module", Some(module_to_json(&view, config.root_node()))),
    ])
}

/// The shown configuration, with the data needed to show it.
struct ConfigView<'s> {
    config: &'s Config,
    pool: &'s ProviderPool<'s>,
    providers: &'s ProviderConfigs,
}

fn module_to_json(view: &ConfigView<'_>, node: &ModuleNode) -> Json {
    let module = &*node.module;
    let outputs = module.outputs.iter().map(|(name, output)| {
        let json = Json::object_of_some([
            ("sensitive", output.sensitive.then_some(Json::Bool(true))),
            ("expression", Some(expression_to_json(&output.expr))),
            ("depends_on", depends_on(&output.depends_on).none_if_empty()),
            (
                "description",
                (!output.description.is_empty()).then(|| Json::text(&output.description)),
            ),
        ]);
        (name.to_string(), json)
    });
    let variables = module.variables.iter().map(|(name, variable)| {
        let json = Json::object_of_some([
            ("default", variable.default.as_ref().map(value::value_to_json)),
            (
                "description",
                (!variable.description.is_empty()).then(|| Json::text(&variable.description)),
            ),
            ("sensitive", variable.sensitive.then_some(Json::Bool(true))),
        ]);
        (name.to_string(), json)
    });
    let of = |mode: ResourceMode| {
        module.resources.values().filter(move |resource| resource.name.mode() == mode)
    };
    let resources = of(ResourceMode::Managed)
        .chain(of(ResourceMode::Data))
        .map(|r| resource_to_json(view, node, r));
    let calls = module.calls.iter().filter_map(|(name, call)| {
        let child = &view.config.nodes[*node.children.get(name)?];
        Some((name.to_string(), call_to_json(view, child, call)))
    });
    Json::object_of_some([
        ("outputs", Json::Object(outputs.collect()).none_if_empty()),
        ("resources", Json::Array(resources.collect()).none_if_empty()),
        ("module_calls", Json::Object(calls.collect()).none_if_empty()),
        ("variables", Json::Object(variables.collect()).none_if_empty()),
    ])
}

fn call_to_json(view: &ConfigView<'_>, child: &ModuleNode, call: &ModuleCall) -> Json {
    let site = &call.site;
    let expressions = call
        .arguments
        .iter()
        .map(|(name, argument)| (name.to_string(), expression_to_json(&argument.expr)));
    let (count, for_each) = repetition_to_json(&call.repetition);
    let version = site.version.as_ref().map(|(constraints, _)| Json::text(constraints.to_string()));
    Json::object_of_some([
        ("source", Some(Json::text(&site.source))),
        ("expressions", Json::Object(expressions.collect()).none_if_empty()),
        ("count_expression", count),
        ("for_each_expression", for_each),
        ("module", Some(module_to_json(view, child))),
        ("version_constraint", version),
        ("depends_on", depends_on(&call.depends_on).none_if_empty()),
    ])
}

fn repetition_to_json(repetition: &Repetition) -> (Option<Json>, Option<Json>) {
    match repetition {
        Repetition::Single => (None, None),
        Repetition::Count(expr) => (expression_to_json(expr).none_if_empty(), None),
        Repetition::ForEach(expr) => (None, expression_to_json(expr).none_if_empty()),
    }
}

fn depends_on(references: &[Reference]) -> Json {
    let names = references.iter().map(|reference| match &reference.subject {
        ReferenceSubject::Variable(name) => format!("var.{name}"),
        ReferenceSubject::Local(name) => format!("local.{name}"),
        ReferenceSubject::Resource(name) => format!("{name}{}", instance_key(reference)),
        ReferenceSubject::Module(name) => match reference.module_output() {
            Some(output) => format!("module.{name}{}.{}", instance_key(reference), output.name),
            None => format!("module.{name}{}", instance_key(reference)),
        },
        ReferenceSubject::Count(name) => format!("count.{name}"),
        ReferenceSubject::Each(name) => format!("each.{name}"),
        ReferenceSubject::Path(name) => format!("path.{name}"),
        ReferenceSubject::Terraform(name) => format!("terraform.{name}"),
        ReferenceSubject::SelfObject => "self".to_owned(),
    });
    Json::Array(names.map(Json::text).collect())
}

fn instance_key(reference: &Reference) -> InstanceKey {
    reference.instance_key().unwrap_or_default()
}

fn resource_to_json(view: &ConfigView<'_>, node: &ModuleNode, resource: &Resource) -> Json {
    let name = &resource.name;
    let mode = if name.mode() == ResourceMode::Data { "data" } else { "managed" };
    let loaded = view.pool.loaded_provider(&resource.provider);
    let ty = loaded.and_then(|loaded| loaded.find_resource_type(name.mode(), name.resource_type()));
    let (count, for_each) = repetition_to_json(&resource.repetition);
    let key = view.providers.key_of(&node.path, &resource.local_provider);
    let version = ty.as_ref().map_or(0, |ty| ty.schema.version);
    Json::object_of_some([
        ("address", Some(Json::text(name.to_string()))),
        ("mode", Some(Json::text(mode))),
        ("type", Some(Json::text(name.resource_type().as_str()))),
        ("name", Some(Json::text(name.name().as_str()))),
        ("provider_config_key", Some(Json::text(key))),
        ("provisioners", provisioners_to_json(resource).none_if_empty()),
        (
            "expressions",
            ty.and_then(|ty| body_to_json(&resource.body, ty.schema_block()).none_if_empty()),
        ),
        ("schema_version", Some(Json::Int(i64::try_from(version).unwrap_or(i64::MAX)))),
        ("count_expression", count),
        ("for_each_expression", for_each),
        ("depends_on", depends_on(&resource.depends_on).none_if_empty()),
    ])
}

fn provisioners_to_json(resource: &Resource) -> Json {
    let provisioners = resource.provisioners.iter().map(|provisioner| {
        let attributes = provisioner.body.written_attributes();
        let mut expressions: Vec<_> = attributes
            .map(|argument| (argument.name.name.to_string(), expression_to_json(&argument.expr)))
            .collect();
        expressions.sort_by(|a, b| a.0.cmp(&b.0));
        Json::object_of_some([
            ("type", Some(Json::text(provisioner.kind.name.as_str()))),
            ("expressions", Json::Object(expressions).none_if_empty()),
        ])
    });
    Json::Array(provisioners.collect())
}

/// The arguments and blocks of a body that the schema declares.
fn body_to_json(body: &Body, schema: &Block) -> Json {
    let mut members: Vec<(String, Json)> = Vec::new();
    let shape = AttributesAsBlocks::find_in_body(schema, body, &LegacySchemaCheck::of(schema));
    // Superfluous parts were reported when the configuration was checked.
    let body = read_content(&mut Diagnostics::new(), body, &shape);
    for (name, element) in shape.iter_attributes_as_blocks() {
        let blocks: Vec<_> = body.blocks.iter().filter(|block| block.kind.name == *name).collect();
        if !blocks.is_empty() {
            let bodies = blocks.iter().map(|block| &block.body);
            members.push((name.to_owned(), attribute_as_blocks_to_json(bodies, element)));
        }
    }
    for attribute in body.attributes.values() {
        members.push((attribute.name.name.to_string(), expression_to_json(&attribute.expr)));
    }
    for (name, nested) in &schema.blocks {
        let blocks: Vec<_> = body.blocks.iter().filter(|block| block.kind.name == *name).collect();
        if blocks.is_empty() {
            continue;
        }
        let block_to_json =
            |block: &formwork_lang::syntax::Block| body_to_json(&block.body, &nested.block);
        let json = match nested.nesting {
            Nesting::Single | Nesting::Group => {
                blocks.first().map_or(Json::Null, |block| block_to_json(block))
            }
            Nesting::List | Nesting::Set => {
                Json::Array(blocks.iter().map(|block| block_to_json(block)).collect())
            }
            Nesting::Map => Json::Object(
                blocks
                    .iter()
                    .filter_map(|block| {
                        Some((block.labels.first()?.name.to_string(), block_to_json(block)))
                    })
                    .collect(),
            ),
        };
        members.push((name.to_string(), json));
    }
    members.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Object(members)
}

/// An attribute that is written as blocks, converted like an expression that returns the list of blocks.
fn attribute_as_blocks_to_json<'b>(
    bodies: impl Iterator<Item = &'b Body> + Clone,
    element: &Block,
) -> Json {
    let constants = bodies.clone().map(|body| {
        let value = evaluate_body(&mut Diagnostics::new(), body, element, &ConstantScope).ok()?;
        value.is_wholly_known().then(|| value::value_to_json(&value))
    });
    let names = bodies.flat_map(|body| {
        let body = read_content(&mut Diagnostics::new(), body, element);
        let expressions = body.attributes.into_values().map(|it| it.into_owned().expr);
        expressions.flat_map(|expr| reference_names(&expr)).collect::<Vec<_>>()
    });
    let constants: Option<Vec<Json>> = constants.collect();
    Json::object_of_some([
        ("constant_value", constants.map(Json::Array)),
        ("references", Json::Array(names.collect()).none_if_empty()),
    ])
}

/// An expression: its value if it is constant, and its references in order of occurrence, each with its
/// longest form first.
fn expression_to_json(expr: &Expr) -> Json {
    Json::object_of_some([
        ("constant_value", constant_value(expr).map(|value| value::value_to_json(&value))),
        ("references", Json::Array(reference_names(expr)).none_if_empty()),
    ])
}

fn reference_names(expr: &Expr) -> Vec<Json> {
    refs::traversals_of_expr(expr).iter().flat_map(traversal_prefixes).map(Json::text).collect()
}

/// A scope without names and functions.
struct ConstantScope;

impl Scope for ConstantScope {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let detail = format!("{} is not constant.", root.name);
        Err(diags.error(Diagnostic::error(messages::VARIABLES_NOT_ALLOWED, detail).at(root.span)))
    }

    fn lookup_function(&self, _: &str) -> Option<&dyn Function> {
        None
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn has_no_names(&self) -> bool {
        true
    }
}

fn constant_value(expr: &Expr) -> Option<Value> {
    let value = evaluate(&mut Diagnostics::new(), expr, &ConstantScope).ok()?;
    value.is_wholly_known().then_some(value)
}

/// Returns a traversal as a reference, and each shorter form down to the object itself.
fn traversal_prefixes(traversal: &Traversal) -> Vec<String> {
    // A reference to a managed resource may begin with `resource.`; its address does not.
    let (root, steps) = match (traversal.root.name.as_str(), traversal.steps.split_first()) {
        ("resource", Some((TraversalStep::Attribute(kind), rest))) => (kind.name.as_str(), rest),
        (root, _) => (root, &traversal.steps[..]),
    };
    let mut text = root.to_owned();
    let min_steps = match traversal.root.name.as_str() {
        "data" | "ephemeral" => 2,
        _ => 1,
    };
    let mut names = Vec::new();
    for (step_index, step) in steps.iter().enumerate() {
        match step {
            TraversalStep::Attribute(name) => text.push_str(&format!(".{}", name.name)),
            TraversalStep::Key(key, _) => text.push_str(&format!("[{:?}]", key.as_str())),
            TraversalStep::Index(index, _) => text.push_str(&format!("[{index}]")),
            TraversalStep::Splat(_) => break,
        }
        if step_index + 1 >= min_steps {
            names.push(text.clone());
        }
    }
    // An output of a module instance refers to itself and the instance, not to the call.
    let of_instance = traversal.root.name == "module"
        && matches!(
            traversal.steps.get(1),
            Some(TraversalStep::Key(..) | TraversalStep::Index(..))
        )
        && names.len() > 2;
    names.drain(..usize::from(of_instance));
    names.reverse();
    // `self` already refers to an object.
    names.extend((traversal.root.name == "self").then(|| "self".to_owned()));
    names
}
