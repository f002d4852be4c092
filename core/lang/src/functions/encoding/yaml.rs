//! `yamldecode` and `yamlencode`. A library parses the text; `write` lays it out.

mod comma;
mod read;
mod scalar;
mod write;

use crate::functions::Builtin;

pub(super) fn list() -> Vec<Builtin> {
    vec![read::function(), write::function()]
}
