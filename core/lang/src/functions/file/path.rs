//! Functions on paths as strings, with `/` between the parts.

use formwork_value::{Type, Value};

use crate::functions::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        builtin_on_path("abspath", abs_path)
            .described_as("Returns the absolute path of a path.", ["The path."])
            .with_example(r#"abspath("a/../b")"#, r#""/work/b""#),
        builtin_on_path("basename", |args| args.string_result(base_name(args.text(0)?)))
            .described_as("Returns the last element of a path.", ["The path."])
            .with_example(r#"basename("a/b.txt")"#, r#""b.txt""#),
        builtin_on_path("dirname", |args| args.string_result(dir_name(args.text(0)?)))
            .described_as("Returns a path without its last element.", ["The path."])
            .with_example(r#"dirname("a/b.txt")"#, r#""a""#),
        builtin_on_path("pathexpand", |args| args.string_result(expand_home(args, args.text(0)?)?))
            .described_as(
                "Replaces a leading `~` in a path with the home directory.",
                ["The path."],
            )
            .with_example(r#"pathexpand("~/a")"#, r#""/home/me/a""#),
    ]
}

fn builtin_on_path(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body).with_param("path", Type::String).with_return_type(Type::String)
}

/// A path without empty and `.` parts, and without `..` where it can be resolved.
pub(super) fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // The parent directory of the root is the root.
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

fn base_name(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    // Slashes at the end do not count, as in Go's `filepath.Base`.
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None => "/".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn dir_name(path: &str) -> String {
    clean_path(path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or(""))
}

/// Replaces `~` at the start with the home directory.
pub(super) fn expand_home(args: &Args<'_>, path: &str) -> Result<String, CallError> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(path.to_owned()) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(CallError::new(
            "~ is supported only for the home directory of the current user",
        ));
    }
    let home = args
        .ctx
        .host
        .files
        .home_dir()
        .ok_or_else(|| CallError::new("the home directory is unknown"))?;
    if rest.is_empty() { Ok(home) } else { Ok(clean_path(&format!("{home}{rest}"))) }
}

fn abs_path(args: &Args<'_>) -> FunctionResult {
    let path = args.text(0)?;
    if path.starts_with('/') {
        return args.string_result(clean_path(path));
    }
    let directory = args
        .ctx
        .host
        .files
        .current_dir()
        .ok_or_else(|| CallError::new("the current directory is unknown"))?;
    args.string_result(clean_path(&format!("{directory}/{}", path.as_str())))
}

#[cfg(test)]
mod tests {
    use super::{base_name, clean_path, dir_name};

    #[test]
    fn paths_are_split_as_in_the_console() {
        let names = ["a/b/", "", "/", "a//", "a"].map(base_name);
        assert_eq!(names, ["b", ".", "/", "a", "a"]);
        let directories = ["a/b/c", "a", "/", "a//b/../c", "", "a/", "/a"].map(dir_name);
        assert_eq!(directories, ["a/b", ".", "/", "a", ".", "a", "/"]);
        assert_eq!(["../a", "/../a", "a/../..", "./"].map(clean_path), ["../a", "/a", "..", "."]);
    }
}
