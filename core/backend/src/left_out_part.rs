//! The message about a part of the program that is not included in a build.

/// Describes a backend or key provider that this build does not include. The cargo feature has the
/// same name.
pub(crate) fn describe_left_out_part(part: &str, name: &str) -> String {
    format!(
        "This build of the program does not include the {part} {name:?}. Use another build, such as a release, or build the program with the cargo feature {name:?}: cargo install --locked --path cli --features {name}"
    )
}
