//! Which changes need a new object.

use formwork_value::schema::Nesting;
use formwork_value::{Path, Step, Value};

use super::{Content, member};
use crate::schema::{Replace, Rule, Shape};

/// Returns the attributes and blocks that change and cannot do so in place. Where elements come or go,
/// or stand in a set, it is the whole collection.
pub(crate) fn forcing(shape: &Shape, prior: &Value, planned: &Value) -> Vec<Path> {
    let mut forcing = Vec::new();
    let content = Content::of_block(&shape.block, &shape.rules);
    of_object(content, &Path::root(), [prior, planned], &mut forcing);
    forcing
}

fn of_object(content: Content<'_>, path: &Path, both: [&Value; 2], forcing: &mut Vec<Path>) {
    let [Value::Object(prior), Value::Object(planned)] = both else { return };
    for (name, planned) in planned.iter() {
        let (Some(prior), Some((rule, inner))) = (prior.get(name), content.part(name)) else {
            continue;
        };
        if prior == planned {
            continue;
        }
        let path = path.attribute(name);
        if forces(rule, prior, planned) {
            forcing.push(path);
        } else if let Some(inner) = inner
            && rule.inner.as_ref().is_some_and(|inner| inner.rules.may_replace())
        {
            of_parts(inner, path, [prior, planned], forcing);
        }
    }
}

fn forces(rule: &Rule, prior: &Value, planned: &Value) -> bool {
    match rule.replace {
        Replace::Never => false,
        Replace::Always => true,
        Replace::If(ask) => ask(prior, planned),
    }
}

fn of_parts(content: Content<'_>, path: Path, both: [&Value; 2], forcing: &mut Vec<Path>) {
    let [prior, planned] = both;
    let is_single = matches!(content.nesting, Nesting::Single | Nesting::Group);
    let n_parts = prior.children().len();
    if is_single && !prior.is_null() && !planned.is_null() {
        return of_object(content, &path, both, forcing);
    }
    let comes_or_goes = prior.is_null() != planned.is_null() || n_parts != planned.children().len();
    if is_single || comes_or_goes || content.nesting == Nesting::Set || planned.is_unknown() {
        forcing.push(path);
        return;
    }
    for (at, planned_part) in planned.children().iter().enumerate() {
        let Some(step) = planned.step_to(at) else { continue };
        let prior_part = match &step {
            Step::Key(name) | Step::Attribute(name) => member(prior, name),
            Step::Index(_) => prior.children().get(at),
        };
        match prior_part {
            Some(prior_part) => {
                of_object(content, &path.then(step), [prior_part, planned_part], forcing);
            }
            None => forcing.push(path.clone()),
        }
    }
}
