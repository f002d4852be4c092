//! The key provider `age`: public keys to encrypt to, and the identities that decrypt, in the age format.

mod keys;

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::sync::OnceLock;

use age::{DecryptError, Decryptor, Encryptor};
use formwork_core::disk::read_user_text_file;

use self::keys::{Identity, PublicKey, parse_identities};

/// The environment variable with identities, used if the block specifies none.
pub(super) const IDENTITY_VARIABLE: &str = "FORMWORK_AGE_IDENTITY";

/// The environment variable with the identity file, used if the block specifies none.
pub(super) const IDENTITY_FILE_VARIABLE: &str = "FORMWORK_AGE_IDENTITY_FILE";

/// Maximum size of an identity file in bytes.
const MAX_IDENTITY_FILE_LEN: u64 = 1 << 20;

/// Public keys and identities.
pub(super) struct AgeKeys {
    /// The address of the key provider, for messages.
    pub(super) address: String,
    recipients: Vec<PublicKey>,
    source: IdentitySource,
    /// The identities, which are read when the first file is decrypted.
    identities: OnceLock<Result<Vec<Identity>, String>>,
}

/// The source of the identities.
pub(super) enum IdentitySource {
    /// There are none.
    None,
    /// Lines from an argument or environment variable with this name.
    Text { name: String, text: String },
    /// A file.
    File(PathBuf),
}

/// The reason why a file cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AgeError {
    /// The file was encrypted to other recipients.
    #[error("{0}")]
    NoIdentity(String),
    /// The file is not in the age format, or was changed.
    #[error("the encrypted bytes were changed or truncated")]
    Damaged,
}

impl AgeKeys {
    /// Creates the key provider from its arguments.
    ///
    /// # Errors
    /// Returns an error if a recipient is invalid. The message has no final period.
    pub(super) fn new(
        address: String,
        recipients: &[String],
        source: IdentitySource,
    ) -> Result<Self, String> {
        let recipients = recipients.iter().map(|text| PublicKey::parse(text));
        let recipients: Vec<PublicKey> = recipients.collect::<Result<_, _>>()?;
        Ok(Self { address, recipients, source, identities: OnceLock::new() })
    }

    /// The public keys, sorted and without duplicates.
    pub(super) fn recipients(&self) -> Vec<String> {
        let mut names: Vec<String> = self.recipients.iter().map(PublicKey::to_text).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Encrypts to all recipients.
    ///
    /// # Errors
    /// Returns an error if the library fails. The message has no final period.
    pub(super) fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        let recipients = self.recipients.iter().map(PublicKey::as_recipient);
        let failed = || format!("{} cannot encrypt", self.address);
        let encryptor = Encryptor::with_recipients(recipients).map_err(|_| failed())?;
        let mut sealed = Vec::new();
        let mut writer = encryptor.wrap_output(&mut sealed).map_err(|_| failed())?;
        writer.write_all(plain).map_err(|_| failed())?;
        writer.finish().map_err(|_| failed())?;
        Ok(sealed)
    }

    /// Decrypts the output of [`AgeKeys::encrypt`].
    ///
    /// # Errors
    /// Returns an error if no identity matches, or if the bytes were changed.
    pub(super) fn decrypt(&self, sealed: &[u8]) -> Result<Vec<u8>, AgeError> {
        let decryptor = Decryptor::new_buffered(sealed).map_err(|_| AgeError::Damaged)?;
        let identities = self.load_identities().map_err(AgeError::NoIdentity)?;
        let identities = identities.iter().map(Identity::as_identity);
        let mut reader = decryptor.decrypt(identities).map_err(|error| match error {
            DecryptError::NoMatchingKeys => {
                AgeError::NoIdentity(format!("{} has no identity of a recipient", self.address))
            }
            _ => AgeError::Damaged,
        })?;
        let mut plain = Vec::new();
        reader.read_to_end(&mut plain).map_err(|_| AgeError::Damaged)?;
        Ok(plain)
    }

    /// Checks that an identity can decrypt data that is encrypted to the recipients.
    ///
    /// # Errors
    /// Returns an error if no identity can. The message has no final period.
    pub(super) fn check_identity_decrypts(&self) -> Result<(), String> {
        let sealed = self.encrypt(b"")?;
        self.decrypt(&sealed).map(drop).map_err(|error| error.to_string())
    }

    fn load_identities(&self) -> Result<&[Identity], String> {
        let loaded = self.identities.get_or_init(|| {
            let (name, text) = match &self.source {
                IdentitySource::None => return Err(format!("{} has no identity", self.address)),
                IdentitySource::Text { name, text } => (name.clone(), text.clone()),
                IdentitySource::File(path) => {
                    let text =
                        read_user_text_file(path, MAX_IDENTITY_FILE_LEN).map_err(|error| {
                            format!(
                                "the identities of {}: {}: {error}",
                                self.address,
                                path.display()
                            )
                        })?;
                    (path.display().to_string(), text)
                }
            };
            parse_identities(&text)
                .map_err(|reason| format!("the identities of {}: {name}: {reason}", self.address))
        });
        loaded.as_deref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    /// Two identities with their recipients, and a file that another implementation of the format
    /// encrypted to both.
    const TEST_IDENTITIES: [(&str, &str); 2] = [
        (
            "AGE-SECRET-KEY-1QCWV2QH957T5FCJDJSMYJU9S2WEUW0GU69SCRM9RUWKYQYWJWMMQCKJH0F",
            "age108a5p9y9zgyv9temkewvtw4nhha7rznazeqlyj2uv44ghu8r853sfwhmst",
        ),
        (
            "AGE-SECRET-KEY-1T8349WJX4QMU5K6ULF4477EMDCPSAVTXV6P9A3WV9F3WUPMHL0MQDYXRS3",
            "age1w9m9hana4s9kkerg4rthnjd534ymlmw3vnzm2gadjmxc34ga4fdsl5tv3c",
        ),
    ];
    const ENCRYPTED_FILE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBETkp6ZU9nazFjejRWSnlqT09MNzJyaUppZXF1SEtQZGZFNkVZYzVGS1ZnCnIzZEJPZE4yNnFldk8reFNKRFRZQlRpeDhOeEM0N0lxekpZdkRGTkVaTkEKLT4gWDI1NTE5IHVvMVo1ZVNiVktJQVRNdlEvV21GYVdsaXcyNHJjcUIwVmIyeWdXU1lLQTAKM1Z1ZXU4aXh1SU84b21URmFLQm95emRlNzJENEtkZDVZZGlDT2VXT1BJRQotLS0gN1JXZUNUbDdYMGtibm1mTXQwSmI0WGVIUHZDR1kycW4rSEt6WE5rNG9QZwrzLqFOOEPI+mG52jcZwVKNRqp1zeLBRJ0Jv7shYZUUlQiivUVIHIHKV97pHUbD34pCXJhUqgjQj27r";

    fn new_keys(recipients: &[&str], identities: &str) -> AgeKeys {
        let recipients: Vec<String> = recipients.iter().map(|&text| text.to_owned()).collect();
        let (name, text) = ("it".to_owned(), identities.to_owned());
        AgeKeys::new(
            "key_provider.age.k".to_owned(),
            &recipients,
            IdentitySource::Text { name, text },
        )
        .unwrap()
    }

    #[test]
    fn files_of_another_implementation_are_decrypted_by_each_recipient() {
        let file = BASE64_STANDARD.decode(ENCRYPTED_FILE).unwrap();
        for (identity, recipient) in TEST_IDENTITIES {
            let keys = new_keys(&[recipient], &format!("# a comment\n\n {identity} \n"));
            assert_eq!(keys.decrypt(&file).unwrap(), b"hunter2 of another program");
            assert_eq!(keys.recipients(), [recipient]);
        }
    }

    #[test]
    fn only_recipients_decrypt_and_changes_are_noticed() {
        let [(first, to_first), (second, to_second)] = TEST_IDENTITIES;
        let sealed = new_keys(&[to_first], first).encrypt(b"hunter2").unwrap();
        assert_eq!(
            new_keys(&[to_second], &format!("{second}\n{first}")).decrypt(&sealed).unwrap(),
            b"hunter2"
        );
        let error = new_keys(&[to_first], second).decrypt(&sealed).unwrap_err();
        assert_eq!(error.to_string(), "key_provider.age.k has no identity of a recipient");
        for at in [0, sealed.len() / 2, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(new_keys(&[to_first], first).decrypt(&changed).is_err(), "{at}");
        }
        assert_eq!(new_keys(&[to_first], first).decrypt(&sealed[..20]), Err(AgeError::Damaged));
    }

    #[test]
    fn invalid_keys_are_reported_without_showing_an_identity() {
        let keys_for =
            |text: &str| AgeKeys::new("k".to_owned(), &[text.to_owned()], IdentitySource::None);
        assert!(keys_for("age1x").err().unwrap().contains("\"age1x\" in \"recipients\""));
        let sealed = new_keys(&[TEST_IDENTITIES[0].1], "").encrypt(b"x").unwrap();
        let fails = |identities: &str| {
            new_keys(&[TEST_IDENTITIES[0].1], identities).decrypt(&sealed).unwrap_err().to_string()
        };
        let broken = &TEST_IDENTITIES[0].0[..40];
        let reason = fails(broken);
        assert!(
            reason.contains("it: line 1 is not an identity") && !reason.contains(broken),
            "{reason}"
        );
        assert!(fails("# nothing").contains("it has no identity"));
        let no_identity_error =
            keys_for(TEST_IDENTITIES[0].1).unwrap().decrypt(&sealed).unwrap_err();
        assert_eq!(no_identity_error.to_string(), "k has no identity");
    }

    /// A key of ssh-keygen with its public key, another key, a key with a passphrase, and a file that the
    /// Go implementation encrypted to the first key and to the first identity above.
    const SSH_PRIVATE_KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACB2HMdC0DpacB/HPqXxqeB870yqulzF5LlS4b8QtpTzJwAAAJCeUbennlG3
pwAAAAtzc2gtZWQyNTUxOQAAACB2HMdC0DpacB/HPqXxqeB870yqulzF5LlS4b8QtpTzJw
AAAEAS1pukX4IYOxdF/XYDLh8iOeNHMi3hXCXl0HTSZc/ZUnYcx0LQOlpwH8c+pfGp4Hzv
TKq6XMXkuVLhvxC2lPMnAAAADHRlYW1AZXhhbXBsZQE=
-----END OPENSSH PRIVATE KEY-----";
    const SSH_RECIPIENT: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHYcx0LQOlpwH8c+pfGp4HzvTKq6XMXkuVLhvxC2lPMn";
    const OTHER_SSH_PRIVATE_KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACDkEe1x8ILWPrnLePcmXTCpsne+zxD1m3AWgYrbpca+cAAAAIgyJRU1MiUV
NQAAAAtzc2gtZWQyNTUxOQAAACDkEe1x8ILWPrnLePcmXTCpsne+zxD1m3AWgYrbpca+cA
AAAEA6uJRhnv1RURxL84aoFCwcbv29gwROJsdmp9PDaFBQFuQR7XHwgtY+uct49yZdMKmy
d77PEPWbcBaBitulxr5wAAAABW90aGVy
-----END OPENSSH PRIVATE KEY-----";
    const SSH_KEY_WITH_PASSPHRASE: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABBbfW1G81
7Zbv6Ve9aoG80ZAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIO43wR227sM4DKIt
nMdB0b35AlepLaxkkBvxS58vfOhFAAAAkI564MpvPc4NfpcpIbwxe3DJ87VenSC2IEvGve
TMzZyqu5U5YYRO1f/i/ikBKolW2caOwFofTxcolDALS1nWv0wY12N7DBkXoY9MT1qBGqrv
phLrAmp+OhKmycVThWXpju4Mm6XioGqtjKMoaXkLPsJrfVjPzyjieswmXz8ELU7Ra3M1Kn
ijZ2EYD3mX88I7UQ==
-----END OPENSSH PRIVATE KEY-----";
    const FILE_ENCRYPTED_TO_SSH: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBTSXFNb1hPWXYrY3BVTFIzMDQ4WFNjL2xDQmpVbzU2THpxNThNTTN0cjFJClF0dWdUUjJjU3M0bEhnbVRMaWVkeUxlaVB3NWQ3aG8xU1FOekdtRGdMcXcKLT4gc3NoLWVkMjU1MTkgd0Z3b3p3IHQ1dEVLS29CYk4xNFBLWURucXJuQnBkK1VnYlpNbHZHa2ZRcnBURzVIaTAKQy80YzExMVdYMm9ZQitSVGw0c2xHREhLZkUxZnZkUDBjOCt6d1NiQ3FuSQotLS0gMmJQd0w1Zm5teGtWV2kxNFh3MHZKOWVxazRvcG8xZXZFSkJHN0hOMGJQYwprzMp/4mCGJ6eJ2byaeak8iXyZ+Bq1zTTczSZ3p5/CPfry+vdgHotNflNLwagF0wo=";

    #[test]
    fn keys_of_ssh_and_of_age_decrypt_together() {
        let file = BASE64_STANDARD.decode(FILE_ENCRYPTED_TO_SSH).unwrap();
        let both = [SSH_RECIPIENT, TEST_IDENTITIES[0].1];
        for identity in [
            SSH_PRIVATE_KEY.to_owned(),
            format!("# a comment\n{OTHER_SSH_PRIVATE_KEY}\n\n{SSH_PRIVATE_KEY}\n"),
        ] {
            let keys = new_keys(&[&format!(" {SSH_RECIPIENT} team@example")], &identity);
            assert_eq!(keys.decrypt(&file).unwrap(), b"hunter2 over ssh");
            assert_eq!(keys.recipients(), [SSH_RECIPIENT]);
            assert_eq!(keys.check_identity_decrypts(), Ok(()));
        }
        let sealed = new_keys(&both, "").encrypt(b"hunter2").unwrap();
        for identity in [
            SSH_PRIVATE_KEY,
            TEST_IDENTITIES[0].0,
            &format!("{}\n{OTHER_SSH_PRIVATE_KEY}", TEST_IDENTITIES[0].0),
        ] {
            assert_eq!(new_keys(&both, identity).decrypt(&sealed).unwrap(), b"hunter2");
        }
        let error = new_keys(&both, OTHER_SSH_PRIVATE_KEY).decrypt(&sealed).unwrap_err();
        assert_eq!(error.to_string(), "key_provider.age.k has no identity of a recipient");
    }

    #[test]
    fn keys_of_ssh_that_are_not_supported_are_refused_by_type() {
        let reason = |identity: &str| {
            new_keys(&[SSH_RECIPIENT], identity)
                .check_identity_decrypts()
                .unwrap_err()
                .replace(SSH_PRIVATE_KEY, "")
        };
        assert!(reason(SSH_KEY_WITH_PASSPHRASE).contains("the key in line 1: it is encrypted"));
        let cut = &SSH_PRIVATE_KEY[..SSH_PRIVATE_KEY.len() / 2];
        assert!(
            reason(&format!("\n{cut}")).contains("the key in line 2: it is not an SSH private key")
        );
        let keys_for =
            |text: &str| AgeKeys::new("k".to_owned(), &[text.to_owned()], IdentitySource::None);
        let rsa_error =
            keys_for("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ team@example").err().unwrap();
        assert!(rsa_error.contains("RSA key, which is not supported"), "{rsa_error}");
        assert!(
            keys_for("ssh-ed25519 AAAA").err().unwrap().contains("not an age or SSH public key")
        );
        let secret_error = keys_for(TEST_IDENTITIES[0].0).err().unwrap();
        assert!(
            secret_error.starts_with("a value in") && !secret_error.contains(TEST_IDENTITIES[0].0),
            "{secret_error}"
        );
    }
}
