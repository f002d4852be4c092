//! The program `formwork`.

use std::process::ExitCode;

/// The program allocates and frees many small objects of few sizes, between which the system's allocator
/// leaves gaps.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    formwork::run()
}
