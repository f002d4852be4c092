//! Replacement: the paths that a provider cannot change in place and that do change.

use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Step, Type, Value};

use super::inspect_values::are_identical;
use super::{Rule, Violation};

/// Finds out which of `paths` force the object to be replaced: sorted, each once; none if the object can
/// be updated. A provider may name every path that would force it; those that do not change are
/// dropped. A write-only path forces it whenever it is named: only the provider can see that it
/// changed.
#[must_use]
pub fn paths_requiring_replace(
    block: &Block,
    prior: &Plain,
    planned: &Plain,
    paths: &[Path],
) -> Vec<Path> {
    if prior.value().is_null() {
        return Vec::new();
    }
    let is_forcing = |path: &&Path| {
        let prior_part = part_at(prior.value(), path);
        let planned_part = part_at(planned.value(), path);
        if prior_part.is_none() && planned_part.is_none() {
            return false;
        }
        let write_only = block
            .attribute_at(path)
            .is_some_and(|(attr, remaining_path)| attr.write_only && remaining_path.is_empty());
        let null = Value::null(Type::Dynamic);
        let is_unchanged = is_value_unchanged(
            prior_part.as_ref().unwrap_or(&null),
            planned_part.as_ref().unwrap_or(&null),
        );
        write_only || !is_unchanged
    };
    let mut forcing_paths: Vec<_> = paths.iter().filter(is_forcing).cloned().collect();
    // Go providers list the paths in the order of a map, which is random; a plan must not depend on
    // it.
    forcing_paths.sort();
    forcing_paths.dedup();
    forcing_paths
}

/// Finds paths that exist neither in the prior object nor in the planned one.
pub(super) fn missing_replace_path_violations(
    prior: &Plain,
    planned: &Plain,
    paths: &[Path],
) -> Vec<Violation> {
    if prior.value().is_null() {
        return Vec::new();
    }
    let exists = |object: &Plain, path: &Path| part_at(object.value(), path).is_some();
    let missing = paths.iter().filter(|path| !exists(prior, path) && !exists(planned, path));
    let message = "replacement is required for a non-existent attribute path";
    missing.map(|path| Violation::new(Rule::ReplacePathExists, path, message)).collect()
}

/// Whether a planned object is certainly the prior one: equal and wholly known.
#[must_use]
pub fn is_unchanged(prior: &Plain, planned: &Plain) -> bool {
    is_value_unchanged(prior.value(), planned.value())
}

fn is_value_unchanged(prior: &Value, planned: &Value) -> bool {
    // Two equal unknown values may turn out different.
    are_identical(prior, planned) && planned.is_wholly_known()
}

/// The part at a path. A part of what is unknown is unknown, where its type has such a part; a part of what
/// is null is nowhere.
fn part_at(value: &Value, path: &Path) -> Option<Value> {
    let mut value = value;
    for (position, step) in path.0.iter().enumerate() {
        if value.is_unknown() {
            let ty =
                path.0.iter().skip(position).try_fold(value.ty(), |ty, step| part_type(&ty, step));
            return ty.map(Value::unknown);
        }
        // Some providers name map elements as if they were attributes.
        let position = match (step, value) {
            (Step::Attribute(name), Value::Map(_)) => {
                value.child_position(&Step::Key(name.clone()))
            }
            _ => value.child_position(step),
        };
        value = value.children().get(position?)?;
    }
    Some(value.clone())
}

/// The type of a part of an unknown value of this type; `None` if there is no such part. As in
/// Terraform, an unknown object may be indexed by any key.
fn part_type(ty: &Type, step: &Step) -> Option<Type> {
    match (ty, step) {
        (Type::Dynamic, _) | (Type::Object(_), Step::Key(_) | Step::Index(_)) => {
            Some(Type::Dynamic)
        }
        (Type::Object(object), Step::Attribute(name)) => object.attributes.get(name).cloned(),
        (Type::Map(element), _) | (Type::List(element), Step::Index(_)) => {
            Some((**element).clone())
        }
        (Type::Tuple(parts), Step::Index(index)) => parts.get(index.to_usize()?).cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
