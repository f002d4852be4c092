//! Calling a provider's function.

use std::collections::BTreeMap;

use super::ProviderDiagnostic;
use super::schema::FunctionSignature;
use crate::Payload;

/// The functions of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Functions {
    /// Signatures by name.
    pub functions: BTreeMap<String, FunctionSignature>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Calls a function.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// The name of the function, without any prefix.
    pub name: String,
    /// The arguments, variadic ones at the end.
    pub arguments: Vec<Payload>,
}

/// Response of a function call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResponse {
    /// The result, or why there is none.
    pub result: Result<Payload, FunctionError>,
}

/// Why a function has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// Description of the problem.
    pub text: String,
    /// Position of the argument at fault, from 0.
    pub argument: Option<u64>,
}
