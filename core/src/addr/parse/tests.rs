//! Addresses as text, both ways.

use super::*;
use expect_test::{Expect, expect};

#[test]
fn printed_address_parses_to_the_same_address() {
    for text in [
        "aws_x.y",
        "aws_x.y[0]",
        r#"aws_x.y["a\"b\\c\n${"]"#.replace("${", "$${").as_str(),
        r#"module.a["x"].module.b[3].data.aws_x.y["\u0007"]"#,
        "module.a.ephemeral.x.y",
    ] {
        let addr: InstanceAddr = text.parse().unwrap();
        assert_eq!(addr.to_string(), text);
    }
    for text in [
        r#"provider["registry.terraform.io/hashicorp/null"]"#,
        r#"module.a.module.b.provider["example.com/x/y"].west"#,
    ] {
        let addr: ProviderConfigAddr = text.parse().unwrap();
        assert_eq!(addr.to_string(), text);
    }
}

#[test]
fn the_keyword_resource_may_precede_a_type() {
    // By itself `count` cannot begin an address.
    assert_eq!("resource.count.x".parse::<InstanceAddr>().unwrap().to_string(), "count.x");
    assert_eq!(
        "provider.aws".parse::<ProviderConfigAddr>().unwrap().to_string(),
        r#"provider["registry.terraform.io/hashicorp/aws"]"#
    );
}

fn check_refused(texts: &[&str], expect: &Expect) {
    let mut out = String::new();
    for text in texts {
        let message = match text.parse::<Target>() {
            Ok(target) => format!("{target:?}"),
            Err(bad) => bad.to_string(),
        };
        out += &format!("{text:?}: {message}\n");
    }
    expect.assert_eq(&out);
}

#[test]
fn invalid_addresses_are_explained() {
    check_refused(
        &[
            "",
            "foo bar",
            "a",
            "a.b.c",
            "a.0",
            "a.b[x]",
            "a.b[-1]",
            "a.b[1.5]",
            "a.b[99999999999999999999]",
            "a.b[*]",
            "a.b[\"${x}\"]",
            "a.b[\"x",
            "a.b[0",
            "a.b[0]]",
            "a.b[0].c",
            "a.b[\"\\q\"]",
            "a.b[\"\\u+041\"]",
            "[0].b",
            ".a.b",
            "module",
            "module.a.b",
            "data.x",
            "count.index",
            "1a.b",
        ],
        &expect![[r#"
            "": An address must begin with a name, but this one is empty.
            "foo bar": Expected `.name` or `[key]`, but found ` bar`.
            "a": A resource address requires a resource type and a name: `TYPE.NAME`.
            "a.b.c": `.c` after the name of a resource is invalid. Write instance keys in brackets: `[0]`, `["c"]`.
            "a.0": Expected a name after a dot, but found `0`. Write instance keys in brackets: `[0]`, `["key"]`.
            "a.b[x]": Brackets must contain a whole number from 0 or a string in double quotes. On a command line, put the address in single quotes to keep the double ones.
            "a.b[-1]": Brackets must contain a whole number from 0 or a string in double quotes. On a command line, put the address in single quotes to keep the double ones.
            "a.b[1.5]": Brackets must contain a whole number from 0 or a string in double quotes. On a command line, put the address in single quotes to keep the double ones.
            "a.b[99999999999999999999]": Brackets must contain a whole number from 0 or a string in double quotes. On a command line, put the address in single quotes to keep the double ones.
            "a.b[*]": A splat `[*]` is not allowed in an address.
            "a.b[\"${x}\"]": A key cannot contain a template. If `${` is part of the key, write `$${`.
            "a.b[\"x": A string key has no closing quote.
            "a.b[0": Expected a closing bracket after the key.
            "a.b[0]]": Expected `.name` or `[key]`, but found `]`.
            "a.b[0].c": `.c` after the name of a resource is invalid. Write instance keys in brackets: `[0]`, `["c"]`.
            "a.b[\"\\q\"]": Invalid escape sequence in a key. Valid escapes are \n \r \t \" \\ \uNNNN.
            "a.b[\"\\u+041\"]": Invalid escape sequence in a key. Valid escapes are \n \r \t \" \\ \uNNNN.
            "[0].b": An address must begin with a name, not with `[0].b`.
            ".a.b": An address must begin with a name, not with `.a.b`.
            "module": Expected the name of a module call after `module.`.
            "module.a.b": A resource address requires a resource type and a name: `TYPE.NAME`.
            "data.x": A resource address requires a resource type and a name: `TYPE.NAME`.
            "count.index": `count` does not begin the address of a resource. For a resource type of that name, write `resource.count.NAME`.
            "1a.b": An address must begin with a name, not with `1a.b`.
        "#]],
    );
}

#[test]
fn an_overlong_module_path_is_not_an_address() {
    let nested = |levels| format!("{}a.b", "module.m.".repeat(levels));
    assert!(nested(512).parse::<InstanceAddr>().is_ok());
    let error = nested(513).parse::<InstanceAddr>().unwrap_err();
    assert!(error.to_string().contains("more than 512 levels"), "{error}");
}
