//! The warning about files that only OpenTofu reads.

use std::path::Path;

use formwork_value::{Diagnostic, Diagnostics};

use super::files::{Files, is_left_behind};
use super::load::shown;
use crate::messages;

/// Number of files that a warning names.
const MAX_NAMED: usize = 5;

/// Warns of files in a folder that OpenTofu reads, and Terraform does not.
pub fn warn_in(diags: &mut Diagnostics, files: &dyn Files, dir: &Path) {
    // A folder that cannot be read is reported by its reader.
    let mut names = files.list(dir).unwrap_or_default();
    names.sort();
    warn(diags, dir, &names);
}

/// Warns of those files, given the sorted names of all files in the folder.
pub(super) fn warn(diags: &mut Diagnostics, dir: &Path, names: &[String]) {
    let passed_over = without_counterpart(names);
    if !passed_over.is_empty() {
        diags.warn(warning(dir, &passed_over));
    }
}

/// The files that only OpenTofu reads. One with the name of a file for Terraform takes the place of
/// that file in OpenTofu, so nothing is missing without it.
fn without_counterpart(names: &[String]) -> Vec<&str> {
    let counterpart = |name: &str| {
        let stem = name.strip_suffix(".tofu").map(|stem| format!("{stem}.tf"));
        stem.or_else(|| name.strip_suffix(".tofu.json").map(|stem| format!("{stem}.tf.json")))
    };
    let has_none = |name: &&str| {
        let counterpart = counterpart(name);
        counterpart.is_some_and(|counterpart| names.binary_search(&counterpart).is_err())
    };
    let names = names.iter().map(String::as_str).filter(|name| !is_left_behind(name));
    names.filter(has_none).collect()
}

fn warning(dir: &Path, names: &[&str]) -> Diagnostic {
    let mut list: Vec<_> =
        names.iter().take(MAX_NAMED).map(|name| shown(&dir.join(name))).collect();
    if names.len() > MAX_NAMED {
        list.push(format!("and {} more", names.len() - MAX_NAMED));
    }
    let detail = format!(
        "Formwork reads the files `.tf` and `.tf.json`, as Terraform does. Not read: {}. If OpenTofu manages the objects in these files, they seem to be removed from the configuration, and a plan destroys them.",
        list.join(", ")
    );
    Diagnostic::warning(messages::FILES_OF_OPENTOFU_NOT_READ, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed_over(names: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        without_counterpart(&names).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_file_is_named_unless_terraform_reads_one_of_that_name() {
        assert_eq!(passed_over(&["a.tf", "a.tofu", "b.tf.json", "b.tofu.json"]), [""; 0]);
        assert_eq!(passed_over(&["a.tf", "b.tofu", "c.tofu.json"]), ["b.tofu", "c.tofu.json"]);
        assert_eq!(passed_over(&["a.tf.json", "a.tofu", ".b.tofu", "c.tofu~"]), ["a.tofu"]);
    }

    #[test]
    fn a_long_list_is_cut_off_with_its_number() {
        let names = ["1", "2", "3", "4", "5", "6", "7"];
        assert!(warning(Path::new("m"), &names).detail.contains("m/5, and 2 more."));
    }
}
