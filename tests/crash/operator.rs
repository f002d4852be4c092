//! Actions of a person after a crash: inspects the operations that the engine reports in flight,
//! inspects the objects, and decides.

use std::collections::BTreeSet;
use std::error::Error;

use serde_json::Value;

use crate::directory::Directory;
use crate::observation;
use crate::rng::Rng;

/// The decisions of a person about the operations that a kill left open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decisions {
    /// The operations that were decided.
    pub(crate) operations: usize,
    /// The commands that settled them.
    pub(crate) commands: usize,
}

/// Decides all open operations: one by a command, several in one review.
pub(crate) fn decide_open_operations(
    directory: &Directory<'_>,
    rng: &mut Rng,
) -> Result<Decisions, Box<dyn Error>> {
    let mut open = open_operations(directory)?;
    if open.len() > 1 {
        // A review settles what the providers can tell before its first question. A person reads which
        // operation a question is about; answers in a pipe are in order, so only the rest may be left.
        directory.run_with_answers(&["recover", "review"], "")?;
        open = open_operations(directory)?;
    }
    let mut taken = observation::read_state_objects(&directory.run(&["state", "pull"])?.out).ids;
    let mut answers = Vec::new();
    for operation in &open {
        let addr = operation["address"].as_str().unwrap_or_default();
        let answer = match created_object(directory, operation, &taken) {
            Some(id) => ["adopt".to_owned(), addr.to_owned(), id],
            None if rng.chance(1, 2) => ["forget".to_owned(), addr.to_owned(), String::new()],
            None => ["retry".to_owned(), addr.to_owned(), String::new()],
        };
        taken.insert(answer[2].clone());
        answers.push(answer);
    }
    let settled = match answers.as_slice() {
        [] => return Ok(Decisions::default()),
        [answer] => {
            let words = answer.iter().map(String::as_str).filter(|word| !word.is_empty());
            directory.run(&["recover"].into_iter().chain(words).collect::<Vec<_>>())?
        }
        open_decisions => {
            let lines = open_decisions.iter().map(|[verb, _, id]| format!("{verb} {id}\n"));
            directory.run_with_answers(&["recover", "review"], &lines.collect::<String>())?
        }
    };
    if !settled.succeeded {
        return Err(format!("{answers:?} does not settle it:\n{}", settled.text).into());
    }
    Ok(Decisions { operations: open.len(), commands: 1 })
}

/// The open operations, one for each address: a decision is about all that is open there.
fn open_operations(directory: &Directory<'_>) -> Result<Vec<Value>, Box<dyn Error>> {
    let listed = directory.run(&["recover", "list", "-json"])?;
    let listed: Value = serde_json::from_str(listed.out.trim())
        .map_err(|error| format!("recover list: {error}\n{}", listed.text))?;
    let mut open = listed["unresolved"].as_array().cloned().unwrap_or_default();
    let mut addresses = BTreeSet::new();
    open.retain(|operation| addresses.insert(operation["address"].to_string()));
    Ok(open)
}

/// The id of the object that an operation has created, if any: one that matches the plan and belongs
/// to nothing else.
fn created_object(
    directory: &Directory<'_>,
    operation: &Value,
    taken: &BTreeSet<String>,
) -> Option<String> {
    let planned = &operation["planned"];
    let parts = ["name", "size", "kind"];
    let mut objects = observation::read_real_objects(&directory.objects_directory()).into_iter();
    let fits = |object: &Value| parts.iter().all(|part| object[*part] == planned[*part]);
    objects.find(|(id, object)| !taken.contains(id) && fits(object)).map(|(id, _)| id)
}
