//! Messages with the reasons why the system refuses to run a file, and the remedies. Reads the
//! file; starts no process.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use super::plugin_files::is_exec_format_error;

/// Explains why starting `path` failed with `error`.
pub(super) fn explain_start_error(path: &Path, error: &io::Error) -> String {
    match (error.kind(), is_exec_format_error(error)) {
        // The kernel answers ENOENT as well when the interpreter or loader of an existing file is
        // missing.
        (ErrorKind::NotFound, _) if !path.exists() => {
            "there is no such file; run init to install the provider".to_owned()
        }
        (ErrorKind::NotFound, _) => match script_interpreter(path) {
            Some(line) => {
                format!("the interpreter that its first line names, `{line}`, does not exist")
            }
            None => "its dynamic loader does not exist on this system; install a build of the \
                provider for this system"
                .to_owned(),
        },
        (ErrorKind::PermissionDenied, _) if path.is_dir() => {
            "it is a directory, not a program".to_owned()
        }
        (ErrorKind::PermissionDenied, _) => {
            "it may not be executed; give it the permission (chmod +x), \
             and see that the file system is not mounted with noexec"
                .to_owned()
        }
        (_, true) => {
            let file_kind = describe_file_kind(path);
            format!(
                "it is {file_kind}, and this machine runs Linux on {}; install a build of the \
                 provider for this machine",
                std::env::consts::ARCH
            )
        }
        _ => format!("the system refused: {error}"),
    }
}

fn read_first_bytes(path: &Path) -> Vec<u8> {
    // 256 bytes are as much as the kernel reads (`BINPRM_BUF_SIZE`).
    let mut start = Vec::new();
    // An unreadable file is described as an empty one.
    match File::open(path).map(|file| file.take(256).read_to_end(&mut start)) {
        Ok(_) | Err(_) => start,
    }
}

fn script_interpreter(path: &Path) -> Option<String> {
    let first_bytes = read_first_bytes(path);
    let line = first_bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}

fn describe_file_kind(path: &Path) -> String {
    let first_bytes = read_first_bytes(path);
    match first_bytes.as_slice() {
        [] => "empty".to_owned(),
        [0x7f, b'E', b'L', b'F', ..] => match elf_machine(&first_bytes) {
            Some(machine) => format!("a program for {machine}"),
            None => "a damaged program".to_owned(),
        },
        [b'M', b'Z', ..] => "a Windows program".to_owned(),
        // Mach-O is little-endian on today's machines; only the header of universal files is
        // big-endian.
        [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => {
            "a macOS program".to_owned()
        }
        [b'P', b'K', ..] => "a zip archive that was not unpacked".to_owned(),
        _ => "not a program".to_owned(),
    }
}

/// Reads the processor an ELF file is for.
fn elf_machine(first_bytes: &[u8]) -> Option<String> {
    // `e_machine` is at offset 18 in 32-bit and 64-bit files. Byte 5 (`EI_DATA`) is 2 if
    // big-endian.
    let bytes = [*first_bytes.get(18)?, *first_bytes.get(19)?];
    let little_endian = *first_bytes.get(5)? != 2;
    let number = if little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) };
    Some(match number {
        0x03 => "x86".to_owned(),
        0x15 => "powerpc64".to_owned(),
        0x16 => "s390x".to_owned(),
        0x28 => "arm".to_owned(),
        0x3e => "x86_64".to_owned(),
        0xb7 => "aarch64".to_owned(),
        0xf3 => "riscv".to_owned(),
        machine => format!("machine number {machine}"),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::errno::Errno;

    use super::*;

    fn explained(content: &[u8], errno: Errno) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("plugin");
        fs::write(&path, content).expect("a file");
        explain_start_error(&path, &io::Error::from(errno))
    }

    #[test]
    fn a_file_of_the_wrong_kind_is_described_by_its_format() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(18, 0);
        elf.extend([0xb7, 0]);
        for (content, expected) in [
            (elf.as_slice(), "it is a program for aarch64"),
            (b"\x7fELF", "it is a damaged program"),
            (b"MZ\x90", "it is a Windows program"),
            (b"\xcf\xfa\xed\xfe", "it is a macOS program"),
            (b"PK\x03\x04", "it is a zip archive"),
            (b"", "it is empty"),
            (b"hello", "it is not a program"),
        ] {
            let text = explained(content, Errno::ENOEXEC);
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn a_missing_interpreter_is_not_a_missing_file() {
        let text = explained(b"#!/nowhere/python3\nprint()", Errno::ENOENT);
        assert!(text.contains("`/nowhere/python3`"), "{text}");
        let text = explained(b"\x7fELF", Errno::ENOENT);
        assert!(text.contains("loader"), "{text}");
        let text =
            explain_start_error(Path::new("/nowhere/plugin"), &io::Error::from(Errno::ENOENT));
        assert!(text.contains("no such file"), "{text}");
    }
}
