//! Providers from a registry: verified or refused, with nothing half installed; tokens go to their host
//! only; many commands share one cache.

use std::fs;
use std::path::Path;

use crate::harness::registry::{
    PLATFORM, Page, Registry, Release, archive, installed, secret_key, sha256, sign,
};
use crate::harness::{Workdir, terraform, test_provider};
use serde_json::{Value, json};

const LOCK: &str = ".terraform.lock.hcl";
const NAME: &str = "terraform-provider-thing_v1.0.0_x5";

fn config(registry: &Registry, version: &str) -> String {
    let host = registry.host();
    format!(
        "terraform {{\n  required_providers {{\n    thing = {{\n      source  = \"{host}/acme/thing\"\n      version = \"{version}\"\n    }}\n  }}\n}}\n"
    )
}

fn workdir(registry: &Registry, version: &str) -> Workdir {
    let workdir = Workdir::new(&config(registry, version));
    fs::write(workdir.settings(), "").expect("it can be written");
    workdir
}

fn addr(registry: &Registry) -> String {
    format!("{}/acme/thing", registry.host())
}

/// The file of a release.
fn file(name: &str) -> String {
    format!("/files/thing/1.0.0/{name}")
}

fn package() -> String {
    file(&format!("terraform-provider-thing_1.0.0_{PLATFORM}.zip"))
}

fn description() -> String {
    let (os, arch) = PLATFORM.split_once('_').expect("two words");
    format!("/v1/providers/acme/thing/1.0.0/download/{os}/{arch}")
}

/// Changes the description of the package.
fn describe(registry: &Registry, change: impl Fn(&mut Value)) {
    let page = registry.page_at(&description());
    let mut document: Value = serde_json::from_slice(&page.body).expect("it is JSON");
    change(&mut document);
    registry.page(&description(), Page::json(&document));
}

/// Replaces the package by another one, and signs its checksum.
fn replace(registry: &Registry, package_bytes: Vec<u8>) {
    let sum = sha256(&package_bytes);
    let name = package().rsplit('/').next().expect("a name").to_owned();
    let sums = format!("{sum}  {name}\n");
    registry.page(&package(), Page::file(package_bytes));
    registry.page(&file("SHA256SUMS"), Page::file(sums.as_bytes()));
    registry.page(&file("SHA256SUMS.sig"), Page::file(registry.sign(sums.as_bytes())));
    describe(registry, |document| document["shasum"] = json!(sum));
}

/// An archive with a symbolic link next to the program.
fn linked() -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    archive.add_symlink(NAME, "/bin/sh", options).expect("a name");
    archive.finish().expect("it is in memory").into_inner()
}

type Attack = (&'static str, fn(&Registry), &'static str, bool);

/// Each attack: its name, the change, the words of the refusal, and whether Terraform refuses too.
const ATTACKS: [Attack; 23] = [
    (
        "another package",
        |r| r.page(&package(), Page::file(archive(&[(NAME, b"evil")]))),
        "archive has incorrect checksum zh:",
        true,
    ),
    (
        "a broken off download",
        |r| {
            let page = r.page_at(&package());
            r.page(&package(), Page { cut: Some(40), ..page });
        },
        "the download was interrupted",
        true,
    ),
    (
        "changed checksums",
        |r| r.page(&file("SHA256SUMS"), Page::file(format!("{}  x.zip\n", "a".repeat(64)))),
        "error checking signature",
        true,
    ),
    (
        "a signature by another key",
        |r| {
            let sums = r.page_at(&file("SHA256SUMS")).body;
            r.page(&file("SHA256SUMS.sig"), Page::file(sign(&secret_key("Eve"), &sums)));
        },
        "authentication signature from unknown issuer",
        true,
    ),
    (
        "no signature",
        |r| r.page(&file("SHA256SUMS.sig"), Page::refusal(404)),
        "failed to retrieve cryptographic signature for provider",
        true,
    ),
    (
        "a signature that is none",
        |r| r.page(&file("SHA256SUMS.sig"), Page::file("hello")),
        "error checking signature",
        true,
    ),
    (
        "no keys",
        |r| describe(r, |d| d["signing_keys"] = json!({})),
        "authentication signature from unknown issuer",
        true,
    ),
    (
        "a key that is none",
        |r| {
            describe(r, |d| {
                d["signing_keys"]["gpg_public_keys"][0]["ascii_armor"] = json!("hello");
            });
        },
        "error decoding signing key",
        true,
    ),
    (
        "another checksum than listed",
        |r| describe(r, |d| d["shasum"] = json!("b".repeat(64))),
        "checksum list has unexpected SHA-256 hash",
        true,
    ),
    (
        "a checksum that is none",
        |r| describe(r, |d| d["shasum"] = json!("abc")),
        "registry response includes invalid SHA256 hash",
        true,
    ),
    (
        "a file that is not listed",
        |r| describe(r, |d| d["filename"] = json!("other.zip")),
        "checksum list has no SHA-256 hash for \"other.zip\"",
        true,
    ),
    (
        "another platform",
        |r| describe(r, |d| d["os"] = json!("plan9")),
        "archive has incorrect target plan9_",
        true,
    ),
    (
        "no such platform",
        |r| r.page(&description(), Page::refusal(404)),
        "does not have a package available for your current platform",
        true,
    ),
    (
        "an old protocol",
        |r| describe(r, |d| d["protocols"] = json!(["4.0"])),
        "is not compatible with",
        true,
    ),
    (
        "a file of this machine",
        |r| describe(r, |d| d["download_url"] = json!("file:///etc/passwd")),
        "invalid download URL: must use http or https scheme",
        true,
    ),
    (
        "a redirection out of the encryption",
        |r| r.page(&package(), Page::moved("http://127.0.0.1:9/x.zip")),
        "redirected from https to an unencrypted URL",
        true,
    ),
    (
        "a redirection to a file",
        |r| r.page(&package(), Page::moved("file:///etc/passwd")),
        "redirected to a URL that is not http or https",
        true,
    ),
    (
        "an endless redirection",
        |r| r.page(&package(), Page::moved(&package())),
        "redirected more than",
        true,
    ),
    (
        "a path out of the package",
        |r| replace(r, archive(&[("../../evil", b"x"), (NAME, b"x")])),
        "which is outside of the package",
        true,
    ),
    ("a link in the package", |r| replace(r, linked()), "contains the symbolic link", false),
    (
        "no program",
        |r| replace(r, archive(&[("README", b"x")])),
        "no program called terraform-provider-thing",
        true,
    ),
    ("no archive", |r| replace(r, b"hello".to_vec()), "the archive is not readable", true),
    (
        "a refusal",
        |r| r.page("/v1/providers/acme/thing/versions", Page::refusal(401)),
        "requires authentication credentials",
        true,
    ),
];

/// Everything below a directory that is a file or a link.
pub(super) fn remaining_files(directory: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("it exists");
        if kind.is_dir() {
            paths.extend(remaining_files(&entry.path()));
        } else {
            paths.push(entry.path().display().to_string());
        }
    }
    paths
}

#[test]
fn an_invalid_package_is_refused_and_leaves_no_file() {
    for (name, attack, words, theirs) in ATTACKS {
        let registry = Registry::start();
        registry.publish(&Release::new("thing", "1.0.0"));
        attack(&registry);
        for cached in [false, true] {
            let workdir = workdir(&registry, "1.0.0");
            let cache = workdir.home().join("cache");
            if cached {
                fs::create_dir(&cache).expect("a directory");
                let text = format!("plugin_cache_dir = \"{}\"\n", cache.display());
                fs::write(workdir.settings(), text).expect("it can be written");
            }
            let command = workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority());
            let result = command.run();
            assert_eq!(result.code, Some(1), "{name}: {}", result.text());
            assert!(result.words().contains(words), "{name}: {}", result.text());
            assert!(result.words().contains("acme/thing"), "{name}: {}", result.text());
            assert!(!workdir.has(LOCK), "{name}");
            let remaining =
                [remaining_files(&workdir.root().join(".terraform")), remaining_files(&cache)]
                    .concat();
            assert_eq!(remaining, [""; 0], "{name}");
        }
        if theirs && terraform().is_some() {
            let workdir = workdir(&registry, "1.0.0");
            let command = workdir.terraform("init").env("SSL_CERT_FILE", &registry.authority());
            assert_eq!(command.run().code, Some(1), "{name}");
        }
    }
}

#[test]
fn a_package_that_differs_from_the_lock_file_is_refused_even_if_it_is_signed() {
    let registry = Registry::start();
    registry.publish(&Release::new("thing", "1.0.0"));
    let workdir = workdir(&registry, "1.0.0");
    let init = || workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority());
    init().succeed().says("(self-signed, key ID").says(&registry.key_id());
    let lock = workdir.read(LOCK);
    replace(&registry, archive(&[(NAME, b"other")]));
    // The installed package still is the locked one.
    init().succeed().says("Using previously-installed");
    fs::remove_dir_all(workdir.root().join(".terraform")).expect("it exists");
    init().run().code(1).says("doesn't match any of the checksums previously recorded");
    assert_eq!(workdir.read(LOCK), lock);
    assert_eq!(remaining_files(&workdir.root().join(".terraform")), [""; 0]);
}

#[test]
fn an_installed_provider_needs_no_registry() {
    let registry = Registry::start();
    let program = fs::read(test_provider()).expect("it is built");
    let release = Release {
        program: Some(&program),
        platforms: &[PLATFORM],
        ..Release::new("test", "1.0.0")
    };
    registry.publish(&release);
    let host = registry.host();
    let workdir = Workdir::new(&format!(
        "terraform {{\n  required_providers {{\n    test = {{ source = \"{host}/acme/test\" }}\n  }}\n}}\nprovider \"test\" {{}}\n"
    ));
    fs::write(workdir.settings(), "").expect("it can be written");
    let init = || workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority());
    init().succeed().says("Finding latest version of").says("Installed");
    let schema = workdir.formwork("providers schema -json").succeed();
    assert!(schema.stdout.contains(&format!("{host}/acme/test")), "{}", schema.text());
    registry.take_requests();
    init().succeed().says("Using previously-installed");
    assert_eq!(registry.take_requests().len(), 0, "nothing has to be asked for what is installed");
}

#[test]
fn each_request_that_is_repeated_has_a_line_in_the_log() {
    // The next attempt comes without a pause.
    let headers = vec![("Retry-After", "0".to_owned())];
    let busy = Page { headers, ..Page::refusal(503) };
    for (path, n_repeated) in [("/v1/providers/acme/thing/versions".to_owned(), 3), (package(), 1)]
    {
        let registry = Registry::start();
        registry.publish(&Release::new("thing", "1.0.0"));
        registry.page(&path, busy.clone());
        let workdir = workdir(&registry, "1.0.0");
        let init = workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority());
        let init = init.env("TF_REGISTRY_DISCOVERY_RETRY", "3").env("TF_LOG", "warn");
        let result = init.run();
        result.code(1);
        let lines: Vec<&str> =
            result.stderr.lines().filter(|line| line.contains("trying again")).collect();
        assert_eq!(lines.len(), n_repeated, "{path}: {}", result.text());
        for line in lines {
            let cause = format!("{path}: bad response code: 503");
            assert!(line.contains("[WARN]") && line.contains(&cause), "{line}");
        }
    }
}

#[test]
fn a_token_is_sent_only_to_its_host() {
    let registry = Registry::start();
    registry.publish(&Release::new("thing", "1.0.0"));
    // The same server under another name is another host.
    let other_url = registry.url(&package()).replace("localhost", "127.0.0.1");
    describe(&registry, |document| document["download_url"] = json!(other_url));
    let workdir = workdir(&registry, "1.0.0");
    let host = registry.host();
    let text = format!("credentials \"{host}\" {{\n  token = \"secret\"\n}}\n");
    fs::write(workdir.settings(), text).expect("it can be written");
    workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority()).succeed();
    let requests = registry.take_requests();
    for request in &requests {
        let is_api = request.path.starts_with("/v1/") || request.path.starts_with("/.well-known/");
        let expected = is_api.then_some("Bearer secret");
        assert_eq!(request.header("Authorization"), expected, "{}", request.path);
    }
    assert!(requests.iter().any(
        |request| request.header("Host") == Some(other_url.split('/').nth(2).expect("a host"))
    ));
    // An address of the service that is not encrypted gets no token.
    let services = format!(
        "{text}host \"{host}\" {{\n  services = {{ \"providers.v1\" = \"http://example.invalid/\" }}\n}}\n",
        text = fs::read_to_string(workdir.settings()).expect("a file")
    );
    fs::write(workdir.settings(), services).expect("it can be written");
    fs::remove_dir_all(workdir.root().join(".terraform")).expect("it exists");
    let result = workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority()).run();
    assert!(!result.text().contains("secret"), "{}", result.text());
    assert_eq!(result.code, Some(1));
}

#[test]
fn many_commands_share_one_cache() {
    let registry = Registry::start();
    let content = vec![7; 3 << 20];
    registry.publish(&Release { program: Some(&content), ..Release::new("thing", "1.0.0") });
    let home = tempfile::tempdir().expect("a directory");
    let cache = home.path().join("cache");
    fs::create_dir(&cache).expect("a directory");
    let workdirs: Vec<Workdir> = (0..20)
        .map(|_| {
            let workdir = workdir(&registry, "1.0.0");
            let text = format!("plugin_cache_dir = \"{}\"\n", cache.display());
            fs::write(workdir.settings(), text).expect("it can be written");
            workdir
        })
        .collect();
    let commands: Vec<_> = workdirs
        .iter()
        .map(|workdir| workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority()).start())
        .collect();
    for running in commands {
        let result = running.wait();
        assert_eq!(result.code, Some(0), "{}", result.text());
    }
    let locks: Vec<String> = workdirs.iter().map(|workdir| workdir.read(LOCK)).collect();
    assert!(locks.iter().all(|lock| *lock == locks[0] && lock.contains("h1:")), "{locks:?}");
    for workdir in &workdirs {
        let package_directory =
            installed(&workdir.root().join(".terraform"), &addr(&registry), "1.0.0");
        assert!(package_directory.is_symlink(), "it is a link to the cache");
        assert_eq!(fs::read(package_directory.join(NAME)).expect("the program"), content);
    }
    // One package, and nothing of those that were unpacked in vain.
    let remaining = remaining_files(&cache);
    assert_eq!(remaining.len(), 2, "{remaining:?}");
    // With its hash locked, the package in the cache needs no download.
    registry.take_requests();
    let last = &workdirs[0];
    fs::remove_dir_all(last.root().join(".terraform")).expect("it exists");
    let result = last.formwork("init").env("SSL_CERT_FILE", &registry.authority()).succeed();
    result.says("from the shared cache directory");
    assert!(registry.take_requests().iter().all(|request| !request.path.starts_with("/files/")));
}

#[test]
fn a_conflict_names_the_modules_the_versions_and_the_solutions() {
    let registry = Registry::start();
    for version in ["1.0.0", "1.5.0", "2.0.0"] {
        registry.publish(&Release::new("thing", version));
    }
    let workdir = workdir(&registry, ">= 2.0");
    let root = format!("{}module \"a\" {{\n  source = \"./a\"\n}}\n", config(&registry, ">= 2.0"));
    workdir.write("main.tf", &root);
    workdir.write("a/main.tf", &config(&registry, "~> 1.0"));
    let result = workdir.formwork("init").env("SSL_CERT_FILE", &registry.authority()).run();
    result.code(1);
    for words in [
        "no available releases match the given constraints ~> 1.0, >= 2.0.0",
        "- the root module: >= 2.0.0",
        "- module.a: ~> 1.0",
        "The available versions are 2.0.0, 1.5.0, 1.0.0.",
        "- 1.5.0, if the root module did not require >= 2.0.0",
        "- 2.0.0, if module.a did not require ~> 1.0",
    ] {
        result.says(words);
    }
}

#[test]
fn json_events_of_both_programs_are_the_same() {
    if terraform().is_none() {
        return;
    }
    let registry = Registry::start();
    registry.publish(&Release::new("thing", "1.0.0"));
    let messages = |engine: &str| -> Vec<String> {
        let workdir = workdir(&registry, "1.0.0");
        let command =
            workdir.engine(engine, "init -json").env("SSL_CERT_FILE", &registry.authority());
        let result = command.succeed();
        let lines = result.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
        let lines = lines.filter(|line: &Value| line["type"] == "log");
        lines.map(|line| line["@message"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(messages("formwork"), messages("terraform"));
}
