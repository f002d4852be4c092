//! `formwork provider new`: the generated project builds without a warning, passes its own tests,
//! and loads.
//!
//! The compiler is run on the libraries next to this program: in a target directory of its
//! own the project would build everything below the SDK once more, which takes minutes. A cargo
//! call without a build checks that cargo would use the same libraries.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{Workdir, terraform};

/// A dash is in names of providers, and cannot be in those of crates.
const NAME: &str = "my-notes";

#[test]
fn a_new_provider_builds_passes_its_tests_and_loads() {
    let workdir = Workdir::new("");
    workdir.formwork("provider new").arg(NAME).arg("-namespace=acme").succeed();
    let project = workdir.root().join(format!("terraform-provider-{NAME}"));
    let written = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    assert!(written.contains("formwork-sdk = \"0.1.0\"\n"), "{written}");
    assert!(!written.contains("VERSION") && !written.contains("SDK"), "{written}");
    let steps = fs::read_to_string(project.join(".github/workflows/provider.yml")).unwrap();
    assert!(steps.contains(&format!("target/release/terraform-provider-{NAME}")), "{steps}");
    let manifest = Manifest::of(&project);
    let built = manifest.built(&project, &workdir.plugins());
    assert_eq!(built.file_name().unwrap(), project.file_name().unwrap());

    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"acme/{NAME}\" = {:?}\n  }}\n  direct {{}}\n}}\n",
        workdir.plugins()
    );
    fs::write(workdir.settings(), settings).unwrap();
    for example in ["provider/provider.tf", &format!("resources/{NAME}_greeting/resource.tf")] {
        let text = fs::read_to_string(project.join("examples").join(example)).unwrap();
        workdir.write(Path::new(example).file_name().unwrap().to_str().unwrap(), &text);
    }
    for program in [Some("formwork"), terraform().map(|_| "terraform")].into_iter().flatten() {
        let run = |line: &str| match program {
            "formwork" => workdir.formwork(line).succeed(),
            _ => workdir.terraform(line).succeed(),
        };
        run("apply -auto-approve").says("1 added");
        assert!(workdir.read("terraform.tfstate").contains("\"Hello, world!\""), "{program}");
        run("plan -detailed-exitcode").says("No changes");
        run("destroy -auto-approve").says("1 destroyed");
    }
    for check in ["", "-check"] {
        let docs = workdir.formwork(&format!("-chdir={} provider docs {check}", project.display()));
        docs.arg(built.to_str().unwrap()).succeed();
    }
}

/// Manifest of the project, as cargo reads it.
struct Manifest {
    edition: String,
    library: String,
    program: String,
}

impl Manifest {
    fn of(project: &Path) -> Self {
        // With the versions that this workspace has, nothing needs to be fetched.
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        fs::copy(lock, project.join("Cargo.lock")).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--offline", "--depth=1", "--prefix=none", "--format={p}"]);
        let tree = output_of(cargo.current_dir(project));
        let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk").canonicalize().unwrap();
        for (name, directory) in
            [("formwork-sdk", sdk.clone()), ("formwork-sdk-testing", sdk.join("testing"))]
        {
            let is_ours = |line: &str| {
                line.starts_with(&format!("{name} v"))
                    && line.contains(&format!("({})", directory.display()))
            };
            assert!(tree.lines().any(is_ours), "{name} is not among\n{tree}");
        }

        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--offline", "--no-deps", "--format-version=1"]);
        let metadata: Value = serde_json::from_str(&output_of(cargo.current_dir(project))).unwrap();
        let package = &metadata["packages"][0];
        let name = |kind: &str| {
            let mut targets = package["targets"].as_array().unwrap().iter();
            let target = targets.find(|target| target["kind"][0] == kind);
            target.unwrap()["name"].as_str().unwrap().to_owned()
        };
        let edition = package["edition"].as_str().unwrap().to_owned();
        Self { edition, library: name("lib"), program: name("bin") }
    }

    /// Builds the project, has it run its tests, and returns the program.
    fn built(&self, project: &Path, directory: &Path) -> PathBuf {
        let (tests, program) = (directory.join("tests"), directory.join(&self.program));
        // Cargo has built the SDK for several choices of packages, and its test kit for some of them.
        let testing = libraries("formwork_sdk_testing");
        let sdks = libraries("formwork_sdk").into_iter();
        let pairs = sdks.flat_map(|sdk| testing.iter().map(move |kit| (sdk.clone(), kit)));
        let mut reasons = Vec::new();
        let mut built = pairs.filter_map(|(sdk, kit)| {
            let mut rustc = self.rustc(project, "src/lib.rs", &sdk);
            rustc.arg("--test").arg("-o").arg(&tests);
            extern_crate(&mut rustc, "formwork_sdk_testing", kit);
            run(&mut rustc).map(|_| sdk).map_err(|reason| reasons.push(reason)).ok()
        });
        let sdk = built.next();
        drop(built);
        // Builds with other features lack crates, and report it.
        reasons.sort_by_key(|reason| reason.contains("E0463"));
        let sdk = sdk.unwrap_or_else(|| panic!("it does not build:\n{}", reasons.join("\n")));
        let passed = output_of(Command::new(&tests).current_dir(project));
        assert!(passed.contains("1 passed; 0 failed"), "{passed}");

        let library = directory.join(format!("lib{}.rlib", self.library));
        let mut rustc = self.rustc(project, "src/lib.rs", &sdk);
        output_of(
            rustc
                .arg("--crate-type=rlib")
                .arg("--crate-name")
                .arg(&self.library)
                .arg("-o")
                .arg(&library),
        );
        let mut rustc = self.rustc(project, "src/main.rs", &sdk);
        extern_crate(&mut rustc, &self.library, &library);
        output_of(rustc.arg("--crate-name=program").arg("-o").arg(&program));
        program
    }

    fn rustc(&self, project: &Path, file: &str, sdk: &Path) -> Command {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let dependencies = format!("dependency={}", dependencies().display());
        rustc.current_dir(project).args([
            "--edition",
            &self.edition,
            "-Dwarnings",
            "-L",
            &dependencies,
        ]);
        extern_crate(&mut rustc, "formwork_sdk", sdk);
        rustc.arg(file);
        rustc
    }
}

fn extern_crate(rustc: &mut Command, name: &str, library: &Path) {
    rustc.arg("--extern").arg(format!("{name}={}", library.display()));
}

/// The libraries of that name next to this program, the newest first.
fn libraries(name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dependencies()).unwrap().map(|entry| entry.unwrap().path());
    let is_one = |file: &PathBuf| {
        let file = file.file_name().unwrap().to_string_lossy().into_owned();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    };
    let mut paths: Vec<_> = entries.filter(is_one).collect();
    paths.sort_by_key(|file| std::cmp::Reverse(file.metadata().unwrap().modified().unwrap()));
    assert!(!paths.is_empty(), "cargo builds {name} before these tests");
    paths
}

fn dependencies() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Output of a program that has to succeed.
fn output_of(command: &mut Command) -> String {
    run(command).unwrap_or_else(|output| panic!("{command:?}:\n{output}"))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stdout) + &text(&output.stderr)),
    }
}
