//! Checks that files are written only below the temporary directory (K-05). `strace` observes the system
//! calls; without that program the rule is skipped.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use formwork_plugin_protocol::client::short_temp_dir;

use crate::finding::Finding;
use crate::message::Msg;
use crate::plugin::Plugin;
use crate::request;
use crate::rpc::Rpc;
use crate::suite::{CHANGING_CALL_TIMEOUT, READ_ONLY_CALL_TIMEOUT, Suite};
use crate::system::make_executable_on_unix;

/// System calls that create, change or remove files by name.
const TRACED_SYSTEM_CALLS: &str = "trace=open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,truncate";

/// The most files that a finding names.
const MAX_NAMED_FILES: usize = 5;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.is_rule_wanted("K-05") {
        return;
    }
    let Some(program) = suite.program_path() else {
        return suite
            .note_skipped_rules(&["K-05"], "the provider runs already, and this check starts it");
    };
    let traced = match TracedProgram::new(&program) {
        Ok(traced) => traced,
        Err(reason) => return suite.note_skipped_rules(&["K-05"], &reason),
    };
    let mut launch = suite.launch_options();
    launch.directory = Some(traced.working_dir());
    launch.env.push(("TMPDIR".into(), traced.temporary_dir().into()));
    launch.env.push(("HOME".into(), traced.working_dir().into()));
    let Ok(plugin) = Plugin::launch(&traced.wrapper_script_path(), &launch).await else {
        let reason = traced.strace_error();
        return suite.note_skipped_rules(
            &["K-05"],
            &format!("the program does not start below strace{reason}"),
        );
    };
    let mut requests = vec![(Rpc::GetProviderSchema, Msg::new())];
    if suite.configured {
        requests.push((Rpc::ConfigureProvider, request::configure_request(&suite.config)));
    }
    requests.extend(super::robustness::valid_requests(suite));
    for (rpc, request) in requests {
        if suite.is_run_over() || !plugin.is_alive() {
            break;
        }
        let limit = if rpc == Rpc::ConfigureProvider {
            CHANGING_CALL_TIMEOUT
        } else {
            READ_ONLY_CALL_TIMEOUT
        };
        plugin.call(rpc, &request, limit).await;
    }
    let socket = plugin.started.as_ref().map(|it| it.home.path().to_owned());
    plugin.shutdown(Duration::from_secs(2)).await;
    let log = traced.read_system_calls();
    // An empty log is not evidence.
    if !log.contains("open") {
        return suite.note_skipped_rules(&["K-05"], "strace has seen no system call");
    }
    // Its socket is in the directory that the host chose, and devices and processes are not files on a
    // disk.
    let allowed = socket.into_iter().chain([traced.temporary_dir()]);
    let allowed: Vec<PathBuf> = allowed.chain(["/dev".into(), "/proc/self".into()]).collect();
    let files = files_written_outside(&log, &traced.working_dir(), &allowed);
    suite.record_case("K-05", files.is_empty(), || {
        let listed_files: Vec<&str> =
            files.iter().map(String::as_str).take(MAX_NAMED_FILES).collect();
        Finding::new("K-05", "process", "it writes files outside of TMPDIR")
            .with_expected_and_found("files below TMPDIR only", listed_files.join(", "))
    });
}

/// A script that starts the program under `strace`, and the directories of the process.
struct TracedProgram(tempfile::TempDir);

impl TracedProgram {
    fn new(program: &Path) -> Result<Self, String> {
        let created = || -> std::io::Result<Self> {
            // A Unix socket is created below it, and its path is limited to 107 bytes.
            let traced = Self(tempfile::tempdir_in(short_temp_dir())?);
            fs::create_dir(traced.working_dir())?;
            fs::create_dir(traced.temporary_dir())?;
            // `-ff` gives each thread a file, so that lines do not mix. `-y` adds the path of a
            // file descriptor, to which names are relative. stderr is kept for the reason if strace
            // refuses.
            let script = format!(
                "#!/bin/sh\nexec 2>>{}\nexec strace -ff -y -qq -s 4096 -e signal=none -e {TRACED_SYSTEM_CALLS} -o {} {}\n",
                quote_path_for_shell(&traced.0.path().join("stderr")),
                quote_path_for_shell(&traced.log_path()),
                quote_path_for_shell(program),
            );
            fs::write(traced.wrapper_script_path(), script)?;
            make_executable_on_unix(&traced.wrapper_script_path())?;
            Ok(traced)
        };
        created().map_err(|error| format!("the directory for strace cannot be created: {error}"))
    }

    fn wrapper_script_path(&self) -> PathBuf {
        self.0.path().join("traced")
    }

    fn log_path(&self) -> PathBuf {
        self.0.path().join("log")
    }

    fn working_dir(&self) -> PathBuf {
        self.0.path().join("working")
    }

    fn temporary_dir(&self) -> PathBuf {
        self.0.path().join("temporary")
    }

    /// The calls of all threads: each has a file of its own.
    fn read_system_calls(&self) -> String {
        let files = fs::read_dir(self.0.path()).into_iter().flatten().flatten();
        let is_log = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("log.");
        let logs = files.filter(|file| is_log(&file.file_name()));
        logs.filter_map(|file| fs::read(file.path()).ok())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    }

    /// The first line of the output of strace or the program.
    fn strace_error(&self) -> String {
        let text = fs::read_to_string(self.0.path().join("stderr")).unwrap_or_default();
        let line = text.lines().find(|line| line.contains("strace: ")).unwrap_or_default();
        if line.is_empty() { String::new() } else { format!(": {line}") }
    }
}

/// The path as a word of a shell.
fn quote_path_for_shell(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// The files outside of the allowed directories that calls of the log have written.
fn files_written_outside(log: &str, working: &Path, allowed: &[PathBuf]) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for line in log.lines() {
        for path in paths_changed_in_line(line) {
            let path = normalize_path_lexically(&working.join(path));
            if !allowed.iter().any(|allowed_dir| path.starts_with(allowed_dir)) {
                files.insert(path.display().to_string());
            }
        }
    }
    files
}

/// The paths that a line of the log changes: `name(arguments) = result`.
fn paths_changed_in_line(line: &str) -> Vec<PathBuf> {
    // From the right, because a path may contain ` = ` too.
    let Some((call, result)) = line.rsplit_once(" = ") else { return Vec::new() };
    let Some((name, arguments)) = call.split_once('(') else { return Vec::new() };
    // A call that failed (`-1`) or never returned (`?`) has had no effect.
    if result.starts_with(['-', '?']) {
        return Vec::new();
    }
    let paths = paths_in_arguments(arguments).into_iter();
    let writes = ["O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC"];
    match name {
        "open" | "openat" | "openat2" => {
            let opens = writes.iter().any(|flag| arguments.contains(flag));
            paths.take(usize::from(opens)).collect()
        }
        // The target of a link is not changed.
        "symlink" | "symlinkat" | "link" | "linkat" => paths.skip(1).collect(),
        _ => paths.collect(),
    }
}

/// The paths in the arguments of a call: `AT_FDCWD</directory>, "name", ...`.
fn paths_in_arguments(arguments: &str) -> Vec<PathBuf> {
    let parts: Vec<&str> = arguments.split('"').collect();
    let directory = |before: &str| {
        // `-y` prints the path of a descriptor after it, in angle brackets.
        let (_, rest) = before.rsplit_once('<')?;
        Some(PathBuf::from(rest.split_once('>')?.0))
    };
    // Every second part was in quotes.
    let pairs = parts.chunks_exact(2);
    pairs.map(|pair| directory(pair[0]).unwrap_or_default().join(pair[1])).collect()
}

/// The path without `.` and `..`.
fn normalize_path_lexically(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_write_outside_of_the_allowed_directories_are_found() {
        let log = "\
openat(AT_FDCWD</work>, \"/etc/hosts\", O_RDONLY|O_CLOEXEC) = 3</etc/hosts>\n\
openat(AT_FDCWD</work>, \"/tmp/own/a\", O_WRONLY|O_CREAT, 0600) = 4</tmp/own/a>\n\
openat(AT_FDCWD</work>, \"/var/cache/b\", O_RDWR|O_CREAT, 0600) = 4</var/cache/b>\n\
openat(AT_FDCWD</work>, \"/var/c\", O_RDWR|O_CREAT, 0600) = -1 EACCES (Permission denied)\n\
mkdirat(AT_FDCWD</work>, \"d\", 0777) = 0\n\
unlinkat(7</tmp/own>, \"d\", 0) = 0\n\
rename(\"/tmp/own/a\", \"/tmp/own/../e\") = 0\n\
symlink(\"/var/target\", \"/tmp/own/link\") = 0\n\
exit_group(0) = ?\n";
        let files = files_written_outside(log, Path::new("/work"), &["/tmp/own".into()]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        // A failed call has had no effect, `..` leads out of the directory, and creating a link does not
        // change its target.
        assert_eq!(files, ["/tmp/e", "/var/cache/b", "/work/d"]);
    }
}
