//! The common type of several types.

use super::Type;

/// Returns the type to which all of `types` convert, or `None` if there is none.
/// Follows the language's unification: see the tests for its rules.
#[must_use]
pub fn unify(types: &[Type]) -> Option<Type> {
    let _ = types;
    todo!()
}
