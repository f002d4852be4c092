//! Providers and modules from OCI registries: verified or refused, with nothing half installed, and
//! locked as OpenTofu locks them. Credentials go to their registry and its token service only.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::registry::remaining_files;
use crate::harness::oci::{
    Guard, IMAGE, MODULE, OciRegistry, PROVIDER, TARGET, digest, image, index,
};
use crate::harness::registry::{PLATFORM, Page, archive, installed};
use crate::harness::{Command, Workdir, opentofu};

const LOCK: &str = ".terraform.lock.hcl";
const THING: &str = "example.com/acme/thing";
/// The repository of the provider.
const REPOSITORY: &str = "providers/acme/thing";
/// A name and a password as base64.
const LOGIN: &str = "dXNlcjpzZWNyZXQx";

/// A directory that requires a provider, from a mirror in the registry.
fn provider_workdir(registry: &OciRegistry, extra_blocks: &str) -> Workdir {
    let workdir = Workdir::new(&format!(
        "terraform {{\n  required_providers {{\n    thing = {{\n      source  = \"{THING}\"\n      version = \">= 1.0\"\n    }}\n  }}\n}}\n"
    ));
    let host = registry.server.host();
    let text = format!(
        "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{host}/providers/${{namespace}}/${{type}}\"\n    include             = [\"example.com/*/*\"]\n  }}\n}}\n{extra_blocks}"
    );
    fs::write(workdir.settings(), text).expect("it can be written");
    workdir
}

fn init<'w>(workdir: &'w Workdir, registry: &OciRegistry, engine: &str) -> Command<'w> {
    let command = workdir.engine(engine, "init -no-color -input=false");
    command.env("SSL_CERT_FILE", &registry.server.authority())
}

/// The engines to compare: OpenTofu only if this machine has it.
fn engines() -> impl Iterator<Item = &'static str> {
    let theirs = opentofu().is_some();
    if !theirs {
        let warning = "!! tofu is missing: its result with the same registry is NOT COMPARED\n";
        // Not by a macro: its output is hidden when the test passes.
        let _written = io::stderr().write_all(warning.as_bytes());
    }
    ["tofu", "formwork"].into_iter().filter(move |name| theirs || *name == "formwork")
}

/// A lock file without the comment that names the program.
fn lock(workdir: &Workdir) -> String {
    let text = workdir.read(LOCK);
    text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_provider_in_an_oci_registry_is_verified_and_locked_as_opentofu_does() {
    let registry = OciRegistry::start();
    for version in ["1.0.0", "1.1.0+build.7", "2.0.0-beta1"] {
        registry.provider(REPOSITORY, "thing", version, &[PLATFORM, "darwin_arm64"]);
    }
    let index = registry.manifest(REPOSITORY, &index(PROVIDER, &[]));
    registry.tag(REPOSITORY, "latest", &index);
    let locks: Vec<String> = engines()
        .map(|engine| {
            let workdir = provider_workdir(&registry, "");
            let result = init(&workdir, &registry, engine).succeed();
            result.says("Incomplete lock file information for providers");
            let package_directory =
                installed(&workdir.root().join(".terraform"), THING, "1.1.0+build.7");
            let name = "terraform-provider-thing_v1.1.0+build.7_x5";
            let program =
                fs::read_to_string(package_directory.join(name)).expect("it is installed");
            assert_eq!(program, format!("thing 1.1.0+build.7 for {PLATFORM}"));
            lock(&workdir)
        })
        .collect();
    let ours = locks.last().expect("ours");
    assert!(locks.iter().all(|lock| lock == ours), "{locks:#?}");
    assert!(ours.contains("\"h1:") && ours.contains("\"zh:"), "{ours}");

    let workdir = provider_workdir(&registry, "");
    let run = || init(&workdir, &registry, "formwork");
    run().succeed().says("Installed example.com/acme/thing v1.1.0+build.7 (verified checksum)");
    let text = workdir.read(LOCK);
    registry.server.take_requests();
    run().succeed().says("Using previously-installed");
    assert_eq!(registry.server.take_requests().len(), 0);
    // A lock with either hash is enough on another machine.
    for kind in ["h1:", "zh:"] {
        fs::remove_dir_all(workdir.root().join(".terraform")).expect("it exists");
        let remaining_lines: Vec<&str> = text.lines().filter(|line| !line.contains(kind)).collect();
        workdir.write(LOCK, &format!("{}\n", remaining_lines.join("\n")));
        run().succeed().says("Installed");
        assert_eq!(workdir.read(LOCK), text);
    }
}

fn document(page: &Page) -> Value {
    serde_json::from_slice(&page.body).expect("it is JSON")
}

/// The descriptors of the manifest and the package for this platform.
fn pushed(registry: &OciRegistry) -> (Value, Value) {
    let index = document(&registry.page_at(&format!("{REPOSITORY}/manifests/1.0.0")));
    let target = index["manifests"][0].clone();
    let manifest = document(&registry.page_at(&manifest_path(&target)));
    (target, manifest["layers"][0].clone())
}

fn manifest_path(descriptor: &Value) -> String {
    format!("{REPOSITORY}/manifests/{}", digest(descriptor))
}

fn blob_path(registry: &OciRegistry) -> String {
    format!("{REPOSITORY}/blobs/{}", digest(&pushed(registry).1))
}

/// Replaces the release by one with these layers for this platform.
fn push(registry: &OciRegistry, layers: &[Value]) {
    let (old, _) = pushed(registry);
    let mut target = registry.manifest(REPOSITORY, &image(TARGET, layers));
    target["platform"] = old["platform"].clone();
    push_index(registry, &[target]);
}

fn push_index(registry: &OciRegistry, targets: &[Value]) {
    let index = registry.manifest(REPOSITORY, &index(PROVIDER, targets));
    registry.tag(REPOSITORY, "1.0.0", &index);
}

/// Replaces the release by something else.
fn push_other(registry: &OciRegistry, manifest: &Value) {
    let manifest = registry.manifest(REPOSITORY, manifest);
    registry.tag(REPOSITORY, "1.0.0", &manifest);
}

/// Changes a page.
fn change(registry: &OciRegistry, path: &str, change: impl Fn(&mut Page)) {
    let mut page = registry.page_at(path);
    change(&mut page);
    registry.page(path, page);
}

fn zip(registry: &OciRegistry, entries: &[(&str, &[u8])]) -> Value {
    registry.blob(REPOSITORY, "archive/zip", &archive(entries))
}

type Attack = (&'static str, fn(&OciRegistry), &'static str);

/// Each attack: its name, the change, and the words of the refusal.
const ATTACKS: [Attack; 26] = [
    (
        "tags on another server",
        |r| {
            let mut page = Page::json(&json!({ "tags": ["1.0.0"] }));
            let next = "<https://127.0.0.1:9/v2/x/tags/list>; rel=\"next\"";
            page.headers.push(("Link", next.to_owned()));
            r.page(&format!("{REPOSITORY}/tags/list"), page);
        },
        "the next page of the registry's tag list is on another server: https://127.0.0.1:9/",
    ),
    (
        "another package of the same size",
        |r| change(r, &blob_path(r), |page| page.body.reverse()),
        "does not match its digest",
    ),
    (
        "a longer package",
        |r| change(r, &blob_path(r), |page| page.body.push(0)),
        "bytes, but the manifest specifies",
    ),
    (
        "a broken off download",
        |r| change(r, &blob_path(r), |page| page.cut = Some(40)),
        "the download was interrupted",
    ),
    (
        "a longer manifest",
        |r| change(r, &manifest_path(&pushed(r).0), |page| page.body.push(b' ')),
        "were expected",
    ),
    (
        "another manifest of the same size",
        |r| {
            change(r, &manifest_path(&pushed(r).0), |page| {
                let text = String::from_utf8_lossy(&page.body).replace("amd64", "arm64");
                page.body = text.replace("zip", "ZIP").into_bytes();
            });
        },
        "does not match its digest",
    ),
    (
        "another index",
        |r| {
            let path = format!("{REPOSITORY}/manifests/1.0.0");
            change(r, &path, |page| page.body.push(b' '));
        },
        "the content of tag \"1.0.0\" does not match its digest",
    ),
    (
        "another media type than sent",
        |r| {
            let path = format!("{REPOSITORY}/manifests/1.0.0");
            change(r, &path, |page| page.headers[0].1 = IMAGE.to_owned());
        },
        "the response has the media type",
    ),
    (
        "no such platform",
        |r| {
            let mut target = pushed(r).0;
            target["platform"]["os"] = json!("plan9");
            push_index(r, &[target]);
        },
        "/providers/acme/thing does not have a example.com/acme/thing v1.0.0 package available for your current platform",
    ),
    (
        "two manifests for the platform",
        |r| push_index(r, &[pushed(r).0, pushed(r).0]),
        "the index lists several manifests for",
    ),
    (
        "no such tag",
        |r| r.page(&format!("{REPOSITORY}/manifests/1.0.0"), Page::refusal(404)),
        "has no version with the tag \"1.0.0\"",
    ),
    (
        "no such manifest",
        |r| r.page(&manifest_path(&pushed(r).0), Page::refusal(404)),
        "the registry has no manifest sha256:",
    ),
    (
        "no such package",
        |r| r.page(&blob_path(r), Page::refusal(404)),
        "the registry has no blob sha256:",
    ),
    (
        "a redirection out of the encryption",
        |r| r.page(&blob_path(r), Page::moved("http://127.0.0.1:9/x.zip")),
        "redirected from https to an unencrypted URL",
    ),
    (
        "a redirection to a file",
        |r| r.page(&blob_path(r), Page::moved("file:///etc/passwd")),
        "redirected to a URL that is not http or https",
    ),
    (
        "a path out of the package",
        |r| push(r, &[zip(r, &[("../../evil", b"x"), ("terraform-provider-thing", b"x")])]),
        "which is outside of the package",
    ),
    (
        "no program",
        |r| push(r, &[zip(r, &[("README", b"x")])]),
        "no program called terraform-provider-thing",
    ),
    (
        "two packages",
        |r| push(r, &[pushed(r).1, zip(r, &[("README", b"x")])]),
        "the manifest has several layers of the type \"archive/zip\"",
    ),
    (
        "a package of another type",
        |r| push(r, &[r.blob(REPOSITORY, "application/gzip", b"x")]),
        "the manifest has no layer of the type \"archive/zip\" (its layers: \"application/gzip\")",
    ),
    (
        "no index",
        |r| push_other(r, &document(&r.page_at(&manifest_path(&pushed(r).0)))),
        "the artifact is a provider for one platform, not a provider;",
    ),
    (
        "a module package",
        |r| push_other(r, &image(MODULE, &[pushed(r).1])),
        "the artifact is a module package, not a provider",
    ),
    (
        "a container image",
        |r| push_other(r, &index("", &[])),
        "the artifact has no type, as container images do",
    ),
    (
        "a name and a password",
        |r| r.guard(Guard::Basic(LOGIN)),
        "requires credentials; add a block",
    ),
    ("a token", |r| r.guard(Guard::Token(Some(LOGIN))), "requires credentials; add a block"),
    (
        "a token service without encryption",
        |r| r.guard(Guard::TokenFrom("http://example.invalid/token")),
        "is not encrypted, so no credentials are sent",
    ),
    (
        "another digest",
        |r| {
            let mut layer = pushed(r).1;
            layer["digest"] = json!(format!("sha512:{}", "a".repeat(128)));
            push(r, &[layer]);
        },
        "lock files need one of the algorithm sha256",
    ),
];

#[test]
fn a_provider_package_that_differs_from_the_registrys_checksum_is_refused() {
    for (name, attack, words) in ATTACKS {
        let registry = OciRegistry::start();
        registry.provider(REPOSITORY, "thing", "1.0.0", &[PLATFORM, "darwin_arm64"]);
        attack(&registry);
        for engine in engines() {
            let workdir = provider_workdir(&registry, "");
            let result = init(&workdir, &registry, engine).run();
            // OpenTofu reads the type of a manifest from only one of the two fields.
            let refused = engine == "formwork" || name != "another media type than sent";
            assert!(!refused || result.code == Some(1), "{engine}, {name}: {}", result.text());
            if engine == "formwork" {
                let output = result.words();
                assert!(output.contains(words), "{name}: {}", result.text());
                assert!(output.contains("acme/thing"), "{name}: {}", result.text());
                let is_here = ["a path out of the package", "no program"].contains(&name);
                let named = is_here || output.contains(&registry.server.host());
                assert!(named, "{name}: {}", result.text());
                assert!(!workdir.has(LOCK), "{name}");
                assert_eq!(remaining_files(&workdir.root().join(".terraform")), [""; 0], "{name}");
            }
        }
    }
}

#[test]
fn another_method_installs_providers_missing_from_the_oci_mirror() {
    let registry = OciRegistry::start();
    let other_repository = "others/acme/thing";
    registry.provider(REPOSITORY, "thing", "1.0.0", &["plan9_mips"]);
    registry.provider(other_repository, "thing", "1.0.0", &[PLATFORM]);
    registry.provider(other_repository, "thing", "1.2.0", &[PLATFORM]);
    let workdir = provider_workdir(&registry, "");
    let text = fs::read_to_string(workdir.settings()).expect("it exists");
    let host = registry.server.host();
    let second = format!(
        "  oci_mirror {{\n    repository_template = \"{host}/others/acme/thing\"\n    include = [\"{THING}\"]\n  }}\n}}\n"
    );
    fs::write(workdir.settings(), format!("{}{second}", &text[..text.len() - 2]))
        .expect("it can be written");
    init(&workdir, &registry, "formwork").succeed().says("Installed example.com/acme/thing v1.2.0");
    workdir.write("main.tf", &workdir.read("main.tf").replace(">= 1.0", "1.0.0"));
    fs::remove_file(workdir.root().join(LOCK)).expect("it exists");
    init(&workdir, &registry, "formwork").succeed().says("Installed example.com/acme/thing v1.0.0");
    // Neither has it.
    workdir.write("main.tf", &workdir.read("main.tf").replace("acme/thing", "acme/other"));
    let refused = init(&workdir, &registry, "formwork").run();
    refused.code(1).says("was not found in any of the search locations");
    refused.says(&format!("- OCI repository {host}/providers/acme/other"));
}

/// A credential helper with a credential for one registry.
fn helper(workdir: &Workdir, host: &str) -> String {
    let directory = workdir.home().join("bin");
    fs::create_dir(&directory).expect("a directory");
    let program = directory.join("docker-credential-test");
    let script = format!(
        "#!/bin/sh\nread -r server\n[ \"$1 $server\" = 'get https://{host}' ] || exit 1\necho '{{\"Username\": \"user\", \"Secret\": \"secret1\"}}'\n"
    );
    fs::write(&program, script).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("this test owns it");
    directory.display().to_string()
}

#[test]
fn credentials_of_every_source_are_sent_only_to_their_registry() {
    let block = |text: &str| format!("oci_credentials \"HOST\" {{\n{text}\n}}\n");
    let password = block("username = \"user\"\npassword = \"secret1\"");
    let auths = format!("{{\"auths\": {{\"HOST/providers\": {{\"auth\": \"{LOGIN}\"}}}}}}");
    let store = "{\"auths\": {\"HOST\": {}}, \"credsStore\": \"test\"}".to_owned();
    let no_settings = String::new();
    let token = || Guard::Token(Some(LOGIN));
    let rows: [(&str, Guard, &String, &String); 7] = [
        ("anonymous token", Guard::Token(None), &no_settings, &no_settings),
        ("password", Guard::Basic(LOGIN), &password, &no_settings),
        ("password for a token", token(), &password, &no_settings),
        ("docker's file", token(), &no_settings, &auths),
        ("helper", token(), &no_settings, &store),
        (
            "refresh token",
            token(),
            &block(&format!("access_token = \"\"\nrefresh_token = \"{LOGIN}\"")),
            &no_settings,
        ),
        (
            "access token",
            token(),
            &block("access_token = \"granted\"\nrefresh_token = \"\""),
            &no_settings,
        ),
    ];
    for (name, guard, settings, docker) in rows {
        let registry = OciRegistry::start();
        registry.provider(REPOSITORY, "thing", "1.0.0", &[PLATFORM]);
        let (host, blob) = (registry.server.host(), blob_path(&registry));
        // The same server under another name is another host.
        registry.server.page("/storage", registry.page_at(&blob));
        let storage = registry.server.url("/storage").replace("localhost", "127.0.0.1");
        registry.page(&blob, Page::moved(&storage));
        registry.guard(guard);
        for engine in engines() {
            let workdir = provider_workdir(&registry, &settings.replace("HOST", &host));
            fs::create_dir(workdir.home().join(".docker")).expect("a directory");
            if !docker.is_empty() {
                let path = workdir.home().join(".docker/config.json");
                fs::write(path, docker.replace("HOST", &host)).expect("it can be written");
            }
            let path = format!("{}:/usr/bin:/bin", helper(&workdir, &host));
            registry.server.take_requests();
            let result = init(&workdir, &registry, engine).env("PATH", &path).run();
            // OpenTofu takes an empty token for none at all.
            if engine == "formwork" || name != "refresh token" {
                assert_eq!(result.code, Some(0), "{engine}, {name}: {}", result.text());
            }
            let secret = format!("Basic {LOGIN}");
            for request in registry.server.take_requests() {
                let given = request.header("Authorization").unwrap_or_default();
                let may_have = match request.path.split('/').nth(1).unwrap_or_default() {
                    "v2" => given != secret || name == "password",
                    path => given.is_empty() || path.starts_with("token"),
                };
                assert!(may_have, "{engine}, {name}: {given:?} for {}", request.path);
            }
        }
    }
}

#[test]
fn rejected_credentials_are_named_with_their_source() {
    let registry = OciRegistry::start();
    registry.provider(REPOSITORY, "thing", "1.0.0", &[PLATFORM]);
    let host = registry.server.host();
    let block =
        format!("oci_credentials \"{host}\" {{\n  username = \"user\"\n  password = \"old\"\n}}\n");
    for guard in [Guard::Basic(LOGIN), Guard::Token(Some(LOGIN))] {
        registry.guard(guard);
        let workdir = provider_workdir(&registry, &block);
        let result = init(&workdir, &registry, "formwork").run();
        let words = format!("rejected the credentials from the block oci_credentials \"{host}\"");
        result.code(1).says(&words);
        assert!(!result.text().contains("old"), "{}", result.text());
    }
}

/// A directory that calls a module.
fn module_workdir(source: &str) -> Workdir {
    let workdir = Workdir::new(&format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"));
    fs::write(workdir.settings(), "").expect("it can be written");
    workdir
}

#[test]
fn a_module_is_installed_from_an_oci_registry_by_tag_or_digest() {
    let registry = OciRegistry::start();
    let host = registry.server.host();
    let content = |text: &'static str| {
        archive(&[("main.tf", text.as_bytes()), ("sub/main.tf", b"# within\n")])
    };
    let first = digest(&registry.module("modules/net", "1.0_a", &content("# first\n")));
    registry.module("modules/net", "latest", &content("# latest\n"));
    registry.guard(Guard::Token(None));
    for (address, expected) in [
        ("".to_owned(), "# latest\n"),
        ("?tag=1.0_a".to_owned(), "# first\n"),
        (format!("?digest={first}"), "# first\n"),
        (format!("//sub?digest={first}"), "# within\n"),
    ] {
        let manifests: Vec<String> = engines()
            .map(|engine| {
                let workdir = module_workdir(&format!("oci://{host}/modules/net{address}"));
                init(&workdir, &registry, engine).succeed();
                let directory = if address.starts_with("//") { "m/sub" } else { "m" };
                let read = workdir.read(&format!(".terraform/modules/{directory}/main.tf"));
                assert_eq!(read, expected, "{engine}, {address}");
                workdir.read(".terraform/modules/modules.json")
            })
            .collect();
        let both: Vec<Value> =
            manifests.iter().map(|text| serde_json::from_str(text).expect("it is JSON")).collect();
        assert!(both.iter().all(|manifest| *manifest == both[0]), "{manifests:#?}");
    }
}

#[test]
fn a_module_package_that_differs_from_the_registrys_digest_is_refused() {
    const NAME: &str = "modules/net";
    let attacks: [Attack; 7] = [
        (
            "another package of the same size",
            |r| {
                let manifest = document(&r.page_at(&format!("{NAME}/manifests/latest")));
                let blob = format!("{NAME}/blobs/{}", digest(&manifest["layers"][0]));
                change(r, &blob, |page| page.body.reverse());
            },
            "does not match its digest",
        ),
        (
            "a shorter package",
            |r| {
                let manifest = document(&r.page_at(&format!("{NAME}/manifests/latest")));
                let blob = format!("{NAME}/blobs/{}", digest(&manifest["layers"][0]));
                change(r, &blob, |page| page.body.truncate(40));
            },
            "bytes, but the manifest specifies",
        ),
        (
            "no such tag",
            |r| r.page(&format!("{NAME}/manifests/latest"), Page::refusal(404)),
            "the registry has no tag \"latest\"",
        ),
        (
            "a provider",
            |r| r.tag(NAME, "latest", &r.manifest(NAME, &index(PROVIDER, &[]))),
            "the artifact is a provider, not a module package",
        ),
        (
            "a path out of the package",
            |r| drop(r.module(NAME, "latest", &archive(&[("../../evil.tf", b"x")]))),
            "which is outside of the package",
        ),
        ("no archive", |r| drop(r.module(NAME, "latest", b"hello")), "the archive is not readable"),
        ("credentials", |r| r.guard(Guard::Basic(LOGIN)), "requires credentials; add a block"),
    ];
    for (name, attack, words) in attacks {
        let registry = OciRegistry::start();
        registry.module(NAME, "latest", &archive(&[("main.tf", b"")]));
        attack(&registry);
        let host = registry.server.host();
        for engine in engines() {
            let workdir = module_workdir(&format!("oci://{host}/{NAME}"));
            let result = init(&workdir, &registry, engine).run();
            assert_eq!(result.code, Some(1), "{engine}, {name}: {}", result.text());
            if engine == "formwork" {
                let output = result.words();
                assert!(output.contains(words), "{name}: {}", result.text());
                assert!(
                    output.contains(&format!("oci://{host}/{NAME}")),
                    "{name}: {}",
                    result.text()
                );
                assert!(!workdir.has(".terraform/modules/m"), "{name}");
            }
        }
    }
    let words = "unsupported argument \"archive\"";
    let workdir = module_workdir("oci://example.com/a?archive=zip");
    workdir.formwork("init").run().code(1).says(words);
}
