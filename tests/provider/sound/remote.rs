//! The service of the sound provider: with `SOUND_SERVICE` its items exist there, too, and each apply and
//! read asks it. A remote fault changes the requests of the provider, or its use of the responses.

use std::sync::Arc;
use std::time::Duration;

use formwork_conformance::message::Msg;
use formwork_conformance::offer::{Kind, Offer, OfferedType};
use formwork_conformance::rpc::Rpc;
use formwork_tests::seeded::{Fault, RemoteBug};
use formwork_value::codec::{json, msgpack};
use formwork_value::duration::parse_nanoseconds;
use formwork_value::{Path, Value};
use ureq::Agent;
use ureq::http::Request;
use ureq::tls::{RootCerts, TlsConfig};

use crate::objects;

/// The URL that the provider logs in at when it uses a proxy. Nothing responds there.
const LOGIN: &str = "https://127.0.0.1:9/login";

/// Attempts at a read that a busy service refuses.
const ATTEMPTS: usize = 3;

/// Attempts at the first read of a new object.
const FIRST_ATTEMPTS: usize = 5;

/// The limit of a request without another one.
const LONGEST: Duration = Duration::from_secs(10);

/// The limit of a provider that ignores the configured one.
const TOO_LONG: Duration = Duration::from_secs(60);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The service.
#[derive(Clone)]
pub(crate) struct Remote {
    url: Arc<str>,
    agent: Agent,
    bug: Option<RemoteBug>,
}

/// An answer of the service: its status, 0 if there was none, and its content.
type Reply = (u16, Vec<u8>);

impl Remote {
    /// The service in the environment, if there is one.
    pub(crate) fn from_env(fault: Option<&Fault>) -> Option<Self> {
        let url = std::env::var("SOUND_SERVICE").ok()?.into();
        let bug = match fault {
            Some(Fault::Remote(bug)) => Some(*bug),
            _ => None,
        };
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .disable_verification(bug == Some(RemoteBug::TrustsAnyone))
            .unversioned_rustls_crypto_provider(formwork_plugin_protocol::crypto_provider())
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .build();
        Some(Self { url, agent: config.new_agent(), bug })
    }

    async fn send(&self, method: &str, path: &str, body: Vec<u8>) -> Reply {
        self.send_within(LONGEST, method, format!("{}{path}", self.url), body).await
    }

    async fn send_within(
        &self,
        limit: Duration,
        method: &str,
        url: String,
        body: Vec<u8>,
    ) -> Reply {
        let request = Request::builder().method(method).uri(url).body(body);
        let request = request.expect("ids are letters and digits");
        let agent = self.agent.clone();
        let sent = tokio::task::spawn_blocking(move || {
            let request = agent.configure_request(request).timeout_global(Some(limit)).build();
            let mut answer = agent.run(request).ok()?;
            Some((answer.status().as_u16(), answer.body_mut().read_to_vec().ok()?))
        });
        sent.await.ok().flatten().unwrap_or_default()
    }

    /// Reads an item, again where the service is busy.
    async fn get(&self, id: &str) -> Reply {
        let mut reply = Reply::default();
        for _ in 0..ATTEMPTS {
            reply = self.send("GET", &format!("/items/{id}"), Vec::new()).await;
            if (200..500).contains(&reply.0) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        reply
    }

    /// Calls that are made for every request.
    pub(crate) async fn call_before(&self, rpc: Rpc) {
        match rpc {
            Rpc::ConfigureProvider if std::env::var_os("HTTPS_PROXY").is_some() => {
                // No server answers: only the connection matters.
                self.send_within(LONGEST, "GET", LOGIN.to_owned(), Vec::new()).await;
            }
            Rpc::PlanResourceChange if self.bug == Some(RemoteBug::PlanPosts) => {
                self.send("POST", "/reservations", b"{}".to_vec()).await;
            }
            _ => {}
        }
    }

    /// Changes the answer to an apply or a read to the response of the service.
    pub(crate) async fn adjust_answer(
        &self,
        offer: &Offer,
        rpc: Rpc,
        request: &Msg,
        answer: &mut Msg,
    ) {
        let name = request.get_text(1);
        let offered = offer
            .usable_types_of_kind(Kind::Resource)
            .find(|it| it.name == name && name == "sound_item");
        let Some(offered) = offered else { return };
        let item = Item { rpc, offered, request, answer };
        if item.has_error() {
            return;
        }
        match rpc {
            Rpc::ReadResource => self.read(item).await,
            Rpc::ApplyResourceChange => self.apply(item).await,
            _ => {}
        }
    }

    async fn read(&self, mut item: Item<'_>) {
        let Some(current) = item.requested_value(2) else { return };
        let Some(id) = id_of(&current) else { return };
        if self.bug == Some(RemoteBug::ReadPuts) {
            self.send("PUT", &format!("/items/{id}"), item.json(&current)).await;
        }
        let ty = item.offered.ty();
        match self.get(&id).await {
            (200, content) => {
                if let Ok(real) = json::decode(&content, &ty) {
                    item.set(&real);
                }
            }
            (404, _) => item.set(&Value::null(ty)),
            (status, _) => item.answer_error(status, &current),
        }
    }

    async fn apply(&self, item: Item<'_>) {
        let (prior, applied) = (item.requested_value(2), item.answered());
        match (prior, applied) {
            (None, Some(applied)) => self.create(item, &applied).await,
            (Some(prior), Some(applied)) => self.update(item, &prior, &applied).await,
            (Some(prior), None) => self.delete(item, &prior).await,
            (None, None) => {}
        }
    }

    async fn create(&self, mut item: Item<'_>, applied: &Value) {
        let Some(id) = id_of(applied) else { return };
        // An item whose create is cut off is listed, too.
        if self.bug != Some(RemoteBug::RegistersLate) {
            objects::store_object(item.offered, applied);
        }
        let limit = self.limit(applied);
        let items = format!("{}/items", self.url);
        let mut status = self.send_within(limit, "POST", items, item.json(applied)).await.0;
        if self.bug == Some(RemoteBug::PostsAgain) && status >= 500 {
            status = self.send("POST", "/items", item.json(applied)).await.0;
        }
        let null = Value::null(item.offered.ty());
        if !(200..300).contains(&status) {
            objects::remove(applied);
            return item.answer_error(status, &null);
        }
        for _ in 0..FIRST_ATTEMPTS {
            status = match self.bug {
                // Its answer is taken as it is.
                Some(RemoteBug::ForgetsCreated) => {
                    self.send("GET", &format!("/items/{id}"), Vec::new()).await.0
                }
                _ => self.get(&id).await.0,
            };
            if status != 404 || self.bug == Some(RemoteBug::BelievesNotFound) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        if !(200..300).contains(&status) {
            let forgets =
                matches!(self.bug, Some(RemoteBug::ForgetsCreated | RemoteBug::BelievesNotFound));
            item.answer_error(status, if forgets { &null } else { applied });
        }
    }

    /// The limit for creating an item.
    fn limit(&self, applied: &Value) -> Duration {
        if self.bug == Some(RemoteBug::IgnoresTimeouts) {
            return TOO_LONG;
        }
        let path = Path::root().attribute("timeouts").attribute("create");
        let Some(Value::String(text)) = path.find(applied) else { return LONGEST };
        let limit = parse_nanoseconds(text.as_str()).ok().and_then(|it| u64::try_from(it).ok());
        limit.map_or(LONGEST, Duration::from_nanos)
    }

    async fn update(&self, mut item: Item<'_>, prior: &Value, applied: &Value) {
        let Some(id) = id_of(applied) else { return };
        let is_unchanged = item.requested_value(3).as_ref() == Some(prior);
        if is_unchanged && self.bug != Some(RemoteBug::PutsUnchanged) {
            return;
        }
        let (status, _) = self.send("PUT", &format!("/items/{id}"), item.json(applied)).await;
        if self.bug == Some(RemoteBug::KeepsPrior) && status >= 500 {
            return item.answer_error(status, prior);
        }
        let (read, content) = self.get(&id).await;
        let real = json::decode(&content, &item.offered.ty()).ok().filter(|_| read == 200);
        if !(200..300).contains(&status) {
            item.answer_error(status, &real.unwrap_or_else(|| prior.clone()));
        } else if real.is_none() {
            item.answer_error(read, applied);
        }
    }

    async fn delete(&self, mut item: Item<'_>, prior: &Value) {
        let Some(id) = id_of(prior) else { return };
        let (status, _) = self.send("DELETE", &format!("/items/{id}"), Vec::new()).await;
        let is_gone = (200..300).contains(&status) || status == 404;
        if !is_gone && self.bug != Some(RemoteBug::ForgetsUndestroyed) {
            item.answer_error(status, prior);
        }
    }
}

/// An item in a request, and the answer about it.
struct Item<'c> {
    rpc: Rpc,
    offered: &'c OfferedType,
    request: &'c Msg,
    answer: &'c mut Msg,
}

impl Item<'_> {
    fn has_error(&self) -> bool {
        let field = self.rpc.diagnostics_field().unwrap_or_default();
        self.answer.repeated_messages(field).iter().any(|it| it.get_int(1) == 1)
    }

    fn decode(&self, dynamic: Option<Msg>) -> Option<Value> {
        let decoded = msgpack::decode(&dynamic?.get_bytes(1), &self.offered.ty()).ok()?;
        (!decoded.is_null()).then_some(decoded)
    }

    fn requested_value(&self, field: u32) -> Option<Value> {
        self.decode(self.request.get_msg(field))
    }

    fn answered(&self) -> Option<Value> {
        self.decode(self.answer.get_msg(1))
    }

    fn json(&self, value: &Value) -> Vec<u8> {
        json::encode(value, &self.offered.ty()).unwrap_or_default().into_bytes()
    }

    fn set(&mut self, value: &Value) {
        let encoded = msgpack::encode(value, &self.offered.ty()).unwrap_or_default();
        let dynamic = Msg::new().with_bytes(1, encoded);
        *self.answer = std::mem::take(self.answer).replace_field(1, dynamic.encode());
    }

    /// Answers with an error and the object.
    fn answer_error(&mut self, status: u16, value: &Value) {
        self.set(value);
        let detail = format!("The service answered with the status {status}.");
        let problem = Msg::new()
            .with_nonzero_int(1, 1)
            .with_text(2, "The service failed")
            .with_text(3, &detail);
        let Some(field) = self.rpc.diagnostics_field() else { return };
        *self.answer = std::mem::take(self.answer).with_message(field, &problem);
    }
}

fn id_of(value: &Value) -> Option<String> {
    match Path::root().attribute("id").find(value) {
        Some(Value::String(id)) => Some(id.as_str().to_owned()),
        _ => None,
    }
}
