//! A `create` without the id, a `read` that always returns an object, an `update` without a required
//! attribute, and a call without a way to wait.

use formwork_sdk::prelude::*;

#[derive(Model)]
#[resource(
    Notes(service: Service),
    create = service.write(&title),
    read = service.find(&id, length),
    update = service.rewrite(&id, &title),
    delete = service.burn(&id),
)]
struct Note {
    #[attr(required)]
    title: String,
    #[attr(computed, keep, import)]
    id: String,
    #[attr(computed)]
    length: i64,
}

struct Service;

impl Service {
    async fn write(&self, _title: &str) -> Answer<u64> {
        Ok(1)
    }

    async fn find(&self, id: &str, length: i64) -> Answer<Note> {
        Ok(Note { title: String::new(), id: id.to_owned(), length })
    }

    async fn rewrite(&self, _id: &str, _title: &str) -> Answer<()> {
        Ok(())
    }

    fn burn(&self, _id: &str) {}
}

fn main() {}
