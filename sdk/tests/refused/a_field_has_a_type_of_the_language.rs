//! An attribute of a type that the language does not have.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(required)]
    since: std::time::SystemTime,
}

fn main() {}
