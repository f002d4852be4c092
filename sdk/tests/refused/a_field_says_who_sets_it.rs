//! An attribute without a role.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    name: String,
}

fn main() {}
