//! Allowed and rejected contents of archives, with small limits instead of the real ones.

use super::testing::{gzip, tar, zip};
use super::*;

const LIMITS: UnpackLimits = UnpackLimits {
    archive: 1 << 20,
    unpacked: 100_000,
    ratio: 10,
    any_ratio: 1_000,
    entries: 10,
    path: 40,
    links: true,
};

fn check(format: ArchiveFormat, bytes: &[u8]) -> Result<PathBuf, String> {
    let directory = tempfile::tempdir().unwrap();
    let (archive, into) = (directory.path().join("archive"), directory.path().join("into"));
    std::fs::write(&archive, bytes).unwrap();
    unpack_archive(&archive, format, &into, &LIMITS).map_err(|error| error.to_string())?;
    Ok(directory.keep().join("into"))
}

#[test]
fn archive_bombs_are_refused_with_the_exceeded_limit() {
    let zeros = "\0".repeat(50_000);
    // Bytes that are hardly compressible, so that only their size counts.
    let noise: String =
        (0..60_000_u32).map(|n| char::from(b'!' + (n * (n % 911) / 7 % 90) as u8)).collect();
    let names: Vec<_> = (0..11).map(|n| format!("f{n}")).collect();
    let names_without_content: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let long = "d/".repeat(20) + "x";
    let deep = "d/".repeat(11) + "x";
    let table: [(&[(&str, &str)], &str); 5] = [
        (&[("zeros", &zeros)], "the limit is 10 times the size of the archive"),
        (&[("a", &noise), ("b", &noise)], "the limit is 100000 bytes unpacked"),
        (&names_without_content, "the limit is 10 files, directories and links"),
        (&[(&deep, "")], "the limit is 10 files, directories and links"),
        (&[(&long, "")], "the limit is 40 bytes in the path of one file"),
    ];
    for (entries, part) in table {
        for (format, bytes) in
            [(ArchiveFormat::Zip, zip(entries)), (ArchiveFormat::TarGzip, gzip(&tar(entries)))]
        {
            let error = check(format, &bytes).unwrap_err();
            assert!(error.contains(part), "{format:?}: {error}");
        }
    }
}

/// A tar archive of one entry after headers of another type.
fn headed(kind: tar::EntryType, size: usize) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_cksum();
    archive.append(&header, &*vec![b'a'; size]).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    header.set_cksum();
    archive.append_data(&mut header, "main.tf", &b""[..]).unwrap();
    archive.into_inner().unwrap()
}

#[test]
fn names_and_attributes_of_an_entry_are_limited_before_they_are_held_in_memory() {
    use tar::EntryType as Kind;
    for kind in [Kind::GNULongName, Kind::GNULongLink, Kind::XHeader, Kind::XGlobalHeader] {
        let error = check(ArchiveFormat::TarGzip, &gzip(&headed(kind, 2 << 20))).unwrap_err();
        let limit = "the limit is 1048576 bytes of names and attributes of one entry";
        // The decoder treats a global header as content, so the limit on all bytes applies.
        let decoded_limit = "bytes decoded";
        assert!(error.contains(limit) || error.contains(decoded_limit), "{kind:?}: {error}");
    }
}

#[test]
fn an_archive_cannot_allocate_more_memory_than_the_limit() {
    // A block of xz with a filter that needs a dictionary of 1.5 GiB, which `xz
    // --lzma2=dict=1536MiB` writes.
    let bytes = [
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
        0x01, 0x25, 0x00, 0x00, 0x00, 0x3b, 0x78, 0x7b, 0x41,
    ];
    let error = check(ArchiveFormat::TarXz, &bytes).unwrap_err();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn links_within_the_package_are_kept_and_those_that_leave_it_refused() {
    let inner_links = [("a/b.tf", "x"), ("c/d.tf", "-> ../a/b.tf")];
    let leaving_links: [&[(&str, &str)]; 3] =
        [&[("a", "-> ../secret")], &[("a", "-> /etc/passwd")], &[("../a", "x")]];
    for (format, pack) in
        [(ArchiveFormat::Zip, zip as fn(&[(&str, &str)]) -> Vec<u8>), (ArchiveFormat::Tar, tar)]
    {
        let into = check(format, &pack(&inner_links)).unwrap();
        assert_eq!(std::fs::read_to_string(into.join("c/d.tf")).unwrap(), "x");
        std::fs::remove_dir_all(into.parent().unwrap()).unwrap();
        for entries in leaving_links {
            let error = check(format, &pack(entries)).unwrap_err();
            assert!(error.contains("which is outside of the package"), "{entries:?}: {error}");
        }
    }
}

#[test]
fn damaged_archives_cause_errors_and_no_panic() {
    let archives = [zip(&[("a", "x")]), tar(&[("a", "x")]), gzip(&tar(&[("a", "x")]))];
    let formats = [
        ArchiveFormat::Zip,
        ArchiveFormat::Tar,
        ArchiveFormat::TarGzip,
        ArchiveFormat::TarBzip2,
        ArchiveFormat::TarXz,
    ];
    for format in formats {
        assert!(check(format, b"hello, I am no archive").is_err(), "{format:?}");
        for bytes in &archives {
            for end in [1, bytes.len() / 3, bytes.len() / 2] {
                // A truncated archive may still contain complete files. It must not cause a panic.
                drop(check(format, &bytes[..end]));
            }
        }
    }
}
