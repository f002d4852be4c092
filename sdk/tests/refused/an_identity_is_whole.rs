//! An identity that lacks a part, and one that is made of another object's.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Place {
    #[attr(required, identity)]
    region: String,
    #[attr(required, identity)]
    name: String,
}

#[derive(Model)]
struct Name {
    #[attr(required)]
    name: String,
}

struct Places;

impl Resource for Places {
    type Model = Place;

    const IDENTITY_VERSION: u64 = 1;

    fn identity_upgrades() -> IdentityUpgrades<Self> {
        IdentityUpgrades::none().from::<0, Name>(|old| Ok(PlaceIdentity { name: old.name }))
    }

    async fn create(&self, _: Create<Place>) -> Answer<PlaceComputed> {
        Ok(PlaceComputed {})
    }
}

fn main() {}
