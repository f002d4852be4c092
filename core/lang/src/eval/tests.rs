//! Values of expressions, in tables taken from Terraform.

use std::fmt::Write as _;

use expect_test::expect;
use formwork_value::{Marks, Value};

use super::testing::{eval, eval_within, show};
use crate::limits::Budget;

/// Compares every case of a table: `> expression`, then what is shown of it, then an empty line.
fn check(table: &str, show: fn(&str) -> String) {
    let mut wrong = String::new();
    let mut n_cases = 0;
    for case in table.split("\n> ") {
        let case = case.strip_prefix("> ").unwrap_or(case);
        let Some((expression, expected)) = case.split_once('\n') else { continue };
        n_cases += 1;
        let (expected, shown) = (expected.trim_end_matches('\n'), show(expression));
        if shown != expected {
            let _ =
                write!(wrong, "\n> {expression}\n--- expected\n{expected}\n--- found\n{shown}\n");
        }
    }
    assert!(n_cases > 10, "the table has cases");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each test is a table of Terraform's answers: values as printed, or `error: summary`.
macro_rules! tables {
    ($($name:ident: $file:literal,)*) => {
        $(#[test]
        fn $name() {
            check(include_str!($file), show);
        })*
    };
}

tables! {
    expressions_have_the_values_of_the_reference: "tables/expressions.txt",
    collections_are_treated_like_in_the_reference: "tables/collections.txt",
    encodings_and_numbers_agree_with_the_reference: "tables/encodings_and_numbers.txt",
    yaml_agrees_with_the_reference: "tables/yaml.txt",
    format_verbs_print_what_the_reference_prints: "tables/format.txt",
    expressions_made_at_random_agree_with_the_reference: "tables/made_at_random.txt",
    patterns_match_what_they_match_in_the_reference: "tables/regex.txt",
    files_are_read_through_the_host: "tables/files.txt",
    times_and_addresses_agree_with_the_reference: "tables/time_and_net.txt",
}

/// Writes a value in short: `?` for what is unknown, `!` before what is sensitive.
fn outline(value: &Value) -> String {
    let mark = if value.marks().contains(Marks::SENSITIVE) { "!" } else { "" };
    let bare = match value.without_own_marks() {
        Value::Unknown(_) => "?".into(),
        Value::Null(_) => "null".into(),
        Value::Object(object) => {
            let pairs: Vec<String> =
                object.iter().map(|(name, value)| format!("{name} = {}", outline(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
        Value::Map(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{key} = {}", outline(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            let items: Vec<String> = value.children().iter().map(outline).collect();
            format!("[{}]", items.join(", "))
        }
        plain => crate::print_value::print_value(plain),
    };
    format!("{mark}{bare}")
}

#[test]
fn unknown_and_marked_values_flow_as_in_terraform() {
    check(include_str!("tables/unknown_and_marked.txt"), |expression| match eval(expression) {
        Ok(value) => outline(&value),
        Err(diags) => format!("{diags:?}"),
    });
}

#[test]
fn unknown_results_keep_marks_that_terraform_loses() {
    // In Terraform, operators on bools, index and `for` drop the marks of operands as long as
    // something is unknown. Here a future secret is secret from the start.
    for expression in [
        "sensitive(true) && unknown == \"a\"",
        "!sensitive(tobool(unknown))",
        "[for x in sensitive(anything) : x]",
        "[1][sensitive(tonumber(unknown))]",
        "try(sensitive(unknown), 1)",
        "lookup(sensitive({a = 1}), unknown, 1)",
        "element(sensitive([1]), tonumber(unknown))",
        "{(sensitive(unknown)) = 1}",
    ] {
        assert_eq!(eval(expression).map(|value| outline(&value)), Ok("!?".into()), "{expression}");
    }
}

/// Shows all parts of an error: the source span, the summary, the detail and the references.
fn explain(text: &str) -> String {
    let Err(diags) = eval(text) else { return "no error".into() };
    let mut out = String::new();
    for diag in diags.iter() {
        let subject = diag.subject.and_then(|span| text.get(span.range())).unwrap_or("");
        let _ = writeln!(out, "`{subject}` {}: {}", diag.summary, diag.detail);
        for value in &diag.referenced {
            let _ = writeln!(out, "  {} {}", value.traversal, value.statement);
        }
    }
    out
}

/// The explanation of the names in an expression, for a cause.
fn describe_names(text: &str, cause: super::ErrorCause) -> String {
    let mut sources = formwork_value::diag::Sources::new();
    let source = sources.add("expression", text);
    let mut diags = formwork_value::Diagnostics::new();
    let expr = crate::syntax::parse_expression(&mut diags, &sources, source).unwrap();
    let all = super::describe_referenced_values(&expr, &super::testing::TestScope::new(), cause);
    all.iter().map(|value| format!("{} {}\n", value.traversal, value.statement)).collect()
}

#[test]
fn sensitive_and_unknown_values_are_noted_only_if_they_cause_the_error() {
    use super::ErrorCause;
    let text = "[v.unknown, v.anything, v.numbers, v.secret, v.passing, v.map, v.map, v.map.a, v.list[0].x]";
    // The last element has no `x`, so the longest part of the name that has a value is shown.
    let known = "v.list[0] is \"a\"\nv.map is map of number with 2 elements\nv.map.a is 1\n";
    let unknown = "v.numbers is a list of number\n";
    assert_eq!(
        describe_names(text, ErrorCause::Values),
        format!("{known}{unknown}v.unknown is a string\n")
    );
    let secret = format!("{known}{unknown}v.secret has a sensitive value\nv.unknown is a string\n");
    assert_eq!(describe_names(text, ErrorCause::Sensitive), secret);
    let passing = "v.passing has an ephemeral value\n";
    let wanted = format!("{known}{unknown}{passing}v.unknown is a string\n");
    assert_eq!(describe_names(text, ErrorCause::Ephemeral), wanted);
    expect![[r#"
        v.anything will be known only after apply
        v.list[0] is "a"
        v.map is map of number with 2 elements
        v.map.a is 1
        v.numbers is a list of number, known only after apply
        v.unknown is a string, known only after apply
    "#]]
    .assert_eq(&describe_names(text, ErrorCause::Unknown));
}

#[test]
fn errors_point_at_the_cause_and_show_values() {
    expect![[r#"
        `.nam` Unsupported attribute: This object does not have an attribute named "nam". Did you mean "name"?
          v.object is object with 2 attributes
    "#]].assert_eq(&explain("v.object.nam"));
    expect![[r#"
        `["sise"]` Invalid index: The given key does not identify an element in this collection value. The key is "sise"; "size" exists.
          v.object is object with 2 attributes
    "#]]
    .assert_eq(&explain("v.object[\"sise\"]"));
    expect![[r#"
        `[2]` Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection. The index is 2, and the elements have the indices 0 to 1.
          v.list is list of string with 2 elements
    "#]]
    .assert_eq(&explain("v.list[2]"));
    expect![[r#"
        `v.list` Invalid operand: Unsuitable value for left operand: number required.
          v.list is list of string with 2 elements
        `v.secret` Invalid operand: Unsuitable value for right operand: a number is required.
    "#]]
    .assert_eq(&explain("v.list + v.secret"));
    expect![[r#"
        `[` Too many function arguments: Function "upper" expects only 1 argument(s).
          v.map is map of number with 2 elements
    "#]]
    .assert_eq(&explain("upper(\"x\", [v.map])"));
    expect![[r#"
        `2` Too many function arguments: Function "length" expects only 1 argument(s).
          v.unknown is a string
    "#]]
    .assert_eq(&explain("1 + length([v.unknown], 2)"));
    expect![[r#"
        `.name` Unsupported attribute: Can't access attributes on a primitive-typed value (string).
    "#]]
    .assert_eq(&explain("[for x in v.list : x.name]"));
    expect![[r#"
        `uper` Call to unknown function: There is no function named "uper". Did you mean "upper"?
          v.list[0] is "a"
    "#]]
    .assert_eq(&explain("uper(v.list[0])"));
    expect![[r#"
        `{a = [1]} : {a = {}}` Inconsistent conditional result types: The true and false result expressions must have consistent types. Type mismatch for object attribute "a": The 'true' value is tuple, but the 'false' value is object.
    "#]].assert_eq(&explain("true ? {a = [1]} : {a = {}}"));
    expect![[r#"
        `try(` Error in function call: Call to function "try" failed: no expression succeeded:
        - Unsupported attribute: This value does not have any attributes. It is a list of string.
        - Unsupported attribute: This object does not have an attribute named "y". It has: name, size.

        At least one expression must produce a successful result.
          v.list is list of string with 2 elements
          v.object is object with 2 attributes
    "#]].assert_eq(&explain("try(v.list.x, v.object.y)"));
    expect![[r#"
        `v` Invalid reference: 
        `[]` Invalid operand: Unsuitable value for right operand: number required.
        `null` Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template.
    "#]].assert_eq(&explain("[v.nothing, 1 + [], \"a${null}\"]"));
    expect![[r#"
        `[` Invalid function argument: Invalid value for "lists" parameter: its element 1 is null, which cannot be part of a string.
    "#]].assert_eq(&explain("join(\",\", [1, null])"));
    expect![[r#"
        `[` Invalid function argument: Invalid value for "v" parameter: cannot convert tuple to list of any single type: all list elements must have the same type.
    "#]].assert_eq(&explain("tolist([1, {}])"));
    expect![[r#"
        `.x` Unsupported attribute: Can't access attributes on a primitive-typed value (number).
    "#]]
    .assert_eq(&explain("{for k, v in {a = 1} : (k) => v.x}"));
    expect![[r#"
        `templatefile(` Error in function call: Call to function "templatefile" failed: greeting.tftpl:1,9: Invalid template interpolation value: Cannot include the given value in a string template: string required. It is a tuple; use jsonencode() or join() to convert it to a string.
    "#]].assert_eq(&explain("templatefile(\"greeting.tftpl\", {name = []})"));
}

#[test]
fn errors_do_not_reveal_sensitive_values() {
    for failing in [
        "parseint(secret, 10)",
        "tonumber(secret)",
        "timeadd(secret, \"1h\")",
        "timeadd(timestamp(), secret)",
        "jsondecode(secret)",
        "regex(\"[${secret}\", \"x\")",
        "{a = 1}[secret]",
        "map[secret]",
        "lookup(map, secret)",
        "sensitive({s3cret = 1}).s3cre",
        "sensitive({s3cret = 1})[\"s3cre\"]",
        "{for x in [secret, secret] : x => 1}",
        "secret + 1",
        "file(secret)",
        "cidrhost(secret, 1)",
        "format(secret, 1)",
        "uuidv5(secret, \"x\")",
        "try(parseint(secret, 10))",
        "csvdecode(\"${secret},${secret}\")",
        "templatefile(\"greeting.tftpl\", {(secret) = 1})",
        "formatdate(secret, timestamp())",
    ] {
        let explained = explain(failing);
        let details = explained.split_once("` ").map_or("", |(_, details)| details);
        assert!(!details.is_empty() && !details.contains("s3cret"), "{failing}: {explained}");
    }
}

#[test]
fn unbounded_evaluation_is_refused() {
    let bombs = [
        "[for a in range(1000) : [for b in range(1000) : 1]]",
        "setproduct(range(1000), range(1000), range(1000), range(1000))",
        "flatten([for x in [range(1000)] : [for y in range(1000) : x]])",
        r#"[for a in [join("", range(1000))] : join("", [for x in range(1000) : a])]"#,
        r#"join("", [for x in range(1000) : format("%10000d", x)])"#,
        r#"replace(format("%9000s", ""), " ", format("%9000s", ""))"#,
        r#"replace(format("%9000s", ""), "/ /", format("%9000s", ""))"#,
        r#"indent(1000000000, "a\nb")"#,
        r#""%{ for a in range(1000) }%{ for b in range(1000) }0123456789%{ endfor }%{ endfor }""#,
        r#"regexall("", format("%9000s", ""))"#,
        // Eight times as much on each level, from a short string.
        r#"yamldecode("a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]")"#,
        r#"base64gzip(format("%9000s", ""))"#,
        "[for a in range(100) : range(100)]",
        // A short pattern like this makes a large program before anything is searched.
        r#"regex("^\\pL{1,900}$", "a")"#,
        r#"[for a in range(3) : can(regex("\\pL{1000}\\pL{1000}\\pL{1000}\\pL{1000}\\pL{1000}", "a"))]"#,
        r#"yamldecode(format("[%s", replace(format("%1100s", ""), " ", "[")))"#,
    ];
    for bomb in bombs {
        // Far below the real limits, so that the test ends soon.
        let diags = eval_within(bomb, &Budget::new(5_000, 1_000_000)).expect_err(bomb);
        assert!(
            diags.iter().any(|diag| diag.summary == "Expression too large"),
            "{bomb} {diags:?}"
        );
    }
}

#[test]
fn keys_count_towards_limits_like_elements() {
    let made = |text: &str| eval_within(text, &Budget::new(50_000, 100_000)).is_ok();
    assert!(made("[for a in range(1000) : 1]"));
    assert!(!made("{ for a in range(1000) : a => 1 }"));
    assert!(!made("{ for a in range(1000) : a => 1... }"));
}

#[test]
fn long_chains_and_deep_nesting_are_evaluated() {
    let sum = vec!["1"; 1_400].join(" + ");
    assert_eq!(show(&sum), "1400");
    let deep = format!("{}1{}", "(".repeat(1_000), ")".repeat(1_000));
    assert_eq!(show(&deep), "1");
    let lists = format!("{}{}", "[".repeat(990), "]".repeat(990));
    assert!(show(&lists).len() > 990);
    let too_deep = format!("{}{}", "[".repeat(1_100), "]".repeat(1_100));
    assert_eq!(show(&too_deep), "error: Expression too large");
}

#[test]
fn repeated_doubling_is_stopped_at_a_named_limit() {
    type Double = fn(&str) -> String;
    let doubles: [(&str, Double); 4] = [
        ("\"x\"", |a| format!("\"${{{a}}}${{{a}}}\"")),
        ("\"x\"", |a| format!("[{a}, {a}]")),
        ("\"x\"", |a| format!("{{ left = {a}, right = {a} }}")),
        ("[\"x\"]", |a| format!("concat({a}, {a})")),
    ];
    for (start, double) in doubles {
        // This takes few steps, so that only the size of the values can end it.
        let innermost = "length(a30)".to_owned();
        let nested = (1..=30).rev().fold(innermost, |inside, n| {
            format!("[for a{n} in [{}] : {inside}]", double(&format!("a{}", n - 1)))
        });
        let diags = eval(&format!("[for a0 in [{start}] : {nested}]")).expect_err(start);
        let details: Vec<&str> = diags.iter().map(|diag| diag.detail.as_str()).collect();
        assert!(matches!(details[..], [one] if one.contains("MiB")), "{details:?}");
    }
}

#[test]
fn a_call_is_charged_for_the_values_it_reads() {
    let searched = "[for a in range(1000) : contains(range(1000), a)]";
    let looked_up = "[for a in range(1000) : element(range(1000), a)]";
    let within = |text: String| eval_within(&text, &Budget::new(100_000, 1 << 30)).is_ok();
    // The list is made once, so that only reading it counts.
    let once = |text: &str| {
        format!("[for list in [range(1000)] : {}]", text.replace("range(1000), a", "list, a"))
    };
    assert!(!within(once(searched)));
    assert!(within(once(looked_up)));
}

#[test]
fn arithmetic_on_constants_agrees_with_that_on_variables() {
    let operations = [
        "N + 1",
        "1 - N",
        "N * 2 + 1",
        "N / 4",
        "7 % N",
        "(N + 1) * (N - 1)",
        "-(N + 2)",
        "1 / (N - N)",
        "((N + 1) * 2 - N / 3) % 5 + N * N",
        "N + 1 == 8",
        "N * 2 > 3",
        "\"${N + 1}\"",
        "N % 0",
        "9007199254740993 + N * 0.1",
        "N / 0 - N / 0",
    ];
    let numbers = [
        "7",
        "0",
        "-0.5",
        "\"12\"",
        "\"x\"",
        "true",
        "null",
        "unknown",
        "anything",
        "secret",
        "18446744073709551616",
        "tonumber(unknown)",
        "sensitive(3)",
    ];
    for number in numbers {
        for operation in operations {
            let over =
                |n: &str| show(&format!("[for n in [{number}] : {}]", operation.replace('N', n)));
            assert_eq!(over("n"), over("[n][0]"), "{operation} of {number}");
        }
    }
}

#[test]
fn errors_do_not_reveal_sensitive_or_ephemeral_values() {
    let mistakes = [
        "tonumber(X)",
        "tobool(X)",
        "parseint(X, 10)",
        "{ a = 1 }[X]",
        "tomap({ a = 1 })[X]",
        "[1][X]",
        "{ for k in [1, 2] : X => k }",
        "X + 1",
        "X ? 1 : 2",
        "X.y",
        "[for c in X : c]",
        "jsondecode(X)",
    ];
    for (name, value) in [("secret", "s3cret"), ("passing", "\"pass\"")] {
        for mistake in mistakes {
            let diags = eval(&mistake.replace('X', name)).expect_err(mistake);
            let details: Vec<&str> = diags.iter().map(|diag| diag.detail.as_str()).collect();
            assert!(!details.iter().any(|detail| detail.contains(value)), "{mistake}: {details:?}");
        }
    }
}
