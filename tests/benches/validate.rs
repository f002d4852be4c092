//! Rates of `ValidateResourceConfig`: of a provider on the SDK, and of the conformance suite, beside
//! those of a bare echo. All processes run on one processor and take turns.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;
use formwork_conformance::suite::Suite;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::client::Plugin;
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::raw::{RawCall, Transport};
use formwork_plugin_protocol::{Payload, ProviderExt as _};

use crate::options::Options;
use crate::sdk::{Measured, OneProcessor, SERVE, config, launched};

/// The part of the calls of the echo that the others must come to.
const MIN_PART: f64 = 0.8;
/// Number of calls in one turn.
const N_CALLS: usize = 1_000;
/// Number of turns of each caller, times the repetitions.
const N_TURNS: usize = 5;
/// The type of the validated object.
const TYPE: &str = "bench_thing";

/// A caller of one process.
enum Caller {
    /// The engine's client.
    Client(Plugin),
    /// The bytes of the same request, without any message.
    Bytes(Plugin, Arc<dyn Transport>),
    /// The conformance suite.
    Suite(Box<Suite>),
}

impl Caller {
    async fn client(served: &str) -> Result<Self, Box<dyn Error>> {
        Ok(Self::Client(launched(served).await?))
    }

    async fn bytes(served: &str) -> Result<Self, Box<dyn Error>> {
        let plugin = launched(served).await?;
        let transport = plugin.transport();
        Ok(Self::Bytes(plugin, transport))
    }

    async fn suite(served: &str) -> Result<Self, Box<dyn Error>> {
        let mut options = formwork_conformance::Options::new(std::env::current_exe()?);
        options.env = vec![(SERVE.into(), served.into())];
        let mut suite = Suite::new(options);
        suite.ensure_running().await?;
        Ok(Self::Suite(Box::new(suite)))
    }

    /// Makes the calls of one turn, and returns their rate.
    async fn turn(&mut self, config: &Bytes) -> Result<f64, Box<dyn Error>> {
        let begin = Instant::now();
        match self {
            Self::Client(plugin) => {
                let provider = plugin.provider();
                let request = ValidateRequest {
                    type_name: TYPE.to_owned(),
                    config: Payload::Msgpack(config.clone()),
                    client: ClientCapabilities::default(),
                };
                for _ in 0..N_CALLS {
                    let answer = provider.validate_resource_config(request.clone()).await?;
                    assert!(answer.diagnostics.is_empty(), "{:?}", answer.diagnostics);
                }
            }
            Self::Bytes(plugin, transport) => {
                let call = RawCall::new(
                    plugin.protocol(),
                    "ValidateResourceConfig",
                    message(config).encode(),
                );
                for _ in 0..N_CALLS {
                    transport.call_and_collect_reply(call.clone()).await.end?;
                }
            }
            Self::Suite(suite) => {
                let request = message(config);
                for _ in 0..N_CALLS {
                    let call = suite.call(Rpc::ValidateResourceConfig, &request).await;
                    assert!(call.is_success(), "{}", call.describe_outcome());
                }
            }
        }
        Ok(N_CALLS as f64 / begin.elapsed().as_secs_f64())
    }

    async fn end(self) {
        match self {
            Self::Client(plugin) | Self::Bytes(plugin, _) => plugin.shutdown().await,
            Self::Suite(mut suite) => suite.end_plugin(),
        }
    }
}

/// The request that the suite sends.
fn message(config: &Bytes) -> Msg {
    let capabilities = Msg::new().with_nonzero_int(2, 1);
    Msg::new()
        .with_text(1, TYPE)
        .with_message(2, &Msg::new().with_bytes(1, config.clone()))
        .with_message(3, &capabilities)
}

/// Measures each selected row.
pub(crate) fn measure(options: &Options) -> Result<Vec<Measured>, Box<dyn Error>> {
    const ROWS: [&str; 3] = ["sdk validate", "suite validate", "suite validate of the sdk"];
    if !ROWS.iter().any(|name| options.selects(name)) {
        return Ok(Vec::new());
    }
    let [echo, client_echo, client_sdk, suite_echo, suite_sdk] = rates(options)?;
    let row = |name: &str, ours: f64, echo: f64| Measured {
        name: name.to_owned(),
        of: format!("{ours:.0} and {echo:.0} a second"),
        result: ours / echo,
        min: Some(MIN_PART),
        max: None,
    };
    let [sdk, suite, both] = ROWS;
    let rows = [
        row(sdk, client_sdk, client_echo),
        row(suite, suite_echo, echo),
        // Both differences together: printed, without a limit.
        Measured { min: None, ..row(both, suite_sdk, echo) },
    ];
    Ok(rows.into_iter().filter(|row| options.selects(&row.name)).collect())
}

/// The best rate of each caller.
fn rates(options: &Options) -> Result<[f64; 5], Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _alone = OneProcessor::take()?;
    runtime.block_on(async {
        let mut callers = [
            Caller::bytes("echo").await?,
            Caller::client("echo").await?,
            Caller::client("sdk").await?,
            Caller::suite("echo").await?,
            Caller::suite("sdk").await?,
        ];
        let config = Bytes::from(config()?);
        let mut best_rates = [0.0_f64; 5];
        for _ in 0..options.repeat.max(2) * N_TURNS {
            for (caller, best_rates) in callers.iter_mut().zip(&mut best_rates) {
                *best_rates = best_rates.max(caller.turn(&config).await?);
            }
        }
        for caller in callers {
            caller.end().await;
        }
        Ok(best_rates)
    })
}
