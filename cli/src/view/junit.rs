//! Test results as JUnit XML.

use formwork_operation::test::{RunResult, TestFileResult, TestStatus};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};
use time::format_description::well_known::Rfc3339;

use super::Screen;
use super::human::diagnostic;
use crate::messages;

/// The width of the messages in the document.
const MESSAGE_WIDTH: usize = 80;

/// The whole document: a test suite for each test file, a test case for each run.
pub(crate) fn junit_document(sources: &Sources, results: &[TestFileResult]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>");
    for suite in results {
        let count =
            |status: TestStatus| suite.runs.iter().filter(|run| run.status == status).count();
        text.push_str(&format!(
            "\n  <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" failures=\"{}\" errors=\"{}\">",
            escape_xml(&suite.path),
            suite.runs.len(),
            count(TestStatus::Skip),
            count(TestStatus::Fail),
            count(TestStatus::Error)
        ));
        let mut failed = None;
        for run in &suite.runs {
            text.push_str(&test_case_element(sources, suite, run, failed));
            if run.status == TestStatus::Error {
                failed = Some(run);
            }
        }
        text.push_str(if suite.runs.is_empty() { "</testsuite>" } else { "\n  </testsuite>" });
    }
    text.push_str(if results.is_empty() { "</testsuites>" } else { "\n</testsuites>" });
    text
}

/// A test case. `failed` is an earlier run whose failure ended the file.
fn test_case_element(
    sources: &Sources,
    suite: &TestFileResult,
    run: &RunResult,
    failed: Option<&RunResult>,
) -> String {
    let mut timing = String::new();
    if let Some((started, elapsed)) = run.timing {
        let started = started.replace_nanosecond(0).unwrap_or(started);
        let started = started.format(&Rfc3339).unwrap_or_default();
        timing = format!(" time=\"{}\" timestamp=\"{started}\"", elapsed.as_secs_f64());
    }
    let (name, class) = (escape_xml(&run.name), escape_xml(&suite.path));
    let children = test_case_children(sources, run, failed);
    let end = if children.is_empty() { "" } else { "\n    " };
    format!(
        "\n    <testcase name=\"{name}\" classname=\"{class}\"{timing}>{children}{end}</testcase>"
    )
}

/// The elements in a test case.
fn test_case_children(sources: &Sources, run: &RunResult, failed: Option<&RunResult>) -> String {
    let is_failed_assert =
        |diagnostic: &&Diagnostic| diagnostic.is_about_message(messages::TEST_ASSERTION_FAILED);
    let mut text = String::new();
    let mut rest: Vec<&Diagnostic> = run.diags.iter().collect();
    match run.status {
        TestStatus::Pass => {}
        TestStatus::Skip => {
            let (message, body) = skipped_element(failed);
            text.push_str(&result_element("skipped", Some(&message), &body));
        }
        TestStatus::Fail => {
            let asserts: Vec<&Diagnostic> = run.diags.iter().filter(is_failed_assert).collect();
            let message = failure_message(&asserts, run.n_asserts);
            text.push_str(&result_element(
                "failure",
                Some(&message),
                &render_diagnostics(sources, &asserts),
            ));
            rest.retain(|diagnostic| !is_failed_assert(diagnostic));
        }
        TestStatus::Error => {
            let errors: Vec<&Diagnostic> =
                rest.iter().copied().filter(|diagnostic| diagnostic.is_error()).collect();
            let body = render_diagnostics(sources, &errors);
            text.push_str(&result_element("error", Some("Encountered an error"), &body));
            rest.retain(|diagnostic| !diagnostic.is_error());
        }
    }
    if !rest.is_empty() {
        text.push_str(&result_element("system-err", None, &render_diagnostics(sources, &rest)));
    }
    text
}

fn skipped_element(failed: Option<&RunResult>) -> (String, String) {
    match failed {
        Some(failed) => (
            "Testcase skipped due to a previous testcase error".to_owned(),
            format!(
                "Previous testcase {:?} ended in error, which caused the remaining tests in the file to be skipped",
                failed.name.as_str()
            ),
        ),
        None => (
            "Testcase skipped due to an interrupt".to_owned(),
            "Formwork received an interrupt and stopped gracefully. This caused all remaining testcases to be skipped".to_owned(),
        ),
    }
}

fn failure_message(failed: &[&Diagnostic], n_asserts: usize) -> String {
    let Some(first) = failed.first() else { return String::new() };
    let including = if failed.len() == 1 { ":" } else { ", including:" };
    format!("{} of {n_asserts} assertions failed{including} {}", failed.len(), first.detail)
}

fn render_diagnostics(sources: &Sources, diags: &[&Diagnostic]) -> String {
    let screen = Screen { color: false, width: MESSAGE_WIDTH, erases: false };
    let mut list = Diagnostics::new();
    for diagnostic in diags {
        let _ = list.push((*diagnostic).clone());
    }
    let ordered = diagnostic::in_display_order(sources, &list);
    ordered
        .into_iter()
        .map(|diagnostic| diagnostic::render_one_diagnostic(&screen, sources, diagnostic))
        .collect()
}

fn result_element(name: &str, message: Option<&str>, body: &str) -> String {
    let message = message.map(|text| format!(" message=\"{}\"", escape_xml(text)));
    // The section must not contain its own end marker.
    let body = body.replace(is_invalid_in_xml, "\u{fffd}").replace("]]>", "]]]]><![CDATA[>");
    format!("\n      <{name}{}><![CDATA[{body}]]></{name}>", message.unwrap_or_default())
}

/// Whether XML 1.0 does not allow a character, even escaped.
fn is_invalid_in_xml(char: char) -> bool {
    matches!(char, '\u{fffe}' | '\u{ffff}')
        || (char.is_control() && !matches!(char, '\t' | '\n' | '\r'))
}

/// Escapes text for a quoted attribute.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' => escaped.push_str("&#x9;"),
            '\n' => escaped.push_str("&#xA;"),
            '\r' => escaped.push_str("&#xD;"),
            char if is_invalid_in_xml(char) => escaped.push('\u{fffd}'),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use formwork_value::Diagnostics;

    use super::*;

    #[test]
    fn statuses_have_their_elements_and_text_is_escaped() {
        let run = |name: &str, status| RunResult::with_status_only(name.into(), status);
        let mut warned = run("warned", TestStatus::Pass);
        let foreign = |severity| Diagnostic::foreign(severity, "A]]>B", "");
        let mut diags = Diagnostics::new();
        diags.warn(foreign(formwork_value::diag::Severity::Warning));
        warned.diags = diags;
        let runs = vec![
            run("a<\"b\"", TestStatus::Pass),
            warned,
            run("error", TestStatus::Error),
            run("skip", TestStatus::Skip),
        ];
        let suite =
            TestFileResult { path: "a&b.tftest.hcl".into(), status: TestStatus::Error, runs };
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?><testsuites>
              <testsuite name="a&amp;b.tftest.hcl" tests="4" skipped="1" failures="0" errors="1">
                <testcase name="a&lt;&#34;b&#34;" classname="a&amp;b.tftest.hcl"></testcase>
                <testcase name="warned" classname="a&amp;b.tftest.hcl">
                  <system-err><![CDATA[
            Warning: A]]]]><![CDATA[>B
            ]]></system-err>
                </testcase>
                <testcase name="error" classname="a&amp;b.tftest.hcl">
                  <error message="Encountered an error"><![CDATA[]]></error>
                </testcase>
                <testcase name="skip" classname="a&amp;b.tftest.hcl">
                  <skipped message="Testcase skipped due to a previous testcase error"><![CDATA[Previous testcase "error" ended in error, which caused the remaining tests in the file to be skipped]]></skipped>
                </testcase>
              </testsuite>
            </testsuites>"#]]
        .assert_eq(&junit_document(&Sources::new(), &[suite]));
    }
}
