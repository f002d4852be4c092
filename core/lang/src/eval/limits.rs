//! How much one evaluation may do: every limit of the evaluator and of the functions, in one place.
//!
//! The limits are far above what a configuration needs. They turn an expression that would eat the
//! stack, the memory or the afternoon into an error. Depth of values has its own limit,
//! [`Value::MAX_DEPTH`](formwork_value::Value::MAX_DEPTH).

use std::cell::Cell;

/// How deep expressions may nest while they are evaluated: as deep as the parser lets them.
pub const MAX_DEPTH: usize = crate::syntax::MAX_DEPTH;

/// How many expressions and elements one evaluation may visit.
pub const MAX_STEPS: u64 = 50_000_000;

/// How many bytes of text and elements one evaluation may produce, intermediate results included.
pub const MAX_BYTES: u64 = 1 << 30;

/// What an element of a collection counts against [`MAX_BYTES`].
const ELEMENT_BYTES: u64 = 40;

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// [`MAX_DEPTH`].
    #[error("it nests deeper than {MAX_DEPTH} levels")]
    Depth,
    /// The depth of values.
    #[error("its value nests deeper than {} levels", formwork_value::Value::MAX_DEPTH)]
    ValueDepth,
    /// [`MAX_STEPS`].
    #[error("it takes more than {MAX_STEPS} steps")]
    Steps,
    /// [`MAX_BYTES`].
    #[error("it produces more than {} MiB of data", MAX_BYTES >> 20)]
    Bytes,
}

/// What is left for one evaluation, shared by everything that takes part in it.
#[derive(Debug)]
pub struct Budget {
    steps: Cell<u64>,
    bytes: Cell<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_STEPS, MAX_BYTES)
    }
}

impl Budget {
    /// A budget of so many steps and bytes.
    pub(crate) fn new(steps: u64, bytes: u64) -> Self {
        Self { steps: Cell::new(steps), bytes: Cell::new(bytes) }
    }

    /// Pays for visiting `n` expressions or elements.
    ///
    /// # Errors
    /// When the steps are used up.
    pub fn steps(&self, n: usize) -> Result<(), Limit> {
        take(&self.steps, n as u64).ok_or(Limit::Steps)
    }

    /// Pays for `n` bytes of new text.
    ///
    /// # Errors
    /// When the bytes are used up.
    pub fn bytes(&self, n: usize) -> Result<(), Limit> {
        take(&self.bytes, n as u64).ok_or(Limit::Bytes)
    }

    /// Pays for a new collection of `n` elements.
    ///
    /// # Errors
    /// When steps or bytes are used up.
    pub fn elements(&self, n: usize) -> Result<(), Limit> {
        take(&self.bytes, (n as u64).saturating_mul(ELEMENT_BYTES)).ok_or(Limit::Bytes)?;
        self.steps(n)
    }
}

fn take(left: &Cell<u64>, n: u64) -> Option<()> {
    left.set(left.get().checked_sub(n)?);
    Some(())
}
