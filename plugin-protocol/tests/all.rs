//! Plugins as real processes. One binary for the whole crate, because each links the whole stack.

mod process;
