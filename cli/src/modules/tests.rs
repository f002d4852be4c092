//! Modules from local servers and repositories, allowed and refused ones.

mod server;

use std::cell::RefCell;
use std::path::Path;

use expect_test::expect;
use formwork_core::disk::Dir;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use tempfile::TempDir;

use super::install::{InstallProgress, ModulesDir, install_modules};
use super::manifest::ModuleManifest;
use crate::data_dir::DataDir;
use crate::env::Env;
use crate::fetch::archive::testing::{gzip, tar, zip};
use crate::settings::Settings;
use server::Server;

/// A root module in a directory of its own.
struct Project {
    directory: TempDir,
    settings: Settings,
    /// Number of times a registry request is retried, if set.
    retries: Option<u32>,
    /// Whether the lock file of modules must stay as it is.
    keeps_lock: bool,
    /// Lock of another run that installs modules in the same directory.
    lock_of_other_run: RefCell<Option<std::fs::File>>,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            directory: tempfile::tempdir().unwrap(),
            settings: Settings::default(),
            retries: None,
            keeps_lock: false,
            lock_of_other_run: RefCell::default(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A call of a module in `main.tf`.
    fn call(&self, source: &str) {
        self.write("main.tf", &format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"));
    }

    /// Installs, and returns the reported messages, with the project's directory called `ROOT`.
    fn install(&self, upgrade: bool) -> String {
        let output = RefCell::new(String::new());
        let mut diags = Diagnostics::new();
        let netrc = self.path("netrc").display().to_string();
        let env = Env {
            environment: [("NETRC".to_owned(), netrc)].into(),
            registry_retries: self.retries,
            ..Env::default()
        };
        let modules_dir = ModulesDir {
            tests: Path::new("tests"),
            env: &env,
            settings: &self.settings,
            root: self.directory.path(),
            data: &DataDir::at_path(self.path(".terraform")),
            pause: |_| {},
            keeps_lock: self.keeps_lock,
        };
        let on_progress = |progress| {
            *output.borrow_mut() += &match progress {
                InstallProgress::Downloading(package, key) => {
                    format!("Downloading {package} for {key}...\n")
                }
                InstallProgress::Installed(key, dir) => format!("- {key} in {}\n", dir.display()),
                InstallProgress::Waiting(directory) => {
                    // The other run ends as soon as this one waits for it.
                    drop(self.lock_of_other_run.take());
                    format!("Waiting for {}\n", directory.display())
                }
            };
        };
        let _ =
            install_modules(&mut diags, &mut Sources::new(), &modules_dir, upgrade, &on_progress);
        let mut output = output.into_inner();
        for diagnostic in diags.iter() {
            output += &format!("{}: {}\n", diagnostic.summary, diagnostic.detail);
        }
        self.without_root(&output)
    }

    fn manifest(&self) -> String {
        let directory = Dir::open(&self.path(".terraform/modules")).unwrap();
        let manifest = ModuleManifest::load(&directory).unwrap();
        let line = |(key, record): (&String, &super::manifest::ModuleRecord)| {
            let version = record.version.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
            format!("{key:?}: {}{version} in {}\n", record.source, record.dir.display())
        };
        self.without_root(&manifest.0.iter().map(line).collect::<String>())
    }

    fn without_root(&self, text: &str) -> String {
        text.replace(&self.directory.path().display().to_string(), "ROOT")
    }
}

#[expect(clippy::disallowed_methods, reason = "repositories are made by git itself")]
fn git(directory: &Path, arguments: &[&str]) {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with two commits, the first tagged `v1`.
fn repository(directory: &Path) -> String {
    let git = |arguments: &[&str]| git(directory, arguments);
    std::fs::create_dir_all(directory.join("sub")).unwrap();
    std::fs::create_dir_all(directory.join("other")).unwrap();
    git(&["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(directory.join("main.tf"), "# one").unwrap();
    std::fs::write(directory.join("other/main.tf"), "").unwrap();
    std::fs::write(directory.join("sub/main.tf"), "module \"o\" {\n  source = \"../other\"\n}\n")
        .unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=1"]);
    git(&["tag", "v1"]);
    std::fs::write(directory.join("main.tf"), "# two").unwrap();
    git(&["commit", "--quiet", "--all", "--message=2"]);
    format!("git::file://{}", directory.display())
}

#[test]
fn local_modules_are_not_copied_and_are_reported_once() {
    let project = Project::new(&[
        ("main.tf", "module \"a\" {\n  source = \"./x/\"\n}\n"),
        ("x/main.tf", "module \"b\" {\n  source = \"../y\"\n}\n"),
        ("y/main.tf", ""),
    ]);
    expect![[r#"
        - a in ROOT/x
        - a.b in ROOT/y
    "#]]
    .assert_eq(&project.install(false));
    expect![[r#"
        "":  in ROOT
        "a": ./x in ROOT/x
        "a.b": ../y in ROOT/y
    "#]]
    .assert_eq(&project.manifest());
    assert_eq!(project.install(false), "");
    // A process that another test starts at this moment can hold the lock, and the wait is reported.
    let lines = project.install(true);
    assert_eq!(lines.lines().filter(|line| line.starts_with("- ")).count(), 2, "{lines}");
}

#[test]
fn a_repository_is_fetched_once_for_all_calls_at_the_requested_revision() {
    let project = Project::new(&[]);
    let source = repository(&project.path("repo"));
    project.write(
        "main.tf",
        &format!(
            "module \"a\" {{\n  source = \"{source}\"\n}}\nmodule \"b\" {{\n  source = \"{source}//sub?ref=v1\"\n}}\nmodule \"c\" {{\n  source = \"{source}?ref=v1\"\n}}\n"
        ),
    );
    expect![[r#"
        Downloading git::file://ROOT/repo for a...
        - a in ROOT/.terraform/modules/a
        Downloading git::file://ROOT/repo?ref=v1 for b...
        - b in ROOT/.terraform/modules/b/sub
        - b.o in ROOT/.terraform/modules/b/other
        Downloading git::file://ROOT/repo?ref=v1 for c...
        - c in ROOT/.terraform/modules/c
    "#]]
    .assert_eq(&project.install(false));
    assert_eq!(project.read(".terraform/modules/a/main.tf"), "# two");
    assert_eq!(project.read(".terraform/modules/b/main.tf"), "# one");
    assert_eq!(project.read(".terraform/modules/c/main.tf"), "# one");
    assert!(!project.path(".terraform/modules/a/.git").exists());
    assert_eq!(project.install(false), "");
}

#[test]
fn a_repository_cannot_fetch_from_this_machine() {
    let project = Project::new(&[]);
    repository(&project.path("private"));
    let source = repository(&project.path("repo"));
    let (repo, private) = (project.path("repo"), project.path("private").display().to_string());
    git(&repo, &["submodule", "add", "--quiet", &private, "stolen"]);
    git(&repo, &["commit", "--quiet", "--message=3"]);
    project.call(&source);
    let output = project.install(false);
    assert!(output.contains("transport 'file' not allowed"), "{output}");
    assert!(!project.path(".terraform/modules/m").exists());
}

#[test]
fn waiting_for_another_installation_is_reported() {
    let project = Project::new(&[("m/main.tf", ""), (".terraform/modules/.lock", "")]);
    project.call("./m");
    let lock = std::fs::File::open(project.path(".terraform/modules/.lock")).unwrap();
    lock.lock().unwrap();
    project.lock_of_other_run.replace(Some(lock));
    let output = project.install(false);
    assert_eq!(output, "Waiting for ROOT/.terraform/modules\n- m in ROOT/m\n");
}

#[test]
fn a_failure_keeps_the_installed_modules() {
    let project = Project::new(&[]);
    let source = repository(&project.path("repo"));
    project.call(&format!("{source}?ref=v1"));
    project.install(false);
    let before = project.manifest();
    project.write(
        "main.tf",
        &format!("module \"m\" {{\n  source = \"{source}\"\n}}\nmodule \"n\" {{\n  source = \"{source}?ref=none\"\n}}\n"),
    );
    let output = project.install(false);
    assert!(output.contains("Failed to download module"), "{output}");
    assert_eq!(project.manifest(), before);
    assert_eq!(project.read(".terraform/modules/m/main.tf"), "# one");
    let entries: Vec<_> = std::fs::read_dir(project.path(".terraform/modules")).unwrap().collect();
    assert_eq!(entries.len(), 3, "the module, the manifest and the lock: {entries:?}");
}

#[test]
fn a_missing_subdirectory_is_distinguished_from_a_missing_package() {
    let project = Project::new(&[]);
    let source = repository(&project.path("repo"));
    for subdir in ["nope", "main.tf", "*/nope"] {
        project.call(&source.replace("/repo", &format!("/repo//{subdir}")));
        let output = project.install(false);
        assert!(output.contains("Failed to expand subdir globs"), "{output}");
        assert!(output.contains(subdir), "{output}");
    }
}

#[test]
fn a_module_that_is_no_longer_called_is_removed() {
    let project = Project::new(&[]);
    let source = repository(&project.path("repo"));
    project.call(&source);
    project.install(false);
    assert!(project.path(".terraform/modules/m").exists());
    project.write("main.tf", "");
    project.install(false);
    assert!(!project.path(".terraform/modules/m").exists());
}

#[test]
fn an_error_in_a_file_removes_nothing() {
    let project = Project::new(&[]);
    let source = repository(&project.path("repo"));
    project.call(&source);
    project.install(false);
    let before = project.manifest();
    project.write("more.tf", "output {");
    assert!(!project.install(false).is_empty());
    assert_eq!(project.manifest(), before);
    assert!(project.path(".terraform/modules/m/main.tf").exists());
}

#[test]
fn an_error_in_a_called_module_keeps_all_modules_installed() {
    let broken = "output \"x\" {\n  value =\n}\n";
    let project = Project::new(&[("a/main.tf", broken), ("b/main.tf", "")]);
    project.write(
        "main.tf",
        "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n  source = \"./b\"\n}\n",
    );
    let output = project.install(false);
    assert!(output.contains("Invalid expression"), "{output}");
    let manifest = project.manifest();
    assert!(manifest.contains("/a") && manifest.contains("/b"), "{manifest}");
}

#[test]
fn the_newest_version_that_meets_the_constraints_is_requested() {
    let server = Server::start(vec![
        (
            "/m/a/b/c/versions",
            server::json(
                r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.10.0"},{"version":"1.9.0"},{"version":"2.0.0-rc1"}]}]}"#,
            ),
        ),
        ("/m/a/b/c/1.10.0/download", server::get("/package.zip//top-*/sub")),
        ("/m/a/b/c/1.9.0/download", server::get("../../../../../package.zip//top-1/sub")),
        ("/m/a/b/c/2.0.0-rc1/download", server::get("/package.zip//top-1/sub")),
        (
            "/package.zip",
            server::body(zip(&[
                ("top-1/sub/main.tf", "module \"o\" {\n  source = \"../o\"\n}\n"),
                ("top-1/o/main.tf", ""),
            ])),
        ),
    ]);
    let mut project = Project::new(&[]);
    project
        .settings
        .hosts
        .insert("reg.example".into(), [("modules.v1".to_owned(), server.url("/m/"))].into());
    project.settings.tokens.insert("reg.example".into(), "secret".into());
    let call = |version: &str| {
        project.write(
            "main.tf",
            &format!("module \"m\" {{\n  source = \"reg.example/a/b/c\"\n  {version}\n}}\n"),
        );
        project.install(false)
    };
    expect![[r#"
        Downloading reg.example/a/b/c 1.10.0 for m...
        - m in ROOT/.terraform/modules/m/top-1/sub
        - m.o in ROOT/.terraform/modules/m/top-1/o
    "#]]
    .assert_eq(&call(""));
    assert_eq!(call("version = \"~> 1.0\""), "");
    assert!(call("version = \"< 1.10\"").contains("Downloading reg.example/a/b/c 1.9.0 for m"));
    assert!(call("version = \"2.0.0-rc1\"").contains("2.0.0-rc1"));
    let output = call("version = \"> 2.0.0-rc1\"");
    assert!(output.contains("The newest available version is 1.10.0"), "{output}");
    let requests = server.received_requests();
    let secret = |line: &&String| line.contains("Bearer secret");
    assert!(requests.iter().any(|line| line.starts_with("GET /m/") && secret(&line)));
    assert!(
        !requests.iter().any(|line| line.starts_with("GET /package") && secret(&line)),
        "{requests:?}"
    );
}

/// The pages of a registry with one version of one module.
fn registry() -> Vec<(&'static str, server::Page)> {
    let list = r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#;
    vec![
        ("/m/a/b/c/versions", server::json(list)),
        ("/m/a/b/c/1.0.0/download", server::get("BASE/package.zip")),
        ("/package.zip", server::body(zip(&[("main.tf", "# here")]))),
    ]
}

/// A project that calls the module, with the registry at a URL.
fn calling(registry: String) -> Project {
    let project = Project::new(&[]);
    let mut project = Project { retries: Some(0), ..project };
    let services = [("modules.v1".to_owned(), registry)].into();
    project.settings.hosts.insert("reg.example".into(), services);
    project.settings.tokens.insert("reg.example".into(), "secret".into());
    project.call("reg.example/a/b/c");
    project
}

#[test]
fn requests_to_a_busy_registry_are_retried() {
    for (times, retries, succeeds) in [(1, 0, true), (2, 0, false), (2, 2, true), (3, 2, false)] {
        let pages = registry().into_iter().filter(|(path, _)| path.starts_with("/m/")).collect();
        let server = Server::busy(times, pages);
        let mut project = calling(server.url("/m/"));
        project.retries = Some(retries);
        let output = project.install(false);
        let attempts = retries.max(1) + 1;
        if succeeds {
            // The package is on another server, and is requested once.
            assert!(output.contains("Downloading reg.example/a/b/c 1.0.0 for m"), "{output}");
        } else {
            let tired = format!("the request failed after {attempts} attempts");
            assert!(output.contains(&tired), "{output}");
        }
    }
}

#[test]
fn a_redirect_to_another_host_receives_no_token() {
    let other_server = Server::start(registry());
    let pages = vec![("/m/a/b/c/versions", server::moved(&other_server.url("/m/a/b/c/versions")))];
    let server = Server::start(pages);
    let project = calling(server.url("/m/"));
    project.install(false);
    let requests_of = |server: &Server| server.received_requests().join("\n");
    assert!(requests_of(&server).contains("Bearer secret"), "{}", requests_of(&server));
    assert!(
        requests_of(&other_server).contains("GET /m/a/b/c/versions"),
        "{}",
        requests_of(&other_server)
    );
    assert!(!requests_of(&other_server).contains("secret"), "{}", requests_of(&other_server));
}

#[test]
fn a_server_may_name_a_remote_package_but_not_a_local_one() {
    let page = "<html><head><meta name=\"terraform-get\" content=\"/a.zip\"></head></html>";
    let server = Server::start(vec![
        ("/header", server::get("BASE/a.zip")),
        ("/relative", server::body(page.into())),
        ("/file", server::get("file:///etc")),
        ("/git", server::get("git::file:///etc")),
        ("/loop", server::get("BASE/loop")),
        ("/nothing", server::body(Vec::new())),
        ("/moved.zip", server::moved("/a.zip")),
        ("/around.zip", server::moved("/around.zip")),
        ("/a.zip", server::body(zip(&[("main.tf", "# here")]))),
    ]);
    let project = Project::new(&[]);
    let install = |path: &str| {
        project.call(&server.url(path));
        project.install(true)
    };
    for path in ["/header", "/moved.zip", "/a.zip", "/a.zip?archive=zip"] {
        let output = install(path);
        assert!(output.contains("- m in"), "{output}");
        assert_eq!(project.read(".terraform/modules/m/main.tf"), "# here");
    }
    let table = [
        ("/relative", "is a local path, and only local configuration can refer to it"),
        ("/file", "is a local path, and only local configuration can refer to it"),
        ("/git", "is a local path, and only local configuration can refer to it"),
        ("/loop", "more than 10 addresses"),
        ("/nothing", "no source URL was returned"),
        ("/around.zip", "redirected more than 10 times"),
        ("/missing.zip", "bad response code: 404"),
        ("/nothing?archive=zip", "not readable"),
    ];
    for (path, part) in table {
        let output = install(path);
        assert!(output.contains(part), "{path}: {output}");
    }
}

#[test]
fn a_remote_package_cannot_refer_to_local_files() {
    let local_dir = tempfile::tempdir().unwrap();
    std::fs::write(local_dir.path().join("main.tf"), "").unwrap();
    let path = local_dir.path().display();
    let inner = |source: String| {
        let text = format!("module \"i\" {{\n  source = \"{source}\"\n}}\n");
        server::body(zip(&[("main.tf", &text)]))
    };
    let server = Server::start(vec![
        ("/directory.zip", inner(path.to_string())),
        ("/file.zip", inner(format!("file://{path}"))),
        ("/git.zip", inner(format!("git::file://{path}"))),
        ("/git-directory.zip", inner(format!("git::{path}"))),
        ("/header", server::get(&format!("BASE/a.zip?checksum=file:{path}/main.tf"))),
        ("/a.zip", server::body(zip(&[("main.tf", "")]))),
    ]);
    for page in ["directory.zip", "file.zip", "git.zip", "git-directory.zip", "header"] {
        let project = Project::new(&[]);
        project.call(&server.url(&format!("/{page}")));
        let output = project.install(false);
        assert!(output.contains("only local configuration can refer to it"), "{page}: {output}");
    }
    // The root module and local modules may.
    let project = Project::new(&[]);
    project.call(&path.to_string());
    assert!(project.install(false).contains("- m in"));
}

#[test]
fn links_in_a_checkout_are_not_followed() {
    let server = Server::start(vec![("/a.zip", server::body(zip(&[("main.tf", "")])))]);
    let victim = tempfile::tempdir().unwrap();
    let precious = victim.path().join("m");
    std::fs::create_dir(victim.path().join(".new-m")).unwrap();
    std::fs::write(&precious, "precious").unwrap();
    let link = |target: &Path, path: std::path::PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    };
    for (target, planted, is_refused) in [
        (victim.path(), ".terraform/modules", true),
        (&precious, ".terraform/modules/.lock", true),
        (&precious, ".terraform/modules/modules.json", true),
        (victim.path(), ".terraform/modules/.new-x", false),
        (victim.path(), ".terraform/modules/m", false),
    ] {
        let project = Project::new(&[]);
        project.call(&server.url("/a.zip"));
        link(target, project.path(planted));
        let output = project.install(false);
        assert_eq!(output.contains("is a symbolic link"), is_refused, "{planted}: {output}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious", "{planted}");
        let names = std::fs::read_dir(victim.path()).unwrap();
        assert_eq!(names.count(), 2, "{planted}");
        if !is_refused {
            assert!(project.path(".terraform/modules/m/main.tf").is_file(), "{planted}: {output}");
            assert!(!project.path(".terraform/modules/m").is_symlink(), "{planted}");
        }
    }
}

#[test]
fn a_package_server_receives_the_credentials_of_netrc() {
    let server = Server::start(vec![
        ("/m", server::get("BASE/m.zip")),
        ("/m.zip", server::body(zip(&[("main.tf", "")]))),
    ]);
    let project = Project::new(&[("netrc", "machine elsewhere\ndefault login me password it\n")]);
    project.call(&server.url("/m"));
    project.install(false);
    let requests = server.received_requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert!(requests.iter().all(|requests| requests.contains(": Basic bWU6aXQ=")), "{requests:?}");
}

#[test]
fn paths_outside_the_package_are_refused() {
    let hostile: [&[(&str, &str)]; 5] = [
        &[("../../evil", "x")],
        &[("/tmp/evil", "x")],
        &[("a", "-> ../../evil")],
        &[("a", "-> /etc/passwd")],
        &[("a\\..\\..\\evil", "x")],
    ];
    for entries in hostile {
        for (name, bytes) in [("/a.zip", zip(entries)), ("/a.tgz", gzip(&tar(entries)))] {
            let server = Server::start(vec![(name, server::body(bytes))]);
            let project = Project::new(&[]);
            project.call(&server.url(name));
            let output = project.install(false);
            assert!(output.contains("which is outside of the package"), "{entries:?}: {output}");
            assert!(!project.path("evil").exists() && !project.path(".terraform/evil").exists());
        }
    }
}

#[test]
fn no_entry_is_written_through_a_link() {
    let entries = [("a", "-> ../../../victim"), ("a/b", "x")];
    for (name, bytes) in [("/a.zip", zip(&entries)), ("/a.tar", tar(&entries))] {
        let server = Server::start(vec![(name, server::body(bytes))]);
        let project = Project::new(&[("victim/keep", "")]);
        project.call(&server.url(name));
        project.install(false);
        assert!(!project.path("victim/b").exists());
    }
}

#[test]
fn endless_module_calls_are_refused() {
    let project = Project::new(&[]);
    project.call("./");
    assert!(project.install(false).contains("Module calls itself"));
    let source = repository(&project.path("repo"));
    let itself = format!("module \"again\" {{\n  source = \"{source}//loop?ref=main\"\n}}\n");
    project.write("repo/loop/main.tf", &itself);
    git(&project.path("repo"), &["add", "."]);
    git(&project.path("repo"), &["commit", "--message=more"]);
    project.call(&format!("{source}//loop?ref=main"));
    let output = project.install(false);
    assert!(output.contains("The module m.again is the same module as m"), "{output}");
}

#[test]
fn a_local_module_stays_within_its_package() {
    let entries = [("sub/main.tf", "module \"o\" {\n  source = \"../../x\"\n}\n")];
    let server = Server::start(vec![("/a.zip", server::body(zip(&entries)))]);
    let project = Project::new(&[(".terraform/modules/x/main.tf", "")]);
    project.call(&server.url("/a.zip//sub"));
    let output = project.install(false);
    assert!(output.contains("Local module path escapes module package"), "{output}");
}

#[test]
fn unsupported_sources_are_reported_with_a_remedy() {
    let project = Project::new(&[]);
    for (source, part) in [
        ("hg::http://example.com/a", "Mercurial repositories are not supported"),
        ("s3::https://s3.amazonaws.com/b/k.zip", "use the https:// address of the object"),
        (
            "gcs::https://www.googleapis.com/storage/v1/b/k.zip",
            "use the https:// address of the object",
        ),
        ("ssh://git@example.com/a", "use git::ssh://git@example.com/a"),
        ("ftp://example.com/a", "download not supported for scheme 'ftp'"),
        ("git::file:///nowhere?ref=-x", "begins with a dash"),
    ] {
        project.call(source);
        let output = project.install(false);
        assert!(output.contains(part), "{source}: {output}");
    }
}

const LOCK: &str = ".formwork.modules.lock.json";
const NO_MODULES: &str = r#"{"format_version":"1.0","modules":{}}"#;

#[test]
fn a_locked_module_with_other_content_is_refused_until_an_upgrade() {
    let pages = |text: &'static str| {
        let archive = gzip(&tar(&[("main.tf", text)]));
        vec![("/m.tar.gz", server::body(archive))]
    };
    let first = Server::start(pages("# one"));
    let project = Project::new(&[(LOCK, NO_MODULES)]);
    project.call(&first.url("/m.tar.gz"));
    project.install(false);
    let locked = project.read(LOCK);
    assert!(locked.contains("\"hash\": \"h1:"), "{locked}");

    // The same address has another content now.
    let second = Server::start(pages("# two"));
    let moved = locked.replace(&first.url(""), &second.url(""));
    project.write(LOCK, &moved);
    project.call(&second.url("/m.tar.gz"));
    let output = project.install(false);
    assert!(output.contains("Module content has changed"), "{output}");
    assert_eq!(project.read(LOCK), moved);
    assert!(project.read(".terraform/modules/m/main.tf").contains("one"));
    project.install(true);
    assert_ne!(project.read(LOCK), moved);
    assert!(project.read(".terraform/modules/m/main.tf").contains("two"));
}

#[test]
fn an_installed_module_that_was_edited_is_refused_where_it_is_locked() {
    let archive = gzip(&tar(&[("main.tf", "# one")]));
    let server = Server::start(vec![("/m.tar.gz", server::body(archive))]);
    let project = Project::new(&[(LOCK, NO_MODULES)]);
    project.call(&server.url("/m.tar.gz"));
    project.install(false);
    project.write(".terraform/modules/m/main.tf", "# edited");
    let output = project.install(false);
    assert!(output.contains("Module content has changed"), "{output}");
}

#[test]
fn a_readonly_lock_refuses_another_module() {
    let archive = gzip(&tar(&[("main.tf", "# one")]));
    let server = Server::start(vec![("/m.tar.gz", server::body(archive))]);
    let mut project = Project::new(&[(LOCK, NO_MODULES)]);
    project.call(&server.url("/m.tar.gz"));
    project.keeps_lock = true;
    let output = project.install(false);
    assert!(output.contains("m would be added"), "{output}");
    assert_eq!(project.read(LOCK), NO_MODULES);
    project.keeps_lock = false;
    project.install(false);
    project.keeps_lock = true;
    project.install(false);
    project.write("main.tf", "");
    let output = project.install(false);
    assert!(output.contains("m would be removed"), "{output}");
}
