//! Servers that keep states, one for each backend: those of the tests.

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../harness/azure.rs"]
mod azure;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../harness/consul.rs"]
mod consul;
#[path = "../harness/gcs.rs"]
mod gcs;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../harness/http_state.rs"]
mod http_state;
#[path = "../../providers/src/postgresql/tests/installed.rs"]
mod installed;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../harness/kubernetes.rs"]
mod kubernetes;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../harness/proxy.rs"]
mod proxy;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../harness/servers.rs"]
mod servers;

use self::installed::Installed;

/// The backends with a server, in the order of their rows.
pub(crate) const BACKENDS: [&str; 7] =
    ["http", "pg", "s3", "azurerm", "gcs", "consul", "kubernetes"];

/// A server that keeps the states of one backend.
pub(crate) struct Server {
    backend: &'static str,
    /// The arguments of the backend, with the location of a state in place of `STATE`.
    arguments: Box<dyn Fn() -> String>,
    /// The environment variables that lead programs to the server.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl Server {
    /// Starts the server of a backend. Returns `None` and reports it if the server is not installed.
    pub(crate) fn start(backend: &'static str) -> Option<Self> {
        let mut variables = Vec::new();
        let arguments: Box<dyn Fn() -> String> = match backend {
            "http" => {
                let server = http_state::HttpState::start();
                Box::new(move || {
                    server.with(|stored| stored.state.clear());
                    server.arguments()
                })
            }
            "pg" => {
                let server = servers::Postgres::start()?;
                Box::new(move || {
                    let conn_str = server.conn_str();
                    format!("    conn_str    = \"{conn_str}\"\n    schema_name = \"STATE\"\n")
                })
            }
            "s3" => {
                let server = servers::ObjectStore::s3()?;
                server.make_bucket("states");
                Box::new(move || {
                    format!(
                        "    bucket                      = \"states\"\n    key                         = \"STATE\"\n    region                      = \"us-east-1\"\n    access_key                  = \"AKIAEXAMPLE\"\n    secret_key                  = \"secret\"\n    use_path_style              = true\n    use_lockfile                = true\n    skip_credentials_validation = true\n    skip_requesting_account_id  = true\n    skip_metadata_api_check     = true\n    endpoints                   = {{ s3 = \"{}\" }}\n",
                        server.url
                    )
                })
            }
            "azurerm" => {
                let server = azure::Azure::start()?;
                let [proxy, authority] = ["HTTPS_PROXY", "SSL_CERT_FILE"];
                for (name, value) in server.variables() {
                    let name = if name == proxy { proxy } else { authority };
                    variables.push((name, value));
                }
                Box::new(move || {
                    // It ends when it is dropped.
                    let _running = &server;
                    format!(
                        "    storage_account_name = \"{}\"\n    container_name       = \"{}\"\n    access_key           = \"{}\"\n    key                  = \"STATE\"\n",
                        azure::ACCOUNT,
                        azure::CONTAINER,
                        azure::KEY
                    )
                })
            }
            "gcs" => {
                let server = gcs::Gcs::start("states")?;
                Box::new(move || {
                    format!(
                        "    bucket                  = \"states\"\n    prefix                  = \"STATE\"\n    access_token            = \"token\"\n    storage_custom_endpoint = \"{}/storage/v1/b\"\n",
                        server.url
                    )
                })
            }
            "consul" => {
                let server = consul::Consul::start();
                Box::new(move || {
                    format!("    address = \"{}\"\n    path    = \"STATE\"\n", server.address)
                })
            }
            _ => {
                let server = kubernetes::Kubernetes::start();
                // Terraform does not take a host without any other configuration.
                let file = tempfile::NamedTempFile::new().ok()?;
                let cluster = format!(
                    "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster:\n    server: {}\ncontexts:\n- name: c\n  context: {{cluster: c, user: u}}\nusers:\n- name: u\n  user: {{}}\n",
                    server.url
                );
                std::fs::write(file.path(), cluster).ok()?;
                Box::new(move || {
                    format!(
                        "    config_path   = \"{}\"\n    token         = \"{}\"\n    secret_suffix = \"STATE\"\n",
                        file.path().display(),
                        kubernetes::TOKEN
                    )
                })
            }
        };
        Some(Self { backend, arguments, variables })
    }

    /// The configuration of an empty state. Each life has its own.
    pub(crate) fn config(&self, number: usize) -> String {
        let arguments = (self.arguments)().replace("STATE", &format!("life{number}x"));
        format!("terraform {{\n  backend \"{}\" {{\n{arguments}  }}\n}}\n", self.backend)
    }
}
