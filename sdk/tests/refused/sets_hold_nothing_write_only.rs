//! A secret that is not stored, in a set, where nothing tells elements apart.

use formwork_sdk::prelude::*;

#[derive(Clone, Debug, Nested)]
struct User {
    #[attr(required)]
    name: String,
    #[attr(required, write_only)]
    password: String,
}

#[derive(Model)]
struct Thing {
    #[block]
    users: Set<User>,
}

fn main() {}
