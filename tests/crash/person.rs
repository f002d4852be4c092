//! What a person does after a crash: looks at what the engine says was in flight, looks at the world,
//! and decides.

use std::error::Error;
use std::fs;

use serde_json::Value;

use crate::chance::Chance;
use crate::folder::Folder;
use crate::sight;

/// Decides everything that is open. Returns how much that was.
pub(crate) fn decide(folder: &Folder<'_>, chance: &mut Chance) -> Result<usize, Box<dyn Error>> {
    let listed = folder.run(&["recover", "list", "-json"])?;
    let listed: Value = serde_json::from_str(listed.out.trim())
        .map_err(|error| format!("recover list: {error}\n{}", listed.text))?;
    let open = listed["unresolved"].as_array().cloned().unwrap_or_default();
    for one in &open {
        let addr = one["address"].as_str().unwrap_or_default();
        let Some(id) = made_for(folder, one)? else {
            let choice = if chance.is(1, 2) { "forget" } else { "retry" };
            settle(folder, &[choice, addr])?;
            continue;
        };
        let adopted = folder.run(&["recover", "adopt", addr, &id])?;
        if adopted.succeeded {
            continue;
        }
        let Some(place) = missing_in(&adopted.text) else {
            return Err(format!("{addr} cannot be adopted:\n{}", adopted.text).into());
        };
        // As the message says: it is put back for as long as it takes.
        let path = match place.starts_with("module.") {
            true => folder.work().join("m/main.tf"),
            false => folder.work().join("main.tf"),
        };
        let before = fs::read_to_string(&path)?;
        fs::write(&path, put_back(&before, place))?;
        settle(folder, &["adopt", addr, &id])?;
        fs::write(&path, before)?;
    }
    Ok(open.len())
}

fn settle(folder: &Folder<'_>, choice: &[&str]) -> Result<(), Box<dyn Error>> {
    let args: Vec<&str> = ["recover"].iter().chain(choice).copied().collect();
    let settled = folder.run(&args)?;
    if settled.succeeded {
        return Ok(());
    }
    Err(format!("{choice:?} does not settle it:\n{}", settled.text).into())
}

/// The id of the object that an operation has made, if it has: one that is as it was to be and belongs
/// to nobody.
fn made_for(folder: &Folder<'_>, one: &Value) -> Result<Option<String>, Box<dyn Error>> {
    let known = sight::known(&folder.run(&["state", "pull"])?.out);
    let world = sight::world(&folder.world());
    let planned = &one["planned"];
    let found = world.iter().find(|(id, it)| {
        let parts = ["name", "size", "kind"];
        !known.ids.contains(*id) && parts.iter().all(|part| it[*part] == planned[*part])
    });
    Ok(found.map(|(id, _)| id.clone()))
}

/// The address that the configuration lacks, as a message has it.
fn missing_in(text: &str) -> Option<&str> {
    let behind = |summary: &str, before: &str, after: &str| {
        let (_, rest) = text.split_once(summary)?.1.split_once(before)?;
        Some(rest.split_once(after)?.0.trim())
    };
    behind("no longer in the configuration", "formwork recover forget '", "'")
        .or_else(|| behind("Configuration for import target does not exist", "\n  with ", ",\n"))
}

/// A file with a block for an instance, without arguments, in place of the one of this name.
fn put_back(file: &str, addr: &str) -> String {
    let (resource, key) = match addr.split_once('[') {
        Some((resource, key)) => (resource, Some(key.trim_end_matches(']'))),
        None => (addr, None),
    };
    let repeated = match key.map(|key| (key, key.parse::<usize>())) {
        None => String::new(),
        Some((_, Ok(number))) => format!("  count = {}\n", number + 1),
        Some((key, Err(_))) => format!("  for_each = toset([{key}])\n"),
    };
    let mut parts = resource.rsplit('.');
    let (name, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let header = format!("resource {kind:?} {name:?} {{\n");
    let (before, after) = match file.split_once(&header) {
        Some((before, rest)) => (before, rest.split_once("\n}\n").map_or("", |(_, after)| after)),
        None => (file, ""),
    };
    format!("{before}{header}{repeated}}}\n{after}")
}
