//! The warning about files that only OpenTofu reads.

use std::path::Path;

use formwork_value::{Diagnostic, Diagnostics};

use super::files::{ConfigFiles, is_editor_leftover};
use super::load::display_path;
use crate::messages;

/// Number of files that a warning names.
const MAX_LISTED_FILES: usize = 5;

/// Warns of files in a directory that OpenTofu reads and Terraform does not.
pub fn warn_of_opentofu_files_in(diags: &mut Diagnostics, files: &dyn ConfigFiles, dir: &Path) {
    // A directory that cannot be read is reported when the module is read.
    let mut names = files.list(dir).unwrap_or_default();
    names.sort();
    warn_of_opentofu_files(diags, dir, &names);
}

/// Warns of those files. `names` are the sorted names of all files in the directory.
pub(super) fn warn_of_opentofu_files(diags: &mut Diagnostics, dir: &Path, names: &[String]) {
    let passed_over = opentofu_only_files(names);
    if !passed_over.is_empty() {
        diags.warn(opentofu_files_warning(dir, &passed_over));
    }
}

/// The files that only OpenTofu reads.
fn opentofu_only_files(names: &[String]) -> Vec<&str> {
    // A file with the name of a Terraform file replaces that file in OpenTofu, so
    // the configuration is complete without it.
    let counterpart = |name: &str| {
        let stem = name.strip_suffix(".tofu").map(|stem| format!("{stem}.tf"));
        stem.or_else(|| name.strip_suffix(".tofu.json").map(|stem| format!("{stem}.tf.json")))
    };
    let has_none = |name: &&str| {
        let counterpart = counterpart(name);
        counterpart.is_some_and(|counterpart| names.binary_search(&counterpart).is_err())
    };
    let names = names.iter().map(String::as_str).filter(|name| !is_editor_leftover(name));
    names.filter(has_none).collect()
}

fn opentofu_files_warning(dir: &Path, names: &[&str]) -> Diagnostic {
    let mut list: Vec<_> =
        names.iter().take(MAX_LISTED_FILES).map(|name| display_path(&dir.join(name))).collect();
    if names.len() > MAX_LISTED_FILES {
        list.push(format!("and {} more", names.len() - MAX_LISTED_FILES));
    }
    let detail = format!(
        "Formwork reads the files `.tf` and `.tf.json`, as Terraform does. Not read: {}. If OpenTofu manages the objects in these files, Formwork considers them removed from the configuration, and a plan destroys them.",
        list.join(", ")
    );
    Diagnostic::warning(messages::FILES_OF_OPENTOFU_NOT_READ, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned_files(names: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        opentofu_only_files(&names).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn an_opentofu_file_is_reported_unless_terraform_reads_its_counterpart() {
        assert_eq!(warned_files(&["a.tf", "a.tofu", "b.tf.json", "b.tofu.json"]), [""; 0]);
        assert_eq!(warned_files(&["a.tf", "b.tofu", "c.tofu.json"]), ["b.tofu", "c.tofu.json"]);
        assert_eq!(warned_files(&["a.tf.json", "a.tofu", ".b.tofu", "c.tofu~"]), ["a.tofu"]);
    }

    #[test]
    fn a_long_list_is_truncated_with_its_count() {
        let names = ["1", "2", "3", "4", "5", "6", "7"];
        assert!(opentofu_files_warning(Path::new("m"), &names).detail.contains("m/5, and 2 more."));
    }
}
