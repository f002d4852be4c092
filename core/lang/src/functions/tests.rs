//! The examples of all functions, and tables of Terraform's results.

use super::{Function as _, builtin_table};
use crate::eval::testing::show;

#[test]
fn every_function_has_an_example_and_it_holds() {
    for builtin in builtin_table().values() {
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

#[test]
fn every_function_and_every_parameter_is_described() {
    let sentence = |text: &str| {
        let first = text.chars().next().is_some_and(char::is_uppercase);
        first && text.ends_with('.') && !text.contains(". ") && !text.contains('\n')
    };
    for builtin in builtin_table().values() {
        let (name, text) = (builtin.name(), builtin.description());
        assert!(sentence(text), "what {name} does is not a sentence: {text:?}");
        for param in builtin.params().iter().chain(builtin.variadic_param()) {
            let text = &*param.description;
            assert!(sentence(text), "{} of {name} is not a sentence: {text:?}", param.name);
        }
    }
}
