//! Bodies decoded against schemas, and the diagnostics of invalid ones.

mod block_attributes;
mod dynamic;

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use formwork_value::diag::Severity;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role,
};
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Str, Type, Value};

use super::evaluate_body;
use crate::functions::Function;
use crate::scope::{Scope, ScopeStep};
use crate::syntax::Ident;
use crate::testing::parse_valid_file;

/// A scope of a few names.
struct Names(BTreeMap<&'static str, Value>);

impl Scope for Names {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let value = self.0.get(root.name.as_str()).cloned().map(|value| (value, 0));
        value.ok_or_else(|| {
            diags.error(Diagnostic::foreign(Severity::Error, "No such name", "-").at(root.span))
        })
    }

    fn lookup_function(&self, _name: &str) -> Option<&dyn Function> {
        None
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}

fn names() -> Names {
    let list = Value::tuple(vec![Value::string("a"), Value::string("b")]);
    Names(BTreeMap::from([
        ("text", Value::string("x")),
        ("unknown", Value::unknown(Type::String)),
        ("dynamic", Value::dynamic()),
        ("unknown_list", Value::unknown(Type::list(Type::String))),
        ("secret", Value::string("s").mark(Marks::SENSITIVE)),
        ("secrets", list.clone().mark(Marks::SENSITIVE)),
        ("list", list),
        ("unknown_secrets", Value::unknown(Type::list(Type::String)).mark(Marks::SENSITIVE)),
        ("map", Value::object([("k", Value::int(1)), ("l", Value::int(2))])),
    ]))
}

fn attributes(list: &[(&str, Type, Role)]) -> BTreeMap<Str, Attribute> {
    let pairs =
        list.iter().map(|(name, ty, role)| (Str::new(name), Attribute::new(ty.clone(), *role)));
    pairs.collect()
}

fn nested(nesting: Nesting, block: Block) -> NestedBlock {
    NestedBlock { nesting, block, min_items: 0, max_items: 0, computed: false }
}

/// A block with one attribute `a`, of a type.
fn leaf(ty: Type) -> Block {
    Block { attributes: attributes(&[("a", ty, Role::Optional)]), ..Block::default() }
}

fn schema() -> Block {
    let mut schema = Block {
        attributes: attributes(&[
            ("name", Type::String, Role::Required),
            ("size", Type::Number, Role::OptionalComputed),
            ("tags", Type::map(Type::String), Role::Optional),
        ]),
        ..Block::default()
    };
    let kinds = [
        ("single", Nesting::Single),
        ("group", Nesting::Group),
        ("list", Nesting::List),
        ("set", Nesting::Set),
        ("map", Nesting::Map),
    ];
    for (name, nesting) in kinds {
        schema.blocks.insert(Str::new(name), nested(nesting, leaf(Type::String)));
    }
    for (name, nesting) in [("any_list", Nesting::List), ("any_map", Nesting::Map)] {
        schema.blocks.insert(Str::new(name), nested(nesting, leaf(Type::Dynamic)));
    }
    let limited =
        NestedBlock { min_items: 1, max_items: 2, ..nested(Nesting::List, leaf(Type::String)) };
    let mut outer = leaf(Type::String);
    outer.blocks.insert(Str::new("limited"), limited);
    let must = NestedBlock { min_items: 1, ..nested(Nesting::Single, leaf(Type::String)) };
    outer.blocks.insert(Str::new("must"), must);
    schema.blocks.insert(Str::new("outer"), nested(Nesting::List, outer));
    schema
}

/// Decodes a string and prints what is neither null nor empty, and the problems.
fn decoded(text: &str, schema: &Block) -> String {
    let (body, mut text) = parse_valid_file(text);
    match evaluate_body(&mut text.diags, &body, schema, &names()) {
        Ok(value) => {
            assert_eq!(text.problems(), "");
            assert!(value.ty() == schema.implied_type() || schema.implied_type().has_dynamic());
            print(&value) + "\n"
        }
        Err(_) => text.problems(),
    }
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&decoded(&format!("name = \"n\"\n{text}"), &schema()));
}

/// Prints a value; attributes that are null or empty are left out.
fn print(value: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(print).collect::<Vec<_>>().join(", ");
    let pairs = |keys: &[Str], items: &[Value]| {
        let pairs = keys.iter().zip(items).filter(|(_, item)| !item.is_null());
        let pairs = pairs.filter(|(_, item)| !is_empty_collection(item));
        pairs.map(|(key, item)| format!("{key}={}", print(item))).collect::<Vec<_>>().join(", ")
    };
    match value {
        Value::Null(_) => "null".to_owned(),
        Value::Unknown(unknown) => format!("unknown {}", unknown.ty()),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::List(items) => format!("list({})", list(items.items())),
        Value::Set(items) => format!("set({})", list(items.items())),
        Value::Tuple(items) => format!("[{}]", list(items.items())),
        Value::Map(map) => format!("map({})", pairs(map.keys(), map.values())),
        Value::Object(object) => format!("{{{}}}", pairs(object.names(), object.values())),
        Value::Marked(marked) => format!("{:?}({})", marked.marks(), print(marked.value())),
    }
}

fn is_empty_collection(value: &Value) -> bool {
    !matches!(
        value,
        Value::Object(_)
            | Value::Marked(_)
            | Value::String(_)
            | Value::Number(_)
            | Value::Bool(_)
            | Value::Unknown(_)
    ) && value.children().is_empty()
}

#[test]
fn arguments_are_converted_to_their_types() {
    check(
        "size = \"12\"\ntags = { a = 1 }",
        &expect![[r#"
        {any_map={}, group={}, name="n", size=12, tags=map(a="1")}
    "#]],
    );
    check(
        "size = unknown\ntags = dynamic",
        &expect![[r#"
        {any_map={}, group={}, name="n", size=unknown number, tags=unknown map(string)}
    "#]],
    );
    check(
        "tags = { a = secret }",
        &expect![[r#"
        {any_map={}, group={}, name="n", tags=map(a={"sensitive"}("s"))}
    "#]],
    );
}

#[test]
fn absent_arguments_and_blocks_are_null_or_empty() {
    let (body, mut text) = parse_valid_file("name = \"n\"\n");
    let value = evaluate_body(&mut text.diags, &body, &schema(), &names()).unwrap();
    let mut empty = schema().empty_value();
    if let Value::Object(object) = &empty {
        let pairs = object.iter().map(|(name, value)| {
            let is_name = name.as_str() == "name";
            (name.clone(), if is_name { Value::string("n") } else { value.clone() })
        });
        empty = Value::object(pairs.collect::<Vec<_>>());
    }
    assert_eq!(value, empty);
}

#[test]
fn blocks_are_collected_by_their_nesting_mode() {
    check(
        "single {\n a = 1\n}\ngroup {\n a = 2\n}\nlist {\n a = 3\n}\nlist {\n}\nset {\n a = 4\n}\nset {\n a = \"4\"\n}\nmap \"x\" {\n a = 5\n}\nmap y {\n}\n",
        &expect![[r#"
            {any_map={}, group={a="2"}, list=list({a="3"}, {}), map=map(x={a="5"}, y={}), name="n", set=set({a="4"}), single={a="1"}}
        "#]],
    );
    check(
        // An element of a set has no position that could keep a mark, so the whole set gets it.
        "set {\n a = secret\n}\n",
        &expect![[r#"
        {any_map={}, group={}, name="n", set={"sensitive"}(set({a="s"}))}
    "#]],
    );
}

#[test]
fn blocks_with_dynamic_attributes_keep_the_type_of_each() {
    check(
        "any_list {\n a = 1\n}\nany_list {\n a = [true]\n}\nany_map x {\n a = \"s\"\n}\n",
        &expect![[r#"
            {any_list=[{a=1}, {a=[true]}], any_map={x={a="s"}}, group={}, name="n"}
        "#]],
    );
}

#[test]
fn every_problem_is_reported() {
    check(
        "size = []\ntags = { a = [1] }\nnaem = 1\nlist \"x\" {\n}\nmap {\n}\nmap x {\n a = nope\n}\nmap x {\n}\nsingle {\n}\nsingle {\n}\nouter {\n}\nouter {\n must {\n}\n limited {\n}\n limited {\n}\n limited {\n}\n}\nnope {\n}\n",
        &expect![[r#"
            2:8 "[]" Incorrect attribute value type
                Inappropriate value for attribute "size": number required.
            3:8 "{ a = [1] }" Incorrect attribute value type
                Inappropriate value for attribute "tags": element "a": string required.
            4:1 "naem" Unsupported argument
                An argument named "naem" is not expected here.
            5:6 "\"x\"" Extraneous label for list
                No labels are expected for list blocks.
            7:5 "{" Missing key for map
                All map blocks must have 1 labels (key).
            10:6 "nope" No such name
                -
            12:1 "map x" Duplicate map block
                A block for map "x" was already defined. The labels of map blocks must be unique.
            16:1 "single" Duplicate single block
                Only one block of type "single" is allowed.
            18:7 "{" Insufficient limited blocks
                At least 1 "limited" blocks are required, but 0 are given.
            18:7 "{" Missing must block
                A block of type "must" is required here.
            27:10 "{" Too many limited blocks
                No more than 2 "limited" blocks are allowed, but 3 are given.
            30:1 "nope" Unsupported block type
                Blocks of type "nope" are not expected here.
        "#]],
    );
}

#[test]
fn too_many_blocks_of_a_dynamic_block_are_reported_at_its_content() {
    check(
        "outer {\n must {\n}\n dynamic limited {\n  for_each = [1, 2, 3]\n  content {\n}\n}\n}\n",
        &expect![[r#"
            7:11 "{" Too many limited blocks
                No more than 2 "limited" blocks are allowed, but 3 are given.
        "#]],
    );
}

#[test]
fn a_missing_argument_is_reported_at_the_start() {
    expect![[r#"
        1:1 "" Missing required argument
            The argument "name" is required, but no definition was found.
        1:1 "x" Unsupported argument
            An argument named "x" is not expected here.
    "#]]
    .assert_eq(&decoded("x = 1\n", &schema()));
}

#[test]
fn optional_nested_attributes_may_be_absent() {
    let nested = NestedAttributes {
        attributes: attributes(&[
            ("must", Type::String, Role::Required),
            ("may", Type::Number, Role::Optional),
        ]),
        nesting: Nesting::List,
    };
    let attr = Attribute {
        kind: AttributeKind::Nested(nested),
        ..Attribute::new(Type::Bool, Role::Optional)
    };
    let schema =
        Block { attributes: BTreeMap::from([(Str::new("rules"), attr)]), ..Block::default() };
    expect![[r#"
        {rules=list({must="1"}, {may=2, must="x"})}
    "#]]
    .assert_eq(&decoded("rules = [{ must = 1 }, { must = \"x\", may = \"2\" }]", &schema));
    expect![[r#"
        1:9 "[{ may = 1 }]" Incorrect attribute value type
            Inappropriate value for attribute "rules": element 0: attribute "must" is required.
    "#]]
    .assert_eq(&decoded("rules = [{ may = 1 }]", &schema));
}
