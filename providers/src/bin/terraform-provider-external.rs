//! The `external` provider as a plugin.

fn main() -> std::process::ExitCode {
    formwork_sdk::serve(formwork_providers::external::provider())
}
