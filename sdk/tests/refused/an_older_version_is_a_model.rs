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

struct Things;

impl Resource for Things {
    type Model = Thing;

    const VERSION: u64 = 1;

    fn upgrades() -> Upgrades<Self> {
        Upgrades::none().from::<0, Old>(|old| Ok(Thing { name: old.name }))
    }

    async fn create(&self, _: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed {})
    }
}

fn main() {}
