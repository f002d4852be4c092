//! Calls that the service does not have, or that take something else.

use formwork_sdk::prelude::*;

#[derive(Model)]
#[resource(
    Notes(service: Service),
    create = service.write(title),
    read = service.find(&id),
    update = service.rewrite(&id, pages),
    delete = service.burn(&id),
)]
struct Note {
    #[attr(required)]
    title: String,
    #[attr(required)]
    pages: u32,
    #[attr(computed, keep, import)]
    id: String,
}

struct Service;

impl Service {
    async fn write(&self, _title: &str) -> Answer<String> {
        Ok("1".to_owned())
    }

    async fn find(&self, _id: &str) -> Answer<Option<Note>> {
        Ok(None)
    }

    async fn rewrite(&self, _id: &str, _pages: &str) -> Answer<()> {
        Ok(())
    }
}

fn main() {}
