//! A nested attribute with a computed part and without a role that allows it.

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
