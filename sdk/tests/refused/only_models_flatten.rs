//! A nested struct flattens a model.

use formwork_sdk::prelude::*;

/// Attributes of the author.
#[derive(Clone, Debug, Model)]
struct Given {
    #[attr(required)]
    name: String,
}

#[derive(Clone, Debug, Nested)]
struct Part {
    #[attr(flatten)]
    given: Given,
}

fn main() {}
