//! The provider sets parts of a flattened model, or none, and the opposite is said.

use formwork_sdk::prelude::*;

/// Attributes of the provider.
#[derive(Model)]
struct Found {
    #[attr(computed)]
    id: String,
}

/// Attributes of the author.
#[derive(Model)]
struct Given {
    #[attr(required)]
    name: String,
}

#[derive(Model)]
struct Unsaid {
    #[attr(flatten)]
    found: Found,
}

#[derive(Model)]
struct Unmeant {
    #[attr(flatten, fills)]
    given: Given,
}

#[derive(Model)]
struct Taken {
    #[attr(flatten, computed)]
    given: Given,
}

#[derive(Model)]
struct Known {
    #[attr(flatten, required)]
    given: Given,
}

#[derive(Model)]
struct More {
    #[attr(flatten, sensitive)]
    given: Given,
}

fn main() {}
