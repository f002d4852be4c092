//! Quoted templates, heredocs, directives and strip markers.

use super::{expression, template};
use crate::syntax::print_tree;

fn check(text: &str, expected: &str) {
    let tree = expression(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    assert_eq!(print_tree::print_expr(&tree), expected, "{text}");
}

#[test]
fn a_lone_interpolation_keeps_its_type() {
    check(r#""${a}""#, "(wrap a)");
    check(r#""${~ a ~}""#, "(wrap a)");
    check(r#""${a}${b}""#, "(template ${a} ${b})");
    check(r#"" ${~ a}""#, "(template ${a})");
    check(r#""${"x"}""#, "(wrap \"x\")");
}

#[test]
fn escapes_are_resolved() {
    check(r#""\n\r\t\"\\\u00e9\U0001F600""#, r#""\n\r\t\"\\é😀""#);
    check(r#""$${a} %%{b} $$ %% $x %x $""#, r#""${a} %{b} $$ %% $x %x $""#);
    // Only the two signs next to the brace are an escape.
    check(r#""$$${1}""#, r#""$${1}""#);
    check(r#""$$$${1}""#, r#""$$${1}""#);
    check(r#""""#, r#""""#);
}

#[test]
fn directives_nest() {
    check(r#""%{if a}x%{else}y%{endif}""#, r#"(template %if a "x" else "y")"#);
    check(
        r#""%{for k, v in m}${k}%{if v}!%{endif}%{endfor}""#,
        r#"(template %for k v m (template ${k} %if v "!" else (template )))"#,
    );
}

#[test]
fn strip_markers_remove_adjacent_spaces() {
    check(r#""a ${~ 1 ~} \n  \n b""#, r#"(template "a" ${1} "b")"#);
    check(
        r#""a %{~ if x ~} b %{~ endif ~} c""#,
        r#"(template "a" %if x "b" else (template ) "c")"#,
    );
}

#[test]
fn a_lone_sign_keeps_one_space_from_a_strip_marker() {
    check("<<EOT\nb% \n${~ 1}\nEOT\n", r#"(template "b% " ${1} "\n")"#);
    check("<<EOT\nb%  \n${~ 1}\nEOT\n", r#"(template "b%" ${1} "\n")"#);
    check("<<EOT\nb% \r\n${~ 1}\nEOT\n", r#"(template "b% " ${1} "\n")"#);
    check("<<EOT\nb%\r\n${~ 1}\nEOT\n", r#"(template "b%\r" ${1} "\n")"#);
}

#[test]
fn heredocs_keep_line_ends_and_backslashes() {
    check("<<EOT\n  a\\n\n b\n EOT\n", r#""  a\\n\n b\n""#);
    check("<<EOT\nEOT\n", r#""""#);
    // The name ends a heredoc only if it is the only content of its line.
    check("<<EOT\nfoo\nEOT bar\nEOT\n", r#""foo\nEOT bar\n""#);
    check("<<EOT\n${1}EOT\nEOT\n", r#"(template ${1} "EOT\n")"#);
    check("<<EOT\r\na\r\nEOT\r\n", r#""a\r\n""#);
    check("<<a-b\nx\na-b\n", r#""x\n""#);
}

#[test]
fn indented_heredocs_lose_the_common_indentation() {
    check("<<-EOT\n    a\n  b\n   EOT\n", r#""  a\nb\n""#);
    // A tab counts like one space, and lines without text do not count.
    check("<<-EOT\n\t a\n    b\n \n\n   EOT\n", r#""a\n  b\n \n\n""#);
    check("<<-EOT\n  ${a}\n    b\n  EOT\n", r#"(template ${a} "\n  b\n")"#);
    check("<<-EOT\n${a}\n    b\n  EOT\n", r#"(template ${a} "\n    b\n")"#);
    check(
        "<<-EOT\n    %{ if true ~}\n    foo\n    %{ endif ~}\n  bar\n  EOT\n",
        r#"(template %if true "    foo\n" else (template ) "  bar\n")"#,
    );
}

#[test]
fn interpolations_hold_whole_expressions() {
    check(r#""${ {a = "}"}["a"] }""#, r#"(wrap ([] (object "a"="}") "a"))"#);
    check("\"${\n a\n}\"", "(wrap a)");
    check(r#""a${"b${c}d"}e""#, r#"(template "a" ${(template "b" ${c} "d")} "e")"#);
    check("\"${<<EOT\nx\nEOT\n}\"", r#"(wrap "x\n")"#);
}

#[test]
fn template_files_are_text_from_the_first_byte() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            template(text).map(|tree| print_tree::print_expr(&tree)),
            Ok(expected.to_owned()),
            "{text}"
        );
    };
    check("", r#""""#);
    check("a \"b\" \\n\n", r#""a \"b\" \\n\n""#);
    check("${a}", "(wrap a)");
    // A strip marker reaches to the end of its line, not into the next.
    check(
        "%{ for x in y ~}\n  ${x}\n%{ endfor ~}\n",
        r#"(template %for x y (template "  " ${x} "\n"))"#,
    );
}
