//! `formwork provider package`: both programs install a packed release, from a directory and from a
//! registry that checks its signature.

use std::fs;
use std::path::Path;

use pgp::composed::ArmorOptions;
use serde_json::json;

use crate::harness::registry::{PLATFORM, Page, Registry, secret_key, sha256};
use crate::harness::{Workdir, terraform, test_provider};

const MANIFEST: &str =
    "{\"version\": 1, \"metadata\": {\"protocol_versions\": [\"5.0\", \"6.0\"]}}\n";
const BASE: &str = "terraform-provider-test_1.2.3";

fn config(source: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    test = {{ source = \"{source}\" }}\n  }}\n}}\n//- terraform-registry-manifest.json\n{MANIFEST}//- LICENSE\nfree\n"
    )
}

/// The public key of a release, and the directory of its files.
fn packed(workdir: &Workdir) -> String {
    let key = secret_key("Acme");
    let armored = key.to_armored_string(ArmorOptions::default()).expect("a text form");
    workdir.write("key.asc", &armored);
    let program = test_provider().display().to_string();
    workdir
        .formwork("provider package -version=1.2.3 -key=key.asc")
        .arg(&program)
        .arg(&format!("darwin_arm64={program}"))
        .succeed()
        .says(&format!("{BASE}_SHA256SUMS.sig"));
    key.to_public_key().to_armored_string(ArmorOptions::default()).expect("a text form")
}

/// Both programs install the provider, with lock files that both accept.
fn installs(workdir: &Workdir, registry: Option<&Registry>, words: &str) {
    let authority = registry.map(Registry::authority).unwrap_or_default();
    let with =
        |command: crate::harness::Command<'_>| command.env("SSL_CERT_FILE", &authority).run();
    let ours = with(workdir.formwork("init"));
    ours.code(0).says(words);
    with(workdir.formwork("validate")).code(0);
    if terraform().is_some() {
        let lock = workdir.read(".terraform.lock.hcl");
        fs::remove_dir_all(workdir.root().join(".terraform")).expect("it exists");
        with(workdir.terraform("init")).code(0).says(words);
        assert_eq!(workdir.read(".terraform.lock.hcl"), lock);
    }
}

#[test]
fn a_packed_release_is_installed_from_a_directory_by_both_programs() {
    let workdir = Workdir::new(&config("example.com/acme/test"));
    packed(&workdir);
    let mirror = workdir.home().join("mirror");
    let package_directory = mirror.join("example.com/acme/test");
    fs::create_dir_all(&package_directory).expect("directories");
    for platform in [PLATFORM, "darwin_arm64"] {
        let name = format!("{BASE}_{platform}.zip");
        fs::copy(workdir.root().join("dist").join(&name), package_directory.join(&name))
            .expect("a copy");
    }
    let settings = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
    );
    fs::write(workdir.settings(), settings).expect("it can be written");
    installs(&workdir, None, "acme/test v1.2.3 (unauthenticated)");
}

#[test]
fn a_packed_release_is_installed_from_a_registry_by_both_programs() {
    let registry = Registry::start();
    let workdir = Workdir::new(&config(&format!("{}/acme/test", registry.host())));
    fs::write(workdir.settings(), "").expect("it can be written");
    let key = packed(&workdir);
    let file = |name: &str| fs::read(workdir.root().join("dist").join(name)).expect("a file");
    let archive = format!("{BASE}_{PLATFORM}.zip");
    for name in [&archive, &format!("{BASE}_SHA256SUMS"), &format!("{BASE}_SHA256SUMS.sig")] {
        registry.page(&format!("/files/{name}"), Page::file(file(name)));
    }
    let (os, arch) = PLATFORM.split_once('_').expect("two words");
    let versions = json!({"versions": [{
        "version": "1.2.3",
        "protocols": ["5.0", "6.0"],
        "platforms": [{"os": os, "arch": arch}],
    }]});
    registry.page("/v1/providers/acme/test/versions", Page::json(&versions));
    let description = json!({
        "protocols": ["5.0", "6.0"],
        "os": os,
        "arch": arch,
        "filename": archive,
        "download_url": registry.url(&format!("/files/{archive}")),
        "shasum": sha256(&file(&archive)),
        "shasums_url": registry.url(&format!("/files/{BASE}_SHA256SUMS")),
        "shasums_signature_url": registry.url(&format!("/files/{BASE}_SHA256SUMS.sig")),
        "signing_keys": {"gpg_public_keys": [{"key_id": "", "ascii_armor": key, "trust_signature": ""}]},
    });
    let page = format!("/v1/providers/acme/test/1.2.3/download/{os}/{arch}");
    registry.page(&page, Page::json(&description));
    installs(&workdir, Some(&registry), "acme/test v1.2.3 (self-signed");
}

#[test]
fn a_release_is_the_same_twice_and_its_checksums_name_every_file() {
    let workdir = Workdir::new(&config("acme/test"));
    packed(&workdir);
    let dist = workdir.root().join("dist");
    let archive = dist.join(format!("{BASE}_{PLATFORM}.zip"));
    let first = fs::read(&archive).expect("a file");
    packed(&workdir);
    assert_eq!(first, fs::read(&archive).expect("a file"));
    let sums = fs::read_to_string(dist.join(format!("{BASE}_SHA256SUMS"))).expect("a file");
    let names: Vec<&str> = sums.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    let expected = [
        format!("{BASE}_darwin_arm64.zip"),
        format!("{BASE}_{PLATFORM}.zip"),
        format!("{BASE}_manifest.json"),
    ];
    assert_eq!(names, expected);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").expect("two columns");
        assert_eq!(sum, sha256(&fs::read(dist.join(name)).expect("a file")));
    }
}

#[test]
fn an_invalid_release_is_refused_before_any_file_is_written() {
    let workdir = Workdir::new(&config("acme/test"));
    let program = test_provider().display().to_string();
    let refused = |line: &str, words: &str| {
        let line = format!("provider package {line}");
        workdir.formwork(&line).arg(&program).run().code(1).says(words);
        assert!(!Path::new(&workdir.root()).join("dist").exists());
    };
    refused("-version=new", "-version=\"new\" is not a version");
    refused("-version=1.0.0 missing", "The file \"missing\" does not exist");
    refused("-version=1.0.0 LICENSE", "Two programs are specified for");
    refused("-version=1.0.0 darwin_arm64=LICENSE", "is not called terraform-provider-NAME");
    refused("-version=1.0.0 -manifest=LICENSE", "Invalid registry manifest");
    refused("-version=1.0.0 -key=LICENSE", "it is not an ASCII-armored secret key");
}
