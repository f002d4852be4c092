//! What the author wrote: the tree of modules, not evaluated.
//!
//! Every block is decoded as far as that is possible without values. Bodies that need a provider's
//! schema stay bodies. Nothing here knows of state or plans.

mod arguments;
pub(crate) mod bad_reference;
mod call;
mod call_arguments;
mod check;
mod condition;
pub(crate) mod constant;
mod draft;
pub mod files;
pub mod folders;
mod import;
mod import_target;
pub mod inputs;
mod lifecycle;
mod load;
mod moved;
mod output;
mod overrides;
#[cfg(test)]
mod page;
mod passing;
mod provider;
mod provisioner;
mod references;
mod removed;
mod requirements;
mod resource;
pub mod settings;
pub mod test_files;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod traversal;
pub mod tree;
pub(crate) mod unwritten;
mod validate;
mod variable;

pub use check::Check;
pub use files::Files;
pub use folders::{CallSite, ModuleFolders, NotInstalled};
pub use import::{Import, ImportBy};
pub(crate) use import_target::problem as import_problem;
pub use load::{Place, backend};
pub use moved::Moved;
pub use removed::Removed;
pub use tree::ModuleNode;
pub use validate::check_expression;
pub(crate) use validate::object_problems;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use formwork_lang::refs::Traversal;
use formwork_lang::syntax::{Body, Expr, Ident};
use formwork_value::{Span, Str, Type};

use crate::addr::{LocalProvider, ProviderAddr, Reference, ResourceName};

/// A whole configuration.
#[derive(Debug)]
pub struct Config {
    /// The root module.
    pub root: Arc<Module>,
    /// Every module at the place where it is called; the root is the first, and callers come before
    /// what they call.
    pub nodes: Vec<ModuleNode>,
    /// Resources of the root module whose configuration is still to be generated.
    pub unwritten: BTreeMap<ResourceName, Box<Resource>>,
    /// How many files it was read from: none is a mistake for most commands.
    pub n_files: usize,
    /// Whether some reference in it leads nowhere.
    pub dangles: bool,
}

/// One module as written.
#[derive(Debug)]
pub struct Module {
    /// Whether it is the root module: everything else is called by something.
    pub is_root: bool,
    /// Its folder.
    pub dir: PathBuf,
    /// What its `terraform` blocks say.
    pub settings: Settings,
    /// Provider configurations.
    pub providers: BTreeMap<LocalProvider, ProviderBlock>,
    /// Input variables.
    pub variables: BTreeMap<Str, Variable>,
    /// Local values.
    pub locals: BTreeMap<Str, Local>,
    /// Output values.
    pub outputs: BTreeMap<Str, Output>,
    /// Managed resources and data sources.
    pub resources: BTreeMap<ResourceName, Box<Resource>>,
    /// Modules called from here.
    pub calls: BTreeMap<Str, ModuleCall>,
    /// What has another address from now on, in the order written.
    pub moved: Vec<Moved>,
    /// What is no longer written, in the order written.
    pub removed: Vec<Removed>,
    /// What is there already and belongs to an address from now on, in the order written.
    pub imports: Vec<Import>,
    /// Conditions on the whole.
    pub checks: BTreeMap<Str, Check>,
}

/// A call of a module.
#[derive(Debug)]
pub struct ModuleCall {
    /// Which module is called, under which name.
    pub site: CallSite,
    /// How it is repeated.
    pub repetition: Repetition,
    /// What must be done before anything in it.
    pub depends_on: Vec<Reference>,
    /// The provider configurations that are passed, in the order written.
    pub providers: Vec<PassedProvider>,
    /// What is given for its variables.
    pub arguments: BTreeMap<Str, Argument>,
    /// The kinds of the blocks in it. A module takes none; installing it asks nothing of them.
    pub blocks: Vec<Ident>,
    /// Everything mentioned in the repetition and in `depends_on`.
    pub references: Vec<Reference>,
    /// Where a missing argument is reported.
    pub missing: Span,
}

/// What is given for a variable of a called module.
#[derive(Debug)]
pub struct Argument {
    /// The value, in the caller.
    pub expr: Expr,
    /// Everything mentioned in the value.
    pub references: Vec<Reference>,
    /// Where the name stands.
    pub name_span: Span,
}

/// One entry of `providers` in a call.
#[derive(Debug)]
pub struct PassedProvider {
    /// What the called module knows it as.
    pub in_child: LocalProvider,
    /// Where that is written.
    pub child_span: Span,
    /// What the caller knows it as.
    pub in_caller: LocalProvider,
    /// Where that is written.
    pub caller_span: Span,
}

/// What the `terraform` blocks of a module say.
#[derive(Debug, Default)]
pub struct Settings {
    /// Constraints on the version of the engine, as written.
    pub required_version: Vec<(String, Span)>,
    /// Where required providers are listed, if they are.
    pub required_providers_span: Option<Span>,
    /// Providers by local name.
    pub required_providers: BTreeMap<Str, RequiredProvider>,
    /// Where the state lives.
    pub backend: Option<Backend>,
    /// What the module tells providers about itself, by their local names.
    pub metas: BTreeMap<Str, ProviderMeta>,
}

/// A `provider_meta` block: what a module tells a provider about itself.
#[derive(Debug)]
pub struct ProviderMeta {
    /// Everything the provider's schema for it describes. All of it is constant.
    pub body: Body,
    /// The block's header.
    pub span: Span,
    /// Where the provider is named.
    pub name_span: Span,
}

/// One entry of `required_providers`.
#[derive(Debug)]
pub struct RequiredProvider {
    /// Where the provider comes from.
    pub source: ProviderAddr,
    /// Constraint on its version, as written; empty for none.
    pub constraint: String,
    /// Configurations that callers must pass: `configuration_aliases`.
    pub aliases: Vec<LocalProvider>,
    /// Where it is written.
    pub span: Span,
}

/// A `backend` or a `cloud` block. Whether there is such a backend is for whoever needs the state to
/// find out: what does not need it works with any.
#[derive(Debug)]
pub struct Backend {
    /// The backend's type; `cloud` for a `cloud` block.
    pub kind: Str,
    /// Its arguments.
    pub body: Body,
    /// The block's header.
    pub span: Span,
}

/// A `provider` block.
#[derive(Debug)]
pub struct ProviderBlock {
    /// The name and alias.
    pub local: LocalProvider,
    /// Where the provider comes from.
    pub provider: ProviderAddr,
    /// A version constraint in the old place.
    pub version: Option<(String, Span)>,
    /// Everything mentioned in the body.
    pub references: Vec<Reference>,
    /// Everything the provider's schema describes.
    pub body: Body,
    /// The block's header.
    pub span: Span,
}

/// A `variable` block.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: Str,
    /// The type it is converted to; `Dynamic` if none is given.
    pub ty: Type,
    /// Whether a type was written at all: without one, text from outside stays text.
    pub typed: bool,
    /// What fills optional attributes.
    pub defaults: Option<formwork_lang::type_expr::Defaults>,
    /// The default, already converted; `None` if the variable must be given.
    pub default: Option<formwork_value::Value>,
    /// For people.
    pub description: String,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// Whether it must not be stored.
    pub ephemeral: bool,
    /// Whether null may be given.
    pub nullable: bool,
    /// Conditions on the value.
    pub validations: Vec<Condition>,
    /// Everything mentioned in the validations, the variable itself included.
    pub references: Vec<Reference>,
    /// The block's header.
    pub span: Span,
}

/// A condition with the message for when it does not hold.
#[derive(Debug)]
pub struct Condition {
    /// What must hold.
    pub condition: Expr,
    /// What to say otherwise.
    pub message: Expr,
    /// Where the block stands, for people: `main.tf:3,1-11`.
    pub place: String,
    /// The block's header.
    pub span: Span,
}

/// One entry of a `locals` block.
#[derive(Debug)]
pub struct Local {
    /// Its name.
    pub name: Str,
    /// Its value.
    pub expr: Expr,
    /// Everything mentioned in the value.
    pub references: Vec<Reference>,
    /// The name and the expression.
    pub span: Span,
}

/// An `output` block.
#[derive(Debug)]
pub struct Output {
    /// Its name.
    pub name: Str,
    /// Its value.
    pub expr: Expr,
    /// For people.
    pub description: String,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// Whether it must not be stored.
    pub ephemeral: bool,
    /// What must be done before.
    pub depends_on: Vec<Reference>,
    /// Conditions on the way out.
    pub preconditions: Vec<Condition>,
    /// Everything mentioned in the value, the conditions and `depends_on`.
    pub references: Vec<Reference>,
    /// The block's header.
    pub span: Span,
}

/// A `resource` or `data` block.
#[derive(Debug)]
pub struct Resource {
    /// Its name.
    pub name: ResourceName,
    /// The provider configuration it names, or the one its type implies.
    pub local_provider: LocalProvider,
    /// Whether it names one.
    pub names_provider: bool,
    /// Where that provider comes from.
    pub provider: ProviderAddr,
    /// How it is repeated.
    pub repetition: Repetition,
    /// What must be done before, beyond what it mentions.
    pub depends_on: Vec<Reference>,
    /// How it is treated.
    pub lifecycle: Lifecycle,
    /// What runs beside its objects, in order.
    pub provisioners: Vec<Provisioner>,
    /// Everything mentioned anywhere in the block, `depends_on` and conditions included.
    pub references: Vec<Reference>,
    /// The `check` block it stands in, which alone sees it.
    pub within: Option<Str>,
    /// Everything the provider's schema describes.
    pub body: Body,
    /// The type, where it is written.
    pub type_span: Span,
    /// The block's header.
    pub span: Span,
}

/// A `provisioner` block: something that runs beside an object.
#[derive(Debug)]
pub struct Provisioner {
    /// Which kind.
    pub kind: Ident,
    /// When it runs.
    pub when: When,
    /// What its failure means.
    pub on_failure: OnFailure,
    /// How to reach the machine: what the resource and the provisioner say, taken together.
    pub connection: Option<Body>,
    /// Everything its schema describes.
    pub body: Body,
    /// The block's header.
    pub span: Span,
    /// Where its failure is reported: the opening brace.
    pub missing: Span,
}

/// When a provisioner runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After an object was made.
    Create,
    /// Before an object is destroyed.
    Destroy,
}

/// What the failure of a provisioner means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing.
    Continue,
    /// The operation has failed: the object made is tainted, the object to destroy stays.
    Fail,
}

/// How a resource or module is repeated.
#[derive(Debug)]
pub enum Repetition {
    /// It is not.
    Single,
    /// `count`.
    Count(Expr),
    /// `for_each`.
    ForEach(Expr),
}

/// A `lifecycle` block.
#[derive(Debug, Default)]
pub struct Lifecycle {
    /// Whether a replacement is created first; `None` if not written.
    pub create_before_destroy: Option<bool>,
    /// Where that is written.
    pub create_before_destroy_span: Option<Span>,
    /// Whether destroying is refused.
    pub prevent_destroy: bool,
    /// What of the configuration is not looked at after creation.
    pub ignore_changes: IgnoreChanges,
    /// Changes of these replace the resource.
    pub replace_triggered_by: Vec<Expr>,
    /// What must hold before.
    pub preconditions: Vec<Condition>,
    /// What must hold after.
    pub postconditions: Vec<Condition>,
}

/// What of the configuration is not looked at after creation.
#[derive(Debug, Default)]
pub enum IgnoreChanges {
    /// Everything is looked at.
    #[default]
    Nothing,
    /// Nothing is.
    All,
    /// These attributes are not; relative traversals, the first name being the attribute.
    These(Vec<Traversal>),
}
