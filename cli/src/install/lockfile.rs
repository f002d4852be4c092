//! `.terraform.lock.hcl`: the selected version of each provider, and the hashes of its package.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use formwork_core::addr::{ProviderAddr, quote_string};
use formwork_core::disk::{Dir, MAX_SMALL_FILE_LEN, read_text};
use formwork_core::version::{Version, VersionConstraints};
use formwork_lang::syntax::parse_file;
use formwork_lang::syntax::{Attribute, Block, ExprKind};
use formwork_value::diag::{Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use crate::messages;

/// The name of the file in the root module's directory.
pub(crate) const LOCK_FILE_NAME: &str = ".terraform.lock.hcl";

/// Whether Formwork can compute hashes of this kind.
pub(crate) fn is_supported_hash(hash: &str) -> bool {
    hash.starts_with("h1:") || hash.starts_with("zh:")
}

/// The locks of all providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LockFile {
    /// The locks, by provider.
    pub(crate) providers: BTreeMap<ProviderAddr, ProviderLock>,
}

/// The lock of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderLock {
    /// The selected version.
    pub(crate) version: Version,
    /// The version constraints at the time of the selection.
    pub(crate) constraints: VersionConstraints,
    /// The allowed hashes. The package must match one of them.
    pub(crate) hashes: BTreeSet<String>,
}

impl ProviderLock {
    /// Returns the hashes whose kinds are supported.
    pub(crate) fn supported_hashes(&self) -> BTreeSet<String> {
        self.hashes.iter().filter(|hash| is_supported_hash(hash)).cloned().collect()
    }
}

impl LockFile {
    /// Reads the lock file of a directory. A missing file is an empty lock file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid lock file.
    pub(crate) fn load(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        directory: &Path,
    ) -> Result<Self, Reported> {
        let path = directory.join(LOCK_FILE_NAME);
        let text = match read_text(&path, MAX_SMALL_FILE_LEN) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                let detail = format!("{} cannot be read: {error}.", path.display());
                return Err(diags.error(Diagnostic::error(
                    messages::FAILED_TO_READ_DEPENDENCY_LOCK_FILE,
                    detail,
                )));
            }
        };
        Self::parse(diags, sources, text)
    }

    /// Parses a lock file.
    ///
    /// # Errors
    /// The document is not a valid lock file.
    pub(crate) fn parse(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        text: String,
    ) -> Result<Self, Reported> {
        let source = sources.add(LOCK_FILE_NAME, text);
        let body = parse_file(diags, sources, source);
        diags.fail_if_errors()?;
        let mut file = Self::default();
        let mut result = Ok(());
        for block in &body.blocks {
            match read_block(diags, block) {
                Ok(Some((addr, lock))) => {
                    if file.providers.insert(addr.clone(), lock).is_some() {
                        let detail =
                            format!("This lockfile already declared a provider lock for {addr}.");
                        result = Err(report_invalid(
                            diags,
                            messages::DUPLICATE_PROVIDER_LOCK,
                            &detail,
                            block.header,
                        ));
                    }
                }
                Ok(None) => {}
                Err(reported) => result = Err(reported),
            }
        }
        result.map(|()| file)
    }

    /// Whether both select the same packages. As in Terraform, constraints are not compared.
    pub(crate) fn selects_same_packages(&self, other: &Self) -> bool {
        let selected = |file: &Self| -> Vec<_> {
            let of = |(addr, lock): (&ProviderAddr, &ProviderLock)| {
                (addr.clone(), lock.version.clone(), lock.hashes.clone())
            };
            file.providers.iter().map(of).collect()
        };
        selected(self) == selected(other)
    }

    /// Whether both lock the same providers.
    pub(crate) fn locks_same_providers(&self, other: &Self) -> bool {
        self.providers.keys().eq(other.providers.keys())
    }

    /// Replaces the lock file of a directory.
    ///
    /// # Errors
    /// The file cannot be written. The previous file is then unchanged.
    pub(crate) fn save(&self, diags: &mut Diagnostics, directory: &Path) -> Result<(), Reported> {
        let path = directory.join(LOCK_FILE_NAME);
        let written = Dir::open(directory).and_then(|directory| {
            directory.replace(LOCK_FILE_NAME, self.render().as_bytes(), 0o644)
        });
        written.map_err(|error| {
            let detail = format!("{} cannot be written: {error}.", path.display());
            diags.error(Diagnostic::error(messages::FAILED_TO_SAVE_DEPENDENCY_LOCK_FILE, detail))
        })
    }

    /// Renders the contents of the file.
    pub(crate) fn render(&self) -> String {
        let mut text = String::from(
            "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n",
        );
        for (addr, lock) in &self.providers {
            text.push_str(&format!("\nprovider {} {{\n", quote_string(&addr.to_string())));
            if lock.constraints.is_empty() {
                text.push_str(&format!(
                    "  version = {}\n",
                    quote_string(&lock.version.to_string())
                ));
            } else {
                text.push_str(&format!(
                    "  version     = {}\n",
                    quote_string(&lock.version.to_string())
                ));
                text.push_str(&format!(
                    "  constraints = {}\n",
                    quote_string(&lock.constraints.to_string())
                ));
            }
            if !lock.hashes.is_empty() {
                text.push_str("  hashes = [\n");
                for hash in &lock.hashes {
                    text.push_str(&format!("    {},\n", quote_string(hash)));
                }
                text.push_str("  ]\n");
            }
            text.push_str("}\n");
        }
        text
    }
}

fn report_invalid(
    diags: &mut Diagnostics,
    summary: impl Into<Summary>,
    detail: &str,
    span: Span,
) -> Reported {
    diags.error(Diagnostic::error(summary, detail).at(span))
}

fn read_block(
    diags: &mut Diagnostics,
    block: &Block,
) -> Result<Option<(ProviderAddr, ProviderLock)>, Reported> {
    if block.kind.name == "module" {
        let summary = messages::DEPENDENCY_LOCKS_FOR_MODULES_ARE_NOT_YET_SUPPORTED;
        diags.warn(Diagnostic::warning(summary, "The block is ignored.").at(block.header));
        return Ok(None);
    }
    let [label] = &block.labels[..] else {
        let detail = "A lock file can contain only blocks of the form provider \"ADDRESS\".";
        return Err(report_invalid(
            diags,
            messages::INVALID_BLOCK_IN_DEPENDENCY_LOCK_FILE,
            detail,
            block.header,
        ));
    };
    let addr: ProviderAddr = label.name.parse().map_err(|_| {
        let detail = format!("{} is not a provider address.", label.name);
        report_invalid(diags, messages::INVALID_PROVIDER_SOURCE_ADDRESS, &detail, label.span)
    })?;
    if addr.to_string() != *label.name {
        let detail = format!(
            "The provider source address for this provider lock must be written as {:?}, the fully-qualified and normalized form.",
            addr.to_string()
        );
        return Err(report_invalid(
            diags,
            messages::NON_NORMALIZED_PROVIDER_SOURCE_ADDRESS,
            &detail,
            label.span,
        ));
    }
    if addr.is_builtin() {
        let detail = format!(
            "Cannot lock a version for built-in provider {addr}. Built-in providers are bundled and have no versions of their own."
        );
        return Err(report_invalid(
            diags,
            messages::INVALID_PROVIDER_SOURCE_ADDRESS,
            &detail,
            label.span,
        ));
    }
    let mut lock = None;
    let mut constraints = VersionConstraints::default();
    let mut hashes = BTreeSet::new();
    for attribute in &block.body.attributes {
        match attribute.name.name.as_str() {
            "version" => lock = Some(read_version(diags, attribute)?),
            "constraints" => constraints = read_constraints(diags, attribute)?,
            "hashes" => hashes = read_hashes(diags, attribute)?,
            other => {
                let detail = format!("An argument named {other:?} is not expected here.");
                return Err(report_invalid(
                    diags,
                    messages::UNSUPPORTED_ARGUMENT,
                    &detail,
                    attribute.name.span,
                ));
            }
        }
    }
    match lock {
        Some(version) => Ok(Some((addr, ProviderLock { version, constraints, hashes }))),
        None => {
            let detail = "The argument \"version\" is required, but no definition was found.";
            Err(report_invalid(diags, messages::MISSING_REQUIRED_ARGUMENT, detail, block.header))
        }
    }
}

fn read_string_argument(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<String, Reported> {
    match attribute.expr.as_string_literal() {
        Some(text) => Ok(text.to_string()),
        None => {
            let detail = format!("{:?} must be a quoted string.", attribute.name.name.as_str());
            Err(report_invalid(
                diags,
                messages::INVALID_VALUE_IN_DEPENDENCY_LOCK_FILE,
                &detail,
                attribute.expr.span,
            ))
        }
    }
}

fn read_version(diags: &mut Diagnostics, attribute: &Attribute) -> Result<Version, Reported> {
    let text = read_string_argument(diags, attribute)?;
    Version::parse(&text).map_err(|error| {
        let detail = format!("The selected version number {text:?} is invalid: {error}.");
        report_invalid(
            diags,
            messages::INVALID_PROVIDER_VERSION_NUMBER,
            &detail,
            attribute.expr.span,
        )
    })
}

fn read_constraints(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<VersionConstraints, Reported> {
    let text = read_string_argument(diags, attribute)?;
    text.parse().map_err(|error| {
        let detail = format!("The recorded constraints {text:?} are invalid: {error}.");
        report_invalid(
            diags,
            messages::INVALID_PROVIDER_VERSION_CONSTRAINTS,
            &detail,
            attribute.expr.span,
        )
    })
}

fn read_hashes(
    diags: &mut Diagnostics,
    attribute: &Attribute,
) -> Result<BTreeSet<String>, Reported> {
    let invalid_hashes = |diags: &mut Diagnostics| {
        let detail = "\"hashes\" must be a non-empty list of quoted strings.";
        report_invalid(diags, messages::INVALID_PROVIDER_HASH_SET, detail, attribute.expr.span)
    };
    let ExprKind::Tuple(items) = &attribute.expr.kind else { return Err(invalid_hashes(diags)) };
    let hashes: Option<BTreeSet<String>> =
        items.iter().map(|item| item.as_string_literal().map(ToString::to_string)).collect();
    match hashes {
        Some(hashes) if !hashes.is_empty() => Ok(hashes),
        _ => Err(invalid_hashes(diags)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/null" {
  version     = "3.2.1"
  constraints = ">= 3.0.0, < 4.0.0"
  hashes = [
    "h1:abc=",
    "zh:def",
  ]
}

provider "registry.terraform.io/hashicorp/random" {
  version = "3.6.0"
  hashes = [
    "h1:ghi=",
  ]
}
"#;

    fn load(text: &str) -> (Result<LockFile, Reported>, Vec<String>) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(LOCK_FILE_NAME), text).unwrap();
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let file = LockFile::load(&mut diags, &mut sources, directory.path());
        (file, diags.into_iter().map(|diagnostic| diagnostic.summary).collect())
    }

    #[test]
    fn a_parsed_file_is_rendered_unchanged() {
        let (file, problems) = load(SAMPLE);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(file.unwrap().render(), SAMPLE);
    }

    #[test]
    fn selections_differ_by_versions_hashes_and_providers_but_not_by_constraints() {
        let read = |text: &str| load(text).0.unwrap();
        let selected = read(SAMPLE);
        assert!(
            selected.selects_same_packages(&read(&SAMPLE.replace(">= 3.0.0, < 4.0.0", "~> 3.2")))
        );
        let (first, _) = SAMPLE.split_at(SAMPLE.rfind("provider").unwrap());
        for changed_text in
            [&SAMPLE.replace("3.2.1", "3.2.2"), &SAMPLE.replace("zh:def", "zh:deg"), first]
        {
            assert!(!selected.selects_same_packages(&read(changed_text)), "{changed_text}");
        }
    }

    #[test]
    fn files_that_init_would_not_write_are_refused() {
        let check = |text: &str| load(text).1;
        assert_eq!(check("provider \"null\" {\n}\n"), ["Non-normalized provider source address"]);
        assert_eq!(
            check("provider \"terraform.io/builtin/terraform\" {}\n"),
            ["Invalid provider source address"]
        );
        let address = "registry.terraform.io/hashicorp/null";
        assert_eq!(check(&format!("provider {address:?} {{\n}}\n")), ["Missing required argument"]);
        let empty = format!("provider {address:?} {{\n  version = \"1.0.0\"\n  hashes = []\n}}\n");
        assert_eq!(check(&empty), ["Invalid provider hash set"]);
    }
}
