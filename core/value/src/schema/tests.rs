//! Types and requirements that a schema implies.

use std::collections::BTreeMap;

use super::*;
use crate::{Path, Value};

pub(super) fn attr(ty: Type, role: Role) -> Attribute {
    Attribute::new(ty, role)
}

pub(super) fn nested(
    nesting: Nesting,
    attributes: Vec<(&str, Attribute)>,
    role: Role,
) -> Attribute {
    let attributes = attributes.into_iter().map(|(name, attr)| (name.into(), attr)).collect();
    let kind = AttributeKind::Nested(NestedAttributes { attributes, nesting });
    Attribute { kind, ..Attribute::new(Type::Bool, role) }
}

pub(super) fn block(
    attributes: Vec<(&str, Attribute)>,
    blocks: Vec<(&str, Nesting, Block)>,
) -> Block {
    let attributes: BTreeMap<Str, _> =
        attributes.into_iter().map(|(name, attr)| (name.into(), attr)).collect();
    let blocks = blocks
        .into_iter()
        .map(|(name, nesting, block)| {
            let bounds = (0, 0);
            let (min_items, max_items) = bounds;
            (name.into(), NestedBlock { nesting, block, min_items, max_items, computed: false })
        })
        .collect();
    Block { attributes, blocks, docs: SchemaDocs::default() }
}

/// A schema with a bit of everything; each attribute's description is its name.
pub(super) fn sample() -> Block {
    let described = |name: &str, attr: Attribute| Attribute {
        docs: SchemaDocs { description: name.into(), ..SchemaDocs::default() },
        ..attr
    };
    let secret = Attribute { sensitive: true, ..attr(Type::String, Role::Optional) };
    let pass = Attribute { write_only: true, ..attr(Type::String, Role::Optional) };
    let net = vec![
        ("secret", described("net.secret", secret.clone())),
        ("pass", described("net.pass", pass)),
    ];
    block(
        vec![
            ("id", described("id", attr(Type::String, Role::Computed))),
            ("name", described("name", attr(Type::String, Role::Required))),
            ("tags", described("tags", attr(Type::map(Type::String), Role::Optional))),
            ("net", described("net", nested(Nesting::Map, net, Role::Optional))),
        ],
        vec![
            (
                "disk",
                Nesting::List,
                block(
                    vec![("size", described("disk.size", attr(Type::Number, Role::Required)))],
                    vec![],
                ),
            ),
            (
                "rule",
                Nesting::Set,
                block(vec![("key", secret), ("port", attr(Type::Number, Role::Optional))], vec![]),
            ),
            ("one", Nesting::Single, block(vec![("x", attr(Type::Bool, Role::Optional))], vec![])),
            ("group", Nesting::Group, block(vec![("x", attr(Type::Bool, Role::Optional))], vec![])),
            (
                "open",
                Nesting::List,
                block(vec![("d", attr(Type::Dynamic, Role::Optional))], vec![]),
            ),
            ("keyed", Nesting::Map, block(vec![("x", attr(Type::Bool, Role::Optional))], vec![])),
        ],
    )
}

#[test]
fn a_schema_implies_a_type_in_which_open_lists_are_dynamic() {
    let ty = sample().implied_type();
    expect_test::expect![["object({disk=list(object({size=number})), group=object({x=bool}), id=string, keyed=map(object({x=bool})), name=string, net=map(object({pass=string, secret=string})), one=object({x=bool}), open=any, rule=set(object({key=string, port=number})), tags=map(string)})"]]
        .assert_eq(&ty.to_string());
    // A nested attribute stays what it is.
    let open = vec![("d", attr(Type::Dynamic, Role::Optional))];
    let ty = nested(Nesting::List, open, Role::Optional).implied_type();
    assert_eq!(ty.to_string(), "list(object({d=any}))");
}

#[test]
fn the_empty_value_has_the_implied_type_and_no_null_collections_of_blocks() {
    let value = sample().empty_value();
    let part = |name: &str| Path::root().attribute(name).find(&value).cloned().unwrap();
    assert_eq!(part("id"), Value::null(Type::String));
    assert!(part("one").is_null());
    assert_eq!(part("group"), Value::object([("x", Value::null(Type::Bool))]));
    assert_eq!(part("open"), Value::tuple(vec![]));
    assert_eq!(part("keyed").ty().to_string(), "map(object({x=bool}))");
    assert_eq!(part("rule").ty().to_string(), "set(object({key=string, port=number}))");
    assert!(part("disk").children().is_empty() && !part("disk").is_null());
}
