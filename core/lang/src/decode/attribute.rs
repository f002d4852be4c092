//! The value of one argument, converted to what the schema demands.

use std::sync::Arc;

use formwork_value::convert::{ConversionError, convert};
use formwork_value::schema::{Attribute as Schema, AttributeKind, NestedAttributes, Nesting, Role};
use formwork_value::ty::ObjectType;
use formwork_value::{Diagnostic, Step, Type, Value};

use super::{Context, Decoder};
use crate::eval::{Cause, evaluate, mentioned};
use crate::syntax::Attribute;

impl Decoder<'_> {
    /// Evaluates an argument; one that is wrong is unknown.
    pub(super) fn attribute(
        &mut self,
        written: &Attribute,
        schema: &Schema,
        context: Context<'_>,
    ) -> Value {
        if context.is_unknown {
            // The content may only be valid for the elements that the block will have once they are
            // known.
            return Value::unknown(schema.implied_type()).mark(context.marks);
        }
        let Ok(value) = evaluate(self.diags, &written.expr, context.scope) else {
            return Value::unknown(schema.implied_type());
        };
        match convert(&value, &constraint(schema)) {
            Ok(value) => value.mark(context.marks),
            Err(refused) => {
                let name = &written.name.name;
                let detail =
                    format!("Inappropriate value for attribute {name:?}: {}.", reason(&refused));
                let _ = self.diags.error(
                    Diagnostic::error("Incorrect attribute value type", detail)
                        .at(written.expr.span)
                        .within(written.span)
                        .mentioning(mentioned(&written.expr, context.scope, Cause::Values)),
                );
                Value::unknown(schema.implied_type())
            }
        }
    }
}

/// Says why a value was refused, with the place inside it in front.
pub(crate) fn reason(refused: &ConversionError) -> String {
    let mut text = String::new();
    for step in &refused.path.0 {
        text += &match step {
            Step::Attribute(name) => format!("attribute {name:?}: "),
            Step::Key(key) => format!("element {key:?}: "),
            Step::Index(at) => format!("element {at}: "),
        };
    }
    text + &refused.reason
}

/// The type an argument is converted to: of nested attributes, those that need not be written may be
/// missing.
fn constraint(schema: &Schema) -> Type {
    match &schema.kind {
        AttributeKind::Plain(ty) => ty.clone(),
        AttributeKind::Nested(nested) => nested_constraint(nested),
    }
}

fn nested_constraint(nested: &NestedAttributes) -> Type {
    let mut object = ObjectType::default();
    for (name, attr) in &nested.attributes {
        object.attributes.insert(name.clone(), constraint(attr));
        if attr.role != Role::Required {
            object.optional.insert(name.clone());
        }
    }
    let object = Type::Object(Arc::new(object));
    match nested.nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::List => Type::list(object),
        Nesting::Set => Type::set(object),
        Nesting::Map => Type::map(object),
    }
}
