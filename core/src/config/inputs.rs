//! Variable values of a module: selects one of several, and converts it. Validations are
//! checked later, with everything they may refer to.

use std::collections::BTreeMap;

use formwork_lang::content::into_just_attributes;
use formwork_lang::suggest::nearest_name;
use formwork_lang::syntax::{Block, add_source, parse_expression, parse_file, parse_json};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Str, Type, Value, convert};

use super::{Module, Variable, constant};
use crate::messages;

/// A value for a variable from outside of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenVariable {
    /// The variable.
    pub name: Str,
    /// The value.
    pub value: GivenValue,
    /// The origin of the value.
    pub origin: InputOrigin,
}

/// A value from outside, or the string to read it from.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenValue {
    /// A string. Its meaning depends on the variable's type.
    Unparsed(String),
    /// A value.
    Value(Value),
}

/// The origin of a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputOrigin {
    /// A `TF_VAR_` variable of the environment.
    Environment,
    /// The `-var` option.
    Option,
    /// A variable values file, and the span in it, if the file is not JSON.
    File(String, Option<Span>),
    /// An answer to a question.
    Prompt,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedVariable {
    /// The value, converted to the type of the variable and marked as declared.
    pub value: Value,
    /// The value as it was set, before its conversion, or the default.
    pub raw: Value,
    /// The span at which the value is set, if it has one.
    pub given: Option<Span>,
    /// Whether no value was set, so that this is the default.
    pub is_default: bool,
}

impl ResolvedVariable {
    /// A value that fits already, from nowhere in particular.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        Self { raw: value.clone(), value, given: None, is_default: false }
    }
}

/// Number of undeclared names that get a warning each.
const MAX_UNDECLARED_WARNINGS: usize = 2;

impl Variable {
    /// Whether a value is required.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}

/// Reads a variable values file, as JSON if its name ends in `.json`. It may contain constants
/// only.
///
/// # Errors
/// When the file cannot be parsed, or a value is not constant. Valid values are not returned then.
pub fn read_values_file(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    name: &str,
    content: Vec<u8>,
) -> Result<Vec<GivenVariable>, Reported> {
    let mut file_diags = Diagnostics::new();
    let source = add_source(&mut file_diags, sources, name, content);
    let mut body = if name.ends_with(".json") {
        parse_json(&mut file_diags, sources, source)
    } else {
        parse_file(&mut file_diags, sources, source)
    };
    // A common mistake, which has its own message. Other blocks are refused below.
    body.blocks.retain(|block| {
        let declares = block.kind.name == "variable";
        if declares {
            let _ = file_diags.error(declaration_in_values_file_error(name, block));
        }
        !declares
    });
    let mut variables = Vec::new();
    for attribute in into_just_attributes(&mut file_diags, body) {
        if let Ok(value) = constant::constant_value(&mut file_diags, &attribute.expr) {
            variables.push(GivenVariable {
                name: attribute.name.name,
                value: GivenValue::Value(value),
                origin: InputOrigin::File(name.to_owned(), Some(attribute.expr.span)),
            });
        }
    }
    diags.append(file_diags)?;
    Ok(variables)
}

fn declaration_in_values_file_error(file: &str, block: &Block) -> Diagnostic {
    let name = block.labels.first().map_or("NAME", |label| label.name.as_str());
    let detail = format!(
        "`{file}` sets variable values and cannot declare variables. Move this block to a .tf file, and write here: {name} = VALUE"
    );
    Diagnostic::error(messages::VARIABLE_DECLARATION_IN_TFVARS_FILE, detail).at(block.kind.span)
}

/// Treatment of a variable that must have a value and has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsetVariableTreatment {
    /// An error.
    Error,
    /// Unknown: it gets no input.
    Unknown,
}

/// Resolves the value of every variable of a module. Of several values for one variable the last is used.
///
/// # Errors
/// When a value is missing, has the wrong type, or is set on the command line for an undeclared variable.
pub fn resolve_variables(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    module: &Module,
    given: Vec<GivenVariable>,
    unset: UnsetVariableTreatment,
) -> Result<BTreeMap<Str, ResolvedVariable>, Reported> {
    let mut input_diags = Diagnostics::new();
    report_undeclared_variables(&mut input_diags, module, &given);
    let mut last: BTreeMap<Str, GivenVariable> =
        given.into_iter().map(|given| (given.name.clone(), given)).collect();
    let mut inputs = BTreeMap::new();
    for (name, variable) in &module.variables {
        let input = match last.remove(name) {
            Some(given) => parse_given_value(&mut input_diags, sources, variable, given),
            None if unset == UnsetVariableTreatment::Unknown && variable.is_required() => continue,
            None => resolve_unset_variable(&mut input_diags, variable),
        };
        if let Ok(input) = input {
            inputs.insert(name.clone(), input);
        }
    }
    diags.append(input_diags)?;
    Ok(inputs)
}

fn report_undeclared_variables(diags: &mut Diagnostics, module: &Module, given: &[GivenVariable]) {
    let mut n_in_files = 0;
    for given in given.iter().filter(|given| !module.variables.contains_key(&given.name)) {
        let name = &given.name;
        match &given.origin {
            InputOrigin::Option => {
                let _ = diags.error(Diagnostic::error(
                    messages::VALUE_FOR_UNDECLARED_VARIABLE,
                    format!(
                        "A variable named {name:?} was assigned on the command line, but the root module does not declare a variable of that name. To use this value, add a \"variable\" block to the configuration.{}",
                        undeclared_variable_remedy(module, name)
                    ),
                ));
            }
            InputOrigin::File(file, _) => {
                n_in_files += 1;
                if n_in_files <= MAX_UNDECLARED_WARNINGS {
                    diags.warn(Diagnostic::warning(
                        messages::VALUE_FOR_UNDECLARED_VARIABLE,
                        format!(
                            "The root module does not declare a variable named {name:?} but a value was found in file {file:?}. If you meant to use this value, add a \"variable\" block to the configuration.{}\n\nTo silence these warnings, use TF_VAR_... environment variables to provide certain \"global\" settings to all configurations in your organization. To reduce the verbosity of these warnings, use the -compact-warnings option.",
                            undeclared_variable_remedy(module, name)
                        ),
                    ));
                }
            }
            // Environment variables are shared by many configurations.
            InputOrigin::Environment | InputOrigin::Prompt => {}
        }
    }
    if n_in_files > MAX_UNDECLARED_WARNINGS {
        diags.warn(Diagnostic::warning(
            messages::VALUES_FOR_UNDECLARED_VARIABLES,
            format!(
                "In addition to the other similar warnings shown, {} other variable(s) defined without being declared.",
                n_in_files - MAX_UNDECLARED_WARNINGS
            ),
        ));
    }
}

/// Suggests the declared variable with a similar name, or a declaration.
fn undeclared_variable_remedy(module: &Module, name: &str) -> String {
    match nearest_name(name, module.variables.keys().map(|name| name.as_str())) {
        Some(suggestion) => format!(" Did you mean `{suggestion}`?"),
        None => String::new(),
    }
}

/// Returns the value of a variable that applies to all test files: as the module declares the
/// variable, otherwise as it is written.
///
/// # Errors
/// When the value does not fit the variable, or is not a constant.
pub fn value_for_test_files(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    module: &Module,
    given: &GivenVariable,
) -> Result<Value, Reported> {
    if let Some(variable) = module.variables.get(&given.name) {
        return parse_given_value(diags, sources, variable, given.clone()).map(|input| input.value);
    }
    match &given.value {
        GivenValue::Value(value) => Ok(value.clone()),
        GivenValue::Unparsed(text) => {
            let name = format!("<value for var.{}>", given.name);
            let source = sources.add_secret(name, text.clone());
            let expr = parse_expression(diags, sources, source)?;
            constant::constant_value(diags, &expr)
        }
    }
}

fn resolve_unset_variable(
    diags: &mut Diagnostics,
    variable: &Variable,
) -> Result<ResolvedVariable, Reported> {
    let Some(value) = &variable.default else {
        return Err(diags.error(
            Diagnostic::error(
                messages::NO_VALUE_FOR_REQUIRED_VARIABLE,
                format!(
                    "The root module input variable {:?} is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.",
                    variable.name.as_str()
                ),
            )
            .at(variable.span),
        ));
    };
    let (value, raw) = (mark_variable_value(variable, value.clone()), value.clone());
    Ok(ResolvedVariable { value, raw, given: None, is_default: true })
}

fn parse_given_value(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    variable: &Variable,
    given: GivenVariable,
) -> Result<ResolvedVariable, Reported> {
    let span = match &given.origin {
        InputOrigin::File(_, span) => *span,
        _ => None,
    };
    let value = match given.value {
        GivenValue::Value(value) => value,
        // The value stays a string unless the declared type has its own notation.
        GivenValue::Unparsed(text) if !variable.typed || variable.ty.is_primitive() => {
            Value::string(text)
        }
        GivenValue::Unparsed(text) => {
            let name = format!("<value for var.{}>", variable.name);
            // A message that quotes the value must not show a secret.
            let source = if variable.sensitive || variable.ephemeral {
                sources.add_secret(name, text)
            } else {
                sources.add(name, text)
            };
            let expr = parse_expression(diags, sources, source)?;
            constant::constant_value(diags, &expr)?
        }
    };
    let raw = value.clone();
    match convert_value_for_variable(variable, value) {
        Ok(value) => Ok(ResolvedVariable { value, raw, given: span, is_default: false }),
        Err(problem) => {
            let (summary, reason) = match problem {
                VariableTypeError::Null => (
                    messages::REQUIRED_VARIABLE_NOT_SET,
                    "required variable may not be set to null".to_owned(),
                ),
                VariableTypeError::Type(reason) => {
                    (messages::INVALID_VALUE_FOR_INPUT_VARIABLE, reason)
                }
            };
            let subject = unsuitable_value_text(variable, &given.origin);
            let detail = format!("{subject}: {reason}.");
            Err(diags.error(Diagnostic::error(summary, detail).at(span.unwrap_or(variable.span))))
        }
    }
}

/// The start of the error for a value that does not fit its variable: names the origin of the value.
fn unsuitable_value_text(variable: &Variable, origin: &InputOrigin) -> String {
    let name = &variable.name;
    match origin {
        InputOrigin::Environment => {
            format!(
                "Unsuitable value for var.{name} set using the TF_VAR_{name} environment variable"
            )
        }
        InputOrigin::Option => {
            format!("Unsuitable value for var.{name} set using -var=\"{name}=...\"")
        }
        InputOrigin::File(..) => {
            format!(
                "The given value is not suitable for var.{name} declared at {}",
                variable.position
            )
        }
        InputOrigin::Prompt => {
            format!("Unsuitable value for var.{name} set using an interactive prompt")
        }
    }
}

/// The reason why a value cannot be converted for a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableTypeError {
    /// The value is null, and the variable is not nullable and has no default.
    Null,
    /// The value cannot be converted, with the reason.
    Type(String),
}

/// Converts a value for a variable: fills optional attributes, converts the type, replaces a null that the
/// variable does not accept with the default, and marks.
///
/// # Errors
/// When the value cannot be converted to the type of the variable.
pub fn convert_value_for_variable(
    variable: &Variable,
    value: Value,
) -> Result<Value, VariableTypeError> {
    // Before the conversion, which would refuse an object that lacks optional attributes.
    let value = apply_attribute_defaults(variable, value);
    let value = convert::convert(&value, &variable.ty).map_err(|refused| {
        VariableTypeError::Type(format!("{}{}", format_path_prefix(&refused), refused.reason))
    })?;
    // As in Terraform, null selects the default if the variable is not nullable.
    if value.is_null() && !variable.nullable {
        return match &variable.default {
            Some(default) => Ok(mark_variable_value(variable, default.clone())),
            None => Err(VariableTypeError::Null),
        };
    }
    Ok(mark_variable_value(variable, value))
}

/// The path inside a value to the part that was refused, as a prefix of the reason.
pub(super) fn format_path_prefix(refused: &convert::ConversionError) -> String {
    let path = refused.path.to_string();
    if path.is_empty() { path } else { format!("at {path}: ") }
}

/// Applies the defaults of optional attributes.
pub(super) fn apply_attribute_defaults(variable: &Variable, value: Value) -> Value {
    match &variable.defaults {
        Some(defaults) if !value.is_null() => defaults.apply(value),
        _ => value,
    }
}

fn mark_variable_value(variable: &Variable, value: Value) -> Value {
    let mut marks = Marks::NONE;
    if variable.sensitive {
        marks |= Marks::SENSITIVE;
    }
    if variable.ephemeral {
        marks |= Marks::EPHEMERAL;
    }
    value.mark(marks)
}

/// The unknown value of a variable without a value: when only the
/// configuration itself is checked.
#[must_use]
pub fn unknown_variable_value(variable: &Variable) -> Value {
    // A type with `any` in it may become any type of that shape.
    let ty = if variable.ty.has_dynamic() { Type::Dynamic } else { variable.ty.without_optional() };
    mark_variable_value(variable, Value::unknown(ty))
}

#[cfg(test)]
mod tests;
