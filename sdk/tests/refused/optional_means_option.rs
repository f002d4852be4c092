//! An attribute that may be absent in a type that cannot say so, and the other way round.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(optional)]
    note: String,
}

#[derive(Model)]
struct Other {
    #[attr(required)]
    name: Option<String>,
}

fn main() {}
