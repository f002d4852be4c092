//! Code that is allowed only in listed files, or nowhere: unsafe code, panics without a reason,
//! addresses of machines and registries.

use std::path::Path;

use super::{File, TREE, assert_no_violations, product, sources, words};

/// The files with unsafe code, each for system calls that no safe
/// library has.
const UNSAFE: [&str; 4] = [
    // Echo of a console on Windows.
    "cli/src/command/question/windows.rs",
    // Locks of bytes behind the end of a file on Windows.
    "core/src/disk/system/windows.rs",
    // Jobs of Windows: processes that end together.
    "plugin-protocol/src/children/windows.rs",
    // The request for a signal at the death of the parent, between fork and exec.
    "plugin-protocol/src/client/process.rs",
];

#[test]
fn unsafe_code_is_only_in_files_with_system_calls() {
    let is_unsafe = |file: &&File| {
        file.product_lines().any(|(_, line)| {
            let code = line.split("//").next().unwrap_or_default();
            code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
        })
    };
    let files: Vec<_> = sources().filter(is_unsafe).map(|file| file.path.as_str()).collect();
    // This file names the words it looks for.
    let files: Vec<_> =
        files.into_iter().filter(|path| *path != "tests/tidy/restricted_code.rs").collect();
    assert_eq!(files, UNSAFE);
}

/// The compiler looks only at the files of the system that it compiles for.
#[test]
fn files_for_other_systems_exist() {
    let mut violations = Vec::new();
    let mut n_found = 0;
    for file in sources() {
        let attributes =
            file.text.lines().filter(|line| line.trim_start().starts_with("#[cfg_attr("));
        for path in attributes.filter_map(|line| line.split_once("path = \"")?.1.split_once('"')) {
            let (directory, _) = file.path.rsplit_once('/').unwrap_or_default();
            let path = format!("{directory}/{}", path.0);
            n_found += 1;
            if !TREE.iter().any(|other| other.path == path) {
                violations.push(format!("{}: {path}", file.path));
            }
        }
    }
    assert!(n_found > 10, "{n_found} attributes were found");
    assert_no_violations(&violations, "a module for another system has no file");
}

/// The only files that write to a terminal: everything passes through them, so that no text that others
/// wrote steers it.
const WRITERS: [&str; 2] = ["cli/src/view.rs", "cli/src/view/phase_counter.rs"];

#[test]
fn only_the_view_writes_to_a_terminal() {
    let directories = ["cli/src/", "core/", "cli/provisioners/src/"];
    let mut violations = Vec::new();
    for file in product().filter(|file| directories.iter().any(|it| file.path.starts_with(it))) {
        for (number, line) in file.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            let mut handles = code.split("stdout()").skip(1).chain(code.split("stderr()").skip(1));
            let writes =
                code.contains("io::std") && handles.any(|rest| !rest.starts_with(".is_terminal()"));
            if writes && !WRITERS.contains(&file.path.as_str()) {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(&violations, "print by the functions of cli/src/view.rs");
}

/// The directories of the code that reads and writes files of a checkout.
const CHECKOUT_READERS: [&str; 5] =
    ["cli/src/", "cli/provisioners/src/", "core/backend/src/", "core/operation/src/", "core/src/"];

/// The files that open others without a check of their kind and size. `core/src/disk.rs` has functions for
/// all else: they refuse pipes and files without end, which a checkout may have planted.
const OPENERS: [&str; 8] = [
    // The functions themselves.
    "core/src/disk.rs",
    "core/src/disk/system/unix.rs",
    "core/src/disk/system/windows.rs",
    // The state and its copies.
    "core/backend/src/local/replace_file.rs",
    // Files of the system below `/proc`.
    "cli/src/signals/unix.rs",
    // Files of the user's shells.
    "cli/src/command/autocomplete.rs",
    // Its own key, in a directory of the user.
    "core/operation/src/saved_plan/seal.rs",
    // Tests.
    "core/operation/src/state_session/damaged_files_tests.rs",
];

#[test]
fn files_of_a_checkout_are_opened_with_a_check_of_their_kind() {
    const OPENS: [&str; 3] = ["File::open(", "fs::read(", "fs::read_to_string("];
    let mut violations = Vec::new();
    for file in product().filter(|file| CHECKOUT_READERS.iter().any(|it| file.path.starts_with(it)))
    {
        if OPENERS.contains(&file.path.as_str()) {
            continue;
        }
        for (number, line) in file.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            if OPENS.iter().any(|opens| code.contains(opens)) {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(&violations, "open files by the functions of core/src/disk.rs");
}

/// The files that list, create or remove directories by their paths, or open files with `File::options`.
/// Everything below the data directory goes through the handles of `core/src/disk/dir.rs`, which follow
/// no link that a checkout may have planted.
const DIRECTORY_USERS: [&str; 35] = [
    // The handles themselves.
    "core/src/disk/dir.rs",
    "core/src/disk/system/windows.rs",
    // Directories of the configuration, which are only listed.
    "cli/src/command/fmt.rs",
    "cli/src/command/from_module.rs",
    "cli/src/command/recover.rs",
    "cli/src/command/variable_inputs.rs",
    "cli/src/install/source/directory.rs",
    "core/src/config/files.rs",
    // Directories that the user or the configuration names.
    "cli/provisioners/src/ssh/scp.rs",
    "cli/src/command/help.rs",
    "cli/src/command/provider/check.rs",
    "cli/src/command/provider/check_examples.rs",
    "cli/src/command/provider/check_inputs.rs",
    "cli/src/command/provider/package.rs",
    "cli/src/command/provider/scaffold.rs",
    "cli/src/command/providers/mirror.rs",
    "core/backend/src/consul.rs",
    // Files and caches of the user.
    "cli/src/command/autocomplete.rs",
    "cli/src/fetch/token_store.rs",
    "cli/src/install/hash_memo.rs",
    "cli/src/settings.rs",
    "core/operation/src/schema_cache.rs",
    // Directories that were created for one download, and installed packages, which are only read.
    "cli/src/fetch.rs",
    "cli/src/fetch/directory.rs",
    "cli/src/fetch/git.rs",
    "cli/src/install/hash.rs",
    "cli/src/install/package.rs",
    // The state, its workspaces and its journals, which have checks of their own.
    "core/backend/src/local/lock.rs",
    "core/backend/src/local/workspaces.rs",
    "core/src/state/intent_log/local.rs",
    "core/src/state/journal/on_disk.rs",
    "core/src/state/recover/in_dir.rs",
    "core/src/state/recover/misplaced.rs",
    // Tests.
    "cli/provisioners/src/ssh/known_hosts.rs",
    "cli/src/fuzz_targets.rs",
];

#[test]
fn directories_of_a_checkout_are_changed_through_handles() {
    const USES: [&str; 6] = [
        "fs::read_dir(",
        ".read_dir()",
        "fs::create_dir_all(",
        "fs::remove_dir_all(",
        "File::options(",
        "tempdir_in(",
    ];
    let mut violations = Vec::new();
    let mut users = Vec::new();
    for file in product().filter(|file| CHECKOUT_READERS.iter().any(|it| file.path.starts_with(it)))
    {
        for (number, line) in file.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            if !USES.iter().any(|uses| code.contains(uses)) {
                continue;
            }
            users.push(file.path.as_str());
            if !DIRECTORY_USERS.contains(&file.path.as_str()) {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(
        &violations,
        "open what a checkout may contain by the handles of core/src/disk/dir.rs",
    );
    let unused: Vec<_> = DIRECTORY_USERS
        .iter()
        .filter(|path| !users.contains(path))
        .map(|path| String::from(*path))
        .collect();
    assert_no_violations(&unused, "a file of the list that uses no directory is taken off it");
}

#[test]
fn a_refused_thread_is_an_error_and_not_a_panic() {
    let mut violations = Vec::new();
    for file in product().filter(|file| !file.path.starts_with("tests/")) {
        for (number, line) in file.product_lines() {
            let code = line.split("//").next().unwrap_or_default();
            if code.contains("thread::spawn(") || code.contains("scope.spawn(") {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(
        &violations,
        "thread::Builder::new().spawn() or spawn_scoped(), which return the refusal",
    );
}

#[test]
fn an_expectation_states_why_it_cannot_fail() {
    let mut violations = Vec::new();
    for file in product().filter(|file| !file.path.starts_with("tests/")) {
        for (number, line) in file.product_lines() {
            let Some((_, reason)) = line.split_once(".expect(") else { continue };
            let is_comment = line.trim_start().starts_with("//");
            if !is_comment && words(reason).count() < 3 {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(&violations, "expect(\"why this cannot happen\"), in words");
}

#[test]
fn no_file_names_a_machine_or_a_registry_index() {
    // Put together here, so that this file does not name them.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().display().to_string();
    let homes = ["/ho", "/Us", "/ro"].into_iter().zip(["me/", "ers/", "ot/"]);
    let machines: Vec<String> = homes.map(|(a, b)| format!("{a}{b}")).chain([root]).collect();
    let registries = ["index.crates", "static.crates", "pypi", "files.pythonhosted"];
    let registries: Vec<String> = registries.iter().map(|name| format!("{name}.")).collect();
    let mut violations = Vec::new();
    for file in TREE.iter().filter(|file| file.name() != "Cargo.lock") {
        for (line, number) in file.text.lines().zip(1..) {
            let machine = machines.iter().any(|machine| {
                line.match_indices(machine.as_str()).any(|(position, _)| {
                    // A path of its own, not the middle of one or of an address.
                    !line[..position]
                        .ends_with(|c: char| c.is_alphanumeric() || "./_-}".contains(c))
                })
            });
            let registry =
                line.contains("://") && registries.iter().any(|name| line.contains(name));
            if (machine || registry) && !is_made_up(line) {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(
        &violations,
        "the repository works on every machine: it names none, and no registry",
    );
}

/// Directories of people who do not exist, in examples and tests.
fn is_made_up(line: &str) -> bool {
    ["/home/me", "/home/user", "/home/ana", "/home/someone"].iter().any(|home| line.contains(home))
}

#[test]
fn bytes_are_formatted_as_hex_in_one_function() {
    // Providers see the SDK alone. A fingerprint of SSH has a colon behind each byte.
    let allowed_files = ["providers/src/digest.rs", "providers/src/tls/key/openssh.rs"];
    let mut violations = Vec::new();
    for file in product().filter(|file| !file.path.starts_with("tests/")) {
        let lines = file.product_lines().filter(|(_, line)| line.contains("{byte:02x}"));
        let other_lines = lines.filter(|_| !allowed_files.contains(&file.path.as_str()));
        violations.extend(other_lines.map(|(number, _)| format!("{}:{number}", file.path)));
    }
    assert_no_violations(&violations, "`formwork_value::codec::hex::encode` makes digits of bytes");
}
