//! `formwork provider new`: generates a provider project. It never changes existing files.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{Screen, print_out};

/// Generate a new provider project that can be built, tested and run.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "weather -namespace=acme",
    "Write a provider to terraform-provider-weather."
))]
pub(crate) struct ProviderNewArgs {
    /// Name of the provider in configurations.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Namespace of the source address.
    #[arg(long, value_name = "NAMESPACE", default_value = "example")]
    pub(crate) namespace: String,
    /// The `sdk` directory of a Formwork checkout, instead of the published packages. Detected if this
    /// program was built in a checkout.
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}

/// The file templates, by their target path.
const FILE_TEMPLATES: [(&str, &str); 12] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    ("README.md", include_str!("template/README.md.in")),
    (".gitignore", "/target\n/dist\n"),
    (".cargo/config.toml", include_str!("template/cargo_config.toml.in")),
    (".github/workflows/provider.yml", include_str!("template/ci.yml.in")),
    ("LICENSE", include_str!("template/LICENSE.in")),
    ("terraform-registry-manifest.json", include_str!("template/manifest.json.in")),
    ("src/main.rs", include_str!("template/main.rs.in")),
    ("src/lib.rs", include_str!("template/lib.rs.in")),
    ("src/greeting.rs", include_str!("template/greeting.rs.in")),
    ("examples/provider/provider.tf", include_str!("template/provider.tf.in")),
    ("examples/resources/NAME_greeting/resource.tf", include_str!("template/resource.tf.in")),
];

/// Runs the command.
pub(super) fn run(args: &ProviderNewArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    match write_project(&mut diags, args) {
        Ok(directory) => {
            print_out(&format!(
                "Wrote the provider {} to {}. To try it:\n\n    cd {}\n    cargo test\n",
                args.name,
                directory.display(),
                directory.display()
            ));
            Exit::Done
        }
        Err(_reported) => {
            let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
            report.report_diagnostics(&Sources::new(), &diags);
            Exit::Failed
        }
    }
}

fn write_project(diags: &mut Diagnostics, args: &ProviderNewArgs) -> Result<PathBuf, Reported> {
    check_name(diags, "provider name", &args.name)?;
    check_name(diags, "namespace", &args.namespace)?;
    let sdk = sdk_dir(diags, args)?;
    let directory = PathBuf::from(format!("terraform-provider-{}", args.name));
    if directory.exists() {
        let detail =
            format!("{} already exists. Remove it, or choose another name.", directory.display());
        return Err(diags.error(Diagnostic::error(messages::THE_DIR_EXISTS, detail)));
    }
    let krate = args.name.replace('-', "_");
    let fill = |text: &str| {
        text.replace("NAMESPACE", &args.namespace)
            .replace("NAME", &args.name)
            .replace("CRATE", &krate)
    };
    let fill_manifest = |text: &str| match &sdk {
        Some(sdk) => text.replace("SDK", &sdk.to_string_lossy()),
        None => remove_patch_section(text),
    };
    for (path, text) in FILE_TEMPLATES {
        let text = match path {
            "Cargo.toml" => fill_manifest(&fill(text).replace("VERSION", SDK_VERSION)),
            _ => fill(text),
        };
        let path = directory.join(fill(path));
        write_file(&path, &text).map_err(|error| {
            let detail = format!("{} cannot be written: {error}.", path.display());
            diags.error(Diagnostic::error(messages::UNABLE_TO_WRITE_FILE, detail))
        })?;
    }
    Ok(directory)
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, text)
}

fn check_name(diags: &mut Diagnostics, name_kind: &str, name: &str) -> Result<(), Reported> {
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(is_valid)
        && !name.ends_with('-')
    {
        return Ok(());
    }
    let detail = format!(
        "{name:?} is not a valid {name_kind}. Use lower-case letters, digits and dashes, beginning with a letter and not ending with a dash."
    );
    Err(diags.error(Diagnostic::error(messages::INVALID_PROVIDER_NAME, detail)))
}

/// The SDK version that the manifest requires. It is the version of this program, with which it was tested.
const SDK_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The manifest without the section for a local checkout.
fn remove_patch_section(text: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.contains("[patch."));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The SDK directory of a checkout: as specified, or of the sources that this program was built from. Without
/// one, the published packages are used.
fn sdk_dir(diags: &mut Diagnostics, args: &ProviderNewArgs) -> Result<Option<PathBuf>, Reported> {
    let is_sdk = |directory: &Path| directory.join("macros/Cargo.toml").is_file();
    let Some(directory) = &args.sdk else {
        let program = env::current_exe().ok();
        let ancestors_of_program = program.iter().flat_map(|program| program.ancestors());
        let sdk = ancestors_of_program
            .map(|directory| directory.join("sdk"))
            .find(|directory| is_sdk(directory));
        return Ok(sdk.and_then(|directory| directory.canonicalize().ok()));
    };
    match directory.canonicalize().ok().filter(|directory| is_sdk(directory)) {
        Some(directory) => Ok(Some(directory)),
        None => {
            let detail = format!(
                "-sdk={} is not the `sdk` directory of the Formwork sources. Specify that directory, or remove the option to use the published packages.",
                directory.display()
            );
            Err(diags.error(Diagnostic::error(messages::SDK_WAS_NOT_FOUND, detail)))
        }
    }
}
