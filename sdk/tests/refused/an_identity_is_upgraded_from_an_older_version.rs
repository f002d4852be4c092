//! An identity whose version was not raised, so that nothing would ever be upgraded.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Number {
    #[attr(required)]
    number: i64,
}

#[derive(Model)]
struct Thing {
    #[attr(required, identity)]
    name: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    fn identity_upgrades() -> IdentityUpgrades<Self> {
        IdentityUpgrades::none()
            .from::<0, Number>(|old| Ok(ThingIdentity { name: old.number.to_string() }))
    }

    async fn create(&self, _: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed {})
    }
}

fn main() {
    Things::identity_upgrades();
}
