//! Changes that force replacement.

use formwork_value::schema::{Attribute, Nesting, Role};
use formwork_value::{Path, Step, Type, Value};

use super::{SchemaAndRules, attribute_or_map_element};
use crate::schema::{PartRules, ReplaceRule, Shape};

/// Returns the attributes and blocks whose change forces replacement. If elements are added or
/// removed, or are in a set, the result is the whole collection, provided that one of them has such
/// a part.
///
/// A computed attribute that becomes unknown does not force replacement, because the author did not
/// request a change. Nor does a write-only attribute, because without a stored value a change
/// cannot be detected.
pub(crate) fn paths_forcing_replacement(
    shape: &Shape,
    [prior, config, planned]: [&Value; 3],
) -> Vec<Path> {
    let mut forcing = Vec::new();
    let content = SchemaAndRules::of_block(&shape.block, &shape.rules);
    let sides = ValuesAtPath { prior, config: Some(config), planned };
    collect_forcing_in_object(content, &Path::root(), sides, &mut forcing);
    forcing
}

/// The three values at one path.
#[derive(Clone, Copy)]
struct ValuesAtPath<'v> {
    prior: &'v Value,
    /// `None` in a set, where the configuration of an element is not available.
    config: Option<&'v Value>,
    planned: &'v Value,
}

impl<'v> ValuesAtPath<'v> {
    fn for_create(planned: &'v Value) -> Self {
        Self { prior: &NULL_VALUE, config: None, planned }
    }

    fn for_destroy(prior: &'v Value) -> Self {
        Self { prior, config: None, planned: &NULL_VALUE }
    }
}

// One static null, so that `ValuesAtPath` can borrow both values of an added or removed element.
static NULL_VALUE: Value = Value::Null(Type::Dynamic);

fn collect_forcing_in_object(
    content: SchemaAndRules<'_>,
    path: &Path,
    sides: ValuesAtPath<'_>,
    forcing: &mut Vec<Path>,
) {
    let (Value::Object(prior), Value::Object(planned)) = (sides.prior, sides.planned) else {
        return;
    };
    for (name, planned) in planned.iter() {
        let (Some(prior), Some((rule, inner))) =
            (prior.get(name), content.part_rules_and_nested_schema(name))
        else {
            continue;
        };
        // Unchanged parts are skipped with everything below them, which keeps this cheap for large
        // objects.
        if prior == planned {
            continue;
        }
        let config = sides.config.and_then(|config| attribute_or_map_element(config, name));
        let path = path.attribute(name);
        if forces_replacement(
            content.attribute_schema(name),
            rule,
            ValuesAtPath { prior, config, planned },
        ) {
            forcing.push(path);
        } else if let Some(inner) = inner
            && rule.inner.as_ref().is_some_and(|inner| inner.rules.may_force_replacement())
        {
            collect_forcing_in_parts(
                inner,
                &path,
                ValuesAtPath { prior, config, planned },
                forcing,
            );
        }
    }
}

fn forces_replacement(
    attribute: Option<&Attribute>,
    rule: &PartRules,
    sides: ValuesAtPath<'_>,
) -> bool {
    let ValuesAtPath { prior, config, planned } = sides;
    let is_left = attribute.is_some_and(|attribute| match attribute.role {
        Role::Computed => true,
        // In a set the configuration is not available, and a value counts as the author's.
        Role::OptionalComputed => config.is_some_and(Value::is_null),
        Role::Required | Role::Optional => false,
    });
    let is_stored = attribute.is_none_or(|attribute| !attribute.write_only);
    match rule.replace {
        // The order matters: `Always` on a computed attribute must not replace the object in every
        // plan that leaves it unknown.
        _ if !is_stored || (is_left && planned.is_unknown()) => false,
        ReplaceRule::Never => false,
        ReplaceRule::Always => true,
        ReplaceRule::If(ask) => ask(prior, planned),
    }
}

fn collect_forcing_in_parts(
    content: SchemaAndRules<'_>,
    path: &Path,
    sides: ValuesAtPath<'_>,
    forcing: &mut Vec<Path>,
) {
    let ValuesAtPath { prior, planned, .. } = sides;
    // The number of blocks is unknown, so any of their parts may change. Replacing too often is
    // visible in the plan; replacing too late fails in the middle of an apply.
    if planned.is_unknown() {
        forcing.push(path.clone());
        return;
    }
    match content.nesting {
        Nesting::Single | Nesting::Group if !prior.is_null() && !planned.is_null() => {
            collect_forcing_in_object(content, path, sides, forcing);
        }
        Nesting::Single | Nesting::Group => {
            if forces_when_added_or_removed(content, sides) {
                forcing.push(path.clone());
            }
        }
        Nesting::Set => {
            // Trimming both ends is linear. Comparing each element with each would be quadratic,
            // and sets of thousands of elements exist.
            let (removed, added) = without_common_ends(prior.children(), planned.children());
            let comes_or_goes = removed
                .iter()
                .any(|item| forces_when_added_or_removed(content, ValuesAtPath::for_destroy(item)))
                || added.iter().any(|item| {
                    forces_when_added_or_removed(content, ValuesAtPath::for_create(item))
                });
            if comes_or_goes {
                forcing.push(path.clone());
            }
        }
        Nesting::List | Nesting::Map => collect_forcing_in_elements(content, path, sides, forcing),
    }
}

fn collect_forcing_in_elements(
    content: SchemaAndRules<'_>,
    path: &Path,
    sides: ValuesAtPath<'_>,
    forcing: &mut Vec<Path>,
) {
    let ValuesAtPath { prior, config, planned } = sides;
    let (mut inner_paths, mut comes_or_goes) = (Vec::new(), false);
    for (index, part) in planned.children().iter().enumerate() {
        let Some(step) = planned.step_to_child(index) else { continue };
        let config = config.and_then(|config| corresponding_element(config, &step));
        match corresponding_element(prior, &step) {
            Some(prior) => {
                let sides = ValuesAtPath { prior, config, planned: part };
                collect_forcing_in_object(content, &path.with_step(step), sides, &mut inner_paths);
            }
            None => {
                comes_or_goes |= forces_when_added_or_removed(
                    content,
                    ValuesAtPath { config, ..ValuesAtPath::for_create(part) },
                );
            }
        }
    }
    for (index, part) in prior.children().iter().enumerate() {
        let is_gone = prior
            .step_to_child(index)
            .is_some_and(|step| corresponding_element(planned, &step).is_none());
        comes_or_goes |=
            is_gone && forces_when_added_or_removed(content, ValuesAtPath::for_destroy(part));
    }
    // After a change of their number, elements of a list cannot be matched any more.
    let is_moved = prior.children().len() != planned.children().len() && !inner_paths.is_empty();
    match comes_or_goes || is_moved {
        true => forcing.push(path.clone()),
        false => forcing.append(&mut inner_paths),
    }
}

/// The element of another collection under the same step.
fn corresponding_element<'v>(collection: &'v Value, step: &Step) -> Option<&'v Value> {
    collection.children().get(collection.child_position(step)?)
}

/// Elements of a set without those at both ends that both sets contain. Both have the same order.
fn without_common_ends<'v>(
    mut first: &'v [Value],
    mut second: &'v [Value],
) -> (&'v [Value], &'v [Value]) {
    while let ([first_item, some_rest @ ..], [second_item, other_rest @ ..]) = (first, second)
        && first_item == second_item
    {
        (first, second) = (some_rest, other_rest);
    }
    while let ([some_rest @ .., first_item], [other_rest @ .., second_item]) = (first, second)
        && first_item == second_item
    {
        (first, second) = (some_rest, other_rest);
    }
    (first, second)
}

/// Whether an added or removed object has a part that forces replacement.
fn forces_when_added_or_removed(content: SchemaAndRules<'_>, sides: ValuesAtPath<'_>) -> bool {
    let is_added = sides.prior.is_null();
    let object = if is_added { sides.planned } else { sides.prior };
    // Any part may come of an unknown object.
    let Value::Object(parts) = object else { return object.is_unknown() };
    parts.iter().any(|(name, part)| {
        let Some((rule, inner)) = content.part_rules_and_nested_schema(name) else { return false };
        // A null element is neither added nor removed.
        if part.is_null() {
            return false;
        }
        let part =
            if is_added { ValuesAtPath::for_create(part) } else { ValuesAtPath::for_destroy(part) };
        let config = sides.config.and_then(|config| attribute_or_map_element(config, name));
        let part = ValuesAtPath { config, ..part };
        let may_replace =
            rule.inner.as_ref().is_some_and(|inner| inner.rules.may_force_replacement());
        forces_replacement(content.attribute_schema(name), rule, part)
            || inner.is_some_and(|inner| may_replace && has_forcing_element(inner, part))
    })
}

fn has_forcing_element(content: SchemaAndRules<'_>, sides: ValuesAtPath<'_>) -> bool {
    if matches!(content.nesting, Nesting::Single | Nesting::Group) {
        return forces_when_added_or_removed(content, sides);
    }
    let is_added = sides.prior.is_null();
    let collection = if is_added { sides.planned } else { sides.prior };
    let mut items = collection.children().iter();
    collection.is_unknown()
        || items.any(|item| match is_added {
            true => forces_when_added_or_removed(content, ValuesAtPath::for_create(item)),
            false => forces_when_added_or_removed(content, ValuesAtPath::for_destroy(item)),
        })
}
