//! Checks that no undocumented environment variable changes the answers of a provider (K-03).
//!
//! The program is searched for variable names. All of them are set together. If an answer changes, a binary
//! search finds the variable that caused it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;

use crate::finding::Finding;
use crate::generate::ConfigExtent;
use crate::message::Msg;
use crate::plugin::{Plugin, Reply};
use crate::request::{self, encode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{CHANGING_CALL_TIMEOUT, READ_ONLY_CALL_TIMEOUT, Suite};

/// The value that the variables are set to.
const VARIABLE_TEST_VALUE: &str = "conformance";

/// The maximum number of variables set together. The system limits their total length.
const MAX_VARIABLES_AT_ONCE: usize = 4_000;

/// The most variables that are tried.
const MAX_TRIED_VARIABLES: usize = 40_000;

/// The most variables that are reported.
const MAX_REPORTED_VARIABLES: usize = 3;

/// Lengths of the names of variables.
const VARIABLE_NAME_LENGTHS: std::ops::RangeInclusive<usize> = 5..=48;

/// Prefixes of variables of runtimes, of the host and of the user's session, which are documented
/// elsewhere.
const IGNORED_VARIABLE_PREFIXES: [&str; 42] = [
    "TF_",
    "PLUGIN_",
    "GO",
    "CGO_",
    "RUST",
    "CARGO_",
    "LD_",
    "LC_",
    "LANG",
    "SSL_",
    "GRPC_",
    "PYTHON",
    "NODE_",
    "HTTP_",
    "HTTPS_",
    "NO_PROXY",
    "ALL_PROXY",
    "REQUEST_METHOD",
    "HOME",
    "XDG_",
    "TMPDIR",
    "TMP",
    "TEMP",
    "MALLOC_",
    "PATH",
    "SHELL",
    "TERM",
    "NO_COLOR",
    "CLICOLOR",
    "COLORTERM",
    "TZ",
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "PWD",
    "SSH_",
    "OTEL_",
    "RES_OPTIONS",
    "LOCALDOMAIN",
    "HOSTALIASES",
    "GLIBC_",
    "GCONV_",
];

/// Answers that are compared, without the parts that may differ from process to process.
type ComparableAnswers = Vec<(Rpc, Vec<Bytes>)>;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.is_rule_wanted("K-03") {
        return;
    }
    let Some(program) = suite.program_path() else {
        return suite
            .note_skipped_rules(&["K-03"], "the provider runs already, and this check starts it");
    };
    let names = match variable_names_in_program(&program) {
        Ok(names) => undocumented_variable_names(suite, names),
        Err(error) => {
            return suite
                .note_skipped_rules(&["K-03"], &format!("the program cannot be read: {error}"));
        }
    };
    if names.is_empty() {
        return suite.note_skipped_rules(&["K-03"], "the program contains no variable name");
    }
    // Twice without variables: answers that vary by themselves cannot be judged.
    let baseline = collect_answers(suite, &program, &[]).await;
    if baseline != collect_answers(suite, &program, &[]).await {
        return suite.note_skipped_rules(
            &["K-03"],
            "the answers of two processes differ without any variable",
        );
    }
    let mut n_variables = 0;
    for mut part in names.chunks(MAX_VARIABLES_AT_ONCE).map(<[String]>::to_vec) {
        while let Some(index) = find_effective_variable(suite, &program, &part, &baseline).await {
            let name = part.remove(index);
            n_variables += 1;
            suite.record_case("K-03", false, || {
                let message = format!("the undocumented variable {name} changes an answer");
                Finding::new("K-03", "process", message)
                    .with_expected_and_found(
                        "a variable that a description of the schema names",
                        name.clone(),
                    )
                    .with_input(format!("{name}={VARIABLE_TEST_VALUE}"))
            });
            if n_variables >= MAX_REPORTED_VARIABLES {
                return;
            }
        }
        if suite.is_run_over() {
            return;
        }
        suite.record_case("K-03", true, || Finding::new("K-03", "process", ""));
    }
}

/// The names that are neither documented nor given.
fn undocumented_variable_names(suite: &Suite, names: BTreeSet<String>) -> Vec<String> {
    // A name anywhere in the provider's own schema counts as documented.
    let raw = suite.offer.provider_schema().map(|it| it.raw.encode()).unwrap_or_default();
    let mut documented = BTreeSet::new();
    collect_variable_names(&raw, &mut documented);
    let given_env = suite.launch_options().env;
    let is_given = |name: &str| given_env.iter().any(|(given_name, _)| given_name == name);
    let is_free = |name: &String| {
        let is_reserved =
            IGNORED_VARIABLE_PREFIXES.iter().any(|given_name| name.starts_with(given_name));
        let is_documented = documented.contains(name);
        !is_reserved && !is_documented && !is_given(name)
    };
    names.into_iter().filter(is_free).take(MAX_TRIED_VARIABLES).collect()
}

/// The index of a variable that changes an answer by itself, found by binary search.
async fn find_effective_variable(
    suite: &Suite,
    program: &Path,
    names: &[String],
    baseline: &ComparableAnswers,
) -> Option<usize> {
    if !do_answers_differ(suite, program, names, baseline).await {
        return None;
    }
    let (mut from, mut to) = (0, names.len());
    while to - from > 1 && !suite.is_run_over() {
        let middle = from + (to - from) / 2;
        if do_answers_differ(suite, program, &names[from..middle], baseline).await {
            to = middle;
        } else if do_answers_differ(suite, program, &names[middle..to], baseline).await {
            from = middle;
        } else {
            // Only several of them together change the answer. The first represents all.
            return Some(from);
        }
    }
    Some(from)
}

async fn do_answers_differ(
    suite: &Suite,
    program: &Path,
    names: &[String],
    baseline: &ComparableAnswers,
) -> bool {
    collect_answers(suite, program, names).await != *baseline
}

/// The answers of a process with the variables.
async fn collect_answers(suite: &Suite, program: &Path, names: &[String]) -> ComparableAnswers {
    let mut launch = suite.launch_options();
    launch.env.extend(names.iter().map(|name| (OsString::from(name), VARIABLE_TEST_VALUE.into())));
    let Ok(plugin) = Plugin::launch(program, &launch).await else { return Vec::new() };
    let mut requests = vec![(Rpc::GetProviderSchema, Msg::new())];
    if let Some(provider) = suite.offer.provider_schema() {
        let empty = suite.generate_config(provider, ConfigExtent::Nothing, 0);
        requests.push((Rpc::ValidateProviderConfig, request::validate_request(provider, &empty)));
        let config = suite.configured.then(|| suite.config.clone());
        let config = config.unwrap_or_else(|| encode_dynamic(&empty, &provider.ty()));
        requests.push((Rpc::ValidateProviderConfig, Msg::new().with_message(1, &config)));
        if suite.configured {
            requests.push((Rpc::ConfigureProvider, request::configure_request(&config)));
        }
    }
    let mut answers = Vec::new();
    for (rpc, request) in requests {
        // This call may send requests to a service, like the changing calls.
        let limit = if rpc == Rpc::ConfigureProvider {
            CHANGING_CALL_TIMEOUT
        } else {
            READ_ONLY_CALL_TIMEOUT
        };
        let call = plugin.call(rpc, &request, limit).await;
        answers.push((rpc, sorted_reply_fields(&call.reply)));
    }
    plugin.shutdown(Duration::from_secs(2)).await;
    answers
}

/// The fields of an answer in one order: entries of maps have none.
fn sorted_reply_fields(reply: &Reply) -> Vec<Bytes> {
    match reply {
        Reply::Answered(messages) => {
            // Go writes the entries of a map in another order in each process.
            let mut fields: Vec<Bytes> = messages
                .iter()
                .flat_map(|message| &message.0)
                .map(|field| Msg(vec![field.clone()]).encode())
                .collect();
            fields.sort();
            fields
        }
        // The text may have a time or an address in it.
        Reply::Refused(code, _) => vec![Bytes::from(code.clone().into_bytes())],
        Reply::Lost { .. } | Reply::TimedOut | Reply::Garbage => Vec::new(),
    }
}

/// The names of variables in a program.
fn variable_names_in_program(program: &Path) -> io::Result<BTreeSet<String>> {
    const READ_CHUNK_SIZE: usize = 1 << 20;
    const CHUNK_OVERLAP_LEN: usize = 256;
    let mut file = File::open(program)?;
    let mut names = BTreeSet::new();
    let mut buffer = Vec::with_capacity(READ_CHUNK_SIZE + CHUNK_OVERLAP_LEN);
    loop {
        let read = (&mut file).take(READ_CHUNK_SIZE as u64).read_to_end(&mut buffer)?;
        collect_variable_names(&buffer, &mut names);
        if read == 0 {
            return Ok(names);
        }
        // A name may cross the boundary of two chunks.
        buffer.drain(..buffer.len().saturating_sub(CHUNK_OVERLAP_LEN));
    }
}

/// Collects the names of variables in bytes. Programs store literals next to each other without a
/// separator, so a run of capitals may be several names of one length, or end with the first letter of the
/// next literal.
fn collect_variable_names(bytes: &[u8], names: &mut BTreeSet<String>) {
    let is_part = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let mut rest = bytes;
    while let Some(start) = rest.iter().position(is_part) {
        rest = &rest[start..];
        let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        // A name begins with a capital: digits before it end the literal before it.
        let run = &run[run.iter().position(u8::is_ascii_uppercase).unwrap_or(end)..];
        let end = run.len();
        // A longer run is a table of data.
        if run.len() <= 512 {
            insert_if_variable_name(run, names);
            // The last capital may begin the next literal.
            if end > 0 && after.first().is_some_and(u8::is_ascii_lowercase) {
                insert_if_variable_name(&run[..end - 1], names);
            }
            let lengths =
                VARIABLE_NAME_LENGTHS.filter(|length| end > *length && end % *length == 0);
            for length in lengths {
                run.chunks(length).for_each(|name| insert_if_variable_name(name, names));
            }
        }
        rest = after;
    }
}

fn insert_if_variable_name(name: &[u8], names: &mut BTreeSet<String>) {
    // Nearly all variables have an underscore inside. Words without one are names of formats and
    // algorithms.
    let is_name = VARIABLE_NAME_LENGTHS.contains(&name.len())
        && name.first().is_some_and(u8::is_ascii_uppercase)
        && name.last() != Some(&b'_')
        && name.contains(&b'_');
    if let (true, Ok(name)) = (is_name, std::str::from_utf8(name)) {
        names.insert(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        collect_variable_names(text.as_bytes(), &mut names);
        names.into_iter().collect()
    }

    #[test]
    fn names_are_found_in_adjacent_literals() {
        assert_eq!(names("read ACME_TOKEN from"), ["ACME_TOKEN"]);
        // In a binary of Go or Rust, one literal follows another without a gap.
        assert!(names("ACME_TOKENThe token").contains(&"ACME_TOKEN".to_owned()));
        assert!(names("goroutine 7ACME_TOKENThe").contains(&"ACME_TOKEN".to_owned()));
        let joined_names = names("ACME_TOKENACME_VALUE ");
        assert!(
            joined_names.contains(&"ACME_TOKEN".to_owned())
                && joined_names.contains(&"ACME_VALUE".to_owned())
        );
        // Words that are short or have no underscore are in nearly every binary.
        assert!(names("GET POST _A Some Text HTTPS A_B").is_empty());
    }
}
