//! Seals saved plans, so that a plan that was changed, or created elsewhere, is detected before it is
//! applied. The key is set by the caller, or is a random key of the user. `docs/saved-plans.md` explains
//! the reasons.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use formwork_core::disk::create_private_dir;
use formwork_core::plan::plan_file::PlanFileParts;
use formwork_value::codec::hex;
use formwork_value::diag::{Blame, Message};
use formwork_value::{Diagnostic, Diagnostics, Reported};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::messages;

/// The part of a plan file that holds the seal.
pub(super) const SEAL_PART: &str = "seal.json";

/// The block size of SHA-256.
const SHA256_BLOCK_LEN: usize = 64;

/// Minimum length of a user's key file. A shorter file was truncated.
const MIN_USER_KEY_LEN: usize = 32;

/// The sources of the secret that seals plans.
///
/// ```
/// use formwork_operation::saved_plan::SealKeySource;
///
/// // Several machines that have the same secret apply each other's plans.
/// let key = SealKeySource { text: Some("a secret of the team".to_owned()), file: None };
/// ```
#[derive(Clone, Debug, Default)]
pub struct SealKeySource {
    /// The secret itself, from `FORMWORK_PLAN_KEY`, used instead of the user's key.
    pub text: Option<String>,
    /// The file of the user's secret. It is created when the first plan is sealed.
    pub file: Option<PathBuf>,
}

/// A seal of all other parts of a plan file.
#[derive(Serialize, Deserialize)]
struct PlanSeal {
    /// A fingerprint of the key.
    key: String,
    /// The HMAC-SHA-256 of the parts, in hexadecimal.
    mac: String,
}

/// The result of verifying the seal of a saved plan.
///
/// ```
/// use std::path::Path;
///
/// use formwork_operation::saved_plan::{SealKeySource, SealVerdict};
/// use formwork_value::Diagnostics;
///
/// let (mut diags, key) = (Diagnostics::new(), SealKeySource::default());
/// let mut may_be_applied = |verdict: SealVerdict| {
///     verdict.check_may_be_applied(&mut diags, &key, Path::new("plan.out"), true).is_ok()
/// };
/// assert!(may_be_applied(SealVerdict::Own) && may_be_applied(SealVerdict::Foreign));
/// assert!(!may_be_applied(SealVerdict::Changed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealVerdict {
    /// The plan was sealed with the current key, and has not changed.
    Own,
    /// The plan was sealed with the current key, and was changed since then.
    Changed,
    /// The plan was sealed with another key, or is not sealed.
    Foreign,
    /// The plan is sealed, but no key to verify the seal is available.
    Unverified,
    /// The plan has no seal, and no key is available.
    Unsealed,
}

/// Seals the parts of a plan. Does nothing if there is no key and none can be created.
pub(super) fn seal_plan_parts(
    key_source: &SealKeySource,
    parts: &[(&str, &[u8])],
) -> Option<Vec<u8>> {
    let key =
        SecretKey::load_existing(key_source).or_else(|| SecretKey::create_user_key(key_source))?;
    // Sorted by name, which is the order in which the parts are read back.
    let mut sorted = parts.to_vec();
    sorted.sort_by_key(|(name, _)| *name);
    let seal = PlanSeal { key: key.fingerprint(), mac: key.mac_of_parts(sorted.into_iter()) };
    serde_json::to_vec(&seal).ok()
}

/// Removes the seal from the parts of a plan and verifies it.
pub(super) fn check_plan_seal(
    key_source: &SealKeySource,
    parts: &mut PlanFileParts,
) -> SealVerdict {
    // A seal that cannot be read is treated as missing.
    let seal =
        parts.remove(SEAL_PART).and_then(|text| serde_json::from_slice::<PlanSeal>(&text).ok());
    let Some(key) = SecretKey::load_existing(key_source) else {
        return if seal.is_some() { SealVerdict::Unverified } else { SealVerdict::Unsealed };
    };
    let Some(seal) = seal.filter(|seal| seal.key == key.fingerprint()) else {
        return SealVerdict::Foreign;
    };
    let sorted = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    if key.mac_of_parts(sorted) == seal.mac { SealVerdict::Own } else { SealVerdict::Changed }
}

impl SealVerdict {
    /// Refuses to apply a plan that was changed, or that was created elsewhere unless this is
    /// allowed.
    ///
    /// # Errors
    /// Returns an error if the plan is refused.
    pub fn check_may_be_applied(
        self,
        diags: &mut Diagnostics,
        key_source: &SealKeySource,
        path: &Path,
        allow_foreign: bool,
    ) -> Result<(), Reported> {
        match self {
            // If no key can be created, no plan is sealed, and refusing all plans would help no
            // user.
            Self::Own | Self::Unsealed => Ok(()),
            Self::Foreign if allow_foreign => Ok(()),
            Self::Changed => {
                Err(diags.error(self.seal_diagnostic(Diagnostic::error, key_source, path)))
            }
            Self::Foreign => {
                Err(diags.error(self.seal_diagnostic(Diagnostic::error, key_source, path)))
            }
            Self::Unverified => {
                if !allow_foreign {
                    diags.warn(self.seal_diagnostic(Diagnostic::warning, key_source, path));
                }
                Ok(())
            }
        }
    }

    /// The warning for a command that only shows the plan.
    #[must_use]
    pub fn seal_warning(self, key_source: &SealKeySource, path: &Path) -> Option<Diagnostic> {
        match self {
            Self::Own | Self::Unsealed => None,
            _ => Some(self.seal_diagnostic(Diagnostic::warning, key_source, path)),
        }
    }

    fn seal_diagnostic(
        self,
        new_diagnostic: fn(&'static Message, String) -> Diagnostic,
        key_source: &SealKeySource,
        path: &Path,
    ) -> Diagnostic {
        let path = path.display();
        let key = match (&key_source.text, &key_source.file) {
            (Some(_), _) => "the key in FORMWORK_PLAN_KEY".to_owned(),
            (None, Some(file)) => format!("the key of this user, {}", file.display()),
            (None, None) => "a key of this user".to_owned(),
        };
        const SHARED_KEY_REMEDY: &str = "To create plans in one place and apply them in another, set the environment variable FORMWORK_PLAN_KEY to the same secret in both.";
        let (summary, detail) = match self {
            Self::Changed => (
                messages::SAVED_PLAN_WAS_CHANGED,
                format!(
                    "The content of {path} does not match its seal, so it was changed after it was sealed with {key}. Create a new plan."
                ),
            ),
            Self::Unverified => (
                messages::SAVED_PLAN_CANNOT_BE_VERIFIED,
                format!(
                    "{path} is sealed, but no key to verify the seal is available, so a change of the file would not be detected. {SHARED_KEY_REMEDY}"
                ),
            ),
            Self::Foreign | Self::Own | Self::Unsealed => (
                messages::SAVED_PLAN_WAS_MADE_ELSEWHERE,
                format!(
                    "{path} was not sealed with {key}: another user, machine or program created it, or it was changed. A plan determines everything that an apply does with the credentials of this user.\n\n{SHARED_KEY_REMEDY} To apply this plan anyway, review it with \"formwork show\" and use the option -allow-foreign-plan."
                ),
            ),
        };
        new_diagnostic(summary, detail).blamed_on(Blame::Environment)
    }
}

/// A key for seals.
struct SecretKey(Vec<u8>);

impl SecretKey {
    /// Returns the key in the environment, or otherwise the user's key.
    fn load_existing(key_source: &SealKeySource) -> Option<Self> {
        if let Some(text) = &key_source.text {
            return Some(Self(text.as_bytes().to_vec()));
        }
        let key = std::fs::read(key_source.file.as_ref()?).ok()?;
        (key.len() >= MIN_USER_KEY_LEN).then_some(Self(key))
    }

    /// Creates a random key for the user. Another command may create one concurrently.
    fn create_user_key(key_source: &SealKeySource) -> Option<Self> {
        let path = key_source.file.as_ref()?;
        let directory = path.parent()?;
        create_private_dir(directory).ok()?;
        // Temporary files are readable by their owner only.
        let mut file = tempfile::NamedTempFile::new_in(directory).ok()?;
        // A UUID has 122 random bits, so three of them exceed the 256 bits of SHA-256.
        for _ in 0..3 {
            file.write_all(uuid::Uuid::new_v4().as_bytes()).ok()?;
        }
        // Plans sealed with a key that a crash truncated could never be verified.
        file.as_file().sync_all().ok()?;
        if path.exists() {
            // A truncated key is useless.
            file.persist(path).ok()?;
        } else {
            // Another command may have created a key since then, and may have sealed a plan with
            // it.
            drop(file.persist_noclobber(path));
        }
        Self::load_existing(key_source)
    }

    fn fingerprint(&self) -> String {
        // A code over a fixed string identifies the key without revealing it.
        self.hmac_sha256(|hash| hash.update(b"formwork plan key"))[..16].to_owned()
    }

    /// The HMAC of named parts, which must be sorted.
    fn mac_of_parts<'p>(&self, parts: impl Iterator<Item = (&'p str, &'p [u8])>) -> String {
        self.hmac_sha256(|hash| {
            for (name, bytes) in parts {
                // The lengths separate the parts: bytes that move from one part to the next change
                // the code.
                for part in [name.as_bytes(), bytes] {
                    hash.update((part.len() as u64).to_le_bytes());
                    hash.update(part);
                }
            }
        })
    }

    /// HMAC as defined in RFC 2104.
    fn hmac_sha256(&self, message: impl FnOnce(&mut Sha256)) -> String {
        let mut block = [0; SHA256_BLOCK_LEN];
        if self.0.len() > SHA256_BLOCK_LEN {
            // RFC 2104 requires a key that is longer than a block to be hashed first.
            block[..32].copy_from_slice(&Sha256::digest(&self.0));
        } else {
            block[..self.0.len()].copy_from_slice(&self.0);
        }
        let mut inner = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x36));
        message(&mut inner);
        let mut outer = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x5c));
        outer.update(inner.finalize());
        hex::encode(&outer.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_matches_rfc_4231() {
        let check = |key: Vec<u8>, message: &[u8], start: &str| {
            let mac = SecretKey(key).hmac_sha256(|hash| hash.update(message));
            assert!(mac.starts_with(start), "{mac}");
        };
        check(vec![0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b");
        check(
            b"Jefe".to_vec(),
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c7",
        );
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        check(vec![0xaa; 131], long, "60e431591ee0b67f0d8a26aacbf5b77f");
    }

    fn seal_test_parts(key: &SealKeySource) -> PlanFileParts {
        let parts = [("b", &b"two"[..]), ("a", b"one")];
        let seal = seal_plan_parts(key, &parts).unwrap();
        let parts = parts.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
        parts.into_iter().chain([(SEAL_PART.to_owned(), seal)]).collect()
    }

    #[test]
    fn a_plan_of_the_same_user_is_recognised_and_any_change_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let key = SealKeySource { file: Some(directory.path().join("x/plan-key")), text: None };
        let parts = seal_test_parts(&key);
        assert_eq!(check_plan_seal(&key, &mut parts.clone()), SealVerdict::Own);
        assert_eq!(check_plan_seal(&key, &mut seal_test_parts(&key)), SealVerdict::Own);
        for (name, bytes) in &parts {
            let mut changed = parts.clone();
            let bytes = [bytes, &b"x"[..]].concat();
            changed.insert(name.clone(), bytes);
            // A seal that does not match this key may be that of another user.
            let expected =
                if name == SEAL_PART { SealVerdict::Foreign } else { SealVerdict::Changed };
            assert_eq!(check_plan_seal(&key, &mut changed), expected, "{name}");
            let mut changed = parts.clone();
            changed.remove(name);
            assert_eq!(check_plan_seal(&key, &mut changed), expected, "{name}");
        }
        let mut extended_parts = parts.clone();
        extended_parts.insert("c".to_owned(), Vec::new());
        assert_eq!(check_plan_seal(&key, &mut extended_parts), SealVerdict::Changed);
    }

    #[test]
    fn plans_are_accepted_on_machines_with_the_same_key() {
        let directory = tempfile::tempdir().unwrap();
        let user =
            |name: &str| SealKeySource { file: Some(directory.path().join(name)), text: None };
        let shared = |name: &str| SealKeySource { text: Some("secret".to_owned()), ..user(name) };
        let no_key = SealKeySource::default();
        // The second user has a key of their own.
        seal_test_parts(&user("b"));
        for (made_with, applied, expected) in [
            (user("a"), user("b"), SealVerdict::Foreign),
            // This user has no key yet, so the seal cannot be verified.
            (user("a"), user("never planned"), SealVerdict::Unverified),
            (user("a"), no_key.clone(), SealVerdict::Unverified),
            (shared("a"), shared("b"), SealVerdict::Own),
            (shared("a"), user("b"), SealVerdict::Foreign),
            (user("a"), shared("a"), SealVerdict::Foreign),
        ] {
            assert_eq!(check_plan_seal(&applied, &mut seal_test_parts(&made_with)), expected);
        }
        assert_eq!(seal_plan_parts(&no_key, &[]), None);
        assert_eq!(check_plan_seal(&no_key, &mut PlanFileParts::new()), SealVerdict::Unsealed);
        assert_eq!(check_plan_seal(&user("b"), &mut PlanFileParts::new()), SealVerdict::Foreign);
    }

    #[test]
    fn a_truncated_key_is_replaced_and_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan-key");
        std::fs::write(&path, "").unwrap();
        let key = SealKeySource { file: Some(path.clone()), text: None };
        assert_eq!(check_plan_seal(&key, &mut seal_test_parts(&key)), SealVerdict::Own);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
