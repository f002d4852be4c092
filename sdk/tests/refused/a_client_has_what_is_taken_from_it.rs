//! Structs of a client that lack a field, or have it in another type.

use formwork_sdk::prelude::*;

struct Theirs {
    name: String,
    size: u64,
}

#[derive(Model)]
#[attr(from = Theirs)]
struct Lacking {
    #[attr(required)]
    name: String,
    #[attr(computed)]
    id: String,
}

#[derive(Model)]
#[attr(from = Theirs)]
struct Narrow {
    #[attr(computed)]
    name: String,
    #[attr(computed)]
    size: i32,
}

#[derive(Model)]
#[attr(into = Theirs)]
struct Forgetful {
    #[attr(required)]
    name: String,
}

fn main() {}
