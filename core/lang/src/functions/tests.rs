//! The examples of all functions, and tables of what the reference does.

use super::table;
use crate::eval::testing::show;

#[test]
fn every_function_has_an_example_and_it_holds() {
    for builtin in table().values() {
        assert!(!builtin.examples().is_empty(), "{} has no example", builtin.name());
        for (expression, printed) in builtin.examples() {
            assert!(
                expression.contains(builtin.name()),
                "{expression} does not show {}",
                builtin.name()
            );
            assert_eq!(show(expression), *printed, "{expression}");
        }
    }
}
