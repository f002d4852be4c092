//! A proxy between the provider and its services: it records the HTTP requests of the provider,
//! encrypted ones included, and can refuse or replace the answers.

mod forward;
mod record;
mod serve;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(crate) use record::{RemoteCall, RemoteFault};

use record::ProxyRecord;
use serve::CertificateIssuer;

/// The proxy. It ends when it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    record: Arc<Mutex<ProxyRecord>>,
    /// The directory of the certificate of its authority.
    directory: TempDir,
    serving: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The name of the file with the certificate.
const CA_CERTIFICATE_FILE_NAME: &str = "authority.pem";

impl Proxy {
    /// Starts a proxy with an authority of its own.
    ///
    /// # Errors
    /// When no port is free, or the certificate cannot be created.
    pub(crate) async fn start() -> io::Result<Self> {
        let mut params = CertificateParams::default();
        // It issues a certificate for each host, so it must be an authority.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let authority = CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)?;
        let directory = TempDir::with_prefix("fw-")?;
        std::fs::write(directory.path().join(CA_CERTIFICATE_FILE_NAME), authority.pem())?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let record = Arc::<Mutex<ProxyRecord>>::default();
        let certificates = Arc::new(CertificateIssuer::new(authority));
        let serving =
            tokio::spawn(serve::serve_connections(listener, Arc::clone(&record), certificates));
        Ok(Self { address, record, directory, serving })
    }

    /// The file with the certificate of the authority.
    fn ca_certificate_file(&self) -> std::path::PathBuf {
        self.directory.path().join(CA_CERTIFICATE_FILE_NAME)
    }

    /// The variables for a process that is to use the proxy and to trust it.
    pub(crate) fn proxy_variables(&self) -> Vec<(OsString, OsString)> {
        self.env_trusting(&self.ca_certificate_file())
    }

    /// The variables for a process that is to use the proxy, but to trust another one only.
    pub(crate) fn env_trusting_other_proxy(&self, other: &Self) -> Vec<(OsString, OsString)> {
        self.env_trusting(&other.ca_certificate_file())
    }

    fn env_trusting(&self, authority: &Path) -> Vec<(OsString, OsString)> {
        // Programs differ in the case that they read.
        const PROXY_VARIABLES: [&str; 4] =
            ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
        // Each runtime and library has its own variable for trusted authorities.
        const CA_CERTIFICATE_VARIABLES: [&str; 5] = [
            "SSL_CERT_FILE",
            "AWS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
        ];
        let url = OsString::from(format!("http://{}", self.address));
        let proxies = PROXY_VARIABLES.map(|name| (name.into(), url.clone()));
        let authorities =
            CA_CERTIFICATE_VARIABLES.map(|name| (name.into(), authority.as_os_str().to_owned()));
        // An inherited exception would lead the provider past the proxy.
        let none = ["NO_PROXY", "no_proxy"].map(|name| (name.into(), OsString::new()));
        proxies.into_iter().chain(authorities).chain(none).collect()
    }

    /// Forgets the calls so far, and commits a fault from now on.
    pub(crate) fn restart_recording_with_fault(&self, fault: RemoteFault) {
        *lock_record(&self.record) = ProxyRecord::new(fault);
    }

    /// The calls since then. No fault is committed any more.
    pub(crate) fn take_calls(&self) -> Vec<RemoteCall> {
        std::mem::take(&mut *lock_record(&self.record)).calls
    }

    /// Waits until a call is held.
    pub(crate) async fn wait_for_held_call(&self) {
        // Taken out, because the lock must not be held during the wait.
        let held = Arc::clone(&lock_record(&self.record).held);
        held.notified().await;
    }

    /// The number of encrypted connections since the start of the recording.
    pub(crate) fn n_tunnels(&self) -> usize {
        lock_record(&self.record).n_tunnels
    }
}

fn lock_record(record: &Mutex<ProxyRecord>) -> MutexGuard<'_, ProxyRecord> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}
