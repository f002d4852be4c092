//! The text about a part of the program that was left out of a build.

/// Describes a backend or key provider that was left out of this build. Its feature has its name.
pub(crate) fn describe_left_out_part(part: &str, name: &str) -> String {
    format!(
        "This build of the program was made without the {part} {name:?}. Use another build, such as a release, or make one with the feature {name:?} of cargo: cargo install --locked --path cli --features {name}"
    )
}
