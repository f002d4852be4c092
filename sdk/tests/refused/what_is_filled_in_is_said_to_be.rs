//! A nested attribute of which the provider sets a part, and nobody says so.

use formwork_sdk::prelude::*;

#[derive(Clone, Debug, Nested)]
struct Network {
    #[attr(required)]
    zone: String,
    #[attr(computed)]
    address: String,
}

#[derive(Model)]
struct Thing {
    #[attr(required)]
    network: Network,
}

fn main() {}
