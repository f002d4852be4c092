//! Objects that are there already and are imported by an id.

use expect_test::expect;

use super::Bench;

const IMPORT: &str = r#"
import {
  to = test_thing.a
  id = "a-1"
}
resource "test_thing" "a" {
  name = "a"
  size = 2
}
"#;

#[test]
fn what_is_there_already_is_imported_once_and_changed_as_written() {
    let mut bench = Bench::after(r#"resource "test_thing" "a" { name = "a" }"#);
    bench.file.state.resources.clear();
    let run = bench.apply(IMPORT);
    expect![[r#"
        ~ test_thing.a (imported by the id "a-1")
        calls: update a-1
        test_thing.a a-1 2
    "#]]
    .assert_eq(&format!("{}{}", run.story(), bench.state()));
    let again = bench.plan(IMPORT);
    assert!(again.is_clean(), "not settled: {}", again.story());
}

#[test]
fn what_is_not_there_cannot_be_imported() {
    let mut bench = Bench::new();
    let run = bench.plan(IMPORT);
    expect![[r#"
        calls: 
        error test_thing.a: Cannot import non-existent remote object
    "#]]
    .assert_eq(&run.story());
}
