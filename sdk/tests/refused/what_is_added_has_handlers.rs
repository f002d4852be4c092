//! A model is added to a provider where its handlers should be, and handlers of another kind.

use formwork_sdk::prelude::*;

/// A shelf.
#[derive(Model)]
struct Shelf {
    #[attr(required)]
    name: String,
}

struct Shelves;

impl DataSource for Shelves {
    type Model = Shelf;

    async fn read(&self, _: ReadData<Shelf>) -> Answer<ShelfComputed> {
        Ok(ShelfComputed {})
    }
}

fn main() {
    let shelf = Shelf { name: String::new() };
    let provider = ProviderDef::new("registry.terraform.io/acme/library");
    let _ = provider.resource("library_shelf", shelf).ephemeral("library_shelf", Shelves);
}
