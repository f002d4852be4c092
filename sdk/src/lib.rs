//! What a provider author writes against: one Rust type per resource is its schema, its plan rules and
//! its data; handlers get and return that type; the rest is done here.
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
//!     /// Whom to greet.
//!     #[attr(required, replace)]
//!     name: Attr<String>,
//!     /// With what word.
//!     #[attr(optional_computed, default = "Hello", replace)]
//!     word: Attr<String>,
//!     /// The greeting itself.
//!     #[attr(computed, keep)]
//!     text: Attr<String>,
//! }
//!
//! struct Greeter;
//!
//! #[async_trait]
//! impl Resource for Greeter {
//!     type Model = Greeting;
//!
//!     async fn create(&self, _: &mut Diagnostics, call: Create<Greeting>) -> Answer<Greeting> {
//!         let Greeting { name, word, .. } = call.planned;
//!         let text = format!("{}, {}", word.or_default(), name.or_default()).into();
//!         Ok(Greeting { name, word, text })
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     serve(ProviderDef::new("registry.terraform.io/acme/hello").resource("hello_text", Greeter))
//! }
//! ```
//!
//! Both protocol versions are served by the same program. No word of either is needed to write a
//! provider, nor is a raw value.

extern crate self as formwork_sdk;

pub mod data_source;
pub mod ephemeral;
mod erased;
pub mod field;
pub mod function;
pub mod model;
mod plan;
pub mod provider;
pub mod resource;
pub mod schema;
mod serve;
mod server;
pub mod stop;
pub mod testing;

pub use ephemeral::Ephemeral;
pub use field::{Attr, Field};
pub use formwork_value as value;
pub use function::Function;
pub use model::Model;
pub use provider::ProviderDef;
pub use resource::Resource;
pub use serve::serve;

/// What a handler returns: the value, or the receipt for the error that it reported.
pub type Answer<T> = Result<T, value::Reported>;

/// All that most providers need.
pub mod prelude {
    pub use crate::data_source::DataSource;
    pub use crate::ephemeral::{Ephemeral, Keep, Opened};
    pub use crate::function::{Arguments, Function, Parameter, Refusal, Signature};
    pub use crate::provider::{Configure, ProviderDef};
    pub use crate::resource::{Change, Create, Delete, Read, Resource, Stored, Update};
    pub use crate::stop::Stop;
    pub use crate::{Answer, Attr, Model, serve};
    pub use async_trait::async_trait;
    pub use formwork_sdk_macros::Model;
    pub use formwork_value::{Diagnostic, Diagnostics, Path, Reported};
}
