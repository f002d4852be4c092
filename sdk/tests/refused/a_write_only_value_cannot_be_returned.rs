//! A handler that returns a secret that must not be stored.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(required, write_only)]
    password: String,
    #[attr(computed)]
    id: String,
}

fn made(planned: ThingInput) -> ThingComputed {
    ThingComputed { id: "1".to_owned(), password: planned.password }
}

fn main() {
    made(ThingInput { password: String::new() });
}
