//! Provisioners on another machine: a real SSH server, which is this machine. If Terraform is
//! installed, it does the same with the same server, and must print the same.

mod connections;

use std::path::Path;

use nix::sys::signal::Signal;

use crate::harness::{Command, CommandResult, Sshd, Workdir, instances, terraform};

/// A resource with this connection and these provisioners.
fn resource(connection: &str, provisioners: &str) -> String {
    format!(
        "resource \"terraform_data\" \"a\" {{\n connection {{\n{connection} }}\n{provisioners}\n}}\n"
    )
}

/// The one line that only Formwork prints: the agent logs in, and is not forwarded.
const NOT_FORWARDED: &str = "SSH Agent Forwarding: false (agent = true forwards it)";

/// Messages printed after the creation began, without the parts that differ from run to run.
fn provisioner_lines(result: &CommandResult) -> Vec<String> {
    let text = result.stdout.clone() + &result.stderr;
    let lines = text.lines().skip_while(|line| !line.contains("Creating..."));
    // Only Formwork prints the duration of a failure, and only a busy machine prints progress.
    let now_and_then = ["Creation errored after", "Still creating..."];
    let lines = lines.filter(|line| !now_and_then.iter().any(|words| line.contains(words)));
    // Terraform forwards every agent, and its diagnostics have no codes.
    let is_ours = |line: &String| {
        line.ends_with(NOT_FORWARDED)
            || line.contains("Code: FW")
            || line.contains("formwork explain")
    };
    lines.map(plain).filter(|line| !is_ours(line)).collect()
}

/// A line without identifiers, random names and times.
fn plain(line: &str) -> String {
    let mut line = line.trim_end().to_owned();
    for (start, end) in [("[id=", "]"), ("/tmp/terraform_", ".sh"), ("complete after ", "s")] {
        let Some(position) = line.find(start).map(|position| position + start.len()) else {
            continue;
        };
        let Some(length) = line[position..].find(end) else { continue };
        line.replace_range(position..position + length, "…");
    }
    line
}

/// Applies a configuration with Terraform, if it is installed, and with Formwork, and compares
/// their output and the files they leave. `%` in it is a directory that each of them has for
/// itself.
#[track_caller]
fn check(config: &str) -> (Workdir, CommandResult) {
    check_with(config, &[])
}

/// The same with some variables set.
#[track_caller]
fn check_with(config: &str, env: &[(&str, String)]) -> (Workdir, CommandResult) {
    let apply = |mut command: Command<'_>| {
        for (name, value) in env {
            command = command.env(name, value);
        }
        command.run()
    };
    let files = |workdir: &Workdir| {
        let target_directory = workdir.root().join("there");
        std::fs::create_dir_all(target_directory.join("directory")).expect("a directory");
        workdir.write("from/one", "1\n");
        workdir.write("from/sub/two", "22\n");
        workdir.write("script.sh", "#!/bin/bash\necho from ${BASH##*/}\n");
        workdir.write("main.tf", &config.replace('%', &target_directory.to_string_lossy()));
        target_directory
    };
    let ours = Workdir::new("");
    let target_directory = files(&ours);
    let result = apply(ours.formwork("apply -auto-approve -no-color"));
    if terraform().is_some() {
        let theirs = Workdir::new("");
        let theirs_there = files(&theirs);
        theirs.terraform("init").succeed();
        let expected = apply(theirs.terraform("apply -auto-approve -no-color"));
        let words = |result: &CommandResult, workdir: &Workdir| {
            let root = workdir.root().to_string_lossy().into_owned();
            // Random names differ in length, so lines are broken at other positions.
            let text = provisioner_lines(result).join("\n").replace(&root, "ROOT");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(&result, &ours), words(&expected, &theirs), "{config}");
        assert_eq!(result.code, expected.code, "{config}");
        assert_eq!(listing(&target_directory), listing(&theirs_there), "{config}");
        let tainted =
            |workdir| instances(workdir).iter().map(|instance| instance.tainted).collect();
        let (ours, theirs): (Vec<bool>, Vec<bool>) = (tainted(&ours), tainted(&theirs));
        assert_eq!(ours, theirs, "{config}");
    }
    (ours, result)
}

/// Everything below a directory, with contents and whether it can be run.
fn listing(directory: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut lines = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in std::fs::read_dir(&next).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(directory).expect("it is below").display().to_string();
            let mode = entry.metadata().expect("it exists").permissions().mode() & 0o777;
            if path.is_dir() {
                lines.push(format!("{name}/ {mode:o}"));
                directories.push(path);
            } else {
                let text = std::fs::read_to_string(&path).expect("a text");
                lines.push(format!("{name} {mode:o} {text:?}"));
            }
        }
    }
    lines.sort();
    lines
}

#[test]
fn files_and_directories_are_copied_to_the_same_paths_as_by_terraform() {
    let Some(sshd) = Sshd::start() else { return };
    let file = |arguments: &str| format!("provisioner \"file\" {{\n{arguments}\n}}\n");
    let all: String = [
        "content = \"a text\"\ndestination = \"%/text\"",
        "content = \"\"\ndestination = \"%/nothing\"",
        "source = \"from/one\"\ndestination = \"%/directory/\"",
        "source = \"from/one\"\ndestination = \"%/with 'a' $name\"",
        "source = \"from\"\ndestination = \"%/directory\"",
        "source = \"from/\"\ndestination = \"%/directory\"",
        "source = \"from\"\ndestination = \"%/made\"",
    ]
    .map(file)
    .concat();
    let (workdir, result) = check(&resource(&sshd.connection(), &all));
    result.code(0);
    assert_eq!(
        listing(&workdir.root().join("there")),
        [
            "directory/ 755",
            "directory/directory 644 \"1\\n\"",
            "directory/from/ 755",
            "directory/from/one 644 \"1\\n\"",
            "directory/from/sub/ 755",
            "directory/from/sub/two 644 \"22\\n\"",
            "directory/one 644 \"1\\n\"",
            "directory/sub/ 755",
            "directory/sub/two 644 \"22\\n\"",
            "made/ 755",
            "made/one 644 \"1\\n\"",
            "made/sub/ 755",
            "made/sub/two 644 \"22\\n\"",
            "nothing 644 \"\"",
            "text 644 \"a text\"",
            "with 'a' $name 644 \"1\\n\"",
        ]
    );
    // Terraform sometimes misses the words of the program that refuses a file, so these are ours.
    for (invalid, words) in [
        ("source = \"nowhere\"\ndestination = \"/tmp/x\"", "stat nowhere: no such file"),
        ("content = \"x\"\ndestination = \"/no/such/directory/x\"", "No such file or directory"),
        ("content = \"x\"\ndestination = \"\"", "unexpected filename"),
    ] {
        ours(&resource(&sshd.connection(), &file(invalid)))
            .code(1)
            .says("file provisioner error")
            .says(words);
    }
}

#[test]
fn scripts_print_and_end_as_with_terraform() {
    let Some(sshd) = Sshd::start() else { return };
    let script = |arguments: &str| format!("provisioner \"remote-exec\" {{\n{arguments}\n}}\n");
    let all: String = [
        r#"inline = ["echo one", "echo two >&2", "printf 'a\\rb\\n\\n c'", "test -t 1 && echo '' tty"]"#,
        r#"script = "script.sh""#,
        r#"scripts = ["script.sh", "script.sh"]"#,
        r#"scripts = []"#,
        r#"inline = [sensitive("echo hush")]"#,
        "on_failure = continue\ninline = [\"exit 4\"]",
    ]
    .map(script)
    .concat();
    let (workdir, result) = check(&resource(&sshd.connection(), &all));
    result.code(0).says("(remote-exec): two").says("from bash").says_not("hush");
    assert!(!instances(&workdir)[0].tainted);
    for failing in [
        r#"inline = ["echo before", "exit 3"]"#,
        r#"inline = ["kill -9 $$"]"#,
        r#"inline = []"#,
        r#"script = "nowhere""#,
        r#"scripts = ["script.sh", ""]"#,
    ] {
        let (workdir, result) = check(&resource(&sshd.connection(), &script(failing)));
        result.code(1);
        assert!(instances(&workdir)[0].tainted, "{failing}");
    }
    let is_left = std::fs::read_dir("/tmp").expect("it exists").flatten().any(|entry| {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        entry.file_name().to_string_lossy().starts_with("terraform_") && text.contains("hush")
    });
    assert!(!is_left, "a script with a secret is still there");
}

#[test]
fn connections_are_made_and_refused_as_with_terraform() {
    let Some(sshd) = Sshd::start() else { return };
    let hello = "provisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";
    let short = sshd.connection().replace("20s", "2s");
    let with = |extra_arguments: &str| resource(&(short.clone() + extra_arguments), hello);
    let host_key = |text: &str| format!("{text} = \"{}\"\n", sshd.public("host_ecdsa"));
    check(&with(&host_key("host_key"))).1.code(0).says("Checking Host Key: true");
    check(&with("bastion_host = \"127.0.0.1\"\n")).1.code(0).says("Using configured bastion host");
    let by_host_name = resource(&short.replace("127.0.0.1", "localhost"), hello);
    check(&by_host_name).1.code(0);
    for extra_arguments in [
        "type = \"smoke\"\n",
        "target_platform = \"toaster\"\n",
        "bastion_host = \"127.0.0.1\"\nbastion_port = 1\n",
        "proxy_host = \"127.0.0.1\"\nproxy_port = 1\n",
    ] {
        check(&with(extra_arguments)).1.code(1);
    }
    let stranger =
        short.replace(&*sshd.path("id").to_string_lossy(), &sshd.path("other").to_string_lossy());
    check(&resource(&stranger, hello)).1.code(1).says("attempted methods [none publickey]");
    let nowhere = short.replace(&format!("port = {}", sshd.port), "port = 1");
    check(&resource(&nowhere, hello)).1.code(1).says("connection refused");
    check(&format!("resource \"terraform_data\" \"a\" {{\n{hello}\n}}\n")).1.code(1);
}

/// Output of a run of Formwork only, for intended differences.
#[track_caller]
fn ours(config: &str) -> CommandResult {
    let workdir = Workdir::new(config);
    workdir.formwork("apply -auto-approve -no-color").run()
}

#[test]
fn a_host_with_another_host_key_is_refused() {
    let Some(sshd) = Sshd::start() else { return };
    let hello = "provisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";
    let short = sshd.connection().replace("20s", "2s");
    // Terraform expects another key than the configured one, and refuses the host.
    let matching = format!("{short}host_key = \"{}\"\n", sshd.public("host_ed25519"));
    ours(&resource(&matching, hello)).code(0).says("hello");
    let mismatching = format!("{short}host_key = \"{}\"\n", sshd.public("other"));
    ours(&resource(&mismatching, hello)).code(1).says("key mismatch").says_not("hello");
    // Terraform does not check the key of a bastion at all.
    let bastion = format!(
        "{short}bastion_host = \"127.0.0.1\"\nbastion_host_key = \"{}\"\n",
        sshd.public("other")
    );
    ours(&resource(&bastion, hello)).code(1).says("connecting to bastion").says("key mismatch");
}

#[test]
fn a_host_with_another_key_in_known_hosts_is_refused() {
    let Some(sshd) = Sshd::start() else { return };
    let hello = "provisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";
    let short = sshd.connection().replace("20s", "2s");
    let given = format!("{short}host_key = \"{}\"\n", sshd.public("host_ecdsa"));
    let remedy = format!("ssh-keygen -R '[127.0.0.1]:{}'", sshd.port);
    let name = format!("[127.0.0.1]:{}", sshd.port);
    let negated = format!("*,!{name}");
    let revoked = format!("@revoked\t{name} ");
    for (hosts, known_keys, connection, code, words) in [
        (name.as_str(), "host_ecdsa", &short, 0, "Checking Host Key: true"),
        (&name, "host_ed25519", &short, 0, "Checking Host Key: true"),
        (&name, "other", &short, 1, remedy.as_str()),
        (&name, "other", &given, 0, "Checking Host Key: true"),
        ("*", "host_ed25519", &short, 0, "Checking Host Key: true"),
        ("[127.0.0.?]:*", "other", &short, 1, "key mismatch"),
        (&negated, "other", &short, 0, "Checking Host Key: false"),
        (&revoked, "other", &short, 0, "Checking Host Key: false"),
        (&revoked, "host_ecdsa host_ed25519", &short, 1, "has revoked that key"),
    ] {
        let workdir = Workdir::new(&resource(connection, hello));
        let directory = workdir.home().join(".ssh");
        std::fs::create_dir_all(&directory).expect("a directory");
        let lines = known_keys.split(' ').map(|key| format!("{hosts} {}\n", sshd.public(key)));
        std::fs::write(directory.join("known_hosts"), lines.collect::<String>())
            .expect("it can be written");
        let result = workdir.formwork("apply -auto-approve -no-color").run();
        result.code(code).says(words);
        assert_eq!(result.words().contains("(remote-exec): hello"), code == 0, "{}", result.text());
    }
}

#[test]
fn a_script_is_private_to_its_user_and_gets_the_agent_only_if_configured() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = sshd.agent(&["id"]);
    let script = "provisioner \"remote-exec\" {\ninline = [\"stat -c mode=%a \\\"$0\\\"\", \"echo agent=$SSH_AUTH_SOCK.\"]\n}\n";
    let connection = sshd.connection();
    let without_agent: String = connection
        .lines()
        .filter(|line| !line.starts_with("agent") && !line.starts_with("private_key"))
        .map(|line| format!("{line}\n"))
        .collect();
    for (agent_argument, is_forwarded) in [("", false), ("agent = true\n", true)] {
        let workdir = Workdir::new(&resource(&format!("{without_agent}{agent_argument}"), script));
        let apply = workdir.formwork("apply -auto-approve -no-color");
        let result = apply.env("SSH_AUTH_SOCK", &agent.socket()).run();
        result.code(0).says("(remote-exec): mode=700");
        let output = result.words();
        assert_eq!(!output.contains("agent=."), is_forwarded, "{output}");
        assert_eq!(!output.contains("agent = true forwards it"), is_forwarded, "{output}");
    }
    // The path is one word for the shell there.
    let path = sshd.path("it's a $HOME.sh");
    let spaced = format!("{connection}script_path = {:?}\n", path.display().to_string());
    ours(&resource(&spaced, script)).code(0).says("(remote-exec): mode=700");
    assert!(!path.exists(), "it is removed");
}

#[test]
fn unsupported_connections_are_reported_with_the_next_step() {
    let connection = "host = \"127.0.0.1\"\ntype = \"winrm\"\n";
    let hello = "provisioner \"remote-exec\" {\ninline = [\"echo hello\"]\n}\n";
    ours(&resource(connection, hello)).code(1).says("only over SSH").says("SSH server");
    let connection = "host = \"127.0.0.1\"\nproxy_host = \"p\"\nproxy_scheme = \"https\"\n";
    ours(&resource(connection, hello)).code(1).says("proxy_scheme \"https\" is not supported");
}

#[test]
fn an_interrupted_remote_provisioner_taints_the_object() {
    let Some(sshd) = Sshd::start() else { return };
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let workdir = Workdir::new("");
        let fifo = workdir.root().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
        let wait = format!(
            "provisioner \"remote-exec\" {{\ninline = [\"exec 3<>{0}; echo started; cat <&3\"]\n}}\n",
            fifo.display()
        );
        workdir.write("main.tf", &resource(&sshd.connection(), &wait));
        let running = workdir.formwork("apply -auto-approve").start();
        running.wait_for_output("(remote-exec): started");
        running.signal(signal);
        let result = running.wait();
        if signal == Signal::SIGINT {
            result.code(1).says("interrupted");
        }
        let next = workdir.formwork("plan").succeed();
        next.says("terraform_data.a is tainted, so must be replaced");
    }
}
