//! The log lines of a plugin, in every format.

use expect_test::expect;

use super::*;

fn read(line: &str) -> String {
    let LogEntry { level, message, module, fields } = LogEntry::parse(line);
    let level = level.map_or("none".to_owned(), |level| level.to_string());
    format!("{level} | {message} | {module} | {fields}\n")
}

#[test]
fn log_lines_of_every_format_are_parsed() {
    let lines = [
        r#"{"@level":"warn","@message":"low","@module":"provider","@timestamp":"T","tf_rpc":"Plan"}"#,
        r#"{"@level":"trace","@message":"m"}"#,
        r#"{"@message":"no level"}"#,
        r#"{"@level":"loud","@message":"odd level"}"#,
        // The next three are not hclog records, so the whole line is the message.
        r#"{"@level":3,"@message":"level is no text"}"#,
        r#"{"@level":"info","@message":["no text"]}"#,
        r#"{"plain":"json"}"#,
        "[ERROR] tagged",
        "[INFO]",
        "bare text",
        "{not json",
    ];
    let levels: String = lines.into_iter().map(read).collect();
    expect![[r#"
        WARN | low | provider | {"tf_rpc":"Plan","timestamp":"T"}
        TRACE | m |  | 
        DEBUG | no level |  | 
        DEBUG | odd level |  | 
        none | {"@level":3,"@message":"level is no text"} |  | 
        none | {"@level":"info","@message":["no text"]} |  | 
        none | {"plain":"json"} |  | 
        ERROR | tagged |  | 
        INFO |  |  | 
        none | bare text |  | 
        none | {not json |  | 
    "#]]
    .assert_eq(&levels);
}

async fn last_words(stderr: &[u8]) -> String {
    let log = PluginLog::new("test".to_owned());
    Arc::clone(&log).read_stderr_to_end(stderr).await;
    log.panic_or_last_lines(Duration::ZERO).await
}

#[tokio::test]
async fn the_latest_lines_are_returned_if_there_is_no_panic() {
    let lines: String = (0..50).map(|n| format!("line {n}\n")).collect();
    let tail = last_words(lines.as_bytes()).await;
    assert_eq!(tail.lines().count(), MAX_KEPT_TAIL_LINES);
    assert!(tail.starts_with("line 30\n") && tail.ends_with("line 49"), "{tail}");
}

#[tokio::test]
async fn a_panic_replaces_earlier_lines_and_excludes_tagged_lines() {
    // Other goroutines may log while a panic is printed, and hclog marks their lines.
    let tail = last_words(
        b"[INFO] fine\npanic: oh no\n\n{\"@message\":\"other\"}\ngoroutine 1:\nmain.go:7",
    )
    .await;
    assert_eq!(tail, "panic: oh no\ngoroutine 1:\nmain.go:7");
    // Newer versions of Rust print the number of the thread too.
    let tail = last_words(b"hello\n\nthread 'main' (7) panicked at src/main.rs:1:1:\nboom\n").await;
    assert_eq!(tail, "thread 'main' (7) panicked at src/main.rs:1:1:\nboom");
}

#[tokio::test]
async fn kept_log_lines_are_limited() {
    // A line without an end, which must not be kept whole.
    let endless = vec![b'x'; 5 * MAX_UNSPLIT_LINE_BYTES];
    assert!(
        last_words(&endless).await.len() < MAX_KEPT_TAIL_LINES * (MAX_REPORTED_LINE_LENGTH + 10)
    );
    let panic: String = (0..1000).map(|n| format!("panic: {n}\n")).collect();
    assert_eq!(last_words(panic.as_bytes()).await, "panic: 999", "the last one ends it");
    let panic = format!("panic: deep\n{}", "main.go:7\n".repeat(1000));
    assert_eq!(last_words(panic.as_bytes()).await.lines().count(), MAX_KEPT_PANIC_LINES);
}

#[test]
fn lines_may_arrive_in_any_pieces() {
    let text = b"one\ntwo\n\nfour";
    for size in 1..=text.len() {
        let mut found_lines = Vec::new();
        let mut lines = LineSplitter::default();
        for piece in text.chunks(size) {
            lines.feed(piece, |line| found_lines.push(line.to_vec()));
        }
        lines.finish(|line| found_lines.push(line.to_vec()));
        assert_eq!(found_lines, [b"one".as_slice(), b"two", b"", b"four"], "pieces of {size}");
    }
}
