//! The `tls` provider: keys, requests, certificates. Nothing of it is kept anywhere but in the state.

mod cert_request;
mod certificate_data_source;
mod distinguished_name;
mod fetch_certificates;
mod issue_certificate;
mod key;
mod key_usage;
mod locally_signed_cert;
mod private_key;
mod proxy;
mod public_key;
mod renewal;
mod self_signed_cert;
mod shown_certificate;
mod signed_cert_attributes;
mod subject;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    let proxy = proxy::ProxyChoice::default();
    ProviderDef::new("registry.terraform.io/hashicorp/tls")
        .with_configuration(proxy.clone())
        .resource("tls_cert_request", cert_request::CertRequestResource)
        .resource("tls_locally_signed_cert", locally_signed_cert::LocallySignedCertResource)
        .resource("tls_self_signed_cert", self_signed_cert::SelfSignedCertResource)
        .resource("tls_private_key", private_key::PrivateKeyResource)
        .data_source("tls_certificate", certificate_data_source::CertificateDataSource(proxy))
        .data_source("tls_public_key", public_key::PublicKeyDataSource)
        .ephemeral("tls_private_key", private_key::EphemeralPrivateKey)
        .ephemeral("tls_public_key", public_key::EphemeralPublicKey)
}

#[cfg(test)]
mod tests;
