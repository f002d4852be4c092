//! The usual life of a plugin, in every combination of version and transport.

use formwork_plugin_protocol::client::Settings;
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::message::configure::ConfigureRequest;
use formwork_plugin_protocol::{Failure, Payload, ProviderExt as _};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;

#[tokio::test]
async fn a_plugin_starts_answers_and_ends_with_and_without_tls_in_both_versions() {
    for tls in [true, false] {
        for (behaviour, protocol) in [("", Protocol::V6), ("old", Protocol::V5)] {
            let settings = Settings { tls, ..Settings::TERRAFORM_DEFAULTS };
            let (plugin, process) = launch_watched(behaviour, &settings).await;
            assert_eq!(plugin.protocol(), protocol);
            let provider = plugin.provider();
            let schema = provider.schema().await.expect("a schema");
            assert!(schema.resources.contains_key("tiny_thing"), "{schema:?}");
            assert_eq!(provider.stop().await.expect("an answer"), "stopping");
            plugin.shutdown().await;
            process.wait_for_end().await;
            let error = provider.stop().await.expect_err("it was shut down");
            assert!(matches!(error, Failure::Lost { .. }), "{error:?}");
        }
    }
}

#[tokio::test]
async fn an_interrupt_does_not_end_a_plugin() {
    let (plugin, process) = launch_watched("", &Settings::TERRAFORM_DEFAULTS).await;
    let pid = Pid::from_raw(plugin.pid().expect("it is ours"));
    // An interrupt from a terminal reaches plugins too, and only the host determines when they can end.
    kill(pid, Signal::SIGINT).expect("it is there");
    plugin.provider().schema().await.expect("the plugin still answers");
    assert!(process.is_running());
}

#[tokio::test]
async fn output_of_a_provider_does_not_block_calls() {
    for behaviour in ["prints", "chatters"] {
        let (plugin, process) = launch_watched(behaviour, &Settings::TERRAFORM_DEFAULTS).await;
        let provider = plugin.provider();
        // If the first call had filled a pipe, the second would hang.
        for _ in 0..2 {
            timeout(HANG_TIMEOUT, provider.schema())
                .await
                .expect("it is not held up")
                .expect("a schema");
        }
        plugin.shutdown().await;
        process.wait_for_end().await;
    }
}

#[tokio::test]
async fn a_panic_fails_one_call_and_not_the_others() {
    let (plugin, _process) = launch_watched("panics", &Settings::TERRAFORM_DEFAULTS).await;
    let provider = plugin.provider();
    let failure = provider.schema().await.expect_err("it panics");
    assert!(failure.to_string().contains("the schema is lost"), "{failure:?}");
    provider.metadata().await.expect("the process lives");
}

#[tokio::test]
async fn many_calls_at_once_share_the_connections() {
    let (plugin, _process) = launch_watched("", &Settings::TERRAFORM_DEFAULTS).await;
    let provider = plugin.provider();
    let calls = (0..200).map(|_| provider.metadata());
    for answer in futures_util::future::join_all(calls).await {
        answer.expect("an answer");
    }
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_calls_that_never_end() {
    let (plugin, process) = launch_watched("", &Settings::TERRAFORM_DEFAULTS).await;
    let provider = plugin.provider();
    let call = tokio::spawn(async move {
        let request = ConfigureRequest {
            terraform_version: "1.11.4".to_owned(),
            config: Payload::Absent,
            client: Default::default(),
        };
        provider.configure(request).await
    });
    // Once another call is answered, the first one is on its way too: they share a connection.
    plugin.provider().metadata().await.expect("an answer");
    timeout(HANG_TIMEOUT, plugin.shutdown()).await.expect("it comes to an end");
    process.wait_for_end().await;
    let failure = call.await.expect("no panic").expect_err("the call is lost");
    assert!(matches!(failure, Failure::Lost { .. }), "{failure:?}");
}
