//! What a person does after a crash: looks at what the engine says was in flight, looks at the world,
//! and decides.

use std::error::Error;

use serde_json::Value;

use crate::folder::Folder;
use crate::sight;

/// Decides everything that is open. Returns how much that was.
pub(crate) fn decide(folder: &Folder<'_>) -> Result<usize, Box<dyn Error>> {
    let listed = folder.run(&["recover", "list", "-json"])?;
    let listed: Value = serde_json::from_str(listed.out.trim())
        .map_err(|error| format!("recover list: {error}\n{}", listed.text))?;
    let open = listed["unresolved"].as_array().cloned().unwrap_or_default();
    for one in &open {
        let addr = one["address"].as_str().unwrap_or_default();
        let name = addr.rsplit('.').next().unwrap_or_default();
        let known = sight::ids(&folder.run(&["state", "pull"])?.out);
        let world = sight::world(&folder.world());
        let unknown = world.iter().find(|(id, owner)| *owner == name && !known.contains(*id));
        let decided = match unknown {
            Some((id, _)) => folder.run(&["recover", "adopt", addr, id])?,
            None => folder.run(&["recover", "forget", addr])?,
        };
        if !decided.succeeded {
            return Err(format!("{addr} cannot be decided:\n{}", decided.text).into());
        }
    }
    Ok(open.len())
}
