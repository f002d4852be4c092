//! The `postgresql` provider as a plugin.

fn main() -> std::process::ExitCode {
    formwork_sdk::serve(formwork_providers::postgresql::provider())
}
