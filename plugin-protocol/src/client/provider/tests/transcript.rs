//! Every call recorded, stored, and replayed byte for byte; calls of unknown methods.

use std::time::{Duration, SystemTime};

use super::example::{Example, everything};
use futures_util::FutureExt as _;

use super::*;
use crate::raw::{RawCall, RawError, RawReply};
use crate::server::in_process_transport;
use crate::transcript::{
    CallOutcome, DecodedCall, RecordedCall, Recorder, Transcript, TranscriptStart,
};

fn begun() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_763_956_500)
}

/// The transcript after it was a file.
fn stored(transcript: &Transcript) -> Transcript {
    let mut file = Vec::new();
    transcript.write(&mut file).unwrap();
    let decoded = Transcript::read(&file[..]).unwrap();
    assert_eq!(&decoded, transcript);
    decoded
}

fn example(protocol: Protocol) -> Arc<Example> {
    Arc::new(match protocol {
        Protocol::V5 => Example::for_protocol_5(),
        Protocol::V6 => Example::default(),
    })
}

#[tokio::test]
async fn every_call_is_recorded_and_replayed_byte_for_byte() {
    for (protocol, n_calls) in [(Protocol::V6, 36), (Protocol::V5, 28)] {
        let recorder = Recorder::new(begun());
        let (channel, _wire) = connect(ProviderService::new(example(protocol))).await;
        let layered = recorder.wrap_transport(transport(channel));
        let answers = everything(&GrpcProvider::over_transport(layered, protocol)).await;

        let transcript = stored(&recorder.transcript());
        assert_eq!(transcript.begun, begun());
        assert_eq!(transcript.calls.len(), n_calls);
        for call in &transcript.calls {
            assert_eq!(call.protocol(), Some(protocol), "{}", call.path);
            assert_eq!(call.outcome, CallOutcome::Ok, "{}", call.path);
            assert!(!call.requests.is_empty() && !call.answers.is_empty(), "{}", call.path);
        }
        assert!(transcript.calls.iter().any(|call| call.answers.len() > 1), "streams have many");
        assert!(transcript.calls.iter().any(|call| call.duration > Duration::ZERO));

        // A replay of the transcript, recorded again, is the transcript.
        let again = Recorder::new(begun());
        let replay = GrpcProvider::over_transport(
            again.wrap_transport(transcript.clone().replay()),
            protocol,
        );
        same(&everything(&replay).await, &answers);
        let bytes = |transcript: &Transcript| {
            let calls = transcript.calls.iter();
            calls
                .map(|call| (call.path.clone(), call.requests.clone(), call.answers.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(&again.transcript()), bytes(&transcript));
        let error = replay.schema().await.unwrap_err().to_string();
        assert!(error.contains("no further call"), "{error}");
    }
}

#[tokio::test]
async fn an_in_process_provider_sends_the_same_bytes_as_over_a_connection() {
    let far = Recorder::new(begun());
    let (channel, _wire) = connect(ProviderService::new(example(Protocol::V6))).await;
    let layered = far.wrap_transport(transport(channel));
    everything(&GrpcProvider::over_transport(layered, Protocol::V6)).await;
    let near = in_process_transport(example(Protocol::V6));
    for call in far.transcript().calls {
        let RawReply { messages, end } = near.call_and_collect_reply(call.to_raw_call()).await;
        assert_eq!(messages, call.answers, "{}", call.path);
        assert!(end.is_ok(), "{end:?}");
    }
}

#[tokio::test]
async fn call_outcomes_are_recorded_and_replayed() {
    let recorder = Recorder::new(begun());
    let (channel, wire) = connect(ProviderService::new(Arc::new(Bad))).await;
    let layered = recorder.wrap_transport(transport(channel));
    let provider = GrpcProvider::over_transport(layered, Protocol::V6);
    provider.validate_data_config(example::validate()).await.unwrap_err();
    // Dropped before the answer.
    assert!(provider.stop().now_or_never().is_none());
    let list = || ListRequest { type_name: "fails".into(), ..example::list() };
    let events: Vec<_> = provider.list(list()).await.unwrap().collect().await;
    // `join!` polls in this order, so the call is on its way when the connection breaks.
    let (failure, ()) = tokio::join!(provider.apply(example::apply()), async { wire.abort() });
    failure.unwrap_err();

    let transcript = stored(&recorder.transcript());
    let outcomes: Vec<_> = transcript.calls.iter().map(|call| call.outcome.clone()).collect();
    let [
        CallOutcome::Status(status),
        CallOutcome::Unfinished,
        CallOutcome::Status(half),
        CallOutcome::Failed(_),
    ] = &outcomes[..]
    else {
        panic!("{outcomes:?}")
    };
    assert_eq!((status.code_name().as_str(), status.code), ("NotFound", 5));
    assert_eq!(half.code_name(), "Aborted");
    assert_eq!(transcript.calls[2].answers.len(), 1, "the event before the failure");

    let replay = GrpcProvider::over_transport(transcript.replay(), Protocol::V6);
    let error = replay.validate_data_config(example::validate()).await.unwrap_err();
    assert_eq!(error.to_string(), "NotFound: no such thing");
    assert!(matches!(replay.stop().await, Err(Failure::GivenUp(_))));
    let replayed: Vec<_> = replay.list(list()).await.unwrap().collect().await;
    assert_eq!(format!("{replayed:?}"), format!("{events:?}"));
    assert!(matches!(replay.apply(example::apply()).await, Err(Failure::Lost { .. })));
}

#[tokio::test]
async fn recorded_messages_are_decoded_to_the_original_messages() {
    for protocol in [Protocol::V5, Protocol::V6] {
        let (first_service, second_service) = (example(protocol), example(protocol));
        let recorder = Recorder::new(begun());
        let layered = recorder.wrap_transport(in_process_transport(first_service.clone()));
        everything(&GrpcProvider::over_transport(layered, protocol)).await;
        for call in recorder.transcript().calls {
            let DecodedCall { request, response } = call.decode().await.ok().unwrap();
            let method = request.method();
            assert_eq!(protocol.method_name(method), call.method());
            assert_eq!(response.ok().map(|response| response.method()), Some(method));
            second_service.call(request).await.ok().unwrap();
        }
        assert_eq!(second_service.recorded_requests(), first_service.recorded_requests());
    }
    for (path, request) in [
        ("/tfplugin6.Provider/ReadResource", &b"\xff\xff"[..]),
        ("/tfplugin6.Provider/NoSuchMethod", b""),
        ("/no.such.Service/Method", b""),
    ] {
        let start = TranscriptStart::new(begun());
        let call = RawCall::new(Protocol::V6, "Any", Bytes::from_static(request));
        let recorded = start.record_unsent_call(call, CallOutcome::Unfinished);
        let recorded = RecordedCall { path: path.to_owned(), ..recorded };
        let error = recorded.decode().await.err().unwrap().to_string();
        assert!(error.starts_with(&format!("{path} cannot be decoded: ")), "{error}");
    }
}

#[tokio::test]
async fn recorders_with_the_same_start_record_parts_of_one_transcript() {
    let start = TranscriptStart::new(begun());
    let near = in_process_transport(example(Protocol::V6));
    let mut before = Duration::ZERO;
    for _ in 0..2 {
        let recorder = Recorder::from_start(start);
        let call = RawCall::new(Protocol::V6, "GetProviderSchema", Bytes::new());
        recorder.wrap_transport(Arc::clone(&near)).call_and_collect_reply(call).await;
        let Transcript { begun: since, calls } = recorder.transcript();
        assert_eq!((since, calls.len()), (begun(), 1));
        assert!(calls[0].start >= before, "{calls:?}");
        before = calls[0].start + calls[0].duration;
    }
    let call = RawCall::new(Protocol::V6, "StopProvider", Bytes::new());
    let unsent = start.record_unsent_call(call, CallOutcome::Failed("it is gone".to_owned()));
    assert_eq!((unsent.method(), unsent.requests.len()), ("StopProvider", 1));
    assert!(unsent.start >= before && unsent.answers.is_empty());
}

#[tokio::test]
async fn unknown_calls_end_with_a_status() {
    let (channel, _wire) = connect(ProviderService::new(example(Protocol::V6))).await;
    for transport in [transport(channel), in_process_transport(example(Protocol::V6))] {
        for call in [
            RawCall::new(Protocol::V6, "NoSuchMethod", Bytes::new()),
            RawCall::of_service("no.such.Service", "Method", Bytes::from_static(b"\xff")),
        ] {
            let RawReply { messages, end } = transport.call_and_collect_reply(call.clone()).await;
            let Err(RawError::Status(status)) = end else { panic!("{end:?}") };
            assert_eq!(status.code_name(), "Unimplemented", "{}", call.path);
            assert!(messages.is_empty());
        }
        // No message of the method, or none at all.
        let garbage = RawCall::new(Protocol::V6, "ReadResource", Bytes::from_static(b"\xff\xff"));
        let empty = RawCall { messages: Vec::new(), ..garbage.clone() };
        for call in [garbage, empty] {
            let end = transport.call_and_collect_reply(call).await.end;
            let Err(RawError::Status(status)) = end else { panic!("{end:?}") };
            assert_eq!(status.code_name(), "InvalidArgument");
        }
        let large = RawCall {
            answer_limit: 10,
            ..RawCall::new(Protocol::V6, "GetProviderSchema", Bytes::new())
        };
        let end = transport.call_and_collect_reply(large).await.end;
        let Err(RawError::Status(status)) = end else { panic!("{end:?}") };
        assert_eq!(status.code_name(), "OutOfRange");
        let invalid_call = RawCall { path: "nowhere".into(), ..RawCall::new(Protocol::V6, "", "") };
        let end = transport.call_and_collect_reply(invalid_call).await.end;
        assert!(matches!(end, Err(RawError::Failed(Failure::UnencodableMessage(_)))), "{end:?}");
    }
}
