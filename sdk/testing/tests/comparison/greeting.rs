//! `acme_greeting`: one argument, one computed attribute.

use formwork_sdk::prelude::*;

/// A greeting.
#[derive(Model)]
#[resource(Greetings, create = greet(&name))]
pub(crate) struct Greeting {
    /// Name of the person to greet.
    #[attr(required, replace)]
    name: String,
    /// The greeting.
    #[attr(computed, keep)]
    text: String,
}

async fn greet(name: &str) -> Answer<GreetingComputed> {
    Ok(GreetingComputed { text: format!("Hello, {name}") })
}
