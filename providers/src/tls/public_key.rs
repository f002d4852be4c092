//! `tls_public_key`, the public half of a private key: a data source and an ephemeral resource that
//! differ in where the answer is kept.

use formwork_sdk::prelude::*;

use super::key::PrivateKey;

/// The public half of a private key.
#[derive(Model)]
#[attr(exactly_one_of(private_key_pem, private_key_openssh))]
pub(super) struct PublicKeyModel {
    /// The private key in PEM. Either this or `private_key_openssh`.
    #[attr(optional, sensitive)]
    private_key_pem: Option<String>,
    /// The private key in the form of OpenSSH. Either this or `private_key_pem`.
    #[attr(optional, sensitive)]
    private_key_openssh: Option<String>,
    /// The algorithm of the key: `RSA`, `ECDSA` or `ED25519`.
    #[attr(computed)]
    algorithm: String,
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
    /// The SHA-1 digest of the public key.
    #[attr(computed)]
    id: String,
}

/// The data source.
pub(super) struct PublicKeyDataSource;

impl DataSource for PublicKeyDataSource {
    type Model = PublicKeyModel;

    async fn read(&self, call: ReadData<PublicKeyModel>) -> Answer<PublicKeyModelComputed> {
        derive_public_key(&call.config)
    }
}

/// The ephemeral resource type.
pub(super) struct EphemeralPublicKey;

impl Ephemeral for EphemeralPublicKey {
    type Model = PublicKeyModel;

    async fn open(&self, call: Open<PublicKeyModel>) -> Answer<PublicKeyModelComputed> {
        derive_public_key(&call.config)
    }
}

fn derive_public_key(config: &PublicKeyModelInput) -> Answer<PublicKeyModelComputed> {
    let key = match (&config.private_key_pem, &config.private_key_openssh) {
        (None, Some(openssh)) => PrivateKey::from_openssh(openssh),
        (pem, _) => PrivateKey::from_pem(pem.as_deref().unwrap_or_default()),
    };
    let public = key.and_then(|key| Ok((key.algorithm(), key.public_forms()?)));
    let (algorithm, public) = public.or_fail("Unable to parse private key")?;
    Ok(PublicKeyModelComputed {
        algorithm: algorithm.to_owned(),
        public_key_pem: public.pem,
        public_key_openssh: public.openssh,
        public_key_fingerprint_md5: public.fingerprint_md5,
        public_key_fingerprint_sha256: public.fingerprint_sha256,
        id: public.id,
    })
}
