//! Names that a configuration cannot contain.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct One {
    #[attr(required, name = "Full Name")]
    name: String,
}

#[derive(Model)]
struct Two {
    #[attr(required)]
    fullName: String,
}

fn main() {}
