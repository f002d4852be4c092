//! Stack space for deep recursion over syntax trees, independent of the recursive functions.

/// Greatest stack use of one level of recursion. A level with less free stack gets a new stack.
const MIN_FREE_STACK: usize = 128 * 1024;
/// The size of each further stack.
const STACK_SEGMENT_SIZE: usize = 4 * 1024 * 1024;

/// Calls a function with enough stack for one level of recursion, on any thread. Every recursion over a
/// tree uses this function. Its depth is limited by [`MAX_DEPTH`](crate::syntax::MAX_DEPTH).
pub fn with_stack<T>(level: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(MIN_FREE_STACK, STACK_SEGMENT_SIZE, level)
}
