//! Limits of one evaluation, for the evaluator and the functions.
//!
//! The limits are far above the needs of a configuration. They turn an expression that would exhaust the
//! stack or the memory, or run for hours, into an error. Depth of values has its own limit,
//! [`Value::MAX_DEPTH`].
//!
//! A value is built from others that are each within the limits, and may contain one of them a thousand
//! times. So its fully expanded size counts, independent of the number of evaluations.

use std::cell::Cell;

use formwork_value::Value;

/// Greatest nesting of expressions during evaluation, the same as the parser's.
pub const MAX_EXPR_DEPTH: usize = crate::syntax::MAX_DEPTH;

/// Greatest number of expressions and elements that one evaluation may visit.
pub const MAX_EVALUATION_STEPS: u64 = 50_000_000;

/// Greatest number of bytes of strings and elements that one evaluation may produce, intermediate
/// results included.
pub const MAX_EVALUATION_BYTES: u64 = 512 << 20;

/// Greatest size of one value, as counted by [`Value::size`].
pub const MAX_VALUE_SIZE: u64 = 128 << 20;

/// Number of argument bytes that count as one step.
const BYTES_PER_STEP: u64 = 256;

/// Size of an element of a collection, counted against [`MAX_EVALUATION_BYTES`].
const ELEMENT_OVERHEAD_BYTES: u64 = 40;

/// Size of an element key in addition to its string.
const KEY_OVERHEAD_BYTES: u64 = 60;

/// Limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExceededLimit {
    /// [`MAX_EXPR_DEPTH`].
    #[error("it nests deeper than {MAX_EXPR_DEPTH} levels")]
    Depth,
    /// The depth of values.
    #[error("its value nests deeper than {} levels", Value::MAX_DEPTH)]
    ValueDepth,
    /// [`MAX_VALUE_SIZE`].
    #[error("its value is larger than {} MiB", MAX_VALUE_SIZE >> 20)]
    ValueSize,
    /// [`MAX_EVALUATION_STEPS`].
    #[error("it takes more than {MAX_EVALUATION_STEPS} steps")]
    Steps,
    /// [`MAX_EVALUATION_BYTES`].
    #[error("it produces more than {} MiB of data", MAX_EVALUATION_BYTES >> 20)]
    Bytes,
}

/// Refuses a value that nests too deep or is too large.
///
/// # Errors
/// Returns the exceeded limit.
pub(crate) fn check_value_limits(value: &Value) -> Result<(), ExceededLimit> {
    if value.depth() > Value::MAX_DEPTH {
        return Err(ExceededLimit::ValueDepth);
    }
    if value.size() > MAX_VALUE_SIZE {
        return Err(ExceededLimit::ValueSize);
    }
    Ok(())
}

/// Remaining budget of one evaluation, shared by everything that takes part in it.
#[derive(Debug)]
pub struct Budget {
    steps: Cell<u64>,
    bytes: Cell<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_EVALUATION_STEPS, MAX_EVALUATION_BYTES)
    }
}

impl Budget {
    /// Returns a budget with the given numbers of steps and bytes.
    pub(crate) fn new(steps: u64, bytes: u64) -> Self {
        Self { steps: Cell::new(steps), bytes: Cell::new(bytes) }
    }

    /// Charges for the visit of `n` expressions or elements.
    ///
    /// # Errors
    /// Returns an error if the steps are exhausted.
    pub fn charge_steps(&self, n: usize) -> Result<(), ExceededLimit> {
        take_from_budget(&self.steps, n as u64).ok_or(ExceededLimit::Steps)
    }

    /// Charges for the complete reading of values.
    ///
    /// # Errors
    /// Returns an error if the steps are exhausted.
    pub fn charge_reading(&self, values: &[Value]) -> Result<(), ExceededLimit> {
        // A sum that overflowed would cost less than its parts.
        let bytes = values.iter().fold(0_u64, |sum, value| sum.saturating_add(value.size()));
        take_from_budget(&self.steps, bytes / BYTES_PER_STEP).ok_or(ExceededLimit::Steps)
    }

    /// Charges for `n` bytes of new strings.
    ///
    /// # Errors
    /// Returns an error if the bytes are exhausted.
    pub fn charge_bytes(&self, n: usize) -> Result<(), ExceededLimit> {
        take_from_budget(&self.bytes, n as u64).ok_or(ExceededLimit::Bytes)
    }

    /// Charges for the key of an element.
    ///
    /// # Errors
    /// Returns an error if the bytes are exhausted.
    pub fn charge_key(&self, key: &str) -> Result<(), ExceededLimit> {
        take_from_budget(&self.bytes, KEY_OVERHEAD_BYTES.saturating_add(key.len() as u64))
            .ok_or(ExceededLimit::Bytes)
    }

    /// Charges for a new collection of `n` elements.
    ///
    /// # Errors
    /// Returns an error if the steps or bytes are exhausted.
    pub fn charge_elements(&self, n: usize) -> Result<(), ExceededLimit> {
        take_from_budget(&self.bytes, (n as u64).saturating_mul(ELEMENT_OVERHEAD_BYTES))
            .ok_or(ExceededLimit::Bytes)?;
        self.charge_steps(n)
    }
}

/// Subtracts an amount. An amount that is too large takes the whole rest: an expression that survives
/// the refusal, with `can` or `try`, must not continue with the remainder.
fn take_from_budget(remaining: &Cell<u64>, n: u64) -> Option<()> {
    let rest = remaining.get().checked_sub(n);
    remaining.set(rest.unwrap_or(0));
    rest.map(drop)
}
