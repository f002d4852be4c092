//! The configuration as written: the tree of modules, not evaluated.
//!
//! Every block is decoded as far as that is possible without values. Bodies that need a provider's
//! schema stay bodies. Nothing here depends on state or plans.

mod arguments;
pub(crate) mod bad_reference;
mod call_arguments;
mod call_limits;
mod check_block;
mod check_imports;
mod condition;
#[cfg(test)]
pub(crate) mod config_from_text;
pub(crate) mod constant;
pub mod encryption;
pub mod files;
mod fill_references;
pub(crate) mod generated_blocks;
mod import;
pub mod inputs;
#[cfg(test)]
mod language_page;
mod lifecycle;
mod load;
mod module_block;
pub mod module_dirs;
mod module_draft;
pub mod module_tree;
mod moved;
pub mod opentofu_files;
mod output;
mod override_files;
pub mod parsed_test_file;
mod provider;
mod provider_passing;
mod provisioner;
mod removed;
mod requirements;
mod resource;
mod state_block;
mod state_store;
mod syntax_error_blocks;
pub mod terraform_block;
pub mod test_files;
pub mod test_mocks;
pub mod test_modules;
#[cfg(test)]
mod tests;
mod traversal;
mod validate_references;
mod variable;

pub use check_block::CheckBlock;
pub(crate) use check_imports::{import_key_problem, import_problem};
pub use files::ConfigFiles;
pub use import::{ImportBlock, ImportKeyExpr};
pub use load::{ConfigSource, is_config_file_name, load_root_module};
pub use module_dirs::{ModuleCallSource, ModuleDirs, ModuleNotInstalled};
pub use module_tree::{ModuleNode, ProviderKey};
pub use moved::MovedBlock;
pub use removed::RemovedBlock;
pub use validate_references::check_expression_references;
pub(crate) use validate_references::resource_or_call_problems;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use formwork_lang::refs::Traversal;
use formwork_lang::syntax::{Body, Expr, Ident};
use formwork_value::{Diagnostics, Span, Str, Type};

use crate::addr::{LocalProviderConfig, ProviderAddr, Reference, ResourceName};

/// A whole configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The root module.
    pub root: Arc<Module>,
    /// One node for every call of a module; the root is the first, and callers come before
    /// the modules they call.
    pub nodes: Vec<ModuleNode>,
    /// Resources of the root module whose configuration is still to be generated.
    pub unwritten: BTreeMap<ResourceName, Box<Resource>>,
    /// Number of files it was read from: zero is an error for most commands.
    pub n_files: usize,
    /// Requirements on the engine's version that are not met, reported by
    /// [`Config::check_required_versions`].
    pub(crate) unmet_versions: Diagnostics,
    /// Whether some reference in it leads nowhere.
    pub dangles: bool,
    /// Overrides of modules by a test.
    pub module_overrides: Vec<test_mocks::Override>,
}

/// A module as written.
#[derive(Clone, Debug)]
pub struct Module {
    /// Whether it is the root module: every other module has a caller.
    pub is_root: bool,
    /// The directory of the module.
    pub dir: PathBuf,
    /// The settings from its `terraform` blocks.
    pub settings: ModuleSettings,
    /// Provider configurations.
    pub providers: BTreeMap<LocalProviderConfig, ProviderBlock>,
    /// Input variables.
    pub variables: BTreeMap<Str, Variable>,
    /// Local values.
    pub locals: BTreeMap<Str, LocalValue>,
    /// Output values.
    pub outputs: BTreeMap<Str, Output>,
    /// Managed resources and data sources.
    pub resources: BTreeMap<ResourceName, Box<Resource>>,
    /// Modules called from here.
    pub calls: BTreeMap<Str, ModuleCall>,
    /// Moves of objects to other addresses, in the order written.
    pub moved: Vec<MovedBlock>,
    /// Removals from the configuration, in the order written.
    pub removed: Vec<RemovedBlock>,
    /// Imports of existing objects, in the order written.
    pub imports: Vec<ImportBlock>,
    /// Conditions on the whole.
    pub checks: BTreeMap<Str, CheckBlock>,
}

/// A call of a module.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    /// The source of the called module, and the name of the call.
    pub site: ModuleCallSource,
    /// The repetition of the call.
    pub repetition: Repetition,
    /// Objects that must be complete before any object of the module.
    pub depends_on: Vec<Reference>,
    /// The provider configurations that are passed, in the order written.
    pub providers: Vec<PassedProvider>,
    /// Arguments for its variables.
    pub arguments: BTreeMap<Str, CallArgument>,
    /// The types of the blocks in the call. A module takes none, and its installation ignores them.
    pub blocks: Vec<Ident>,
    /// All references in the repetition and in `depends_on`.
    pub references: Vec<Reference>,
    /// The span at which a missing argument is reported.
    pub missing: Span,
}

/// The argument for a variable of a called module.
#[derive(Clone, Debug)]
pub struct CallArgument {
    /// The value, in the caller.
    pub expr: Expr,
    /// All references in the value.
    pub references: Vec<Reference>,
    /// The span of the name.
    pub name_span: Span,
}

/// An entry of `providers` in a call.
#[derive(Clone, Debug)]
pub struct PassedProvider {
    /// The name in the called module.
    pub in_child: LocalProviderConfig,
    /// The span of that name.
    pub child_span: Span,
    /// The name in the caller.
    pub in_caller: LocalProviderConfig,
    /// The span of that name.
    pub caller_span: Span,
}

/// The settings from the `terraform` blocks of a module.
#[derive(Clone, Debug, Default)]
pub struct ModuleSettings {
    /// Constraints on the version of the engine, as written.
    pub required_version: Vec<(String, Span)>,
    /// The span of the list of required providers, if it exists.
    pub required_providers_span: Option<Span>,
    /// Providers by local name.
    pub required_providers: BTreeMap<Str, RequiredProvider>,
    /// The backend block, if it exists.
    pub backend: Option<StateBackendBlock>,
    /// Metadata for providers, by their local names.
    pub metas: BTreeMap<Str, ProviderMeta>,
    /// The encryption of states and plans, if the block exists.
    pub encryption: Option<encryption::EncryptionBlock>,
}

/// A `provider_meta` block: metadata that a module sends to a provider.
#[derive(Clone, Debug)]
pub struct ProviderMeta {
    /// Everything the provider's schema for it describes. All of it is constant.
    pub body: Body,
    /// The block's header.
    pub span: Span,
    /// The span of the provider name.
    pub name_span: Span,
}

/// An entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// The address of the provider.
    pub source: ProviderAddr,
    /// Constraint on its version, as written; empty for none.
    pub constraint: String,
    /// Configurations that callers must pass: `configuration_aliases`.
    pub aliases: Vec<LocalProviderConfig>,
    /// The span of the entry.
    pub span: Span,
}

/// A `backend`, `cloud` or `state_store` block. Its type is checked only by commands that need the
/// state: all others work with any.
#[derive(Clone, Debug)]
pub struct StateBackendBlock {
    /// The type of the backend or state store; `cloud` for a `cloud` block.
    pub kind: Str,
    /// The arguments of the block.
    pub body: Body,
    /// The block's header.
    pub span: Span,
    /// The provider that has the state store, if this is a `state_store` block.
    pub provider: Option<StateStoreProviderBlock>,
}

/// The `provider` block within a `state_store` block.
#[derive(Clone, Debug)]
pub struct StateStoreProviderBlock {
    /// The local name.
    pub name: Str,
    /// The provider address of the local name.
    pub source: ProviderAddr,
    /// The configuration of the provider.
    pub body: Body,
    /// The block's header.
    pub span: Span,
}

/// A `provider` block.
#[derive(Clone, Debug)]
pub struct ProviderBlock {
    /// The name and alias.
    pub local: LocalProviderConfig,
    /// The address of the provider.
    pub provider: ProviderAddr,
    /// A version constraint in the deprecated argument `version`.
    pub version: Option<(String, Span)>,
    /// All references in the body.
    pub references: Vec<Reference>,
    /// Everything the provider's schema describes.
    pub body: Body,
    /// The block's header.
    pub span: Span,
}

/// A `variable` block.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: Str,
    /// The type to which values are converted; `Dynamic` if no type is declared.
    pub ty: Type,
    /// Whether a type is declared: without one, values from the environment stay strings.
    pub typed: bool,
    /// Defaults of optional attributes.
    pub defaults: Option<formwork_lang::type_expr::TypeDefaults>,
    /// The default, already converted; `None` if the variable is required.
    pub default: Option<formwork_value::Value>,
    /// The description for display.
    pub description: String,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// Whether it must not be stored.
    pub ephemeral: bool,
    /// Whether the variable accepts null.
    pub nullable: bool,
    /// Conditions on the value.
    pub validations: Vec<ConditionBlock>,
    /// All references in the validations, the variable itself included.
    pub references: Vec<Reference>,
    /// The position of the block, for display: `main.tf:3,1-13`.
    pub position: String,
    /// The block's header.
    pub span: Span,
}

/// A condition with the message for its failure.
#[derive(Clone, Debug)]
pub struct ConditionBlock {
    /// The condition that must be true.
    pub condition: Expr,
    /// The message for a failure.
    pub message: Expr,
    /// The position of the block, for display: `main.tf:3,1-11`.
    pub position: String,
    /// The block's header.
    pub span: Span,
}

/// An entry of a `locals` block.
#[derive(Clone, Debug)]
pub struct LocalValue {
    /// The name.
    pub name: Str,
    /// The expression of the value.
    pub expr: Expr,
    /// All references in the value.
    pub references: Vec<Reference>,
    /// The name and the expression.
    pub span: Span,
}

/// An `output` block.
#[derive(Clone, Debug)]
pub struct Output {
    /// The name.
    pub name: Str,
    /// The expression of the value.
    pub expr: Expr,
    /// The description for display.
    pub description: String,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// Whether it must not be stored.
    pub ephemeral: bool,
    /// Objects that must be done before.
    pub depends_on: Vec<Reference>,
    /// Conditions on the way out.
    pub preconditions: Vec<ConditionBlock>,
    /// All references in the value, the conditions and `depends_on`.
    pub references: Vec<Reference>,
    /// The block's header.
    pub span: Span,
}

/// A `resource` or `data` block.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The name.
    pub name: ResourceName,
    /// The provider configuration it names, or the one its type implies.
    pub local_provider: LocalProviderConfig,
    /// Whether it names one.
    pub names_provider: bool,
    /// The address of that provider.
    pub provider: ProviderAddr,
    /// The repetition of the resource.
    pub repetition: Repetition,
    /// Objects that must be complete before this one, in addition to its references.
    pub depends_on: Vec<Reference>,
    /// The `lifecycle` settings.
    pub lifecycle: Lifecycle,
    /// Provisioners that run beside its objects, in order.
    pub provisioners: Vec<Provisioner>,
    /// All references in the block, including `depends_on` and conditions.
    pub references: Vec<Reference>,
    /// The `check` block that contains it. Only this block can refer to it.
    pub within: Option<Str>,
    /// Everything the provider's schema describes.
    pub body: Body,
    /// The type, where it is written.
    pub type_span: Span,
    /// The block's header.
    pub span: Span,
}

/// A `provisioner` block: a program that runs after the creation or before the destruction of an object.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// The kind of provisioner.
    pub kind: Ident,
    /// The time at which it runs.
    pub when: ProvisionerTiming,
    /// The effect of its failure.
    pub on_failure: OnFailure,
    /// The connection to the machine, merged from the resource and the provisioner.
    pub connection: Option<Body>,
    /// Everything its schema describes.
    pub body: Body,
    /// The block's header.
    pub span: Span,
    /// The span at which its failure is reported: the opening brace.
    pub missing: Span,
}

/// The time at which a provisioner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisionerTiming {
    /// After the creation of an object.
    Create,
    /// Before an object is destroyed.
    Destroy,
}

/// The effect of the failure of a provisioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing.
    Continue,
    /// The operation has failed: a created object is tainted, an object to destroy stays.
    Fail,
}

/// The repetition of a resource or module.
#[derive(Clone, Debug)]
pub enum Repetition {
    /// No repetition.
    Single,
    /// `count`.
    Count(Expr),
    /// `for_each`.
    ForEach(Expr),
}

/// A `lifecycle` block.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Whether a replacement is created first; `None` if not written.
    pub create_before_destroy: Option<bool>,
    /// The span of that argument.
    pub create_before_destroy_span: Option<Span>,
    /// Whether destroying is refused.
    pub prevent_destroy: bool,
    /// The attributes whose changes in the configuration are ignored after creation.
    pub ignore_changes: IgnoreChanges,
    /// Changes of these replace the resource.
    pub replace_triggered_by: Vec<Expr>,
    /// Conditions that are checked before the change.
    pub preconditions: Vec<ConditionBlock>,
    /// Conditions that are checked after the change.
    pub postconditions: Vec<ConditionBlock>,
}

/// The attributes whose changes in the configuration are ignored after creation.
#[derive(Clone, Debug, Default)]
pub enum IgnoreChanges {
    /// No changes are ignored.
    #[default]
    Nothing,
    /// All changes are ignored.
    All,
    /// Changes of these attributes are ignored; relative traversals, the first name being the
    /// attribute.
    These(Vec<Traversal>),
}
