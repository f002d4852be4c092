//! Expands `count` and `for_each` to instance keys.
//!
//! Evaluates the expression once, without access to the instances of the keys.

use formwork_lang::eval::{ErrorCause, describe_referenced_values};
use formwork_lang::syntax::Expr;
use formwork_value::diag::Message;
use formwork_value::value::Map;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Str, Type, Value, convert};

use super::ModuleScope;
use super::check_references::evaluate_checked;
use crate::addr::InstanceKey;
use crate::config::Repetition;
use crate::messages;
use crate::state::ResourceState;

/// The greatest number of instances of one resource.
const MAX_RESOURCE_INSTANCES: usize = 1_000_000;

/// The instances of a resource or module call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// One, without a key.
    Single,
    /// As many, with keys from 0.
    Count(usize),
    /// One instance for each element, under its key. For a set, keys and values are equal.
    ForEach(Map),
}

/// The values of `count` and `each` within one instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepetitionData {
    /// `count.index`
    pub count_index: Option<Value>,
    /// `each.key`
    pub each_key: Option<Value>,
    /// `each.value`
    pub each_value: Option<Value>,
}

impl Expansion {
    /// The instances of a resource in the state, where the configuration need not determine the number:
    /// while everything is destroyed, or only read.
    pub(crate) fn from_state(repetition: &Repetition, state: Option<&ResourceState>) -> Self {
        let keys = state.into_iter().flat_map(|state| state.instances.keys());
        match repetition {
            Repetition::Single => Self::Single,
            Repetition::Count(_) => {
                let after = keys.filter_map(|key| match key {
                    InstanceKey::Int(index) => usize::try_from(index.saturating_add(1)).ok(),
                    _ => None,
                });
                // A state may claim any index. The limit is that of a resource.
                Self::Count(after.max().unwrap_or(0).min(MAX_RESOURCE_INSTANCES))
            }
            Repetition::ForEach(_) => {
                let keys = keys.filter_map(|key| match key {
                    InstanceKey::Str(key) => Some((key.clone(), Value::dynamic())),
                    _ => None,
                });
                Self::ForEach(Map::new(Type::Dynamic, keys.collect()))
            }
        }
    }

    /// The number of instances.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Single => 1,
            Self::Count(n) => *n,
            Self::ForEach(each) => each.keys().len(),
        }
    }

    /// Whether the expansion has no instances.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys of the instances, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = InstanceKey> {
        (0..self.len()).map(|at| match self {
            Self::Single => InstanceKey::None,
            Self::Count(_) => InstanceKey::Int(at as u64),
            Self::ForEach(each) => InstanceKey::Str(each.keys()[at].clone()),
        })
    }

    /// The position of a key in the order; `None` if the instance does not exist.
    #[must_use]
    pub fn position_of_key(&self, key: &InstanceKey) -> Option<usize> {
        match (self, key) {
            (Self::Single, InstanceKey::None) => Some(0),
            (Self::Count(n), InstanceKey::Int(at)) => usize::try_from(*at).ok().filter(|at| at < n),
            // A map keeps its keys sorted.
            (Self::ForEach(each), InstanceKey::Str(key)) => each.keys().binary_search(key).ok(),
            _ => None,
        }
    }

    /// Whether an instance with this key exists.
    #[must_use]
    pub fn contains(&self, key: &InstanceKey) -> bool {
        self.position_of_key(key).is_some()
    }

    /// The values of `count` and `each` within an instance.
    #[must_use]
    pub fn repetition_data(&self, key: &InstanceKey) -> RepetitionData {
        match (self, key) {
            (Self::Count(_), InstanceKey::Int(at)) => RepetitionData::for_count(*at),
            (Self::ForEach(each), InstanceKey::Str(key)) => {
                RepetitionData::for_each(key, each.get(key).cloned().unwrap_or_else(Value::dynamic))
            }
            _ => RepetitionData::default(),
        }
    }
}

impl RepetitionData {
    fn for_count(at: u64) -> Self {
        Self { count_index: Some(Value::Number(at.into())), ..Self::default() }
    }

    fn for_each(key: &Str, value: Value) -> Self {
        Self {
            each_key: Some(Value::String(key.clone())),
            each_value: Some(value),
            ..Self::default()
        }
    }

    /// The values of `count` and `each` for any kind of repetition.
    #[must_use]
    pub fn unknown_of_any_kind() -> Self {
        Self {
            count_index: Some(Value::unknown(Type::Number)),
            each_key: Some(Value::unknown(Type::String)),
            each_value: Some(Value::dynamic()),
        }
    }

    /// The values of `count` and `each` while the instances are not known.
    #[must_use]
    pub fn unknown_of_kind(repetition: &Repetition) -> Self {
        match repetition {
            Repetition::Single => Self::default(),
            Repetition::Count(_) => {
                Self { count_index: Some(Value::unknown(Type::Number)), ..Self::default() }
            }
            Repetition::ForEach(_) => Self {
                each_key: Some(Value::unknown(Type::String)),
                each_value: Some(Value::dynamic()),
                ..Self::default()
            },
        }
    }
}

/// Evaluates `count` or `for_each`.
///
/// # Errors
/// When the value does not determine the instances: unknown, null, sensitive, of a wrong type,
/// negative, not whole.
pub fn expand_repetition(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    repetition: &Repetition,
) -> Result<Expansion, Reported> {
    match check_repetition(diags, scope, repetition)? {
        Some(expansion) => Ok(expansion),
        None => Err(diags.error(unknown_repetition_error(repetition, scope))),
    }
}

/// Checks `count` or `for_each` while values may not be known yet. Returns the expansion if it is
/// known already.
///
/// # Errors
/// When the value can never determine the instances.
pub fn check_repetition(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    repetition: &Repetition,
) -> Result<Option<Expansion>, Reported> {
    match repetition {
        Repetition::Single => Ok(Some(Expansion::Single)),
        Repetition::Count(expr) => {
            let value = evaluate_checked(diags, expr, scope)?;
            let n = read_count(value)
                .map_err(|unfit| diags.error(unfit.into_diagnostic(expr, scope)))?;
            Ok(n.map(Expansion::Count))
        }
        Repetition::ForEach(expr) => {
            let value = evaluate_checked(diags, expr, scope)?;
            Ok(read_for_each_of_block(diags, value, expr, scope)?.map(Expansion::ForEach))
        }
    }
}

/// Detail of the error for a map or an object of which not all keys are known.
const UNKNOWN_MAP_DETAIL: &str = "The \"for_each\" map includes keys derived from resource attributes that cannot be determined until apply, and so Formwork cannot determine the full set of keys that will identify the instances of this resource.\n\nWhen working with unknown values in for_each, it's better to define the map keys statically in your configuration and place apply-time results only in the map values.\n\nAlternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.";
/// Detail of the error for a set of which not all elements are known.
const UNKNOWN_SET_DETAIL: &str = "The \"for_each\" set includes values derived from resource attributes that cannot be determined until apply, and so Formwork cannot determine the full set of keys that will identify the instances of this resource.\n\nWhen working with unknown values in for_each, it's better to use a map value where the keys are defined statically in your configuration and where only the values contain apply-time results.\n\nAlternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.";

fn is_set_expr(expr: &Expr, scope: &ModuleScope<'_>) -> bool {
    // Evaluated again, because this happens only for the message of an error.
    let value = evaluate_checked(&mut Diagnostics::new(), expr, scope);
    value.is_ok_and(|value| matches!(value.ty(), Type::Set(_)))
}

fn unknown_repetition_error(repetition: &Repetition, scope: &ModuleScope<'_>) -> Diagnostic {
    match repetition {
        Repetition::Single => Diagnostic::error(messages::INVALID_REPETITION, ""),
        Repetition::Count(expr) => Diagnostic::error(
            messages::UNKNOWN_COUNT_ARGUMENT,
            "The \"count\" value depends on resource attributes that cannot be determined until apply, so Formwork cannot predict how many instances will be created. To work around this, use the -target argument to first apply only the resources that the count depends on.",
        )
        .at(expr.span),
        Repetition::ForEach(expr) => Diagnostic::error(
            messages::UNKNOWN_FOR_EACH_ARGUMENT,
            if is_set_expr(expr, scope) { UNKNOWN_SET_DETAIL } else { UNKNOWN_MAP_DETAIL },
        )
        .at(expr.span)
        .with_referenced_values(describe_referenced_values(expr, scope, ErrorCause::Unknown)),
    }
}

/// The error for a value that does not determine the instances.
struct RepetitionError {
    summary: &'static Message,
    detail: String,
    /// The cause to report with the underlying values; `None` if they are not shown.
    cause: Option<ErrorCause>,
}

impl RepetitionError {
    fn into_diagnostic(self, expr: &Expr, scope: &ModuleScope<'_>) -> Diagnostic {
        let values = self.cause.map(|cause| describe_referenced_values(expr, scope, cause));
        Diagnostic::error(self.summary, self.detail)
            .at(expr.span)
            .with_referenced_values(values.unwrap_or_default())
    }
}

fn invalid_count_error(detail: impl Into<String>) -> RepetitionError {
    // The message has the number in it, as Terraform's has.
    RepetitionError {
        summary: messages::INVALID_COUNT_ARGUMENT,
        detail: detail.into(),
        cause: None,
    }
}

fn unsuitable_count_error(reason: &str) -> RepetitionError {
    invalid_count_error(format!("The given \"count\" argument value is unsuitable: {reason}."))
}

/// Reads the value of `count`.
fn read_count(value: Value) -> Result<Option<usize>, RepetitionError> {
    // A sensitive number is accepted: the number of instances shows it anyway.
    let (value, marks) = value.unmark();
    if marks.contains(Marks::EPHEMERAL) {
        return Err(invalid_count_error(
            "The given \"count\" is derived from an ephemeral value, which means that Formwork cannot persist it between plan/apply rounds. Use only non-ephemeral values to specify the number of resource instances.",
        ));
    }
    if value.is_null() {
        return Err(invalid_count_error(
            "The given \"count\" argument value is null. An integer is required.",
        ));
    }
    let number = convert::convert(&value, &Type::Number).map_err(|refused| {
        let detail = format!("Invalid expression value: {}.", refused.reason);
        RepetitionError {
            summary: messages::INCORRECT_VALUE_TYPE,
            detail,
            cause: Some(ErrorCause::Values),
        }
    })?;
    let Value::Number(number) = number else { return Ok(None) };
    if !number.is_integer() {
        let reason = format!("value must be a whole number, between {} and {}", i64::MIN, i64::MAX);
        return Err(unsuitable_count_error(&reason));
    }
    match number.to_usize() {
        Some(n) if n <= MAX_RESOURCE_INSTANCES => Ok(Some(n)),
        None if number < 0_i64.into() => {
            Err(unsuitable_count_error("must be greater than or equal to zero"))
        }
        _ => Err(invalid_count_error(format!(
            "`count` is {number}; at most {MAX_RESOURCE_INSTANCES} are allowed."
        ))),
    }
}

fn invalid_for_each_error(detail: impl Into<String>, cause: ErrorCause) -> RepetitionError {
    RepetitionError {
        summary: messages::INVALID_FOR_EACH_ARGUMENT,
        detail: detail.into(),
        cause: Some(cause),
    }
}

/// Detail of the error for keys that cannot be stored.
pub(super) const EPHEMERAL_FOR_EACH_DETAIL: &str = "The given \"for_each\" value is derived from an ephemeral value, which means that Formwork cannot persist it between plan/apply rounds. Use only non-ephemeral values to specify a resource's instance keys.";

fn invalid_set_error(detail: impl Into<String>) -> RepetitionError {
    let summary = messages::INVALID_FOR_EACH_SET_ARGUMENT;
    RepetitionError { summary, detail: detail.into(), cause: Some(ErrorCause::Values) }
}

/// Reads the value of a `for_each` of any block: elements by key. `None` while the keys are not
/// known.
pub(super) fn read_for_each_of_block(
    diags: &mut Diagnostics,
    value: Value,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<Option<Map>, Reported> {
    read_for_each(value, scope.check.is_some())
        .map_err(|unfit| diags.error(unfit.into_diagnostic(expr, scope)))
}

/// Reads the value of `for_each`: elements by key. `None` while the keys are not known.
fn read_for_each(value: Value, validates: bool) -> Result<Option<Map>, RepetitionError> {
    // The type of an unknown value is checked only during validation: Terraform reports a value that is
    // unknown during planning as unknown, for every type.
    let (value, marks) = value.unmark();
    if marks.contains(Marks::SENSITIVE) {
        return Err(invalid_for_each_error(
            "Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key. If the keys themselves are not secret, unmark them with `nonsensitive`.",
            ErrorCause::Sensitive,
        ));
    }
    if marks.contains(Marks::EPHEMERAL) {
        return Err(invalid_for_each_error(EPHEMERAL_FOR_EACH_DETAIL, ErrorCause::Ephemeral));
    }
    if value.is_null() {
        let detail = "The given \"for_each\" argument value is unsuitable: the given \"for_each\" argument value is null. A map, or set of strings is allowed.";
        return Err(invalid_for_each_error(detail, ErrorCause::Values));
    }
    let each = match &value {
        Value::Unknown(unknown) => {
            if validates {
                check_for_each_type(unknown.ty())?;
            }
            return Ok(None);
        }
        Value::Object(object) => elements_by_key(object.iter()),
        Value::Map(map) => map.clone(),
        Value::Set(set) => match elements_of_set(set.element_type(), set.items())? {
            Some(each) => each,
            None => return Ok(None),
        },
        other => return Err(wrong_for_each_type_error(&other.ty())),
    };
    match each.keys().len() {
        0..=MAX_RESOURCE_INSTANCES => Ok(Some(each)),
        n => Err(invalid_for_each_error(
            format!("It has {n} elements; at most {MAX_RESOURCE_INSTANCES} instances are allowed."),
            ErrorCause::Values,
        )),
    }
}

/// Elements by key.
fn elements_by_key<'v>(pairs: impl Iterator<Item = (&'v Str, &'v Value)>) -> Map {
    // The values may have different types, so no element type is set.
    Map::new(Type::Dynamic, pairs.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn check_for_each_type(ty: &Type) -> Result<(), RepetitionError> {
    match ty {
        Type::Dynamic | Type::Map(_) | Type::Object(_) => Ok(()),
        Type::Set(element) => check_set_element_type(element),
        ty => Err(wrong_for_each_type_error(ty)),
    }
}

fn wrong_for_each_type_error(ty: &Type) -> RepetitionError {
    let hint = match ty {
        Type::List(_) | Type::Tuple(_) => " Use `toset` to convert a list of strings to a set.",
        _ => "",
    };
    let name = ty.friendly_name();
    invalid_for_each_error(
        format!(
            "The given \"for_each\" argument value is unsuitable: the \"for_each\" argument must be a map, or set of strings, and you have provided a value of type {name}.{hint}"
        ),
        ErrorCause::Values,
    )
}

fn check_set_element_type(element: &Type) -> Result<(), RepetitionError> {
    match element {
        Type::String | Type::Dynamic => Ok(()),
        other => Err(invalid_set_error(format!(
            "The given \"for_each\" argument value is unsuitable: \"for_each\" supports maps and sets of strings, but you have provided a set containing type {}.",
            other.friendly_name()
        ))),
    }
}

/// The elements of a set under themselves as keys; `None` while some are not known.
fn elements_of_set(ty: &Type, items: &[Value]) -> Result<Option<Map>, RepetitionError> {
    // `toset([null])` has elements of no type, which Terraform reports before the null.
    if *ty == Type::Dynamic && items.iter().any(Value::is_null) {
        return Err(invalid_set_error(
            "The given \"for_each\" argument value is unsuitable: \"for_each\" supports maps and sets of strings, but you have provided a set containing type dynamic.",
        ));
    }
    // An empty set has no invalid element. `toset([])` has no specific element type.
    if !items.is_empty() {
        check_set_element_type(ty)?;
    }
    let mut pairs = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Value::String(key) => pairs.push((key, item)),
            Value::Null(_) => {
                return Err(invalid_set_error(
                    "The given \"for_each\" argument value is unsuitable: \"for_each\" sets must not contain null values.",
                ));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(elements_by_key(pairs.into_iter())))
}
