//! Dynamic blocks while they are decoded.

use expect_test::expect;

use super::check;

#[test]
fn a_block_is_created_for_each_element() {
    check(
        "dynamic \"list\" {\n for_each = list\n content {\n a = list.value\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, list=list({a="a"}, {a="b"}), name="n"}
        "#]],
    );
    check(
        "dynamic \"set\" {\n for_each = map\n content {\n a = set.key\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, name="n", set=set({a="k"}, {a="l"})}
        "#]],
    );
    check(
        "list {\n a = \"first\"\n}\ndynamic \"list\" {\n for_each = list\n iterator = it\n content {\n a = it.key\n}\n}\nlist {\n a = \"last\"\n}\n",
        &expect![[r#"
            {any_map={}, group={}, list=list({a="first"}, {a="0"}, {a="1"}, {a="last"}), name="n"}
        "#]],
    );
    check(
        "dynamic \"single\" {\n for_each = []\n content {\n}\n}\n",
        &expect![[r#"
        {any_map={}, group={}, name="n"}
    "#]],
    );
}

#[test]
fn labels_are_evaluated_from_the_element() {
    check(
        "dynamic \"map\" {\n for_each = map\n labels = [map.key]\n content {\n a = map.value\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, map=map(k={a="1"}, l={a="2"}), name="n"}
        "#]],
    );
}

#[test]
fn dynamic_blocks_nest_and_see_every_iterator() {
    check(
        "dynamic \"outer\" {\n for_each = list\n content {\n must {\n}\n dynamic \"limited\" {\n for_each = [1, 2]\n content {\n a = outer.value\n}\n}\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, name="n", outer=list({limited=list({a="a"}, {a="a"}), must={}}, {limited=list({a="b"}, {a="b"}), must={}})}
        "#]],
    );
}

#[test]
fn an_unknown_number_of_blocks_yields_an_unknown_collection() {
    for kind in ["list", "set", "single", "any_list"] {
        let text = format!(
            "dynamic \"{kind}\" {{\n for_each = unknown_list\n content {{\n a = {kind}.value\n}}\n}}\n"
        );
        let expected = match kind {
            "list" => expect![[r#"
                {any_map={}, group={}, list=unknown list(object({a=string})), name="n"}
            "#]],
            "set" => expect![[r#"
                {any_map={}, group={}, name="n", set=unknown set(object({a=string}))}
            "#]],
            "single" => expect![[r#"
                {any_map={}, group={}, name="n", single={a=unknown string}}
            "#]],
            _ => expect![[r#"
                {any_list=unknown any, any_map={}, group={}, name="n"}
            "#]],
        };
        check(&text, &expected);
    }
    check(
        "dynamic \"map\" {\n for_each = dynamic\n labels = [map.key]\n content {\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, map=unknown map(object({a=string})), name="n"}
        "#]],
    );
}

#[test]
fn content_of_blocks_that_may_not_exist_is_not_evaluated() {
    for kind in ["list", "single"] {
        let text = format!(
            "dynamic \"{kind}\" {{\n for_each = unknown_list\n content {{\n a = [1].nope\n}}\n}}\n"
        );
        let printed = super::decoded(&format!("name = \"n\"\n{text}"), &super::schema());
        assert!(printed.contains("unknown"), "{printed}");
    }
    check(
        "dynamic \"outer\" {\n for_each = unknown_list\n content {\n must {\n}\n}\n}\ndynamic \"single\" {\n for_each = unknown_list\n content {\n}\n}\nsingle {\n}\n",
        &expect![[r#"
            4:10 "{" Insufficient limited blocks
                At least 1 "limited" blocks are required, but 0 are given.
            14:1 "single" Duplicate single block
                Only one block of type "single" is allowed.
        "#]],
    );
}

#[test]
fn marks_of_an_unknown_for_each_apply_to_the_future_blocks() {
    check(
        "dynamic \"list\" {\n for_each = unknown_secrets\n content {\n a = 1\n}\n}\ndynamic \"single\" {\n for_each = unknown_secrets\n content {\n a = 1\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, list=unknown list(object({a=string})), name="n", single={a={"sensitive"}(unknown string)}}
        "#]],
    );
}

#[test]
fn marks_of_the_collection_are_applied_to_the_blocks() {
    check(
        "dynamic \"list\" {\n for_each = secrets\n content {\n a = \"plain\"\n}\n}\n",
        &expect![[r#"
            {any_map={}, group={}, list=list({a={"sensitive"}("plain")}, {a={"sensitive"}("plain")}), name="n"}
        "#]],
    );
}

#[test]
fn errors_in_dynamic_blocks_are_reported() {
    check(
        "dynamic \"nope\" {\n for_each = list\n content {\n}\n}\ndynamic \"list\" {\n content {\n}\n}\ndynamic \"list\" {\n for_each = list\n}\ndynamic \"list\" {\n for_each = list\n content {\n}\n content {\n}\n}\ndynamic \"list\" {\n for_each = \"x\"\n content {\n}\n}\ndynamic \"list\" {\n for_each = null\n content {\n}\n}\ndynamic \"list\" {\n for_each = list\n iterator = \"x\"\n content {\n}\n}\ndynamic \"list\" {\n for_each = list\n labels = [1]\n content {\n}\n}\ndynamic \"map\" {\n for_each = list\n content {\n}\n}\ndynamic \"map\" {\n for_each = list\n labels = []\n content {\n}\n}\ndynamic \"map\" {\n for_each = list\n labels = [unknown]\n content {\n}\n}\ndynamic \"list\" {\n for_each = list\n content {\n nope = 1\n}\n}\n",
        &expect![[r#"
            2:9 "\"nope\"" Unsupported block type
                Blocks of type "nope" are not expected here.
            7:16 "{" Missing required argument
                The argument "for_each" is required, but no definition was found.
            11:16 "{" Missing dynamic content block
                A dynamic block must have a nested block of type "content" to describe the body of each generated block.
            18:2 "content" Extraneous dynamic content block
                Only one block of type "content" is allowed.
            22:13 "\"x\"" Invalid dynamic for_each value
                Cannot use a string value in for_each. An iterable collection is required.
            27:13 "null" Invalid dynamic for_each value
                Cannot use a null value in for_each. An iterable collection is required.
            33:13 "\"x\"" Invalid expression
                The iterator must be a single name without quotes.
            39:2 "labels" Unsupported argument
                An argument named "labels" is not expected here.
            43:15 "{" Missing required argument
                The argument "labels" is required, but no definition was found.
            50:11 "[]" Insufficient dynamic block labels
                One label is needed.
            56:12 "unknown" Invalid dynamic block label
                A label must be known when the configuration is planned.
            63:2 "nope" Unsupported argument
                An argument named "nope" is not expected here.
        "#]],
    );
}
