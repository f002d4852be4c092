//! `formwork recover review`: prompts for a decision about every open operation, one after the other.

use formwork_core::addr::InstanceAddr;
use formwork_core::state::recover::{OpenQuestion, UnresolvedOperation};
use formwork_operation::recover::{AdoptRequest, Decision};
use formwork_operation::{Operation, StateSession};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{ImportCommand, NO_OPEN_OPERATIONS, describe_adoption, describe_operation};
use crate::command::import::ObjectSearchArgs;
use crate::command::operation::may_ask_user;
use crate::command::question::{Prompt, ask_user};
use crate::command_line::{StateArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::{Screen, print_out};

/// Settle all open operations interactively.
#[derive(Debug, clap::Args)]
#[command(after_help = example("", "Settle open operations one after the other."))]
pub(crate) struct RecoverReviewArgs {
    #[command(flatten)]
    pub(crate) finding: ObjectSearchArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

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
    let asks = may_ask_user(env, args.finding.input);
    taking
        .run(env, async |diags, operations, locked| {
            let open: Vec<UnresolvedOperation> = locked.unresolved_needing_decision().cloned().collect();
            if open.is_empty() {
                print_out(&format!("{NO_OPEN_OPERATIONS}\n"));
                return Ok(());
            }
            if !asks {
                let detail = "Prompts are disabled, or no terminal is available. Use `formwork recover adopt`, `forget` or `retry`, which accept patterns and -all.";
                return Err(diags.error(Diagnostic::error(messages::NO_TERMINAL_TO_ASK_ON, detail)));
            }
            let searched = operations.search.search_and_settle_unresolved(diags, locked).await;
            let mut is_decided = searched.has_decided;
            let mut result = Ok(());
            for operation in &open {
                // A decision applies to all open operations at an address.
                if locked.unresolved_needing_decision().all(|unresolved| unresolved.addr != operation.addr) {
                    continue;
                }
                let explanation = searched.explanations.get(operation.current_addr()).map(String::as_str);
                let Some(answer) = ask_decision(&screen, operation, explanation).await else { break };
                let answer = ReviewAnswer { addr: &operation.addr, text: &answer };
                match apply_decision(diags, &operations.import, locked, answer).await {
                    Ok(decided) => is_decided |= decided,
                    Err(reported) => result = Err(reported),
                }
            }
            if is_decided {
                locked.write_state_or_errored_file(diags).await?;
            }
            result
        })
        .await
}

/// Prompts until the answer is one of the choices. Returns `None` at the end of the input.
async fn ask_decision(
    screen: &Screen,
    operation: &UnresolvedOperation,
    explanation: Option<&str>,
) -> Option<String> {
    let description = match &operation.doubt {
        OpenQuestion::Destination { .. } => true,
        OpenQuestion::Effect => operation.guess_object_id().is_some(),
    };
    let proposal = match (description, explanation) {
        (true, _) => "The response of the provider identifies the object, so `adopt` does not require an ID.".to_owned(),
        (false, Some(explanation)) => format!(
            "The provider was searched. {explanation}\n\nIf one of these is the object, adopt it by its ID. If the object does not exist, retry."
        ),
        (false, None) => {
            "The provider could not determine the outcome. If you find an object with these attributes, adopt it by its ID. If the object does not exist, retry.".to_owned()
        }
    };
    let prompt_text = format!(
        "{}{proposal}\n\n  adopt [ID]  the object exists: add it to the state\n  forget      the object does not exist, or is no longer managed here\n  retry       the operation had no effect: repeat it in the next apply\n  skip        decide later",
        describe_operation(operation, screen)
    );
    let title = format!("What is the outcome of {}?", operation.addr);
    loop {
        let question = Prompt { title: &title, explanation: &prompt_text, secret: false };
        let answer = ask_user(screen, question).await.ok()?;
        if parse_decision(&answer).is_some() {
            return Some(answer);
        }
    }
}

fn parse_decision(answer: &str) -> Option<ReviewDecision<'_>> {
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

/// A decision about the open operation at an address.
struct ReviewAnswer<'a> {
    addr: &'a InstanceAddr,
    text: &'a str,
}

/// Applies the decision. Returns whether an operation was decided.
async fn apply_decision(
    diags: &mut Diagnostics,
    operation: &Operation<'_>,
    locked: &mut StateSession,
    answer: ReviewAnswer<'_>,
) -> Result<bool, Reported> {
    let ReviewAnswer { addr, text } = answer;
    match parse_decision(text) {
        Some(ReviewDecision::Adopt { id }) => {
            let request = AdoptRequest { addr, id, force: false };
            print_out(&describe_adoption(
                &operation.adopt_without_storing_state(diags, locked, request).await?,
            ));
        }
        Some(ReviewDecision::Forget) => {
            drop(locked.decide_without_storing_state(addr, Decision::Forget));
        }
        Some(ReviewDecision::Retry) => {
            drop(locked.decide_without_storing_state(addr, Decision::Retry));
        }
        Some(ReviewDecision::Skip) | None => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_must_be_one_of_the_choices() {
        assert_eq!(parse_decision("adopt"), Some(ReviewDecision::Adopt { id: None }));
        assert_eq!(parse_decision(" adopt  a-1 "), Some(ReviewDecision::Adopt { id: Some("a-1") }));
        assert_eq!(parse_decision("retry"), Some(ReviewDecision::Retry));
        assert_eq!(parse_decision("forget"), Some(ReviewDecision::Forget));
        assert_eq!(parse_decision("skip"), Some(ReviewDecision::Skip));
        for answer in ["", "yes", "retry now", "adopt a b"] {
            assert_eq!(parse_decision(answer), None, "{answer}");
        }
    }
}
