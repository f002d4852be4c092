//! Faults of the schema and of the metadata (S).

use bytes::Bytes;
use formwork_conformance::message::{Field, Msg};
use formwork_conformance::rpc::Rpc;

use super::Fault::{After, Bad};
use super::{Continuation, Exchange, Row, row};

/// Changes the schema call's answer.
fn schema(call: &mut Exchange, change: impl FnOnce(Msg) -> Msg) -> Continuation {
    if call.is(Rpc::GetProviderSchema) {
        call.change(change);
    }
    Continuation::Proceed
}

/// Changes the field of a message at the end of a path of message fields.
fn inside(message: Msg, path: &[u32], change: &dyn Fn(Msg) -> Msg) -> Msg {
    let Some((first, rest)) = path.split_first() else { return change(message) };
    let fields = message.0.into_iter().map(|(number, field)| match field {
        Field::Bytes(bytes) if number == *first => {
            let inner = Msg::parse(&bytes).unwrap_or_default();
            (number, Field::Bytes(inside(inner, rest, change).encode()))
        }
        field => (number, field),
    });
    Msg(fields.collect())
}

/// Changes the attributes of this name in the blocks at the end of a path.
fn attribute(message: Msg, path: &[u32], name: &str, change: impl Fn(Msg) -> Msg) -> Msg {
    inside(message, path, &|attribute| match attribute.get_text(1) == name {
        true => change(attribute),
        false => attribute,
    })
}

/// The path to the attributes of the provider's block.
const OWN: &[u32] = &[1, 2, 2];
/// The path to the attributes of the blocks of resource types.
const RESOURCES: &[u32] = &[2, 2, 2, 2];

/// Changes the `endpoint` of the provider's configuration.
fn endpoint(call: &mut Exchange, change: impl Fn(Msg) -> Msg) -> Continuation {
    schema(call, |answer| attribute(answer, OWN, "endpoint", change))
}

pub(super) const ROWS: &[Row] = &[
    row("S-01", 0, Bad("schema-error")),
    row("S-02", 0, Bad("schema-fickle")),
    row("S-03", 0, After(|call| schema(call, |answer| answer.without_field(1)))),
    row(
        "S-04",
        0,
        After(|call| endpoint(call, |it| it.replace_field(2, Bytes::from_static(b"\"nosuch\"")))),
    ),
    row("S-05", 0, After(|call| endpoint(call, |it| it.without_field(4).with_nonzero_int(4, 1)))),
    row("S-06", 0, Bad("schema-min-above-max")),
    row(
        "S-07",
        0,
        After(|call| endpoint(call, |it| it.replace_field(1, Bytes::from_static(b"Bad Name")))),
    ),
    row(
        "S-08",
        0,
        After(|call| {
            schema(call, |answer| {
                inside(answer, &[3], &|entry| {
                    entry.replace_field(1, Bytes::from_static(b"other_lookup"))
                })
            })
        }),
    ),
    row(
        "S-09",
        0,
        After(|call| {
            if call.is(Rpc::GetMetadata) {
                call.change(|answer| answer.without_field(4));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "S-10",
        0,
        After(|call| {
            if call.is_validation() && call.history.count(Rpc::GetProviderSchema) == 0 {
                call.refuse(9, "the schema was not asked for");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "S-11",
        1,
        After(|call| {
            if call.is(Rpc::GenerateResourceConfig) {
                call.refuse(12, "not implemented");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "S-12",
        0,
        After(|call| schema(call, |answer| inside(answer, &[2, 2], &|it| it.without_field(1)))),
    ),
    row(
        "S-13",
        0,
        After(|call| {
            schema(call, |answer| {
                attribute(answer, RESOURCES, "size", |it| {
                    it.replace_field(1, Bytes::from_static(b"volume"))
                })
            })
        }),
    ),
    row("S-14", 0, After(|call| endpoint(call, |it| it.without_field(3)))),
    row(
        "S-15",
        0,
        After(|call| {
            schema(call, |answer| {
                attribute(answer, RESOURCES, "password", |it| it.without_field(7))
            })
        }),
    ),
    row(
        "S-16",
        0,
        After(|call| {
            if call.is(Rpc::GetResourceIdentitySchemas) {
                call.change(|answer| inside(answer, &[1, 2, 2], &|it| it.without_field(3)));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "S-17",
        0,
        After(|call| schema(call, |answer| inside(answer, &[7, 2], &|it| it.without_field(3)))),
    ),
    row(
        "S-18",
        0,
        After(|call| {
            schema(call, |answer| attribute(answer, RESOURCES, "text", |it| it.without_field(3)))
        }),
    ),
];
