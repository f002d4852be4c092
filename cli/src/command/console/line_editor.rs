//! Reads lines from a terminal, with editing and a history of the session. Detects expressions that continue
//! on the next line, but does not evaluate them.

use formwork_lang::syntax::lex::{TokenKind, lex};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use crate::view::print_out;

/// Source of lines.
pub(super) struct LineEditor(DefaultEditor);

/// An input from the user.
pub(super) enum InputLine {
    /// A complete input, such as an expression, on one or more lines.
    Complete(String),
    /// The input ended.
    Ended,
}

impl LineEditor {
    /// Opens the terminal.
    ///
    /// # Errors
    /// Returns an error if the terminal cannot be used.
    pub(super) fn new() -> Result<Self, ReadlineError> {
        DefaultEditor::new().map(Self)
    }

    /// Reads an input. Control-C discards the typed text; a second Control-C in a row ends the input, as
    /// Control-D does.
    pub(super) fn next(&mut self) -> InputLine {
        let mut text = String::new();
        let mut interrupted = false;
        loop {
            let prompt = match n_open_brackets(&text) {
                0 => "> ".to_owned(),
                n => format!("{} ", ".".repeat(n.min(20))),
            };
            match self.0.readline(&prompt) {
                Ok(line) => {
                    interrupted = false;
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&line);
                    if n_open_brackets(&text) == 0 {
                        // A full history drops old entries, and nothing depends on them.
                        drop(self.0.add_history_entry(&text));
                        return InputLine::Complete(with_final_newline(&text));
                    }
                }
                Err(ReadlineError::Interrupted) if !interrupted => {
                    interrupted = true;
                    text.clear();
                    print_out("(to exit, press Control-C again or Control-D)\n");
                }
                Err(_) => return InputLine::Ended,
            }
        }
    }
}

/// The input, with the end of its last line: a heredoc ends only after a newline.
fn with_final_newline(text: &str) -> String {
    format!("{text}\n")
}

/// Number of brackets, strings and heredocs still open at the end of the input.
fn n_open_brackets(text: &str) -> usize {
    use TokenKind as T;
    let mut open = 0_usize;
    for token in lex(&with_final_newline(text)) {
        match token.kind {
            T::OpenBrace | T::OpenBracket | T::OpenParen | T::OpenHeredoc => open += 1,
            T::CloseBrace | T::CloseBracket | T::CloseParen | T::CloseHeredoc => {
                open = open.saturating_sub(1);
            }
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use formwork_lang::syntax::parse_expression;
    use formwork_value::Diagnostics;
    use formwork_value::diag::Sources;

    use super::{n_open_brackets, with_final_newline};

    #[test]
    fn complete_input_can_be_parsed() {
        for text in ["1 + 2", "[\n1\n]", "<<EOT\nx\nEOT", "upper(<<-EOT\n  x\n  EOT\n)", "1 # one"]
        {
            let (mut sources, mut diags) = (Sources::new(), Diagnostics::new());
            assert_eq!(n_open_brackets(text), 0, "{text}");
            let source = sources.add("<console-input>", with_final_newline(text));
            assert!(parse_expression(&mut diags, &sources, source).is_ok(), "{text}: {diags:?}");
        }
    }

    #[test]
    fn an_expression_continues_while_brackets_or_strings_are_open() {
        for (text, open) in [
            ("1 + 2", 0),
            ("[", 1),
            ("[{ a = (", 3),
            ("[\n1\n]", 0),
            ("\"[\"", 0),
            ("\"${upper(\"a\")}\"", 0),
            ("<<EOT\nx", 1),
            ("<<EOT\nx\nEOT", 0),
            ("]", 0),
            ("# [", 0),
        ] {
            assert_eq!(n_open_brackets(text), open, "{text}");
        }
    }
}
