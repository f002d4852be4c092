//! The program `formwork`, and the providers that come with it: started by the name of a provider, it
//! serves that provider.

use std::process::ExitCode;

/// The program allocates and frees many small objects of few sizes, between which the system's allocator
/// leaves gaps.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // A program cannot be started by another name on Windows: the name is the argument there.
    let name = if cfg!(windows) { arguments.next().unwrap_or_default() } else { name };
    match formwork_providers::bundle::serve(&name) {
        Some(code) => code,
        None => formwork::run(&formwork_providers::bundle::NAMES),
    }
}
