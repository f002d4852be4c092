//! Messages there and back, in both versions of the protocol.

mod schemas;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use expect_test::{Expect, expect};
use formwork_value::diag::Severity;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, Schema,
    SchemaDocs,
};
use formwork_value::{Number, Path, Step, Str, Type, Value};
use proptest::prelude::*;
use prost::Message;

use super::*;
use crate::Payload;
use crate::message::ephemeral::OpenResponse;
use crate::message::resource::{PlanResponse, RawState, ReadResponse, UpgradeRequest};
use crate::message::schema::{FunctionParameter, FunctionSignature, ProviderSchema};
use crate::message::{DeferredReason, ProviderDiagnostic};
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};

/// Sends a message: to the wire form, to bytes, and back.
fn sent<W, N>(message: N) -> N
where
    W: Message + Default + TryFrom<N>,
    N: TryFrom<W>,
    Failure: From<W::Error> + From<N::Error>,
{
    let wire = W::try_from(message).map_err(Failure::from).unwrap();
    let arrived = W::decode(Bytes::from(wire.encode_to_vec())).unwrap();
    N::try_from(arrived).map_err(Failure::from).unwrap()
}

// ---- Every message arrives

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,6}"
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from)
}

fn payload() -> impl Strategy<Value = Payload> {
    // Not empty: empty bytes would arrive as null.
    let some = || prop::collection::vec(any::<u8>(), 1..20).prop_map(Bytes::from);
    prop_oneof![some().prop_map(Payload::Msgpack), some().prop_map(Payload::Json)]
}

fn path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![
        name().prop_map(|name| Step::Attribute(name.into())),
        any::<String>().prop_map(|key| Step::Key(key.into())),
        any::<i64>().prop_map(|index| Step::Index(Number::from(index))),
    ];
    prop::collection::vec(step, 0..4).prop_map(Path)
}

fn diagnostic() -> impl Strategy<Value = ProviderDiagnostic> {
    let severity = prop_oneof![Just(Severity::Error), Just(Severity::Warning)];
    (severity, any::<String>(), any::<String>(), path()).prop_map(
        |(severity, summary, detail, path)| ProviderDiagnostic {
            severity,
            summary,
            detail,
            path,
            code: None,
        },
    )
}

fn diagnostics() -> impl Strategy<Value = Vec<ProviderDiagnostic>> {
    prop::collection::vec(diagnostic(), 0..3)
}

fn deferred() -> impl Strategy<Value = Option<DeferredReason>> {
    prop::option::of(prop_oneof![
        Just(DeferredReason::Unknown),
        Just(DeferredReason::ResourceConfigUnknown),
        Just(DeferredReason::ProviderConfigUnknown),
        Just(DeferredReason::AbsentPrerequisite),
    ])
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf =
        prop_oneof![Just(Type::String), Just(Type::Number), Just(Type::Bool), Just(Type::Dynamic)];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::tuple),
            prop::collection::vec((name(), inner), 0..3).prop_map(Type::object),
        ]
    })
}

fn docs() -> impl Strategy<Value = SchemaDocs> {
    (any::<String>(), any::<bool>(), any::<bool>(), any::<String>()).prop_map(
        |(description, markdown, deprecated, deprecation)| SchemaDocs {
            description,
            markdown,
            deprecated,
            deprecation,
        },
    )
}

fn attributes_of(
    kind: impl Strategy<Value = AttributeKind>,
) -> impl Strategy<Value = BTreeMap<Str, Attribute>> {
    let role = prop_oneof![
        Just(Role::Required),
        Just(Role::Optional),
        Just(Role::OptionalComputed),
        Just(Role::Computed),
    ];
    let attribute = (kind, role, any::<bool>(), any::<bool>(), docs()).prop_map(
        |(kind, role, sensitive, write_only, docs)| Attribute {
            kind,
            role,
            sensitive,
            write_only,
            docs,
        },
    );
    prop::collection::btree_map(name().prop_map(Str::from), attribute, 0..3)
}

fn plain_kind() -> impl Strategy<Value = AttributeKind> {
    ty().prop_map(AttributeKind::Plain)
}

fn nested_kind() -> impl Strategy<Value = AttributeKind> {
    let nesting = prop_oneof![
        Just(Nesting::Single),
        Just(Nesting::List),
        Just(Nesting::Set),
        Just(Nesting::Map)
    ];
    let nested = (attributes_of(plain_kind()), nesting).prop_map(|(attributes, nesting)| {
        AttributeKind::Nested(NestedAttributes { attributes, nesting })
    });
    prop_oneof![plain_kind(), nested]
}

fn block_with(
    attributes: BoxedStrategy<BTreeMap<Str, Attribute>>,
    computed: BoxedStrategy<bool>,
) -> impl Strategy<Value = Block> {
    let flat = (attributes.clone(), docs()).prop_map(|(attributes, docs)| Block {
        attributes,
        blocks: BTreeMap::new(),
        docs,
    });
    flat.prop_recursive(2, 6, 2, move |inner| {
        let nesting = prop_oneof![
            Just(Nesting::Single),
            Just(Nesting::Group),
            Just(Nesting::List),
            Just(Nesting::Set),
            Just(Nesting::Map)
        ];
        let nested = (nesting, inner, 0..9_u64, 0..9_u64, computed.clone()).prop_map(
            |(nesting, block, min_items, max_items, computed)| NestedBlock {
                nesting,
                block,
                min_items,
                max_items,
                computed,
            },
        );
        let blocks = prop::collection::btree_map(name().prop_map(Str::from), nested, 0..2);
        (attributes.clone(), blocks, docs()).prop_map(|(attributes, blocks, docs)| Block {
            attributes,
            blocks,
            docs,
        })
    })
}

fn offer_with(block: impl Strategy<Value = Block>) -> impl Strategy<Value = ProviderSchema> {
    let schema = (0..9_u64, block).prop_map(|(version, block)| Schema { version, block });
    (prop::collection::btree_map(name(), schema, 0..3), signature()).prop_map(
        |(schemas, signature)| ProviderSchema {
            provider: schemas.values().next().cloned().unwrap_or_default(),
            provider_meta: schemas.values().last().cloned(),
            resources: schemas.clone(),
            data_sources: schemas.clone(),
            ephemeral_resources: schemas.clone(),
            list_resources: schemas.clone(),
            actions: schemas,
            functions: BTreeMap::from([("shout".to_owned(), signature)]),
            // No state stores, because protocol 5 has none.
            ..ProviderSchema::default()
        },
    )
}

fn parameter() -> impl Strategy<Value = FunctionParameter> {
    (name(), ty(), any::<[bool; 3]>(), any::<String>()).prop_map(
        |(name, ty, [allow_null, allow_unknown, markdown], description)| FunctionParameter {
            name,
            ty,
            allow_null,
            allow_unknown,
            description,
            markdown,
        },
    )
}

fn signature() -> impl Strategy<Value = FunctionSignature> {
    let parameters = prop::collection::vec(parameter(), 0..3);
    (parameters, prop::option::of(parameter()), ty(), any::<[String; 3]>(), any::<bool>()).prop_map(
        |(parameters, variadic, returns, [summary, description, deprecation], markdown)| {
            FunctionSignature {
                parameters,
                variadic,
                returns,
                summary,
                description,
                markdown,
                deprecation,
            }
        },
    )
}

proptest! {
    // Without persistence, because a failure would write files next to the sources.
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_read_response_is_converted(
        (state, private, deferred) in (payload(), bytes(), deferred()),
        (identity, diagnostics) in (prop::option::of(payload()), diagnostics()),
    ) {
        let message = ReadResponse { state, private, deferred, identity, diagnostics };
        prop_assert_eq!(sent::<v6::read_resource::Response, _>(message.clone()), message);
    }

    #[test]
    fn a_plan_response_is_converted(
        (planned, planned_private, deferred) in (payload(), bytes(), deferred()),
        requires_replace in prop::collection::vec(path(), 0..3),
        (planned_identity, diagnostics) in (prop::option::of(payload()), diagnostics()),
        legacy_type_system in any::<bool>(),
    ) {
        let message = PlanResponse {
            planned,
            requires_replace,
            planned_private,
            legacy_type_system,
            deferred,
            planned_identity,
            diagnostics,
        };
        prop_assert_eq!(sent::<v6::plan_resource_change::Response, _>(message.clone()), message);
    }

    #[test]
    fn an_open_response_is_converted_with_its_renewal_time(
        (result, private, deferred) in (payload(), bytes(), deferred()),
        (seconds, nanos) in (-(1_i64 << 33)..1 << 33, 0..1_000_000_000_u32),
        diagnostics in diagnostics(),
    ) {
        // A `Timestamp` before 1970 is negative, and its nanoseconds still count forward.
        let since = Duration::new(seconds.unsigned_abs(), nanos);
        let epoch = SystemTime::UNIX_EPOCH;
        let renew_at = Some(if seconds < 0 { epoch - since } else { epoch + since });
        let message = OpenResponse { result, private, renew_at, deferred, diagnostics };
        prop_assert_eq!(sent::<v6::open_ephemeral_resource::Response, _>(message.clone()), message);
    }

    #[test]
    fn the_schema_and_metadata_of_a_provider_are_converted_in_protocol_6(
        offer in offer_with(block_with(attributes_of(nested_kind()).boxed(), any::<bool>().boxed())),
    ) {
        prop_assert_eq!(sent::<v6::get_provider_schema::Response, _>(offer.clone()), offer);
    }

    #[test]
    fn the_schema_and_metadata_of_a_provider_are_converted_in_protocol_5(
        // Protocol 5 has no nested attributes and no computed blocks.
        offer in offer_with(block_with(attributes_of(plain_kind()).boxed(), Just(false).boxed())),
    ) {
        // Messages of protocol 5 are made from those of protocol 6.
        let v6 = v6::get_provider_schema::Response::try_from(offer.clone()).unwrap();
        let response = v5::get_provider_schema::Response::try_from(v6).unwrap();
        let decoded = v5::get_provider_schema::Response::decode(&response.encode_to_vec()[..]).unwrap();
        let schema = ProviderSchema::try_from(v6::get_provider_schema::Response::from(decoded));
        prop_assert_eq!(schema.unwrap(), offer);
    }

    #[test]
    fn a_damaged_message_never_panics(
        offer in offer_with(block_with(attributes_of(nested_kind()).boxed(), any::<bool>().boxed())),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = v6::get_provider_schema::Response::try_from(offer).unwrap().encode_to_vec();
        for (position, byte) in damage {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if let Ok(wire) = v6::get_provider_schema::Response::decode(&bytes[..]) {
            drop(ProviderSchema::try_from(wire));
        }
        // The same bytes as another message: its fields have other types.
        if let Ok(wire) = v6::plan_resource_change::Response::decode(&bytes[..]) {
            drop(PlanResponse::try_from(wire));
        }
    }
}

// ---- Values

#[test]
fn values_are_encoded_as_messagepack() {
    let (value, _) = Value::string("x").split_marks();
    let wire = payload::encode_absent_as_null(&Payload::Value(value, Type::String), "config")
        .unwrap()
        .unwrap();
    assert_eq!(&wire.msgpack[..], b"\xa1x");
    assert!(wire.json.is_empty());
}

#[test]
fn a_value_that_lacks_its_type_is_not_sent() {
    let (value, _) = Value::string("x").split_marks();
    let error = payload::encode_absent_as_null(&Payload::Value(value, Type::Bool), "prior_state")
        .unwrap_err();
    assert!(error.to_string().starts_with("prior_state: "), "{error}");
}

#[test]
fn an_absent_value_is_encoded_as_null_in_required_fields() {
    let wire = payload::encode_absent_as_null(&Payload::Absent, "config").unwrap().unwrap();
    assert_eq!(&wire.msgpack[..], b"\xc0");
    assert_eq!(payload::encode_unless_absent(&Payload::Absent, "provider_meta").unwrap(), None);
}

#[test]
fn an_empty_value_reads_as_null_and_messagepack_wins() {
    let wire = |msgpack: &'static [u8], json: &'static [u8]| {
        payload::payload_from_wire(Some(v6::DynamicValue {
            msgpack: msgpack.into(),
            json: json.into(),
        }))
    };
    assert_eq!(wire(b"", b""), Payload::Msgpack(b"\xc0".as_slice().into()));
    assert_eq!(wire(b"", b"null"), Payload::Json("null".into()));
    assert_eq!(wire(b"\xc0", b"1"), Payload::Msgpack(b"\xc0".as_slice().into()));
    assert_eq!(payload::payload_from_wire(None), Payload::Absent);
}

#[test]
fn payloads_share_the_memory_of_the_message() {
    let wire = v6::DynamicValue { msgpack: vec![1; 100].into(), json: Bytes::new() };
    let message = Bytes::from(wire.encode_to_vec());
    let decoded = v6::DynamicValue::decode(message.clone()).unwrap();
    assert!(message.as_ptr_range().contains(&decoded.msgpack.as_ptr()));
}

#[test]
fn stored_states_keep_their_form() {
    let flat = RawState::Flat(BTreeMap::from([("id".to_owned(), "1".to_owned())]));
    for state in [flat, RawState::Json("{}".into()), RawState::Json(Bytes::new())] {
        let message = UpgradeRequest { type_name: "a".into(), version: 3, state };
        assert_eq!(sent::<v6::upgrade_resource_state::Request, _>(message.clone()), message);
    }
}

// ---- Peers that send invalid messages

#[test]
fn a_diagnostic_without_severity_becomes_an_error_with_a_note() {
    let wire = v6::Diagnostic { summary: "Hm".into(), ..v6::Diagnostic::default() };
    let diagnostic = ProviderDiagnostic::from(wire);
    assert_eq!(diagnostic.severity, Severity::Error);
    assert!(diagnostic.detail.contains("did not say"), "{}", diagnostic.detail);
}

#[test]
fn the_path_of_a_diagnostic_ends_at_its_last_valid_step() {
    use v6::attribute_path::{Step as WireStep, step::Selector};
    let named_step = WireStep { selector: Some(Selector::AttributeName("disk".into())) };
    // An unknown kind of step: the steps after it are ignored.
    let steps = vec![named_step.clone(), WireStep { selector: None }, named_step];
    let attribute = Some(v6::AttributePath { steps });
    let wire = v6::Diagnostic { severity: 1, attribute, ..v6::Diagnostic::default() };
    assert_eq!(ProviderDiagnostic::from(wire).path, Path::root().attribute("disk"));
}

#[test]
fn a_path_that_requires_replacement_must_be_complete() {
    let steps = vec![v6::attribute_path::Step { selector: None }];
    let requires_replace = vec![v6::AttributePath { steps }];
    let wire = v6::plan_resource_change::Response { requires_replace, ..Default::default() };
    let misread = PlanResponse::try_from(wire).unwrap_err();
    assert_eq!(misread.to_string(), "requires_replace: a path has a step without content");
}

#[test]
fn an_unrecognised_deferral_reason_is_unknown() {
    let wire = v6::Deferred { reason: 77 };
    assert_eq!(DeferredReason::from(wire), DeferredReason::Unknown);
}

#[test]
fn a_time_out_of_range_is_refused() {
    let renew_at = Some(prost_types::Timestamp { seconds: i64::MIN, nanos: i32::MIN });
    let wire = v6::open_ephemeral_resource::Response { renew_at, ..Default::default() };
    let misread = OpenResponse::try_from(wire).unwrap_err();
    assert!(misread.to_string().starts_with("renew_at: "), "{misread}");
}

// ---- Protocol 5

// ---- States in pieces

#[test]
fn state_chunks_are_accepted_up_to_the_announced_length() {
    let chunk = |has_meta: bool, bytes: &'static [u8]| v6::write_state_bytes::RequestChunk {
        // Only the first piece names the state.
        meta: has_meta.then(v6::RequestChunkMeta::default),
        bytes: bytes.into(),
        total_length: 4,
        range: None,
    };
    let take = |pieces: Vec<_>| {
        let mut incoming = IncomingStateChunks::default();
        for chunk in pieces {
            incoming.push(chunk)?;
        }
        incoming.into_state_ref_and_chunks()
    };
    assert_eq!(take(vec![chunk(true, b"ab"), chunk(false, b"cd")]).unwrap().1.len(), 2);
    let texts = [
        take(vec![chunk(false, b"ab")]),
        take(vec![chunk(true, b"ab"), chunk(false, b"cde")]),
        take(vec![]),
    ]
    .map(|result| result.unwrap_err().to_string())
    .join("\n");
    expect![[r#"
        the first chunk names no state
        the state is longer than 4 bytes
        a state without any piece"#]]
    .assert_eq(&texts);
}

#[test]
fn an_empty_state_is_one_chunk_with_its_id() {
    let state =
        crate::message::state_store::StateRef { type_name: "s".into(), state_id: "main".into() };
    // Without a chunk, the state would have no name.
    let pieces = encode_state_chunks(state, vec![]);
    assert_eq!(pieces.len(), 1);
    assert_eq!(pieces[0].meta.as_ref().unwrap().state_id, "main");
}
