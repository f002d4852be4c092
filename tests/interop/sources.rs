//! Providers from registries, mirrors and directories: both programs install the same packages and write
//! the same lock file, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::engine::terraform_is_installed;
use crate::harness::Workdir;
use crate::harness::registry::{PLATFORM, Registry, Release, installed};

const ENGINES: [&str; 2] = ["terraform", "formwork"];
const LOCK: &str = ".terraform.lock.hcl";

/// A configuration that requires providers: address and constraint of each.
pub(crate) fn config(required: &[(&str, &str)]) -> String {
    let entries: String = required
        .iter()
        .map(|(addr, version)| {
            let name = addr.rsplit('/').next().expect("an address has parts");
            format!("    {name} = {{\n      source  = \"{addr}\"\n      version = \"{version}\"\n    }}\n")
        })
        .collect();
    format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n")
}

/// A registry with three releases of one provider and one of another.
fn registry() -> Registry {
    let registry = Registry::start();
    for version in ["1.0.0", "1.2.0", "2.0.0-beta1"] {
        registry.publish(&Release::new("thing", version));
    }
    registry.publish(&Release::new("other", "0.3.0"));
    registry
}

/// A row of the table: the settings, the options of `init`, and the files of the directory.
struct Row<'a> {
    name: &'a str,
    settings: String,
    options: String,
    host: String,
}

impl Row<'_> {
    fn run(
        &self,
        engine: &str,
        registry: &Registry,
        prepare: &dyn Fn(&Workdir),
    ) -> (String, String) {
        let things = format!("{}/acme/thing", self.host);
        let other_source = format!("{}/acme/other", self.host);
        let workdir =
            Workdir::new(&config(&[(&things, "~> 1.0, != 1.1.0"), (&other_source, ">= 0.1")]));
        let settings = self.settings.replace("HOME", &workdir.home().display().to_string());
        fs::write(workdir.settings(), settings).expect("it can be written");
        prepare(&workdir);
        let line = format!("init -no-color -input=false {}", self.options);
        let command = workdir.engine(engine, &line).env("SSL_CERT_FILE", &registry.authority());
        let result = command.succeed();
        let package_directory = installed(&workdir.root().join(".terraform"), &things, "1.2.0");
        let program =
            fs::read_to_string(package_directory.join("terraform-provider-thing_v1.2.0_x5"));
        let program = program.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert_eq!(program, format!("thing 1.2.0 for {PLATFORM}"), "{} {engine}", self.name);
        (workdir.read(LOCK), result.words())
    }
}

fn row(name: &'static str, settings: String, options: String, host: &str) -> Row<'static> {
    Row { name, settings, options, host: host.to_owned() }
}

#[test]
fn every_source_results_in_the_same_lock_file_in_both_programs() {
    if !terraform_is_installed() {
        return;
    }
    let registry = registry();
    let host = registry.host();
    let mirror = tempfile::tempdir().expect("a directory");
    let unpacked = tempfile::tempdir().expect("a directory");
    for release in [
        Release::new("thing", "1.0.0"),
        Release::new("thing", "1.2.0"),
        Release::new("other", "0.3.0"),
    ] {
        Registry::mirror_in(mirror.path(), "example.com", &release, true);
        Registry::mirror_in(unpacked.path(), "example.com", &release, false);
    }
    let indexed = indexed(&registry);
    registry.serve_mirror(indexed.path(), "/mirror");
    let (packed, loose) = (mirror.path().display(), unpacked.path().display());
    let methods = |text: String| format!("provider_installation {{\n{text}\n}}\n");
    let services = format!(
        "host \"example.com\" {{\n  services = {{\n    \"providers.v1\" = \"{}\"\n  }}\n}}\n",
        registry.url("/v1/providers/")
    );
    let network = format!("  network_mirror {{\n    url = \"{}\"\n  }}", registry.url("/mirror/"));
    let directory = |path: &dyn std::fmt::Display| {
        format!("  filesystem_mirror {{\n    path = \"{path}\"\n  }}")
    };
    let split = format!(
        "  filesystem_mirror {{\n    path    = \"{packed}\"\n    include = [\"example.com/acme/thing\"]\n  }}\n  direct {{\n    exclude = [\"example.com/acme/thing\"]\n  }}"
    );
    let rows = [
        row("direct", String::new(), String::new(), &host),
        row("host block", services.clone(), String::new(), "example.com"),
        row("network mirror", methods(network.clone()), String::new(), "example.com"),
        row("packed directory", methods(directory(&packed)), String::new(), "example.com"),
        row("unpacked directory", methods(directory(&loose)), String::new(), "example.com"),
        row("plugin directory", String::new(), format!("-plugin-dir={packed}"), "example.com"),
        row(
            "two directories",
            String::new(),
            format!("-plugin-dir={loose} -plugin-dir={packed}"),
            "example.com",
        ),
        row("cache", "plugin_cache_dir = \"HOME\"\n".to_owned(), String::new(), &host),
        row(
            "directory and registry",
            format!("{services}{}", methods(split)),
            String::new(),
            "example.com",
        ),
        row(
            "mirror before directory",
            methods(format!("{network}\n{}", directory(&packed))),
            String::new(),
            "example.com",
        ),
        row(
            "directory before mirror",
            methods(format!("{}\n{network}", directory(&loose))),
            String::new(),
            "example.com",
        ),
    ];
    for row in rows {
        let [theirs, ours] = ENGINES.map(|engine| row.run(engine, &registry, &|_| ()));
        assert_eq!(ours.0, theirs.0, "{}", row.name);
        assert!(ours.0.contains("version     = \"1.2.0\""), "{}", ours.0);
        for line in theirs.1.split("- ").filter(|line| line.starts_with("Installed ")) {
            let line = line.split(')').next().expect("a line");
            assert!(ours.1.contains(line), "{}: {line:?} is not in\n{}", row.name, ours.1);
        }
        let signs = |text: &str| text.matches("Incomplete lock file information").count();
        assert_eq!(signs(&ours.1), signs(&theirs.1), "{}", row.name);
    }
    implied_directory_is_the_same(mirror.path(), &registry);
}

/// A directory in which providers are looked for without a setting.
fn implied_directory_is_the_same(mirror: &Path, registry: &Registry) {
    let implied = row("implied directory", String::new(), String::new(), "example.com");
    let prepare = |workdir: &Workdir| copy(mirror, &workdir.root().join("terraform.d/plugins"));
    let [theirs, ours] = ENGINES.map(|engine| implied.run(engine, registry, &prepare));
    assert_eq!(ours.0, theirs.0);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("directories");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// All files below a directory, by their paths.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let below = files(&entry.path());
            contents.extend(below.into_iter().map(|(path, text)| (format!("{name}/{path}"), text)));
        } else {
            contents.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
    contents
}

/// A mirror of the registry with the index files for a web server, as `providers mirror` writes it.
fn indexed(registry: &Registry) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    mirrored("formwork", registry, directory.path());
    directory
}

fn mirrored(engine: &str, registry: &Registry, into: &Path) {
    let services = format!(
        "host \"example.com\" {{\n  services = {{\n    \"providers.v1\" = \"{}\"\n  }}\n}}\n",
        registry.url("/v1/providers/")
    );
    for version in ["1.0.0", "1.2.0"] {
        let config =
            config(&[("example.com/acme/thing", version), ("example.com/acme/other", "0.3.0")]);
        let workdir = Workdir::new(&config);
        fs::write(workdir.settings(), &services).expect("it can be written");
        let line = format!("providers mirror -platform={PLATFORM} -platform=darwin_arm64");
        let command = workdir.engine(engine, &line).arg(&into.display().to_string());
        command.env("SSL_CERT_FILE", &registry.authority()).succeed();
    }
}

#[test]
fn both_programs_write_the_same_mirror() {
    if !terraform_is_installed() {
        return;
    }
    let registry = registry();
    let [theirs, ours] = ENGINES.map(|engine| {
        let directory = tempfile::tempdir().expect("a directory");
        mirrored(engine, &registry, directory.path());
        files(directory.path())
    });
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (name, content) in &theirs {
        let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
        assert_eq!(text(&ours[name]), text(content), "{name}");
    }
}

#[test]
fn both_programs_lock_the_same_checksums_for_several_platforms() {
    if !terraform_is_installed() {
        return;
    }
    let registry = registry();
    let mirror = indexed(&registry);
    registry.serve_mirror(mirror.path(), "/mirror");
    let host = registry.host();
    let platforms = format!("-platform={PLATFORM} -platform=darwin_arm64");
    let directory = format!("{platforms} -fs-mirror={}", mirror.path().display());
    let network = format!("{platforms} -net-mirror={}", registry.url("/mirror/"));
    for (host, options) in
        [(host.as_str(), &platforms), ("example.com", &directory), ("example.com", &network)]
    {
        let config = config(&[
            (&format!("{host}/acme/thing"), "~> 1.0"),
            (&format!("{host}/acme/other"), ">= 0.1"),
        ]);
        let [theirs, ours] = ENGINES.map(|engine| {
            let workdir = Workdir::new(&config);
            fs::write(workdir.settings(), "").expect("it can be written");
            let line = format!("providers lock {options}");
            let run = || workdir.engine(engine, &line).env("SSL_CERT_FILE", &registry.authority());
            run().succeed().says("Success!").says("This was a new provider");
            let first = workdir.read(LOCK);
            run().succeed().says("found no need for changes");
            assert_eq!(workdir.read(LOCK), first, "{engine}");
            first
        });
        assert_eq!(ours, theirs, "{options}");
    }
}

/// Results of a step: the exit code, the lock file, and the sentences that both programs print.
type RunResult = (Option<i32>, String, Vec<bool>);

#[test]
fn both_programs_use_the_lock_file_of_the_other() {
    if !terraform_is_installed() {
        return;
    }
    let registry = registry();
    let addr = format!("{}/acme/thing", registry.host());
    let sentences = [
        "Reusing previous version of",
        "Using previously-installed",
        "Provider dependency changes detected",
        "Provider lock file not updated",
        "does not match configured version constraint",
        "The -upgrade flag conflicts with -lockfile=readonly",
        "no available releases match the given constraints",
        "doesn't match any of the checksums previously recorded",
    ];
    // Each step: the constraint, the options, and what happens to the lock file before.
    let damage = |text: &str| {
        text.lines()
            .filter(|line| !line.contains("\"h1:") && !line.contains("\"zh:"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let forge = |text: &str| text.replace("h1:", "h1:A").replace("\"zh:", "\"zh:0");
    let platform = |text: &str| {
        text.lines()
            .filter(|line| !line.contains("\"h1:"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    type Edit<'a> = &'a dyn Fn(&str) -> String;
    let unchanged: Edit<'_> = &str::to_owned;
    let steps: [(&str, &str, Edit<'_>); 9] = [
        ("1.0.0", "", unchanged),
        (">= 1.0", "", unchanged),
        (">= 1.0", "-lockfile=readonly", &platform),
        (">= 1.0", "-upgrade -lockfile=readonly", unchanged),
        (">= 1.0", "-upgrade", unchanged),
        ("< 1.2", "", unchanged),
        (">= 3.0", "-upgrade", unchanged),
        ("~> 1.0", "", &forge),
        ("~> 1.0", "", &damage),
    ];
    let run = |first: &str, second: &str| -> Vec<RunResult> {
        let workdir = Workdir::new("");
        fs::write(workdir.settings(), "").expect("it can be written");
        let mut lock_files = Vec::new();
        for (index, (version, options, edit)) in steps.iter().enumerate() {
            workdir.write("main.tf", &config(&[(&addr, version)]));
            if workdir.has(LOCK) {
                workdir.write(LOCK, &edit(&workdir.read(LOCK)));
            }
            let engine = if index % 2 == 0 { first } else { second };
            let line = format!("init -no-color -input=false {options}");
            let result =
                workdir.engine(engine, &line).env("SSL_CERT_FILE", &registry.authority()).run();
            let printed = sentences.map(|sentence| result.words().contains(sentence));
            lock_files.push((result.code, workdir.read(LOCK), printed.to_vec()));
        }
        lock_files
    };
    let oracle = run("terraform", "terraform");
    for (first, second) in
        [("formwork", "formwork"), ("terraform", "formwork"), ("formwork", "terraform")]
    {
        for (index, (ours, theirs)) in run(first, second).iter().zip(&oracle).enumerate() {
            assert_eq!(ours, theirs, "{first} and {second}, step {index}: {:?}", steps[index].1);
        }
    }
}
