//! `tls_private_key` as an ephemeral resource: another key each time, stored by nobody.

use formwork_sdk::prelude::*;

use super::generated;

/// A private key that neither a plan nor a state holds.
#[derive(Model)]
pub(crate) struct Key {
    /// The algorithm: `RSA`, `ECDSA` or `ED25519`.
    #[attr(required, one_of = ["RSA", "ECDSA", "ED25519"])]
    algorithm: String,
    /// How many bits a key of the algorithm `RSA` has.
    #[attr(default = 2048_i64)]
    rsa_bits: i64,
    /// The curve of a key of the algorithm `ECDSA`: `P224`, `P256`, `P384` or `P521`.
    #[attr(default = "P224", one_of = ["P224", "P256", "P384", "P521"])]
    ecdsa_curve: String,
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

/// The ephemeral resource type.
pub(crate) struct PassingPrivateKey;

#[async_trait]
impl Ephemeral for PassingPrivateKey {
    type Model = Key;

    async fn open(&self, diags: &mut Diagnostics, config: KeyInput) -> Answer<Opened<KeyComputed>> {
        let KeyInput { algorithm, rsa_bits, ecdsa_curve } = config;
        let forms = generated(diags, &algorithm, rsa_bits, &ecdsa_curve).await?;
        Ok(Opened::for_good(KeyComputed {
            private_key_pem: forms.pem,
            private_key_openssh: forms.openssh,
            private_key_pem_pkcs8: forms.pkcs8,
            public_key_pem: forms.public.pem,
            public_key_openssh: forms.public.openssh,
            public_key_fingerprint_md5: forms.public.fingerprint_md5,
            public_key_fingerprint_sha256: forms.public.fingerprint_sha256,
        }))
    }
}
