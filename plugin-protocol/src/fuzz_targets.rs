//! Fuzz targets for everything that a plugin, or a host, sends: the handshake line, log lines, and every
//! message of the protocol in both directions. `plugin-protocol/fuzz` runs them under a fuzzer; the test
//! here replays the kept examples.

use std::fmt::Debug;

use prost::Message;

use crate::client::fuzz_log;
use crate::handshake::Handshake;
use crate::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use crate::message::configure::{ConfigureRequest, DiagnosticsResponse, ValidateRequest};
use crate::message::ephemeral::{OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse};
use crate::message::function::{CallRequest, CallResponse, Functions};
use crate::message::list::{ListEvent, ListRequest, ValidateListRequest};
use crate::message::read_data::{ReadDataRequest, ReadDataResponse};
use crate::message::resource::{
    ApplyRequest, ApplyResponse, GenerateConfigRequest, GenerateConfigResponse, ImportRequest,
    ImportResponse, MoveRequest, MoveResponse, PlanRequest, PlanResponse, ReadRequest,
    ReadResponse, UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use crate::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use crate::message::state_store::{
    ConfigureStoreRequest, ConfigureStoreResponse, LockResponse, StateChunk, StateRef,
    StatesResponse,
};
use crate::reattach;
use crate::transcript::Transcript;
use crate::wire::convert::IncomingStateChunks;
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};

/// A target and its name, which is also the name of its directory of examples.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 6] = [
    ("handshake", handshake),
    ("reattach", reattach),
    ("log", log),
    ("answer", answer),
    ("request", request),
    ("transcript", transcript),
];

/// The line that a plugin prints. It can be written, and then names the same address.
pub fn handshake(data: &[u8]) {
    let Ok(handshake) = Handshake::parse(data) else { return };
    let reparsed = Handshake::parse(handshake.to_line(true).as_bytes());
    let reparsed = reparsed.expect("what is written can be read");
    // Not the certificate: without padding it may be so short that it is read as none.
    assert_eq!((reparsed.protocol, reparsed.address), (handshake.protocol, handshake.address));
}

/// The variable that names running plugins.
pub fn reattach(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(plugins) = reattach::parse_reattach_variable(text) else { return };
    for (provider, plugin) in plugins {
        let printed = reattach::format_reattach_variable(&[provider], &plugin);
        let reparsed =
            reattach::parse_reattach_variable(&printed).expect("what is printed can be read");
        assert!(reparsed.into_values().eq([plugin]), "{printed} is not what it was");
    }
}

/// The standard error of a plugin.
pub fn log(data: &[u8]) {
    fuzz_log(data);
}

/// An answer of a provider: the first byte picks the call and the version of the protocol.
pub fn answer(data: &[u8]) {
    run_picked_decoder(data, &ANSWER_DECODERS);
}

/// A request of a host, likewise.
pub fn request(data: &[u8]) {
    run_picked_decoder(data, &REQUEST_DECODERS);
}

/// A file of recorded calls. It can be written, and is then the same.
pub fn transcript(data: &[u8]) {
    let Ok(decoded) = Transcript::read(data) else { return };
    let encode = |transcript: &Transcript| {
        let mut text = Vec::new();
        transcript.write(&mut text).expect("memory can be written");
        text
    };
    let first_text = encode(&decoded);
    let second_transcript =
        Transcript::read(first_text.as_slice()).expect("what is written can be read");
    assert_eq!(encode(&second_transcript), first_text, "a transcript is not what it was");
}

fn run_picked_decoder(data: &[u8], decoders: &[fn(&[u8])]) {
    let Some((selector, message)) = data.split_first() else { return };
    // Every first byte selects a call, so that no input of the fuzzer is wasted.
    decoders[usize::from(*selector) % decoders.len()](message);
}

/// Reads a message. Its content can be written, unless it has no form on the wire, and is then the same. An
/// absent value that the protocol requires is written as null, so this holds from the second time on.
fn check_message<W, N>(data: &[u8])
where
    W: Message + Default + TryFrom<N> + TryInto<N>,
    N: Clone + Debug + PartialEq,
{
    let Ok(wire) = W::decode(data) else { return };
    check_round_trip::<W, N>(wire);
}

/// Reads a message that has a form of its own in protocol 5.
fn check_message_v5<V, W, N>(data: &[u8])
where
    V: Message + Default + Into<W>,
    W: Message + Default + TryFrom<N> + TryInto<N>,
    N: Clone + Debug + PartialEq,
{
    let Ok(wire) = V::decode(data) else { return };
    check_round_trip::<W, N>(wire.into());
}

fn check_round_trip<W, N>(wire: W)
where
    W: Message + Default + TryFrom<N> + TryInto<N>,
    N: Clone + Debug + PartialEq,
{
    // A refusal is a valid result. Only a message that was read must survive a round trip.
    let Ok(value) = wire.try_into() else { return };
    let sent = |message: N| {
        let bytes = W::try_from(message).ok()?.encode_to_vec();
        let arrived = W::decode(bytes.as_slice()).expect("what is written is a message");
        let arrived: Option<N> = arrived.try_into().ok();
        Some(arrived.expect("what is written has a meaning"))
    };
    let Some(round_tripped) = sent(value) else { return };
    // The first round trip may normalize a message, and the next must not change it.
    assert_eq!(sent(round_tripped.clone()), Some(round_tripped), "a message is not what it was");
}

/// The chunks of a state, each after its length in one byte.
fn check_state_chunks(mut data: &[u8]) {
    let mut incoming = IncomingStateChunks::default();
    while let Some((length, remaining_data)) = data.split_first() {
        let (chunk, remaining) =
            remaining_data.split_at(remaining_data.len().min(usize::from(*length)));
        let Ok(chunk) = v6::write_state_bytes::RequestChunk::decode(chunk) else { return };
        if incoming.push(chunk).is_err() {
            return;
        }
        data = remaining;
    }
    // The result does not matter: only a panic is a finding.
    drop(incoming.into_state_ref_and_chunks());
}

const ANSWER_DECODERS: [fn(&[u8]); 33] = [
    check_message::<v6::get_metadata::Response, Metadata>,
    check_message_v5::<v5::get_metadata::Response, v6::get_metadata::Response, Metadata>,
    check_message::<v6::get_provider_schema::Response, ProviderSchema>,
    check_message_v5::<
        v5::get_provider_schema::Response,
        v6::get_provider_schema::Response,
        ProviderSchema,
    >,
    check_message::<v6::get_resource_identity_schemas::Response, IdentitySchemas>,
    check_message::<v6::get_functions::Response, Functions>,
    check_message::<v6::validate_provider_config::Response, DiagnosticsResponse>,
    check_message_v5::<
        v5::prepare_provider_config::Response,
        v6::validate_provider_config::Response,
        DiagnosticsResponse,
    >,
    check_message::<v6::configure_provider::Response, DiagnosticsResponse>,
    check_message::<v6::validate_resource_config::Response, DiagnosticsResponse>,
    check_message::<v6::upgrade_resource_state::Response, UpgradeResponse>,
    check_message::<v6::upgrade_resource_identity::Response, UpgradeIdentityResponse>,
    check_message::<v6::read_resource::Response, ReadResponse>,
    check_message::<v6::plan_resource_change::Response, PlanResponse>,
    check_message::<v6::apply_resource_change::Response, ApplyResponse>,
    check_message::<v6::import_resource_state::Response, ImportResponse>,
    check_message::<v6::move_resource_state::Response, MoveResponse>,
    check_message::<v6::generate_resource_config::Response, GenerateConfigResponse>,
    check_message::<v6::validate_data_resource_config::Response, DiagnosticsResponse>,
    check_message::<v6::read_data_source::Response, ReadDataResponse>,
    check_message::<v6::validate_ephemeral_resource_config::Response, DiagnosticsResponse>,
    check_message::<v6::open_ephemeral_resource::Response, OpenResponse>,
    check_message::<v6::renew_ephemeral_resource::Response, RenewResponse>,
    check_message::<v6::close_ephemeral_resource::Response, DiagnosticsResponse>,
    check_message::<v6::list_resource::Event, ListEvent>,
    check_message::<v6::call_function::Response, CallResponse>,
    check_message::<v6::plan_action::Response, PlanActionResponse>,
    check_message::<v6::invoke_action::Event, ActionEvent>,
    check_message::<v6::configure_state_store::Response, ConfigureStoreResponse>,
    check_message::<v6::read_state_bytes::Response, StateChunk>,
    check_message::<v6::lock_state::Response, LockResponse>,
    check_message::<v6::get_states::Response, StatesResponse>,
    check_message::<v6::validate_state_store::Response, DiagnosticsResponse>,
];

const REQUEST_DECODERS: [fn(&[u8]); 22] = [
    check_message::<v6::validate_provider_config::Request, ValidateRequest>,
    check_message::<v6::configure_provider::Request, ConfigureRequest>,
    check_message::<v6::validate_resource_config::Request, ValidateRequest>,
    check_message::<v6::validate_data_resource_config::Request, ValidateRequest>,
    check_message::<v6::upgrade_resource_state::Request, UpgradeRequest>,
    check_message::<v6::upgrade_resource_identity::Request, UpgradeIdentityRequest>,
    check_message::<v6::read_resource::Request, ReadRequest>,
    check_message::<v6::plan_resource_change::Request, PlanRequest>,
    check_message::<v6::apply_resource_change::Request, ApplyRequest>,
    check_message::<v6::import_resource_state::Request, ImportRequest>,
    check_message::<v6::move_resource_state::Request, MoveRequest>,
    check_message::<v6::generate_resource_config::Request, GenerateConfigRequest>,
    check_message::<v6::read_data_source::Request, ReadDataRequest>,
    check_message::<v6::open_ephemeral_resource::Request, OpenRequest>,
    check_message::<v6::renew_ephemeral_resource::Request, RenewOrCloseRequest>,
    check_message::<v6::list_resource::Request, ListRequest>,
    check_message::<v6::validate_list_resource_config::Request, ValidateListRequest>,
    check_message::<v6::call_function::Request, CallRequest>,
    check_message::<v6::plan_action::Request, ActionRequest>,
    check_message::<v6::configure_state_store::Request, ConfigureStoreRequest>,
    check_message::<v6::read_state_bytes::Request, StateRef>,
    check_state_chunks,
];

#[cfg(test)]
#[path = "../../core/lang/fuzz/change.rs"]
mod change;

#[test]
fn no_message_makes_its_reader_panic() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in TARGETS {
        change::try_hard(&corpus, name, target);
    }
}
