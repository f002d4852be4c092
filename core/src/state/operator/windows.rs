//! The names of the user and of the machine on Windows, from environment variables.

pub(super) fn user_name() -> String {
    environment_variable("USERNAME")
}

pub(super) fn host_name() -> String {
    environment_variable("COMPUTERNAME")
}

fn environment_variable(name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "there is no other place for these names")]
    std::env::var(name).unwrap_or_default()
}
