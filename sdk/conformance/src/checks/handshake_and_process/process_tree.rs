//! Processes that a process has started, as Linux lists them.

/// Process ids of the children of a process, and of theirs.
pub(super) fn descendant_pids(pid: i32) -> Vec<i32> {
    let mut processes: Vec<(i32, i32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process_id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name in parentheses may hold anything.
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        if let Some(parent) = rest.split_whitespace().nth(1).and_then(|it| it.parse().ok()) {
            processes.push((process_id, parent));
        }
    }
    let mut descendants = vec![pid];
    let mut index = 0;
    while index < descendants.len() {
        let parent = descendants[index];
        descendants.extend(
            processes.iter().filter(|(_, of)| *of == parent).map(|(process_id, _)| *process_id),
        );
        index += 1;
    }
    descendants.split_off(1)
}

/// Whether a process has not ended.
pub(super) fn is_process_running(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended. Only its parent has not read its exit status.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
