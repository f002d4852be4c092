//! Definition of a built-in function: its parameters, result, body and examples.

use formwork_value::{Number, Str, Type, Value};

use super::{CallContext, CallError, Function, Param, SpecialFunction};

/// Arguments and context of a function call.
pub(crate) struct Args<'a> {
    /// The arguments.
    pub(crate) values: &'a [Value],
    /// The type that the result must have.
    pub(crate) ty: &'a Type,
    /// The context of the call.
    pub(crate) ctx: &'a CallContext<'a>,
}

type FunctionBody = fn(&Args<'_>) -> Result<Value, CallError>;
type ReturnTypeFn = fn(&[Value]) -> Result<Type, CallError>;

enum ReturnType {
    Always(Type),
    By(ReturnTypeFn),
}

/// A built-in function, defined by a chain of builder calls.
pub(crate) struct Builtin {
    name: &'static str,
    params: Vec<Param>,
    variadic: Option<Param>,
    returns: ReturnType,
    body: FunctionBody,
    nullable: bool,
    reads_all_arguments: bool,
    special: Option<SpecialFunction>,
    description: &'static str,
    examples: Vec<(&'static str, &'static str)>,
}

impl Builtin {
    /// Creates a function without parameters that returns a value of any type, never null.
    pub(crate) fn new(name: &'static str, body: FunctionBody) -> Self {
        Self {
            name,
            params: Vec::new(),
            variadic: None,
            returns: ReturnType::Always(Type::Dynamic),
            body,
            nullable: false,
            reads_all_arguments: true,
            special: None,
            description: "",
            examples: Vec::new(),
        }
    }

    /// Adds a parameter.
    pub(crate) fn with_param(mut self, name: &'static str, ty: Type) -> Self {
        self.params.push(Param::new(name, ty));
        self
    }

    /// Adds the variadic parameter.
    pub(crate) fn with_variadic(mut self, name: &'static str, ty: Type) -> Self {
        self.variadic = Some(Param::new(name, ty));
        self
    }

    fn change_last_param(mut self, change: impl FnOnce(&mut Param)) -> Self {
        // The variadic parameter is always added last.
        if let Some(param) = self.variadic.as_mut().or(self.params.last_mut()) {
            change(param);
        }
        self
    }

    /// Renames the last parameter.
    pub(crate) fn rename_last_param(self, name: &'static str) -> Self {
        self.change_last_param(|param| param.name = name.into())
    }

    /// Allows null for the last parameter.
    pub(crate) fn last_param_allows_null(self) -> Self {
        self.change_last_param(|param| param.allow_null = true)
    }

    /// Allows unknown values for the last parameter.
    pub(crate) fn last_param_allows_unknown(self) -> Self {
        self.change_last_param(|param| param.allow_unknown = true)
    }

    /// Allows values of unknown type for the last parameter.
    pub(crate) fn last_param_allows_dynamic(self) -> Self {
        self.change_last_param(|param| param.allow_dynamic = true)
    }

    /// Allows marked values for the last parameter.
    pub(crate) fn last_param_allows_marked(self) -> Self {
        self.change_last_param(|param| param.allow_marked = true)
    }

    /// Sets the type of the result.
    pub(crate) fn with_return_type(mut self, ty: Type) -> Self {
        self.returns = ReturnType::Always(ty);
        self
    }

    /// Sets the function that computes the type of the result from the arguments.
    pub(crate) fn with_return_type_fn(mut self, ty: ReturnTypeFn) -> Self {
        self.returns = ReturnType::By(ty);
        self
    }

    /// Allows a null result.
    pub(crate) fn may_return_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// Declares that a call reads only one element of its arguments, or charges for its work itself.
    pub(crate) fn without_reading_charge(mut self) -> Self {
        self.reads_all_arguments = false;
        self
    }

    /// Sets the special treatment of the arguments by the evaluator.
    pub(crate) fn with_special_treatment(mut self, special: SpecialFunction) -> Self {
        self.special = Some(special);
        self
    }

    /// Sets the descriptions of the function and of each parameter: sentences for authors of
    /// expressions.
    pub(crate) fn described_as<const N: usize>(
        mut self,
        description: &'static str,
        params: [&'static str; N],
    ) -> Self {
        debug_assert_eq!(N, self.params.len() + usize::from(self.variadic.is_some()));
        self.description = description;
        let all = self.params.iter_mut().chain(self.variadic.as_mut());
        for (param, description) in all.zip(params) {
            param.description = description.into();
        }
        self
    }

    /// Adds an example: an expression, and its value as printed by `print_value`.
    pub(crate) fn with_example(mut self, expression: &'static str, printed: &'static str) -> Self {
        self.examples.push((expression, printed));
        self
    }

    /// The name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Description of the function, a sentence.
    pub(crate) fn description(&self) -> &'static str {
        self.description
    }

    /// Expressions, and their values.
    pub(crate) fn examples(&self) -> &[(&'static str, &'static str)] {
        &self.examples
    }
}

impl Function for Builtin {
    fn params(&self) -> &[Param] {
        &self.params
    }

    fn variadic_param(&self) -> Option<&Param> {
        self.variadic.as_ref()
    }

    fn call(&self, ctx: &CallContext<'_>, args: &[Value], ty: &Type) -> Result<Value, CallError> {
        (self.body)(&Args { values: args, ty, ctx })
    }

    fn return_type(&self, args: &[Value]) -> Result<Type, CallError> {
        match &self.returns {
            ReturnType::Always(ty) => Ok(ty.clone()),
            ReturnType::By(ty) => ty(args),
        }
    }

    fn never_returns_null(&self) -> bool {
        !self.nullable
    }

    fn reads_all_arguments(&self) -> bool {
        self.reads_all_arguments
    }

    fn special_treatment(&self) -> Option<SpecialFunction> {
        self.special
    }
}

impl<'a> Args<'a> {
    /// The argument at a position.
    pub(crate) fn value(&self, at: usize) -> &'a Value {
        // The number of arguments is already checked, so this value is never used.
        static ABSENT_ARGUMENT: Value = Value::Null(Type::Dynamic);
        self.values.get(at).unwrap_or(&ABSENT_ARGUMENT)
    }

    /// The arguments from a position on.
    pub(crate) fn values_from(&self, from: usize) -> &'a [Value] {
        self.values.get(from..).unwrap_or(&[])
    }

    /// Returns a string argument.
    pub(crate) fn text(&self, at: usize) -> Result<&'a Str, CallError> {
        match self.value(at).without_own_marks() {
            Value::String(text) => Ok(text),
            other => Err(unexpected_type_error(at, "string", other)),
        }
    }

    /// A number argument.
    pub(crate) fn number(&self, at: usize) -> Result<&'a Number, CallError> {
        match self.value(at).without_own_marks() {
            Value::Number(number) => Ok(number),
            other => Err(unexpected_type_error(at, "number", other)),
        }
    }

    /// Returns a number argument that must be a whole number in the range of lengths and indexes.
    pub(crate) fn integer(&self, at: usize) -> Result<i64, CallError> {
        let number = self.number(at)?;
        number.to_i64().ok_or_else(|| {
            CallError::new(format!(
                "value must be a whole number, between {} and {}; argument {} is {number}",
                i64::MIN,
                i64::MAX,
                at + 1
            ))
        })
    }

    /// The elements of a collection argument.
    pub(crate) fn elements(&self, at: usize) -> &'a [Value] {
        self.value(at).children()
    }

    /// Returns a string result, and charges for it.
    pub(crate) fn string_result(&self, text: impl Into<String>) -> Result<Value, CallError> {
        let text = text.into();
        self.ctx.budget.charge_bytes(text.len())?;
        Ok(Value::string(text))
    }

    /// Charges for a result of `n` elements, before it is created.
    pub(crate) fn charge_elements(&self, n: usize) -> Result<(), CallError> {
        Ok(self.ctx.budget.charge_elements(n)?)
    }

    /// Charges for `n` bytes of a string, before it is created.
    pub(crate) fn charge_bytes(&self, n: usize) -> Result<(), CallError> {
        Ok(self.ctx.budget.charge_bytes(n)?)
    }
}

fn unexpected_type_error(at: usize, wanted: &str, value: &Value) -> CallError {
    let actual = value.ty().friendly_name();
    CallError::for_argument(at, format!("a {wanted} is required, this is a {actual}"))
}
