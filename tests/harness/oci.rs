//! An OCI registry on this machine, over TLS with an authority of its own: tags, manifests and blobs by
//! the distribution specification, and a token service.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::registry::{Page, Registry, Request, package, sha256};

/// The media type of an index.
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of the manifest of one artifact.
pub(crate) const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The artifact type of a version of a provider.
pub(crate) const PROVIDER: &str = "application/vnd.opentofu.provider";
/// The artifact type of a provider for one platform.
pub(crate) const TARGET: &str = "application/vnd.opentofu.provider-target";
/// The artifact type of a module package.
pub(crate) const MODULE: &str = "application/vnd.opentofu.modulepkg";

/// The credentials that the registry requires.
#[derive(Clone, Debug, Default)]
pub(crate) enum Guard {
    /// None.
    #[default]
    Open,
    /// These, in the form `NAME:PASSWORD` as base64, with each request.
    Basic(&'static str),
    /// A token of the token service, which requires these, or none.
    Token(Option<&'static str>),
    /// A token of a token service at another address.
    TokenFrom(&'static str),
}

#[derive(Default)]
struct Store {
    /// The pages by the path below `/v2/`.
    pages: BTreeMap<String, Page>,
    /// The tags by repository.
    tags: BTreeMap<String, Vec<String>>,
    guard: Guard,
}

/// A registry that answers until the test program ends.
pub(crate) struct OciRegistry {
    pub(crate) server: Registry,
    store: Arc<Mutex<Store>>,
}

impl OciRegistry {
    /// Starts a registry without repositories.
    pub(crate) fn start() -> Self {
        let server = Registry::start();
        let store = Arc::new(Mutex::new(Store::default()));
        let (served, host) = (Arc::clone(&store), server.host());
        server
            .answer_with(move |request| answer(&served.lock().expect("no panic"), request, &host));
        Self { server, store }
    }

    /// Requires credentials from now on.
    pub(crate) fn guard(&self, guard: Guard) {
        self.store.lock().expect("no panic").guard = guard;
    }

    /// Serves a page at a path below `/v2/` from now on.
    pub(crate) fn page(&self, path: &str, page: Page) {
        self.store.lock().expect("no panic").pages.insert(path.to_owned(), page);
    }

    /// The page at a path below `/v2/`.
    pub(crate) fn page_at(&self, path: &str) -> Page {
        self.store.lock().expect("no panic").pages[path].clone()
    }

    /// Pushes a blob, and returns its descriptor.
    pub(crate) fn blob(&self, repository: &str, media_type: &str, bytes: &[u8]) -> Value {
        let digest = format!("sha256:{}", sha256(bytes));
        self.page(&format!("{repository}/blobs/{digest}"), Page::file(bytes));
        json!({ "mediaType": media_type, "digest": digest, "size": bytes.len() })
    }

    /// Pushes a manifest, and returns its descriptor.
    pub(crate) fn manifest(&self, repository: &str, manifest: &Value) -> Value {
        let body = manifest.to_string().into_bytes();
        let digest = format!("sha256:{}", sha256(&body));
        let (media_type, size) = (manifest["mediaType"].as_str().unwrap_or_default(), body.len());
        let headers = vec![
            ("Content-Type", media_type.to_owned()),
            ("Docker-Content-Digest", digest.clone()),
        ];
        let page = Page { status: 200, headers, body, cut: None };
        self.page(&format!("{repository}/manifests/{digest}"), page);
        let kind = &manifest["artifactType"];
        json!({ "mediaType": media_type, "digest": digest, "size": size, "artifactType": kind })
    }

    /// Gives a manifest a tag.
    pub(crate) fn tag(&self, repository: &str, tag: &str, manifest: &Value) {
        let page = self.page_at(&format!("{repository}/manifests/{}", digest(manifest)));
        self.page(&format!("{repository}/manifests/{tag}"), page);
        let mut store = self.store.lock().expect("no panic");
        let tags = store.tags.entry(repository.to_owned()).or_default();
        tags.retain(|existing| existing != tag);
        tags.push(tag.to_owned());
    }

    /// Publishes a version of a provider for some platforms, as OpenTofu lays it out.
    pub(crate) fn provider(&self, repository: &str, kind: &str, version: &str, platforms: &[&str]) {
        let targets: Vec<Value> = platforms
            .iter()
            .map(|platform| {
                let words = format!("{kind} {version} for {platform}");
                let package = package(kind, version, words.as_bytes());
                let layer = self.blob(repository, "archive/zip", &package);
                let mut target = self.manifest(repository, &image(TARGET, &[layer]));
                let (os, architecture) = platform.split_once('_').expect("two words");
                target["platform"] = json!({ "os": os, "architecture": architecture });
                target
            })
            .collect();
        let index = self.manifest(repository, &index(PROVIDER, &targets));
        self.tag(repository, &version.replace('+', "_"), &index);
    }

    /// Publishes a module package, and returns the descriptor of its manifest.
    pub(crate) fn module(&self, repository: &str, tag: &str, archive: &[u8]) -> Value {
        let layer = self.blob(repository, "archive/zip", archive);
        let manifest = self.manifest(repository, &image(MODULE, &[layer]));
        self.tag(repository, tag, &manifest);
        manifest
    }
}

/// The digest in a descriptor.
pub(crate) fn digest(descriptor: &Value) -> String {
    descriptor["digest"].as_str().expect("a descriptor").to_owned()
}

/// The manifest of an artifact.
pub(crate) fn image(kind: &str, layers: &[Value]) -> Value {
    let config = json!({ "mediaType": "application/vnd.oci.empty.v1+json", "digest": format!("sha256:{}", sha256(b"{}")), "size": 2 });
    json!({ "schemaVersion": 2, "mediaType": IMAGE, "artifactType": kind, "config": config, "layers": layers })
}

/// An index of manifests.
pub(crate) fn index(kind: &str, manifests: &[Value]) -> Value {
    json!({ "schemaVersion": 2, "mediaType": INDEX, "artifactType": kind, "manifests": manifests })
}

/// The number of tags on a page of the list.
const TAGS: usize = 2;

fn answer(store: &Store, request: &Request, host: &str) -> Option<Page> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let given = request.header("Authorization");
    if path == "/token" {
        return Some(token(store, request));
    }
    let path = path.strip_prefix("/v2/")?;
    let bearer = |realm: &str| {
        let name = path.split("/manifests/").next()?.split("/blobs/").next()?;
        let name = name.trim_end_matches("/tags/list");
        Some(format!("Bearer realm=\"{realm}\",service=\"test\",scope=\"repository:{name}:pull\""))
    };
    let (expected, challenge) = match &store.guard {
        Guard::Open => (None, None),
        Guard::Basic(login) => (Some(format!("Basic {login}")), Some("Basic realm=\"x\"".into())),
        Guard::Token(_) => {
            (Some("Bearer granted".to_owned()), bearer(&format!("https://{host}/token")))
        }
        Guard::TokenFrom(realm) => (Some("Bearer granted".to_owned()), bearer(realm)),
    };
    if expected.is_some() && given != expected.as_deref() {
        let headers = vec![("WWW-Authenticate", challenge.unwrap_or_default())];
        return Some(Page { status: 401, headers, ..Page::default() });
    }
    let list = || {
        let name = path.strip_suffix("/tags/list")?;
        Some(tags(name, store.tags.get(name)?, query))
    };
    let page = match path {
        // The question whether this is a registry at all.
        "" => Page::json(&json!({})),
        path => store.pages.get(path).cloned().or_else(list)?,
    };
    // An answer to HEAD has no content.
    let cut = if request.method == "HEAD" { Some(0) } else { page.cut };
    Some(Page { cut, ..page })
}

fn token(store: &Store, request: &Request) -> Page {
    let given = request.header("Authorization");
    let granted = match &store.guard {
        Guard::Token(None) => given.is_none(),
        Guard::Token(Some(login)) => {
            let refreshed = format!("refresh_token={login}");
            given == Some(&format!("Basic {login}"))
                || request.body.split('&').any(|field| field == refreshed)
        }
        _ => false,
    };
    match granted && (request.path.contains("scope=repository%3A") || request.method == "POST") {
        true => Page::json(&json!({ "access_token": "granted", "expires_in": 60 })),
        false => Page::refusal(401),
    }
}

/// A page of the list of tags, which begins after the tag that the query names.
fn tags(name: &str, all: &[String], query: &str) -> Page {
    let last = query.split('&').find_map(|field| field.strip_prefix("last="));
    let from = last.and_then(|last| Some(all.iter().position(|tag| tag == last)? + 1)).unwrap_or(0);
    let page = &all[from..all.len().min(from + TAGS)];
    let mut answer = Page::json(&json!({ "name": name, "tags": page }));
    if from + TAGS < all.len() {
        let last = page.last().expect("there are more");
        let link = format!("</v2/{name}/tags/list?n={TAGS}&last={last}>; rel=\"next\"");
        answer.headers.push(("Link", link));
    }
    answer
}
