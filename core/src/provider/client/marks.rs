//! Marks of objects that came from a provider.

use formwork_value::{MarkPaths, Marks, Path, Plain, Value};

use crate::provider::ResourceType;

/// Puts marks on an object that came from a provider: those at `sensitive`, and those of the schema.
#[must_use]
pub fn add_marks(ty: &ResourceType, value: Plain, sensitive: &[Path]) -> Value {
    // A path that is sensitive in the configuration and is not stored has nothing to hide.
    // Terraform marks paths that the schema calls sensitive all the same.
    let is_stored = |path: &&Path| {
        !ty.schema_block().attribute_at(path).is_some_and(|(attribute, _)| attribute.write_only)
    };
    let is_there = |path: &&Path| may_have_part_at(value.value(), path);
    let mut paths: Vec<_> = sensitive.iter().filter(is_stored).filter(is_there).cloned().collect();
    paths.extend(ty.schema_block().sensitive_paths(value.value()));
    if paths.is_empty() {
        return value.into_value();
    }
    value.with_marks(&MarkPaths::on_all_paths(paths, Marks::SENSITIVE))
}

/// Whether a value has or may come to have a part at a path: a part of something unknown may come, and
/// an element of a set has no path of its own.
fn may_have_part_at(value: &Value, path: &Path) -> bool {
    // A key that is absent hides nothing, as in Terraform.
    let mut part = value;
    for step in &path.0 {
        match part.without_own_marks() {
            Value::Unknown(_) | Value::Set(_) => return true,
            Value::Null(_) => return false,
            _ => {}
        }
        let Some(child) = part.child_position(step).and_then(|at| part.children().get(at)) else {
            return false;
        };
        part = child;
    }
    true
}
