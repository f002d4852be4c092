//! `acme_greeting`: one argument, one computed attribute.

use formwork_sdk::prelude::*;

/// A greeting.
#[derive(Model)]
pub(crate) struct Greeting {
    /// Whom to greet.
    #[attr(required, replace)]
    name: String,
    /// The words.
    #[attr(computed, keep)]
    text: String,
}

pub(crate) struct Greetings;

impl Resource for Greetings {
    type Model = Greeting;

    async fn create(&self, call: Create<Greeting>) -> Answer<GreetingComputed> {
        Ok(GreetingComputed { text: format!("Hello, {}", call.planned.name) })
    }
}
