//! A provider registry and mirror on this machine, over TLS with an authority of its own. It serves pages
//! by their paths, and signs the releases that a test publishes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Cursor, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use pgp::composed::{
    ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedSecretKey,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::{KeyDetails as _, Password};
use rsa::rand_core::OsRng;
use rustls::{ServerConnection, StreamOwned};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::tls::Authority;

/// The platform of this machine.
pub(crate) const PLATFORM: &str =
    if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };

/// An answer of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Number of bytes of the body that are sent before the connection ends, if not all.
    pub(crate) cut: Option<usize>,
}

impl Page {
    /// A document.
    pub(crate) fn json(body: &serde_json::Value) -> Self {
        let headers = vec![("Content-Type", "application/json".to_owned())];
        Self { status: 200, headers, body: body.to_string().into_bytes(), cut: None }
    }

    /// A file.
    pub(crate) fn file(body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type", "application/octet-stream".to_owned())];
        Self { status: 200, headers, body: body.into(), cut: None }
    }

    /// A redirection.
    pub(crate) fn moved(to: &str) -> Self {
        Self { status: 302, headers: vec![("Location", to.to_owned())], ..Self::default() }
    }

    /// A refusal.
    pub(crate) fn refusal(status: u16) -> Self {
        Self { status, ..Self::default() }
    }
}

/// A request that the server got: the method, the path with its query, the headers and the body.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl Request {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| {
            let (header_name, value) = line.split_once(": ")?;
            header_name.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

type Handler = dyn Fn(&Request) -> Option<Page> + Send + Sync;

/// State that the threads of the server share.
#[derive(Default)]
struct Shared {
    pages: Mutex<BTreeMap<String, Page>>,
    requests: Mutex<Vec<Request>>,
    handler: Mutex<Option<Arc<Handler>>>,
}

/// A registry that answers until the test program ends.
pub(crate) struct Registry {
    port: u16,
    shared: Arc<Shared>,
    directory: tempfile::TempDir,
    key: SignedSecretKey,
}

/// A release of the provider `acme/KIND` to be published.
#[derive(Clone, Debug)]
pub(crate) struct Release<'a> {
    pub(crate) kind: &'a str,
    pub(crate) version: &'a str,
    pub(crate) platforms: &'a [&'a str],
    pub(crate) protocols: &'a [&'a str],
    /// The content of the program; without it, a few words that differ by version and platform.
    pub(crate) program: Option<&'a [u8]>,
}

impl<'a> Release<'a> {
    /// A release for this platform and another one.
    pub(crate) fn new(kind: &'a str, version: &'a str) -> Self {
        let platforms = &[PLATFORM, "darwin_arm64"];
        Self { kind, version, platforms, protocols: &["5.0", "6.0"], program: None }
    }
}

impl Registry {
    /// Starts a registry with all services and no provider.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("it has an address").port();
        let authority = Authority::new();
        fs::write(directory.path().join("authority.pem"), authority.pem())
            .expect("it can be written");
        let config = Arc::new(authority.server_config(None));
        let shared = Arc::new(Shared::default());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, served) = (Arc::clone(&config), Arc::clone(&served));
                thread::spawn(move || {
                    let connection = ServerConnection::new(config).expect("a valid configuration");
                    // A client that disconnects does not fail the test.
                    drop(answer(StreamOwned::new(connection, stream), &served));
                });
            }
        });
        let registry = Self { port, shared, directory, key: secret_key("Acme") };
        let services = json!({ "providers.v1": "/v1/providers/", "modules.v1": "/v1/modules/" });
        registry.page("/.well-known/terraform.json", Page::json(&services));
        registry
    }

    /// The file of the authority that programs must trust: the value of `SSL_CERT_FILE`.
    pub(crate) fn authority(&self) -> String {
        self.directory.path().join("authority.pem").display().to_string()
    }

    /// The host and port in source addresses.
    pub(crate) fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host())
    }

    /// Serves a page at a path from now on.
    pub(crate) fn page(&self, path: &str, page: Page) {
        self.shared.pages.lock().expect("no panic").insert(path.to_owned(), page);
    }

    /// The page at a path.
    pub(crate) fn page_at(&self, path: &str) -> Page {
        self.shared.pages.lock().expect("no panic")[path].clone()
    }

    /// Lets a function answer what no page does.
    pub(crate) fn answer_with(
        &self,
        handler: impl Fn(&Request) -> Option<Page> + Send + Sync + 'static,
    ) {
        *self.shared.handler.lock().expect("no panic") = Some(Arc::new(handler));
    }

    /// The requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.shared.requests.lock().expect("no panic"))
    }

    /// The public key in its text form, as the registry names it.
    pub(crate) fn public_key(&self) -> String {
        let options = ArmorOptions::default();
        self.key.to_public_key().to_armored_string(options).expect("a key has a text form")
    }

    /// The identifier of the key as Terraform shows it.
    pub(crate) fn key_id(&self) -> String {
        self.key.primary_key.legacy_key_id().to_string().to_uppercase()
    }

    /// The detached signature over a document.
    pub(crate) fn sign(&self, document: &[u8]) -> Vec<u8> {
        sign(&self.key, document)
    }

    /// Publishes a release: its packages, their signed checksums, and its entry in the list of versions.
    pub(crate) fn publish(&self, release: &Release<'_>) {
        let Release { kind, version, platforms, protocols, program } = release;
        let base = format!("/v1/providers/acme/{kind}");
        let files = format!("/files/{kind}/{version}");
        let mut sums = String::new();
        let mut descriptions = Vec::new();
        for platform in *platforms {
            let words = format!("{kind} {version} for {platform}");
            let content = program.unwrap_or(words.as_bytes());
            let archive = package(kind, version, content);
            let name = format!("terraform-provider-{kind}_{version}_{platform}.zip");
            let sum = sha256(&archive);
            sums.push_str(&format!("{sum}  {name}\n"));
            self.page(&format!("{files}/{name}"), Page::file(archive));
            descriptions.push((platform, name, sum));
        }
        self.page(&format!("{files}/SHA256SUMS"), Page::file(sums.as_bytes()));
        self.page(&format!("{files}/SHA256SUMS.sig"), Page::file(self.sign(sums.as_bytes())));
        for (platform, name, sum) in descriptions {
            let (os, arch) = platform.split_once('_').expect("a platform has two words");
            let description = json!({
                "protocols": protocols,
                "os": os,
                "arch": arch,
                "filename": name,
                "download_url": format!("{files}/{name}"),
                "shasum": sum,
                "shasums_url": format!("{files}/SHA256SUMS"),
                "shasums_signature_url": format!("{files}/SHA256SUMS.sig"),
                "signing_keys": { "gpg_public_keys": [{
                    "key_id": self.key_id(),
                    "ascii_armor": self.public_key(),
                    "trust_signature": "",
                }] },
            });
            self.page(&format!("{base}/{version}/download/{os}/{arch}"), Page::json(&description));
        }
        self.list(&base, version, protocols, platforms);
    }

    /// Adds a version to the list of a provider.
    fn list(&self, base: &str, version: &str, protocols: &[&str], platforms: &[&str]) {
        let path = format!("{base}/versions");
        let mut pages = self.shared.pages.lock().expect("no panic");
        let old = pages.get(&path).map(|page| page.body.clone()).unwrap_or_default();
        let mut list: serde_json::Value =
            serde_json::from_slice(&old).unwrap_or_else(|_| json!({ "versions": [] }));
        let platforms: Vec<_> = platforms
            .iter()
            .filter_map(|platform| platform.split_once('_'))
            .map(|(os, arch)| json!({ "os": os, "arch": arch }))
            .collect();
        let entry = json!({ "version": version, "protocols": protocols, "platforms": platforms });
        list["versions"].as_array_mut().expect("it is a list").push(entry);
        pages.insert(path, Page::json(&list));
    }

    /// Publishes the packages of a directory that `providers mirror` has written.
    pub(crate) fn serve_mirror(&self, directory: &Path, path: &str) {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let path = format!("{path}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.serve_mirror(&entry.path(), &path);
            } else {
                let content = fs::read(entry.path()).expect("a file");
                let mut page = Page::file(content);
                if path.ends_with(".json") {
                    page.headers = vec![("Content-Type", "application/json".to_owned())];
                }
                self.page(&path, page);
            }
        }
    }

    /// Writes the package of a release to a directory that is laid out like a mirror, packed or unpacked,
    /// under another host.
    pub(crate) fn mirror_in(directory: &Path, host: &str, release: &Release<'_>, packed: bool) {
        let Release { kind, version, platforms, program, .. } = release;
        for platform in *platforms {
            let words = format!("{kind} {version} for {platform}");
            let content = program.unwrap_or(words.as_bytes());
            let package_directory = directory.join(format!("{host}/acme/{kind}"));
            if packed {
                fs::create_dir_all(&package_directory).expect("directories");
                let name = format!("terraform-provider-{kind}_{version}_{platform}.zip");
                fs::write(package_directory.join(name), package(kind, version, content))
                    .expect("a file");
            } else {
                let package_directory = package_directory.join(version).join(platform);
                fs::create_dir_all(&package_directory).expect("directories");
                let program = package_directory.join(program_name(kind, version));
                fs::write(&program, content).expect("a file");
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(program, mode).expect("this test owns it");
            }
        }
    }
}

/// A key that signs.
pub(crate) fn secret_key(name: &str) -> SignedSecretKey {
    let mut params = SecretKeyParamsBuilder::default();
    params
        .key_type(KeyType::Ed25519Legacy)
        .can_certify(true)
        .can_sign(true)
        .primary_user_id(format!("{name} <{name}@example.com>"));
    let params = params.build().expect("valid parameters");
    params.generate(OsRng).expect("a key can be made")
}

/// A detached signature.
pub(crate) fn sign(key: &SignedSecretKey, document: &[u8]) -> Vec<u8> {
    let signature = DetachedSignature::sign_binary_data(
        OsRng,
        &key.primary_key,
        &Password::empty(),
        HashAlgorithm::Sha256,
        document,
    );
    let signature = signature.expect("the key can sign");
    signature.to_bytes().expect("a signature has a binary form")
}

fn program_name(kind: &str, version: &str) -> String {
    format!("terraform-provider-{kind}_v{version}_x5")
}

/// The archive with the program of a provider.
pub(crate) fn package(kind: &str, version: &str, content: &[u8]) -> Vec<u8> {
    archive(&[(&program_name(kind, version), content), ("LICENSE", b"free")])
}

/// An archive with these entries, which may be run.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .unix_permissions(0o755)
        .compression_method(zip::CompressionMethod::Stored);
    for (name, content) in entries {
        archive.start_file(*name, options).expect("a name");
        archive.write_all(content).expect("it is in memory");
    }
    archive.finish().expect("it is in memory").into_inner()
}

/// A checksum in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn answer(
    mut stream: StreamOwned<ServerConnection, TcpStream>,
    shared: &Shared,
) -> std::io::Result<()> {
    let request = read(&mut stream)?;
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    shared.requests.lock().expect("no panic").push(request.clone());
    let page = shared.pages.lock().expect("no panic").get(&path).cloned();
    let handler = shared.handler.lock().expect("no panic").clone();
    let page = page.or_else(|| handler.and_then(|handler| handler(&request)));
    let Page { status, headers, body, cut } = page.unwrap_or_else(|| Page::refusal(404));
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n")?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    stream.write_all(&body[..cut.unwrap_or(length).min(length)])?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn read(stream: &mut StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let first = lines.first().cloned().unwrap_or_default();
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers = lines.into_iter().skip(1).collect();
    let mut request = Request { method, path, headers, body: String::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    reader.take(length.unwrap_or(0)).read_to_string(&mut request.body)?;
    Ok(request)
}

/// The package of a provider below a data directory.
pub(crate) fn installed(data: &Path, addr: &str, version: &str) -> PathBuf {
    data.join("providers").join(addr).join(version).join(PLATFORM)
}
