//! Azure for one test: azurite keeps the blobs, an own program issues tokens and lists keys, and a
//! proxy leads the names of Azure's hosts to them. Both end when the value is dropped.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use super::proxy::Proxy;
use super::servers::installed;

/// The account, and its key. Terraform computes other signatures for the default account of azurite.
pub(crate) const ACCOUNT: &str = "account1";
pub(crate) const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The container that exists from the beginning.
pub(crate) const CONTAINER: &str = "states";

/// The services.
pub(crate) struct Azure {
    directory: TempDir,
    blobs: Child,
    services: Child,
    proxy: Proxy,
    /// A shared access signature of the account.
    pub(crate) sas: String,
}

impl Azure {
    /// Starts the services. Returns `None` and reports it if azurite is not installed.
    pub(crate) fn start() -> Option<Self> {
        let program = installed("azurite-blob", "azurerm")?;
        let directory = tempfile::tempdir().expect("a directory");
        certify(directory.path());
        let [certificate, key] =
            ["server.pem", "server.key"].map(|name| directory.path().join(name));
        let mut command = Command::new(program);
        command.args([
            "--blobPort",
            "0",
            "--inMemoryPersistence",
            "--disableTelemetry",
            "--skipApiVersionCheck",
        ]);
        command.env("AZURITE_ACCOUNTS", format!("{ACCOUNT}:{KEY}"));
        command.args(["--oauth", "basic", "--cert"]).arg(&certificate).arg("--key").arg(&key);
        let (blobs, line) = started(command.current_dir(directory.path()), "successfully listens");
        let port = line.rsplit(':').next().expect("the line ends with the port").trim().to_owned();

        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/azure.mjs");
        let mut command = Command::new("node");
        command.arg(script).arg(certificate).arg(key).args([&port, ACCOUNT, KEY, CONTAINER]);
        let (services, line) = started(&mut command, "sig=");
        let (own_port, sas) = line.split_once(' ').expect("a port and a signature");
        let number = |text: &str| text.parse::<u16>().expect("it is a port");
        let proxy = Proxy::with_routes(vec![
            (".blob.core.windows.net:443", number(&port)),
            ("", number(own_port)),
        ]);
        let sas = sas.trim().to_owned();
        Some(Self { directory, blobs, services, proxy, sas })
    }

    /// The environment variables that lead the programs here.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let authority = self.directory.path().join("authority.pem").display().to_string();
        let proxy = format!("http://127.0.0.1:{}", self.proxy.port);
        vec![("HTTPS_PROXY".to_owned(), proxy), ("SSL_CERT_FILE".to_owned(), authority)]
    }

    /// The part of a configuration that leads the programs here.
    pub(crate) fn environment(&self) -> String {
        let lines = self.variables().into_iter().map(|(name, value)| format!("{name}={value}\n"));
        format!("//- environment\n{}", lines.collect::<String>())
    }
}

impl Drop for Azure {
    fn drop(&mut self) {
        for process in [&mut self.blobs, &mut self.services] {
            process.kill().and_then(|()| process.wait()).expect("this test owns it");
        }
    }
}

/// Starts a server and waits for a line with these words.
fn started(command: &mut Command, words: &str) -> (Child, String) {
    let mut process = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let log = BufReader::new(process.stdout.take().expect("its log is a pipe"));
    let mut lines = log.lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains(words));
    // The server would block if its output were not read.
    std::thread::spawn(move || lines.for_each(drop));
    (process, line.expect("the server did not start"))
}

/// Makes an authority, and a certificate for the hosts.
fn certify(directory: &Path) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key can be made");
    let issuer = CertifiedIssuer::self_signed(params, key).expect("valid parameters");
    let names = ["*.blob.core.windows.net", "login.microsoftonline.com", "management.azure.com"];
    let params = CertificateParams::new(names.map(str::to_owned)).expect("valid names");
    let key = KeyPair::generate().expect("a key can be made");
    let certificate = params.signed_by(&key, &issuer).expect("valid parameters");
    let write = |name: &str, text: &str| fs::write(directory.join(name), text).expect("a file");
    write("authority.pem", &issuer.pem());
    write("server.pem", &certificate.pem());
    write("server.key", &key.serialize_pem());
}
