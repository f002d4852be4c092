//! Answers that break the contract, as the checks of the lifecycle see them. A provider on the SDK
//! gives no such answers.

use bytes::Bytes;
use formwork_value::Value;
use formwork_value::schema::{Attribute, Role};

use super::*;

/// The schema of an object with a name and a write-only secret.
fn block() -> Block {
    let attribute = |role| Attribute::new(Type::String, role);
    let mut secret = attribute(Role::Optional);
    secret.write_only = true;
    let attributes = [("name", attribute(Role::Optional)), ("secret", secret)];
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute));
    Block { attributes: attributes.collect(), ..Block::default() }
}

fn payload(value: Value) -> Payload {
    Payload::Value(value.split_marks().0, block().implied_type())
}

fn object(name: Value, secret: Value) -> Payload {
    payload(Value::object([("name", name), ("secret", secret)]))
}

fn named_object() -> Payload {
    object(Value::string("a"), Value::null(Type::String))
}

/// The refusals of objects that no answer may hold.
fn refusals(check: impl Fn(Payload) -> Result<Plain, Refusal>) -> Vec<String> {
    let text = Value::string("a");
    let broken = [object(text.clone(), text), object(Value::int(1), Value::null(Type::String))];
    broken.into_iter().filter_map(|payload| check(payload).err()).map(|reason| reason.0).collect()
}

#[test]
fn an_upgraded_object_is_checked_against_the_contract() {
    let block = block();
    let schemas = TypeSchemas { object: &block, identity: None };
    let check = |state: Payload| checked_upgraded_object(schemas, &state);
    assert!(check(named_object()).is_ok());
    let errors = refusals(check);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("provider bug in upgrade: "), "{errors:?}");
    assert!(errors[0].ends_with("(rule write-only-null)"), "{errors:?}");
    assert!(errors[1].ends_with("(rule object-type)"), "{errors:?}");
    let unknown = object(Value::unknown(Type::String), Value::null(Type::String));
    let errors = check(unknown).unwrap_err().0;
    assert!(errors.ends_with("(rule object-known)"), "{errors}");
}

#[test]
fn an_imported_object_is_checked_against_the_contract() {
    let block = block();
    let identity = Type::object([("name", Type::String)]);
    let schemas = TypeSchemas { object: &block, identity: Some(&identity) };
    let imported = |state, identity| ImportedResource {
        type_name: "acme_thing".to_owned(),
        state,
        private: Bytes::new(),
        identity,
    };
    let check =
        |state: Payload| checked_imported_object("acme_thing", schemas, &imported(state, None));
    assert!(check(named_object()).is_ok());
    let errors = refusals(check);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].ends_with("(rule write-only-null)"), "{errors:?}");
    let null = check(payload(Value::null(block.implied_type()))).unwrap_err().0;
    assert!(null.ends_with("(rule object-not-null)"), "{null}");

    let answer_of_other_type =
        checked_imported_object("acme_other", schemas, &imported(named_object(), None));
    let answer_of_other_type = answer_of_other_type.unwrap_err().0;
    assert!(answer_of_other_type.ends_with("(rule import-type)"), "{answer_of_other_type}");

    let unknown = Value::object([("name", Value::unknown(Type::String))]).split_marks().0;
    let unknown = Payload::Value(unknown, identity.clone());
    let unknown = imported(named_object(), Some(unknown));
    let unknown = checked_imported_object("acme_thing", schemas, &unknown).unwrap_err().0;
    assert!(unknown.ends_with("(rule identity-known)"), "{unknown}");
}
