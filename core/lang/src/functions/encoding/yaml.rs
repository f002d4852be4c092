//! YAML: what the two functions read and write. The form of the text is the business of a library on
//! the way in and of `write` on the way out.

mod comma;
mod read;
mod scalar;
mod write;

use crate::functions::Builtin;

pub(super) fn list() -> Vec<Builtin> {
    vec![read::function(), write::function()]
}
