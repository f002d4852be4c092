//! Plans of configurations whose sets come in another order.

use formwork_value::{Type, Value};

use super::{plan_input, plan_or_none};
use crate::checks::display_value;
use crate::finding::Finding;
use crate::generate;
use crate::offer::OfferedType;
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::Suite;

/// The type and value with every set as a list in the opposite order, which only shows on the wire.
fn with_reversed_sets(value: &Value, ty: &Type) -> (Value, Type) {
    match (value, ty) {
        (Value::Set(set), Type::Set(element)) => {
            let items: Vec<Value> = set.items().iter().rev().cloned().collect();
            (Value::list((**element).clone(), items), Type::list((**element).clone()))
        }
        (Value::Object(object), Type::Object(of)) => {
            let parts: Vec<_> = object
                .iter()
                .filter_map(|(name, part)| {
                    let (value, ty) = with_reversed_sets(part, of.attributes.get(name)?);
                    Some((name.clone(), value, ty))
                })
                .collect();
            let types = parts.iter().map(|(name, _, ty)| (name.clone(), ty.clone()));
            let ty = Type::object(types.collect::<Vec<_>>());
            let values = parts.into_iter().map(|(name, value, _)| (name, value));
            (Value::object(values.collect::<Vec<_>>()), ty)
        }
        // A null or unknown set has the form of a list on the wire.
        (Value::Null(_), Type::Set(element)) => {
            let ty = Type::list((**element).clone());
            (Value::null(ty.clone()), ty)
        }
        (Value::Unknown(_), Type::Set(element)) => {
            let ty = Type::list((**element).clone());
            (Value::unknown(ty.clone()), ty)
        }
        (value, ty) => (value.clone(), ty.clone()),
    }
}

/// The configuration with three elements in every set of strings; `None` if it has no set.
fn with_larger_sets(offered: &OfferedType, config: &Value) -> Option<Value> {
    let mut larger = config.clone();
    for (path, attribute) in generate::settable_paths(offered.block(), config) {
        if let (Type::Set(element), true) =
            (attribute.implied_type(), path.find(&larger).is_some_and(|it| !it.is_null()))
            && *element == Type::String
        {
            let items = ["b", "a", "c"].map(Value::string).to_vec();
            larger = generate::replace_part(&larger, &path, Value::set(Type::String, items))
                .unwrap_or(larger);
        }
    }
    (larger != *config).then_some(larger)
}

/// Checks that the order of the elements of sets does not change a plan.
pub(super) async fn check_reordered_config(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
) {
    if !suite.is_rule_wanted("P-14") {
        return;
    }
    let ty = offered.ty();
    let mut configs = vec![create.config.clone()];
    configs.extend(suite.legal_configs(offered).await);
    let mut baseline = create.clone();
    // A configuration with a set of several elements, if one is legal.
    for larger_config in configs.iter().filter_map(|config| with_larger_sets(offered, config)) {
        if suite.call_validate(offered, &larger_config).await.is_success() {
            baseline = plan_input(offered, create.prior.clone(), larger_config);
            break;
        }
    }
    let Some(expected) = plan_or_none(suite, offered, &baseline).await else { return };
    let (config, reordered) = with_reversed_sets(&baseline.config, &ty);
    let (proposed, proposed_ty) = with_reversed_sets(&baseline.proposed, &ty);
    // Only the bytes differ: list and set have the same form on the wire.
    let request = request::plan_request(offered, &baseline)
        .replace_field(3, request::encode_dynamic(&proposed, &proposed_ty).encode())
        .replace_field(4, request::encode_dynamic(&config, &reordered).encode());
    let call = suite.call(Rpc::PlanResourceChange, &request).await;
    let second = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &ty);
    let held = matches!(&second, Ok(Some(it)) if *it.value() == expected.value);
    suite.record_case("P-14", held, || {
        let second_value =
            second.map(|it| it.map(|it| display_value(it.value())).unwrap_or_default());
        Finding::new(
            "P-14",
            &offered.display_name(),
            "another order of the elements of sets changes the plan",
        )
        .with_call(&expected.call)
        .with_call(&call)
        .with_expected_and_found(display_value(&expected.value), second_value.unwrap_or_default())
        .with_input(display_value(&baseline.config))
    });
}
