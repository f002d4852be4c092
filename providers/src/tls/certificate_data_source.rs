//! The data source `tls_certificate`: certificates that a server shows, or that are given.

use formwork_sdk::prelude::*;
use ureq::http::Uri;

use super::fetch_certificates::{self, TlsServer};
use super::issue_certificate::decode_pem_with_label;
use super::key::KeyError;
use super::proxy::ProxyChoice;
use super::shown_certificate::ShownCertificate;
use crate::digest::{sha1, to_hex};
use crate::redact_url;

/// Certificates, taken apart.
#[derive(Model)]
#[attr(exactly_one_of(url, content), conflicts(verify_chain, content))]
pub(super) struct CertificatesModel {
    /// Source of the certificates: `https://HOST[:PORT]`, through the proxy of the provider if one
    /// is configured, or `tls://HOST:PORT`, without a proxy. Conflicts with `content`.
    #[attr(optional)]
    url: Option<String>,
    /// A certificate in PEM. Either this or `url`.
    #[attr(optional)]
    content: Option<String>,
    /// Whether this machine must trust the certificate of the server. Default: true.
    #[attr(optional)]
    verify_chain: Option<bool>,
    /// The certificates, the one that signed the others first.
    #[attr(computed)]
    certificates: Vec<WholeObject<ShownCertificate>>,
    /// A digest of the certificates.
    #[attr(computed)]
    id: String,
}

/// The data source.
pub(super) struct CertificateDataSource(pub(super) ProxyChoice);

impl DataSource for CertificateDataSource {
    type Model = CertificatesModel;

    fn validate(&self, call: Validate<CertificatesModel>) -> Answer<()> {
        match call.config.url.get() {
            Some(url) => parse_url(url).map(|_| ()),
            None => Ok(()),
        }
    }

    async fn read(&self, call: ReadData<CertificatesModel>) -> Answer<CertificatesModelComputed> {
        let mut ders = match (&call.config.content, &call.config.url) {
            (Some(content), _) => {
                vec![
                    decode_pem_with_label("CERTIFICATE", content)
                        .or_fail("Failed to decoded PEM")?,
                ]
            }
            (None, url) => {
                let url = url.as_deref().unwrap_or_default();
                self.certificates_of_server(url, call.config.verify_chain.unwrap_or(true)).await?
            }
        };
        ders.reverse();
        let read = ders.iter().map(|der| ShownCertificate::from_der(der).map(WholeObject));
        let certificates = read.collect::<Result<_, KeyError>>();
        let certificates = certificates.or_fail("Unable to parse certificate")?;
        Ok(CertificatesModelComputed { certificates, id: to_hex(&sha1(&ders.concat())) })
    }
}

impl CertificateDataSource {
    async fn certificates_of_server(&self, url: &str, is_verified: bool) -> Answer<Vec<Vec<u8>>> {
        let (uri, port) = parse_url(url)?;
        let host = uri.host().unwrap_or_default();
        let proxy = match uri.scheme_str() {
            Some("https") => self.0.proxy_for(&uri),
            _ => Ok(None),
        };
        let presented = match proxy {
            Ok(proxy) => {
                let server = TlsServer { host, port, proxy, is_verified };
                fetch_certificates::fetch_certificates(&server)
                    .await
                    .map_err(|error| error.to_string())
            }
            Err(error) => Err(error),
        };
        presented.map_err(|error| {
            let detail = format!("{}: {error}.", redact_url::redact_url(url));
            Problem::new("Failed to identify fetch peer certificates", detail)
        })
    }
}

/// Parses a URL; returns it, and the port.
fn parse_url(url: &str) -> Answer<(Uri, u16)> {
    let refuse = |summary, reason: String| {
        let detail = format!("`url` is {:?}: {reason}.", redact_url::redact_url(url));
        Problem::new(summary, detail).at("url")
    };
    let uri: Uri =
        url.parse().map_err(|error| refuse("Invalid URL", format!("it is no URL: {error}")))?;
    let host = uri.host().filter(|host| !host.is_empty());
    let problem = match (uri.scheme_str(), host, uri.port_u16()) {
        (Some("https"), Some(_), port) => return Ok((uri, port.unwrap_or(443))),
        (Some("tls"), Some(_), Some(port)) => return Ok((uri, port)),
        (Some("tls"), Some(_), None) => refuse("URL malformed", "the port is missing".to_owned()),
        (Some("https" | "tls"), None, _) => refuse("Invalid URL", "it names no host".to_owned()),
        _ => refuse("Invalid URL scheme", "it must begin with https:// or tls://".to_owned()),
    };
    Err(problem)
}

#[cfg(test)]
mod tests;
