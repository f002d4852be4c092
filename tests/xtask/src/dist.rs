//! One release directory, from the sources to the checksums.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::pack::{self, Entry};
use crate::source::{self, Source};
use crate::{DistArgs, Failure, deb, provenance, sbom};

/// The install script. It asks nothing but a shell, tar, and `sha256sum` or `shasum`.
const INSTALL: &str = include_str!("install.sh");

/// The completion scripts of shells, by their path in an installation.
/// `-install-autocomplete` installs the same ones for one user.
const COMPLETIONS: [(&str, &str); 3] = [
    (
        "share/bash-completion/completions/formwork",
        include_str!("../../../cli/src/command/autocomplete/completion.bash"),
    ),
    (
        "share/zsh/site-functions/_formwork",
        include_str!("../../../cli/src/command/autocomplete/completion.zsh"),
    ),
    (
        "share/fish/vendor_completions.d/formwork.fish",
        include_str!("../../../cli/src/command/autocomplete/completion.fish"),
    ),
];

/// Documents that are installed with the program.
const DOCUMENTS: [&str; 4] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"];

/// Makes the release directory.
pub(crate) fn run(args: &DistArgs) -> Result<(), Failure> {
    let source = Source::read()?;
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => source.build()?,
    };
    fs::create_dir_all(&args.out)?;
    let sbom = sbom::of(&source)?;
    let files = installed_files(&source, &binary, &sbom)?;
    let name = format!("formwork_{}_{}", source.version, source.platform.name);
    let directory = |entry: &Entry| format!("{name}/{}", entry.path);
    let archive = pack::tar_gz(&files, directory, source.epoch)?;
    let mut written = vec![
        write(args, &format!("{name}.tar.gz"), &archive, 0o644)?,
        write(args, &format!("{name}.cdx.json"), sbom.as_bytes(), 0o644)?,
        write(args, "formwork", &fs::read(&binary)?, 0o755)?,
    ];
    let package = deb::package(&source, &files)?;
    let debian = format!("formwork_{}_{}.deb", source.version, source.platform.debian);
    written.push(write(args, &debian, &package, 0o644)?);
    let install = INSTALL.replace("@VERSION@", &source.version);
    written.push(write(args, "install.sh", install.as_bytes(), 0o755)?);
    let statement = provenance::statement(&source, &written)?;
    let statement_name = format!("{name}.intoto.json");
    written.push(write(args, &statement_name, statement.as_bytes(), 0o644)?);
    written.sort_by(|a, b| a.name.cmp(&b.name));
    let sums: String = written.iter().map(|it| format!("{}  {}\n", it.sha256, it.name)).collect();
    write(args, "SHA256SUMS", sums.as_bytes(), 0o644)?;
    writeln!(io::stdout(), "{sums}\nRelease directory: {}", args.out.display())?;
    Ok(())
}

/// A file of the release directory.
pub(crate) struct Written {
    pub(crate) name: String,
    pub(crate) sha256: String,
}

fn write(args: &DistArgs, name: &str, bytes: &[u8], mode: u32) -> Result<Written, Failure> {
    let path = args.out.join(name);
    // A program that runs cannot be written to, but it can be replaced.
    let temporary_path = args.out.join(format!(".{name}.new"));
    fs::write(&temporary_path, bytes)?;
    set_mode(&temporary_path, mode)?;
    fs::rename(&temporary_path, &path)?;
    Ok(Written { name: name.to_owned(), sha256: pack::sha256(bytes) })
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Windows has no modes.
#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// The files of an installation, by their path below its prefix.
fn installed_files(source: &Source, binary: &Path, sbom: &str) -> Result<Vec<Entry>, Failure> {
    let mut files = vec![Entry::program("bin/formwork", fs::read(binary)?)];
    for (path, text) in COMPLETIONS {
        files.push(Entry::file(path, text.replace("PROGRAM", "command formwork")));
    }
    for page in pages(source, binary)? {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = pack::gz(&fs::read(&page)?)?;
        files.push(Entry::file(&format!("share/man/man1/{name}.gz"), text));
    }
    for name in DOCUMENTS {
        let text = fs::read(source.root.join(name))?;
        files.push(Entry::file(&format!("share/doc/formwork/{name}"), text));
    }
    files.push(Entry::file("share/doc/formwork/formwork.cdx.json", sbom));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Has the program write its manual pages.
fn pages(source: &Source, binary: &Path) -> Result<Vec<PathBuf>, Failure> {
    let directory = source.target.join("man");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let out = format!("-out={}", directory.display());
    source::run(source::command(binary).args(["help", "-format=man", &out]))?;
    let pages = fs::read_dir(&directory)?.map(|entry| Ok(entry?.path()));
    let mut pages: Vec<PathBuf> = pages.collect::<Result<_, Failure>>()?;
    pages.sort();
    Ok(pages)
}
