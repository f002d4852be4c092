//! A flattened model has a name that is there already.

use formwork_sdk::prelude::*;

/// Shared attributes.
#[derive(Model)]
struct Common {
    /// The name.
    #[attr(required)]
    name: String,
}

/// Something.
#[derive(Model)]
struct Thing {
    #[attr(flatten)]
    common: Common,
    /// The name.
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
