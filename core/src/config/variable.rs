//! `variable` blocks.

use formwork_lang::content::{BodySchema, into_content};
use formwork_lang::refs::{self, Traversal, TraversalStep};
use formwork_lang::syntax::{Attribute, Block, Expr, Ident};
use formwork_lang::type_expr::{self, TypeDefaults};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value, convert};

use super::arguments::{check_label_name, format_span, take_bool_argument, take_string_argument};
use super::{ConditionBlock, Variable, condition, constant, inputs};
use crate::messages;

pub(super) const BODY_SCHEMA: BodySchema = BodySchema {
    attributes: &[
        ("type", false),
        ("default", false),
        ("description", false),
        ("sensitive", false),
        ("ephemeral", false),
        ("nullable", false),
    ],
    blocks: &[("validation", &[])],
};

/// Names that a module call needs for itself.
const RESERVED_VARIABLE_NAMES: [&str; 8] =
    ["count", "depends_on", "for_each", "lifecycle", "locals", "providers", "source", "version"];

/// Reads a `variable` block. Returns `None` for an invalid block, which was reported.
pub(super) fn read_variable_block(
    diags: &mut Diagnostics,
    sources: &Sources,
    block: Block,
) -> Option<Variable> {
    let [name] = <[Ident; 1]>::try_from(block.labels).ok()?;
    let named = check_variable_name(diags, &name);
    let mut content = into_content(diags, block.body, &BODY_SCHEMA);
    let ty = content.take_attribute("type");
    let typed = ty.is_some();
    // After an error in the type every default fits, so that it is not reported as well.
    let (ty, defaults) = read_type_constraint(diags, ty).unwrap_or((Type::Dynamic, None));
    let validations = condition::read_conditions(diags, sources, content.take_blocks("validation"));
    let default = content.take_attribute("default");
    let mut variable = Variable {
        name: name.name,
        ty,
        typed,
        defaults,
        default: None,
        description: take_string_argument(diags, &mut content, "description").unwrap_or_default(),
        sensitive: take_bool_argument(diags, &mut content, "sensitive").unwrap_or(false),
        ephemeral: take_bool_argument(diags, &mut content, "ephemeral").unwrap_or(false),
        nullable: take_bool_argument(diags, &mut content, "nullable").unwrap_or(true),
        validations,
        references: Vec::new(),
        position: format_span(sources, block.header),
        span: block.header,
    };
    // Only now, because converting it needs the type and the optional attributes.
    if let Some(attribute) = default {
        variable.default = read_variable_default(diags, &variable, &attribute.expr).ok();
    }
    for validation in &variable.validations {
        check_validation_refers_to_variable(diags, &variable, validation);
    }
    named.ok().map(|()| variable)
}

fn check_variable_name(diags: &mut Diagnostics, name: &Ident) -> Result<(), Reported> {
    check_label_name(diags, "variable name", name)?;
    if !RESERVED_VARIABLE_NAMES.contains(&name.name.as_str()) {
        return Ok(());
    }
    let detail = format!(
        "The variable name {:?} is reserved due to its special meaning inside module blocks.",
        name.name
    );
    Err(diags.error(Diagnostic::error(messages::INVALID_VARIABLE_NAME, detail).at(name.span)))
}

fn read_type_constraint(
    diags: &mut Diagnostics,
    attribute: Option<Attribute>,
) -> Result<(Type, Option<TypeDefaults>), Reported> {
    match attribute {
        Some(attribute) => type_expr::read_type_constraint(diags, &attribute.expr),
        None => Ok((Type::Dynamic, None)),
    }
}

fn read_variable_default(
    diags: &mut Diagnostics,
    variable: &Variable,
    expr: &Expr,
) -> Result<Value, Reported> {
    let value = constant::constant_value(diags, expr)?;
    let value = inputs::apply_attribute_defaults(variable, value);
    let reason = match convert::convert(&value, &variable.ty) {
        Ok(value) if value.is_null() && !variable.nullable => {
            "A null default value is not valid when nullable=false.".to_owned()
        }
        Ok(value) => return Ok(value),
        Err(refused) => format!(
            "This default value is not compatible with the variable's type constraint: {}{}.",
            inputs::format_path_prefix(&refused),
            refused.reason
        ),
    };
    Err(diags.error(
        Diagnostic::error(messages::INVALID_DEFAULT_VALUE_FOR_VARIABLE, reason).at(expr.span),
    ))
}

fn check_validation_refers_to_variable(
    diags: &mut Diagnostics,
    variable: &Variable,
    validation: &ConditionBlock,
) {
    let is_own = |traversal: Traversal| {
        let first = traversal.steps.first();
        traversal.root.name == "var"
            && matches!(first, Some(TraversalStep::Attribute(name)) if name.name == variable.name)
    };
    if !refs::traversals_of_expr(&validation.condition).into_iter().any(is_own) {
        let reference = format!("var.{}", variable.name);
        let _ = diags.error(
            Diagnostic::error(
                messages::INVALID_VARIABLE_VALIDATION_CONDITION,
                format!(
                    "The condition for variable {:?} must refer to {reference} in order to test incoming values.",
                    variable.name
                ),
            )
            .at(validation.condition.span),
        );
    }
}
