//! The layout of files: every test configuration, unchanged and with other whitespace, formatted by
//! both programs, byte for byte the same.

use std::path::Path;

use formwork_lang::syntax::lex::{Token, TokenKind, lex};

use super::engine::{Engine, Run, terraform_is_installed};

/// Names of files that have a layout, and of some that have none.
const NAMES: [&str; 9] = [
    "a.tf",
    "b.tfvars",
    "c.tftest.hcl",
    "d.tfmock.hcl",
    "e.hcl",
    "f.tf.json",
    ".hidden.tf",
    "sub/deep/g.tf",
    ".sub/h.tf",
];

/// Writes a file at a path, creating its directories.
fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs a command with both programs, each in a directory of its own with the same files; returns what
/// the results and the files after the command.
fn run_both(files: &[(String, String)], args: &[&str]) -> [(Run, Vec<String>); 2] {
    Engine::BOTH.map(|engine| {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(dir.path(), name, text);
        }
        let run = engine.run(dir.path(), None, args);
        let read = |name: &String| std::fs::read_to_string(dir.path().join(name)).unwrap();
        (run, files.iter().map(|(name, _)| read(name)).collect())
    })
}

#[test]
fn fmt_prints_the_same_results_in_both_programs() {
    if !terraform_is_installed() {
        return;
    }
    let mut files: Vec<(String, String)> =
        NAMES.iter().map(|name| ((*name).to_owned(), "a=1\nb   = 2\n".to_owned())).collect();
    files.push(("good.tf".to_owned(), "a = 1\n".to_owned()));
    let mut with_bad = files.clone();
    with_bad.push(("bad.tf".to_owned(), "a = \n".to_owned()));
    let lines: [&[&str]; 21] = [
        &["fmt"],
        &["fmt", ""],
        &["fmt", "-recursive"],
        &["fmt", "-check"],
        &["fmt", "-check", "-recursive"],
        &["fmt", "-check", "-list=false"],
        &["fmt", "-check", "-diff"],
        &["fmt", "-check", "-diff", "-list=false"],
        &["fmt", "-check", "good.tf"],
        &["fmt", "-write=false"],
        &["fmt", "-list=false"],
        &["fmt", "-diff"],
        &["fmt", "-diff", "-write=false", "sub", "./a.tf", "good.tf"],
        &["fmt", "-recursive", "sub/"],
        &["fmt", "-list=false", "-write=false", "a.tf", "good.tf"],
        &["fmt", "e.hcl"],
        &["fmt", "f.tf.json", "a.tf"],
        &["fmt", "nothing.tf", "a.tf"],
        &["fmt", "a.tf", "a.tf"],
        &["fmt", ".", "a.tf"],
        &["fmt", ".hidden.tf"],
    ];
    for args in lines {
        for files in [&files, &with_bad] {
            let [(theirs, their_files), (ours, our_files)] = run_both(files, args);
            assert_eq!(theirs.code, ours.code, "{args:?}: {}", ours.stderr);
            assert_eq!(theirs.stdout, ours.stdout, "{args:?}");
            assert_eq!(their_files, our_files, "{args:?}");
            assert_eq!(theirs.stderr.is_empty(), ours.stderr.is_empty(), "{args:?}");
        }
    }
}

#[test]
fn every_test_configuration_is_formatted_the_same() {
    if !terraform_is_installed() {
        return;
    }
    let mut texts = Vec::new();
    collect(Path::new(env!("CARGO_MANIFEST_DIR")), &mut texts);
    let mut files = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        files.push((format!("{index}.tf"), text.clone()));
        for seed in 0..4 {
            files.push((format!("{index}_{seed}.tf"), vary_whitespace(text, seed)));
        }
    }
    let [(_, theirs), (_, ours)] = run_both(&files, &["fmt", "-list=false"]);
    let mut n_compared = 0;
    for ((name, text), (theirs, ours)) in files.iter().zip(theirs.iter().zip(&ours)) {
        assert_eq!(theirs, ours, "{name} from:\n{text}");
        n_compared += usize::from(theirs != text);
    }
    assert!(n_compared > 50, "only {n_compared} texts were changed at all");
}

/// The strings of all configuration files in a directory.
fn collect(dir: &Path, texts: &mut Vec<String>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|end| end == "tf") {
            let text = std::fs::read_to_string(path).unwrap();
            // Terraform removes keys like these. We keep them.
            texts.push(text.replace("[null]", "[0]").replace("[true]", "[0]"));
        }
    }
}

/// Changes the spaces between tokens, and puts comments and line ends where they mean nothing.
fn vary_whitespace(text: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(2).wrapping_add(text.len() as u64);
    let mut random = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut out = String::new();
    let mut before = Token { kind: TokenKind::Newline, start: 0, end: 0 };
    for token in lex(text) {
        let gap = &text[before.end as usize..token.start as usize];
        let filler = match random(8) {
            _ if gap.is_empty() && must_stay_adjacent(before.kind, token.kind) => gap,
            0 if !needs_space(before.kind, token.kind) => "",
            1 => "   ",
            2 => "\t",
            3 if before.kind != TokenKind::Newline && !opens_sequence(token.kind) => " /* é */",
            4 if opens(before.kind) => "\n",
            5 if opens(before.kind) => " # c\n",
            6 if token.kind == TokenKind::Newline => " // c",
            _ => gap,
        };
        out.push_str(filler);
        out.push_str(&text[token.start as usize..token.end as usize]);
        before = token;
    }
    out
}

/// Whether a space between two tokens would change the meaning.
fn must_stay_adjacent(before: TokenKind, kind: TokenKind) -> bool {
    use TokenKind as T;
    let is_text = |kind: T| {
        matches!(kind, T::QuotedText | T::Text | T::OpenHeredoc | T::CloseHeredoc | T::OpenQuote)
    };
    is_text(before)
        || is_text(kind)
        || before == T::CloseSequence
        || kind == T::EndOfText
        || (before == T::Ident && kind == T::OpenParen)
}

/// Whether two tokens would be one without a space.
fn needs_space(before: TokenKind, kind: TokenKind) -> bool {
    use TokenKind as T;
    let is_word =
        |kind: T| !matches!(kind, T::Comma | T::OpenBracket | T::CloseBracket | T::Newline);
    is_word(before) && is_word(kind)
}

fn opens_sequence(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::OpenInterpolation | TokenKind::OpenDirective)
}

/// Whether a line may end after a token anywhere.
fn opens(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::OpenBracket | TokenKind::OpenParen)
}
