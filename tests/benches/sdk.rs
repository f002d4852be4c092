//! Cost of the SDK: a large set beside a small one, lifecycles of an object in the test kit, and
//! calls of a provider on the SDK beside one that returns the same bytes, both in separate
//! processes.

mod echo;

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::client::{Executable, Plugin, Settings};
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::message::resource::ReadRequest;
use formwork_plugin_protocol::server::{Options as Serving, run};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_sdk::prelude::*;
use formwork_sdk::value::{Plain, Type, Value};
use formwork_sdk_testing::TestEngine;
use formwork_value::codec::msgpack;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use nix::unistd::Pid;

use crate::conformance;
use crate::limits::Verdict;
use crate::options::Options;

/// The sizes of the sets.
const SIZES: (usize, usize) = (100, 5_000);
/// Maximum cost of a large set, as a multiple of the cost of a small one.
const MAX_TIMES: f64 = 50.0;
/// Minimum number of lifecycles a second.
const MIN_LIFECYCLES: f64 = 200.0;
/// The part of the calls of the echo that the SDK must come to.
const MIN_PART: f64 = 0.8;
/// Number of calls that are made, one after the other.
const N_CALLS: usize = 5_000;
/// Environment variable that selects the provider a plugin process serves.
pub(crate) const SERVE: &str = "FORMWORK_BENCH_SERVE";

/// Result of a measurement.
pub(crate) struct Measured {
    pub(crate) name: String,
    /// The numbers that the result is computed from, as text.
    pub(crate) of: String,
    pub(crate) result: f64,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

/// Measures each selected row.
pub(crate) fn measure(options: &Options) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut measured = Vec::new();
    if options.selects("sdk sets") {
        let cost = |size| smallest(options, || set_of(size));
        let (small, large) = (cost(SIZES.0), cost(SIZES.1));
        let of = format!("{:.2} ms and {:.1} ms", small * 1e3, large * 1e3);
        let result = large / small;
        let (min, max) = (None, Some(MAX_TIMES));
        measured.push(Measured { name: "sdk sets".to_owned(), of, result, min, max });
    }
    if options.selects("sdk lives") {
        let (mut elapsed, mut seconds) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..options.repeat.max(2) {
            let (wall, cpu) = lifecycles();
            (elapsed, seconds) = (elapsed.min(wall), seconds.min(cpu));
        }
        let (wall, cpu) = (elapsed * 1e3, seconds * 1e3);
        let of = format!("{cpu:.2} ms of a core each, {wall:.2} ms long");
        let (result, min, max) = (1.0 / seconds, Some(MIN_LIFECYCLES), None);
        measured.push(Measured { name: "sdk lives".to_owned(), of, result, min, max });
    }
    if options.selects("sdk calls") {
        let [echo, ours] = calls(options)?;
        let of = format!("{ours:.0} and {echo:.0} a second");
        let (result, min, max) = (ours / echo, Some(MIN_PART), None);
        measured.push(Measured { name: "sdk calls".to_owned(), of, result, min, max });
    }
    Ok(measured)
}

/// The best of several: the capability of the machine without other load.
fn smallest(options: &Options, mut measure: impl FnMut() -> f64) -> f64 {
    (0..options.repeat.max(2)).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// The rows as a table.
pub(crate) fn table(measured: &[Measured]) -> String {
    if measured.is_empty() {
        return String::new();
    }
    let mut text = String::from("| measurement | values | result | limit |\n|---|---|--:|---|\n");
    for Measured { name, of, result, min, max } in measured {
        let limit = match (min, max) {
            (Some(min), _) => format!("at least {min}"),
            (_, Some(max)) => format!("at most {max}"),
            _ => String::new(),
        };
        writeln!(text, "| {name} | {of} | {result:.2} | {limit} |").ok();
    }
    text
}

/// The limits, and whether they were kept.
pub(crate) fn check(measured: &[Measured]) -> Vec<Verdict> {
    let verdict = |measured: &Measured| Verdict {
        claim: format!("{}: {:.2}", measured.name, measured.result),
        holds: measured.min.is_none_or(|min| measured.result >= min)
            && measured.max.is_none_or(|max| measured.result < max),
    };
    measured.iter().map(verdict).collect()
}

/// A group with members.
#[derive(Model)]
struct Crowd {
    /// Members of the group.
    #[attr(required, fills)]
    members: Set<Member>,
}

/// A member.
#[derive(Clone, Debug, Nested)]
struct Member {
    /// The name.
    #[attr(required)]
    name: String,
    /// The role.
    #[attr(default = "guest")]
    role: String,
    /// The number.
    #[attr(computed)]
    number: i64,
}

struct Crowds;

impl Resource for Crowds {
    type Model = Crowd;

    async fn create(&self, call: Create<Crowd>) -> Answer<CrowdComputed> {
        let members = (0..).zip(call.planned.members);
        let named = |(number, MemberInput { name, role })| Member { name, role, number };
        Ok(CrowdComputed { members: members.map(named).collect() })
    }
}

/// An object with a lifecycle.
#[derive(Clone, Model)]
struct Thing {
    /// The name.
    #[attr(required)]
    name: String,
    /// The size.
    #[attr(default = 1)]
    size: i64,
    /// Parts of the object.
    #[block]
    parts: Vec<Part>,
    /// The id.
    #[attr(computed, keep)]
    id: String,
}

/// A part of the object.
#[derive(Clone, Debug, Nested)]
struct Part {
    /// The kind.
    #[attr(required)]
    kind: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    async fn create(&self, call: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed { id: format!("id of {}", call.planned.name) })
    }
}

fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/bench")
        .resource("bench_crowd", Crowds)
        .resource("bench_thing", Things)
}

/// CPU seconds of this process, without other load on the machine.
fn taken() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF);
    let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
    usage.map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// CPU seconds of a no-op plan of a set: every element is read and compared.
fn set_of(size: usize) -> f64 {
    let mut engine = TestEngine::new(provider);
    let members: String =
        (0..size).map(|number| format!("{{ name = \"m{number}\" }},\n")).collect();
    let config = format!("resource \"bench_crowd\" \"a\" {{\n  members = [\n{members}]\n}}\n");
    engine.apply(&config).expect_applied();
    let planned = || {
        let begin = taken();
        engine.plan(&config).expect_no_changes();
        taken() - begin
    };
    std::iter::repeat_with(planned).take(7).fold(f64::INFINITY, f64::min)
}

/// Seconds and CPU seconds of one lifecycle: apply, no-op plan, destroy.
fn lifecycles() -> (f64, f64) {
    const N_LIFECYCLES: u32 = 200;
    let config = "resource \"bench_thing\" \"a\" {\n  name = \"a\"\n  parts { kind = \"b\" }\n}\n";
    let mut engine = TestEngine::new(provider);
    let (begin, before) = (Instant::now(), taken());
    (0..N_LIFECYCLES).for_each(|_| engine.run_lifecycle(config));
    let n_lifecycles = f64::from(N_LIFECYCLES);
    (begin.elapsed().as_secs_f64() / n_lifecycles, (taken() - before) / n_lifecycles)
}

/// Calls a second of the echo and of a provider on the SDK, one after the other, on one processor.
/// They take turns, so that other load affects both equally.
fn calls(options: &Options) -> Result<[f64; 2], Box<dyn Error>> {
    const N_TURNS: usize = 10;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _alone = OneProcessor::take()?;
    runtime.block_on(async {
        let plugins = [launched("echo").await?, launched("sdk").await?];
        let request = request()?;
        let mut best_rates = [f64::INFINITY; 2];
        for _ in 0..options.repeat.max(2) * N_TURNS {
            for (plugin, best_rates) in plugins.iter().zip(&mut best_rates) {
                let provider = plugin.provider();
                let begin = Instant::now();
                for _ in 0..N_CALLS / N_TURNS {
                    let answer = provider.read(request.clone()).await?;
                    assert!(answer.diagnostics.is_empty(), "{:?}", answer.diagnostics);
                }
                *best_rates = best_rates.min(begin.elapsed().as_secs_f64());
            }
        }
        for plugin in plugins {
            plugin.shutdown().await;
        }
        Ok(best_rates.map(|seconds| (N_CALLS / N_TURNS) as f64 / seconds))
    })
}

/// Keeps this thread and its children on one processor as long as it is held. With two processors,
/// waking the other one up takes longer than a call, and the need for it changes from run to run.
pub(crate) struct OneProcessor(CpuSet);

impl OneProcessor {
    pub(crate) fn take() -> Result<Self, Errno> {
        let all = sched_getaffinity(Pid::from_raw(0))?;
        let mut cpu_set = CpuSet::new();
        let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu) == Ok(true));
        cpu_set.set(first.unwrap_or(0))?;
        sched_setaffinity(Pid::from_raw(0), &cpu_set)?;
        Ok(Self(all))
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        // It was allowed before.
        let _ = sched_setaffinity(Pid::from_raw(0), &self.0);
    }
}

pub(crate) async fn launched(provider_name: &str) -> Result<Plugin, Box<dyn Error>> {
    let path = std::env::current_exe()?;
    let env = vec![(SERVE.into(), provider_name.into())];
    let executable = Executable {
        name: provider_name.to_owned(),
        path,
        arg0: None,
        identity: None,
        env,
        withheld: Vec::new(),
    };
    Ok(Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await?)
}

/// A stored object with 20 blocks.
fn thing() -> Value {
    let parts = (0..20).map(|number| Part { kind: format!("kind {number}") }).collect();
    Thing { name: "a".to_owned(), size: 1, parts, id: "id of a".to_owned() }.to_value()
}

/// The request for a stored object, encoded once.
fn request() -> Result<ReadRequest, Box<dyn Error>> {
    let value: Plain = Value::split_marks(thing()).0;
    let current = Payload::Value(value, Thing::shape().ty().clone()).encode()?;
    Ok(ReadRequest {
        type_name: "bench_thing".to_owned(),
        current,
        private: bytes::Bytes::new(),
        provider_meta: Payload::Absent,
        client: ClientCapabilities::default(),
        identity: None,
    })
}

/// The configuration of the same object in MessagePack.
pub(crate) fn config() -> Result<Vec<u8>, Box<dyn Error>> {
    let Value::Object(thing) = thing() else { return Err("the model is no object".into()) };
    // A configuration cannot set the computed id.
    let part = |name: &str, value: &Value| match name {
        "id" => Value::null(Type::String),
        _ => value.clone(),
    };
    let parts = thing.iter().map(|(name, value)| (name.clone(), part(name.as_str(), value)));
    Ok(msgpack::encode(&Value::object(parts), Thing::shape().ty())?)
}

/// Serves the requested plugin, if the environment names one.
pub(crate) fn serve() -> Option<ExitCode> {
    let provider_name = std::env::var(SERVE).ok()?;
    let options = Serving {
        address: "registry.terraform.io/acme/bench".to_owned(),
        protocols: &Protocol::ALL,
        debug: false,
    };
    if let Some(wide) = conformance::provider(&provider_name) {
        return Some(run(&options, Arc::new(wide.into_provider())));
    }
    Some(match provider_name.as_str() {
        "echo" => run(&options, Arc::new(echo::Echo)),
        _ => run(&options, Arc::new(provider().into_provider())),
    })
}
