//! A nested attribute with blocks inside.

use formwork_sdk::prelude::*;

#[derive(Clone, Debug, Nested)]
struct Inner {
    #[attr(required)]
    name: String,
}

#[derive(Clone, Debug, Nested)]
struct Outer {
    #[block]
    inner: Vec<Inner>,
}

#[derive(Model)]
struct Thing {
    #[attr(required)]
    outer: Outer,
}

fn main() {}
