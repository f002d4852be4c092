//! Valid and malicious archives for tests.

use std::io::Write as _;

/// Creates a zip archive. Content that begins with an arrow is the target of a link.
pub(crate) fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, text) in entries {
        match text.strip_prefix("-> ") {
            Some(target) => archive.add_symlink(*name, target, options).unwrap(),
            None => {
                archive.start_file(*name, options).unwrap();
                archive.write_all(text.as_bytes()).unwrap();
            }
        }
    }
    archive.finish().unwrap().into_inner()
}

/// Creates a tar archive. Names are written unchanged, including malicious ones.
pub(crate) fn tar(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_mode(0o644);
        let text = match text.strip_prefix("-> ") {
            Some(target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
                ""
            }
            None => text,
        };
        header.set_size(text.len() as u64);
        header.set_cksum();
        archive.append(&header, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Compresses bytes with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
