//! Drift that affects a plan: changes of attributes that the plan does not depend on are omitted. The plan
//! lists the relevant attributes.

use formwork_core::change::{Action, Change};
use formwork_core::plan::Plan;
use formwork_value::{Step, Value};

/// The drifted objects with drift that affects the plan, reduced to that drift.
pub(crate) fn relevant_drift(plan: &Plan) -> Vec<Change> {
    let drifted = plan.reported_drift().filter(|change| change.action != Action::NoOp);
    let affecting = drifted.filter_map(|change| {
        let relevant = plan.relevant.iter().filter(|(addr, _)| *addr == change.addr);
        let paths: Vec<&[Step]> = relevant.map(|(_, path)| path.0.as_slice()).collect();
        let after = restrict_to_paths(&change.before, &change.after, &paths);
        (after != change.before).then(|| Change { after, ..change.clone() })
    });
    affecting.collect()
}

/// The value after, with all parts outside of the paths replaced by the value before.
fn restrict_to_paths(before: &Value, after: &Value, paths: &[&[Step]]) -> Value {
    if paths.is_empty() {
        return before.clone();
    }
    let Value::Object(old) = before.without_own_marks() else { return after.clone() };
    if paths.iter().any(|path| path.is_empty()) {
        return after.clone();
    }
    let parts = Value::object(old.names().iter().map(|name| {
        let inner_paths: Vec<&[Step]> =
            paths.iter().filter_map(|path| path_below(path, name)).collect();
        let old = old.get(name).cloned().unwrap_or(Value::null(formwork_value::Type::Dynamic));
        let new = match after.without_own_marks() {
            Value::Object(new) => new.get(name).cloned(),
            _ => None,
        };
        let new = new.unwrap_or_else(|| Value::null(old.ty()));
        (name.clone(), restrict_to_paths(&old, &new, &inner_paths))
    }));
    parts.mark(after.marks())
}

/// The rest of a path that leads into an attribute.
fn path_below<'p>(path: &'p [Step], attribute: &str) -> Option<&'p [Step]> {
    match path.split_first()? {
        (Step::Attribute(name) | Step::Key(name), rest) if name.as_str() == attribute => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::{Marks, Path};

    use super::*;

    fn object(parts: &[(&str, &str)]) -> Value {
        Value::object(parts.iter().map(|(name, text)| (*name, Value::string(*text))))
    }

    #[test]
    fn only_parts_below_a_path_have_changed() {
        let (before, after) =
            (object(&[("a", "1"), ("b", "2")]), object(&[("a", "3"), ("b", "4")]));
        let [root, a, c] = [Path::root(), Path::root().attribute("a"), Path::root().attribute("c")];
        let with = |path: &Path| restrict_to_paths(&before, &after, &[&path.0]);
        assert_eq!(restrict_to_paths(&before, &after, &[]), before);
        assert_eq!(with(&root), after);
        assert_eq!(with(&a), object(&[("a", "3"), ("b", "2")]));
        assert_eq!(with(&c), before);
    }

    #[test]
    fn a_sensitive_object_that_did_not_change_has_no_drift() {
        let secret = object(&[("a", "1"), ("b", "2")]).mark(Marks::SENSITIVE);
        let a = Path::root().attribute("a");
        assert_eq!(restrict_to_paths(&secret, &secret, &[&a.0]), secret);
    }

    #[test]
    fn only_relevant_parts_of_a_deleted_object_are_drift() {
        let before = object(&[("a", "1"), ("b", "2")]);
        let deleted = Value::null(before.ty());
        let a = Path::root().attribute("a");
        let after = restrict_to_paths(&before, &deleted, &[&a.0]);
        let null = Value::null(formwork_value::Type::String);
        assert_eq!(after, Value::object([("a", null), ("b", Value::string("2"))]));
    }
}
