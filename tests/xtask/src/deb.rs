//! The Debian package: an `ar` archive of its version, a description and the files.

use md5::{Digest as _, Md5};

use crate::Failure;
use crate::pack::{self, Entry, hex, tar_gz};
use crate::source::Source;

/// The package of an installation below `/usr`.
pub(crate) fn package(source: &Source, files: &[Entry]) -> Result<Vec<u8>, Failure> {
    let mut files: Vec<Entry> = files.iter().map(renamed).collect();
    files.push(Entry::file("usr/share/doc/formwork/copyright", copyright(source)?));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let program = files.iter().find(|file| file.path == "usr/bin/formwork");
    let depends = depends(&program.ok_or("there is no program")?.bytes);
    let size: usize = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let control = format!(
        "Package: formwork\nVersion: {}\nArchitecture: {}\nMaintainer: Formwork contributors <contributors@formwork.invalid>\nInstalled-Size: {size}\nDepends: {depends}\nSection: admin\nPriority: optional\nDescription: infrastructure as code with Terraform's language and providers\n Plans and applies infrastructure that is described in the Terraform\n language, through provider plugins of protocol 5 and 6.\n",
        source.version, source.platform.debian,
    );
    let sums: String = files
        .iter()
        .map(|file| format!("{}  {}\n", hex(&Md5::digest(&file.bytes)), file.path))
        .collect();
    let control = [Entry::file("control", control), Entry::file("md5sums", sums)];
    let archive_path = |entry: &Entry| format!("./{}", entry.path);
    let parts = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&control, archive_path, source.epoch)?),
        ("data.tar.gz", tar_gz(&files, archive_path, source.epoch)?),
    ];
    Ok(ar(&parts, source.epoch))
}

/// The file at its path in Debian: the changelog is compressed, and zsh has another directory.
fn renamed(file: &Entry) -> Entry {
    let path = format!("usr/{}", file.path);
    let path = path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/");
    match path.strip_suffix("CHANGELOG.md").and(pack::gz(&file.bytes).ok()) {
        Some(bytes) => {
            Entry { path: format!("{}changelog.gz", &path[..path.len() - 12]), bytes, ..*file }
        }
        None => Entry { path, ..file.clone() },
    }
}

fn copyright(source: &Source) -> Result<String, Failure> {
    let mit = std::fs::read_to_string(source.root.join("LICENSE-MIT"))?;
    let owner = mit.lines().find(|line| line.starts_with("Copyright"));
    let owner = owner.ok_or("LICENSE-MIT names no copyright")?;
    let header = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n";
    Ok(format!(
        "{header}\nFiles: *\n{}\nLicense: MIT or Apache-2.0\n See LICENSE-MIT and LICENSE-APACHE in this directory.\n",
        owner.replacen("Copyright", "Copyright:", 1)
    ))
}

/// The packages with the libraries that the program is linked to, as its symbol versions say.
fn depends(program: &[u8]) -> String {
    const PREFIX: &[u8] = b"GLIBC_2.";
    let newest = program
        .windows(PREFIX.len() + 3)
        .filter(|window| window.starts_with(PREFIX))
        .filter_map(|window| {
            let digits = window[PREFIX.len()..].iter().take_while(|byte| byte.is_ascii_digit());
            let digits: String = digits.map(|byte| char::from(*byte)).collect();
            digits.parse::<u32>().ok()
        })
        .max();
    let mut depends = match newest {
        Some(minor) => format!("libc6 (>= 2.{minor})"),
        None => "libc6".to_owned(),
    };
    if program.windows(14).any(|window| window == b"libgcc_s.so.1\0") {
        depends.push_str(", libgcc-s1");
    }
    depends
}

/// An `ar` archive in the form that `dpkg` reads: short names, decimal numbers, even lengths.
fn ar(parts: &[(&str, Vec<u8>)], epoch: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in parts {
        let size = bytes.len();
        let header = format!("{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644");
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_an_archive_begin_at_even_offsets() {
        let archive = ar(&[("a", b"x".to_vec()), ("b", b"yz".to_vec())], 7);
        assert_eq!(archive.len(), 8 + 60 + 2 + 60 + 2);
        assert_eq!(&archive[8 + 58..8 + 62], b"`\nx\n");
        assert_eq!(&archive[70..72], b"b ");
    }

    #[test]
    fn the_newest_symbol_version_is_what_the_package_depends_on() {
        let program = b"..GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0libgcc_s.so.1\0 and more";
        assert_eq!(depends(program), "libc6 (>= 2.34), libgcc-s1");
        assert_eq!(depends(b"no symbols at all"), "libc6");
    }
}
