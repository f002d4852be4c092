//! Plan files whole, torn, foreign and hostile.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::*;

const TEST_PARTS: [(&str, &[u8]); 3] =
    [("plan", b"changes"), ("state", b"{\"version\":4}"), ("config/main.tf", b"")];

fn write_test_plan() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan");
    write_plan_file(&path, &TEST_PARTS).unwrap();
    (directory, path)
}

/// Packs any parts, without a manifest of ours.
fn pack_without_manifest(path: &Path, parts: &[(&str, &[u8])]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn a_written_plan_is_readable_only_by_its_owner() {
    let (directory, path) = write_test_plan();
    let expected: PlanFileParts =
        TEST_PARTS.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    assert_eq!(read_plan_file(&path).unwrap(), expected);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(directory.path().read_dir().unwrap().count(), 1, "nothing else is left over");
}

#[test]
fn equal_plans_have_equal_bytes() {
    let ((_a, a), (_b, b)) = (write_test_plan(), write_test_plan());
    assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
}

#[test]
fn a_file_truncated_anywhere_is_refused() {
    let (_dir, path) = write_test_plan();
    let bytes = std::fs::read(&path).unwrap();
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let error = read_plan_file(&path).unwrap_err();
        let expected = match cut {
            // The signature of a zip file has four bytes.
            0..4 => matches!(error, PlanFileError::NotAPlan(_)),
            _ => matches!(error, PlanFileError::Damaged { .. }),
        };
        assert!(expected, "cut at {cut}: {error:?}");
    }
}

#[test]
fn a_changed_byte_is_never_read_as_another_plan() {
    let (_dir, path) = write_test_plan();
    let (bytes, parts) = (std::fs::read(&path).unwrap(), read_plan_file(&path).unwrap());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x01;
        std::fs::write(&path, &changed).unwrap();
        if let Ok(read) = read_plan_file(&path) {
            let contents = |parts: &PlanFileParts| parts.values().cloned().collect::<Vec<_>>();
            assert_eq!(contents(&read).len(), contents(&parts).len(), "byte {at}");
            for (name, bytes) in &read {
                // A name may have changed, but never what a known name holds.
                assert!(!parts.contains_key(name) || parts[name] == *bytes, "byte {at}");
            }
        }
    }
}

#[test]
fn files_that_are_not_our_plans_are_identified() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan");
    let name =
        |error: &PlanFileError| format!("{error:?}").split(['(', ' ']).next().unwrap().to_owned();
    assert_eq!(name(&read_plan_file(&path).unwrap_err()), "Io");
    assert_eq!(name(&read_plan_file(directory.path()).unwrap_err()), "Directory");
    std::fs::write(&path, "junk").unwrap();
    assert_eq!(name(&read_plan_file(&path).unwrap_err()), "NotAPlan");
    pack_without_manifest(&path, &[("notes.txt", b"")]);
    assert_eq!(name(&read_plan_file(&path).unwrap_err()), "NotAPlan");
    // Parts that a plan of Terraform has.
    pack_without_manifest(&path, &[("tfplan", b""), ("tfstate", b"")]);
    let error = read_plan_file(&path).unwrap_err();
    assert_eq!(name(&error), "Foreign");
    let diagnostic = error.diagnostic("plan");
    assert_eq!(diagnostic.summary, "Failed to load \"plan\" as a plan file");
    let start = format!("The file {} is a plan made by Terraform. Plans", path.display());
    assert!(diagnostic.detail.starts_with(&start), "{}", diagnostic.detail);
    pack_without_manifest(
        &path,
        &[(MANIFEST_PART_NAME, b"{\"format\":2,\"program\":\"9.0.0\",\"more\":1}")],
    );
    assert_eq!(name(&read_plan_file(&path).unwrap_err()), "OtherVersion");
    pack_without_manifest(&path, &[(MANIFEST_PART_NAME, b"{}")]);
    assert_eq!(name(&read_plan_file(&path).unwrap_err()), "Damaged");
}

#[test]
fn a_file_with_too_large_unpacked_content_is_refused() {
    let (_dir, path) = write_test_plan();
    // With the manifest there are four.
    let few = ReadLimits { n_parts: 3, ..READ_LIMITS };
    let small = ReadLimits { n_bytes: 30, ..READ_LIMITS };
    for limits in [few, small] {
        let error = unpack_parts(&path, File::open(&path).unwrap(), &limits).unwrap_err();
        assert!(matches!(error, PlanFileError::TooLarge { .. }), "{error:?}");
    }
}

#[test]
fn a_file_crafted_to_exhaust_memory_is_refused_early() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("plan");
    // Zeros: little on the disk, and much in memory.
    let packed_well = vec![0; 40 << 20];
    pack_without_manifest(&path, &[("plan", &packed_well)]);
    let length = path.metadata().unwrap().len();
    let diagnostic = read_plan_file(&path).unwrap_err().diagnostic("plan");
    let limit = format!("holds more than {} bytes, which is ", MAX_FULLY_COMPRESSED_LEN * 200);
    assert!(
        length < MAX_FULLY_COMPRESSED_LEN && diagnostic.detail.contains(&limit),
        "{length}: {}",
        diagnostic.detail
    );
}

#[test]
fn a_failed_write_keeps_the_earlier_plan() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing").join("plan");
    let error = write_plan_file(&missing, &TEST_PARTS).unwrap_err();
    assert_eq!(error.diagnostic("plan").summary, "Failed to write plan file");
}

#[test]
fn a_link_is_kept_and_a_device_is_written_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let (target, link) = (directory.path().join("target"), directory.path().join("link"));
    std::fs::write(&target, "before").unwrap();
    std::os::unix::fs::symlink("target", &link).unwrap();
    write_plan_file(&link, &TEST_PARTS).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(read_plan_file(&target).is_ok());

    // Through a link, so that even an error would not touch the device.
    let device = directory.path().join("device");
    std::os::unix::fs::symlink("/dev/null", &device).unwrap();
    write_plan_file(&device, &TEST_PARTS).unwrap();
    assert!(device.symlink_metadata().unwrap().is_symlink());
    assert!(!std::fs::metadata(&device).unwrap().is_file());
    let full = directory.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    assert!(matches!(write_plan_file(&full, &TEST_PARTS), Err(PlanFileError::Io { .. })));
}
