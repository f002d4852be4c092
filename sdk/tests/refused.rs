//! Programs that do not compile, and their error messages. Each file below `refused` has one error,
//! and the file of the same name next to it contains the compiler's output.
//!
//! The compiler runs with the library next to this program: a harness with a project of
//! its own would build everything below the SDK once more, cryptography included.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use expect_test::expect_file;

#[test]
fn errors_in_models_are_reported_by_the_compiler() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let library = library();
    let mut mistakes: Vec<_> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    mistakes.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    mistakes.sort();
    assert!(mistakes.len() > 10, "the mistakes are where they should be");
    for mistake in mistakes {
        // The compiler evaluates some constants only when it generates code.
        let output = compiled(&mistake, &library, "metadata")
            .or_else(|| compiled(&mistake, &library, "obj"));
        let output = output.unwrap_or_else(|| panic!("{} compiles", mistake.display()));
        expect_file![mistake.with_extension("stderr")].assert_eq(&output);
    }
}

/// The library that this test was built with.
fn library() -> PathBuf {
    let directory = env::current_exe().unwrap().parent().unwrap().to_owned();
    let entries = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap());
    let own_libraries = entries.filter(|entry| {
        let name = entry.file_name().into_string().unwrap_or_default();
        name.starts_with("libformwork_sdk-") && name.ends_with(".rlib")
    });
    // Older builds leave their libraries here too.
    let newest = own_libraries.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    newest.expect("cargo builds the library before its tests").path()
}

/// The compiler's errors for a file, without the notes that quote the library. `None` if the file
/// compiles.
fn compiled(file: &Path, library: &Path, emit: &str) -> Option<String> {
    let out = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "a compiler ends on its own")]
    let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let library_dir = library.parent().unwrap();
    compiler
        // So that paths in messages are the same on each machine.
        .current_dir(file.parent().unwrap())
        .args(["--edition=2024", "--color=never", "-Awarnings"])
        .arg(format!("--emit={emit}"))
        .arg("-L")
        .arg(format!("dependency={}", library_dir.display()))
        .arg("--extern")
        .arg(format!("formwork_sdk={}", library.display()))
        .arg("--out-dir")
        .arg(out.path())
        .arg(file.file_name().unwrap());
    let output = compiler.output().unwrap();
    (!output.status.success()).then(|| brief(&String::from_utf8(output.stderr).unwrap()))
}

/// Errors with the lines they point at, each once. Notes about our own source are dropped, as they
/// move with it.
fn brief(output: &str) -> String {
    let (mut brief, mut shown_lines) = (String::new(), HashSet::new());
    // The compiler reports the same error for fields and for the whole struct, in its own order.
    let (of_all, of_parts): (Vec<_>, Vec<_>) =
        output.split("\n\n").partition(|part| part.contains("| #[derive("));
    for part in of_parts.into_iter().chain(of_all) {
        let summary = part.lines().next().unwrap_or_default();
        let is_error = summary.starts_with("error") && !summary.starts_with("error: aborting");
        if !is_error || !shown_lines.insert(summary) {
            continue;
        }
        let part = without_library_source(part);
        let begins = |line: &str, word| line.trim_start_matches([' ', '=', '|']).starts_with(word);
        let own_lines = part.lines().take_while(|line| {
            !begins(line, "help: the following other") && !begins(line, "note: required")
        });
        // Positions of constants in the library move with it too.
        let elsewhere = |line: &str| {
            ["/rustc/", "sdk/src/"].iter().any(|part_of_path| line.contains(part_of_path))
        };
        for line in own_lines.filter(|line| !elsewhere(line)) {
            brief.push_str(line.trim_end());
            brief.push('\n');
        }
        brief.push('\n');
    }
    brief
}

/// An error without lines of the standard library, which the compiler shows where the component `rust-src`
/// is installed.
fn without_library_source(error: &str) -> String {
    let Some(index) = error.find("rustlib/src/rust/library/") else { return error.to_owned() };
    let (before, after) = error.split_at(error[..index].rfind('\n').unwrap_or_default());
    let mut lines = after.lines();
    let label = lines.find_map(|line| line.rsplit_once("^ ")).map_or("", |(_, label)| label);
    let notes =
        lines.filter(|line| line.trim() != "|").map(|line| format!("\n  {}", line.trim_start()));
    format!("{before}\n  |\n  = note: {label}\n  |{}", notes.collect::<String>())
}
