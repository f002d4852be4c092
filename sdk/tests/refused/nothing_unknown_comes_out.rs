//! A handler that puts off what there is no later for.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(computed)]
    id: String,
}

fn made() -> ThingComputed {
    ThingComputed { id: Attr::Unknown }
}

fn main() {
    made();
}
