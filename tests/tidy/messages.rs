//! Catalogues of messages: no entry is left unused.

use super::{none, product};

#[test]
fn each_message_is_reported_somewhere() {
    let is_catalogue = |path: &str| path.contains("src/messages");
    // A comparison with a message does not report it.
    let made: Vec<String> = product()
        .filter(|file| !is_catalogue(&file.path))
        .map(|file| file.text.replace("reports(messages::", ""))
        .collect();
    let uses: Vec<&str> = made
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
    none(&unused, "a message that nothing reports is removed, and its code is not used again");
}
