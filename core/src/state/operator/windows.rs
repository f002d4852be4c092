//! The names of the user and of the machine on Windows, which keeps them in the environment.

pub(super) fn user() -> String {
    variable("USERNAME")
}

pub(super) fn host() -> String {
    variable("COMPUTERNAME")
}

fn variable(name: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "there is no other place for these names")]
    std::env::var(name).unwrap_or_default()
}
