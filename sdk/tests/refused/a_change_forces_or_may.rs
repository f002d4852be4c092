//! Words about changes, and what must hold, that do not go with anything.

use formwork_sdk::prelude::*;

fn differs(_: &Attr<String>, _: &Attr<String>) -> bool {
    true
}

#[derive(Model)]
struct One {
    #[attr(required, replace, replace_if = differs)]
    name: String,
}

#[derive(Model)]
#[attr(together(name))]
struct Two {
    #[attr(required)]
    name: String,
}

fn main() {}
