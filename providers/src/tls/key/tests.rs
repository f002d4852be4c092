//! Keys in all their forms, and what `openssl` and `ssh-keygen` think of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Curve, KeyKind, PrivateKey};
use crate::test_program::run_test_program;

/// One key of each kind.
fn keys() -> Vec<PrivateKey> {
    let kinds = [KeyKind::Rsa(2048), KeyKind::Rsa(1032), KeyKind::Ed25519].into_iter();
    let kinds = kinds.chain(Curve::ALL.map(KeyKind::Ecdsa));
    kinds.map(|kind| PrivateKey::generate(kind).unwrap()).collect()
}

#[test]
fn a_key_is_parsed_from_each_of_its_formats() {
    for key in keys() {
        let id = key.public_forms().unwrap().id;
        let same = |back: PrivateKey| {
            assert_eq!(back.public_forms().unwrap().id, id, "{}", key.algorithm());
            assert_eq!(back.to_pem().unwrap(), key.to_pem().unwrap());
        };
        same(PrivateKey::from_pem(&key.to_pem().unwrap()).unwrap());
        same(PrivateKey::from_pem(&key.to_pkcs8().unwrap()).unwrap());
        let openssh = key.to_openssh().unwrap();
        if openssh.is_empty() {
            assert!(matches!(key, PrivateKey::Ecdsa(Curve::P224, _)));
        } else {
            same(PrivateKey::from_openssh(&openssh).unwrap());
        }
    }
}

#[test]
fn openssl_reads_keys_and_verifies_signatures() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for key in keys() {
        let public = key.public_forms().unwrap().pem;
        for form in [key.to_pem().unwrap(), key.to_pkcs8().unwrap()] {
            let output = run_test_program(path, &["openssl", "pkey", "-pubout"], &form);
            assert!(output.is_none_or(|output| output == public));
            run_test_program(path, &["openssl", "pkey", "-check", "-noout"], &form);
        }
        fs::write(path.join("public"), &public).unwrap();
        fs::write(path.join("signature"), key.sign(b"message").unwrap()).unwrap();
        fs::write(path.join("message"), "message").unwrap();
        let digest = match &key {
            PrivateKey::Ed25519(..) => "-rawin",
            PrivateKey::Ecdsa(Curve::P384, _) => "-digest=sha384",
            PrivateKey::Ecdsa(Curve::P521, _) => "-digest=sha512",
            _ => "-digest=sha256",
        };
        let command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "public"];
        let digest: Vec<_> = digest.split('=').collect();
        let rest = ["-rawin", "-sigfile", "signature", "-in", "message"];
        run_test_program(path, &[&command[..], &digest[..], &rest[..]].concat(), "");
    }
}

#[test]
fn ssh_keygen_reads_keys_and_agrees_about_fingerprints() {
    let directory = tempfile::tempdir().unwrap();
    let (path, file) = (directory.path(), directory.path().join("key"));
    for key in keys() {
        let openssh = key.to_openssh().unwrap();
        if openssh.is_empty() {
            continue;
        }
        fs::write(&file, &openssh).unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        let public = key.public_forms().unwrap();
        let output = run_test_program(path, &["ssh-keygen", "-y", "-f", "key"], "");
        assert!(output.is_none_or(|output| output.trim() == public.openssh.trim()));
        for (digest, own_fingerprint) in
            [("md5", public.fingerprint_md5), ("sha256", public.fingerprint_sha256)]
        {
            let output =
                run_test_program(path, &["ssh-keygen", "-l", "-E", digest, "-f", "key"], "");
            assert!(
                output.is_none_or(|output| output.contains(&own_fingerprint)),
                "{own_fingerprint}"
            );
        }
    }
}

#[test]
fn keys_of_other_programs_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let commands: [&[&str]; 4] = [
        &["openssl", "genrsa", "-traditional", "1024"],
        &["openssl", "ecparam", "-name", "secp384r1", "-genkey", "-noout"],
        &["openssl", "genpkey", "-algorithm", "ed25519"],
        &["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-224"],
    ];
    for command in commands {
        let Some(pem) = run_test_program(path, command, "") else { return };
        let key = PrivateKey::from_pem(&pem).unwrap();
        let public = run_test_program(path, &["openssl", "pkey", "-pubout"], &pem).unwrap();
        assert_eq!(key.public_forms().unwrap().pem, public);
    }
    let kinds = [("rsa", "1024"), ("ecdsa", "521"), ("ecdsa", "521"), ("ed25519", "256")];
    for (index, (algorithm, bits)) in kinds.into_iter().enumerate() {
        let file = path.join(index.to_string());
        let name = file.to_str().unwrap();
        run_test_program(
            path,
            &["ssh-keygen", "-q", "-t", algorithm, "-b", bits, "-N", "", "-f", name],
            "",
        );
        let Ok(text) = fs::read_to_string(&file) else { return };
        let key = PrivateKey::from_openssh(&text).unwrap();
        let public = fs::read_to_string(file.with_extension("pub")).unwrap();
        assert!(public.starts_with(key.public_forms().unwrap().openssh.trim_end()));
    }
}

#[test]
fn invalid_keys_are_refused() {
    let table = [
        ("", "failed to decode PEM block"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "label \"CERTIFICATE\""),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", ""),
    ];
    for (text, expected) in table {
        let error = PrivateKey::from_pem(text).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(PrivateKey::from_openssh("x").is_err());
    let sizes = [0, 512, 1_000_000].map(KeyKind::Rsa);
    assert!(sizes.into_iter().all(|kind| PrivateKey::generate(kind).is_err()));
}
