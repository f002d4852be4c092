//! A handler that takes an optional attribute for granted.

use formwork_sdk::prelude::*;

#[derive(Model)]
struct Thing {
    #[attr(optional)]
    note: Option<String>,
}

fn note(planned: ThingInput) -> String {
    planned.note
}

fn main() {
    note(ThingInput { note: None });
}
