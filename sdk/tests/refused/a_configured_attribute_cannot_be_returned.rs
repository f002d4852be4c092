//! A handler that changes what the author wrote.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(required)]
    name: String,
    #[attr(computed)]
    id: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    async fn create(&self, _: Create<Thing>) -> Answer<ThingComputed> {
        Ok(ThingComputed { id: "1".to_owned(), name: "another".to_owned() })
    }
}

fn main() {}
