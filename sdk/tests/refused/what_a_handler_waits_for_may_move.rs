//! A handler that holds on to what belongs to one thread while it waits.

use std::rc::Rc;

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(computed)]
    id: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    async fn create(&self, _: Create<Thing>) -> Answer<ThingComputed> {
        let id = Rc::new("1".to_owned());
        std::future::ready(()).await;
        Ok(ThingComputed { id: id.to_string() })
    }
}

fn main() {}
