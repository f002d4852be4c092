//! Types, values, schemas, paths and diagnostics: the vocabulary every other crate shares.
//!
//! A [`Value`] has a [`Type`]; it may be null, unknown with refinements, and may carry [`Marks`].
//! [`Plain`] and [`Known`] are values with a proof attached. A [`Schema`] describes the data of a
//! provider and implies a type. [`Diagnostics`] collects problems, and [`Reported`] proves that an error
//! was reported.
//!
//! The crate is pure: no input or output, no clock, no environment.

pub mod codec;
pub mod convert;
pub mod diag;
pub mod duration;
pub mod marks;
pub mod number;
pub mod ops;
pub mod path;
pub mod quote;
pub mod schema;
mod secrets;
mod set_elements;
mod str;
pub mod ty;
pub mod unknown;
pub mod value;
pub mod walk;
pub mod wildcards;

pub use diag::{Diagnostic, Diagnostics, Reported, Span};
pub use marks::{Known, MarkPaths, Marks, Plain};
pub use number::Number;
pub use path::{Path, Step};
pub use schema::Schema;
pub use secrets::Secrets;
pub use str::Str;
pub use ty::Type;
pub use unknown::{Refinement, Unknown};
pub use value::Value;
