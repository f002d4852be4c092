//! Resource types of which a call is missing.

use formwork_sdk::prelude::*;

#[derive(Model)]
#[resource(Nothing)]
struct Created {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Readers(service: Service), create = service.write(), delete = service.write())]
struct Read {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(Deleters(service: Service), create = service.write(), read = service.find())]
struct Deleted {
    #[attr(required, replace)]
    title: String,
}

#[derive(Model)]
#[resource(
    Updaters(service: Service),
    create = service.write(),
    read = service.find(),
    delete = service.write(),
)]
struct Updated {
    #[attr(required, replace)]
    title: String,
    #[attr(default)]
    pages: i64,
}

#[derive(Model)]
struct Pages {
    #[attr(default)]
    pages: i64,
}

#[derive(Model)]
#[resource(Flat, create = made(&title))]
struct Flat1 {
    #[attr(required, replace)]
    title: String,
    #[attr(flatten)]
    pages: Pages,
}

async fn made(_title: &str) -> Answer<()> {
    Ok(())
}

struct Service;

impl Service {
    async fn write(&self) -> Answer<()> {
        Ok(())
    }
}

fn main() {}
