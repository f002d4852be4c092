//! A way from something that says nothing about how it was stored.

use formwork_sdk::prelude::*;

struct Old {
    name: String,
}

#[derive(Model)]
struct Thing {
    #[attr(required)]
    name: String,
}

fn ways() -> Upgrades<Thing> {
    Upgrades::none().from(0, |_, old: Old| Ok(Thing { name: old.name }))
}

fn main() {}
