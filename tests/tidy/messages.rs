//! Catalogues of messages: no entry is left unused.

use super::{assert_no_violations, product};

#[test]
fn each_message_is_reported_somewhere() {
    let is_catalogue = |path: &str| path.contains("src/messages");
    // A comparison with a message does not report it.
    let texts: Vec<String> = product()
        .filter(|file| !is_catalogue(&file.path))
        .map(|file| file.text.replace("reports(messages::", ""))
        .collect();
    let uses: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.split("messages::").skip(1))
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
        .collect();
    let mut entries = 0;
    let mut unused = Vec::new();
    for file in product().filter(|file| is_catalogue(&file.path)) {
        let lines = file.text.lines().filter_map(|line| line.trim().split_once(" = \""));
        let entry = |(start, _): (&'static str, &str)| start.split_once(' ');
        for (code, name) in lines.filter_map(entry).filter(|(code, _)| code.starts_with("FW")) {
            entries += 1;
            if !uses.contains(&name) {
                unused.push(format!("{}: {code} {name}", file.path));
            }
        }
    }
    assert!(entries > 500, "the catalogues were not found");
    assert_no_violations(
        &unused,
        "a message that nothing reports is removed, and its code is not used again",
    );
}

/// The files that pass on diagnostics of providers. Those have no code.
const FOREIGN_DIAGNOSTICS: [&str; 4] = [
    "core/backend/src/provider_store/store_calls.rs",
    "core/src/provider/provider_diagnostics.rs",
    "core/value/src/diag.rs",
    // A problem of a provider on the SDK.
    "sdk/src/problem.rs",
];

#[test]
fn each_diagnostic_of_this_program_has_a_code() {
    let mut violations = Vec::new();
    let of_crates = |file: &&super::File| {
        file.path.contains("/src/")
            && ["cli/", "core/", "sdk/"].iter().any(|it| file.path.starts_with(it))
    };
    for file in
        product().filter(of_crates).filter(|file| !FOREIGN_DIAGNOSTICS.contains(&&*file.path))
    {
        // Examples are programs of others.
        let is_code = |(_, line): &(usize, &str)| !line.trim_start().starts_with("///");
        for (number, line) in file.product_lines().filter(is_code) {
            // Text that looks like a diagnostic is printed beside the catalogue.
            let is_printed = ["\"Error: ", "\"Warning: "].iter().any(|start| line.contains(start))
                && file.path.starts_with("cli/src/")
                && file.path != "cli/src/view/human/diagnostic.rs";
            // In the engine a diagnostic of the protocol without a code stands for one of ours.
            let has_none = line.contains("code: None") && file.path.starts_with("core/src/");
            if is_printed || has_none || line.contains("Diagnostic::foreign(") {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(&violations, "a diagnostic of this program has a message of a catalogue");
}
