//! Comparison of two answers to the same request: their diagnostics and the object in them.

use bytes::Bytes;
use formwork_value::{Plain, Type, Value};

use crate::message::Msg;
use crate::offer::Kind;
use crate::plugin::{Call, Reply};
use crate::request::decode_dynamic;
use crate::rpc::Rpc;
use crate::suite::{Suite, to_plain};

/// The repetitions of a call that show whether its answer differs by itself.
const N_REPEATED_CALLS: usize = 8;

/// Whether a call has the usual answer to a request, or one whose messages also differ between
/// equal calls: a provider in Go may take its messages from a map, whose order is random.
pub(super) async fn matches_usual_answer(
    suite: &mut Suite,
    request: &Msg,
    baseline: &Call,
    call: &Call,
) -> bool {
    let severities = |call: &Call| {
        let mut severities: Vec<u64> = call.diagnostics().iter().map(|it| it.severity).collect();
        severities.sort_unstable();
        severities
    };
    let ty = answer_object_type(suite, baseline.rpc, request);
    if are_equivalent_answers(baseline, call, ty.as_ref()) {
        return true;
    }
    let are_answers =
        matches!((&baseline.reply, &call.reply), (Reply::Answered(_), Reply::Answered(_)));
    if !are_answers || severities(baseline) != severities(call) {
        return false;
    }
    for _ in 0..N_REPEATED_CALLS {
        if !are_equivalent_answers(baseline, &suite.call(baseline.rpc, request).await, ty.as_ref())
        {
            return true;
        }
    }
    false
}

/// The type of the object in the answer to a request, if it has one of a known type.
fn answer_object_type(suite: &Suite, rpc: Rpc, request: &Msg) -> Option<Type> {
    if !is_object_compared(rpc) {
        return None;
    }
    let name = request.get_text(1);
    suite.offer.usable_types_of_kind(Kind::Resource).find(|it| it.name == name).map(|it| it.ty())
}

/// Whether the object of an answer is compared. It is in field 1 of these answers.
fn is_object_compared(rpc: Rpc) -> bool {
    matches!(rpc, Rpc::PlanResourceChange | Rpc::UpgradeResourceState)
}

/// A planned or upgraded object.
#[derive(Debug, PartialEq)]
enum ValueOrBytes {
    /// The value that a host reads.
    Value(Plain),
    /// The bytes, if they are not a value of the type.
    Bytes(Bytes),
}

/// The planned or upgraded object of an answer. Other answers are compared only by their
/// diagnostics.
///
/// A value may be encoded in several ways: sets and maps in any order, numbers in several forms.
fn compared_objects(call: &Call, ty: Option<&Type>) -> Vec<ValueOrBytes> {
    let Reply::Answered(messages) = &call.reply else { return Vec::new() };
    if !is_object_compared(call.rpc) {
        return Vec::new();
    }
    let read = |message: &Msg| {
        let decoded = ty.map(|ty| (ty, decode_dynamic(message.get_msg(1), ty)));
        match decoded {
            Some((_, Ok(Some(value)))) => ValueOrBytes::Value(value),
            // Hosts read an absent value as null.
            Some((ty, Ok(None))) => ValueOrBytes::Value(to_plain(&Value::null(ty.clone()))),
            Some((_, Err(_))) | None => ValueOrBytes::Bytes(message.get_bytes(1)),
        }
    };
    messages.iter().map(read).collect()
}

/// Whether two answers mean the same. The order of diagnostics does not count, nor does the encoding of
/// an object of type `ty`.
fn are_equivalent_answers(a: &Call, b: &Call, ty: Option<&Type>) -> bool {
    let lines = |call: &Call| {
        let mut lines: Vec<String> = call.diagnostics().iter().map(|it| it.one_line()).collect();
        lines.sort();
        lines
    };
    match (&a.reply, &b.reply) {
        (Reply::Answered(_), Reply::Answered(_)) => {
            lines(a) == lines(b) && compared_objects(a, ty) == compared_objects(b, ty)
        }
        (Reply::Refused(a, _), Reply::Refused(b, _)) => a == b,
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object with a number, a set, a map and blocks in a list.
    fn ty() -> Type {
        let block = Type::object([("port", Type::Number)]);
        Type::object([
            ("size", Type::Number),
            ("tags", Type::set(Type::String)),
            ("labels", Type::map(Type::String)),
            ("rule", Type::list(block.clone())),
            ("peer", Type::set(block)),
        ])
    }

    fn call(rpc: Rpc, answer: Msg) -> Call {
        Call::with_reply(rpc, Reply::Answered(vec![answer]))
    }

    /// The answer with an object in MessagePack.
    fn answer(rpc: Rpc, bytes: &[u8]) -> Call {
        call(rpc, Msg::new().with_message(1, &Msg::new().with_bytes(1, bytes.to_vec())))
    }

    fn json(rpc: Rpc, text: &str) -> Call {
        call(rpc, Msg::new().with_message(1, &Msg::new().with_text(2, text)))
    }

    /// The encoded object with parts of it as they are given.
    fn encoded(parts: [(&str, &[u8]); 5]) -> Vec<u8> {
        let mut bytes = vec![0x85];
        for (name, part) in parts {
            bytes.push(0xa0 | u8::try_from(name.len()).unwrap());
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// The encoded object with one part changed.
    fn with(name: &str, part: &[u8]) -> Vec<u8> {
        let fields: [(&str, &[u8]); 5] = [
            ("size", &[0x01]),
            ("tags", b"\x92\xa1a\xa1b"),
            ("labels", b"\x82\xa1x\xa11\xa1y\xa12"),
            ("rule", b"\x92\x81\xa4port\x01\x81\xa4port\x02"),
            ("peer", b"\x92\x81\xa4port\x01\x81\xa4port\x02"),
        ];
        encoded(
            fields.map(|(part_name, bytes)| {
                (part_name, if part_name == name { part } else { bytes })
            }),
        )
    }

    /// Whether two encoded objects count as the same, in both answers that have one.
    fn agree(a: &[u8], b: &[u8]) -> bool {
        let ty = ty();
        let [plan, upgrade] = [Rpc::PlanResourceChange, Rpc::UpgradeResourceState]
            .map(|rpc| are_equivalent_answers(&answer(rpc, a), &answer(rpc, b), Some(&ty)));
        assert_eq!(plan, upgrade, "both calls have the object in field 1");
        plan
    }

    #[test]
    fn equal_objects_agree_in_every_encoding() {
        let baseline = with("", &[]);
        let float = [&[0xcb][..], &1.0_f64.to_be_bytes()].concat();
        for (case, encoding) in [
            ("the same bytes", baseline.clone()),
            ("the number 1 in two bytes", with("size", &[0xcd, 0, 1])),
            ("the number 1 as 1.0", with("size", &float)),
            ("the number 1 as a string", with("size", b"\xa11")),
            ("a set in another order", with("tags", b"\x92\xa1b\xa1a")),
            ("a set with an element twice", with("tags", b"\x93\xa1b\xa1a\xa1a")),
            ("a map in another order", with("labels", b"\x82\xa1y\xa12\xa1x\xa11")),
            ("a set of blocks in another order", {
                with("peer", b"\x92\x81\xa4port\x02\x81\xa4port\x01")
            }),
        ] {
            assert!(agree(&baseline, &encoding), "{case}");
        }
    }

    #[test]
    fn different_objects_do_not_agree() {
        let baseline = with("", &[]);
        for (case, encoding) in [
            ("another number", with("size", &[0x02])),
            ("null", with("size", &[0xc0])),
            ("unknown", with("size", &[0xd4, 0, 0])),
            ("another element of a set", with("tags", b"\x92\xa1a\xa1c")),
            ("one element less", with("tags", b"\x91\xa1a")),
            ("an empty set", with("tags", &[0x90])),
            ("another key", with("labels", b"\x82\xa1x\xa11\xa1z\xa12")),
            ("blocks in another order", with("rule", b"\x92\x81\xa4port\x02\x81\xa4port\x01")),
            ("no object", vec![0xc0]),
            ("bytes that are not a value", vec![0xc1]),
        ] {
            assert!(!agree(&baseline, &encoding), "{case}");
        }
        // Null, unknown and empty are three values.
        let [null, unknown, empty] =
            [&[0xc0][..], &[0xd4, 0, 0], &[0x90]].map(|it| with("tags", it));
        for (a, b) in [(&null, &unknown), (&null, &empty), (&unknown, &empty)] {
            assert!(agree(a, a) && agree(b, b));
            assert!(!agree(a, b));
        }
    }

    #[test]
    fn an_absent_object_is_null_and_json_is_read() {
        let (rpc, ty) = (Rpc::PlanResourceChange, Type::object([("size", Type::Number)]));
        let absent = call(rpc, Msg::new());
        assert!(are_equivalent_answers(&absent, &answer(rpc, &[0xc0]), Some(&ty)));
        let packed = answer(rpc, b"\x81\xa4size\x01");
        assert!(!are_equivalent_answers(&absent, &packed, Some(&ty)));
        assert!(are_equivalent_answers(&json(rpc, "{\"size\":1.0}"), &packed, Some(&ty)));
        assert!(!are_equivalent_answers(&json(rpc, "{\"size\":2}"), &packed, Some(&ty)));
    }

    #[test]
    fn objects_without_a_known_type_are_compared_as_bytes() {
        let rpc = Rpc::UpgradeResourceState;
        let [baseline, reordered] =
            [&b"\x92\xa1a\xa1b"[..], b"\x92\xa1b\xa1a"].map(|it| answer(rpc, it));
        let ty = Type::set(Type::String);
        assert!(are_equivalent_answers(&baseline, &reordered, Some(&ty)));
        for ty in [None, Some(&Type::Bool)] {
            assert!(are_equivalent_answers(&baseline, &baseline, ty));
            assert!(!are_equivalent_answers(&baseline, &reordered, ty));
        }
    }

    #[test]
    fn objects_of_other_calls_and_the_order_of_diagnostics_are_ignored() {
        let read = |bytes: &[u8]| answer(Rpc::ReadResource, bytes);
        assert!(are_equivalent_answers(&read(&[0x01]), &read(&[0x02]), Some(&Type::Number)));
        let diag = |text: &str| Msg::new().with_nonzero_int(1, 1).with_text(2, text);
        let rpc = Rpc::UpgradeResourceState;
        let two = |a: &str, b: &str| {
            call(rpc, Msg::new().with_message(2, &diag(a)).with_message(2, &diag(b)))
        };
        assert!(are_equivalent_answers(&two("a", "b"), &two("b", "a"), None));
        assert!(!are_equivalent_answers(&two("a", "b"), &two("a", "c"), None));
    }
}
