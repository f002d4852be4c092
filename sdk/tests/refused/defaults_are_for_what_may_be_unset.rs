//! Defaults where they have nothing to do, or are nothing of the attribute's type.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Required {
    #[attr(required, default = 1)]
    size: i64,
}

#[derive(Model)]
struct Computed {
    #[attr(computed, default = "a")]
    name: String,
}

#[derive(Model)]
struct Absent {
    #[attr(default = 1)]
    size: Option<i64>,
}

#[derive(Model)]
struct Text {
    #[attr(default = "large")]
    size: i64,
}

fn main() {}
