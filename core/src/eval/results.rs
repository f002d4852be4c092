//! A write-once table of results, by address.
//!
//! Everything runs on one task with shared references: a cell is set once, by the record step, and
//! read by all later visits. Nothing here decides the meaning of a missing result.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use formwork_value::{Str, Type, Value};

use super::condition_results::ConditionResults;
use super::known_constants::KnownConstants;
use super::{Expansion, ProviderFunctions};
use crate::addr::{InstanceAddr, InstanceKey, ModuleAddr, ModulePath, ResourceName};
use crate::config::{Config, Module, ModuleNode};

/// The results of a whole configuration.
#[derive(Debug)]
pub struct Results {
    root: ModuleResults,
    /// The number of instances of called modules.
    n_modules: Cell<usize>,
    constants: Rc<KnownConstants>,
    /// The verdicts on conditions.
    pub verdicts: ConditionResults,
    /// Configurations that were generated.
    pub generated: GeneratedConfigs,
}

/// Configurations that were generated for imported objects, as text. They are useful even if
/// the plan fails.
#[derive(Debug, Default)]
pub struct GeneratedConfigs(RefCell<BTreeMap<InstanceAddr, String>>);

/// The results of one instance of a module.
#[derive(Debug)]
pub struct ModuleResults {
    config: Arc<Module>,
    /// The index of the module in [`Config::nodes`].
    node: usize,
    addr: ModuleAddr,
    /// The variables' values.
    pub variables: NamedValues,
    /// The local values.
    pub locals: NamedValues,
    /// The output values.
    pub outputs: NamedValues,
    resources: BTreeMap<ResourceName, ResourceResults>,
    calls: BTreeMap<Str, CallResults>,
    functions: Rc<ProviderFunctions>,
    /// Whether a test has set the outputs, so that nothing else in it is evaluated.
    overridden: Cell<bool>,
}

/// Named values, each set once.
#[derive(Debug)]
pub struct NamedValues(BTreeMap<Str, OnceCell<Value>>);

/// The results of one resource.
pub type ResourceResults = RepeatedResults<Value>;

/// The results of one module call.
pub type CallResults = RepeatedResults<ModuleResults>;

/// The results of what may have several instances.
#[derive(Debug)]
pub struct RepeatedResults<T> {
    expanded: OnceCell<ExpandedValues<T>>,
    placeholder: OnceCell<Value>,
    /// The value of all instances together, created on first use.
    combined: OnceCell<Value>,
}

/// All instances together.
struct CombinedInstances {
    value: Value,
    /// Whether none is still to come.
    is_complete: bool,
}

#[derive(Debug)]
struct ExpandedValues<T> {
    expansion: Expansion,
    instances: Vec<OnceCell<T>>,
}

impl<T> ExpandedValues<T> {
    fn new(expansion: Expansion) -> Self {
        let instances = std::iter::repeat_with(OnceCell::new).take(expansion.len()).collect();
        Self { expansion, instances }
    }

    fn cell_of_instance(&self, key: &InstanceKey) -> Option<&OnceCell<T>> {
        self.instances.get(self.expansion.position_of_key(key)?)
    }
}

impl GeneratedConfigs {
    /// Records the configuration of an object.
    pub fn insert_config(&self, addr: &InstanceAddr, text: &str) {
        self.0.borrow_mut().insert(addr.clone(), text.to_owned());
    }

    /// The instances.
    #[must_use]
    pub fn all_configs(&self) -> BTreeMap<InstanceAddr, String> {
        self.0.borrow().clone()
    }
}

impl Results {
    /// Creates an empty table for a configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_functions_and_constants(config, Rc::default(), Rc::default())
    }

    /// Sets unknown parts of the outputs of the root module to null, as Terraform does for the assertions of a
    /// planned test. Outputs that are unknown as a whole stay unknown.
    pub fn null_unknown_parts_of_outputs(&mut self) {
        self.root.null_unknown_parts_of_outputs();
    }

    /// Creates another empty table for the same configuration. Both share the answers of provider
    /// functions and the constants.
    #[must_use]
    pub fn new_for_same_config(&self, config: &Config) -> Self {
        Self::with_functions_and_constants(
            config,
            self.root.functions.clone(),
            self.constants.clone(),
        )
    }

    fn with_functions_and_constants(
        config: &Config,
        functions: Rc<ProviderFunctions>,
        constants: Rc<KnownConstants>,
    ) -> Self {
        let mut root = ModuleResults::new(config.root_node(), ModuleAddr::root(), functions);
        // A resource whose configuration is generated is in no module, but has results as well.
        let unwritten = config.unwritten.keys().map(|name| (name.clone(), Default::default()));
        root.resources.extend(unwritten);
        Self {
            root,
            n_modules: Cell::new(0),
            constants,
            verdicts: ConditionResults::default(),
            generated: GeneratedConfigs::default(),
        }
    }

    /// The root module.
    #[must_use]
    pub fn root(&self) -> &ModuleResults {
        &self.root
    }

    /// The number of instances of called modules.
    #[must_use]
    pub fn n_module_instances(&self) -> usize {
        self.n_modules.get()
    }

    /// Counts instances of called modules in.
    pub(super) fn add_module_instance_count(&self, n_more: usize) {
        // Only compared with a limit, so the greatest number serves for all beyond it.
        self.n_modules.set(self.n_modules.get().saturating_add(n_more));
    }

    /// The answers of provider functions.
    #[must_use]
    pub fn provider_functions(&self) -> &ProviderFunctions {
        &self.root.functions
    }

    /// The values that are the same in every evaluation.
    #[must_use]
    pub fn known_constants(&self) -> &KnownConstants {
        &self.constants
    }

    /// An instance of a module, if its call and all calls above were expanded to it.
    #[must_use]
    pub fn module_instance(&self, addr: &ModuleAddr) -> Option<&ModuleResults> {
        addr.0.iter().try_fold(&self.root, |module, step| {
            module.calls.get(&step.name)?.expanded.get()?.cell_of_instance(&step.key)?.get()
        })
    }

    /// All instances of a module that its call and all calls above were expanded to, in order, without
    /// those that a test overrides.
    #[must_use]
    pub fn module_instances(&self, path: &ModulePath) -> Vec<&ModuleResults> {
        let mut instances = vec![&self.root];
        for name in path.0.iter() {
            let calls = instances.into_iter().filter_map(|module| module.calls.get(name));
            let expanded = calls.filter_map(|call| call.expanded.get());
            let cells = expanded.flat_map(|expanded| &expanded.instances);
            let recorded = cells.filter_map(OnceCell::get);
            instances = recorded.filter(|module| !module.is_overridden()).collect();
        }
        instances
    }

    /// The value of an instance, if it was recorded.
    #[must_use]
    pub fn instance_value(&self, addr: &InstanceAddr) -> Option<&Value> {
        self.module_instance(&addr.module)?
            .resource_results(&addr.resource)?
            .get_instance(&addr.key)
    }
}

impl ModuleResults {
    fn new(node: &ModuleNode, addr: ModuleAddr, functions: Rc<ProviderFunctions>) -> Self {
        let config = node.module.clone();
        // Each name has its cell from the start, so a missing cell is an error of this
        // program.
        Self {
            variables: NamedValues::new(config.variables.keys()),
            locals: NamedValues::new(config.locals.keys()),
            outputs: NamedValues::new(config.outputs.keys()),
            resources: config
                .resources
                .keys()
                .map(|name| (name.clone(), ResourceResults::default()))
                .collect(),
            calls: config.calls.keys().map(|name| (name.clone(), CallResults::default())).collect(),
            config,
            node: node.index,
            addr,
            functions,
            overridden: Cell::new(false),
        }
    }

    /// The answers of provider functions, in all modules.
    #[must_use]
    pub fn provider_functions(&self) -> &ProviderFunctions {
        &self.functions
    }

    /// The module as written.
    #[must_use]
    pub fn module_config(&self) -> &Arc<Module> {
        &self.config
    }

    /// The index of the module in [`Config::nodes`].
    #[must_use]
    pub fn node_index(&self) -> usize {
        self.node
    }

    /// The address of this instance.
    #[must_use]
    pub fn module_addr(&self) -> &ModuleAddr {
        &self.addr
    }

    /// The results of a resource; `None` if the configuration has no such resource.
    #[must_use]
    pub fn resource_results(&self, name: &ResourceName) -> Option<&ResourceResults> {
        self.resources.get(name)
    }

    /// The results of a module call; `None` if the configuration has no such call.
    #[must_use]
    pub fn call_results(&self, name: &str) -> Option<&CallResults> {
        self.calls.get(name)
    }

    /// The outputs as an object; those not recorded are unknown.
    #[must_use]
    pub fn output_object(&self) -> Value {
        let outputs = self.outputs.0.iter();
        Value::object(
            outputs.map(|(name, cell)| (name, cell.get().cloned().unwrap_or_else(Value::dynamic))),
        )
    }

    /// Replaces unknown parts of outputs with null. Outputs that are unknown as a whole stay unknown.
    fn null_unknown_parts_of_outputs(&mut self) {
        let known = self.outputs.0.values_mut().filter_map(OnceCell::get_mut);
        for value in known.filter(|value| !value.is_unknown()) {
            *value = null_unknown_parts(value);
        }
    }

    /// Whether a test has set the outputs.
    #[must_use]
    pub fn is_overridden(&self) -> bool {
        self.overridden.get()
    }

    /// Sets the outputs to those of a test. Outputs that it leaves out are null. As in Terraform, they are
    /// neither converted nor marked.
    pub(super) fn override_outputs(&self, values: &Value) {
        self.overridden.set(true);
        for name in self.config.outputs.keys() {
            let value = match values {
                Value::Object(object) => object.get(name),
                Value::Map(map) => map.get(name),
                _ => None,
            };
            self.outputs.set(name, value.cloned().unwrap_or_else(|| Value::null(Type::Dynamic)));
        }
    }

    /// Records the instances of a module call, and creates an empty table for each.
    pub fn record_call_expansion(&self, config: &Config, name: &str, expansion: Expansion) {
        let node = config.nodes.get(self.node).and_then(|node| node.children.get(name));
        let (Some(call), Some(&child)) = (self.calls.get(name), node) else {
            debug_assert!(false, "module.{name} is not in the configuration");
            return;
        };
        let node = &config.nodes[child];
        let expanded = ExpandedValues::new(expansion);
        for (key, cell) in expanded.expansion.keys().zip(&expanded.instances) {
            let child = Self::new(node, self.addr.child_addr(name, key), self.functions.clone());
            set_cell_once(cell, child, &name);
        }
        set_cell_once(&call.expanded, expanded, &name);
    }
}

/// Replaces the unknown parts of a value with null.
fn null_unknown_parts(value: &Value) -> Value {
    match value.children() {
        _ if value.is_unknown() => Value::null(value.ty()).mark(value.marks()),
        [] => value.clone(),
        parts => value.with_children(parts.iter().map(null_unknown_parts).collect()),
    }
}

/// Sets a cell. A second write is an error of this program and does not change the value.
fn set_cell_once<T>(cell: &OnceCell<T>, value: T, name: &dyn std::fmt::Debug) {
    let first = cell.set(value).is_ok();
    debug_assert!(first, "{name:?} was recorded twice");
}

impl NamedValues {
    fn new<'n>(names: impl Iterator<Item = &'n Str>) -> Self {
        Self(names.map(|name| (name.clone(), OnceCell::new())).collect())
    }

    /// Whether every value was recorded.
    fn is_complete(&self) -> bool {
        self.0.values().all(|cell| cell.get().is_some())
    }

    /// The value, if it was recorded.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)?.get()
    }

    /// Records a value. Must be done at most once, and only for names of the configuration.
    pub fn set(&self, name: &str, value: Value) {
        match self.0.get(name) {
            Some(cell) => set_cell_once(cell, value, &name),
            None => debug_assert!(false, "{name:?} is not in the configuration"),
        }
    }
}

impl<T> Default for RepeatedResults<T> {
    fn default() -> Self {
        let (placeholder, combined) = (OnceCell::new(), OnceCell::new());
        Self { expanded: OnceCell::new(), placeholder, combined }
    }
}

impl<T> RepeatedResults<T> {
    /// The instances, once they are known.
    #[must_use]
    pub fn expansion(&self) -> Option<&Expansion> {
        self.expanded.get().map(|expanded| &expanded.expansion)
    }

    /// Records the placeholder for the whole object while its instances are unknown. That of a resource
    /// is an unknown value of the type that references to it will have. A call has one while only the
    /// configuration is checked.
    pub fn set_placeholder(&self, value: Value) {
        set_cell_once(&self.placeholder, value, &"placeholder");
    }

    /// The placeholder for the whole object while its instances are unknown.
    #[must_use]
    pub fn placeholder(&self) -> Option<&Value> {
        self.placeholder.get()
    }

    /// The value of all instances together, cached or computed by `combine`.
    fn cached_or_combined(
        &self,
        combine: impl FnOnce(&ExpandedValues<T>) -> Option<CombinedInstances>,
    ) -> Option<Value> {
        if let Some(value) = self.combined.get() {
            return Some(value.clone());
        }
        let CombinedInstances { value, is_complete } = combine(self.expanded.get()?)?;
        // Only a complete value may be cached: the missing instances are still to come.
        if is_complete {
            set_cell_once(&self.combined, value.clone(), &"combined");
        }
        Some(value)
    }
}

impl ResourceResults {
    /// Records the instances. Must be called at most once.
    pub fn set_expansion(&self, expansion: Expansion) {
        set_cell_once(&self.expanded, ExpandedValues::new(expansion), &"expansion");
    }

    /// Records the value of an instance. Must be done at most once for each key, and only for keys of
    /// the expansion.
    pub fn set_instance(&self, key: &InstanceKey, value: Value) {
        match self.expanded.get().and_then(|expanded| expanded.cell_of_instance(key)) {
            Some(cell) => set_cell_once(cell, value, key),
            None => debug_assert!(false, "{key:?} is not an instance"),
        }
    }

    /// The value of an instance, if it was recorded.
    #[must_use]
    pub fn get_instance(&self, key: &InstanceKey) -> Option<&Value> {
        self.expanded.get()?.cell_of_instance(key)?.get()
    }

    /// All instances together: the object itself, a tuple of them, or an object of them by key. `None`
    /// before the resource is expanded.
    #[must_use]
    pub fn combined_value(&self) -> Option<Value> {
        // Instances that are not recorded, because they are not targets, are left out, or are
        // unknown if later ones are recorded.
        self.cached_or_combined(|ExpandedValues { expansion, instances: cells }| {
            let or_unknown =
                |cell: &OnceCell<Value>| cell.get().cloned().unwrap_or_else(Value::dynamic);
            let value = match expansion {
                Expansion::Single => {
                    // Its cell is already the whole value: nothing to cache.
                    let value = cells.first().map(or_unknown)?;
                    return Some(CombinedInstances { value, is_complete: false });
                }
                Expansion::Count(_) => {
                    let n_there =
                        cells.iter().rposition(|cell| cell.get().is_some()).map_or(0, |at| at + 1);
                    Value::tuple(cells.iter().take(n_there).map(or_unknown).collect())
                }
                Expansion::ForEach(each) => {
                    let entries = each.keys().iter().zip(cells);
                    Value::object(
                        entries.filter_map(|(key, cell)| Some((key, cell.get()?.clone()))),
                    )
                }
            };
            let is_complete = cells.iter().all(|cell| cell.get().is_some());
            Some(CombinedInstances { value, is_complete })
        })
    }
}

impl CallResults {
    /// All instances together: the object of the outputs, a tuple of such objects, or an object of them
    /// by key. `None` before the call is expanded.
    #[must_use]
    pub fn combined_value(&self) -> Option<Value> {
        self.cached_or_combined(|ExpandedValues { expansion, instances }| {
            let modules = || instances.iter().filter_map(OnceCell::get);
            let values = || modules().map(ModuleResults::output_object);
            let value = match expansion {
                Expansion::Single => values().next()?,
                Expansion::Count(_) => Value::tuple(values().collect()),
                // All instances have had their tables since the expansion, so keys and values are
                // in the same order.
                Expansion::ForEach(each) => Value::object(each.keys().iter().zip(values())),
            };
            let is_complete = modules().all(|module| module.outputs.is_complete());
            Some(CombinedInstances { value, is_complete })
        })
    }

    /// The results of one instance.
    #[must_use]
    pub fn instance_results(&self, key: &InstanceKey) -> Option<&ModuleResults> {
        self.expanded.get()?.cell_of_instance(key)?.get()
    }
}
