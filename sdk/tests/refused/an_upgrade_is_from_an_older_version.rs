//! A resource type whose version was not raised, so that nothing would ever be upgraded.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct ThingV0 {
    #[attr(required)]
    name: String,
}

#[derive(Model)]
struct Thing {
    #[attr(required)]
    title: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    fn upgrades() -> Upgrades<Self> {
        Upgrades::none().from::<0, ThingV0>(|old| Ok(Thing { title: old.name }))
    }

    async fn create(&self, _: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed {})
    }
}

fn main() {
    Things::upgrades();
}
