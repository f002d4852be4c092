//! Catalogues of messages: no entry is left unused.

use super::{none, product};

#[test]
fn each_message_is_reported_somewhere() {
    let is_catalogue = |path: &str| path.contains("src/messages");
    let uses: Vec<&str> = product()
        .filter(|file| !is_catalogue(&file.path))
        .flat_map(|file| file.text.split("messages::").skip(1))
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next())
        .collect();
    let mut entries = 0;
    let mut unused = Vec::new();
    for file in product().filter(|file| is_catalogue(&file.path)) {
        let lines = file.text.lines().filter_map(|line| line.trim().split_once(" = \""));
        for (code, name) in lines.filter_map(|(start, _)| start.split_once(' ')) {
            entries += 1;
            if !uses.contains(&name) {
                unused.push(format!("{}: {code} {name}", file.path));
            }
        }
    }
    assert!(entries > 500, "the catalogues were not found");
    none(&unused, "a message that nothing reports is removed, and its code is not used again");
}
