//! Line-based difference of two strings, in the unified format.

use similar::TextDiff;

/// Shows the changes of a file.
pub(crate) fn unified_diff(name: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .header(&format!("old/{name}"), &format!("new/{name}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::unified_diff;

    #[test]
    fn changed_lines_are_shown_with_three_lines_of_context() {
        let old = "a\nb\nc\nd=1\ne\nf\ng\nh\ni";
        let new = "a\nb\nc\nd = 1\ne\nf\ng\nh\ni";
        expect![[r#"
            --- old/x.tf
            +++ new/x.tf
            @@ -1,7 +1,7 @@
             a
             b
             c
            -d=1
            +d = 1
             e
             f
             g
        "#]]
        .assert_eq(&unified_diff("x.tf", old, new));
    }
}
