//! Messages there and back, in both versions of the protocol.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use expect_test::{Expect, expect};
use formwork_value::diag::Severity;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, Docs, NestedAttributes, NestedBlock, Nesting, Role, Schema,
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

// ---- Whatever is said arrives

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
        any::<i64>().prop_map(|at| Step::Index(Number::from(at))),
    ];
    prop::collection::vec(step, 0..4).prop_map(Path)
}

fn diagnostic() -> impl Strategy<Value = ProviderDiagnostic> {
    let severity = prop_oneof![Just(Severity::Error), Just(Severity::Warning)];
    (severity, any::<String>(), any::<String>(), path()).prop_map(
        |(severity, summary, detail, path)| ProviderDiagnostic { severity, summary, detail, path },
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

fn docs() -> impl Strategy<Value = Docs> {
    (any::<String>(), any::<bool>(), any::<bool>(), any::<String>()).prop_map(
        |(description, markdown, deprecated, deprecation)| Docs {
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
    // Without persistence, because a failure would write files beside the sources.
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_read_object_arrives(
        (state, private, deferred) in (payload(), bytes(), deferred()),
        (identity, diagnostics) in (prop::option::of(payload()), diagnostics()),
    ) {
        let message = ReadResponse { state, private, deferred, identity, diagnostics };
        prop_assert_eq!(sent::<v6::read_resource::Response, _>(message.clone()), message);
    }

    #[test]
    fn a_plan_arrives(
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
    fn an_opened_resource_arrives_with_its_time(
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
    fn what_a_provider_offers_arrives_in_protocol_6(
        offer in offer_with(block_with(attributes_of(nested_kind()).boxed(), any::<bool>().boxed())),
    ) {
        prop_assert_eq!(sent::<v6::get_provider_schema::Response, _>(offer.clone()), offer);
    }

    #[test]
    fn what_a_provider_offers_arrives_in_protocol_5(
        // Protocol 5 has no nested attributes and no computed blocks.
        offer in offer_with(block_with(attributes_of(plain_kind()).boxed(), Just(false).boxed())),
    ) {
        // Messages of protocol 5 are made from those of protocol 6.
        let v6 = v6::get_provider_schema::Response::try_from(offer.clone()).unwrap();
        let own = v5::get_provider_schema::Response::try_from(v6).unwrap();
        let arrived = v5::get_provider_schema::Response::decode(&own.encode_to_vec()[..]).unwrap();
        let read = ProviderSchema::try_from(v6::get_provider_schema::Response::from(arrived));
        prop_assert_eq!(read.unwrap(), offer);
    }

    #[test]
    fn a_damaged_message_never_panics(
        offer in offer_with(block_with(attributes_of(nested_kind()).boxed(), any::<bool>().boxed())),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = v6::get_provider_schema::Response::try_from(offer).unwrap().encode_to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
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
fn a_value_goes_out_as_messagepack() {
    let (value, _) = Value::string("x").split_marks();
    let wire = value::required(&Payload::Value(value, Type::String), "config").unwrap().unwrap();
    assert_eq!(&wire.msgpack[..], b"\xa1x");
    assert!(wire.json.is_empty());
}

#[test]
fn a_value_that_lacks_its_type_is_not_sent() {
    let (value, _) = Value::string("x").split_marks();
    let refused = value::required(&Payload::Value(value, Type::Bool), "prior_state").unwrap_err();
    assert!(refused.to_string().starts_with("prior_state: "), "{refused}");
}

#[test]
fn nothing_is_an_explicit_null_where_a_value_belongs() {
    let wire = value::required(&Payload::Absent, "config").unwrap().unwrap();
    assert_eq!(&wire.msgpack[..], b"\xc0");
    assert_eq!(value::optional(&Payload::Absent, "provider_meta").unwrap(), None);
}

#[test]
fn an_empty_value_reads_as_null_and_messagepack_wins() {
    let wire = |msgpack: &'static [u8], json: &'static [u8]| {
        value::payload(Some(v6::DynamicValue { msgpack: msgpack.into(), json: json.into() }))
    };
    assert_eq!(wire(b"", b""), Payload::Msgpack(b"\xc0".as_slice().into()));
    assert_eq!(wire(b"", b"null"), Payload::Json("null".into()));
    assert_eq!(wire(b"\xc0", b"1"), Payload::Msgpack(b"\xc0".as_slice().into()));
    assert_eq!(value::payload(None), Payload::Absent);
}

#[test]
fn payloads_share_the_memory_of_the_message() {
    let wire = v6::DynamicValue { msgpack: vec![1; 100].into(), json: Bytes::new() };
    let message = Bytes::from(wire.encode_to_vec());
    let read = v6::DynamicValue::decode(message.clone()).unwrap();
    assert!(message.as_ptr_range().contains(&read.msgpack.as_ptr()));
}

#[test]
fn stored_states_keep_their_form() {
    let flat = RawState::Flat(BTreeMap::from([("id".to_owned(), "1".to_owned())]));
    for state in [flat, RawState::Json("{}".into()), RawState::Json(Bytes::new())] {
        let message = UpgradeRequest { type_name: "a".into(), version: 3, state };
        assert_eq!(sent::<v6::upgrade_resource_state::Request, _>(message.clone()), message);
    }
}

// ---- Peers that say strange things

#[test]
fn a_diagnostic_of_no_severity_is_an_error_and_says_so() {
    let wire = v6::Diagnostic { summary: "Hm".into(), ..v6::Diagnostic::default() };
    let diagnostic = ProviderDiagnostic::from(wire);
    assert_eq!(diagnostic.severity, Severity::Error);
    assert!(diagnostic.detail.contains("did not say"), "{}", diagnostic.detail);
}

#[test]
fn a_diagnostic_is_shown_at_the_last_place_its_path_names() {
    use v6::attribute_path::{Step as WireStep, step::Selector};
    let named = WireStep { selector: Some(Selector::AttributeName("disk".into())) };
    // An unknown kind of step: what follows it means nothing.
    let steps = vec![named.clone(), WireStep { selector: None }, named];
    let attribute = Some(v6::AttributePath { steps });
    let wire = v6::Diagnostic { severity: 1, attribute, ..v6::Diagnostic::default() };
    assert_eq!(ProviderDiagnostic::from(wire).path, Path::root().attribute("disk"));
}

#[test]
fn a_path_that_the_host_acts_on_must_be_whole() {
    let steps = vec![v6::attribute_path::Step { selector: None }];
    let requires_replace = vec![v6::AttributePath { steps }];
    let wire = v6::plan_resource_change::Response { requires_replace, ..Default::default() };
    let misread = PlanResponse::try_from(wire).unwrap_err();
    assert_eq!(misread.to_string(), "requires_replace: a path has a step without content");
}

#[test]
fn an_unknown_reason_to_defer_is_a_reason() {
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

fn string_attribute() -> v6::schema::Attribute {
    v6::schema::Attribute {
        name: "size".into(),
        // A type is JSON inside the message.
        r#type: "\"string\"".into(),
        optional: true,
        ..Default::default()
    }
}

fn block_of(attribute: v6::schema::Attribute) -> v6::schema::Block {
    v6::schema::Block { attributes: vec![attribute], ..Default::default() }
}

fn disk_of(nested: v6::schema::NestedBlock) -> v6::schema::Block {
    let nested = v6::schema::NestedBlock { type_name: "disk".into(), ..nested };
    v6::schema::Block { block_types: vec![nested], ..Default::default() }
}

/// Offers the block as a resource's.
fn offer(block: Option<v6::schema::Block>) -> v6::get_provider_schema::Response {
    // Without this schema, the whole answer would be refused.
    let provider = v6::Schema { block: Some(v6::schema::Block::default()), version: 0 };
    v6::get_provider_schema::Response {
        provider: Some(provider),
        resource_schemas: BTreeMap::from([(
            "acme_vm".to_owned(),
            v6::Schema { version: 0, block },
        )]),
        ..Default::default()
    }
}

fn check_refused(wires: Vec<v6::get_provider_schema::Response>, expect: &Expect) {
    let refusals = wires.into_iter().map(|wire| match ProviderSchema::try_from(wire) {
        Ok(schema) => panic!("this was accepted: {schema:?}"),
        Err(misread) => format!("{misread}\n"),
    });
    expect.assert_eq(&refusals.collect::<String>());
}

#[test]
fn a_schema_without_meaning_is_refused_with_its_place() {
    let attribute = |change: fn(&mut v6::schema::Attribute)| {
        let mut attribute = string_attribute();
        change(&mut attribute);
        offer(Some(block_of(attribute)))
    };
    let nested_type = |nesting, attributes| {
        let nested = v6::schema::Object { nesting, attributes, ..Default::default() };
        let attribute = v6::schema::Attribute {
            r#type: Bytes::new(),
            nested_type: Some(nested),
            ..string_attribute()
        };
        offer(Some(block_of(attribute)))
    };
    let disk = |nested| offer(Some(disk_of(nested)));
    let list = v6::schema::NestedBlock {
        nesting: 2,
        block: Some(v6::schema::Block::default()),
        ..Default::default()
    };
    check_refused(
        vec![
            v6::get_provider_schema::Response::default(),
            offer(None),
            attribute(|attribute| attribute.r#type = Bytes::new()),
            attribute(|attribute| attribute.nested_type = Some(v6::schema::Object::default())),
            attribute(|attribute| attribute.r#type = "string".into()),
            attribute(|attribute| attribute.r#type = "[\"list\"".repeat(40).into()),
            attribute(|attribute| attribute.r#type = vec![0xff, 0xfe].into()),
            attribute(|attribute| attribute.optional = false),
            attribute(|attribute| attribute.required = true),
            attribute(|attribute| {
                (attribute.required, attribute.optional, attribute.computed) = (true, false, true);
            }),
            // 0 is `INVALID` in the protocol, and 5 is a group, which only blocks can be.
            nested_type(0, vec![]),
            nested_type(5, vec![]),
            nested_type(
                1,
                vec![v6::schema::Attribute { r#type: "1".into(), ..string_attribute() }],
            ),
            disk(v6::schema::NestedBlock { nesting: 0, ..list.clone() }),
            disk(v6::schema::NestedBlock { nesting: 9, ..list.clone() }),
            disk(v6::schema::NestedBlock { block: None, ..list.clone() }),
            // The protocol has these numbers as signed integers.
            disk(v6::schema::NestedBlock { min_items: -1, ..list.clone() }),
            disk(v6::schema::NestedBlock { max_items: -1, ..list }),
        ],
        &expect![[r#"
            the answer has no schema of the provider itself
            the schema of resource `acme_vm`: the schema has no block
            the schema of resource `acme_vm`: attribute `size`: it has neither a type nor nested attributes
            the schema of resource `acme_vm`: attribute `size`: it has both a type and nested attributes
            the schema of resource `acme_vm`: attribute `size`: `string` is not a type: invalid JSON at line 1, column 1: a value expected, found 's'
            the schema of resource `acme_vm`: attribute `size`: `["list"["list"["list"["list"["list"["list"["list"["list"["li…` is not a type: invalid JSON at line 1, column 8: a comma or the end of the array expected, found '['
            the schema of resource `acme_vm`: attribute `size`: `��` is not a type: invalid JSON at line 1, column 1: not valid UTF-8
            the schema of resource `acme_vm`: attribute `size`: it is neither required nor optional nor computed
            the schema of resource `acme_vm`: attribute `size`: it is both required and optional
            the schema of resource `acme_vm`: attribute `size`: it is both required and computed
            the schema of resource `acme_vm`: attribute `size`: nesting mode 0 is not known
            the schema of resource `acme_vm`: attribute `size`: nesting mode 5 is not known
            the schema of resource `acme_vm`: attribute `size`: attribute `size`: `1` is not a type: a type is a string or an array
            the schema of resource `acme_vm`: block `disk`: nesting mode 0 is not known
            the schema of resource `acme_vm`: block `disk`: nesting mode 9 is not known
            the schema of resource `acme_vm`: block `disk`: it has no content
            the schema of resource `acme_vm`: block `disk`: the least number of blocks is -1
            the schema of resource `acme_vm`: block `disk`: the greatest number of blocks is -1
        "#]],
    );
}

#[test]
fn an_unchecked_schema_may_leave_open_who_sets_an_attribute() {
    let attribute = |required, optional, computed| {
        block_of(v6::schema::Attribute { required, optional, computed, ..string_attribute() })
    };
    for (block, role) in [
        (attribute(false, false, false), Role::Optional),
        (attribute(true, true, true), Role::Required),
    ] {
        let mut wire = offer(Some(v6::schema::Block::default()));
        wire.provider = Some(v6::Schema { version: 0, block: Some(block) });
        let schema = ProviderSchema::try_from(wire).unwrap();
        assert_eq!(schema.provider.block.attributes["size"].role, role);
    }
}

#[test]
fn an_error_beside_the_schema_wins_over_it() {
    let mut wire = offer(None);
    wire.provider = None;
    wire.diagnostics =
        vec![v6::Diagnostic { severity: 1, summary: "No".into(), ..Default::default() }];
    let schema = ProviderSchema::try_from(wire).unwrap();
    assert_eq!(schema.diagnostics[0].summary, "No");
    assert!(schema.resources.is_empty());
}

#[test]
fn a_schema_nested_without_end_is_no_message() {
    let mut block = v6::schema::Block::default();
    // prost stops at a depth of 100.
    for _ in 0..200 {
        block = disk_of(v6::schema::NestedBlock {
            nesting: 2,
            block: Some(block),
            ..Default::default()
        });
    }
    let bytes = offer(Some(block)).encode_to_vec();
    assert!(v6::get_provider_schema::Response::decode(&bytes[..]).is_err());
}

// ---- Protocol 5

#[test]
fn protocol_5_refuses_what_it_has_no_form_for() {
    let refused = |block| {
        let wire = offer(Some(block));
        let Err(why) = v5::get_provider_schema::Response::try_from(wire) else {
            panic!("this has no form")
        };
        schema_refused(why).diagnostics.remove(0).detail
    };
    let nested = v6::schema::Attribute {
        nested_type: Some(v6::schema::Object::default()),
        ..string_attribute()
    };
    let computed = v6::schema::NestedBlock {
        block: Some(v6::schema::Block { computed: true, ..Default::default() }),
        ..Default::default()
    };
    let texts = [refused(block_of(nested)), refused(disk_of(computed))].join("\n");
    expect![[r#"
        This provider cannot be used through protocol 5: resource `acme_vm`: attribute `size` has nested attributes, which protocol 5 has no form for. Use a host that offers protocol 6.
        This provider cannot be used through protocol 5: resource `acme_vm`: block `disk` is computed, which protocol 5 has no form for. Use a host that offers protocol 6."#]].assert_eq(&texts);
}

#[test]
fn protocol_5_numbers_write_only_differently() {
    let wire = v5::schema::Attribute { write_only: true, ..Default::default() };
    // Field 10 as a varint.
    assert_eq!(wire.encode_to_vec(), [0x50, 1]);
    let wire = v6::schema::Attribute { write_only: true, ..Default::default() };
    // Field 11 as a varint.
    assert_eq!(wire.encode_to_vec(), [0x58, 1]);
}

#[test]
fn protocol_5_actions_are_read_at_both_numbers_in_use() {
    let action = vec![v6::get_metadata::ActionMetadata { type_name: "acme_boot".into() }];
    for own in [
        v5::get_metadata::Response { actions: action.clone(), ..Default::default() },
        // terraform-plugin-go has another field number than Terraform.
        v5::get_metadata::Response { actions_of_go_library: action.clone(), ..Default::default() },
    ] {
        assert_eq!(v6::get_metadata::Response::from(own).actions, action);
    }
}

// ---- States in pieces

#[test]
fn a_state_in_pieces_is_taken_in_up_to_its_announced_length() {
    let piece = |named: bool, bytes: &'static [u8]| v6::write_state_bytes::RequestChunk {
        // Only the first piece names the state.
        meta: named.then(v6::RequestChunkMeta::default),
        bytes: bytes.into(),
        total_length: 4,
        range: None,
    };
    let take = |pieces: Vec<_>| {
        let mut incoming = Incoming::default();
        for piece in pieces {
            incoming.push(piece)?;
        }
        incoming.finish()
    };
    assert_eq!(take(vec![piece(true, b"ab"), piece(false, b"cd")]).unwrap().1.len(), 2);
    let texts = [
        take(vec![piece(false, b"ab")]),
        take(vec![piece(true, b"ab"), piece(false, b"cde")]),
        take(vec![]),
    ]
    .map(|refused| refused.unwrap_err().to_string())
    .join("\n");
    expect![[r#"
        the first chunk names no state
        the state is longer than 4 bytes
        a state without any piece"#]]
    .assert_eq(&texts);
}

#[test]
fn an_empty_state_is_one_piece_with_a_name() {
    let state =
        crate::message::state_store::StateRef { type_name: "s".into(), state_id: "main".into() };
    // Without a piece, nothing would name the state.
    let pieces = write_chunks(state, vec![]);
    assert_eq!(pieces.len(), 1);
    assert_eq!(pieces[0].meta.as_ref().unwrap().state_id, "main");
}
