//! `yamldecode` and `yamlencode`. A library parses the text; `write` lays it out.

mod read;
mod read_scalar;
mod tag_comma;
mod write;

use crate::functions::Builtin;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![read::yaml_decode_builtin(), write::yaml_encode_builtin()]
}
