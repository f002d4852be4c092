//! Verdicts about answers, and the file that they are written to.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call, TypeSchemas, check_answer};
use formwork_value::schema::Block;

/// The file in `ANSWERS_LOG`.
pub(crate) struct VerdictLog(PathBuf);

impl VerdictLog {
    /// The file of this process.
    pub(crate) fn from_env() -> Self {
        Self(std::env::var_os("ANSWERS_LOG").map_or_else(|| "answers.log".into(), PathBuf::from))
    }

    /// Judges an answer as it is on the wire, and writes the case and the broken rules down.
    pub(crate) fn judge_answer(&self, case: &str, call: Call<'_>, answer: &Payload, block: &Block) {
        let schemas = TypeSchemas { object: block, identity: None };
        let encoded = answer.encode().expect("the answer has the type of its schema");
        let decoded = encoded.decode(&block.implied_type()).expect("it was just encoded");
        let violations = check_answer(
            &AnswerToCheck::for_call(call).with_answered_object(&encoded, &decoded),
            &schemas,
        );
        let broken: Vec<String> = violations
            .iter()
            .map(|it| format!("{} {}: {}", it.rule, it.path, it.message))
            .collect();
        let line = format!("{case}\t{}\n", broken.join("; ").replace(['\n', '\t'], " "));
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        let mut file = file.expect("the test has made its directory");
        file.write_all(line.as_bytes()).expect("there is room for it");
    }
}
