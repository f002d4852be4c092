//! The files of a release of the sound provider.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use formwork_conformance::Release;
use formwork_tests::seeded::ReleaseBug;
use sha2::{Digest as _, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const BASE: &str = "terraform-provider-sound_1.2.3";

/// Makes a release in a directory below `parent`. It has a signature, which is not verified without a key.
pub(crate) fn make(parent: &Path, bug: Option<ReleaseBug>) -> Release {
    let directory = parent.join("release");
    fs::create_dir_all(&directory).expect("a directory can be made");
    let archive = format!("{BASE}_linux_amd64.zip");
    let file = File::create(directory.join(&archive)).expect("a file can be made");
    let mut zip = ZipWriter::new(file);
    let options = SimpleFileOptions::default().unix_permissions(0o755);
    zip.start_file("terraform-provider-sound_v1.2.3", options).expect("an archive takes a file");
    zip.write_all(b"the program").expect("the file is open");
    zip.finish().expect("the archive is complete");
    let protocols = match bug {
        Some(ReleaseBug::ForeignProtocol) => "\"4.0\"",
        _ => "\"5.0\", \"6.0\"",
    };
    let manifest = format!("{BASE}_manifest.json");
    let text =
        format!("{{\"version\": 1, \"metadata\": {{\"protocol_versions\": [{protocols}]}}}}");
    fs::write(directory.join(&manifest), text).expect("a file can be made");
    let sums: String = [archive.clone(), manifest]
        .iter()
        .map(|name| {
            let bytes = fs::read(directory.join(name)).expect("it was written");
            let sum = Sha256::digest(bytes);
            let digits: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{digits}  {name}\n")
        })
        .collect();
    fs::write(directory.join(format!("{BASE}_SHA256SUMS")), sums).expect("a file can be made");
    fs::write(directory.join(format!("{BASE}_SHA256SUMS.sig")), "x").expect("a file can be made");
    if bug == Some(ReleaseBug::StaleChecksum) {
        let file = File::options().append(true).open(directory.join(archive));
        file.and_then(|mut file| file.write_all(b"x")).expect("the archive is there");
    }
    Release { directory, key: None, verify: |_, _, _| Ok(()) }
}
