//! A flattened model has a name that is there already.

use formwork_sdk::prelude::*;

/// What all have.
#[derive(Model)]
struct Common {
    /// What it is called.
    #[attr(required)]
    name: String,
}

/// Something.
#[derive(Model)]
struct Thing {
    #[attr(flatten)]
    common: Common,
    /// What it is called.
    #[attr(required)]
    name: String,
}

/// Something else.
#[derive(Model)]
struct Other {
    #[attr(flatten)]
    common: Common,
    #[attr(flatten)]
    again: Common,
}

fn main() {}
