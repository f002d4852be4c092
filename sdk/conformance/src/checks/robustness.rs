//! Checks of robustness (Z): requests that no correct host sends, and many concurrent calls.

use std::time::Duration;

use bytes::Bytes;
use formwork_value::codec::json;

use super::compare_answers::matches_usual_answer;
use super::schema::await_all;
use crate::finding::Finding;
use crate::generate::{ConfigExtent, Dice};
use crate::message::{Field, Msg};
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, Reply};
use crate::request::{self, PlanInput};
use crate::rpc::Rpc;
use crate::suite::{READ_ONLY_CALL_TIMEOUT, Suite};

/// The number of mutations of each valid request.
const MUTATIONS_PER_REQUEST: usize = 24;

/// Checks the family as far as no configuration of the provider is needed.
pub(super) async fn run(suite: &mut Suite) {
    let requests = valid_requests(suite);
    if requests.is_empty() {
        return;
    }
    if suite.wants_any(&["Z-01", "Z-13"]) {
        for (rpc, request) in &requests {
            check_mutations(suite, *rpc, request).await;
        }
    }
    if suite.is_rule_wanted("Z-02") {
        check_deep_and_huge_values(suite, &requests).await;
    }
    if suite.wants_any(&["Z-03", "Z-04"]) {
        check_newer_and_older_hosts(suite, &requests).await;
    }
    if suite.is_rule_wanted("Z-05") {
        check_concurrent_calls(suite, &requests).await;
    }
    if suite.is_rule_wanted("Z-06") {
        check_cancelled_calls(suite, &requests).await;
    }
    if suite.is_rule_wanted("Z-07") {
        check_stop(suite, &requests).await;
    }
}

/// One valid request of each harmless call, for a sample of types.
pub(super) fn valid_requests(suite: &Suite) -> Vec<(Rpc, Msg)> {
    let mut requests = Vec::new();
    let mut seen_rpcs = std::collections::BTreeMap::new();
    let types: Vec<OfferedType> =
        suite.offer.types.iter().filter(|it| it.is_whole).cloned().collect();
    for offered in &types {
        let number = seen_rpcs.entry(offered.kind).or_insert(0);
        *number += 1;
        // A few of each kind, because a provider may have a thousand types.
        if *number > 3 {
            continue;
        }
        let config = suite.generate_config(offered, ConfigExtent::All, 0);
        requests.push((
            request::validate_rpc(offered.kind),
            request::validate_request(offered, &config),
        ));
        if offered.kind != Kind::Resource {
            continue;
        }
        let ty = offered.ty();
        let state = super::upgrade_and_move::generate_stored_object(suite, offered, 0);
        let text = json::encode(&state, &ty).unwrap_or_default();
        let upgrade =
            request::upgrade_request(&offered.name, offered.schema.version, text.as_bytes());
        requests.push((Rpc::UpgradeResourceState, upgrade));
        let input = PlanInput {
            prior: super::null_object(&ty),
            proposed: config.clone(),
            config,
            private: Bytes::new(),
            identity: None,
        };
        requests.push((Rpc::PlanResourceChange, request::plan_request(offered, &input)));
        requests
            .push((Rpc::ReadResource, request::read_request(offered, &state, &Bytes::new(), None)));
        let import = Msg::new()
            .with_text(1, &offered.name)
            .with_text(2, "conformance")
            .with_message(3, &request::client_capabilities());
        requests.push((Rpc::ImportResourceState, import));
    }
    requests.extend(function_requests(suite));
    requests
}

/// One valid call of each of the first functions.
fn function_requests(suite: &Suite) -> Vec<(Rpc, Msg)> {
    let mut requests = Vec::new();
    for function in suite.offer.functions.iter().take(4) {
        let mut dice = suite.seeded_dice(&function.name);
        let arguments: Vec<Msg> = function
            .parameters
            .iter()
            .map(|it| {
                let value = crate::generate::generate_value(
                    &it.name,
                    &it.ty,
                    ConfigExtent::Required,
                    &mut dice,
                );
                request::encode_dynamic(&value, &it.ty)
            })
            .collect();
        requests
            .push((Rpc::CallFunction, request::call_function_request(&function.name, &arguments)));
    }
    requests
}

/// Changes one field of a message: dropped, repeated, truncated, swapped or of another kind.
fn mutate_message(message: &Msg, dice: &mut Dice, depth: usize) -> Msg {
    let mut mutated = message.clone();
    if mutated.0.is_empty() {
        return mutated.with_nonzero_int(1, 7);
    }
    let index = dice.number_below(mutated.0.len());
    let (number, field) = mutated.0[index].clone();
    // Any bytes may be an inner message. Those that can be read as one are taken for it.
    let inner = match &field {
        Field::Bytes(bytes) if depth < 3 && dice.number_below(3) > 0 => Msg::parse(bytes),
        _ => None,
    };
    if let Some(inner) = inner.filter(|inner| !inner.0.is_empty()) {
        mutated.0[index] = (number, Field::Bytes(mutate_message(&inner, dice, depth + 1).encode()));
        return mutated;
    }
    match (dice.number_below(7), field) {
        (0, _) => drop(mutated.0.remove(index)),
        (1, field) => mutated.0.push((number, field)),
        (2, Field::Bytes(bytes)) => {
            mutated.0[index].1 = Field::Bytes(bytes.slice(..bytes.len() / 2));
        }
        // `c1` is the one byte that MessagePack never uses, and `ff` is never in UTF-8.
        (3, Field::Bytes(_)) => {
            mutated.0[index].1 = Field::Bytes(Bytes::from_static(b"\xc1\xff\x00"));
        }
        (4, Field::Bytes(bytes)) => {
            let mut changed = bytes.to_vec();
            if !changed.is_empty() {
                let byte_index = dice.number_below(changed.len());
                changed[byte_index] ^= 1 << dice.number_below(8);
            }
            mutated.0[index].1 = Field::Bytes(changed.into());
        }
        (5, Field::Bytes(_)) => mutated.0[index].1 = Field::Bytes(Bytes::from_static(b"\xc0")),
        // -1 where a version, count or enum is expected.
        (6, Field::Varint(_)) => mutated.0[index].1 = Field::Varint(u64::MAX),
        (_, Field::Bytes(_)) => mutated.0[index].1 = Field::Bytes(Bytes::new()),
        (_, other_field) => mutated.0.push((number + 1, other_field)),
    }
    mutated
}

async fn check_mutations(suite: &mut Suite, rpc: Rpc, request: &Msg) {
    // A provider without its configuration may crash by the call as such, which C-03 reports. Then no
    // mutation would be the cause.
    if suite.call(rpc, request).await.is_crash_or_hang() {
        return;
    }
    let mut dice = suite.seeded_dice(&format!("mutate {}", rpc.name()));
    for _ in 0..MUTATIONS_PER_REQUEST {
        if suite.is_run_over() {
            return;
        }
        let changed = mutate_message(request, &mut dice, 0);
        let call = suite.call(rpc, &changed).await;
        check_no_crash_or_panic(suite, &call, "a malformed request");
        if call.is_crash_or_hang() {
            // One crash of a call is enough, and each costs a restart.
            return;
        }
    }
    // Field 1 with a length whose end is missing.
    let call = suite
        .call_with_deadline(
            rpc,
            vec![Bytes::from_static(b"\x0a\xff\xff\xff")],
            READ_ONLY_CALL_TIMEOUT,
        )
        .await;
    check_no_crash_or_panic(suite, &call, "bytes that are not a message");
}

fn check_no_crash_or_panic(suite: &mut Suite, call: &Call, input: &str) {
    let panicked = matches!(&call.reply, Reply::Lost { panicked: true, .. });
    let subject = call.rpc.name();
    suite.record_case("Z-01", !call.is_crash_or_hang(), || {
        Finding::new("Z-01", &subject, format!("{input} crashes or hangs the provider"))
            .with_call(call)
    });
    suite.record_case("Z-13", !panicked, || {
        Finding::new("Z-13", &subject, "a panic ends the process").with_call(call)
    });
}

/// Replaces the first dynamic value of a request.
fn replace_dynamic_value(request: &Msg, value: &[u8]) -> Option<Msg> {
    let mut changed = request.clone();
    for (_, field) in &mut changed.0 {
        let Field::Bytes(bytes) = field else { continue };
        // In these requests, a message with only field 1 is a value in MessagePack.
        let Some(inner) =
            Msg::parse(bytes).filter(|inner| inner.has_field(1) && inner.0.len() == 1)
        else {
            continue;
        };
        *field = Field::Bytes(inner.replace_field(1, value.to_vec()).encode());
        return Some(changed);
    }
    None
}

fn plugin_resident_kib(suite: &Suite) -> u64 {
    let pid = suite.plugin().and_then(|it| it.started.as_ref()).map_or(0, |it| it.child.pid());
    super::resource_usage::resident_kib(pid)
}

async fn check_deep_and_huge_values(suite: &mut Suite, requests: &[(Rpc, Msg)]) {
    // A decoder that calls itself for each level runs out of stack here.
    let deep = [vec![0x91; 10_000], vec![0xc0]].concat();
    // Each claims a size without the bytes for it, and memory must not be allocated by a claim.
    let claims = [
        ("10,000 levels", deep),
        ("a map of 2^32 - 1 pairs", vec![0xdf, 0xff, 0xff, 0xff, 0xff]),
        ("a list of 2^32 - 1 elements", vec![0xdd, 0xff, 0xff, 0xff, 0xff]),
        ("a string of 2^32 - 1 bytes", vec![0xdb, 0xff, 0xff, 0xff, 0xff, b'a']),
    ];
    let mut seen_rpcs = std::collections::BTreeSet::new();
    for (rpc, request) in requests {
        if !seen_rpcs.insert(*rpc) || suite.is_run_over() {
            continue;
        }
        for (claim, bytes) in &claims {
            let Some(request) = replace_dynamic_value(request, bytes) else { continue };
            if suite.ensure_running().await.is_err() {
                return;
            }
            let before = plugin_resident_kib(suite);
            let call = suite.call(*rpc, &request).await;
            let after = if call.is_crash_or_hang() { before } else { plugin_resident_kib(suite) };
            // Half a GiB is far more than an error needs, and far less than the claims.
            let held = !call.is_crash_or_hang() && after < before + 512 * 1024;
            suite.record_case("Z-02", held, || {
                Finding::new("Z-02", &rpc.name(), format!("{claim} in a value"))
                    .with_call(&call)
                    .with_expected_and_found(
                        "an error",
                        format!("{}; memory {before} to {after} KiB", call.describe_outcome()),
                    )
            });
        }
    }
}

/// Adds fields of newer hosts, and leaves out those that older ones do not send.
async fn check_newer_and_older_hosts(suite: &mut Suite, requests: &[(Rpc, Msg)]) {
    for (rpc, request) in requests {
        if suite.is_run_over() {
            return;
        }
        // Reading may change with time, so only what is pure is compared.
        let is_pure = !matches!(rpc, Rpc::ReadResource | Rpc::ImportResourceState);
        let baseline = suite.call(*rpc, request).await;
        if baseline.is_crash_or_hang() {
            // Other rules report that; there is nothing to compare with.
            continue;
        }
        // By the rules of protobuf unknown fields are skipped, which is how the protocol grows.
        let newer = request.clone().with_text(900, "from the future").with_nonzero_int(901, 1);
        let call = suite.call(*rpc, &newer).await;
        let held = match is_pure {
            true => matches_usual_answer(suite, request, &baseline, &call).await,
            false => call.has_reply(),
        };
        suite.record_case("Z-03", held, || {
            Finding::new("Z-03", &rpc.name(), "unknown fields change the answer")
                .with_call(&baseline)
                .with_call(&call)
                .with_expected_and_found(baseline.describe_outcome(), call.describe_outcome())
        });
        // Hosts of before 5.2 send no `provider_meta`, of before 5.6 no capabilities, and of before
        // 5.9 no identity. Empty private data is not on the wire either.
        let older = match rpc {
            Rpc::PlanResourceChange => {
                request.clone().without_field(5).without_field(6).without_field(7).without_field(8)
            }
            Rpc::ReadResource => {
                request.clone().without_field(3).without_field(4).without_field(5).without_field(6)
            }
            Rpc::ValidateResourceConfig | Rpc::ImportResourceState => {
                request.clone().without_field(3).without_field(4)
            }
            _ => continue,
        };
        let call = suite.call(*rpc, &older).await;
        suite.record_case("Z-04", call.has_reply(), || {
            Finding::new("Z-04", &rpc.name(), "a request of an older host crashes the provider")
                .with_call(&call)
        });
    }
}

async fn check_concurrent_calls(suite: &mut Suite, requests: &[(Rpc, Msg)]) {
    // Reads, imports and plans may depend on a service, and so on time.
    let pure = |rpc: &Rpc| {
        !matches!(rpc, Rpc::ReadResource | Rpc::ImportResourceState | Rpc::PlanResourceChange)
    };
    let sample: Vec<&(Rpc, Msg)> = requests.iter().filter(|(rpc, _)| pure(rpc)).take(16).collect();
    if sample.is_empty() {
        return suite
            .note_skipped_rules(&["Z-05"], "the provider has no call that can be compared");
    }
    let mut serial = Vec::new();
    for (rpc, request) in &sample {
        serial.push(suite.call(*rpc, request).await);
    }
    if suite.ensure_running().await.is_err() {
        return;
    }
    let Some(plugin) = suite.plugin() else { return };
    let calls = (0..64).map(|index| {
        let (rpc, request) = sample[index % sample.len()];
        plugin.call(*rpc, request, READ_ONLY_CALL_TIMEOUT)
    });
    let parallel = await_all(calls).await;
    for (index, call) in parallel.iter().enumerate() {
        let (expected, (_, request)) =
            (&serial[index % serial.len()], sample[index % sample.len()]);
        let held = matches_usual_answer(suite, request, expected, call).await;
        suite.record_case("Z-05", held, || {
            Finding::new(
                "Z-05",
                &call.rpc.name(),
                "64 concurrent calls get different answers than serial ones",
            )
            .with_call(call)
            .with_expected_and_found(expected.describe_outcome(), call.describe_outcome())
        });
    }
}

async fn check_cancelled_calls(suite: &mut Suite, requests: &[(Rpc, Msg)]) {
    let Some((rpc, request)) = requests.first() else { return };
    let usual_duration = suite.call(*rpc, request).await.recorded.duration;
    // In microseconds: from before the request is read until after most answers.
    for deadline in [300, 1_000, 3_000, 10_000, 30_000] {
        if suite.ensure_running().await.is_err() {
            return;
        }
        let Some(plugin) = suite.plugin() else { return };
        // Dropping the call cancels it.
        plugin.call(*rpc, request, Duration::from_micros(deadline)).await;
    }
    let call = suite.call(*rpc, request).await;
    // A provider that continues working for the cancelled calls keeps the next one waiting.
    let limit = usual_duration * 2 + Duration::from_secs(5);
    suite.record_case("Z-06", call.has_reply() && call.recorded.duration <= limit, || {
        Finding::new(
            "Z-06",
            &rpc.name(),
            "after cancelled calls the next one is not answered in time",
        )
        .with_call(&call)
        .with_expected_and_found(
            format!("an answer within {} ms", limit.as_millis()),
            format!("{} in {} ms", call.describe_outcome(), call.recorded.duration.as_millis()),
        )
    });
}

async fn check_stop(suite: &mut Suite, requests: &[(Rpc, Msg)]) {
    // In a process of its own: most providers do not answer calls after it.
    let Ok(plugin) = suite.start_another_process().await else { return };
    let Some((rpc, request)) = requests.first() else { return };
    let stop = |deadline: u64| {
        plugin.call(Rpc::StopProvider, &EMPTY_REQUEST, Duration::from_secs(deadline))
    };
    let running = plugin.call(*rpc, request, Duration::from_secs(10));
    // At once: a stop comes while other calls are under way.
    let (first, running) = tokio::join!(stop(5), running);
    let second = stop(5).await;
    for call in [&first, &second] {
        let held = call.has_reply() && call.recorded.duration < Duration::from_secs(1);
        suite.record_case("Z-07", held, || {
            Finding::new("Z-07", "StopProvider", "StopProvider does not answer in time")
                .with_call(call)
                .with_expected_and_found(
                    "an answer within 1 s",
                    format!(
                        "{} in {} ms",
                        call.describe_outcome(),
                        call.recorded.duration.as_millis()
                    ),
                )
        });
    }
    suite.record_case("Z-07", !matches!(running.reply, Reply::TimedOut), || {
        Finding::new("Z-07", &rpc.name(), "a call during StopProvider hangs").with_call(&running)
    });
}

static EMPTY_REQUEST: Msg = Msg(Vec::new());
