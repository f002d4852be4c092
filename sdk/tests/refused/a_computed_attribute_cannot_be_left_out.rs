//! A handler that forgets the id.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(required)]
    name: String,
    #[attr(computed)]
    id: String,
    #[attr(computed)]
    size: i64,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    async fn create(&self, _: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed { size: 1 })
    }
}

fn main() {}
