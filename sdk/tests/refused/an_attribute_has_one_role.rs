//! Two roles at once.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct One {
    #[attr(optional, computed)]
    name: Option<String>,
}

#[derive(Model)]
struct Two {
    #[attr(required, optional)]
    name: String,
}

fn main() {}
