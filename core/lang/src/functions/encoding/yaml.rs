//! `yamldecode` and `yamlencode`. A library parses YAML, and `write_yaml` writes it.

mod commas_after_tags;
mod read_scalar;
mod read_yaml;
mod write_yaml;

use crate::functions::Builtin;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![read_yaml::yaml_decode_builtin(), write_yaml::yaml_encode_builtin()]
}
