//! Tuple and object expressions, and `for` of both kinds.

use std::collections::HashSet;

use crate::messages;
use crate::value_kind::ValueKind;
use formwork_value::{Diagnostic, Marks, Number, Reported, Str, Type, Value, convert};
use indexmap::IndexMap;

use super::{Evaluator, ForFrame, ForFrames};
use crate::syntax::{Expr, ExprKind, ForExpr, Ident, ObjectItem};

impl Evaluator<'_> {
    pub(super) fn eval_tuple(
        &mut self,
        expr: &Expr,
        items: &[Expr],
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // Charged before the memory is reserved, so that the limit protects it.
        self.budget
            .charge_elements(items.len())
            .map_err(|limit| self.report_exceeded_limit(limit, expr.span))?;
        // An error does not end the loop, so that one run reports the errors of all items.
        let mut failed = None;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match self.evaluate_expr(item, frames) {
                Ok(value) => values.push(value),
                Err(reported) => failed = Some(reported),
            }
        }
        failed.map_or_else(|| self.check_value_limits(Value::tuple(values), expr.span), Err)
    }

    pub(super) fn eval_object(
        &mut self,
        expr: &Expr,
        items: &[ObjectItem],
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        self.budget
            .charge_elements(items.len())
            .map_err(|limit| self.report_exceeded_limit(limit, expr.span))?;
        let mut failed = None;
        let mut known = true;
        let mut marks = Marks::NONE;
        let mut pairs = Vec::with_capacity(items.len());
        for item in items {
            // Both are evaluated, so that an invalid key does not hide an invalid value.
            let key = self.evaluate_object_key(item, frames);
            let value = self.evaluate_expr(&item.value, frames);
            match (key, value) {
                (Err(reported), _) | (_, Err(reported)) => failed = Some(reported),
                (Ok((key, key_marks)), Ok(value)) => {
                    // An object cannot hide single attribute names, so the mark of a key covers the
                    // whole object.
                    marks |= key_marks;
                    match key {
                        Some(key) => pairs.push((key, value)),
                        // An unknown name leaves the type of the object open, so the whole object is
                        // unknown.
                        None => known = false,
                    }
                }
            }
        }
        if let Some(reported) = failed {
            return Err(reported);
        }
        self.reject_duplicate_json_names(items, &pairs)?;
        let object = if known { Value::object(pairs) } else { Value::dynamic() };
        self.check_value_limits(object.mark(marks), expr.span)
    }

    /// Refuses a duplicate name in an object of a JSON file. In the native syntax the last one is used.
    fn reject_duplicate_json_names(
        &mut self,
        items: &[ObjectItem],
        pairs: &[(Str, Value)],
    ) -> Result<(), Reported> {
        let is_json = |item: &ObjectItem| matches!(item.key.kind, ExprKind::Json(_));
        // Items and pairs correspond one to one only if every key is known.
        if pairs.len() != items.len() || !items.first().is_some_and(is_json) {
            return Ok(());
        }
        let mut names = HashSet::with_capacity(pairs.len());
        for (item, (name, _)) in items.iter().zip(pairs) {
            if !names.insert(name) {
                let detail = format!("This object already has an attribute named {name:?}.");
                let diagnostic = Diagnostic::error(messages::DUPLICATE_OBJECT_ATTRIBUTE, detail);
                return Err(self.diags.error(diagnostic.at(item.key.span)));
            }
        }
        Ok(())
    }

    /// Evaluates the key of an item to its string, or `None` if unknown, and its marks.
    fn evaluate_object_key(
        &mut self,
        item: &ObjectItem,
        frames: ForFrames<'_>,
    ) -> Result<(Option<Str>, Marks), Reported> {
        // A key that looks like a traversal could be a reference or a string with periods.
        if !item.bare
            && is_attribute_or_index(&item.key)
            && crate::traversal::as_traversal(&item.key).is_some_and(|key| !key.steps.is_empty())
        {
            return Err(self.diags.error(
                Diagnostic::error(
                    messages::AMBIGUOUS_ATTRIBUTE_KEY,
                    "Write (name.attribute) in parentheses to use the value of a reference as the key, or put it in quotes to use the literal string.",
                )
                .at(item.key.span),
            ));
        }
        let (key, marks) = self.evaluate_expr(&item.key, frames)?.unmark();
        // Terraform words the same errors differently in JSON.
        let (null, unfit, blamed) = match item.key.kind {
            ExprKind::Json(_) => (
                messages::INVALID_OBJECT_KEY_EXPRESSION,
                messages::INVALID_OBJECT_KEY_EXPRESSION,
                item.key.span,
            ),
            _ => (messages::NULL_VALUE_AS_KEY, messages::INCORRECT_KEY_TYPE, item.value.span),
        };
        if key.is_null() {
            let detail = "Can't use a null value as a key.";
            let diag = Diagnostic::error(null, detail);
            return Err(self.report_error(diag.at(blamed), &item.key, frames));
        }
        match convert::convert(&key, &Type::String) {
            Ok(Value::String(key)) => Ok((Some(key), marks)),
            Ok(_) => Ok((None, marks)),
            Err(refused) => {
                let diag = Diagnostic::error(
                    unfit,
                    format!("This value cannot be the key of an object item: {}.", refused.reason),
                );
                Err(self.report_error(diag.at(item.key.span), &item.key, frames))
            }
        }
    }

    pub(super) fn evaluate_for_expr(
        &mut self,
        expr: &Expr,
        for_expr: &ForExpr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let collection = self.evaluate_expr(&for_expr.collection, frames)?;
        let mut turns = ForLoop::new(expr, for_expr, &collection);
        if !self.check_iterable(expr, &for_expr.collection, &collection, frames)? {
            return Ok(Value::dynamic().mark(turns.marks));
        }
        // As in HCL, a condition of a wrong type is an error for an empty collection, too.
        self.check_condition_type(expr, for_expr, frames)?;
        let value = match &for_expr.result_key {
            None => self.evaluate_for_tuple(&mut turns, frames)?,
            Some(key) if for_expr.group => self.evaluate_for_groups(&mut turns, key, frames)?,
            Some(key) => self.evaluate_for_object(&mut turns, key, frames)?,
        };
        // If the length is unknown, the type of the result is unknown too.
        let value = if turns.known { value } else { Value::dynamic() };
        self.check_value_limits(value.mark(turns.marks), expr.span)
    }

    /// Returns whether a collection can be iterated: `false` if it is unknown, an error if it is not a
    /// collection. Charges for the elements.
    pub(super) fn check_iterable(
        &mut self,
        expr: &Expr,
        collection_expr: &Expr,
        collection: &Value,
        frames: ForFrames<'_>,
    ) -> Result<bool, Reported> {
        if collection.is_null() {
            let diag = Diagnostic::error(
                messages::ITERATION_OVER_NULL_VALUE,
                "A null value cannot be used as the collection in a 'for' expression. It must be a list, set, map, tuple or object.",
            );
            return Err(self.report_error(
                diag.at(collection_expr.span).with_source_context(expr.span),
                collection_expr,
                frames,
            ));
        }
        if ValueKind::of(collection).is_primitive() {
            let diag = Diagnostic::error(
                messages::ITERATION_OVER_NON_ITERABLE_VALUE,
                format!(
                    "A value of type {} cannot be used as the collection in a 'for' expression. It must be a list, set, map, tuple or object.",
                    collection.ty().friendly_name()
                ),
            );
            return Err(self.report_error(
                diag.at(collection_expr.span).with_source_context(expr.span),
                collection_expr,
                frames,
            ));
        }
        // An unknown collection has no children, so it is not charged.
        let n = collection.children().len();
        self.budget
            .charge_elements(n)
            .map_err(|limit| self.report_exceeded_limit(limit, expr.span))?;
        Ok(!collection.is_unknown())
    }

    /// Evaluates the condition once with unknown elements, so that a condition of the wrong type is
    /// reported even for an empty collection.
    fn check_condition_type(
        &mut self,
        expr: &Expr,
        for_expr: &ForExpr,
        frames: ForFrames<'_>,
    ) -> Result<(), Reported> {
        let Some(condition) = &for_expr.condition else { return Ok(()) };
        let element = Value::dynamic();
        let value = with_for_expr_names(for_expr, &element, &element, frames, |frames| {
            self.evaluate_expr(condition, frames)
        })?;
        if value.is_null() {
            let diag = Diagnostic::error(
                messages::CONDITION_IS_NULL,
                "The value of the 'if' clause must not be null.",
            );
            return Err(self.report_error(
                diag.at(condition.span).with_source_context(expr.span),
                condition,
                frames,
            ));
        }
        match convert::convert(&value, &Type::Bool) {
            Ok(_) => Ok(()),
            Err(refused) => {
                Err(self.report_bad_condition(expr, condition, &refused.reason, frames))
            }
        }
    }

    fn report_bad_condition(
        &mut self,
        expr: &Expr,
        condition: &Expr,
        reason: &str,
        frames: ForFrames<'_>,
    ) -> Reported {
        let diag = Diagnostic::error(
            messages::INVALID_FOR_CONDITION,
            format!("The 'if' clause value is invalid: {reason}."),
        );
        self.report_error(diag.at(condition.span).with_source_context(expr.span), condition, frames)
    }

    fn evaluate_for_tuple(
        &mut self,
        turns: &mut ForLoop<'_>,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut values = Vec::with_capacity(turns.elements().len());
        for at in 0..turns.elements().len() {
            self.evaluate_iteration(turns, at, frames, |this, for_expr, frames| {
                values.push(this.evaluate_expr(&for_expr.result, frames)?);
                // The marks of a result stay on its element: no other part of a tuple depends on
                // it.
                Ok(Marks::NONE)
            })?;
        }
        Ok(Value::tuple(values))
    }

    fn evaluate_for_object(
        &mut self,
        turns: &mut ForLoop<'_>,
        key_expr: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut values = IndexMap::with_capacity(turns.elements().len());
        let (mut all_known, expr) = (true, turns.expr);
        for at in 0..turns.elements().len() {
            self.evaluate_iteration(turns, at, frames, |this, for_expr, frames| {
                let (key, marks) = this.evaluate_for_key(expr, key_expr, frames)?;
                let Some(key) = key else {
                    all_known = false;
                    return Ok(marks);
                };
                this.budget
                    .charge_key(&key)
                    .map_err(|limit| this.report_exceeded_limit(limit, expr.span))?;
                let value = this.evaluate_expr(&for_expr.result, frames)?;
                if values.contains_key(&key) {
                    let diag = duplicate_key_error(&key, marks);
                    return Err(this.report_error(
                        diag.at(key_expr.span).with_source_context(expr.span),
                        key_expr,
                        frames,
                    ));
                }
                values.insert(key, value);
                Ok(marks)
            })?;
        }
        turns.known &= all_known;
        Ok(Value::object(values))
    }

    fn evaluate_for_groups(
        &mut self,
        turns: &mut ForLoop<'_>,
        key_expr: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut groups: IndexMap<Str, Vec<Value>> = IndexMap::new();
        let (mut all_known, expr) = (true, turns.expr);
        for at in 0..turns.elements().len() {
            self.evaluate_iteration(turns, at, frames, |this, for_expr, frames| {
                let (key, marks) = this.evaluate_for_key(expr, key_expr, frames)?;
                let Some(key) = key else {
                    all_known = false;
                    return Ok(marks);
                };
                this.budget
                    .charge_key(&key)
                    .map_err(|limit| this.report_exceeded_limit(limit, expr.span))?;
                let value = this.evaluate_expr(&for_expr.result, frames)?;
                groups.entry(key).or_default().push(value);
                Ok(marks)
            })?;
        }
        turns.known &= all_known;
        Ok(Value::object(groups.into_iter().map(|(key, values)| (key, Value::tuple(values)))))
    }

    /// Evaluates one element: binds the names, evaluates the condition, and if it holds calls `each` for
    /// the result. The marks are collected.
    fn evaluate_iteration(
        &mut self,
        turns: &mut ForLoop<'_>,
        at: usize,
        frames: ForFrames<'_>,
        mut each: impl FnMut(&mut Self, &ForExpr, ForFrames<'_>) -> Result<Marks, Reported>,
    ) -> Result<(), Reported> {
        let (key, value) = key_value_at(turns.collection, at);
        let (expr, for_expr) = (turns.expr, turns.for_expr);
        with_for_expr_names(for_expr, &key, value, frames, |frames| {
            if let Some(condition) = &for_expr.condition {
                let include = self.evaluate_expr(condition, frames)?;
                // The marks of excluded elements count too, because the length of the result reveals
                // their condition.
                turns.marks |= include.marks();
                if include.is_null() {
                    return Err(self.report_bad_condition(
                        expr,
                        condition,
                        "it is null for one of the elements",
                        frames,
                    ));
                }
                match convert::convert(include.without_own_marks(), &Type::Bool) {
                    Ok(Value::Bool(true)) => {}
                    Ok(Value::Bool(false)) => return Ok(()),
                    Ok(_) => {
                        // The condition determines the length of the result, so the whole result is
                        // unknown.
                        turns.known = false;
                        return Ok(());
                    }
                    Err(refused) => {
                        return Err(self.report_bad_condition(
                            expr,
                            condition,
                            &refused.reason,
                            frames,
                        ));
                    }
                }
            }
            turns.marks |= each(self, for_expr, frames)?;
            Ok(())
        })
    }

    fn evaluate_for_key(
        &mut self,
        expr: &Expr,
        key_expr: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<(Option<Str>, Marks), Reported> {
        let (key, marks) = self.evaluate_expr(key_expr, frames)?.unmark();
        let detail = if key.is_null() {
            "Key expression in 'for' expression must not produce a null value.".to_owned()
        } else {
            match convert::convert(&key, &Type::String) {
                Ok(Value::String(key)) => return Ok((Some(key), marks)),
                Ok(_) => return Ok((None, marks)),
                Err(refused) => {
                    format!("The key expression produced an invalid result: {}.", refused.reason)
                }
            }
        };
        let diag = Diagnostic::error(messages::INVALID_OBJECT_KEY, detail);
        Err(self.report_error(
            diag.at(key_expr.span).with_source_context(expr.span),
            key_expr,
            frames,
        ))
    }
}

fn duplicate_key_error(key: &Str, marks: Marks) -> Diagnostic {
    let key = match marks.is_empty() {
        true => format!("the key {:?}", key.as_str()),
        // Messages are not redacted.
        false => "a sensitive or ephemeral key".to_owned(),
    };
    Diagnostic::error(
        messages::DUPLICATE_OBJECT_KEY,
        format!(
            "Two different items produced {key} in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key."
        ),
    )
}

/// The state of a `for` that iterates over a collection.
struct ForLoop<'v> {
    expr: &'v Expr,
    for_expr: &'v ForExpr,
    collection: &'v Value,
    /// Marks of the collection, of conditions and of keys: all go to the result as a whole.
    marks: Marks,
    /// Whether every condition and key is known. Otherwise the whole result is unknown.
    known: bool,
}

impl<'v> ForLoop<'v> {
    fn new(expr: &'v Expr, for_expr: &'v ForExpr, collection: &'v Value) -> Self {
        Self { expr, for_expr, collection, marks: collection.marks(), known: true }
    }

    fn elements(&self) -> &'v [Value] {
        self.collection.children()
    }
}

/// Returns the key and the value of an element. The elements of a set are their own keys.
pub(super) fn key_value_at(collection: &Value, at: usize) -> (Value, &Value) {
    // All callers stay within the length, so this value is never used.
    static ABSENT_ELEMENT: Value = Value::Null(Type::Dynamic);
    let value = collection.children().get(at).unwrap_or(&ABSENT_ELEMENT);
    let key = match collection.without_own_marks() {
        Value::Map(map) => map.keys().get(at).cloned().map(Value::String),
        Value::Object(object) => object.names().get(at).cloned().map(Value::String),
        // An element of a set has no position, so that it is its own key, as in HCL.
        Value::Set(_) => Some(value.clone()),
        _ => None,
    };
    (key.unwrap_or_else(|| Value::Number(Number::from(at))), value)
}

fn with_for_expr_names<T>(
    for_expr: &ForExpr,
    key: &Value,
    value: &Value,
    frames: ForFrames<'_>,
    run: impl FnOnce(ForFrames<'_>) -> T,
) -> T {
    with_for_names(for_expr.key.as_ref(), &for_expr.value, [key, value], frames, run)
}

/// Calls a function with the names of a `for` bound, the name of the element innermost.
pub(super) fn with_for_names<T>(
    key_name: Option<&Ident>,
    value_name: &Ident,
    [key, value]: [&Value; 2],
    frames: ForFrames<'_>,
    run: impl FnOnce(ForFrames<'_>) -> T,
) -> T {
    let outer = key_name.map(|name| ForFrame { name: &name.name, value: key, outer: frames });
    let outer = outer.as_ref().or(frames);
    run(Some(&ForFrame { name: &value_name.name, value, outer }))
}

fn is_attribute_or_index(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Attribute { .. } | ExprKind::Index { .. })
}
