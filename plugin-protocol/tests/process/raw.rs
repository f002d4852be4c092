//! The raw door to plugins that were launched: bytes to a process, bytes and a status from it.

use std::time::SystemTime;

use formwork_plugin_protocol::ProviderExt as _;
use formwork_plugin_protocol::client::GrpcProvider;
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::raw::{RawCall, RawError, RawReply};
use formwork_plugin_protocol::transcript::{CallOutcome, Recorder};

use super::*;

#[tokio::test]
async fn raw_calls_to_a_launched_plugin_return_bytes_and_a_status() {
    for (behaviour, protocol) in [("", Protocol::V6), ("old", Protocol::V5)] {
        let (plugin, _process) = launch_watched(behaviour, &Settings::TERRAFORM_DEFAULTS).await;
        let transport = plugin.transport();
        // Protocol 5 has another name for the method.
        let method = if protocol == Protocol::V5 { "Stop" } else { "StopProvider" };
        let RawReply { messages, end } =
            transport.call_and_collect_reply(RawCall::new(protocol, method, "")).await;
        // Field 1, a string of eight bytes.
        assert_eq!(messages, [&b"\x0a\x08stopping"[..]]);
        assert!(end.is_ok(), "{end:?}");
        for call in [
            RawCall::new(protocol, "NoSuchMethod", ""),
            RawCall::of_service("no.such.Service", "Method", ""),
        ] {
            let end = transport.call_and_collect_reply(call.clone()).await.end;
            let Err(RawError::Status(status)) = end else { panic!("{}: {end:?}", call.path) };
            assert_eq!(status.code_name(), "Unimplemented", "{}", call.path);
        }
        plugin.shutdown().await;
        let end = transport.call_and_collect_reply(RawCall::new(protocol, method, "")).await.end;
        assert!(matches!(end, Err(RawError::Failed(_))), "{end:?}");
    }
}

#[tokio::test]
async fn calls_to_a_launched_plugin_are_replayed_without_it() {
    let (plugin, process) = launch_watched("", &Settings::TERRAFORM_DEFAULTS).await;
    let recorder = Recorder::new(SystemTime::UNIX_EPOCH);
    let layered = recorder.wrap_transport(plugin.transport());
    let provider = GrpcProvider::over_transport(layered, plugin.protocol());
    let schema = provider.schema().await.expect("a schema");
    plugin.shutdown().await;
    process.wait_for_end().await;

    let transcript = recorder.transcript();
    assert_eq!(transcript.calls.len(), 1);
    assert_eq!(transcript.calls[0].method(), "GetProviderSchema");
    assert_eq!(transcript.calls[0].outcome, CallOutcome::Ok);
    let replay = GrpcProvider::over_transport(transcript.replay(), Protocol::V6);
    assert_eq!(replay.schema().await.expect("the same schema"), schema);
}
