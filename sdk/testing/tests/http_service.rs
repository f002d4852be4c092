//! A provider whose client has timeouts, against a real, slow HTTP server that requires unique
//! names.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use formwork_sdk::prelude::*;
use formwork_sdk_testing::{FaultSweep, TestEngine};

/// The time that the service takes for an answer.
const LATENCY: Duration = Duration::from_millis(20);

/// The names of things by id, on a server of this test.
#[derive(Clone)]
struct Service {
    address: SocketAddr,
    things: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let service = Self { address: listener.local_addr().unwrap(), things: Arc::default() };
        let serving = service.clone();
        // On threads, because time in the test engine's runtime may not advance.
        thread::spawn(move || {
            for connection in listener.incoming() {
                let service = serving.clone();
                thread::spawn(move || service.serve(connection.unwrap()));
            }
        });
        service
    }

    /// Answers the requests of one connection.
    fn serve(&self, mut connection: TcpStream) {
        let mut from = BufReader::new(connection.try_clone().unwrap());
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if from.read_line(&mut head).unwrap_or(0) == 0 {
                    return;
                }
            }
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            let mut body = vec![0; length.unwrap_or(0)];
            from.read_exact(&mut body).unwrap();
            let words: Vec<&str> = head.split(' ').collect();
            let id = words[1].rsplit('/').next().unwrap();
            // A service takes time: this is what the clients here have their timeouts for.
            thread::sleep(LATENCY);
            let (status, text) = self.answer(words[0], id, &String::from_utf8(body).unwrap());
            let length = text.len();
            let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n{text}");
            if connection.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, method: &str, id: &str, body: &str) -> (u16, String) {
        let mut things = self.things.lock().unwrap();
        match method {
            // Unique names reveal a lost object: the next creation fails.
            "POST" if things.values().any(|name| name == body) => (409, body.to_owned()),
            "POST" => {
                let id = (0..).map(|n| format!("t-{n}")).find(|id| !things.contains_key(id));
                let id = id.unwrap();
                things.insert(id.clone(), body.to_owned());
                (201, id)
            }
            "GET" => things.get(id).map_or((404, String::new()), |name| (200, name.clone())),
            "PUT" => {
                things.insert(id.to_owned(), body.to_owned());
                (200, String::new())
            }
            _ => (if things.remove(id).is_some() { 204 } else { 404 }, String::new()),
        }
    }

    fn ids(&self) -> Vec<String> {
        self.things.lock().unwrap().keys().cloned().collect()
    }

    fn keep_only(&self, ids: &[String]) {
        self.things.lock().unwrap().retain(|id, _| ids.contains(id));
    }
}

#[derive(Clone, Model)]
struct Thing {
    #[attr(required)]
    name: String,
    #[attr(computed, keep, import)]
    id: String,
}

/// Things on a server, accessed by a client with timeouts.
struct Things {
    client: reqwest::Client,
    url: String,
    /// The time that passes between the creation and its confirmation.
    settling: Duration,
}

impl Things {
    async fn ask(&self, request: reqwest::RequestBuilder) -> Answer<(u16, String)> {
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        Ok((status, answer.text().await?))
    }

    fn url_of(&self, id: &str) -> String {
        format!("{}/{id}", self.url)
    }
}

impl Resource for Things {
    type Model = Thing;

    async fn create(&self, call: Create<Thing>) -> Answer<ThingComputed> {
        let request = self.client.post(&self.url).body(call.planned.name.clone());
        match self.ask(request).await? {
            (201, id) => {
                // By the clock of the test engine, which jumps.
                tokio::time::sleep(self.settling).await;
                Ok(ThingComputed { id })
            }
            (status, name) => Err(Problem::from_detail(format!("{status}: {name} exists already"))),
        }
    }

    async fn read(&self, call: Read<Thing>) -> Answer<Option<Thing>> {
        let id = call.current.id;
        let (status, name) = self.ask(self.client.get(self.url_of(&id))).await?;
        Ok((status == 200).then_some(Thing { name, id }))
    }

    async fn update(&self, call: Update<Thing>) -> Answer<ThingComputed> {
        let id = call.prior.id;
        self.ask(self.client.put(self.url_of(&id)).body(call.planned.name)).await?;
        Ok(ThingComputed { id })
    }

    async fn delete(&self, call: Delete<Thing>) -> Answer<()> {
        self.ask(self.client.delete(self.url_of(&call.prior.id))).await?;
        Ok(())
    }
}

/// A provider whose client gives up after a while, and keeps no connection that it does not use.
fn provider(address: SocketAddr, timeout: Duration, settling: Duration) -> ProviderDef {
    let client = reqwest::Client::builder()
        .timeout(timeout)
        .connect_timeout(timeout)
        // For the test engine, an idle connection looks like an answer under way.
        .pool_max_idle_per_host(0)
        // A proxy of the environment may not reach this server.
        .no_proxy();
    let things = Things {
        client: client.build().unwrap(),
        url: format!("http://{address}/things"),
        settling,
    };
    ProviderDef::new("registry.terraform.io/acme/web").resource("web_thing", things)
}

const PATIENCE: Duration = Duration::from_secs(120);
const CONFIG: &str = "resource \"web_thing\" \"a\" {\n  name = \"a\"\n}\n";

#[test]
fn a_client_timeout_does_not_expire_during_a_response() {
    let service = Service::start();
    let address = service.address;
    let mut engine = TestEngine::new(move || provider(address, PATIENCE, Duration::ZERO));
    engine.run_lifecycle(CONFIG);
    engine.apply(CONFIG).expect_applied();
    engine.apply(&CONFIG.replace("\"a\"\n", "\"b\"\n")).expect_applied();
    assert_eq!(service.things.lock().unwrap()["t-0"], "b");
}

#[test]
fn time_between_two_requests_is_skipped() {
    let service = Service::start();
    let address = service.address;
    let settling = Duration::from_secs(600);
    let mut engine = TestEngine::new(move || provider(address, PATIENCE, settling));
    let begun = Instant::now();
    engine.run_lifecycle(CONFIG);
    assert!(begun.elapsed() < settling / 2, "the ten minutes took {:?}", begun.elapsed());
}

#[test]
fn a_client_timeout_expires_without_a_response() {
    // A server that accepts connections and sends no data.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for is_real in [false, true] {
        let timeout = Duration::from_millis(50);
        let mut engine = TestEngine::new(move || provider(address, timeout, Duration::ZERO));
        if is_real {
            engine.use_real_time();
        }
        engine.apply(CONFIG).expect_error("timed out");
        assert_eq!(engine.n_objects(), 0);
    }
}

#[test]
fn any_failed_call_on_a_service_with_unique_names_leaves_no_object() {
    let service = Service::start();
    let address = service.address;
    let cases = FaultSweep::new(move || provider(address, PATIENCE, Duration::ZERO))
        // Names are unique, so what a lost creation left would be in the way of the next one.
        .remove_orphans_with(|stored| service.keep_only(stored))
        .list_leftovers_with(|| service.ids())
        .run(CONFIG);
    assert!(cases.iter().any(|case| case.call == "apply web_thing"), "{cases:?}");
}

#[test]
#[should_panic(expected = "a exists already")]
fn a_leftover_object_blocks_its_successor() {
    let service = Service::start();
    let address = service.address;
    FaultSweep::new(move || provider(address, PATIENCE, Duration::ZERO)).run(CONFIG);
}
