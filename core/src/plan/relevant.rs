//! Attributes that contribute to the changes, so that drift of others need not be reported. Found
//! from the configuration alone, as Terraform does: the references in the arguments of a block, the
//! references of those objects, and so on. References that only order things are not followed.

use std::collections::BTreeSet;

use formwork_lang::refs::{self, Traversal, TraversalStep};
use formwork_lang::syntax::{Body, Expr};
use formwork_value::{Diagnostics, Path, Step, Str};

use super::{Mode, Plan};
use crate::addr::{
    InstanceAddr, InstanceKey, Mode as Kind, ModuleAddr, Reference, ResourceAddr, Subject, Target,
};
use crate::change::Action;
use crate::config::{Module, Repetition, Resource};
use crate::session::Session;

/// An attribute, or the whole for the empty path. A resource without a key is the resource without
/// saying which instance.
pub type Relevant = BTreeSet<(InstanceAddr, Path)>;

/// Finds the attributes that contribute to the changes of a plan.
pub(super) fn of(session: &Session<'_>, plan: &Plan) -> Relevant {
    let mut search = Search { session, seen: BTreeSet::new(), queue: Vec::new() };
    let mut before = None;
    for change in plan.changes.values().filter(|change| change.action != Action::NoOp) {
        let addr = change.addr.of();
        // All instances of a resource mention the same.
        if before.as_ref() != Some(&addr) {
            search.resource(&addr, &[]);
        }
        before = Some(addr);
    }
    // So do data sources that go with everything else.
    if plan.mode == Mode::Destroy {
        let data = plan.prior.resources.iter().filter(|(it, _)| it.resource.mode() == Kind::Data);
        for (addr, stored) in data {
            if stored.instances.keys().any(|key| is_meant(plan, &addr.instance(key.clone()))) {
                search.resource(addr, &[]);
            }
        }
    }
    for (name, change) in &plan.outputs {
        if change.action != Action::NoOp {
            search.output(&ModuleAddr::root(), name);
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
                    search.output(module.addr(), name);
                }
            }
        }
    }
    search.run()
}

/// Whether a plan is about an instance, as far as its own address says.
fn is_meant(plan: &Plan, addr: &InstanceAddr) -> bool {
    let is_in = |targets: &[Target]| targets.iter().any(|target| target.contains(addr));
    (plan.targets.is_empty() || is_in(&plan.targets)) && !is_in(&plan.excludes)
}

/// A reference from an instance of a module, with the part that it takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mention {
    module: ModuleAddr,
    subject: Subject,
    steps: Vec<Step>,
}

struct Search<'s, 'a> {
    session: &'s Session<'a>,
    seen: BTreeSet<Mention>,
    queue: Vec<Mention>,
}

impl<'s> Search<'s, '_> {
    fn run(mut self) -> Relevant {
        let mut found = Relevant::new();
        while let Some(Mention { module, subject, steps }) = self.queue.pop() {
            match &subject {
                Subject::Variable(name) => self.variable(&module, name),
                Subject::Local(name) => {
                    let declared = self.config(&module).and_then(|it| it.locals.get(name));
                    if let Some(local) = declared {
                        self.expr(&module, &local.expr, None);
                    }
                }
                Subject::Module(name) => self.outputs(&module, name, &steps),
                Subject::Resource(name) => {
                    let (key, rest) = split_key(&steps);
                    let addr = ResourceAddr { module: module.clone(), resource: name.clone() };
                    if self.block(&addr).is_some() {
                        self.resource(&addr, rest);
                        found.insert((addr.instance(key), Path(rest.to_vec())));
                    }
                }
                Subject::Count(_)
                | Subject::Each(_)
                | Subject::Path(_)
                | Subject::Terraform(_)
                | Subject::SelfObject => {}
            }
        }
        found
    }

    fn config(&self, module: &ModuleAddr) -> Option<&'s Module> {
        Some(&*self.session.config.node(&module.path())?.module)
    }

    fn block(&self, addr: &ResourceAddr) -> Option<&'s Resource> {
        self.config(&addr.module)?.resources.get(&addr.resource).map(Box::as_ref)
    }

    /// Adds the references in the part of a resource to which some steps lead.
    fn resource(&mut self, addr: &ResourceAddr, steps: &[Step]) {
        let Some(block) = self.block(addr) else { return };
        let mentions = match steps.first() {
            Some(Step::Attribute(name)) => part(&block.body, name),
            _ => refs::of_body(&block.body),
        };
        self.add(&addr.module, &mentions, Some(block));
    }

    /// Adds the references in the argument that a caller passes for a variable.
    fn variable(&mut self, module: &ModuleAddr, name: &Str) {
        let config = self.session.config;
        let call = config.node(&module.path()).and_then(|it| config.call(it));
        let Some(argument) = call.and_then(|(_, call)| call.arguments.get(name)) else { return };
        let caller = module.0.split_last().map_or(&[][..], |(_, caller)| caller);
        let caller = ModuleAddr(caller.to_vec().into());
        self.expr(&caller, &argument.expr, None);
    }

    /// The outputs of a module to which some steps lead: all of them where they name none.
    fn outputs(&mut self, caller: &ModuleAddr, call: &Str, steps: &[Step]) {
        let (key, rest) = split_key(steps);
        let module = caller.child(call.clone(), key);
        if let Some(Step::Attribute(name)) = rest.first() {
            return self.output(&module, name);
        }
        let outputs = self.config(&module).into_iter().flat_map(|it| it.outputs.keys());
        outputs.for_each(|name| self.output(&module, name));
    }

    fn output(&mut self, module: &ModuleAddr, name: &Str) {
        if let Some(output) = self.config(module).and_then(|it| it.outputs.get(name)) {
            self.expr(module, &output.expr, None);
        }
    }

    fn expr(&mut self, module: &ModuleAddr, expr: &Expr, within: Option<&Resource>) {
        self.add(module, &refs::of_expr(expr), within);
    }

    /// Adds references. `count` and `each` of a resource lead to the expression that it is repeated
    /// by.
    fn add(&mut self, module: &ModuleAddr, mentions: &[Traversal], within: Option<&Resource>) {
        for mention in mentions {
            // Invalid references were reported when the configuration was read.
            let Ok(reference) = Reference::of(&mut Diagnostics::new(), mention) else { continue };
            if let (Subject::Count(_) | Subject::Each(_), Some(resource)) =
                (&reference.subject, within)
            {
                match &resource.repetition {
                    Repetition::Single => {}
                    Repetition::Count(expr) | Repetition::ForEach(expr) => {
                        self.expr(module, expr, None);
                    }
                }
                continue;
            }
            let steps = match &reference.subject {
                // Everything in its expression counts, whatever part of it is taken.
                Subject::Variable(_) | Subject::Local(_) => Vec::new(),
                _ => reference.remaining.iter().map_while(TraversalStep::to_step).collect(),
            };
            let mention = Mention { module: module.clone(), subject: reference.subject, steps };
            if self.seen.insert(mention.clone()) {
                self.queue.push(mention);
            }
        }
    }
}

/// Returns the references in one argument of a body, or in its blocks of one type.
fn part(body: &Body, name: &Str) -> Vec<Traversal> {
    if let Some(attribute) = body.find(name) {
        return refs::of_expr(&attribute.expr);
    }
    // A `dynamic` block produces blocks of the type that its label names.
    let is_wanted = |kind: &str, label: Option<&str>| {
        kind == name.as_str() || kind == "dynamic" && label == Some(name.as_str())
    };
    let blocks = body.blocks.iter().filter(|block| {
        is_wanted(&block.kind.name, block.labels.first().map(|label| label.name.as_str()))
    });
    blocks.flat_map(|block| refs::of_body(&block.body)).collect()
}

/// The instance that the first step picks, and the steps behind it.
fn split_key(steps: &[Step]) -> (InstanceKey, &[Step]) {
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
