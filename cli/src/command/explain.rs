//! `formwork explain`: prints the cause and remedy of a diagnostic, by its code.

use formwork_lang::suggest::nearest_name;
use formwork_value::diag::Message;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{Paint, Screen, print_out};

/// Print the cause and remedy of a diagnostic.
#[derive(Debug, clap::Args)]
#[command(after_help = example("FW1001", "Print the cause and remedy of this diagnostic."))]
pub(crate) struct ExplainArgs {
    /// The code of the diagnostic. Default: list all codes.
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

/// Runs the command.
pub(super) fn run(args: &ExplainArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let mut diags = Diagnostics::new();
    let text = match &args.code {
        Some(code) => {
            find_message(&mut diags, code).map(|message| render_message(&screen, message))
        }
        None => Ok(list_messages(&screen)),
    };
    match text {
        Ok(text) => {
            print_out(&text);
            Exit::Done
        }
        Err(Reported { .. }) => {
            OperationReport::new(screen, false, env.compact_warnings).report_failure(None, &diags)
        }
    }
}

/// Finds a message by its code, which may be in lower case and without its letters.
fn find_message(diags: &mut Diagnostics, typed: &str) -> Result<&'static Message, Reported> {
    let digits = typed.to_uppercase();
    let full_code = format!("FW{}", digits.trim_start_matches("FW"));
    messages::all_messages().find(|message| message.code.as_str() == full_code).ok_or_else(|| {
        let codes = messages::all_messages().map(|message| message.code.as_str());
        let hint = nearest_name(&full_code, codes).map(|code| format!(" Did you mean {code}?"));
        let detail = format!(
            "No message has the code {typed:?}.{} `formwork explain` lists all codes.",
            hint.unwrap_or_default()
        );
        diags.error(Diagnostic::error(messages::NO_SUCH_CODE, detail))
    })
}

/// Renders one message.
fn render_message(screen: &Screen, message: &Message) -> String {
    let title = format!("{}: {}", message.code, message.summary);
    format!(
        "{}\n\n{}\n\n{}\n",
        screen.paint(Paint::Bold, &screen.wrap(&title)),
        screen.wrap(&format!("Cause: {}", message.cause)),
        screen.wrap(&format!("Remedy: {}", message.remedy)),
    )
}

/// Renders the list of all messages.
fn list_messages(screen: &Screen) -> String {
    let sections = messages::catalogues().map(|catalogue| {
        let rows = catalogue.messages.iter();
        let rows: String =
            rows.map(|message| format!("  {}  {}\n", message.code, message.summary)).collect();
        format!("{}\n{rows}", screen.paint(Paint::Bold, catalogue.title))
    });
    sections.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_in_each_accepted_form() {
        for typed in ["FW1001", "fw1001", "1001"] {
            let message = find_message(&mut Diagnostics::new(), typed).unwrap();
            assert_eq!(message.code.as_str(), "FW1001");
        }
    }

    #[test]
    fn an_unknown_code_is_reported_with_a_similar_one() {
        let mut diags = Diagnostics::new();
        assert!(find_message(&mut diags, "FW10001").is_err());
        let details: Vec<_> = diags.iter().map(|diagnostic| diagnostic.detail.as_str()).collect();
        assert!(details[0].contains("Did you mean FW1001?"), "{details:?}");
    }
}
