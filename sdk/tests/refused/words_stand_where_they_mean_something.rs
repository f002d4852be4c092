//! A word about the whole at a field, and a role at a block.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Either {
    #[attr(optional, conflicts(b))]
    a: Option<String>,
    #[attr(optional)]
    b: Option<String>,
}

#[derive(Model)]
struct Whole {
    #[block(required)]
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Nested)]
struct Part {
    #[attr(required)]
    name: String,
}

fn main() {}
