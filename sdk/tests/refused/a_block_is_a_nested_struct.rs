//! Blocks of something that has no attributes.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[block]
    names: Vec<String>,
}

fn main() {}
