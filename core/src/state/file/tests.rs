//! Reading and writing the state file, against files that Terraform wrote.

use proptest::prelude::*;

use super::*;

/// A file with odd spacing, odd order and unknown members.
const MESSY_STATE: &[u8] = include_bytes!("golden/messy.json");

/// The same file as Terraform's `state push` wrote it.
const CANONICAL_STATE: &[u8] = include_bytes!("golden/canonical.tfstate");

fn utf8_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn an_irregular_file_is_written_as_by_terraform() {
    let mut file = StateFile::parse(MESSY_STATE).unwrap();
    // As `state push` did.
    file.serial += 1;
    assert_eq!(utf8_text(&file.to_bytes()), utf8_text(CANONICAL_STATE));
}

#[test]
fn reading_and_writing_preserves_every_byte() {
    let file = StateFile::parse(CANONICAL_STATE).unwrap();
    assert_eq!(utf8_text(&file.to_bytes()), utf8_text(CANONICAL_STATE));
}

#[test]
fn providers_are_found_without_reading_the_rest() {
    let all = |file: &StateFile| -> BTreeSet<ProviderAddr> {
        file.state.resources.values().map(|held| held.provider.provider.clone()).collect()
    };
    for text in [MESSY_STATE, CANONICAL_STATE] {
        let providers = StateFile::read_providers(text).unwrap();
        assert!(!providers.is_empty());
        assert_eq!(providers, all(&StateFile::parse(text).unwrap()));
    }
}

#[test]
fn an_empty_state_is_written_as_by_terraform() {
    let file = StateFile { lineage: "some-lineage".to_owned(), ..StateFile::new_empty() };
    expect_test::expect![[r#"
        {
          "version": 4,
          "terraform_version": "1.11.4",
          "serial": 0,
          "lineage": "some-lineage",
          "outputs": {},
          "resources": [],
          "check_results": null
        }
    "#]]
    .assert_eq(utf8_text(&file.to_bytes()));
}

#[test]
fn new_states_have_unique_lineages() {
    assert_ne!(StateFile::new_empty().lineage, StateFile::new_empty().lineage);
}

#[test]
fn a_file_truncated_anywhere_is_refused() {
    // Without only its last line break the file is still whole.
    let end = CANONICAL_STATE.len() - "\n".len();
    for cut in 0..end {
        let error = StateFile::parse(&CANONICAL_STATE[..cut]).unwrap_err();
        let expected = match cut {
            0 => matches!(error, FileError::Empty),
            _ => matches!(error, FileError::NotJson { .. }),
        };
        assert!(expected, "cut at {cut}: {error:?}");
    }
}

#[test]
fn identity_is_kept() {
    let with = r#"{"version":4,"resources":[{"mode":"managed","type":"t","name":"n",
        "provider":"provider[\"example.com/a/t\"]","instances":[{"attributes":{},
        "identity_schema_version":3,"identity":{"id": "x"}}]}]}"#;
    let file = StateFile::parse(with.as_bytes()).unwrap();
    let written = file.to_bytes();
    assert!(utf8_text(&written).contains("\"identity_schema_version\": 3"));
    assert_eq!(StateFile::parse(&written).unwrap(), file);
}

/// Inserts a resource or an instance into a valid file.
fn state_with_resource(resource: &str) -> String {
    format!("{{\"version\":4,\n\"resources\":[\n{resource}\n]}}")
}

fn state_with_instances(instances: &str) -> String {
    state_with_resource(&format!(
        "{{\"mode\":\"managed\",\"type\":\"t\",\"name\":\"n\",\
         \"provider\":\"provider[\\\"example.com/a/t\\\"]\",\"instances\":[{instances}]}}"
    ))
}

#[test]
fn line_breaks_in_fields_cannot_forge_message_lines() {
    let line = "x\\nNo changes. Your infrastructure matches the configuration.";
    for text in [
        format!(r#"{{"version":4,"terraform_version":"{line}"}}"#),
        state_with_resource(&format!(r#"{{"mode":"{line}","type":"t","name":"n"}}"#)),
        state_with_resource(&format!(
            r#"{{"module":"module.{line}","mode":"managed","type":"t","name":"n"}}"#
        )),
        state_with_instances(&format!(
            r#"{{"sensitive_attributes":[[{{"type":"{line}","value":1}}]]}}"#
        )),
    ] {
        let error = StateFile::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("\\nNo changes."), "{error}");
        assert!(!error.contains("\nNo changes."), "{error}");
    }
}

#[test]
fn a_list_is_not_a_state() {
    for text in ["[4]", r#"[4,"1.11.4",5,"lineage",{},[],null]"#] {
        let error = StateFile::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("the file has no \"version\""), "{error}");
    }
    let text = br#"{"version":4,"resources":[["","managed","t","n"]]}"#;
    let error = StateFile::parse(text).unwrap_err().to_string();
    assert!(error.contains("invalid type: sequence, expected an object"), "{error}");
}

#[test]
fn impossible_content_is_refused_with_its_line() {
    let cases = [
        ("[]".to_owned(), "the file has no \"version\", which must be a whole number"),
        ("{}".to_owned(), "the file has no \"version\", which must be a whole number"),
        (
            r#"{"version":"4"}"#.to_owned(),
            "the file has no \"version\", which must be a whole number",
        ),
        (
            r#"{"version":5,"resources":{}}"#.to_owned(),
            "the file has format version 5; this program supports versions 3 and 4",
        ),
        (
            r#"{"version":2,"modules":[]}"#.to_owned(),
            "the file has format version 2; this program supports versions 3 and 4",
        ),
        (
            "{\"version\":4,\n\"serial\":\"x\"}".to_owned(),
            "line 2: The content does not have the expected form: invalid type: string \"x\", \
             expected u64 at line 2 column 12",
        ),
        (
            r#"{"version":4,"serial":18446744073709551615}"#.to_owned(),
            "The serial 18446744073709551615 is too large; \
             9223372036854775807 is the limit",
        ),
        ("{\"version\":4} x".to_owned(), "line 1, column 15: trailing characters"),
        (
            r#"{"version":4,"terraform_version":"zzz"}"#.to_owned(),
            "State file claims to have been written by Terraform version \"zzz\", which is not a \
             valid version string.",
        ),
        (
            state_with_resource(r#"{"mode":"x","type":"t","name":"n"}"#),
            "line 3: State contains a resource with mode \"x\" (\"t\" \"n\") which is not supported.",
        ),
        (
            state_with_resource(r#"{"mode":"data","type":"t","name":"n","instances":[{}]}"#),
            "line 3: Resource data.t.n does not specify its provider configuration. \
             States in which each instance has its own provider configuration are not supported.",
        ),
        (
            state_with_instances(r#"{"status":"foo"}"#),
            "line 3: Instance t.n has invalid status \"foo\".",
        ),
        (
            state_with_instances(r#"{"deposed":"foo"}"#),
            "line 3: Instance t.n has an object with deposed key \"foo\", which is not correctly \
             formatted.",
        ),
        (
            state_with_instances(r#"{"index_key":true}"#),
            "line 3: Resource t.n has an instance with the invalid instance key true.",
        ),
        (
            state_with_instances(r#"{"index_key":1.5}"#),
            "line 3: Resource t.n has an instance with the invalid instance key 1.5.",
        ),
        (
            state_with_instances("{\"attributes\":{}},\n{\"attributes\":{}}"),
            "line 4: Instance t.n appears multiple times in the state file.",
        ),
        (
            state_with_instances(r#"{"deposed":"00000000"},{"deposed":"00000000"}"#),
            "line 3: Instance t.n deposed object \"00000000\" appears multiple times in the state \
             file.",
        ),
        (
            state_with_instances(r#"{"sensitive_attributes":[[{"type":"x","value":1}]]}"#),
            "line 3: Instance t.n: \"sensitive_attributes\": unknown step type \"x\".",
        ),
        (
            r#"{"version":4,"outputs":{"a":{"value":1,"type":"foo"}}}"#.to_owned(),
            "line 1: The state file has an invalid type specification for output \"a\": \
             there is no primitive type \"foo\".",
        ),
    ];
    check_refused(&cases);
}

#[test]
fn names_that_no_configuration_can_contain_are_refused() {
    // Escape sequences and a change of direction: printed, they would forge lines of output.
    check_refused(&[
        (
            state_with_resource(
                "{\"mode\":\"managed\",\"type\":\"t\",\"name\":\"n\\u001b[2K\\nNo changes.\"}",
            ),
            "line 3: The state file contains the resource name \"n\\u{1b}[2K\\nNo changes.\". A name must \
             contain only letters, digits, underscores and dashes.",
        ),
        (
            state_with_resource(r#"{"mode":"managed","type":"t u","name":"n"}"#),
            "line 3: The state file contains the resource type name \"t u\". A name must contain only \
             letters, digits, underscores and dashes.",
        ),
        (
            r#"{"version":4,"outputs":{"a\u202e":{"value":1,"type":"number"}}}"#.to_owned(),
            "The state file contains the output name \"a\\u{202e}\". A name must contain only letters, \
             digits, underscores and dashes.",
        ),
    ]);
}

fn check_refused(cases: &[(String, &str)]) {
    for (text, want) in cases {
        let error = StateFile::parse(text.as_bytes()).expect_err(text);
        assert_eq!(error.to_string(), *want, "{text}");
    }
}

#[test]
fn a_part_nested_too_deep_is_refused() {
    // Deep enough to end the stack of anything that recurses.
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let error =
        StateFile::parse(state_with_instances(&format!("{{\"attributes\":{deep}}}")).as_bytes());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("nested deeper than any value can be"), "{error}");
}

#[test]
fn a_diagnostic_names_the_file_and_what_to_do() {
    let diagnostic = FileError::Newer(5).diagnostic("terraform.tfstate");
    assert_eq!(diagnostic.summary, "Unsupported state file format");
    expect_test::expect![[r#"
        terraform.tfstate: the file has format version 5; this program supports versions 3 and 4.

        It was written by a newer program. Use that program, or a newer version of this one. Nothing was changed."#]]
    .assert_eq(&diagnostic.detail);
}

proptest! {
    #[test]
    fn a_file_changed_anywhere_is_refused_or_read_the_same_way_twice(
        at in 0..CANONICAL_STATE.len(), byte in any::<u8>(),
    ) {
        let mut changed = CANONICAL_STATE.to_vec();
        changed[at] = byte;
        if let Ok(file) = StateFile::parse(&changed) {
            let written = file.to_bytes();
            prop_assert_eq!(StateFile::parse(&written), Ok(file));
        }
    }
}
