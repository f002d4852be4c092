//! Ids that mean two attributes, or one that is not stored.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Twice {
    #[attr(computed, import)]
    id: String,
    #[attr(required, import)]
    name: String,
}

#[derive(Model)]
struct Unstored {
    #[attr(required, write_only, import)]
    password: String,
}

fn main() {}
