//! What a person does after a crash: looks at what the engine says was in flight, looks at the world,
//! and decides.

use std::error::Error;

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
        settle(folder, &["adopt", addr, &id])?;
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
