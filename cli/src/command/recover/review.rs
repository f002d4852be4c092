//! `formwork recover review`: asks about every open operation, one after the other.

use std::collections::BTreeMap;

use formwork_core::addr::InstanceAddr;
use formwork_core::plan::{Search, UNRESOLVED};
use formwork_core::state::recover::{OpenQuestion, Unresolved};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{Adopted, ImportCommand, NOTHING_OPEN, described};
use crate::args::RecoverReviewArgs;
use crate::command::import::ObjectFinder;
use crate::command::operation::may_ask;
use crate::command::question::{Prompt, ask};
use crate::command::state_session::StateSession;
use crate::env::Env;
use crate::exit::Exit;
use crate::view::{Screen, out};

/// An answer.
#[derive(Debug, PartialEq)]
enum ReviewDecision<'a> {
    Adopt { id: Option<&'a str> },
    Forget,
    Retry,
    Skip,
}

/// Runs the command.
pub(super) async fn run(args: &RecoverReviewArgs, env: &Env) -> Exit {
    let taking = ImportCommand {
        finding: &args.finding,
        state: &args.state,
        address: "",
        config: None,
        operation: "recover",
        must_be_written: false,
    };
    let screen = Screen::of(env);
    let asks = may_ask(env, args.finding.input);
    taking
        .run(env, async |diags, finder, locked| {
            let open: Vec<Unresolved> = locked.undecided().cloned().collect();
            if open.is_empty() {
                out(&format!("{NOTHING_OPEN}\n"));
                return Ok(());
            }
            if !asks {
                let detail = "Questions are not allowed here. Use `formwork recover adopt`, `forget` or `retry`, which take patterns and -all.";
                return Err(diags.error(Diagnostic::error("No terminal to ask on", detail)));
            }
            let (found, mut is_decided) = ask_providers(diags, finder, locked).await;
            let mut result = Ok(());
            for one in &open {
                // One decision is about all that is open at an address.
                if locked.undecided().all(|other| other.addr != one.addr) {
                    continue;
                }
                let found = found.get(one.place()).map(String::as_str);
                let Some(answer) = answer(&screen, one, found).await else { break };
                match settle(diags, (finder, locked), &one.addr, &answer).await {
                    Ok(decided) => is_decided |= decided,
                    Err(reported) => result = Err(reported),
                }
            }
            if is_decided {
                locked.save(diags).await?;
            }
            result
        })
        .await
}

/// Asks the providers for the objects of open operations, and settles what they can tell, as a plan does.
/// Returns what they say about the others, by address, and whether anything is decided. A configuration or
/// provider with errors is no obstacle: then the user is asked about all.
async fn ask_providers(
    diags: &mut Diagnostics,
    finder: &ObjectFinder<'_>,
    locked: &mut StateSession,
) -> (BTreeMap<InstanceAddr, String>, bool) {
    let mut said = Diagnostics::new();
    let Ok(plan) = finder.ask_for_open(&mut said, locked).await else {
        return (BTreeMap::new(), false);
    };
    let mut found: BTreeMap<InstanceAddr, String> = BTreeMap::new();
    for one in said.into_iter().filter(|one| one.summary == UNRESOLVED) {
        let addr = one.address.as_ref().and_then(|addr| addr.parse().ok());
        found.extend(addr.map(|addr| (addr, one.detail.to_string())));
    }
    let n_open = locked.undecided().count();
    let open: Vec<Unresolved> = locked.undecided().cloned().collect();
    for one in &open {
        let at = one.place();
        // What has moved meanwhile moves with the next apply, together with everything else.
        if one.addr != *at || plan.searches.get(at) != Some(&Search::Found) {
            continue;
        }
        let resource = plan.prior.resources.get(&at.of());
        if let Some((resource, object)) = resource.zip(plan.prior.current(at)) {
            let held = locked.file.state.resource_mut(at.of(), &resource.provider);
            held.instances.or_default(&at.key).current = Some(object.clone());
        }
    }
    let moved =
        |addr: &InstanceAddr| open.iter().any(|one| one.place() == addr && one.addr != *addr);
    let mut settled = plan;
    settled.searches.retain(|addr, _| !moved(addr));
    locked.take_evidence(diags, &settled);
    (found, locked.undecided().count() < n_open)
}

/// Asks until the answer is one of the choices. `None` at the end of the input.
async fn answer(screen: &Screen, one: &Unresolved, found: Option<&str>) -> Option<String> {
    let known = match &one.doubt {
        OpenQuestion::Place { .. } => true,
        OpenQuestion::Effect => one.guessed_id().is_some(),
    };
    let proposal = match (known, found) {
        (true, _) => "The answer of the provider names the object, so `adopt` needs no id.".to_owned(),
        (false, Some(found)) => format!(
            "The provider was asked. {found}\n\nIf one of these is the object, adopt it by its id. If there is none, retry."
        ),
        (false, None) => {
            "The provider could not tell. If you find an object with these attributes, adopt it by its id. If there is none, retry.".to_owned()
        }
    };
    let about = format!(
        "{}{proposal}\n\n  adopt [ID]  the object exists: add it to the state\n  forget      it does not exist, or is not managed here any more\n  retry       nothing was done: do it again with the next apply\n  skip        decide later",
        described(one, screen)
    );
    let title = format!("What is the outcome of {}?", one.addr);
    loop {
        let question = Prompt { title: &title, about: &about, secret: false };
        let answer = ask(screen, question).await.ok()?;
        if choice(&answer).is_some() {
            return Some(answer);
        }
    }
}

fn choice(answer: &str) -> Option<ReviewDecision<'_>> {
    let mut words = answer.split_whitespace();
    let choice = match (words.next()?, words.next()) {
        ("adopt", id) => ReviewDecision::Adopt { id },
        ("forget", None) => ReviewDecision::Forget,
        ("retry", None) => ReviewDecision::Retry,
        ("skip", None) => ReviewDecision::Skip,
        _ => return None,
    };
    words.next().is_none().then_some(choice)
}

/// Does what was chosen. Returns whether something is decided.
async fn settle(
    diags: &mut Diagnostics,
    (finder, locked): (&ObjectFinder<'_>, &mut StateSession),
    addr: &InstanceAddr,
    answer: &str,
) -> Result<bool, Reported> {
    match choice(answer) {
        Some(ReviewDecision::Adopt { id }) => {
            let text = Adopted { addr, id, force: false }.take_in(diags, finder, locked).await?;
            out(&text);
        }
        Some(ReviewDecision::Forget) => {
            drop(locked.decide(addr, "settled by the user"));
        }
        Some(ReviewDecision::Retry) => {
            drop(locked.decide(addr, "not executed, according to the user"));
        }
        Some(ReviewDecision::Skip) | None => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_of_the_choices() {
        assert_eq!(choice("adopt"), Some(ReviewDecision::Adopt { id: None }));
        assert_eq!(choice(" adopt  a-1 "), Some(ReviewDecision::Adopt { id: Some("a-1") }));
        assert_eq!(choice("retry"), Some(ReviewDecision::Retry));
        assert_eq!(choice("forget"), Some(ReviewDecision::Forget));
        assert_eq!(choice("skip"), Some(ReviewDecision::Skip));
        for answer in ["", "yes", "retry now", "adopt a b"] {
            assert_eq!(choice(answer), None, "{answer}");
        }
    }
}
