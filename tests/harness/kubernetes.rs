//! A server for one test that implements the documented part of the Kubernetes API which backends use:
//! secrets and leases of namespaces, with versions, labels and limits, for the bearers of a token.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_tests::http::{self, Request};
use serde_json::{Value, json};

/// The token that requests must bear.
pub(crate) const TOKEN: &str = "cluster-token";

/// The only namespaces.
const NAMESPACES: [&str; 2] = ["default", "team"];

/// The longest content of a secret, before it is encoded.
const MAX_SECRET: usize = 1_048_576;

/// The server. It ends with the test program.
pub(crate) struct Kubernetes {
    /// The address, without a slash at the end.
    pub(crate) url: String,
    objects: Arc<Mutex<Objects>>,
}

/// Objects by namespace, kind and name.
#[derive(Default)]
struct Objects {
    version: u64,
    all: BTreeMap<[String; 3], Value>,
}

type Answer = (&'static str, Value);

impl Kubernetes {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let objects = Arc::new(Mutex::new(Objects::default()));
        let shared = Arc::clone(&objects);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let objects = Arc::clone(&shared);
                thread::spawn(move || drop(serve(&stream, &objects)));
            }
        });
        Self { url, objects }
    }

    /// Returns a file that describes this cluster, with the user `user` in the context `here`.
    pub(crate) fn kubeconfig(&self, user: &str) -> String {
        let url = &self.url;
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: other\nclusters:\n- name: c\n  cluster:\n    server: {url}\ncontexts:\n- name: here\n  context: {{cluster: c, user: u}}\n- name: other\n  context: {{cluster: c, user: nobody}}\nusers:\n- name: u\n  user:\n    {user}\n- name: nobody\n  user: {{token: wrong}}\n"
        )
    }

    /// The names of the objects of a kind in a namespace: `secrets` or `leases`.
    pub(crate) fn names(&self, namespace: &str, kind: &str) -> Vec<String> {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = objects.all.keys().filter(|[space, of, _]| space == namespace && of == kind);
        keys.map(|[_, _, name]| name.clone()).collect()
    }
}

impl Objects {
    fn react(&mut self, method: &str, target: &str, body: Value) -> Answer {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path
            .strip_prefix("/api/v1/namespaces/")
            .or_else(|| path.strip_prefix("/apis/coordination.k8s.io/v1/namespaces/"));
        let parts: Vec<&str> = path.unwrap_or_default().split('/').collect();
        let [namespace, kind @ ("secrets" | "leases"), rest @ ..] = parts.as_slice() else {
            return status("404 Not Found", "NotFound", "the server could not find the resource");
        };
        let key = |name: &str| [(*namespace).to_owned(), (*kind).to_owned(), name.to_owned()];
        match (method, rest) {
            ("GET", []) => self.list(namespace, kind, &selector(query)),
            ("POST", []) if !NAMESPACES.contains(namespace) => {
                let message = format!("namespaces \"{namespace}\" not found");
                status("404 Not Found", "NotFound", &message)
            }
            ("POST", []) => {
                let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                match self.all.contains_key(&key(&name)) {
                    true => {
                        let message = format!("{kind} \"{name}\" already exists");
                        status("409 Conflict", "AlreadyExists", &message)
                    }
                    false => self.store(key(&name), body, "201 Created"),
                }
            }
            (_, [name]) => {
                let Some(old) = self.all.get(&key(name)) else {
                    let message = format!("{kind} \"{name}\" not found");
                    return status("404 Not Found", "NotFound", &message);
                };
                let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
                match method {
                    "GET" => ("200 OK", old.clone()),
                    "PUT" if !version(&body).is_null() && version(&body) != version(old) => {
                        status("409 Conflict", "Conflict", "the object has been modified")
                    }
                    "PUT" => self.store(key(name), body, "200 OK"),
                    _ => {
                        self.all.remove(&key(name));
                        (
                            "200 OK",
                            json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }),
                        )
                    }
                }
            }
            _ => status("405 Method Not Allowed", "MethodNotAllowed", "not allowed"),
        }
    }

    fn store(&mut self, key: [String; 3], mut object: Value, http_status: &'static str) -> Answer {
        let data = object["data"].as_object();
        let size = data.into_iter().flatten().map(|(_, value)| {
            let text = value.as_str().and_then(|text| STANDARD.decode(text).ok());
            text.map_or(MAX_SECRET + 1, |text| text.len())
        });
        if size.sum::<usize>() > MAX_SECRET {
            return status(
                "422 Unprocessable Entity",
                "Invalid",
                "Too long: may not be more than 1048576 bytes",
            );
        }
        self.version += 1;
        let secret = key[1] == "secrets";
        object["kind"] = json!(if secret { "Secret" } else { "Lease" });
        object["apiVersion"] = json!(if secret { "v1" } else { "coordination.k8s.io/v1" });
        object["metadata"]["namespace"] = json!(key[0]);
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.all.insert(key, object.clone());
        (http_status, object)
    }

    fn list(&self, namespace: &str, kind: &str, labels: &[(String, String)]) -> Answer {
        let mut items = Vec::new();
        for ([space, of, _], object) in &self.all {
            let has = |(name, value): &(String, String)| {
                object["metadata"]["labels"][name.as_str()].as_str() == Some(value)
            };
            if space == namespace && of == kind && labels.iter().all(has) {
                // As in the real answer, the items do not repeat their kind.
                let mut item = object.clone();
                for name in ["kind", "apiVersion"] {
                    item.as_object_mut().expect("it is one").remove(name);
                }
                items.push(item);
            }
        }
        let version = json!({ "resourceVersion": self.version.to_string() });
        (
            "200 OK",
            json!({ "kind": "SecretList", "apiVersion": "v1", "metadata": version, "items": items }),
        )
    }
}

fn status(line: &'static str, reason: &str, message: &str) -> Answer {
    let code: u16 = line.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(500);
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    });
    (line, status)
}

/// The labels that a query selects: pairs with `=` only.
fn selector(query: &str) -> Vec<(String, String)> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("labelSelector="));
    let text = decoded(value.unwrap_or_default());
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2.min(part.len()));
        decoded.push(u8::from_str_radix(code, 16).map_or('?', char::from));
        decoded.push_str(rest);
    }
    decoded
}

/// Serves the requests of one connection, one after the other.
fn serve(stream: &TcpStream, objects: &Mutex<Objects>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader)? {
        let (method, target) = (request.method.as_str(), request.target.as_str());
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let bearer = format!("Bearer {TOKEN}");
        let (line, content) = match request.headers.get("authorization") {
            Some(given) if *given == bearer => {
                objects.lock().unwrap_or_else(PoisonError::into_inner).react(method, target, body)
            }
            _ => status("401 Unauthorized", "Unauthorized", "Unauthorized"),
        };
        let content = content.to_string();
        http::answer(stream, line, &["Content-Type: application/json"], content.as_bytes())?;
    }
    Ok(())
}
