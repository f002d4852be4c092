//! Marks of objects from a provider.

use formwork_value::{MarkPaths, Marks, Path, Plain, Value};

use crate::provider::ResourceType;

/// Marks an object from a provider as sensitive at the paths `sensitive` and at those of the schema.
#[must_use]
pub fn add_marks(ty: &ResourceType, value: Plain, sensitive: &[Path]) -> Value {
    // A path that is sensitive in the configuration but not stored has nothing to hide. Terraform marks
    // paths that are sensitive in the schema anyway.
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

/// Returns whether a value has or may later have a part at a path: an unknown value may get any part,
/// and the elements of a set have no paths.
fn may_have_part_at(value: &Value, path: &Path) -> bool {
    // An absent key has nothing to hide, as in Terraform.
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
