//! Words that do not go together.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct One {
    #[attr(required, keep)]
    name: String,
}

#[derive(Model)]
struct Two {
    #[attr(default = "a", keep)]
    name: String,
}

#[derive(Model)]
struct Three {
    #[attr(computed, write_only)]
    name: String,
}

#[derive(Model)]
struct Four {
    #[attr(computed, one_of = ["a"])]
    name: String,
}

#[derive(Model)]
struct Five {
    #[attr(required, sensitiv)]
    name: String,
}

#[derive(Model)]
#[attr(conflicts(name, nam))]
struct Six {
    #[attr(required)]
    name: String,
}

fn main() {}
