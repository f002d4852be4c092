//! Sealed state files: the values that are sealed, and those that are refused.

use super::*;
use crate::state::file::StateFile;

const RECIPIENTS: [&str; 2] = ["age1a", "age1b"];

/// Inverts each byte.
fn invert_bytes(value: &[u8]) -> Result<Vec<u8>, String> {
    Ok(value.iter().map(|byte| !byte).collect())
}

/// The text of a state with one instance that has these attributes, these sensitive paths, and more.
fn state_text(attributes: &str, paths: &[&str], more: &str) -> String {
    let step = |name: &str| match name.parse::<usize>() {
        Ok(at) => format!(r#"{{"type":"index","value":{{"value":{at},"type":"number"}}}}"#),
        Err(_) => format!(r#"{{"type":"get_attr","value":"{name}"}}"#),
    };
    let path = |path: &&str| {
        let steps: Vec<String> = path.split('.').filter(|it| !it.is_empty()).map(step).collect();
        format!("[{}]", steps.join(","))
    };
    let paths: Vec<String> = paths.iter().map(path).collect();
    let text = format!(
        r#"{{"version":4,"serial":3,"lineage":"l","outputs":{{
        "open":{{"value":"shown","type":"string"}},
        "shut":{{"value":{{"user":"hunter2"}},"type":["object",{{"user":"string"}}],"sensitive":true}}
        }},"resources":[{{"module":"module.m[\"k\"]","mode":"managed","type":"t","name":"a",
        "provider":"provider[\"registry.terraform.io/hashicorp/t\"]","instances":[{{"index_key":"i",
        "attributes":{attributes},"sensitive_attributes":[{}]{more}}}]}}]}}"#,
        paths.join(",")
    );
    String::from_utf8(StateFile::parse(text.as_bytes()).unwrap().to_bytes()).unwrap()
}

fn seal_text(text: &str) -> String {
    let recipients = RECIPIENTS.map(str::to_owned);
    String::from_utf8(seal_state_file(text.as_bytes(), &recipients, &mut invert_bytes).unwrap())
        .unwrap()
}

fn open_text(text: &str) -> Result<OpenedStateFile, String> {
    open_state_file(text.as_bytes(), &mut invert_bytes).map_err(|error| error.to_string())
}

/// The attributes in the text of a state, on one line.
fn attributes_in(text: &str) -> String {
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    file["resources"][0]["instances"][0]["attributes"].to_string()
}

/// Seals and opens, and returns the attributes of the sealed text, with `*` for each sealed value.
#[track_caller]
fn sealed_attributes_with_stars(attributes: &str, paths: &[&str]) -> String {
    let plain = state_text(attributes, paths, "");
    let text = seal_text(&plain);
    let file = open_text(&text).unwrap();
    let (before, after) = (StateFile::parse(plain.as_bytes()), StateFile::parse(&file.text));
    assert_eq!((after, file.plain), (before, Vec::new()));
    let shown = attributes_in(&text);
    let start = format!("\"{SEALED_PREFIX}");
    let mut parts = shown.split(&start);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + "*" + part.split_once('"').map_or(part, |(_, rest)| rest))
}

#[test]
fn only_sensitive_values_are_sealed() {
    let cases: &[(&str, &[&str], &str)] = &[
        (r#"{"a":"x","b":"y"}"#, &["b"], r#"{"a":"x","b":*}"#),
        (r#"{"a":1,"b":true,"c":null}"#, &["a", "b", "c"], r#"{"a":*,"b":*,"c":null}"#),
        (r#"{"a":[{"b":"x","c":1},{"b":"y"}]}"#, &["a.1.b"], r#"{"a":[{"b":"x","c":1},{"b":*}]}"#),
        (r#"{"a":{"k":{"l":1}}}"#, &["a.k"], r#"{"a":{"k":*}}"#),
        // An inner path within an outer one, and paths that lead nowhere.
        (r#"{"a":{"k":1}}"#, &["a.k", "a"], r#"{"a":*}"#),
        (r#"{"a":{"k":1},"b":[]}"#, &["a.l", "b.0", "c"], r#"{"a":{"k":1},"b":[]}"#),
        // A path into a set, or into an unknown format, ends at it.
        (r#"{"a":["x","y"]}"#, &["a.k"], r#"{"a":*}"#),
        (r#"{"a":"x"}"#, &["a.k.l"], r#"{"a":*}"#),
        (r#"{"a":{"k":1}}"#, &["a.0"], r#"{"a":*}"#),
        (r#"{"a":"x"}"#, &[""], "*"),
        // A value beside its type, and what may be one.
        (
            r#"{"a":{"value":{"k":"x"},"type":["object",{"k":"string"}]}}"#,
            &["a.k"],
            r#"{"a":{"type":["object",{"k":"string"}],"value":{"k":*}}}"#,
        ),
        (r#"{"a":{"value":{"type":"x"},"type":["map","string"]}}"#, &["a.type"], r#"{"a":*}"#),
        (r#"{"a":{"value":"x","type":"s3"}}"#, &["a.value"], r#"{"a":{"type":"s3","value":*}}"#),
        (r#"{"value":"x","type":"string"}"#, &["value"], r#"{"type":"string","value":*}"#),
        // A string that could be taken for a sealed value.
        (r#"{"a":"sealed:age:x","b":1}"#, &[], r#"{"a":*,"b":1}"#),
        // Copies of a secret, and of its base64, but not of a short one.
        (
            r#"{"a":"hidden!","b":["x hidden! y",{"c":"aGlkZGVuIQ=="}],"d":"hidden"}"#,
            &["a"],
            r#"{"a":*,"b":[*,{"c":*}],"d":"hidden"}"#,
        ),
        (
            r#"{"a":123456,"b":123456,"c":"ab","d":"ab"}"#,
            &["a", "c"],
            r#"{"a":*,"b":*,"c":*,"d":"ab"}"#,
        ),
        (
            r#"{"a":"string","b":{"value":"string","type":"string"}}"#,
            &["a"],
            r#"{"a":*,"b":{"type":"string","value":*}}"#,
        ),
        (r#"{"a":{"k/l~":1}}"#, &["a.k/l~"], r#"{"a":{"k/l~":*}}"#),
    ];
    for &(attributes, paths, expected) in cases {
        assert_eq!(
            sealed_attributes_with_stars(attributes, paths),
            expected,
            "{attributes} {paths:?}"
        );
    }
}

#[test]
fn outputs_and_private_bytes_are_sealed_and_names_are_not() {
    let private = |bytes: &str| format!(",\"private\":\"{}\"", BASE64_STANDARD.encode(bytes));
    let plain = state_text("{}", &[], &private("hunter2"));
    let text = seal_text(&plain);
    for secret in ["hunter2", "aHVudGVyMg", "user", "\"version\""] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    for shown in ["module.m[\\\"k\\\"]", "\"shown\"", "\"shut\"", "\"lineage\": \"l\"", "age1b"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let after = StateFile::parse(&open_text(&text).unwrap().text).unwrap();
    assert_eq!(after, StateFile::parse(plain.as_bytes()).unwrap());
    for bytes in ["null", "", r#"{"schema_version":"1"}"#] {
        let text = state_text("{}", &[], &private(bytes));
        assert_eq!(seal_text(&text).matches(SEALED_PREFIX).count(), 1, "{bytes}");
    }
    for bytes in [r#"{"schema_version":"1","k":"x"}"#, "[1]"] {
        let text = state_text("{}", &[], &private(bytes));
        assert_eq!(seal_text(&text).matches(SEALED_PREFIX).count(), 2, "{bytes}");
    }
}

#[test]
fn a_sealed_state_is_not_read_as_a_plain_one() {
    let text = seal_text(&state_text("{}", &[], ""));
    assert_eq!(StateFile::parse(text.as_bytes()).unwrap_err(), FileError::Encrypted);
    assert_eq!(StateFile::read_header(text.as_bytes()).unwrap_err(), FileError::Encrypted);
    assert_eq!(read_sealed_header(text.as_bytes()).unwrap().recipients, RECIPIENTS);
    assert_eq!(read_sealed_header(state_text("{}", &[], "").as_bytes()), None);
    assert!(seal_state_file(text.as_bytes(), &[], &mut invert_bytes).is_err());
}

#[test]
fn a_value_is_bound_to_its_state_its_object_and_its_path() {
    let plain = state_text(r#"{"a":"x","b":"y"}"#, &["a", "b"], "");
    let text = seal_text(&plain);
    let value = |name: &str| {
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file["resources"][0]["instances"][0]["attributes"][name].as_str().unwrap().to_owned()
    };
    let refused = |text: &str| open_text(text).unwrap_err();
    let swapped = refused(&text.replace(&value("a"), &value("b")));
    let object = r#"module.m["k"].t.a["i"]"#;
    assert_eq!(swapped, format!("{object}/a: the sealed value belongs to {object}/b"));
    let renamed = refused(&text.replace("\"index_key\": \"i\"", "\"index_key\": \"j\""));
    assert!(renamed.contains("belongs to module.m[\"k\"].t.a[\"i\"]/a"), "{renamed}");
    let copied = refused(&text.replace("\"lineage\": \"l\"", "\"lineage\": \"m\""));
    assert!(copied.contains("in the state with the lineage \"l\""), "{copied}");
    let shown = refused(&text.replace("\"value\": \"a\"", "\"value\": \"c\""));
    assert!(shown.contains("the sensitive marks in the file are not those"), "{shown}");
    let output = refused(&text.replace("\"sensitive\": true", "\"sensitive\": false"));
    assert!(output.starts_with("output.shut value: the sensitive marks"), "{output}");
    let damaged = refused(&text.replace(SEALED_PREFIX, "sealed:age:!"));
    assert!(damaged.contains("it is damaged"), "{damaged}");
    // The recipients in the header are compared with those that a value was sealed for.
    assert!(open_text(&text).unwrap().is_for_recipients);
    assert!(!open_text(&text.replace("age1b", "age1c")).unwrap().is_for_recipients);
    // A value in the clear is reported to the caller, and one that is null has nothing to hide.
    let readable = text.replace(&value("a"), "hunter2");
    assert_eq!(open_text(&readable).unwrap().plain, [format!("{object}/a")]);
    let null = text.replace(&format!("\"{}\"", value("a")), "null");
    assert_eq!(open_text(&null).unwrap().plain, Vec::<String>::new());
}

#[test]
fn a_change_of_a_plain_value_changes_one_line() {
    let lines = |attributes: &str| seal_text(&state_text(attributes, &["b"], ""));
    let (before, after) =
        (lines(r#"{"a":"x","b":"y","c":1}"#), lines(r#"{"a":"z","b":"y","c":1}"#));
    let differ = before.lines().zip(after.lines()).filter(|(first, second)| first != second);
    assert_eq!(
        differ.collect::<Vec<_>>(),
        [("            \"a\": \"x\",", "            \"a\": \"z\",")]
    );
    assert_eq!(before.lines().count(), after.lines().count());
}

#[test]
fn the_length_of_a_ciphertext_does_not_show_that_of_a_short_secret() {
    let length =
        |value: &str| seal_text(&state_text(&format!(r#"{{"a":"{value}"}}"#), &["a"], "")).len();
    assert_eq!(length("x"), length("longer"));
}

#[test]
fn copies_in_the_results_of_checks_are_sealed() {
    let results = r#"[{"object_kind":"resource","config_addr":"t.a","status":"fail",
        "objects":[{"object_addr":"t.a","status":"fail","failure_messages":["no","not hunter2!"]}]}]"#;
    let plain = state_text(r#"{"a":"hunter2"}"#, &["a"], "");
    let plain = plain.replace("\"check_results\": null", &format!("\"check_results\": {results}"));
    let text = seal_text(&plain);
    assert!(!text.contains("hunter2") && text.contains("\"no\""), "{text}");
    let after = StateFile::parse(&open_text(&text).unwrap().text).unwrap();
    assert_eq!(after, StateFile::parse(plain.as_bytes()).unwrap());
}

#[test]
fn a_plain_value_that_contains_a_sealed_one_is_refused() {
    let text = seal_text(&state_text(r#"{"a":{"b":"x"}}"#, &["a.b"], ""));
    let step = |name: &str| format!("{{\"type\":\"get_attr\",\"value\":\"{name}\"}}");
    let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let instance = &mut file["resources"][0]["instances"][0];
    instance["sensitive_attributes"] = serde_json::from_str(&format!("[[{}]]", step("a"))).unwrap();
    let error = open_text(&file.to_string()).unwrap_err();
    let object = r#"module.m["k"].t.a["i"]"#;
    let expected = "the sensitive marks in the file are not those of the sealed value";
    assert_eq!(error, format!("{object}/a: {expected}"));
}

#[test]
fn deep_values_and_long_paths_are_sealed() {
    let deep = format!("{}\"hunter2\"{}", r#"{"k":"#.repeat(300), "}".repeat(300));
    for steps in [1, 300, 5000] {
        let plain = state_text(&deep, &[&vec!["k"; steps].join(".")], "");
        let text = seal_text(&plain);
        assert!(!text.contains("hunter2"), "{steps}");
        let after = StateFile::parse(&open_text(&text).unwrap().text).unwrap();
        assert_eq!(after, StateFile::parse(plain.as_bytes()).unwrap(), "{steps}");
    }
}

#[test]
fn a_file_nested_too_deep_is_refused_without_a_search() {
    let wrapped = |levels: usize| {
        let (start, end) = (r#"{"value":"#.repeat(levels), r#","type":"dynamic"}"#.repeat(levels));
        format!(r#"{{"a":{start}"hunter2"{end}}}"#)
    };
    let text = seal_text(&state_text(r#"{"a":0}"#, &["a.b"], ""));
    let hostile = |levels: usize| {
        let text = text.split_once("\"attributes\": ").unwrap();
        let rest = text.1.split_once("\"sensitive_attributes\"").unwrap().1;
        format!("{}\"attributes\": {},\"sensitive_attributes\"{rest}", text.0, wrapped(levels))
    };
    assert_eq!(open_text(&hostile(3)).unwrap().plain.len(), 1);
    let error = open_text(&hostile(100_000)).unwrap_err();
    assert!(error.contains("t.a[\"i\"] is nested too deep"), "{error}");
    // Wrappers consume no step of a path, and yet the search ends.
    let plain = state_text(&wrapped(450), &["a.b"], "");
    let text = seal_text(&plain);
    assert!(!text.contains("hunter2"));
    let after = StateFile::parse(&open_text(&text).unwrap().text).unwrap();
    assert_eq!(after, StateFile::parse(plain.as_bytes()).unwrap());
}

#[test]
fn values_beside_a_member_named_type_take_linear_time() {
    let values = vec!["\"x\""; 10_000].join(",");
    let plain = state_text(&format!(r#"{{"a":"hunter2","b":{{"type":[{values}]}}}}"#), &["a"], "");
    let start = std::time::Instant::now();
    seal_text(&plain);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn sealed_values_are_null_and_marked_without_an_identity() {
    let cases: &[(&str, &[&str], &str, &[&str])] = &[
        (r#"{"a":"x","b":"y"}"#, &["b"], r#"{"a":"x","b":null}"#, &["b"]),
        (r#"{"a":[{"b":"x","c":1}]}"#, &["a.0.b"], r#"{"a":[{"b":null,"c":1}]}"#, &["a"]),
        // A copy is marked with the attribute around it.
        (r#"{"a":"hidden!","b":["x hidden!"]}"#, &["a"], r#"{"a":null,"b":[null]}"#, &["a", "b"]),
        (r#"{"a":"sealed:age:x","k/l~":1}"#, &[], r#"{"a":null,"k/l~":1}"#, &["a"]),
        (r#"{"a":1}"#, &[], r#"{"a":1}"#, &[]),
    ];
    for &(attributes, paths, expected, marked) in cases {
        let text = seal_text(&state_text(attributes, paths, ""));
        let unmarked =
            text.replace("\"sensitive_attributes\": []", "\"sensitive_attributes\": null");
        for text in [&text, &unmarked] {
            let read = String::from_utf8(redact_state_file(text.as_bytes()).unwrap()).unwrap();
            assert_eq!(attributes_in(&read), expected);
            let file: serde_json::Value = serde_json::from_str(&read).unwrap();
            let marks = &file["resources"][0]["instances"][0]["sensitive_attributes"];
            let marks = marks.as_array().map_or(&[][..], Vec::as_slice);
            let mut names: Vec<_> =
                marks.iter().filter_map(|path| path[0]["value"].as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, marked, "{attributes}");
            assert_eq!(file["outputs"]["shut"]["value"], serde_json::Value::Null);
            assert_eq!(file["outputs"]["open"]["value"], "shown");
            StateFile::parse(read.as_bytes()).unwrap();
        }
    }
    assert!(redact_state_file(state_text("{}", &[], "").as_bytes()).is_err());
}

#[test]
fn copies_of_sealed_values_are_hidden_without_an_identity() {
    let more = format!(",\"private\":\"{}\"", BASE64_STANDARD.encode("bytes of a provider"));
    let plain = state_text(r#"{"a":"hidden!"}"#, &["a"], &more);
    let outputs = r#""open": {"value": "has hidden!", "type": "string"},"#;
    let checks = r#""check_results": [{"object_kind": "resource", "config_addr": "t.a", "status": "fail", "objects": [{"object_addr": "t.a", "status": "fail", "failure_messages": ["hidden! is wrong"]}]}]"#;
    let mut file: serde_json::Value = serde_json::from_str(&plain).unwrap();
    file["outputs"] =
        serde_json::from_str(&format!("{{{}}}", outputs.trim_end_matches(','))).unwrap();
    file["check_results"] = serde_json::from_str::<serde_json::Value>(&format!("{{{checks}}}"))
        .unwrap()["check_results"]
        .clone();
    let plain = StateFile::parse(file.to_string().as_bytes()).unwrap().to_bytes();
    let text = seal_text(&String::from_utf8(plain).unwrap());
    assert!(!text.contains("hidden!"), "{text}");
    let read = redact_state_file(text.as_bytes()).unwrap();
    let shown = String::from_utf8(read.clone()).unwrap();
    assert!(!shown.contains(SEALED_PREFIX) && shown.contains("(sealed value)"), "{shown}");
    let file = StateFile::parse(&read).unwrap();
    assert!(file.state.outputs.values().all(|output| output.sensitive));
}
