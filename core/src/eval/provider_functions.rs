//! Provider functions for evaluation. Evaluation does not wait: a call without an
//! answer yet has an unknown result and is recorded. The caller of the evaluation runs the recorded calls
//! and evaluates again. No call is made twice. The code that runs the calls is elsewhere.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use formwork_lang::functions::{CallContext, CallError, Function, Param};
use formwork_plugin_protocol::message::function::FunctionError;
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::codec::msgpack;
use formwork_value::{Plain, Type, Value};

use super::function_hashes::{self, FunctionResultHashes};
use crate::addr::ProviderAddr;

/// The answer of a provider's function.
pub type FunctionAnswer = Result<Value, FunctionError>;

/// The functions of all providers that an expression has used, and all answers so far.
#[derive(Debug)]
pub struct ProviderFunctions {
    /// The first of a chain that only grows, so that functions can be lent while it does.
    first: OnceCell<Box<ProviderSignatures>>,
    unloaded: RefCell<BTreeSet<ProviderAddr>>,
    pending_calls: PendingCalls,
    stand_in: UnknownProviderFunction,
    /// Answers so far, in this phase and the one before.
    function_hashes: RefCell<FunctionResultHashes>,
}

/// Pending calls, by provider, function and arguments.
type PendingCalls = Rc<RefCell<BTreeMap<(ProviderAddr, String, Vec<u8>), ProviderCall>>>;

/// The functions of one provider.
#[derive(Debug)]
struct ProviderSignatures {
    provider: ProviderAddr,
    functions: BTreeMap<String, ProviderFunction>,
    next: OnceCell<Box<Self>>,
}

/// Functions and calls that an evaluation still needs before its result can be trusted.
#[derive(Debug, Default)]
pub struct PendingFunctions {
    /// Providers whose function signatures are not loaded yet.
    pub providers: BTreeSet<ProviderAddr>,
    /// Pending calls.
    pub calls: Vec<ProviderCall>,
}

impl PendingFunctions {
    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.calls.is_empty()
    }
}

/// A pending call.
#[derive(Clone, Debug)]
pub struct ProviderCall {
    /// The provider.
    pub provider: ProviderAddr,
    /// The function's name, without any prefix.
    pub function: String,
    /// The arguments, each with the type of its parameter.
    pub arguments: Vec<(Plain, Type)>,
    /// The type of the result.
    pub returns: Type,
    key: Vec<u8>,
}

impl Default for ProviderFunctions {
    fn default() -> Self {
        Self {
            first: OnceCell::new(),
            unloaded: RefCell::default(),
            pending_calls: Rc::default(),
            function_hashes: RefCell::default(),
            stand_in: UnknownProviderFunction(Param {
                allow_null: true,
                allow_unknown: true,
                allow_dynamic: true,
                ..Param::new("arguments", Type::Dynamic)
            }),
        }
    }
}

impl ProviderFunctions {
    /// Finds a function. If the signatures of its provider are not loaded yet, returns a placeholder.
    pub(super) fn find_function(
        &self,
        provider: &ProviderAddr,
        name: &str,
    ) -> Option<&dyn Function> {
        match self.signatures_of(provider) {
            Some(offer) => offer.functions.get(name).map(|function| function as &dyn Function),
            None => {
                self.unloaded.borrow_mut().insert(provider.clone());
                Some(&self.stand_in)
            }
        }
    }

    /// The names of a provider's functions, as far as they are known.
    pub(super) fn function_names(&self, provider: &ProviderAddr) -> impl Iterator<Item = &str> {
        let functions =
            self.signatures_of(provider).into_iter().flat_map(|offer| offer.functions.keys());
        functions.map(String::as_str)
    }

    fn signatures_of(&self, provider: &ProviderAddr) -> Option<&ProviderSignatures> {
        let mut offers = std::iter::successors(self.first.get(), |offer| offer.next.get());
        offers.find(|offer| offer.provider == *provider).map(|offer| &**offer)
    }

    /// Takes the functions and calls that evaluations since the last time could not resolve.
    #[must_use]
    pub fn take_pending(&self) -> PendingFunctions {
        let calls = self.pending_calls.take().into_values().collect();
        PendingFunctions { providers: self.unloaded.take(), calls }
    }

    /// Adds the function signatures of a provider.
    pub fn add_signatures(
        &self,
        provider: &ProviderAddr,
        signatures: &BTreeMap<String, FunctionSignature>,
    ) {
        // The answers so far belong to the first offer.
        if self.signatures_of(provider).is_some() {
            return;
        }
        let function = |(name, signature): (&String, &FunctionSignature)| {
            let pending_calls = self.pending_calls.clone();
            let function = ProviderFunction::new(provider, name, signature, pending_calls);
            (name.clone(), function)
        };
        let functions = signatures.iter().map(function).collect();
        let offer =
            ProviderSignatures { provider: provider.clone(), functions, next: OnceCell::new() };
        let mut end = &self.first;
        while let Some(offer) = end.get() {
            end = &offer.next;
        }
        let added = end.set(Box::new(offer)).is_ok();
        debug_assert!(added, "the end of the chain is empty");
    }

    /// Answers so far.
    #[must_use]
    pub fn function_hashes(&self) -> FunctionResultHashes {
        self.function_hashes.borrow().clone()
    }

    /// Holds the providers to their answers in an earlier phase.
    pub fn set_expected_results(&self, function_hashes: &FunctionResultHashes) {
        self.function_hashes.borrow_mut().clone_from(function_hashes);
    }

    /// Records the answer to a call. One that differs from the answer while planning becomes an
    /// error.
    pub fn record_answer(&self, call: &ProviderCall, answer: FunctionAnswer) {
        let answer = answer.and_then(|value| {
            let number = function_hashes::function_call_digest(&call.provider, &call.function, &call.key);
            if self.function_hashes.borrow_mut().insert_and_compare_result(number, &value, &call.returns) {
                return Ok(value);
            }
            let text = format!(
                "it returned an inconsistent result: while the plan was made, it answered the same call otherwise; this is a bug in provider {}",
                call.provider
            );
            Err(FunctionError { text, argument: None })
        });
        let offer = self.signatures_of(&call.provider);
        if let Some(function) = offer.and_then(|offer| offer.functions.get(&call.function)) {
            function.answers.borrow_mut().insert(call.key.clone(), answer);
        }
    }
}

/// A function of a provider.
#[derive(Debug)]
struct ProviderFunction {
    provider: ProviderAddr,
    name: String,
    params: Vec<Param>,
    variadic: Option<Param>,
    returns: Type,
    /// Answers by arguments, as they are sent.
    answers: RefCell<BTreeMap<Vec<u8>, FunctionAnswer>>,
    pending_calls: PendingCalls,
}

impl ProviderFunction {
    fn new(
        provider: &ProviderAddr,
        name: &str,
        signature: &FunctionSignature,
        pending_calls: PendingCalls,
    ) -> Self {
        Self {
            provider: provider.clone(),
            name: name.to_owned(),
            params: signature.parameters.iter().map(to_param).collect(),
            variadic: signature.variadic.as_ref().map(to_param),
            returns: signature.returns.clone(),
            answers: RefCell::default(),
            pending_calls,
        }
    }

    fn param_at(&self, at: usize) -> Option<&Param> {
        self.params.get(at).or(self.variadic.as_ref())
    }

    /// The call with these arguments.
    fn to_provider_call(&self, args: &[Value]) -> Result<ProviderCall, CallError> {
        let mut arguments = Vec::with_capacity(args.len());
        let mut key = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let ty = self.param_at(at).map_or(Type::Dynamic, |param| param.ty.clone());
            let plain = arg.clone().split_marks().0;
            let bytes = msgpack::encode(plain.value(), &ty)
                .map_err(|error| CallError::for_argument(at, error.to_string()))?;
            // With their lengths, so that different argument lists never have the same key.
            key.extend((bytes.len() as u64).to_be_bytes());
            key.extend(bytes);
            arguments.push((plain, ty));
        }
        let (provider, function) = (self.provider.clone(), self.name.clone());
        Ok(ProviderCall { provider, function, arguments, returns: self.returns.clone(), key })
    }
}

fn to_param(parameter: &FunctionParameter) -> Param {
    Param {
        allow_null: parameter.allow_null,
        allow_unknown: parameter.allow_unknown,
        // Providers are sent values with their types.
        allow_dynamic: true,
        ..Param::new(parameter.name.clone(), parameter.ty.clone())
    }
}

impl Function for ProviderFunction {
    fn params(&self) -> &[Param] {
        &self.params
    }

    fn variadic_param(&self) -> Option<&Param> {
        self.variadic.as_ref()
    }

    fn call(&self, _: &CallContext<'_>, args: &[Value], ty: &Type) -> Result<Value, CallError> {
        let waits = args.iter().enumerate().any(|(at, arg)| {
            !arg.is_wholly_known() && self.param_at(at).is_some_and(|param| !param.allow_unknown)
        });
        // As in Terraform, a function is not called with an unknown value that its parameter does
        // not accept.
        if waits {
            return Ok(Value::unknown(ty.clone()));
        }
        let call = self.to_provider_call(args)?;
        match self.answers.borrow().get(&call.key) {
            Some(Ok(value)) => Ok(value.clone()),
            Some(Err(error)) => {
                let argument = error.argument.and_then(|at| usize::try_from(at).ok());
                // A provider may name an argument that was not passed.
                let argument = argument.filter(|at| *at < args.len());
                Err(CallError { argument, ..CallError::new(strip_final_period(&error.text)) })
            }
            None => {
                let key = (call.provider.clone(), call.function.clone(), call.key.clone());
                self.pending_calls.borrow_mut().insert(key, call);
                Ok(Value::unknown(ty.clone()))
            }
        }
    }

    fn return_type(&self, _: &[Value]) -> Result<Type, CallError> {
        Ok(self.returns.clone())
    }
}

fn strip_final_period(text: &str) -> &str {
    text.trim_end().trim_end_matches('.')
}

/// A placeholder for a function of a provider whose signatures are not loaded yet.
#[derive(Debug)]
struct UnknownProviderFunction(Param);

impl Function for UnknownProviderFunction {
    fn params(&self) -> &[Param] {
        &[]
    }

    fn variadic_param(&self) -> Option<&Param> {
        Some(&self.0)
    }

    fn call(&self, _: &CallContext<'_>, _: &[Value], _: &Type) -> Result<Value, CallError> {
        Ok(Value::dynamic())
    }

    fn return_type(&self, _: &[Value]) -> Result<Type, CallError> {
        Ok(Type::Dynamic)
    }
}
