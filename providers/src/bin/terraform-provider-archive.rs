//! The `archive` provider as a plugin.

fn main() -> std::process::ExitCode {
    formwork_sdk::serve(formwork_providers::archive::provider())
}
