//! Words that a resource type does not know, that are said twice or that lead nowhere.

use formwork_sdk::prelude::*;

#[derive(Model)]
#[resource(Unknown, crate = made(&title))]
struct Unknown1 {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Twice, create = made(&title), create = made(&title))]
struct Twice1 {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Blind, create = made(&title), ready(found.is_ready))]
struct Blind1 {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Whole, create = made(&title), read = seen(call), ready(found.is_ready, each = 3))]
struct Each {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Whole, create = made(&title), read = seen(call), ready(found.is_ready))]
struct Whole1 {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Gone, create = made(&title), read = seen(&title), gone(found.is_none()))]
struct Gone1 {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Named(title: u8), create = made(&title), read = seen(&title), delete = made(&title))]
struct Named1 {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(One, create = made(&title))]
#[resource(Other, create = made(&title))]
struct Both {
    #[attr(required, replace)]
    title: String,
}

fn main() {}
