//! Messages that the commands report, and the list of all messages of the program.

mod authors;
mod commands;
mod installation;

pub(crate) use authors::*;
pub(crate) use commands::*;
use formwork_core::messages::MESSAGE_CATALOGUES as ENGINE;
use formwork_lang::messages::CATALOGUES as LANGUAGE;
pub(crate) use formwork_operation::messages::*;
use formwork_provisioners::messages::PROVISIONERS;
use formwork_value::diag::{Catalogue, Message};
pub(crate) use installation::*;

/// Returns the catalogues of the whole program, in the order of their codes.
pub(crate) fn catalogues() -> impl Iterator<Item = &'static Catalogue> {
    let own_catalogues =
        [&OPERATIONS, &PROVISIONERS, &BACKENDS, &INSTALLATION, &COMMANDS, &AUTHORS].into_iter();
    let engine = LANGUAGE.into_iter().chain(ENGINE);
    let mut sorted: Vec<&'static Catalogue> = engine.chain(own_catalogues).collect();
    sorted.sort_by_key(|catalogue| catalogue.messages.first().map(|message| message.code));
    sorted.into_iter()
}

/// Returns all messages of the program, in the order of their codes.
pub(crate) fn all_messages() -> impl Iterator<Item = &'static Message> {
    catalogues().flat_map(|catalogue| catalogue.messages.iter().copied())
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let codes: Vec<_> = all_messages().map(|message| message.code.as_str()).collect();
        assert!(codes.iter().all(|code| code.len() == 6 && code.starts_with("FW")), "{codes:?}");
        for pair in codes.windows(2) {
            assert!(pair[0] < pair[1], "{} is before {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn each_message_has_a_cause_and_a_remedy_in_sentences() {
        for message in all_messages() {
            for text in [message.cause, message.remedy] {
                assert!(text.len() > 10 && text.ends_with('.'), "{}: {text:?}", message.code);
            }
        }
    }

    #[test]
    fn the_page_of_diagnostics_is_what_the_program_explains() {
        let mut page = "# Diagnostics\n\nEach diagnostic of Formwork has a code, which stays the same in later versions. `formwork explain CODE` prints the text below. The detail of a diagnostic contains the reason in each case. Diagnostics of providers have no code. With `-json`, the code is the property `code`. A test compares this page with the program.\n".to_owned();
        for catalogue in catalogues() {
            page.push_str(&format!("\n## {}\n", catalogue.title));
            for Message { code, summary, cause, remedy } in catalogue.messages {
                page.push_str(&format!("\n### {code}: {summary}\n\n{cause}\n\n{remedy}\n"));
            }
        }
        expect_file!["../../docs/diagnostics.md"].assert_eq(&page);
    }
}
