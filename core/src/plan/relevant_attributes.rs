//! Attributes that contribute to the changes, so that drift of others need not be reported. Found
//! only from the configuration, as Terraform does: the references in the arguments of a block, the
//! references of those objects, and so on. References that only order things are not followed.

use std::collections::BTreeSet;

use formwork_lang::refs::{self, Traversal, TraversalStep};
use formwork_lang::syntax::{Body, Expr};
use formwork_value::{Diagnostics, Path, Step, Str};

use super::{Plan, PlanMode};
use crate::addr::{
    InstanceAddr, InstanceKey, ModuleAddr, Reference, ReferenceSubject, ResourceAddr,
    ResourceMode as Kind, Target,
};
use crate::change::Action;
use crate::config::{Module, Repetition, Resource};
use crate::session::Session;

/// An attribute, or the whole for the empty path. A resource without a key is the resource without
/// saying which instance.
pub type RelevantAttributes = BTreeSet<(InstanceAddr, Path)>;

/// Finds the attributes that contribute to the changes of a plan.
pub(super) fn find_relevant_attributes(session: &Session<'_>, plan: &Plan) -> RelevantAttributes {
    let mut search = RelevanceSearch { session, seen: BTreeSet::new(), queue: Vec::new() };
    let mut before = None;
    for change in plan.changes.values().filter(|change| change.action != Action::NoOp) {
        let addr = change.addr.resource_addr();
        // All instances of a resource have the same references.
        if before.as_ref() != Some(&addr) {
            search.add_resource(&addr, &[]);
        }
        before = Some(addr);
    }
    // So do data sources that go with everything else.
    if plan.mode == PlanMode::Destroy {
        let data = plan.prior.resources.iter().filter(|(it, _)| it.resource.mode() == Kind::Data);
        for (addr, stored) in data {
            if stored
                .instances
                .keys()
                .any(|key| is_instance_selected(plan, &addr.instance_addr(key.clone())))
            {
                search.add_resource(addr, &[]);
            }
        }
    }
    for (name, change) in &plan.outputs {
        if change.action != Action::NoOp {
            search.add_output_references(&ModuleAddr::root(), name);
        }
    }
    // Outputs of called modules are not in the state, so each that has a value counts as new. Those
    // that are ephemeral never change.
    for node in session.config.nodes.iter().filter(|node| node.caller.is_some()) {
        for module in session.results.module_instances(&node.path) {
            for (name, output) in &node.module.outputs {
                if !output.ephemeral
                    && module.outputs.get(name).is_some_and(|value| !value.is_null())
                {
                    search.add_output_references(module.module_addr(), name);
                }
            }
        }
    }
    search.run_search()
}

/// Whether a plan includes an instance by its own address.
fn is_instance_selected(plan: &Plan, addr: &InstanceAddr) -> bool {
    let is_in = |targets: &[Target]| targets.iter().any(|target| target.contains(addr));
    (plan.targets.is_empty() || is_in(&plan.targets)) && !is_in(&plan.excludes)
}

/// A reference from an instance of a module, with the part that it takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InstanceReference {
    module: ModuleAddr,
    subject: ReferenceSubject,
    steps: Vec<Step>,
}

struct RelevanceSearch<'s, 'a> {
    session: &'s Session<'a>,
    seen: BTreeSet<InstanceReference>,
    queue: Vec<InstanceReference>,
}

impl<'s> RelevanceSearch<'s, '_> {
    fn run_search(mut self) -> RelevantAttributes {
        let mut attributes = RelevantAttributes::new();
        while let Some(InstanceReference { module, subject, steps }) = self.queue.pop() {
            match &subject {
                ReferenceSubject::Variable(name) => self.add_variable_references(&module, name),
                ReferenceSubject::Local(name) => {
                    let declared = self.module_config(&module).and_then(|it| it.locals.get(name));
                    if let Some(local) = declared {
                        self.add_expression_references(&module, &local.expr, None);
                    }
                }
                ReferenceSubject::Module(name) => {
                    self.add_outputs_references(&module, name, &steps);
                }
                ReferenceSubject::Resource(name) => {
                    let (key, rest) = split_instance_key(&steps);
                    let addr = ResourceAddr { module: module.clone(), resource: name.clone() };
                    if self.resource_block(&addr).is_some() {
                        self.add_resource(&addr, rest);
                        attributes.insert((addr.instance_addr(key), Path(rest.to_vec())));
                    }
                }
                ReferenceSubject::Count(_)
                | ReferenceSubject::Each(_)
                | ReferenceSubject::Path(_)
                | ReferenceSubject::Terraform(_)
                | ReferenceSubject::SelfObject => {}
            }
        }
        attributes
    }

    fn module_config(&self, module: &ModuleAddr) -> Option<&'s Module> {
        Some(&*self.session.config.find_node(&module.path())?.module)
    }

    fn resource_block(&self, addr: &ResourceAddr) -> Option<&'s Resource> {
        self.module_config(&addr.module)?.resources.get(&addr.resource).map(Box::as_ref)
    }

    /// Adds the references in the part of a resource to which some steps lead.
    fn add_resource(&mut self, addr: &ResourceAddr, steps: &[Step]) {
        let Some(block) = self.resource_block(addr) else { return };
        let traversals = match steps.first() {
            Some(Step::Attribute(name)) => references_in_part(&block.body, name),
            _ => refs::traversals_of_body(&block.body),
        };
        self.add_references(&addr.module, &traversals, Some(block));
    }

    /// Adds the references in the argument that a caller passes for a variable.
    fn add_variable_references(&mut self, module: &ModuleAddr, name: &Str) {
        let config = self.session.config;
        let call = config.find_node(&module.path()).and_then(|it| config.call_of_module(it));
        let Some(argument) = call.and_then(|(_, call)| call.arguments.get(name)) else { return };
        let caller = module.0.split_last().map_or(&[][..], |(_, caller)| caller);
        let caller = ModuleAddr(caller.to_vec().into());
        self.add_expression_references(&caller, &argument.expr, None);
    }

    /// The outputs of a module to which some steps lead: all of them where they name none.
    fn add_outputs_references(&mut self, caller: &ModuleAddr, call: &Str, steps: &[Step]) {
        let (key, rest) = split_instance_key(steps);
        let module = caller.child_addr(call.clone(), key);
        if let Some(Step::Attribute(name)) = rest.first() {
            return self.add_output_references(&module, name);
        }
        let outputs = self.module_config(&module).into_iter().flat_map(|it| it.outputs.keys());
        outputs.for_each(|name| self.add_output_references(&module, name));
    }

    fn add_output_references(&mut self, module: &ModuleAddr, name: &Str) {
        if let Some(output) = self.module_config(module).and_then(|it| it.outputs.get(name)) {
            self.add_expression_references(module, &output.expr, None);
        }
    }

    fn add_expression_references(
        &mut self,
        module: &ModuleAddr,
        expr: &Expr,
        within: Option<&Resource>,
    ) {
        self.add_references(module, &refs::traversals_of_expr(expr), within);
    }

    /// Adds references. `count` and `each` of a resource lead to the expression that it is repeated
    /// by.
    fn add_references(
        &mut self,
        module: &ModuleAddr,
        traversals: &[Traversal],
        within: Option<&Resource>,
    ) {
        for traversal in traversals {
            // Invalid references were reported when the configuration was read.
            let Ok(reference) = Reference::from_traversal(&mut Diagnostics::new(), traversal)
            else {
                continue;
            };
            if let (ReferenceSubject::Count(_) | ReferenceSubject::Each(_), Some(resource)) =
                (&reference.subject, within)
            {
                match &resource.repetition {
                    Repetition::Single => {}
                    Repetition::Count(expr) | Repetition::ForEach(expr) => {
                        self.add_expression_references(module, expr, None);
                    }
                }
                continue;
            }
            let steps = match &reference.subject {
                // Everything in its expression counts, whatever part of it is taken.
                ReferenceSubject::Variable(_) | ReferenceSubject::Local(_) => Vec::new(),
                _ => reference.remaining.iter().map_while(TraversalStep::to_step).collect(),
            };
            let reference =
                InstanceReference { module: module.clone(), subject: reference.subject, steps };
            if self.seen.insert(reference.clone()) {
                self.queue.push(reference);
            }
        }
    }
}

/// Returns the references in one argument of a body, or in its blocks of one type.
fn references_in_part(body: &Body, name: &Str) -> Vec<Traversal> {
    if let Some(attribute) = body.find_attribute(name) {
        return refs::traversals_of_expr(&attribute.expr);
    }
    // A `dynamic` block produces blocks of the type that its label names.
    let is_wanted = |kind: &str, label: Option<&str>| {
        kind == name.as_str() || kind == "dynamic" && label == Some(name.as_str())
    };
    let blocks = body.blocks.iter().filter(|block| {
        is_wanted(&block.kind.name, block.labels.first().map(|label| label.name.as_str()))
    });
    blocks.flat_map(|block| refs::traversals_of_body(&block.body)).collect()
}

/// The instance that the first step selects, and the following steps.
fn split_instance_key(steps: &[Step]) -> (InstanceKey, &[Step]) {
    let key = match steps.first() {
        Some(Step::Key(key)) => InstanceKey::Str(key.clone()),
        Some(Step::Index(at)) => match at.to_usize() {
            Some(at) => InstanceKey::Int(at as u64),
            None => InstanceKey::None,
        },
        Some(Step::Attribute(_)) | None => return (InstanceKey::None, steps),
    };
    (key, &steps[1..])
}
