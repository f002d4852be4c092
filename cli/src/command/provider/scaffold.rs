//! `formwork provider new`: writes a provider that builds, tests and loads. Never touches what is
//! there.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::args::ProviderNewArgs;
use crate::env::Env;
use crate::exit::Exit;
use crate::view::report::Report;
use crate::view::{Screen, out};

/// The files, by where they go.
const FILES: [(&str, &str); 8] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    ("README.md", include_str!("template/README.md.in")),
    (".gitignore", "/target\n"),
    ("src/main.rs", include_str!("template/main.rs.in")),
    ("src/lib.rs", include_str!("template/lib.rs.in")),
    ("src/greeting.rs", include_str!("template/greeting.rs.in")),
    ("examples/provider/provider.tf", include_str!("template/provider.tf.in")),
    ("examples/resources/NAME_greeting/resource.tf", include_str!("template/resource.tf.in")),
];

/// Runs the command.
pub(super) fn run(args: &ProviderNewArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    match write(&mut diags, args) {
        Ok(folder) => {
            out(&format!(
                "Wrote the provider {} to {}. To try it:\n\n    cd {}\n    cargo test\n",
                args.name,
                folder.display(),
                folder.display()
            ));
            Exit::Done
        }
        Err(_reported) => {
            let report = Report::new(Screen::of(env), false, env.compact_warnings);
            report.diagnostics(&Sources::new(), &diags);
            Exit::Failed
        }
    }
}

fn write(diags: &mut Diagnostics, args: &ProviderNewArgs) -> Result<PathBuf, Reported> {
    check_name(diags, "name of a provider", &args.name)?;
    check_name(diags, "namespace", &args.namespace)?;
    let sdk = sdk(diags, args)?;
    let folder = PathBuf::from(format!("terraform-provider-{}", args.name));
    if folder.exists() {
        let detail =
            format!("{} is there already. Remove it, or choose another name.", folder.display());
        return Err(diags.error(Diagnostic::error("The folder exists", detail)));
    }
    let krate = args.name.replace('-', "_");
    let fill = |text: &str| {
        text.replace("NAMESPACE", &args.namespace)
            .replace("NAME", &args.name)
            .replace("CRATE", &krate)
            .replace("SDK", &sdk.to_string_lossy())
    };
    for (path, text) in FILES {
        let path = folder.join(fill(path));
        write_file(&path, &fill(text)).map_err(|error| {
            let detail = format!("{} cannot be written: {error}.", path.display());
            diags.error(Diagnostic::error("Unable to write a file", detail))
        })?;
    }
    Ok(folder)
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

fn check_name(diags: &mut Diagnostics, what: &str, name: &str) -> Result<(), Reported> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(fits)
        && !name.ends_with('-')
    {
        return Ok(());
    }
    let detail = format!(
        "{name:?} is no {what}: it begins with a lower-case letter, and has such letters, digits and \
         dashes."
    );
    Err(diags.error(Diagnostic::error("Invalid name", detail)))
}

/// The folder of the SDK: as given, or that of the sources that this program was built from.
fn sdk(diags: &mut Diagnostics, args: &ProviderNewArgs) -> Result<PathBuf, Reported> {
    let is_sdk = |folder: &Path| folder.join("macros/Cargo.toml").is_file();
    let found = match &args.sdk {
        Some(folder) => Some(folder.clone()),
        None => env::current_exe().ok().and_then(|program| {
            program.ancestors().map(|folder| folder.join("sdk")).find(|folder| is_sdk(folder))
        }),
    };
    match found.and_then(|folder| folder.canonicalize().ok()).filter(|folder| is_sdk(folder)) {
        Some(folder) => Ok(folder),
        None => Err(diags.error(Diagnostic::error(
            "The SDK was not found",
            "Say where it is: -sdk=DIR, the folder `sdk` of Formwork's sources.",
        ))),
    }
}
