//! Speed of parsing, beside another parser of the language and beside a plain copy, all in this
//! process. The commands measure the further work on the trees.

use std::fmt::Write as _;
use std::time::Instant;

use formwork_lang::syntax::parse_file;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use crate::limits::Verdict;
use crate::options::Options;

/// Size of the large file.
const LARGE: usize = 10_000_000;
/// Number of keys of the object.
const N_KEYS: usize = 50_000;
/// Minimum speed for the large file, in bytes a second.
const MIN_SPEED: f64 = 100e6;
/// Maximum time for the object, in seconds.
const MAX_TIME: f64 = 0.05;

/// Cost of parsing one file.
pub(crate) struct Parsed {
    name: &'static str,
    bytes: usize,
    /// Seconds, all three.
    ours: f64,
    other_parser: Option<f64>,
    copy: f64,
}

impl Parsed {
    fn speed(&self, seconds: f64) -> f64 {
        self.bytes as f64 / seconds
    }
}

/// Parses each selected file.
pub(crate) fn measure(options: &Options) -> Vec<Parsed> {
    let texts = [("parse resources", resources as fn() -> String), ("parse object", object)];
    let selected = texts.into_iter().filter(|(name, _)| options.selects(name));
    selected.map(|(name, text)| measure_document(name, &text(), options)).collect()
}

fn measure_document(name: &'static str, text: &str, options: &Options) -> Parsed {
    let mut sources = Sources::new();
    let source = sources.add("main.tf", text);
    // The best of several runs shows the machine without other load.
    let best_time = |work: &mut dyn FnMut() -> f64| {
        (0..options.repeat.max(2)).map(|_| work()).fold(f64::INFINITY, f64::min)
    };
    let ours = best_time(&mut || {
        let mut diags = Diagnostics::new();
        timed(|| parse_file(&mut diags, &sources, source))
    });
    // The time of the other parser grows with the square of the keys of an object.
    let other_parser = (name == "parse resources" && options.terraform)
        .then(|| best_time(&mut || timed(|| hcl_edit::parser::parse_body(text).is_ok())));
    let copy = best_time(&mut || timed(|| text.to_owned()));
    Parsed { name, bytes: text.len(), ours, other_parser, copy }
}

/// Time to construct a value, without the time to drop it.
fn timed<T>(make: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    let value = std::hint::black_box(make());
    let seconds = start.elapsed().as_secs_f64();
    drop(value);
    seconds
}

/// Resources of a typical configuration: arguments, references, templates, blocks, comments and
/// heredocs.
fn resources() -> String {
    let stanza = include_str!("parse/stanza.tf.txt");
    let mut text = String::with_capacity(LARGE + stanza.len());
    let mut n = 0;
    while text.len() < LARGE {
        text.push_str(&stanza.replace("NUMBER", &n.to_string()));
        n += 1;
    }
    text
}

fn object() -> String {
    let mut text = String::from("locals {\n  table = {\n");
    for index in 0..N_KEYS {
        writeln!(text, "    key_{index} = \"value {index}\"").ok();
    }
    text + "  }\n}\n"
}

/// A table of all files.
pub(crate) fn table(parsed: &[Parsed]) -> String {
    if parsed.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "| measurement | size | time | speed | hcl-edit | ratio | a copy |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let speed = |row: &Parsed, seconds| format!("{:.0} MB/s", row.speed(seconds) / 1e6);
    for row in parsed {
        let other_speed = row.other_parser.map(|seconds| speed(row, seconds)).unwrap_or_default();
        let ratio = row
            .other_parser
            .map(|seconds| format!("{:.0}", seconds / row.ours))
            .unwrap_or_default();
        writeln!(
            text,
            "| {} | {:.1} MB | {:.0} ms | {} | {other_speed} | {ratio} | {} |",
            row.name,
            row.bytes as f64 / 1e6,
            row.ours * 1e3,
            speed(row, row.ours),
            speed(row, row.copy),
        )
        .ok();
    }
    text
}

/// Whether it was fast enough.
pub(crate) fn check(parsed: &[Parsed]) -> Vec<Verdict> {
    let verdict = |row: &Parsed| {
        let (speed, time) = (row.speed(row.ours) / 1e6, row.ours * 1e3);
        if row.name == "parse object" {
            let (claim, max_ms) = (format!("an object of {N_KEYS} keys"), MAX_TIME * 1e3);
            let claim = format!("{claim} is parsed in {time:.0} ms, at most {max_ms:.0}");
            return Verdict { claim, holds: row.ours <= MAX_TIME };
        }
        let claim = format!("{} {speed:.0} MB/s, at least {:.0}", row.name, MIN_SPEED / 1e6);
        Verdict { claim, holds: row.speed(row.ours) >= MIN_SPEED }
    };
    parsed.iter().map(verdict).collect()
}
