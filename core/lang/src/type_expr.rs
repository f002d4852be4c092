//! Type constraints as written, and the defaults of their optional attributes. The module does not
//! convert values: defaults are filled in before a value is converted to the type.

mod defaults;

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_value::diag::{Message, Summary};
use formwork_value::ty::ObjectType;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Type, Value, convert};

pub use defaults::TypeDefaults;

use crate::eval::evaluate;
use crate::functions::Function;
use crate::messages;
use crate::scope::{Scope, ScopeStep};
use crate::stack::with_stack;
use crate::syntax::{Call, Expr, ExprKind, Ident, ObjectItem};

/// Reads the type constraint of a variable, and its defaults, if any.
///
/// # Errors
/// Returns an error if the expression is not a type constraint, or if a default does not fit its
/// attribute.
pub fn read_type_constraint(
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<(Type, Option<TypeDefaults>), Reported> {
    if let ExprKind::Json(json) = &expr.kind {
        // Terraform reports any error in the string with this message.
        let Ok(written) = json.parse_unquoted_expression(&mut Diagnostics::new(), expr.span) else {
            return Err(report_type_error(
                diags,
                messages::INVALID_TYPE_SPECIFICATION,
                TYPE_EXPECTED_DETAIL,
                expr.span,
            ));
        };
        return read_type_constraint(diags, &written);
    }
    // Two legacy short forms are accepted as the whole type.
    match expr.as_keyword() {
        Some("list") => return Ok((Type::list(Type::Dynamic), None)),
        Some("map") => return Ok((Type::map(Type::Dynamic), None)),
        _ => {}
    }
    if let Some(text) = expr.as_string_literal() {
        let (summary, detail) = quoted_type_error(text);
        return Err(report_type_error(diags, summary, &detail, expr.span));
    }
    let read_constraint = TypeReader { diags, depth: 0 }.read_constraint(expr)?;
    Ok((read_constraint.ty, read_constraint.defaults))
}

/// Returns the summary and detail of the error about a type in quotes.
fn quoted_type_error(text: &str) -> (&'static Message, String) {
    let instead = match text {
        "string" => String::new(),
        "list" | "map" => format!(
            " and write {text}(string) instead to explicitly indicate that the {text} elements are strings"
        ),
        _ => {
            let detail = "To provide a full type expression, remove the surrounding quotes and give the type expression directly.";
            return (messages::INVALID_LEGACY_VARIABLE_TYPE_HINT, detail.to_owned());
        }
    };
    let detail = format!(
        "Terraform 0.11 and earlier required type constraints to be given in quotes, but that form is now deprecated and will be removed in a future version of Terraform. Remove the quotes around {text:?}{instead}."
    );
    (messages::INVALID_QUOTED_TYPE_CONSTRAINTS, detail)
}

fn report_type_error(
    diags: &mut Diagnostics,
    summary: impl Into<Summary>,
    detail: &str,
    span: Span,
) -> Reported {
    diags.error(Diagnostic::error(summary, detail).at(span))
}

struct TypeWithDefaults {
    ty: Type,
    defaults: Option<TypeDefaults>,
}

impl From<Type> for TypeWithDefaults {
    fn from(ty: Type) -> Self {
        Self { ty, defaults: None }
    }
}

struct TypeReader<'d> {
    diags: &'d mut Diagnostics,
    depth: usize,
}

impl TypeReader<'_> {
    fn report_invalid_type(&mut self, detail: &str, span: Span) -> Reported {
        report_type_error(self.diags, messages::INVALID_TYPE_SPECIFICATION, detail, span)
    }

    fn read_constraint(&mut self, expr: &Expr) -> Result<TypeWithDefaults, Reported> {
        // The limit is that of types, which every later recursion over a type relies on.
        if self.depth >= Type::MAX_DEPTH {
            let detail = format!("Types may be nested up to {} levels deep.", Type::MAX_DEPTH);
            return Err(self.report_invalid_type(&detail, expr.span));
        }
        self.depth += 1;
        let result = with_stack(|| match &expr.kind {
            ExprKind::Call(call) => self.read_type_constructor(call, expr.span),
            _ => self.read_type_keyword(expr),
        });
        self.depth -= 1;
        result
    }

    fn read_type_keyword(&mut self, expr: &Expr) -> Result<TypeWithDefaults, Reported> {
        let detail = match expr.as_keyword() {
            Some("bool") => return Ok(Type::Bool.into()),
            Some("number") => return Ok(Type::Number.into()),
            Some("string") => return Ok(Type::String.into()),
            Some("any") => return Ok(Type::Dynamic.into()),
            Some(name @ ("list" | "set" | "map")) => {
                format!(
                    "The {name} type constructor requires one argument specifying the element type. For example: {name}(string)."
                )
            }
            Some("object") => OBJECT_FORM_DETAIL.to_owned(),
            Some("tuple") => TUPLE_FORM_DETAIL.to_owned(),
            Some("optional") => OPTIONAL_POSITION_DETAIL.to_owned(),
            Some(name) => {
                format!(
                    "The keyword {name:?} is not a valid type specification. {TYPE_EXPECTED_DETAIL}"
                )
            }
            None => format!("This is not a type. {TYPE_EXPECTED_DETAIL}"),
        };
        Err(self.report_invalid_type(&detail, expr.span))
    }

    fn read_type_constructor(
        &mut self,
        call: &Call,
        span: Span,
    ) -> Result<TypeWithDefaults, Reported> {
        let name = call.name.name.as_str();
        match name {
            "bool" | "number" | "string" | "any" => Err(self
                .report_invalid_type(&format!("The type {name} takes no arguments."), call.parens)),
            "optional" => Err(self.report_invalid_type(OPTIONAL_POSITION_DETAIL, call.name.span)),
            "list" | "set" | "map" => {
                let detail = format!(
                    "The {name} type constructor requires one argument specifying the element type. For example: {name}(string)."
                );
                let element = self.sole_argument_expr(call, &detail)?;
                let element = self.read_constraint(element)?;
                let ty = match name {
                    "list" => Type::list(element.ty),
                    "set" => Type::set(element.ty),
                    _ => Type::map(element.ty),
                };
                Ok(TypeWithDefaults {
                    ty,
                    defaults: element.defaults.map(TypeDefaults::of_elements),
                })
            }
            "tuple" => self.read_tuple_type(call),
            "object" => self.read_object_type(call),
            _ => Err(self.report_invalid_type(
                &format!(
                    "The keyword {name:?} is not a valid type specification. {TYPE_EXPECTED_DETAIL}"
                ),
                span,
            )),
        }
    }

    fn sole_argument_expr<'e>(
        &mut self,
        call: &'e Call,
        detail: &str,
    ) -> Result<&'e Expr, Reported> {
        match call.args.as_slice() {
            [arg] => Ok(arg),
            [_, extra, ..] => Err(self.report_invalid_type(detail, extra.span)),
            [] => Err(self.report_invalid_type(detail, call.parens)),
        }
    }

    fn read_tuple_type(&mut self, call: &Call) -> Result<TypeWithDefaults, Reported> {
        let arg = self.sole_argument_expr(call, TUPLE_FORM_DETAIL)?;
        let ExprKind::Tuple(items) = &arg.kind else {
            return Err(self.report_invalid_type(TUPLE_FORM_DETAIL, arg.span));
        };
        // All of them are read, so that each error is reported.
        let elements: Vec<_> = items.iter().map(|item| self.read_constraint(item)).collect();
        let elements: Vec<TypeWithDefaults> = elements.into_iter().collect::<Result<_, _>>()?;
        let (types, defaults): (Vec<Type>, Vec<Option<TypeDefaults>>) =
            elements.into_iter().map(|element| (element.ty, element.defaults)).unzip();
        Ok(TypeWithDefaults { ty: Type::tuple(types), defaults: TypeDefaults::of_tuple(defaults) })
    }

    fn read_object_type(&mut self, call: &Call) -> Result<TypeWithDefaults, Reported> {
        let arg = self.sole_argument_expr(call, OBJECT_FORM_DETAIL)?;
        let ExprKind::Object(items) = &arg.kind else {
            return Err(self.report_invalid_type(OBJECT_FORM_DETAIL, arg.span));
        };
        let mut ty = ObjectType::default();
        let mut values = BTreeMap::new();
        let mut children = BTreeMap::new();
        // All of them are read, so that each error is reported.
        let read: Vec<_> = items.iter().map(|item| self.read_named_attribute(item)).collect();
        for (item, read) in items.iter().zip(read) {
            let (name, attribute) = read?;
            if ty.attributes.contains_key(&name) {
                let detail = format!("This type already has an attribute {name:?}.");
                return Err(self.report_invalid_type(&detail, item.key.span));
            }
            if attribute.optional {
                ty.optional.insert(name.clone());
            }
            values.extend(attribute.default.map(|default| (name.clone(), default)));
            let TypeWithDefaults { ty: attribute, defaults } = attribute.constraint;
            children.extend(defaults.map(|defaults| (name.clone(), defaults)));
            ty.attributes.insert(name, attribute);
        }
        let ty = Type::Object(Arc::new(ty));
        Ok(TypeWithDefaults { ty, defaults: TypeDefaults::of_object(values, children) })
    }

    fn read_named_attribute(
        &mut self,
        item: &ObjectItem,
    ) -> Result<(Str, ObjectTypeAttribute), Reported> {
        // Refused only after the type was read, so that the errors of both are reported.
        let name = self.read_attribute_name(item);
        let attribute = self.read_attribute_type(&item.value)?;
        Ok((name?, attribute))
    }

    fn read_attribute_name(&mut self, item: &ObjectItem) -> Result<Str, Reported> {
        match item.key.as_string_literal() {
            Some(name) if item.bare => Ok(name.clone()),
            _ => {
                let detail = "Write the name of an attribute without quotes and parentheses.";
                Err(self.report_invalid_type(detail, item.key.span))
            }
        }
    }

    /// Reads the type of an attribute, which may be wrapped in `optional`.
    fn read_attribute_type(&mut self, expr: &Expr) -> Result<ObjectTypeAttribute, Reported> {
        let call = match &expr.kind {
            ExprKind::Call(call) if call.name.name == "optional" => call,
            _ => {
                let constraint = self.read_constraint(expr)?;
                return Ok(ObjectTypeAttribute { constraint, optional: false, default: None });
            }
        };
        let (ty, default) = match call.args.as_slice() {
            [ty] => (ty, None),
            [ty, default] => (ty, Some(default)),
            _ => {
                let detail = "Optional attribute modifier expects at most two arguments: the attribute type, and a default value.";
                return Err(self.report_invalid_type(detail, call.parens));
            }
        };
        let constraint = self.read_constraint(ty)?;
        let default =
            default.map(|default| self.evaluate_default(default, &constraint.ty)).transpose()?;
        Ok(ObjectTypeAttribute { constraint, optional: true, default })
    }

    fn evaluate_default(&mut self, expr: &Expr, ty: &Type) -> Result<Value, Reported> {
        // Types are required before anything else is evaluated, so they cannot contain references.
        let value = evaluate(self.diags, expr, &NoNamesScope)?;
        convert::convert(&value, ty).map_err(|refused| {
            let detail = format!(
                "This default value is not compatible with the attribute's type constraint: {}.",
                refused.reason
            );
            let summary = messages::INVALID_DEFAULT_VALUE_FOR_OPTIONAL_ATTRIBUTE;
            report_type_error(self.diags, summary, &detail, expr.span)
        })
    }
}

struct ObjectTypeAttribute {
    constraint: TypeWithDefaults,
    optional: bool,
    default: Option<Value>,
}

/// A scope without names.
struct NoNamesScope;

impl Scope for NoNamesScope {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let detail = "A default in a type must be constant. It cannot contain references.";
        Err(report_type_error(diags, messages::VARIABLES_NOT_ALLOWED, detail, root.span))
    }

    fn lookup_function(&self, _name: &str) -> Option<&dyn Function> {
        None
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}

const TYPE_EXPECTED_DETAIL: &str = "A type is string, number, bool or any, or is constructed with list(...), set(...), map(...), object({...}) or tuple([...]).";
const OBJECT_FORM_DETAIL: &str = "The object type constructor requires one argument specifying the attribute types and values as a map. For example: object({ name = string }).";
const TUPLE_FORM_DETAIL: &str = "The tuple type constructor requires one argument specifying the element types as a list. For example: tuple([string, number]).";
const OPTIONAL_POSITION_DETAIL: &str = "Keyword \"optional\" is valid only as a modifier for object type attributes. For example: object({ name = optional(string) }).";

#[cfg(test)]
mod tests;
