//! The program `formwork`, and the included providers: started under the name of a provider, it serves that
//! provider.

use std::process::ExitCode;

/// The program allocates and frees many small objects of few sizes, which fragments the system's allocator.
/// This allocator uses huge pages if available: page faults took a sixth of the time of an apply. The cost is
/// up to 30 MB of resident memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // On Windows, where creating links requires a privilege, the engine passes the name as an argument.
    let argument = cfg!(windows).then(|| arguments.next()).flatten();
    let names = std::iter::once(name).chain(argument);
    match names
        .into_iter()
        .find_map(|name| formwork_providers::bundle::serve_if_named_provider(&name))
    {
        Some(code) => code,
        None => formwork::run(formwork_providers::bundle::PROVIDER_NAMES),
    }
}
