//! An id that no attribute is, and one that is asked for before there is an object.

use formwork_sdk::prelude::*;

#[derive(Model)]
#[resource(
    Notes(service: Service),
    create = service.write(&id),
    read = service.find(&number),
    delete = service.burn(&id),
)]
struct Note {
    #[attr(required, replace)]
    title: String,
    #[attr(computed, keep, import)]
    id: String,
}

struct Service;

impl Service {
    async fn write(&self, _id: &str) -> Answer<String> {
        Ok("1".to_owned())
    }

    async fn find(&self, _id: &str) -> Answer<Option<Note>> {
        Ok(None)
    }

    async fn burn(&self, _id: &str) -> Answer<()> {
        Ok(())
    }
}

fn main() {}
