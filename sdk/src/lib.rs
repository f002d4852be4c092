//! Library for provider authors. One Rust type for each resource is its schema, its plan rules and its
//! data. Handlers receive and return that type.
//!
//! A complete provider:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use formwork_sdk::prelude::*;
//!
//! /// A greeting.
//! #[derive(Model)]
//! struct Greeting {
//!     /// Name of the person to greet.
//!     #[attr(required, replace)]
//!     name: String,
//!     /// Word before the name.
//!     #[attr(default = "Hello", replace)]
//!     word: String,
//!     /// The greeting itself.
//!     #[attr(computed, keep)]
//!     text: String,
//! }
//!
//! struct Greeter;
//!
//! impl Resource for Greeter {
//!     type Model = Greeting;
//!
//!     async fn create(&self, call: Create<Greeting>) -> Answer<GreetingComputed> {
//!         let GreetingInput { name, word } = call.planned;
//!         Ok(GreetingComputed { text: format!("{word}, {name}") })
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     serve(ProviderDef::new("registry.terraform.io/acme/hello").resource("hello_text", Greeter))
//! }
//! ```
//!
//! The struct is a stored object: every attribute is known, and only an `Option` may be null. The derive
//! makes three more structs. `GreetingInput` has the attributes that the author of a configuration sets,
//! with defaults. `GreetingComputed` has the attributes that the provider sets. `GreetingDraft` has all
//! attributes, each possibly null or unknown, for validating and planning. So a handler cannot change a
//! value of the author, forget a computed attribute, or leave a value unknown.
//!
//! The program serves both protocol versions. A provider author needs no type of the protocol, and no
//! dynamic value.

extern crate self as formwork_sdk;

pub mod action;
mod blocking_work;
mod call;
pub mod check;
mod configure;
pub mod context;
pub mod data_source;
pub mod ephemeral;
mod erased;
pub mod field;
pub mod function;
pub mod list;
pub mod log;
pub mod model;
mod panic_positions;
mod plan;
pub mod problem;
pub mod provider_def;
pub mod resource;
pub mod schema;
mod serve;
mod server;
pub mod state_store;
pub mod stop;
pub mod testing;
pub mod timeouts;
pub mod upgrade;

pub use action::Action;
pub use blocking_work::run_blocking;
pub use call::Call;
pub use ephemeral::Ephemeral;
pub use field::{Attr, Field, Secret, Set, WholeObject};
pub use formwork_value as value;
pub use function::Function;
pub use list::List;
pub use model::{Computed, Draft, Identity, Input, Model, Nested, ObjectConversion};
pub use problem::{Answer, Problem};
pub use provider_def::ProviderDef;
pub use resource::Resource;
pub use serve::serve;
pub use state_store::StateStore;
pub use upgrade::{IdentityUpgrades, Upgrades};

/// Items that most providers need.
pub mod prelude {
    pub use crate::action::{Action, Invoke, PlanAction};
    pub use crate::context::DeferredReason;
    pub use crate::data_source::{DataSource, ReadData};
    pub use crate::ephemeral::{Close, Ephemeral, Open, Renew};
    pub use crate::function::Function;
    pub use crate::list::{List, Search};
    pub use crate::problem::OrFailWithSummary;
    pub use crate::provider_def::{Configure, ProviderDef, Setup};
    pub use crate::resource::{
        Create, Delete, ForeignObject, Import, ImportByIdentity, ModifyPlan, Read, Resource,
        Update, Upgrade, Validate,
    };
    pub use crate::state_store::{
        ConfigureStore, DeleteState, ListStates, LockState, ReadState, StateStore, UnlockState,
        WriteState,
    };
    pub use crate::stop::Stop;
    pub use crate::timeouts::{Timeouts, Wait};
    pub use crate::{
        Answer, Attr, Call, Computed, Draft, Identity, IdentityUpgrades, Input, Model, Nested,
        ObjectConversion, Problem, Secret, Set, Upgrades, WholeObject, run_blocking, serve,
    };
    pub use formwork_sdk_macros::{Arguments, Model, Nested};
    pub use formwork_value::Path;
}
