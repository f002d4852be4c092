//! Words that would compile and never come to anything.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Unseen {
    #[attr(required, write_only, replace)]
    password: String,
}

#[derive(Model)]
struct Reserved {
    #[attr(required)]
    count: i64,
}

#[derive(Model)]
#[attr(conflicts(name, name))]
struct Twice {
    #[attr(optional)]
    name: Option<String>,
}

#[derive(Model)]
struct Many {
    #[attr(required, import)]
    names: Vec<String>,
}

#[derive(Model)]
struct Tagged {
    #[attr(required, identity)]
    tags: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Nested)]
struct Inner {
    #[attr(required, identity)]
    name: String,
}

fn main() {}
