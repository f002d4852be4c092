//! The `random` provider as a plugin.

fn main() -> std::process::ExitCode {
    formwork_sdk::serve(formwork_providers::random::provider())
}
