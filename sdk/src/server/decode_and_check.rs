//! Checks of all incoming and outgoing values, independent of the call.

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::contract::{self, AnswerToCheck, TypeSchemas, Violation};
use formwork_value::schema::{Attribute, Nesting, Role};
use formwork_value::{Path, Plain, Step, Value};

use crate::call::Call;
use crate::erased::ChangeValues;
use crate::plan::SchemaAndRules;
use crate::schema::{PartRules, Shape};
use crate::{Answer, Problem, plan};

/// Decodes a value from the host.
pub(super) fn decode_value(shape: &Shape, value: &Payload) -> Answer<Value> {
    match value.decode(shape.ty()) {
        Ok(plain) => Ok(plain.into_value()),
        Err(error) => {
            let detail = format!("The host sent a value that does not fit the schema: {error}.");
            Err(Problem::new("Unreadable value", detail))
        }
    }
}

/// Checks a plan that a handler modified: values of the author must be kept.
pub(super) fn check_modified_plan(
    shape: &Shape,
    lives: &ChangeValues,
    planned: &Value,
) -> Answer<()> {
    // Removed from every answer, so a handler that returns them does not violate a rule.
    let planned = plain(&shape.block.with_null_write_only(planned));
    let (prior, config) = (plain(&lives.prior), plain(&lives.config));
    let contract_call = contract::Call::Plan {
        prior: &prior,
        config: &config,
        requires_replace: &[],
        legacy: false,
    };
    let violations = contract_violations_of_answer(shape, contract_call, &planned).into_iter().map(|violation| {
        let detail = format!(
            "`modify_plan` planned what it may not: {violation} (rule {}). This is a bug in the provider.",
            violation.rule
        );
        Problem::new("Provider produced invalid plan", detail).at(violation.path)
    });
    Problem::fail_if_any(violations.chain(unexpected_null_problems(shape, planned.value())))
}

/// The contract rules that an answer breaks. Their messages contain no sensitive values.
fn contract_violations_of_answer(
    shape: &Shape,
    call: contract::Call<'_>,
    object: &Plain,
) -> Vec<Violation> {
    let answer = AnswerToCheck::for_call(call).with_object_of_unchecked_type(object);
    // An identity is derived from the object, so it conforms to the rules about identities.
    let schemas = TypeSchemas { object: &shape.block, identity: None };
    let violations = contract::check_answer(&answer, &schemas);
    let secrets = match violations.is_empty() {
        true => Vec::new(),
        false => shape.block.sensitive_paths(object.value()),
    };
    violations.into_iter().map(|violation| violation.without_secrets(&secrets)).collect()
}

/// The value without marks. Models have none.
pub(super) fn plain(value: &Value) -> Plain {
    value.clone().split_marks().0
}

/// Attributes that are planned as null and never null in an applied object: the handler's own value
/// would be lost.
fn unexpected_null_problems(shape: &Shape, planned: &Value) -> impl Iterator<Item = Problem> {
    let content = SchemaAndRules::of_block(&shape.block, &shape.rules);
    let parts = shape.block.attributes.iter().filter(|(_, attribute)| attribute.role.is_computed());
    parts.filter_map(move |(name, _)| {
        let (rule, _) = content.part_rules_and_nested_schema(name)?;
        if rule.nullable || !plan::attribute_or_map_element(planned, name)?.is_null() {
            return None;
        }
        let detail = format!(
            "`modify_plan` planned that there will be no `{name}`, but every object has one. Leave it \
             unknown until it is known. This is a bug in the provider."
        );
        let problem = Problem::new("Provider produced invalid plan", detail);
        Some(problem.at(Path::root().attribute(name)))
    })
}

/// Encodes a value for the host.
pub(super) fn encode_value(shape: &Shape, value: &Value) -> Payload {
    // Protocol: a write-only value is null in every answer.
    let value = shape.block.with_null_write_only(value);
    // Models have no marks, so none are removed here.
    Payload::Value(value.split_marks().0, shape.ty().clone())
}

/// An object that a handler returned.
pub(super) struct ReturnedObject<'a> {
    /// Name of the handler, for messages.
    pub(super) handler: &'a str,
    /// The call, with the objects that its answer is compared with.
    pub(super) call: contract::Call<'a>,
    /// The object.
    pub(super) object: Value,
}

/// Prepares the object that a handler returned for the host. An unknown value is an error, and
/// becomes null. A broken rule of the contract is one too, and the object stays as it is, because it
/// may exist.
pub(super) fn encode_checked(call: &Call, shape: &Shape, returned: ReturnedObject<'_>) -> Payload {
    let ReturnedObject { handler, call: contract_call, object } = returned;
    let parts = match &object {
        Value::Object(parts) if !object.is_wholly_known() => parts,
        _ => {
            let payload = encode_value(shape, &object);
            if let Payload::Value(object, _) = &payload {
                report_violations(
                    call,
                    handler,
                    contract_violations_of_answer(shape, contract_call, object),
                );
            }
            return payload;
        }
    };
    let parts = parts.iter().map(|(name, value)| {
        if value.is_wholly_known() {
            return value.clone();
        }
        let detail = format!(
            "After {handler} the value of `{name}` is still unknown. This is a bug in the provider."
        );
        let problem = Problem::new("Provider returned invalid result object", detail);
        call.report(problem.at(Path::root().attribute(name)));
        // Null, so that the rest of the object is kept: hosts accept no unknown values here.
        Value::null(value.ty())
    });
    let object = object.with_children(parts.collect());
    encode_value(shape, &object)
}

/// Reports the rules that an object breaks.
fn report_violations(call: &Call, handler: &str, violations: Vec<Violation>) {
    // As a host does: an object returned with an error usually differs from its plan.
    if call.has_reported_errors() {
        return;
    }
    for violation in violations {
        let detail = format!(
            "After {handler} the provider returned what it may not: {violation} (rule {}). This is a \
             bug in the provider.",
            violation.rule
        );
        let problem = Problem::new("Provider returned invalid result object", detail);
        call.report(problem.at(violation.path));
    }
}

/// Reads a configuration, and reports violations of roles and checks. Callers may add more.
pub(super) fn decode_and_check_config(
    call: &Call,
    shape: &Shape,
    config: &Payload,
    client: ClientCapabilities,
) -> Answer<Value> {
    let config = decode_value(shape, config)?;
    let content = SchemaAndRules::of_block(&shape.block, &shape.rules);
    let path = Path::root();
    let mut checker = ConfigChecker { client, problems: Vec::new(), path, is_secret: false };
    checker.check_object(content, &config);
    checker.problems.into_iter().for_each(|problem| call.report(problem));
    Ok(config)
}

/// Checks the configuration of an author.
struct ConfigChecker {
    client: ClientCapabilities,
    problems: Vec<Problem>,
    /// Path of the value, computed only for an error.
    path: Path,
    /// Whether the current value is sensitive.
    is_secret: bool,
}

impl ConfigChecker {
    fn check_object(&mut self, content: SchemaAndRules<'_>, value: &Value) {
        let Value::Object(object) = value else { return };
        for (name, part) in object.iter() {
            self.path.0.push(Step::Attribute(name.clone()));
            self.check_part(content, name, part);
            self.path.0.pop();
        }
        for relation in content.relations() {
            if let Err(error) = relation.check_object(value) {
                self.report_error(error.summary, &to_sentence(&error.reason));
            }
        }
    }

    fn check_part(&mut self, content: SchemaAndRules<'_>, name: &str, part: &Value) {
        let attribute = content.attribute_schema(name);
        if let Some(attribute) = attribute {
            self.check_role(attribute, part);
        }
        let Some((rule, inner)) = content.part_rules_and_nested_schema(name) else { return };
        // Everything inside a sensitive attribute is sensitive, and parts may be sensitive on their
        // own.
        let was_secret = self.is_secret;
        self.is_secret |=
            attribute.is_some_and(|declared| declared.sensitive || declared.write_only);
        self.run_value_checks(rule, part);
        if let Some(inner) = inner {
            self.check_nested_objects(inner, part);
        }
        self.is_secret = was_secret;
    }

    fn check_nested_objects(&mut self, content: SchemaAndRules<'_>, value: &Value) {
        if matches!(content.nesting, Nesting::Single | Nesting::Group) {
            return self.check_object(content, value);
        }
        // Blocks that become equal are merged. The contract does not allow that for attributes.
        if content.defaults_may_equalize_elements() && value.is_wholly_known() {
            let n_distinct = content.add_defaults_to_objects(value).children().len();
            if n_distinct < value.children().len() {
                let detail = format!(
                    "With the defaults of what is not set, two elements of {} are the same. Remove one.",
                    display_path(&self.path)
                );
                self.report_error("Duplicate Set Element", &detail);
            }
        }
        for (index, part) in value.children().iter().enumerate() {
            // No path step leads to an element of a set.
            let step = value.step_to_child(index);
            // Restored by length, because an element of a set adds no step.
            let n_steps = self.path.0.len();
            self.path.0.extend(step);
            self.check_object(content, part);
            self.path.0.truncate(n_steps);
        }
    }

    fn check_role(&mut self, attribute: &Attribute, value: &Value) {
        let is_set = !value.is_null();
        if attribute.role == Role::Computed && is_set {
            let detail =
                format!("{} is set only by the provider. Remove it.", display_path(&self.path));
            self.report_error("Invalid Configuration for Read-Only Attribute", &detail);
        }
        if attribute.role == Role::Required && !is_set {
            let detail = format!("{} must have a value.", display_path(&self.path));
            self.report_error("Missing Configuration for Required Attribute", &detail);
        }
        if attribute.write_only && is_set && !self.client.write_only_attributes_allowed {
            let detail = format!(
                "{} is passed to the provider and never stored. Terraform can do so from version \
                 1.11 on.",
                display_path(&self.path)
            );
            self.report_error("Write-only attribute not allowed", &detail);
        }
    }

    fn run_value_checks(&mut self, rule: &PartRules, value: &Value) {
        for check in &rule.checks {
            if let Err(error) = check.check_value(value) {
                let message = error.message(value, self.is_secret);
                self.report_error(
                    error.summary,
                    &format!("{} {message}.", display_path(&self.path)),
                );
            }
        }
    }

    fn report_error(&mut self, summary: &str, detail: &str) {
        self.problems.push(Problem::new(summary, detail).at(self.path.clone()));
    }
}

/// An attribute in the syntax of the language: `a.b[0]` in backticks.
fn display_path(path: &Path) -> String {
    let path_text = path.to_string();
    format!("`{}`", path_text.trim_start_matches('.'))
}

fn to_sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => String::new(),
    }
}
