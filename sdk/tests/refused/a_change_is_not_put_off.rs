//! A change that is put off, which a host could not understand: it has been planned.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(computed)]
    id: String,
}

struct Things;

impl Resource for Things {
    type Model = Thing;

    async fn create(&self, call: Create<Thing>) -> Answer<ThingComputed> {
        call.deferral.request(DeferredReason::AbsentPrerequisite)?;
        Ok(ThingComputed { id: String::new() })
    }
}

fn main() {}
