//! Words about blocks that only attributes have, and counts that no schema can say.

use std::collections::BTreeMap;

use formwork_sdk::prelude::*;

#[derive(Clone, Debug, Nested)]
struct Part {
    #[attr(required)]
    name: String,
}

#[derive(Model)]
struct One {
    #[block]
    #[attr(required)]
    part: Part,
}

#[derive(Model)]
struct Two {
    #[block]
    #[attr(sensitive)]
    part: Part,
}

#[derive(Model)]
struct Three {
    #[block(min = 3, max = 2)]
    parts: Vec<Part>,
}

#[derive(Model)]
struct Four {
    #[block(max = 1)]
    part: Option<Part>,
}

#[derive(Model)]
struct Five {
    #[block(min = 1)]
    parts: BTreeMap<String, Part>,
}

#[derive(Model)]
struct Six {
    #[block(group)]
    part: Option<Part>,
}

#[derive(Model)]
struct Seven {
    #[block(keep)]
    part: Part,
}

fn main() {}
