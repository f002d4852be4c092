//! A flattened model has a part of the identity, or none, and the opposite is said.

use formwork_sdk::prelude::*;

/// A position.
#[derive(Model)]
struct Place {
    #[attr(required, identity)]
    region: String,
}

/// An appearance.
#[derive(Model)]
struct Look {
    #[attr(required)]
    color: String,
}

#[derive(Model)]
struct Unsaid {
    #[attr(flatten)]
    place: Place,
}

#[derive(Model)]
struct Unmeant {
    #[attr(flatten, identity)]
    look: Look,
}

#[derive(Model)]
struct Perhaps {
    #[attr(flatten, identity(optional))]
    place: Place,
}

fn main() {}
