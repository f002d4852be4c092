//! Releases: one file that works wherever it is copied to, and the directory that `cargo xtask dist`
//! installs of it.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::registry::{Page, Registry, sha256};
use crate::harness::{Workdir, built};

const CONFIG: &str = r#"
resource "random_id" "a" {
  byte_length = 2
}
resource "terraform_data" "b" {
  input = random_id.a.hex
}
"#;

/// Runs a program in the directory, which has to succeed; returns what it prints.
fn output_of(workdir: &Workdir, program: &Path, words: &[&str]) -> String {
    let result = run(workdir, program, words);
    assert!(result.0, "{}: {}", program.display(), result.1);
    result.1
}

fn run(workdir: &Workdir, program: &Path, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(program);
    command.args(words).current_dir(workdir.root()).env_clear();
    command.env("PATH", "/usr/bin:/bin").env("HOME", workdir.home()).env("NO_COLOR", "1");
    let output = command.output().expect("it can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

/// Only the program in a directory, without the providers that are next to it where it is built.
fn copied(workdir: &Workdir) -> PathBuf {
    let directory = workdir.home().join("anywhere");
    fs::create_dir(&directory).expect("a directory");
    let program = directory.join("formwork");
    fs::copy(built("formwork"), &program).expect("a copy");
    program
}

#[test]
fn one_copied_file_includes_its_providers() {
    let workdir = Workdir::new(CONFIG);
    let program = copied(&workdir);
    let installed = output_of(&workdir, &program, &["init"]);
    assert!(
        installed.contains("hashicorp/random v3.7.1, which comes with Formwork"),
        "{installed}"
    );
    output_of(&workdir, &program, &["apply", "-auto-approve"]);
    let second_output = output_of(&workdir, &program, &["plan", "-detailed-exitcode"]);
    assert!(second_output.contains("No changes"), "{second_output}");
    let checked = output_of(
        &workdir,
        &program,
        &["provider", "check", "hashicorp/null", "-level=1", "-only=P-01"],
    );
    assert!(checked.contains("1 of 1 examined"), "{checked}");
}

#[test]
fn a_link_with_the_name_of_a_provider_runs_as_that_provider() {
    let workdir = Workdir::new(CONFIG);
    let directory = workdir.home().join("linked");
    fs::create_dir(&directory).expect("a directory");
    let link = directory.join("terraform-provider-random");
    std::os::unix::fs::symlink(copied(&workdir), link).expect("a link");
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/random\" = {directory:?}\n  }}\n  direct {{}}\n}}\n"
    );
    fs::write(workdir.settings(), settings).expect("it can be written");
    workdir.formwork("apply -auto-approve").succeed().says("2 added");
    if crate::harness::terraform().is_some() {
        workdir.terraform("plan -detailed-exitcode").succeed().says("No changes");
    }
}

/// Packs a program into a release directory: a script that calls the program under test, which is large
/// because it is built for tests.
fn packed(workdir: &Workdir, out: &Path) {
    let script = workdir.home().join("script");
    let text = format!("#!/bin/sh\nexec {} \"$@\"\n", built("formwork").display());
    fs::write(&script, text).expect("it can be written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("this test owns it");
    let mut task = Command::new(built("formwork-xtask"));
    task.arg("dist").arg("--binary").arg(script).arg("--out").arg(out);
    let output = task.env("SOURCE_DATE_EPOCH", "1700000000").output().expect("it can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let mut files: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_release_directory_is_the_same_twice_and_installs_what_its_checksums_name() {
    let workdir = Workdir::new(CONFIG);
    let (first, second) = (workdir.home().join("first"), workdir.home().join("second"));
    packed(&workdir, &first);
    packed(&workdir, &second);
    let files = files(&first);
    assert_eq!(files, self::files(&second));
    let ending = |end: &str| {
        let file = files.iter().find(|(name, _)| name.ends_with(end));
        file.unwrap_or_else(|| panic!("no {end}"))
    };

    // Every other file is in the checksums, and all but the statement in the statement.
    let sums = String::from_utf8(ending("SHA256SUMS").1.clone()).expect("text");
    let named =
        |(name, bytes): &&(String, Vec<u8>)| sums.contains(&format!("{}  {name}\n", sha256(bytes)));
    assert_eq!(files.iter().filter(named).count(), files.len() - 1);
    let statement: Value = serde_json::from_slice(&ending(".intoto.json").1).expect("JSON");
    assert_eq!(statement["predicateType"], "https://slsa.dev/provenance/v1");
    for subject in statement["subject"].as_array().expect("a list") {
        let (name, digest) = (&subject["name"], &subject["digest"]["sha256"]);
        assert!(sums.contains(&format!(
            "{}  {}\n",
            digest.as_str().unwrap(),
            name.as_str().unwrap()
        )));
    }
    let bom: Value = serde_json::from_slice(&ending(".cdx.json").1).expect("JSON");
    let has = |name: &str| {
        let components = bom["components"].as_array().expect("a list");
        components.iter().any(|component| component["name"] == name)
    };
    assert!(has("formwork-core") && has("formwork-providers") && has("rustls"));
    assert!(!has("formwork-tests") && !has("proptest") && !has("cc"));

    let prefix = workdir.home().join("prefix");
    let script = first.join("install.sh");
    let words = [script.to_str().unwrap(), "-prefix", prefix.to_str().unwrap()];
    output_of(&workdir, Path::new("/bin/sh"), &words);
    let program = prefix.join("bin/formwork");
    assert!(prefix.join("share/man/man1/formwork-plan.1.gz").is_file());
    output_of(&workdir, &program, &["init"]);
    output_of(&workdir, &program, &["apply", "-auto-approve"]);

    let archive = &ending(".tar.gz").0;
    let mut damaged = fs::read(first.join(archive)).expect("a file");
    damaged.push(0);
    fs::write(first.join(archive), damaged).expect("it can be written");
    let (succeeded, output) = run(&workdir, Path::new("/bin/sh"), &words);
    assert!(!succeeded && output.contains("does not agree with SHA256SUMS"), "{output}");
    let words = [words[0], "-from", "http://example.com/formwork"];
    let (succeeded, output) = run(&workdir, Path::new("/bin/sh"), &words);
    assert!(!succeeded && output.contains("is not encrypted"), "{output}");
}

#[test]
fn the_install_script_follows_no_unencrypted_redirect() {
    let workdir = Workdir::new(CONFIG);
    let registry = Registry::start();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be set");
    let redirect_target =
        format!("http://{}/SHA256SUMS", listener.local_addr().expect("it listens"));
    registry.page("/SHA256SUMS", Page::moved(&redirect_target));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("xtask/src/install.sh");
    let settings = workdir.home().join("wgetrc");
    fs::write(&settings, format!("ca_certificate = {}\n", registry.authority())).expect("a file");
    for client in ["curl", "wget"] {
        if !Path::new("/usr/bin").join(client).is_file() {
            println!("NOT TESTED: there is no `{client}` on this machine");
            continue;
        }
        // The script takes the first client that it finds.
        let tools = workdir.home().join(client);
        fs::create_dir(&tools).expect("a directory");
        for tool in ["uname", "dirname", "mktemp", "rm", client] {
            let tool_path = ["/usr/bin", "/bin"].map(|directory| Path::new(directory).join(tool));
            let tool_path =
                tool_path.into_iter().find(|path| path.is_file()).expect("a usual tool");
            std::os::unix::fs::symlink(tool_path, tools.join(tool)).expect("a link");
        }
        let mut command = Command::new("/bin/sh");
        command.arg(&script).args(["-from", &registry.url("")]).env_clear();
        command.env("PATH", &tools).env("HOME", workdir.home());
        command.env("CURL_CA_BUNDLE", registry.authority()).env("WGETRC", &settings);
        let output = command.output().expect("it can be started");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && stderr.contains("cannot download"),
            "{client}: {stderr}"
        );
        assert_eq!(registry.take_requests().len(), 1, "{client}: {stderr}");
        let connection = listener.accept().map_err(|error| error.kind());
        assert_eq!(connection.err(), Some(ErrorKind::WouldBlock), "{client}");
    }
}

#[test]
fn the_debian_package_is_valid() {
    if !Path::new("/usr/bin/dpkg-deb").is_file() {
        println!("NOT TESTED: there is no `dpkg-deb` on this machine");
        return;
    }
    let workdir = Workdir::new(CONFIG);
    let out = workdir.home().join("out");
    packed(&workdir, &out);
    let (name, _) = files(&out).into_iter().find(|(name, _)| name.ends_with(".deb")).expect("one");
    let package = out.join(name);
    let (dpkg, package) = (Path::new("/usr/bin/dpkg-deb"), package.to_str().unwrap());
    let about = output_of(&workdir, dpkg, &["--info", package]);
    assert!(about.contains("Package: formwork") && about.contains("Depends: libc6"), "{about}");
    let root = workdir.home().join("root");
    output_of(&workdir, dpkg, &["-x", package, root.to_str().unwrap()]);
    let program = root.join("usr/bin/formwork");
    assert_eq!(program.metadata().unwrap().permissions().mode() & 0o7777, 0o755);
    output_of(&workdir, &program, &["init"]);
    assert!(root.join("usr/share/doc/formwork/copyright").is_file());
    assert!(root.join("usr/share/doc/formwork/changelog.gz").is_file());
}

#[test]
fn every_package_can_be_published_in_the_order_of_its_dependencies() {
    let target = tempfile::tempdir().expect("a directory");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--offline"]);
    cargo.args(["--exclude=formwork-tests", "--exclude=formwork-xtask"]);
    cargo.args(["--exclude=formwork-plugin-codegen", "--target-dir"]).arg(target.path());
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let position = |name: &str| {
        stderr.find(&format!("Packaging {name} v")).unwrap_or_else(|| panic!("{name}\n{stderr}"))
    };
    for (first, second) in [
        ("formwork-value", "formwork-plugin-protocol"),
        ("formwork-plugin-protocol", "formwork-sdk"),
        ("formwork-sdk-macros", "formwork-sdk"),
        ("formwork-sdk", "formwork-sdk-testing"),
        ("formwork-providers", "formwork"),
    ] {
        assert!(position(first) < position(second), "{first} before {second}\n{stderr}");
    }
    assert!(!stderr.contains("no description"), "{stderr}");
}
