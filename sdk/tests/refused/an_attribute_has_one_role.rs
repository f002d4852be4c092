//! Two roles at once.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(optional, computed)]
    name: Option<String>,
}

fn main() {}
