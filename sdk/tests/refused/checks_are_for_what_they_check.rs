//! A check of something that the attribute never is, and one whose function takes something else.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Text {
    #[attr(required, range = 1..=3)]
    name: String,
}

#[derive(Model)]
struct Number {
    #[attr(default = 1, length = 1..=3)]
    size: u8,
}

#[derive(Model)]
struct Truths {
    #[attr(optional, one_of = ["yes", "no"])]
    answers: Option<BTreeMap<String, bool>>,
}

#[derive(Model)]
struct Parted {
    #[block(length = 1..=3)]
    part: Option<Part>,
}

#[derive(Clone, Debug, Nested)]
struct Part {
    #[attr(required)]
    name: String,
}

#[derive(Model)]
struct Even {
    #[attr(required, check = is_even)]
    number: i64,
}

fn is_even(number: i64) -> Result<(), String> {
    if number % 2 == 0 { Ok(()) } else { Err("must be even".to_owned()) }
}

fn main() {}
