//! The key provider `age`: public keys to encrypt to, and the identities that decrypt, in the age format
//! with X25519 keys.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::OnceLock;

use age::x25519::{Identity, Recipient};
use age::{DecryptError, Decryptor, Encryptor};
use formwork_core::disk::read_named_text;

/// The environment variable with identities, if the block names none.
pub(super) const IDENTITY: &str = "FORMWORK_AGE_IDENTITY";

/// The environment variable with the file of identities, if the block names none.
pub(super) const IDENTITY_FILE: &str = "FORMWORK_AGE_IDENTITY_FILE";

/// The most bytes of a file of identities.
const MAX_IDENTITIES: u64 = 1 << 20;

/// Public keys and identities.
pub(super) struct Age {
    /// The address of the key provider, as messages name it.
    pub(super) address: String,
    recipients: Vec<Recipient>,
    source: IdentitySource,
    /// The identities, read when the first file is decrypted.
    identities: OnceLock<Result<Vec<Identity>, String>>,
}

/// The place of the identities.
pub(super) enum IdentitySource {
    /// There are none.
    None,
    /// Lines of text, from an argument or a variable of that name.
    Text { name: String, text: String },
    /// A file.
    File(PathBuf),
}

/// Why a file is not decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AgeError {
    /// It was encrypted to others.
    #[error("{0}")]
    NoIdentity(String),
    /// It is not in the age format, or was changed.
    #[error("the encrypted bytes were changed or cut off")]
    Damaged,
}

impl Age {
    /// Makes the key provider of its arguments.
    ///
    /// # Errors
    /// When a recipient is none. The text has no final period.
    pub(super) fn new(
        address: String,
        recipients: &[String],
        source: IdentitySource,
    ) -> Result<Self, String> {
        let parsed = recipients.iter().map(|text| {
            Recipient::from_str(text.trim()).map_err(|_| {
                format!(
                    "{text:?} in \"recipients\" is no public key of age: it begins with \"age1\", as age-keygen prints it"
                )
            })
        });
        let recipients: Vec<Recipient> = parsed.collect::<Result<_, _>>()?;
        Ok(Self { address, recipients, source, identities: OnceLock::new() })
    }

    /// The public keys, sorted and each once.
    pub(super) fn recipients(&self) -> Vec<String> {
        let mut names: Vec<String> = self.recipients.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Encrypts to all recipients.
    ///
    /// # Errors
    /// When the library fails. The text has no final period.
    pub(super) fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        let recipients = self.recipients.iter().map(|recipient| recipient as &dyn age::Recipient);
        let failed = || format!("{} cannot encrypt", self.address);
        let encryptor = Encryptor::with_recipients(recipients).map_err(|_| failed())?;
        let mut sealed = Vec::new();
        let mut writer = encryptor.wrap_output(&mut sealed).map_err(|_| failed())?;
        writer.write_all(plain).map_err(|_| failed())?;
        writer.finish().map_err(|_| failed())?;
        Ok(sealed)
    }

    /// Decrypts the output of [`Age::encrypt`].
    ///
    /// # Errors
    /// When no identity fits, or the bytes were changed.
    pub(super) fn decrypt(&self, sealed: &[u8]) -> Result<Vec<u8>, AgeError> {
        let decryptor = Decryptor::new_buffered(sealed).map_err(|_| AgeError::Damaged)?;
        let identities = self.identities().map_err(AgeError::NoIdentity)?;
        let identities = identities.iter().map(|identity| identity as &dyn age::Identity);
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

    fn identities(&self) -> Result<&[Identity], String> {
        let read = self.identities.get_or_init(|| {
            let (name, text) = match &self.source {
                IdentitySource::None => return Err(format!("{} has no identity", self.address)),
                IdentitySource::Text { name, text } => (name.clone(), text.clone()),
                IdentitySource::File(path) => {
                    let text = read_named_text(path, MAX_IDENTITIES).map_err(|error| {
                        format!("the identities of {}: {}: {error}", self.address, path.display())
                    })?;
                    (path.display().to_string(), text)
                }
            };
            parse(&text)
                .map_err(|reason| format!("the identities of {}: {name}: {reason}", self.address))
        });
        read.as_deref().map_err(Clone::clone)
    }
}

/// Reads identities, one a line, between comments and empty lines. No message shows a line.
fn parse(text: &str) -> Result<Vec<Identity>, String> {
    let mut identities = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let identity = Identity::from_str(line).map_err(|_| {
            format!(
                "line {} is no identity of age: it begins with \"AGE-SECRET-KEY-1\", as age-keygen prints it, and is not encrypted",
                at + 1
            )
        })?;
        identities.push(identity);
    }
    if identities.is_empty() {
        return Err("it has no identity".to_owned());
    }
    Ok(identities)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    /// Two identities with their recipients, and a file that another implementation of the format
    /// encrypted to both.
    const IDENTITIES: [(&str, &str); 2] = [
        (
            "AGE-SECRET-KEY-1QCWV2QH957T5FCJDJSMYJU9S2WEUW0GU69SCRM9RUWKYQYWJWMMQCKJH0F",
            "age108a5p9y9zgyv9temkewvtw4nhha7rznazeqlyj2uv44ghu8r853sfwhmst",
        ),
        (
            "AGE-SECRET-KEY-1T8349WJX4QMU5K6ULF4477EMDCPSAVTXV6P9A3WV9F3WUPMHL0MQDYXRS3",
            "age1w9m9hana4s9kkerg4rthnjd534ymlmw3vnzm2gadjmxc34ga4fdsl5tv3c",
        ),
    ];
    const FILE: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBETkp6ZU9nazFjejRWSnlqT09MNzJyaUppZXF1SEtQZGZFNkVZYzVGS1ZnCnIzZEJPZE4yNnFldk8reFNKRFRZQlRpeDhOeEM0N0lxekpZdkRGTkVaTkEKLT4gWDI1NTE5IHVvMVo1ZVNiVktJQVRNdlEvV21GYVdsaXcyNHJjcUIwVmIyeWdXU1lLQTAKM1Z1ZXU4aXh1SU84b21URmFLQm95emRlNzJENEtkZDVZZGlDT2VXT1BJRQotLS0gN1JXZUNUbDdYMGtibm1mTXQwSmI0WGVIUHZDR1kycW4rSEt6WE5rNG9QZwrzLqFOOEPI+mG52jcZwVKNRqp1zeLBRJ0Jv7shYZUUlQiivUVIHIHKV97pHUbD34pCXJhUqgjQj27r";

    fn keys(recipients: &[&str], identities: &str) -> Age {
        let recipients: Vec<String> = recipients.iter().map(|&text| text.to_owned()).collect();
        let (name, text) = ("it".to_owned(), identities.to_owned());
        Age::new("key_provider.age.k".to_owned(), &recipients, IdentitySource::Text { name, text })
            .unwrap()
    }

    #[test]
    fn files_of_another_implementation_are_decrypted_by_each_recipient() {
        let file = BASE64_STANDARD.decode(FILE).unwrap();
        for (identity, recipient) in IDENTITIES {
            let keys = keys(&[recipient], &format!("# a comment\n\n {identity} \n"));
            assert_eq!(keys.decrypt(&file).unwrap(), b"hunter2 of another program");
            assert_eq!(keys.recipients(), [recipient]);
        }
    }

    #[test]
    fn only_recipients_decrypt_and_changes_are_noticed() {
        let [(first, to_first), (second, to_second)] = IDENTITIES;
        let sealed = keys(&[to_first], first).encrypt(b"hunter2").unwrap();
        assert_eq!(
            keys(&[to_second], &format!("{second}\n{first}")).decrypt(&sealed).unwrap(),
            b"hunter2"
        );
        let refused = keys(&[to_first], second).decrypt(&sealed).unwrap_err();
        assert_eq!(refused.to_string(), "key_provider.age.k has no identity of a recipient");
        for at in [0, sealed.len() / 2, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(keys(&[to_first], first).decrypt(&changed).is_err(), "{at}");
        }
        assert_eq!(keys(&[to_first], first).decrypt(&sealed[..20]), Err(AgeError::Damaged));
    }

    #[test]
    fn keys_that_are_none_are_reported_without_showing_an_identity() {
        let of = |text: &str| Age::new("k".to_owned(), &[text.to_owned()], IdentitySource::None);
        assert!(of("age1x").err().unwrap().contains("\"age1x\" in \"recipients\""));
        let sealed = keys(&[IDENTITIES[0].1], "").encrypt(b"x").unwrap();
        let fails = |identities: &str| {
            keys(&[IDENTITIES[0].1], identities).decrypt(&sealed).unwrap_err().to_string()
        };
        let broken = &IDENTITIES[0].0[..40];
        let reason = fails(broken);
        assert!(
            reason.contains("it: line 1 is no identity") && !reason.contains(broken),
            "{reason}"
        );
        assert!(fails("# nothing").contains("it has no identity"));
        let none = of(IDENTITIES[0].1).unwrap().decrypt(&sealed).unwrap_err();
        assert_eq!(none.to_string(), "k has no identity");
    }
}
