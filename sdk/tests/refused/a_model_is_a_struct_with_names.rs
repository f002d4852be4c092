//! Models of other kinds than a struct with named fields.

use formwork_sdk::prelude::*;

#[derive(Model)]
enum Kind {
    One,
}

#[derive(Model)]
struct Pair(String, String);

#[derive(Model)]
struct Any<T> {
    #[attr(required)]
    value: T,
}

fn main() {}
