//! Splats: the same steps on every element of a sequence.

use crate::messages;
use crate::print_value::type_with_article;
use formwork_value::{Diagnostic, Reported, Span, Type, Value};

use super::{Evaluator, ForFrames, access};
use crate::syntax::{Expr, Ident, SplatStep};

/// A step on each element, with its key evaluated.
enum EvaluatedSplatStep<'e> {
    Attribute(&'e Ident),
    Index(Value, Span),
    Splat { steps: Vec<Self>, marker: Span },
}

struct Splat<'s> {
    /// The expression before the first marker.
    operand: &'s Expr,
    steps: &'s [EvaluatedSplatStep<'s>],
    marker: Span,
}

impl Evaluator<'_> {
    pub(super) fn eval_splat(
        &mut self,
        operand: &Expr,
        each: &[SplatStep],
        marker: Span,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let source = self.evaluate_expr(operand, frames);
        // A splat binds no name, so its keys are the same for all elements: they are evaluated
        // once.
        let steps = self.evaluate_splat_keys(each, frames);
        let (source, steps) = (source?, steps?);
        self.apply_splat(&Splat { operand, steps: &steps, marker }, source, frames)
    }

    fn evaluate_splat_keys<'e>(
        &mut self,
        each: &'e [SplatStep],
        frames: ForFrames<'_>,
    ) -> Result<Vec<EvaluatedSplatStep<'e>>, Reported> {
        each.iter()
            .map(|step| {
                Ok(match step {
                    SplatStep::Attribute(name) => EvaluatedSplatStep::Attribute(name),
                    SplatStep::Index { key, brackets } => {
                        EvaluatedSplatStep::Index(self.evaluate_expr(key, frames)?, *brackets)
                    }
                    SplatStep::Splat { each, marker } => EvaluatedSplatStep::Splat {
                        steps: self.evaluate_splat_keys(each, frames)?,
                        marker: *marker,
                    },
                })
            })
            .collect()
    }

    fn apply_splat(
        &mut self,
        splat: &Splat<'_>,
        source: Value,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let paid = self.budget.charge_reading(std::slice::from_ref(&source));
        paid.map_err(|limit| self.report_exceeded_limit(limit, splat.operand.span))?;
        let ty = source.ty();
        let is_sequence = matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_));
        let splat_span = splat.operand.span.to(splat.marker);
        if source.is_null() {
            // `null[*]` is the empty tuple, but a null of a list type is an error, as in HCL.
            if !is_sequence {
                return Ok(Value::tuple(Vec::new()).mark(source.marks()));
            }
            let diag = Diagnostic::error(
                messages::SPLAT_OF_NULL_VALUE,
                format!(
                    "A splat expression iterates over the elements of {}, but this value is null.",
                    type_with_article(&ty)
                ),
            );
            return Err(self.report_error(
                diag.at(splat.operand.span).with_source_context(splat_span),
                splat.operand,
                frames,
            ));
        }
        // It may become a sequence, a single value or null, so the result is also of unknown type.
        if ty == Type::Dynamic {
            return Ok(source);
        }
        let (source, marks) = source.unmark();
        let value = if !is_sequence {
            self.splat_single_value(splat, source, frames)?
        } else if let Value::Unknown(unknown) = &source {
            let ty = self.splat_result_type(splat, unknown.ty(), frames)?;
            unknown_with_length_of(&source, ty)
        } else {
            self.splat_known_sequence(splat, &source, &ty, frames)?
        };
        self.check_value_limits(value.mark(marks), splat_span)
    }

    /// A value that is not a sequence counts as a sequence of itself, or as an empty one if it is null.
    fn splat_single_value(
        &mut self,
        splat: &Splat<'_>,
        source: Value,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // If the value becomes null, the result has no element instead of one, so the length is open.
        let may_be_null =
            matches!(&source, Value::Unknown(unknown) if !unknown.refinement().not_null);
        let value = self.apply_steps_to_element(splat, source, frames)?;
        Ok(if may_be_null { Value::dynamic() } else { Value::tuple(vec![value]) })
    }

    fn splat_known_sequence(
        &mut self,
        splat: &Splat<'_>,
        source: &Value,
        ty: &Type,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let items = source.children();
        self.budget
            .charge_elements(items.len())
            .map_err(|limit| self.report_exceeded_limit(limit, splat.operand.span))?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.apply_steps_to_element(splat, item.clone(), frames)?);
        }
        if matches!(ty, Type::Tuple(_)) {
            return Ok(Value::tuple(values));
        }
        let element = match values.first() {
            Some(first) => first.ty(),
            // An empty list has an element type too, which is determined with an unknown element.
            None => match self.splat_result_type(splat, ty, frames)? {
                Type::List(element) => (*element).clone(),
                _ => Type::Dynamic,
            },
        };
        // The results of steps on elements of one type can only differ in type if the type is unknown.
        if values.iter().any(|value| value.ty() != element) {
            return Ok(Value::tuple(values));
        }
        Ok(Value::list(element, values))
    }

    /// Returns the type of the result for a source of which only the type is known.
    fn splat_result_type(
        &mut self,
        splat: &Splat<'_>,
        ty: &Type,
        frames: ForFrames<'_>,
    ) -> Result<Type, Reported> {
        let mut of = |ty: &Type| {
            self.apply_steps_to_element(splat, Value::unknown(ty.clone()), frames)
                .map(|value| value.ty())
        };
        match ty {
            Type::List(element) | Type::Set(element) => of(element).map(Type::list),
            Type::Tuple(elements) => {
                elements.iter().map(of).collect::<Result<_, _>>().map(Type::tuple)
            }
            _ => Ok(Type::Dynamic),
        }
    }

    fn apply_steps_to_element(
        &mut self,
        splat: &Splat<'_>,
        item: Value,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut value = item;
        for step in splat.steps {
            let (part, span) = match step {
                EvaluatedSplatStep::Attribute(name) => {
                    // HCL includes the dot in the step.
                    let with_dot = Span { start: name.span.start.saturating_sub(1), ..name.span };
                    (access::access_attribute(&value, &name.name), with_dot)
                }
                EvaluatedSplatStep::Index(key, span) => (access::access_index(&value, key), *span),
                EvaluatedSplatStep::Splat { steps, marker } => {
                    let inner = Splat { operand: splat.operand, steps, marker: *marker };
                    (Ok(self.apply_splat(&inner, value, frames)?), *marker)
                }
            };
            value = part.map_err(|part| {
                let diag = Diagnostic::from(part)
                    .at(span)
                    .with_source_context(splat.operand.span.to(span));
                self.report_error(diag, splat.operand, frames)
            })?;
        }
        Ok(value)
    }
}

/// Returns an unknown result with the length of its source.
fn unknown_with_length_of(source: &Value, ty: Type) -> Value {
    let Value::Unknown(unknown) = source else { return Value::unknown(ty) };
    let known = unknown.refinement();
    let is_list = matches!((&ty, unknown.ty()), (Type::List(_), Type::List(_) | Type::Set(_)));
    let result = formwork_value::Refinement {
        not_null: true,
        min_length: if is_list { known.min_length } else { 0 },
        max_length: known.max_length.filter(|_| is_list),
        ..Default::default()
    };
    Value::refined(ty, result)
}
