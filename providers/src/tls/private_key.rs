//! `tls_private_key`.

mod ephemeral;

pub(super) use ephemeral::EphemeralPrivateKey;

use formwork_sdk::prelude::*;

use super::key::{Curve, KeyError, KeyKind, PrivateKey, RSA_BITS_RANGE};

/// Arguments of a key.
#[derive(Model)]
pub(super) struct KeyArguments {
    /// The algorithm: `RSA`, `ECDSA` or `ED25519`.
    #[attr(required, replace, one_of = ["RSA", "ECDSA", "ED25519"])]
    algorithm: String,
    /// Number of bits of a key of the algorithm `RSA`.
    #[attr(default = 2048, replace)]
    rsa_bits: i64,
    /// The curve of a key of the algorithm `ECDSA`: `P224`, `P256`, `P384` or `P521`.
    #[attr(default = "P224", replace, one_of = ["P224", "P256", "P384", "P521"])]
    ecdsa_curve: String,
}

impl KeyArgumentsDraft {
    /// Checks the arguments. The number of bits counts for no other algorithm.
    fn validate(&self) -> Answer<()> {
        let is_rsa = self.algorithm.get().is_some_and(|algorithm| algorithm == "RSA");
        let is_one =
            |bits: &i64| usize::try_from(*bits).is_ok_and(|bits| RSA_BITS_RANGE.contains(&bits));
        match self.rsa_bits.get() {
            Some(bits) if is_rsa && !is_one(bits) => {
                let (min_bits, max_bits) = (RSA_BITS_RANGE.start(), RSA_BITS_RANGE.end());
                let detail =
                    format!("`rsa_bits` is {bits}; an RSA key has {min_bits} to {max_bits} bits.");
                Err(Problem::new("Invalid Attribute Value", detail).at("rsa_bits"))
            }
            _ => Ok(()),
        }
    }
}

/// A key in all its forms.
#[derive(Model)]
pub(super) struct KeyForms {
    /// The private key in PEM.
    #[attr(computed, sensitive)]
    private_key_pem: String,
    /// The private key in the form of OpenSSH; empty for the curve `P224`, which OpenSSH does not have.
    #[attr(computed, sensitive)]
    private_key_openssh: String,
    /// The private key in PEM as PKCS#8.
    #[attr(computed, sensitive)]
    private_key_pem_pkcs8: String,
    /// The public key in PEM.
    #[attr(computed)]
    public_key_pem: String,
    /// The public key as a line of `authorized_keys`; empty for the curve `P224`.
    #[attr(computed)]
    public_key_openssh: String,
    /// The MD5 fingerprint of the public key, `aa:bb:cc:…`; empty for the curve `P224`.
    #[attr(computed)]
    public_key_fingerprint_md5: String,
    /// The SHA-256 fingerprint of the public key, `SHA256:…`; empty for the curve `P224`.
    #[attr(computed)]
    public_key_fingerprint_sha256: String,
}

/// A private key. It is stored in the state, readable for every reader of the state; the ephemeral
/// resource of the same name is not stored.
#[derive(Model)]
pub(super) struct PrivateKeyModel {
    #[attr(flatten)]
    wanted: KeyArguments,
    #[attr(flatten, computed)]
    forms: KeyForms,
    /// The SHA-1 digest of the public key.
    #[attr(computed)]
    id: String,
}

/// The resource type.
pub(super) struct PrivateKeyResource;

impl Resource for PrivateKeyResource {
    type Model = PrivateKeyModel;

    const VERSION: u64 = 1;

    fn validate(&self, call: Validate<PrivateKeyModel>) -> Answer<()> {
        call.config.wanted.validate()
    }

    async fn create(&self, call: Create<PrivateKeyModel>) -> Answer<PrivateKeyModelComputed> {
        let (forms, id) = generate_key_forms(&call.planned.wanted).await?;
        Ok(PrivateKeyModelComputed { forms, id })
    }

    /// The first version lacked some of the forms.
    async fn upgrade(&self, call: Upgrade) -> Answer<PrivateKeyModelDraft> {
        let mut stored: PrivateKeyModel = call.stored.to_model()?;
        let key = PrivateKey::from_pem(&stored.forms.private_key_pem);
        let forms_and_digest = key.and_then(|key| key_forms_and_digest(&key));
        let (forms, id) = forms_and_digest.or_fail("Unable to parse key from PEM")?;
        stored.id = id;
        stored.forms = KeyForms {
            private_key_pem: stored.forms.private_key_pem,
            private_key_openssh: forms.private_key_openssh,
            private_key_pem_pkcs8: forms.private_key_pem_pkcs8,
            public_key_pem: forms.public_key_pem,
            public_key_openssh: forms.public_key_openssh,
            public_key_fingerprint_md5: forms.public_key_fingerprint_md5,
            public_key_fingerprint_sha256: forms.public_key_fingerprint_sha256,
        };
        Ok(stored.into())
    }
}

/// The forms of a key, and its digest.
fn key_forms_and_digest(key: &PrivateKey) -> Result<(KeyFormsComputed, String), KeyError> {
    let public = key.public_forms()?;
    let forms = KeyFormsComputed {
        private_key_pem: key.to_pem()?,
        private_key_openssh: key.to_openssh()?,
        private_key_pem_pkcs8: key.to_pkcs8()?,
        public_key_pem: public.pem,
        public_key_openssh: public.openssh,
        public_key_fingerprint_md5: public.fingerprint_md5,
        public_key_fingerprint_sha256: public.fingerprint_sha256,
    };
    Ok((forms, public.id))
}

/// Generates a key on another thread: the search for large primes takes time.
async fn generate_key_forms(arguments: &KeyArgumentsInput) -> Answer<(KeyFormsComputed, String)> {
    let curve = Curve::ALL.into_iter().find(|curve| curve.name() == arguments.ecdsa_curve);
    let kind = match arguments.algorithm.as_str() {
        "RSA" => KeyKind::Rsa(usize::try_from(arguments.rsa_bits).unwrap_or_default()),
        "ECDSA" => KeyKind::Ecdsa(curve.unwrap_or(Curve::P224)),
        _ => KeyKind::Ed25519,
    };
    run_blocking(move || {
        let forms = PrivateKey::generate(kind).and_then(|key| key_forms_and_digest(&key));
        forms.or_fail("Unable to generate Key from configuration")
    })
    .await
}

/// Reports an error about a key, or about one of its encodings.
pub(super) fn key_problem(summary: &str, error: &KeyError) -> Problem {
    Problem::new(summary, format!("{error}."))
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::Value;

    use super::super::provider;

    fn text(name: &'static str, text: &str) -> (&'static str, Value) {
        (name, Value::string(text))
    }

    #[tokio::test]
    async fn a_key_is_kept_until_its_arguments_change() {
        let mut object = TestObject::new(provider(), "tls_private_key").await.unwrap();
        let ecdsa = |curve| [text("algorithm", "ECDSA"), text("ecdsa_curve", curve)];
        assert_eq!(object.apply(ecdsa("P256")).await, Ok(PlannedAction::Create));
        let id = object.get("id").clone();
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply(ecdsa("P256")).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.get("id"), &id);
        assert_eq!(object.apply(ecdsa("P224")).await, Ok(PlannedAction::Replace));
        assert_ne!(object.get("id"), &id);
        assert_eq!(object.get("public_key_openssh"), &Value::string(""));
        assert_eq!(object.apply([text("algorithm", "ED25519")]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn an_older_state_receives_missing_key_formats() {
        let mut object = TestObject::new(provider(), "tls_private_key").await.unwrap();
        object.apply([text("algorithm", "ED25519")]).await.unwrap();
        let Value::String(pem) = object.get("private_key_pem").clone() else { panic!("a text") };
        let expected = object.get("private_key_openssh").clone();
        let json = format!(
            r#"{{"algorithm":"ED25519","ecdsa_curve":"P224","rsa_bits":2048,"private_key_pem":{:?}}}"#,
            pem.as_str()
        );
        object.upgrade(0, &json).await.unwrap();
        assert_eq!(object.get("private_key_openssh"), &expected);
        assert_eq!(object.apply([text("algorithm", "ED25519")]).await, Ok(PlannedAction::Nothing));
    }

    #[tokio::test]
    async fn unknown_algorithms_and_sizes_are_refused() {
        let bits = ("rsa_bits", Value::int(17));
        let table = [
            (vec![text("algorithm", "DSA")], "Invalid Attribute Value Match"),
            (vec![text("algorithm", "ECDSA"), text("ecdsa_curve", "P1")], "\"P521\""),
            (vec![text("algorithm", "RSA"), bits], "`rsa_bits` is 17"),
        ];
        for (config, expected) in table {
            let mut object = TestObject::new(provider(), "tls_private_key").await.unwrap();
            let refusal = object.apply(config).await.unwrap_err();
            assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
        }
        let mut object = TestObject::new(provider(), "tls_private_key").await.unwrap();
        let bits = ("rsa_bits", Value::int(17));
        assert_eq!(
            object.apply([text("algorithm", "ED25519"), bits]).await,
            Ok(PlannedAction::Create)
        );
    }
}
