//! The providers that are included in Formwork.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

/// The namespaces and names of the included providers. The versions are those of the public providers with
/// the same schemas and behaviour, so that version constraints apply.
pub(crate) static SHIPPED_PROVIDERS: [(&str, &str, Version); 9] = [
    ("cyrilgdn", "postgresql", Version::new(1, 26, 0)),
    ("hashicorp", "archive", Version::new(2, 7, 1)),
    ("hashicorp", "external", Version::new(2, 3, 5)),
    ("hashicorp", "http", Version::new(3, 5, 0)),
    ("hashicorp", "local", Version::new(2, 5, 2)),
    ("hashicorp", "null", Version::new(3, 2, 3)),
    ("hashicorp", "random", Version::new(3, 7, 1)),
    ("hashicorp", "time", Version::new(0, 13, 0)),
    ("hashicorp", "tls", Version::new(4, 2, 1)),
];

/// Prefix of the names of programs.
const PROGRAM_PREFIX: &str = "terraform-provider-";

/// The program of an included provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShippedProgram {
    pub(crate) path: PathBuf,
    /// The argument that selects the provider, if this program serves it.
    pub(crate) arg0: Option<OsString>,
}

/// Finds the program of an included provider, with its version. A file next to this program takes
/// precedence, then a file in `../lib/formwork`, then the `bundled` providers of this program.
pub(crate) fn find_shipped(
    provider: &ProviderAddr,
    bundled: &[&str],
) -> Option<(Version, ShippedProgram)> {
    if provider.host() != ProviderAddr::implied_by_name(provider.provider_type()).host() {
        return None;
    }
    let is_it = |(namespace, name, _): &&(&str, &str, Version)| {
        provider.namespace() == namespace && provider.provider_type() == name
    };
    let (_, name, version) = SHIPPED_PROVIDERS.iter().find(is_it)?;
    let program = std::env::current_exe().ok()?;
    Some((version.clone(), shipped_program_path(name, &program, bundled)?))
}

/// Finds the program of the provider `name`, relative to the file of this program.
fn shipped_program_path(name: &str, this: &Path, bundled: &[&str]) -> Option<ShippedProgram> {
    let file = format!("{PROGRAM_PREFIX}{name}{EXE_SUFFIX}");
    // If this program was replaced while running, files next to its former path cannot be trusted.
    let resolved = this.canonicalize().ok();
    let directory = resolved.as_deref().and_then(Path::parent);
    let directories = directory.into_iter().flat_map(|directory| {
        [Some(directory.to_owned()), directory.parent().map(|above| above.join("lib/formwork"))]
    });
    let path =
        directories.flatten().map(|directory| directory.join(&file)).find(|path| path.is_file());
    if let Some(path) = path {
        return Some(ShippedProgram { path, arg0: None });
    }
    let path = resolved.unwrap_or_else(|| PathBuf::from(RUNNING_PROGRAM));
    bundled.contains(&name).then(|| ShippedProgram { path, arg0: Some(file.into()) })
}

/// The path of the running program, even if its file was moved.
const RUNNING_PROGRAM: &str = "/proc/self/exe";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_next_to_the_executable_precede_those_in_lib_and_the_bundle() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let this = root.join("bin/formwork");
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::create_dir_all(root.join("lib/formwork")).unwrap();
        std::fs::write(&this, "").unwrap();
        let find = |name: &str| shipped_program_path(name, &this, &["null", "time"]);
        let file = |path: &str| Some(ShippedProgram { path: root.join(path), arg0: None });
        let bundled = Some(ShippedProgram {
            path: this.clone(),
            arg0: Some("terraform-provider-null".into()),
        });
        assert_eq!(find("null"), bundled);
        assert_eq!(find("random"), None);
        for path in ["lib/formwork/terraform-provider-null", "bin/terraform-provider-null"] {
            std::fs::write(root.join(path), "").unwrap();
            assert_eq!(find("null"), file(path));
        }
        // The program was replaced while running.
        let missing =
            shipped_program_path("time", &root.join("bin/formwork (deleted)"), &["time"]).unwrap();
        assert_eq!(missing.path, Path::new(RUNNING_PROGRAM));
    }

    #[test]
    fn the_bundle_contains_every_included_provider() {
        let mut names: Vec<_> = SHIPPED_PROVIDERS.iter().map(|(_, name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(names, formwork_providers::bundle::PROVIDER_NAMES);
    }
}
